//! What decides. Pure: no `async`, no clock, no I/O.

pub mod gone;
pub mod page;
pub mod paging;
