//! Names of storages are resolved here, and what is not public is left out of the answer.

use std::net::SocketAddr;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::near::only_public;

/// The system's resolver without addresses that are not public.
pub(super) struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            // The port is the address's own; the client puts it in.
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let public: Addrs = Box::new(only_public(&name, found.into_iter())?.into_iter());
            Ok(public)
        })
    }
}
