//! The budget of one store: at most 300 requests in any 60 s (API document, "Limits"), whichever way the
//! server counts, and none of it wasted.
//!
//! Two parts decide together. The *pace* is governor: it spreads sustained work evenly and lets an idle
//! budget burst. The *log* (`window`) is the guard: a request holds one of 300 slots until 60 s after
//! its response arrived. A request sent at `s` reaches the server no earlier than `s`, and an older one
//! whose slot is free again was answered, hence counted, more than 60 s before; so no window of 60 s can
//! hold more than 300, for any delay of the network, however the server counts. What the log holds is
//! kept by a [`QuotaStore`], so that a restart does not begin with a full budget.
//!
//! A route that is refused while the token's budget is not spent has a limit of its own: it alone waits, and finds its
//! pace from what is accepted (`routes`).
//!
//! Requests come in [`Lane`]s. Who is next is decided by shares, so that live work goes first and nothing starves;
//! and what is not live goes at an even pace and leaves a reserve, so that live work never finds the minute spent.

mod lane;
mod quota_store;
mod rate_limiter;
mod routes;
mod sliding_window;

pub use lane::Lane;
pub use quota_store::{BoxFuture, NoQuotaStore, QuotaStore, Spent};
pub use rate_limiter::{Permit, Quota, RateLimiter};
