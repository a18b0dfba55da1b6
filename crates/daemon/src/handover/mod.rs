//! A run that one process asks for and another does: `--resync` beside a service that holds the store.
//!
//! The service's side is the [`desk`]: what was asked for waits there until the store's task takes it up. `wire` is what
//! goes over the local API, `client` the side of the command.

mod client;
mod desk;
mod wire;

pub(crate) use client::ask;
pub(crate) use desk::Desk;
pub(crate) use wire::{Asked, Event};
