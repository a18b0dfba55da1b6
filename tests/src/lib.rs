//! Shared parts of the end-to-end tests. They know espelho as its users do: the binary, the tables, and the
//! marketplace's API document. They use no types of the product's crates except the sandbox's controls, the client in
//! [`seller`] (for the stories that use only the client) and the planner of price tiers, whose every step [`tiers`]
//! executes.
//!
//! Reading order: [`installation`] (a configuration folder and the binary that uses it), [`mirror`] (its database,
//! read with plain SQL), [`marketplace`] (the sandbox), [`shop`] (a marketplace written by hand from the API
//! document, which gives any answer that a test needs), [`truth`] (the marketplace's contents, read by an independent
//! client), [`converge`] (whether a mirror has converged to the marketplace), [`pages`] (a running service as seen
//! from outside), [`ledger`] (the API document's statements, and the test that proves each), [`catalogue`] (the
//! failures, and the test that shows each), [`error_codes`] (every error code and its explanation), [`pushkill`] (a service that is killed while an ERP writes), [`surfaces`]
//! (everything that shows alarms), [`gateway`] (the connection to the marketplace, which can be cut and restored),
//! [`clock_skew`] (programs with a wrong clock), [`sink`] (receivers of messages about alarms).

pub mod callers;
pub mod catalogue;
pub mod clock_skew;
pub mod converge;
pub mod error_codes;
pub mod gateway;
pub mod installation;
pub mod ledger;
pub mod levels;
pub mod markdown;
pub mod marketplace;
pub mod mirror;
pub mod modules;
pub mod pages;
pub mod pushkill;
pub mod random;
pub mod seller;
pub mod shop;
pub mod signals;
pub mod sink;
pub mod surfaces;
pub mod tiers;
pub mod truth;

pub use clock_skew::ClockSkew;
pub use gateway::Gateway;
pub use installation::{Installation, Outcome, Running};
pub use marketplace::{sandbox, sandbox_of};
pub use mirror::{Kind, Mirror, Row};
pub use random::Random;
pub use seller::Seller;
pub use shop::{Call, Reply, Shop};
pub use sink::{HttpSink, MailSink};
pub use surfaces::{Surface, Surfaces};

/// Turns each function that takes a [`Kind`] into two tests: one on SQLite, one on PostgreSQL.
#[macro_export]
macro_rules! on_both_databases {
    ($($name:ident),* $(,)?) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name($crate::Kind::Sqlite).await;
            })*
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name($crate::Kind::Postgres).await;
            })*
        }
    };
}

/// Polls until `condition` holds; gives up after two minutes.
///
/// # Panics
/// When it does not hold in time.
pub async fn until(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    // Often enough to miss little, seldom enough to leave the machine to what is waited for.
    let mut ticks = tokio::time::interval(std::time::Duration::from_millis(20));
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let looking = async {
        while !condition().await {
            ticks.tick().await;
        }
    };
    let waited = tokio::time::timeout(std::time::Duration::from_secs(120), looking).await;
    assert!(waited.is_ok(), "it did not come to pass that {what}");
}
