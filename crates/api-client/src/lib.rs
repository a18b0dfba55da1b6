//! The marketplace's Seller Integration API, typed. No database, no policy.
//!
//! A call is built purely ([`ApiRequest`]), waits for the budget ([`limit::RateLimiter`]), takes the store's token
//! ([`token`]), goes out once, and what came back is classified ([`Error::class`]): that is
//! what every method of [`Client`] does, and there is no other way to the marketplace. Files behind signed addresses
//! are fetched apart, by [`signed`], which never sees the token.
//!
//! What the document forbids cannot be built ([`Invalid`] says why), so that a request that exists may be sent.
//!
//! Reading order: [`ApiRequest`], [`Client`], [`error`], then [`limit`] and [`token`]; `wire` reads what the
//! document leaves open in more than one shape, and each file of [`resources`] is one area of the API. [`webhook`]
//! reads what the marketplace pushes.
#![deny(missing_docs)]

pub mod client;
pub mod client_metrics;
pub mod contact;
pub mod error;
mod http;
pub mod invalid;
pub mod limit;
pub mod owner;
mod path;
mod probe;
mod request;
pub mod resources;
pub mod retry;
mod retry_after;
mod schema_drift;
mod send;
pub mod signed;
pub mod text;
pub mod token;
pub mod webhook;
pub mod wire;

pub use client::{Client, Settings, Stats, WebhookBlock};
pub use error::{Class, Documented, Error};
pub use http::Http;
pub use invalid::Invalid;
pub use probe::{Reachability, probe};
pub use request::ApiRequest;
pub use signed::{FileRules, HostPattern, SignedFile, SignedStream, SignedUrl};
pub use text::Text;
pub use wire::{
    list::{ListPage, ListedRow, PageMeta},
    rows::{Echo, RowPage},
};
