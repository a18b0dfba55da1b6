//! The effects of the machine, the database server and the network on a service: the real binary, and the state that
//! it leaves.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod disk;
mod hostile;
mod logs;
mod memory;
mod server;
mod units;
mod wire;

#[expect(dead_code, reason = "more can be asked of a receiver than is asked here")]
#[path = "../webhooks/receiving.rs"]
mod receiving;
