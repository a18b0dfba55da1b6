//! Sweeps the store itself: its identity, and its page if that is open. Deletes old records beside it.

use chrono::TimeDelta;
use espelho_api_client::limit::Lane;

use crate::{
    Error, StoreContext,
    live::identity::StoreIdentity,
    pull::{WholeReader, is_final},
};

/// How long a handled delivery is kept for inspection.
const KEPT_FOR: TimeDelta = TimeDelta::days(7);
/// How long certainly settled effects stay in the journal, which identifies images that were uploaded before.
const JOURNAL_KEPT_FOR: TimeDelta = TimeDelta::days(90);

/// Reads and mirrors the store's session and page.
pub(in crate::live) async fn sweep_profile(
    context: &StoreContext,
    identity: &StoreIdentity,
) -> Result<(), Error> {
    let client = context.client.in_lane(Lane::Poll);
    match (WholeReader { context, client: &client }).profile().await? {
        Ok(read) => {
            identity.learn(read.id);
            Ok(())
        }
        // A credential without access, or a marketplace without this route, will not answer later either.
        Err(error) => {
            if !error.is_authentication() && is_final(&error) {
                identity.give_up();
            }
            Err(error.into())
        }
    }
}

/// Deletes deliveries that were handled long ago, and old effects of the journal.
pub(super) async fn prune(context: &StoreContext) -> Result<(), Error> {
    let now = context.clock.now();
    let (deliveries, effects) = (now - KEPT_FOR, now - JOURNAL_KEPT_FOR);
    let pruned = async {
        context
            .store
            .inbox()
            .prune_inbox(deliveries)
            .await
            .and(context.store.journal().prune_effects(effects).await)
    };
    pruned.await.map(drop).map_err(Error::from)
}
