//! Shared by the commands that only read the database.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use espelho_model::{Clock, StoreKey, clock::SystemClock, text};
use espelho_store::{Error, Store};
use espelho_sync_engine::{Problem, Trouble};

use super::{load_to_read, say};
use crate::{cli::Cli, config::Configuration, place::Place, terminal::shown};

/// The longest wait for the own database to say which installation it belongs to.
const IDENTITY_TIMEOUT: Duration = Duration::from_secs(3);

/// The configuration, and the database as it is.
pub(super) struct Reading {
    pub configuration: Configuration,
    pub store: Store,
    pub clock: Arc<dyn Clock>,
}

impl Reading {
    /// Opens the configuration and the database; otherwise prints the problem and returns the exit code.
    pub(super) async fn open(cli: &Cli) -> Result<Self, u8> {
        let configuration = load_to_read(cli)?;
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

/// Tells whether a service that answers with this identity and this file works on another database than the
/// configured one. A service without an identity is of an older version, and is believed; so is every service
/// while the own database does not answer.
pub(super) async fn is_of_another(
    (told, file): (Option<&str>, Option<&str>),
    configuration: &Configuration,
    clock: &Arc<dyn Clock>,
) -> bool {
    let Some(told) = told else { return false };
    let place = Place::meant(configuration);
    // The service may have another working directory, and its database there. Its own file may be gone or
    // replaced by now, which its alarms say.
    if place.is_new_and_relative() || is_same_file(file.map(Path::new), place.file()) {
        return false;
    }
    tokio::select! {
        own = own_installation(&place, clock) => differs(told, &own),
        () = clock.sleep(IDENTITY_TIMEOUT) => false,
    }
}

/// Tells if two paths are those of one file, links aside.
pub(super) fn is_same_file(one: Option<&Path>, other: Option<&Path>) -> bool {
    one.and_then(resolved).is_some_and(|one| other.and_then(resolved).is_some_and(|other| one == other))
}

/// Returns the path without links, also of a file that is gone.
fn resolved(file: &Path) -> Option<PathBuf> {
    let of_missing = || Some(file.parent()?.canonicalize().ok()?.join(file.file_name()?));
    file.canonicalize().ok().or_else(of_missing)
}

async fn own_installation(place: &Place, clock: &Arc<dyn Clock>) -> Result<Option<String>, Error> {
    let store = Store::attach(&place.url, Arc::clone(clock)).await?;
    let own = store.installation().await;
    store.close().await;
    own
}

/// A service makes the identity of its database, so a database without one is not the service's.
fn differs(told: &str, own: &Result<Option<String>, Error>) -> bool {
    match own {
        Ok(own) => own.as_deref() != Some(told),
        Err(error) => is_not_yet(error),
    }
}

/// Tells whether nobody has created the database yet.
pub(super) fn is_not_yet(error: &Error) -> bool {
    matches!(error, Error::Missing { .. } | Error::Older { found: 0, .. })
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

/// Returns the store of a command, whose number is unique in the database: nobody has to name the store. `None` if no
/// command has the number.
pub(super) async fn store_of_command(
    store: &Store,
    number: &str,
    asked: Option<&str>,
) -> Result<Option<StoreKey>, Problem> {
    let Ok(id) = number.parse() else { return Ok(None) };
    match store.commands().store_of(id).await? {
        Some(own) => agreed(number, &own, asked),
        None => Ok(None),
    }
}

/// Returns the store of a command if nobody named another one. No store can have the name of some rows.
fn agreed(number: &str, own: &str, asked: Option<&str>) -> Result<Option<StoreKey>, Problem> {
    match asked.filter(|asked| *asked != own) {
        Some(asked) => {
            let (own, asked) = (shown(own), shown(asked));
            let text = text!("run-command-of-another", number = number, own = own, asked = asked);
            Err(Problem::of(Trouble::Configuration, "usage", text))
        }
        None => Ok(StoreKey::new(own).ok()),
    }
}

/// Returns the problem of a name that no store has.
pub(super) fn unknown_store(asked: &str, known: &[StoreKey]) -> Problem {
    let known: Vec<&str> = known.iter().map(StoreKey::as_str).collect();
    let text = text!("run-unknown-store", asked = asked, known = known.join(", "));
    Problem::of(Trouble::Configuration, "unknown_store", text)
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Locale;

    use super::*;

    #[test]
    fn a_service_is_believed_unless_the_own_database_says_that_it_has_another() {
        let missing = || Err(Error::Missing { url: "sqlite:x.db".into() });
        for (own, is_other) in [
            (Ok(Some("a1".to_owned())), false),
            (Ok(Some("b2".to_owned())), true),
            (Ok(None), true),
            (missing(), true),
            (Err(Error::Older { found: 0, wanted: 15 }), true),
            (Err(Error::Older { found: 3, wanted: 15 }), false),
            (Err(Error::Newer { found: 99 }), false),
            (Err(Error::Restoring { path: "x.db".into() }), false),
        ] {
            assert_eq!(differs("a1", &own), is_other, "{own:?}");
        }
    }

    #[test]
    fn a_command_has_its_store_and_another_one_that_is_named_contradicts() {
        for (own, asked, expected) in [
            ("loja-1", None, Ok(Some("loja-1"))),
            ("loja-1", Some("loja-1"), Ok(Some("loja-1"))),
            ("loja-1", Some("loja-2"), Err("O comando 5 é da loja “loja-1”, não de “loja-2”.")),
            ("no store", None, Ok(None)),
        ] {
            let found = agreed("5", own, asked).map_err(|problem| problem.message(Locale::default()));
            let found =
                found.as_ref().map(|found| found.as_ref().map(StoreKey::as_str)).map_err(String::as_str);
            assert_eq!(found, expected, "{own} {asked:?}");
        }
    }

    #[test]
    fn a_file_is_the_same_by_another_path_and_after_it_is_gone() {
        let folder = std::env::temp_dir();
        let (gone, other) = (folder.join("espelho-none.db"), folder.join("espelho-other.db"));
        let by_another_path = folder.join(".").join("espelho-none.db");
        assert!(is_same_file(Some(&gone), Some(&by_another_path)));
        assert!(!is_same_file(Some(&gone), Some(&other)));
        assert!(!is_same_file(None, Some(&gone)) && !is_same_file(Some(&gone), None));
        assert!(!is_same_file(None, None));
    }
}
