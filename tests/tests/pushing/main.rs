//! The push direction: what an ERP writes into its tables, by the real binary against the sandbox, on both databases.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod command_line;
mod crowded;
mod erp;
mod folder;
mod killed;
mod levels;
mod orders;
mod outcomes;
mod paused;
mod planned;
mod rest;
