//! `espelho sandbox`: the marketplace in a box.
//!
//! A strict stand-in for the Seller Integration API, written from the API document alone: what the document refuses, the
//! sandbox refuses, with the documented code and fields. It shares no type with the client that is tested against it, so
//! that one wrong field cannot cancel out on both sides.
//!
//! Reading order: [`Options`] (what can be chosen), [`start`] and [`Sandbox`] (the server), [`Control`] (what a test may do
//! behind the API's back), [`Stats`] (what the server saw), [`cli`] (the command line).
//!
//! # Where the document is silent
//!
//! * Page parameter of the order listing: `page`, from 1; `limit` up to 100, `per_page` of the product listing up to 100.
//! * `meta` of the listings: an option, [`ListShape`].
//! * `late`: `1`, `true`, `0`, `false`, or one of `nfe`, `picking`, `production`, `boleto`.
//! * A filter with a value outside its published list is a validation error; an empty value counts as absent.
//! * A *revoked* credential no longer logs in while its token lives on; an *inactive* one takes its token with it.
//! * Login attempts count whether they succeed or fail, in a minute that begins with the first; a login without its fields
//!   is told so first and is no attempt.
//! * A public route called with a valid token is counted against the token's limit, and carries the headers.
//! * Unknown paths and wrong methods (405 `METHOD_NOT_ALLOWED`) are told without looking at the token.
//! * A paid collective order offers no action (a background job moves it); the moves between production statuses are the
//!   plausible ones.
//! * The webhook of a login is `data.webhook`, with `secret` at its creation only.
//! * Dates are calendar days of Brasília, at the fixed offset of -03:00, both ends included.
#![deny(missing_docs)]

mod answer;
mod auth;
mod body;
pub mod cli;
mod clock;
mod control;
mod control_http;
mod error;
mod faults;
mod json;
mod limit;
mod listing;
mod money;
mod olist;
mod options;
mod orders;
mod products;
mod query;
mod route;
mod seed;
mod server;
mod service;
mod session;
mod stats;
mod store;
mod text;
mod world;

pub use control::Control;
pub use error::Error;
pub use faults::{Fault, FaultRule};
pub use limit::Window;
pub use options::{ListShape, Now, Olist, OlistSplit, Options};
pub use server::{Sandbox, start};
pub use stats::Stats;
pub use store::StoreAccess;
