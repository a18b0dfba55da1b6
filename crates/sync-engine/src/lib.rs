//! Keeps the mirror in step with the marketplace. No SQL, no HTTP: it speaks `model` and calls `api-client` and
//! `store`.
//!
//! [`plan`] decides, purely. [`pull`] reads the marketplace into the mirror. [`push`] sends the ERP's changes to the
//! marketplace. [`reconcile`] reads the resources of one store, one after the other, and returns a [`StoreReport`].
//! [`live`] keeps a store in step between two reconciliations. [`ClientStorage`] keeps a client's token and budget in
//! the store.
#![deny(missing_docs)]

mod attempt;
mod audit;
mod being_read;
mod client_storage;
mod error;
mod examine;
#[doc(hidden)]
pub mod fuzzing;
pub mod labels;
pub mod live;
mod marketplaces;
mod memory_budget;
pub mod order_trace;
mod owner;
pub mod plan;
mod progress;
pub mod pull;
pub mod push;
mod quarantine;
mod reconcile;
mod report;
pub mod retention;
mod store_context;
mod suspension;

pub use audit::{Audit, AuditOptions, Difference, ResourceAudit, Subject, audit};
pub use being_read::BeingRead;
pub use client_storage::ClientStorage;
pub use error::Error;
pub use examine::{Ability, Examination, NOT_RECEIVED, Question, Refusal, RoundTrip, TokenProof, examine};
pub use marketplaces::{Marketplace, Marketplaces};
pub use memory_budget::MemoryBudget;
pub use owner::LeaseOwner;
pub use progress::{Position, Progress, Silent};
pub use quarantine::{Input, Quarantine, SERVICE, count_left_overs, panicked_problem};
pub use reconcile::{Options, reconcile};
pub use report::{Problem, ResourceReport, StoreReport, Trouble};
pub use store_context::StoreContext;
pub use suspension::WorkSuspension;
