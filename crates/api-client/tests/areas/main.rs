//! The areas of the API beside orders, over the wire: each call sends what the document says and returns the contents
//! of the answer; answers of any shape do no harm.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod catalogue;
mod routes;
mod scripted;
mod store;
mod tolerance;
