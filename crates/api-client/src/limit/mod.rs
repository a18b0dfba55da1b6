//! The request budget of one store: at most 300 requests in any 60 s (API document, "Limits"), whichever way the
//! server counts, and none of it wasted.
//!
//! Two mechanisms decide together. The *pace* (governor) spreads sustained work evenly and lets an idle budget burst.
//! The *sliding window* (`sliding_window`) is the guard: a request occupies one of 300 entries until 60 s after its
//! response arrived. A request sent at `s` reaches the server no earlier than `s`. An older request whose entry is
//! free again was answered, and so counted by the server, more than 60 s before. So no window of 60 s can hold more
//! than 300 requests, for any network delay and any way of counting. A [`QuotaStore`] persists the window, so that a
//! restart does not begin with a full budget.
//!
//! A route that is refused while the token still has budget has a limit of its own. Only that route waits, and its
//! pace follows from the accepted requests (`routes`).
//!
//! Requests come in [`Lane`]s. Shares decide the order, so that live work goes first and nothing starves. Other work
//! goes at an even pace and leaves a reserve, so that live work never finds the minute spent.

mod lane;
mod quota_store;
mod rate_limiter;
mod routes;
mod sliding_window;

pub use lane::Lane;
pub use quota_store::{BoxFuture, NoQuotaStore, QuotaStore, Spent};
pub use rate_limiter::{Permit, Quota, RateLimiter};
