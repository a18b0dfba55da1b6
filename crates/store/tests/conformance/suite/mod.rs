//! What every database must do; one file per aggregate, run by the list in `main`.

pub(crate) mod concurrency;
pub(crate) mod failures;
pub(crate) mod feed;
pub(crate) mod identity;
pub(crate) mod inbox;
pub(crate) mod isolation;
pub(crate) mod leases;
pub(crate) mod mirror;
pub(crate) mod opening;
pub(crate) mod orders;
pub(crate) mod passes;
pub(crate) mod products;
pub(crate) mod rate;
pub(crate) mod runs;
pub(crate) mod tokens;
pub(crate) mod values;
pub(crate) mod webhook_secrets;
