//! Decisions. Pure: no `async`, no clock, no I/O.

pub mod alarms;
pub mod gone;
pub mod guards;
pub mod listed;
pub mod load;
pub mod missing;
pub mod page;
pub mod paging;
pub mod policy;
pub mod push;
pub mod silence;
pub mod stock_balance;
pub mod tiers;
pub mod window;
