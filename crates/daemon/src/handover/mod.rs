//! A run that one process asks for and another does: `--resync` and `audit` beside a service that holds the store; and the
//! questions of `doctor`, which wait for no run.
//!
//! The service's side is the [`admin_queue`]: what was asked for waits there until the store's task takes it up. `wire` is what
//! goes over the local API, `client` the side of the command.

mod admin_queue;
mod client;
mod wire;
mod wire_audit;

pub(crate) use admin_queue::{AdminQueue, Task};
pub(crate) use client::{ask, ask_for_audit, inquire};
pub(crate) use wire::{Asked, AskedExamination, Event};
pub(crate) use wire_audit::AskedAudit;
