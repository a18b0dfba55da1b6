//! Faults of every day: each is named by the same code on every surface, its next step mends it, and then it is gone.
//!
//! Each test prints a line `fault | code | raised after s | cleared after s`, and appends it to the file that
//! `ESPELHO_FAULTS_TABLE` names. The promise is 60 s; the bounds here leave room for a machine that is loaded.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod credential;
mod database;
mod disk;
mod intents;
mod machine;
mod marketplace;
mod stage;
mod watch;
mod webhooks;
