//! What decides. Pure: no `async`, no clock, no I/O.

pub mod alarms;
pub mod gone;
pub mod guards;
pub mod ledger;
pub mod listed;
pub mod load;
pub mod missing;
pub mod page;
pub mod paging;
pub mod policy;
pub mod tiers;
pub mod window;
