//! The marketplace's Seller Integration API, typed. No database, no policy.
//!
//! A call is built purely ([`ApiRequest`]), waits for the budget ([`limit::Gate`]), takes the store's token
//! ([`token`]), goes out once, and what came back is classified ([`Error::class`]): that is
//! what every method of [`Client`] does, and there is no other way to the network.
//!
//! Reading order: [`ApiRequest`], [`Client`], [`error`], then [`limit`] and [`token`]; `wire` reads what the
//! document leaves open in more than one shape, and each file of [`resources`] is one area of the API.
#![deny(missing_docs)]

pub mod client;
pub mod error;
pub mod limit;
mod path;
mod request;
pub mod resources;
pub mod retry;
mod retry_after;
mod send;
pub mod token;
pub mod wire;

pub use client::{Client, Settings, Stats};
pub use error::{Class, Error};
pub use request::ApiRequest;
pub use send::Http;
pub use wire::list::{ListPage, ListedRow, PageMeta};
