//! The store itself: who it is, and its page where that is open.

use espelho_api_client::{Class, Error as ApiError, resources::store_page::is_closed};

use super::Live;
use crate::Problem;

impl Live<'_> {
    /// Reads session and page of the store and mirrors them.
    pub(super) async fn look_at_profile(&self) -> Result<(), Problem> {
        let client = self.poll();
        let session = match client.session().await {
            Ok(read) => read.value,
            // Whoever may not ask, or asks a marketplace without this route, will not be told later either.
            Err(error) if !error.is_authentication() && is_final(&error) => {
                self.known().asked = true;
                return Err(Problem::from_api(&error));
            }
            Err(error) => return Err(Problem::from_api(&error)),
        };
        {
            let mut known = self.known();
            known.id = session.id.as_ref().map(|id| id.as_str().to_owned());
            known.asked = true;
        }
        let page = match client.store_page().await {
            Ok(read) => Some(read.value),
            Err(error) if is_closed(&error) || is_final(&error) => None,
            Err(error) => return Err(Problem::from_api(&error)),
        };
        let written = async {
            let mut tx = self.context.store.begin(&self.context.lease).await?;
            tx.write_profile(session, page).await?;
            tx.commit().await
        };
        written.await.map_err(|e| Problem::from_store(&e))
    }
}

/// Whether asking again would be answered the same.
pub(crate) fn is_final(error: &ApiError) -> bool {
    error.class() == Class::Permanent && !error.is_authentication()
}
