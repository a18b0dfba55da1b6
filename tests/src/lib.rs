//! What the end-to-end tests share. They know espelho as its users do: the binary, the tables, and the
//! marketplace's API document. No type of the product's crates is used here but the sandbox's controls, and the client
//! in [`seller`], for the stories that go through it alone, and the planner of price tiers, whose every step [`tiers`] has carried out.
//!
//! Reading order: [`installation`] (a configuration folder and the binary run with it), [`mirror`] (its database,
//! read with plain SQL), [`marketplace`] (the sandbox), [`shop`] (a marketplace made by hand from the API document,
//! which answers whatever a test wants), [`truth`] (what the marketplace holds, read by an independent client),
//! [`converge`] (whether a mirror has become what the marketplace is), [`pages`] (a running service as others see it),
//! [`ledger`] (what the API document says, and which test proves it), [`catalogue`] (what goes wrong, and which test
//! shows it), [`pushkill`] (a service that is killed while an ERP writes), [`surfaces`] (every place that shows alarms),
//! [`gateway`] (the way to the marketplace, cut and mended), [`clock_skew`] (programs that are told another time).

pub mod callers;
pub mod catalogue;
pub mod clock_skew;
pub mod converge;
pub mod gateway;
pub mod installation;
pub mod ledger;
pub mod levels;
pub mod marketplace;
pub mod mirror;
pub mod pages;
pub mod pushkill;
pub mod random;
pub mod seller;
pub mod shop;
pub mod signals;
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
pub use surfaces::{Surface, Surfaces};

/// Makes two tests of each function that takes a [`Kind`]: one on SQLite, one on PostgreSQL.
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

/// Waits until `condition` holds, looking again and again; gives up after two minutes.
///
/// # Panics
/// When it does not come to hold.
pub async fn until(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let mut ticks = tokio::time::interval(std::time::Duration::from_millis(2));
    let looking = async {
        while !condition().await {
            ticks.tick().await;
        }
    };
    let waited = tokio::time::timeout(std::time::Duration::from_secs(120), looking).await;
    assert!(waited.is_ok(), "it did not come to pass that {what}");
}
