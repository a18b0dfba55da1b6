//! The way to the marketplace with a store's token: through its owner, who is the only one to use it.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use espelho_api_client::Client;
use espelho_model::{Clock, StoreKey, text, text::Text};
use espelho_sync_engine::{Examination, Question, StoreContext, examine};

use super::facts::StoreFacts;
use crate::handover;

/// A login that is under way is waited for so long before doctor ends.
const LOGIN_ENDS: Duration = Duration::from_secs(10);

/// The way of one store.
pub(super) enum Access {
    /// The service has the store, and is asked.
    Service(SocketAddr, StoreKey),
    /// Nobody had it: doctor has its lease.
    Own(Box<StoreContext>),
    /// There is no database, so there is no token: doctor logs in for itself, and throws the token away.
    Fresh(Box<Client>),
}

/// Why a question was not asked, or not answered.
pub(super) enum Silence {
    /// Something before it says why.
    NotAsked(Text),
    /// The service did not answer.
    NoAnswer,
}

impl Access {
    async fn ask(
        &self,
        question: Question,
        page_parameter: &str,
        clock: &Arc<dyn Clock>,
    ) -> Option<Examination> {
        match self {
            Self::Service(listen, key) => handover::inquire(*listen, key, question, clock).await,
            Self::Own(context) => Some(examine(&context.client, page_parameter, question).await),
            Self::Fresh(client) => Some(examine(client, page_parameter, question).await),
        }
    }

    /// The client that doctor itself calls with.
    fn client(&self) -> Option<&Client> {
        match self {
            Self::Service(..) => None,
            Self::Own(context) => Some(&context.client),
            Self::Fresh(client) => Some(client),
        }
    }

    /// Whether a login of doctor's went well, which proves the password.
    pub(super) fn has_logged_in(&self) -> bool {
        let logins = self.client().map(|client| client.metrics().counted().logins);
        logins.is_some_and(|[first, renewal, forced, _foreign]| first + renewal + forced > 0)
    }

    /// Whether doctor has made a login, however it ended.
    pub(super) fn has_tried_to_log_in(&self) -> bool {
        self.client().is_some_and(|client| client.stats().logins > 0)
    }

    /// Gives the store back.
    pub(super) async fn end(self, clock: &dyn Clock) {
        let Self::Own(context) = self else { return };
        // Cut off, it would have ended the old token and kept no new one.
        tokio::select! {
            () = context.client.logins_ended() => {}
            () = clock.sleep(LOGIN_ENDS) => {}
        }
        // The lease ends with the process in any case, and a budget that is not written down counts as spent.
        let _ = context.client.limiter().settle().await;
        let _ = context.lease.release().await;
    }
}

impl StoreFacts<'_> {
    /// Asks the store's owner; what has been seen before may say that there is no use in it.
    pub(super) async fn ask(&self, question: Question) -> Result<Examination, Silence> {
        let Some(access) = self.access.get() else {
            return Err(Silence::NotAsked(text!("doctor-no-access")));
        };
        if self.reached.get().is_none() {
            return Err(Silence::NotAsked(text!("doctor-not-reached")));
        }
        let answer = access.ask(question, &self.config.page_parameter, &self.all.clock).await;
        answer.ok_or(Silence::NoAnswer)
    }

    /// The same for what only a token that works can show.
    pub(super) async fn ask_with_token(&self, question: Question) -> Result<Examination, Silence> {
        match self.token.get() {
            Some(_) => self.ask(question).await,
            None => Err(Silence::NotAsked(text!("doctor-no-token"))),
        }
    }
}
