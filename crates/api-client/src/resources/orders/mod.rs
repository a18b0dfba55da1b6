//! Orders (API document, "Orders"): listing, reading, transitions, timeline, financial view, fiscal documents and
//! tracking.
//!
//! Reading order: [`query`] lists orders. [`read`] reads one order completely ([`details`] has the fields
//! without a column, `credible` refuses what contradicts itself). [`next_action`] shows the possible
//! transitions and [`transition`] performs one ([`bulk`] performs many at once, undocumented). [`notes`],
//! [`timeline`], [`financial`], [`fiscal`] and [`tracking`] are one route each. [`overview`] covers all
//! orders together, [`stalled`] those with an expired deadline.

pub mod bulk;
mod credible;
pub mod details;
pub mod financial;
pub mod fiscal;
pub mod next_action;
pub mod notes;
mod open_fields;
mod order_wire;
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
pub use transition::{InvalidTransition, Transition, answered_status};
