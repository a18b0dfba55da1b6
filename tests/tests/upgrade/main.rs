//! Upgrades: a database of an earlier espelho, rehearsed, migrated, killed meanwhile, and put back.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod killed;
mod older;
mod rehearsed;
mod way_back;
