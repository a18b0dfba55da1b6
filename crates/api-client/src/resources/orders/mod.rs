//! Orders (API document, "Orders"): listing and reading them, moving them on, and their timeline, money, fiscal
//! documents and tracking.
//!
//! Reading order: [`query`] lists, [`read`] reads one order whole ([`details`] what of it no column has),
//! [`next_action`] says where it may go and [`transition`] takes it there ([`bulk`] many at once, undocumented).
//! [`notes`], [`timeline`], [`financial`], [`fiscal`] and [`tracking`] are one route each; [`overview`] is about all
//! orders together, [`stalled`] about those that wait too long.

pub mod bulk;
pub mod details;
pub mod financial;
pub mod fiscal;
pub mod next_action;
pub mod notes;
mod open_fields;
pub mod overview;
pub mod query;
pub mod read;
pub mod stalled;
pub mod timeline;
pub mod tracking;
pub mod transition;

pub use bulk::{BulkBody, BulkTransition, InvalidBulk};
pub use details::OrderDetails;
pub use next_action::{NextAction, PossibleStatuses, SchemaProblem, Violation};
pub use query::OrderQuery;
pub use stalled::{StalledOrder, StalledQuery, StalledRows};
pub use transition::{InvalidTransition, Transition};
