//! Sweeps the store itself: its identity, and its page if that is open. Deletes old records beside it.

use espelho_api_client::limit::Lane;

use crate::{
    Error, StoreContext,
    live::identity::StoreIdentity,
    plan::retention::Cutoffs,
    pull::{WholeReader, is_final},
    retention::delete_old,
};

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
    // The label keeper removes files.
    let cutoffs = Cutoffs::of_service(None, context.clock.now());
    delete_old(&context.store, &cutoffs).await.map(drop).map_err(Error::from)
}
