//! Access to the marketplace with a store's token: through the store's owner, who is the only one to use it.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use espelho_api_client::Client;
use espelho_model::{Clock, StoreKey};
use espelho_sync_engine::{Examination, Question, StoreContext, examine};

use super::finding::SkipReason;
use crate::handover;

/// How long doctor waits for a login under way before it ends.
const LOGIN_ENDS: Duration = Duration::from_secs(10);

/// The access to one store.
pub(super) enum Access {
    /// The service owns the store, and answers the questions.
    Service(SocketAddr, StoreKey),
    /// Nobody owned the store: doctor holds its lease.
    Own(Box<StoreContext>),
    /// There is no database, so there is no token: doctor logs in itself, and discards the token.
    Fresh(Box<Client>),
    /// A login might end the token of somebody else: of another installation, where the store comes from a backup, or of
    /// another store, where the configuration has mistakes.
    Withheld(SkipReason),
}

/// Why a question was not asked, or not answered.
pub(super) enum Silence {
    /// An earlier finding says why.
    NotAsked(SkipReason),
    /// The service did not answer.
    NoAnswer,
}

impl Access {
    pub(super) async fn ask(
        &self,
        question: Question,
        page_parameter: &str,
        clock: &Arc<dyn Clock>,
    ) -> Option<Examination> {
        match self {
            Self::Service(listen, key) => handover::inquire(*listen, key, question, clock).await,
            Self::Own(context) => Some(examine(&context.client, page_parameter, question).await),
            Self::Fresh(client) => Some(examine(client, page_parameter, question).await),
            Self::Withheld(_) => None,
        }
    }

    /// Returns the client with which doctor itself calls the marketplace.
    fn client(&self) -> Option<&Client> {
        match self {
            Self::Service(..) | Self::Withheld(_) => None,
            Self::Own(context) => Some(&context.client),
            Self::Fresh(client) => Some(client),
        }
    }

    /// Whether a login of doctor succeeded, which proves the password.
    pub(super) fn has_logged_in(&self) -> bool {
        let logins = self.client().map(|client| client.metrics().counted().logins);
        logins.is_some_and(|[first, renewal, forced, _foreign]| first + renewal + forced > 0)
    }

    /// Whether doctor has tried to log in, whatever the result.
    pub(super) fn has_tried_to_log_in(&self) -> bool {
        self.client().is_some_and(|client| client.stats().logins > 0)
    }

    /// Releases the store.
    pub(super) async fn end(self, clock: &dyn Clock) {
        let Self::Own(context) = self else { return };
        // A login cut off here would end the old token and keep no new one.
        tokio::select! {
            () = context.client.auth().logins_ended() => {}
            () = clock.sleep(LOGIN_ENDS) => {}
        }
        // The lease ends with the process in any case, and a budget that is not written down counts as spent.
        let _ = context.client.limiter().settle().await;
        let _ = context.lease.release().await;
    }
}
