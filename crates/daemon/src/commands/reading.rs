//! Shared by the commands that only read the database.

use std::sync::Arc;

use espelho_model::{Clock, StoreKey, clock::SystemClock, text};
use espelho_store::Store;
use espelho_sync_engine::{Problem, Trouble};

use super::{load, say};
use crate::{cli::Cli, config::Configuration, place::Place};

/// The configuration, and the database as it is.
pub(super) struct Reading {
    pub configuration: Configuration,
    pub store: Store,
    pub clock: Arc<dyn Clock>,
}

impl Reading {
    /// Opens the configuration and the database; otherwise prints the problem and returns the exit code.
    pub(super) async fn open(cli: &Cli) -> Result<Self, u8> {
        let configuration = load(cli)?;
        let clock = SystemClock::shared();
        let store = attach(&configuration, &clock).await.map_err(|problem| say(&problem, cli))?;
        Ok(Self { configuration, store: store.read_in(cli.locale), clock })
    }
}

/// Opens the database as it is.
pub(super) async fn attach(configuration: &Configuration, clock: &Arc<dyn Clock>) -> Result<Store, Problem> {
    let place = Place::to_read(configuration)?;
    let store = Store::attach(&place.url, Arc::clone(clock)).await?;
    Ok(store.with_privacy(configuration.installation.privacy).await?)
}

/// Returns the named store, or all if none is named.
pub(super) fn named(configuration: &Configuration, asked: Option<&str>) -> Result<Vec<StoreKey>, Problem> {
    let known: Vec<StoreKey> = configuration.stores.iter().map(|store| store.key.clone()).collect();
    let Some(asked) = asked else { return Ok(known) };
    match known.iter().find(|key| key.as_str() == asked) {
        Some(key) => Ok(vec![key.clone()]),
        None => Err(unknown_store(asked, &known)),
    }
}

/// Returns the problem of a name that no store has.
pub(super) fn unknown_store(asked: &str, known: &[StoreKey]) -> Problem {
    let known: Vec<&str> = known.iter().map(StoreKey::as_str).collect();
    let text = text!("run-unknown-store", asked = asked, known = known.join(", "));
    Problem::of(Trouble::Configuration, "unknown_store", text)
}
