//! Everyday faults: every surface names each with the same code, its next step repairs it, and then the alarm is
//! cleared. People hear of each once, and of its end once.
//!
//! Each test prints a line `fault | code | raised after s | cleared after s`, and appends it to the file that
//! `ESPELHO_FAULTS_TABLE` names. The promise is 60 s; the bounds here allow for a loaded machine.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod backups;
mod credential;
mod database;
mod disk;
mod intents;
mod machine;
mod marketplace;
mod notices;
mod stage;
mod watch;
mod webhooks;
