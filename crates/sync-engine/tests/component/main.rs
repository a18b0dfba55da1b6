//! Component tests of the engine: sandbox, database and engine in one process, with a clock that the test moves.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod anew;
mod audit;
mod bases;
mod denials;
mod goods;
mod inquiries;
mod killed;
mod kinds;
mod labels;
mod levels;
mod listings;
mod live;
mod loaded;
mod orders;
mod outages;
mod outcomes;
mod passes;
mod prices;
mod reconcile;
mod refreshes;
mod support;
mod webhook;
