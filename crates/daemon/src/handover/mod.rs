//! Runs that one process requests and another does: `--resync` and `audit` beside a service that holds the store; and
//! the questions of `doctor`, which wait for no run.
//!
//! On the service's end, requests wait in the [`admin_queue`] until the store's task takes them. `wire` is the format
//! of the local API, `client` the command's end.

mod admin_queue;
mod client;
mod wire;
mod wire_audit;

pub(crate) use admin_queue::{AdminQueue, Task};
pub(crate) use client::{ask, ask_for_audit, inquire};
pub(crate) use wire::{Asked, AskedExamination, Event};
pub(crate) use wire_audit::AskedAudit;
