//! Password files that an operator corrects while the service runs: their store takes the new password within seconds,
//! without a reload. A file's contents are compared and passed on, and never logged.

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use espelho_api_client::PasswordSource;
use espelho_model::{Clock, StoreKey};
use secrecy::{ExposeSecret as _, SecretString};

use crate::config::{StoreConfig, first_readable};

/// The interval between two checks; a file is read when two checks in a row find it unchanged.
const EVERY: Duration = Duration::from_secs(2);

/// A file's state at one check, which reads no contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    modified: SystemTime,
    length: u64,
}

/// A store's file, or its possible paths.
#[derive(Debug)]
struct Watched {
    places: Vec<PathBuf>,
    password: SecretString,
    /// The state at the last check.
    seen: Option<Shape>,
    /// The state at the last read.
    read: Option<Shape>,
}

/// The password of a store whose file is read again before each login.
struct PasswordFile {
    places: Vec<PathBuf>,
    /// The password as it was read last, for a file that is being written or that is away.
    known: SecretString,
}

impl PasswordSource for PasswordFile {
    fn password(&self) -> SecretString {
        first_readable(&self.places).unwrap_or_else(|_| self.known.clone())
    }
}

/// Returns where the logins of a store take its password from.
pub(crate) fn source(store: &StoreConfig) -> Arc<dyn PasswordSource> {
    let (places, known) = (store.password_files.clone(), store.password.clone());
    if places.is_empty() { Arc::new(known) } else { Arc::new(PasswordFile { places, known }) }
}

/// The password files of all stores.
pub(crate) struct Passwords {
    clock: Arc<dyn Clock>,
    files: BTreeMap<StoreKey, Watched>,
}

/// A store and its new password.
pub(crate) type Changed = (StoreKey, SecretString);

impl Passwords {
    /// Watches the files of these stores.
    pub(crate) fn of(stores: &[StoreConfig], clock: Arc<dyn Clock>) -> Self {
        let mut own = Self { clock, files: BTreeMap::new() };
        own.follow(stores);
        own
    }

    /// Watches the files of these stores from now on.
    pub(crate) fn follow(&mut self, stores: &[StoreConfig]) {
        let watched = stores.iter().filter(|store| !store.password_files.is_empty()).map(|store| {
            let places = store.password_files.clone();
            (store.key.clone(), Watched { places, password: store.password.clone(), seen: None, read: None })
        });
        self.files = watched.collect();
    }

    /// Waits until files have other passwords than their stores. A cancelled wait loses nothing.
    pub(crate) async fn changed(&mut self) -> Vec<Changed> {
        loop {
            self.clock.sleep(EVERY).await;
            let changed = self.look();
            if !changed.is_empty() {
                return changed;
            }
        }
    }

    /// Checks each file once: a few system calls for each store.
    fn look(&mut self) -> Vec<Changed> {
        let changed = |(key, file): (&StoreKey, &mut Watched)| Some((key.clone(), file.look()?));
        self.files.iter_mut().filter_map(changed).collect()
    }
}

impl Watched {
    fn look(&mut self) -> Option<SecretString> {
        let shape = self.places.iter().find_map(shape_of);
        let is_settled = shape == std::mem::replace(&mut self.seen, shape);
        if !is_settled || shape.is_none() || shape == self.read {
            return None;
        }
        self.read = shape;
        let password = first_readable(&self.places).ok()?;
        let is_new = password.expose_secret() != self.password.expose_secret();
        is_new.then(|| {
            self.password = password.clone();
            password
        })
    }
}

fn shape_of(place: &PathBuf) -> Option<Shape> {
    let metadata = fs::metadata(place).ok()?;
    Some(Shape { modified: metadata.modified().ok()?, length: metadata.len() })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_login_takes_what_the_file_has_then_and_what_is_known_while_it_has_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("loja.password");
        let file = PasswordFile { places: vec![place.clone()], known: "known".into() };
        let taken = || file.password().expose_secret().to_owned();
        assert_eq!(taken(), "known");
        for (text, expected) in [("new-one\n", "new-one"), ("", "known"), ("newer-one", "newer-one")] {
            fs::write(&place, text).unwrap();
            fs::set_permissions(&place, fs::Permissions::from_mode(0o600)).unwrap();
            assert_eq!(taken(), expected);
        }
        fs::remove_file(&place).unwrap();
        assert_eq!(taken(), "known");
    }

    #[test]
    fn a_file_is_read_once_when_it_has_changed_and_stays_so() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("loja.password");
        let mut file = Watched {
            places: vec![dir.path().join("absent"), place.clone()],
            password: "old".into(),
            seen: None,
            read: None,
        };
        let mut looks = |text: Option<&str>| {
            if let Some(text) = text {
                fs::write(&place, text).unwrap();
                fs::set_permissions(&place, fs::Permissions::from_mode(0o600)).unwrap();
            }
            file.look().map(|password| password.expose_secret().to_owned())
        };
        assert_eq!([looks(None), looks(None)], [None, None], "it is absent");
        assert_eq!([looks(Some("old\n")), looks(None), looks(None)], [None, None, None], "it is the same");
        assert_eq!([looks(Some("new-one\n")), looks(None)], [None, Some("new-one".to_owned())]);
        assert_eq!([looks(None), looks(None)], [None, None], "it is said once");
        assert_eq!([looks(Some("")), looks(None), looks(None)], [None, None, None], "an empty one is none");
        assert_eq!([looks(Some("newer-one")), looks(None)], [None, Some("newer-one".to_owned())]);
    }
}
