//! Sweeps the store itself: its identity, and its page if that is open.

use super::Live;
use crate::{
    Problem,
    pull::{WholeReader, is_final},
};

impl Live<'_> {
    /// Reads and mirrors the store's session and page.
    pub(super) async fn sweep_profile(&self) -> Result<(), Problem> {
        let client = self.poll();
        match (WholeReader { context: self.context, client: &client }).profile().await? {
            Ok(read) => {
                let mut known = self.known();
                known.id = read.id;
                known.asked = true;
                Ok(())
            }
            // A credential without access, or a marketplace without this route, will not answer later either.
            Err(error) => {
                if !error.is_authentication() && is_final(&error) {
                    self.known().asked = true;
                }
                Err(Problem::from_api(&error))
            }
        }
    }
}
