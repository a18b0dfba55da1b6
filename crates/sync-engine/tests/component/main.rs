//! Component tests of the engine: sandbox, database and engine in one process, with a clock that the test moves.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod anew;
mod audit;
mod bases;
mod campaigns;
mod commands;
mod denials;
mod fates;
mod fields;
mod goods;
mod inquiries;
mod invariants;
mod killed;
mod kinds;
mod labels;
mod levels;
mod lies;
mod listings;
mod live;
mod loaded;
mod locked_tables;
mod orders;
mod outages;
mod outcomes;
mod passes;
mod poisoned;
mod prices;
mod reconcile;
mod refreshes;
mod refused_rows;
mod repeated;
mod replicas;
mod strangers;
mod support;
mod unknown_skus;
mod webhook;
