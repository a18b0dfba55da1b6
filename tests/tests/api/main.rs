//! The HTTP API of a running service, on both databases.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod access;
mod client;
mod feed;
mod reading;
mod writing;
