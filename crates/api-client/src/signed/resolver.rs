//! Resolves the names of storages and drops addresses that are not public.

use std::net::SocketAddr;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::near::only_public;

/// The system's resolver, restricted to public addresses.
pub(super) struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            // The HTTP client inserts the port of the address.
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let public: Addrs = Box::new(only_public(&name, found.into_iter())?.into_iter());
            Ok(public)
        })
    }
}
