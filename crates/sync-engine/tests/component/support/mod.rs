//! The rig: a sandbox, a database, a clock that the test moves, and the engine between them, in one process.
//!
//! Reading order: [`rig`], then [`engine`], [`clock`], [`database`], [`live`], [`truth`], [`threads`] and [`comparison`].

pub(crate) mod clock;
pub(crate) mod comparison;
pub(crate) mod database;
pub(crate) mod engine;
pub(crate) mod live;
pub(crate) mod rig;
pub(crate) mod threads;
pub(crate) mod truth;

pub(crate) use database::Kind;
pub(crate) use engine::STORE;
pub(crate) use rig::{Decision, Goods, Rig, Setup, cut_after, cut_before, refused_with};

/// Turns each function that takes a [`Kind`] into two tests: one on SQLite, one on PostgreSQL.
macro_rules! on_both_databases {
    ($($name:ident),* $(,)?) => {
        mod on_sqlite {
            $(#[tokio::test]
            async fn $name() {
                super::$name($crate::support::Kind::Sqlite).await;
            })*
        }
        mod on_postgres {
            $(#[tokio::test]
            async fn $name() {
                super::$name($crate::support::Kind::Postgres).await;
            })*
        }
    };
}
pub(crate) use on_both_databases;
