//! Messages to people about alarms (docs/NOTICES.md). [`espelho_sync_engine::plan::notices`] decides what is told; here it
//! is put into words, recorded, and sent.
//!
//! `content` is what is told, `message` the words of one message, `channels` the ways out, `notifier` the service's task,
//! `unrecorded` what it tells while the database takes no writes, `deadman` the sign of life that somebody else misses.

mod channels;
mod content;
mod deadman;
mod exec;
mod message;
mod notifier;
mod smtp;
mod unrecorded;

pub(crate) use channels::Channels;
pub(crate) use content::Content;
pub(crate) use deadman::{DeadMan, call};
pub(crate) use message::{Message, Sent, Unsent};
pub(crate) use notifier::{Notifier, new_id};
