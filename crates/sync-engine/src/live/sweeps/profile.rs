//! Sweeps the store itself: its identity, and its page if that is open. Deletes old records beside it.

use espelho_api_client::limit::Lane;

use crate::{
    Error, StoreContext,
    live::identity::StoreIdentity,
    pull::{FullReader, is_final},
    retention::{blank_old, cutoffs_of_service, delete_old},
};

/// Reads and mirrors the store's session and page.
pub(in crate::live) async fn sweep_profile(
    context: &StoreContext,
    identity: &StoreIdentity,
) -> Result<(), Error> {
    let client = context.client.in_lane(Lane::Poll);
    match (FullReader { context, client: &client }).profile().await? {
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

/// Deletes and blanks what the retention policy does not keep any longer. The label keeper removes files.
pub(super) async fn prune(context: &StoreContext) -> Result<(), Error> {
    let StoreContext { store, key, retention, clock, .. } = context;
    let cutoffs = cutoffs_of_service(store, retention, clock.now()).await?;
    let deleted = delete_old(store, &cutoffs).await;
    let blanked = blank_old(store, key, &cutoffs).await;
    deleted.map(drop).and(blanked.map(drop)).map_err(Error::from)
}
