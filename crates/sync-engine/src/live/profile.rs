//! The store itself: who it is, and its page where that is open.

use espelho_api_client::{Class, Error as ApiError};

use super::Live;
use crate::{Problem, pull::WholeReader};

impl Live<'_> {
    /// Reads session and page of the store and mirrors them.
    pub(super) async fn sweep_profile(&self) -> Result<(), Problem> {
        let client = self.poll();
        match (WholeReader { context: self.context, client: &client }).profile().await? {
            Ok(read) => {
                let mut known = self.known();
                known.id = read.id;
                known.asked = true;
                Ok(())
            }
            // Whoever may not ask, or asks a marketplace without this route, will not be told later either.
            Err(error) => {
                if !error.is_authentication() && is_final(&error) {
                    self.known().asked = true;
                }
                Err(Problem::from_api(&error))
            }
        }
    }
}

/// Whether asking again would be answered the same.
pub(crate) fn is_final(error: &ApiError) -> bool {
    error.class() == Class::Permanent && !error.is_authentication() && !error.is_not_ours()
}
