//! Component tests of the engine: sandbox, database and engine in one process, with a clock that the test moves.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod anew;
mod bases;
mod goods;
mod killed;
mod kinds;
mod levels;
mod listings;
mod live;
mod loaded;
mod orders;
mod outcomes;
mod prices;
mod support;
