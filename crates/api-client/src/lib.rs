//! The marketplace's Seller Integration API, typed. No database, no policy.
//!
//! [`Client`] gives a handle for each area of the API: `client.orders().get(&number)`. Every method of a handle does
//! the same steps: it builds a pure request ([`ApiRequest`]), waits at the rate limiter ([`limit::RateLimiter`]), takes
//! the store's token ([`token`]), sends the request once, and classifies the result ([`Error::class`]). There is no
//! other way to the marketplace. [`signed`] fetches files behind signed addresses separately and never sees the token.
//!
//! A request that the document forbids cannot be built ([`Invalid`] says why), so every request that exists may be
//! sent.
//!
//! Reading order: [`ApiRequest`], [`Client`], [`Requests`], [`error`], then [`limit`] and [`token`]. `wire` reads every
//! shape that the document leaves possible. Each file of [`resources`] is one area of the API. [`webhook`] reads what
//! the marketplace pushes.
#![deny(missing_docs)]

mod answer_memory;
pub mod client;
pub mod client_metrics;
pub mod contact;
pub mod error;
#[doc(hidden)]
pub mod fuzzing;
mod http;
pub mod invalid;
pub mod limit;
pub mod login_budget;
mod login_reason;
pub mod owner;
mod password_check;
mod path;
mod probe;
mod request;
pub mod requests;
pub mod resources;
pub mod retry;
mod retry_after;
pub mod route;
mod schema_drift;
mod send;
pub mod signed;
pub mod text;
pub mod token;
mod unreadable_values;
pub mod webhook;
pub mod wire;

pub use answer_memory::{AnswerMemory, HeldAnswers};
pub use client::{Client, Settings, Stats};
pub use error::{Class, Documented, Error};
pub use http::Http;
pub use invalid::Invalid;
pub use password_check::PasswordCheck;
pub use probe::{Reachability, probe};
pub use request::ApiRequest;
pub use requests::Requests;
pub use resources::auth::{PasswordSource, WebhookBlock};
pub use send::TRACE_TARGET;
pub use signed::{FileRules, HostPattern, SignedFile, SignedStream, SignedUrl};
pub use text::Text;
pub use wire::{
    list::{ListPage, ListedRow, PageMeta, PoisonedRow, RowState},
    rows::{Echo, RowPage},
};
