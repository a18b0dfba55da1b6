//! Password files that change while the service runs: their store takes a corrected password within seconds, without a
//! reload, and a file that cannot be read any more is told before the next start fails on it. A file's contents are compared
//! and passed on, and never logged.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::MetadataExt as _,
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use espelho_api_client::PasswordSource;
use espelho_model::{Clock, StoreKey, text, text::Text};
use secrecy::{ExposeSecret as _, SecretString};

use crate::config::{StoreConfig, first_readable, unreadable};

/// The interval between two checks; a file is read when two checks in a row find it unchanged.
const EVERY: Duration = Duration::from_secs(2);

/// A file's state at one check, which reads no contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    modified: SystemTime,
    length: u64,
    /// The time of the last change of anything, its mode too: seconds and nanoseconds.
    changed: (i64, i64),
}

/// A store's file, or its possible paths.
#[derive(Debug)]
struct Watched {
    places: Vec<PathBuf>,
    password: SecretString,
    /// The state at the last check.
    seen: Option<Shape>,
    /// The state at the last read; outside, `None` before the first one.
    read: Option<Option<Shape>>,
    /// True from a read that failed until one that does not.
    is_unreadable: bool,
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

/// The news of a password file.
#[derive(Debug)]
pub(crate) enum News {
    /// It has another password.
    Changed(SecretString),
    /// It cannot be read any more, and why.
    Unreadable(Text),
    /// It can be read again, and has the same password.
    Readable,
}

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
            (store.key.clone(), Watched::of(places, store.password.clone()))
        });
        self.files = watched.collect();
    }

    /// Waits for news of files. A cancelled wait loses nothing.
    pub(crate) async fn news(&mut self) -> Vec<(StoreKey, News)> {
        loop {
            self.clock.sleep(EVERY).await;
            let news = self.look();
            if !news.is_empty() {
                return news;
            }
        }
    }

    /// Checks each file once: a few system calls for each store.
    fn look(&mut self) -> Vec<(StoreKey, News)> {
        let news = |(key, file): (&StoreKey, &mut Watched)| Some((key.clone(), file.look()?));
        self.files.iter_mut().filter_map(news).collect()
    }
}

impl Watched {
    fn of(places: Vec<PathBuf>, password: SecretString) -> Self {
        Self { places, password, seen: None, read: None, is_unreadable: false }
    }

    fn look(&mut self) -> Option<News> {
        let shape = self.places.iter().find_map(shape_of);
        let is_settled = shape == std::mem::replace(&mut self.seen, shape);
        if !is_settled || self.read == Some(shape) {
            return None;
        }
        self.read = Some(shape);
        match first_readable(&self.places) {
            Ok(password) => {
                let was_unreadable = std::mem::take(&mut self.is_unreadable);
                if password.expose_secret() == self.password.expose_secret() {
                    return was_unreadable.then_some(News::Readable);
                }
                self.password = password.clone();
                Some(News::Changed(password))
            }
            Err(tried) => {
                self.is_unreadable = true;
                Some(News::Unreadable(unreadable(tried, |tried| text!("config-password", tried = tried))))
            }
        }
    }
}

fn shape_of(place: &PathBuf) -> Option<Shape> {
    let metadata = fs::metadata(place).ok()?;
    let changed = (metadata.ctime(), metadata.ctime_nsec());
    Some(Shape { modified: metadata.modified().ok()?, length: metadata.len(), changed })
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

    // withstands: F146
    #[test]
    fn a_file_is_read_once_when_it_has_changed_and_stays_so() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("loja.password");
        let write = |text: &str, mode: u32| {
            fs::write(&place, text).unwrap();
            fs::set_permissions(&place, fs::Permissions::from_mode(mode)).unwrap();
        };
        let remove = || fs::remove_file(&place).unwrap();
        let mut file = Watched::of(vec![dir.path().join("absent"), place.clone()], "old".into());
        let mut looks = |changes: &dyn Fn()| {
            changes();
            let told = |news: Option<News>| match news {
                None => "nothing".to_owned(),
                Some(News::Changed(password)) => password.expose_secret().to_owned(),
                Some(News::Unreadable(text)) => text.id().to_owned(),
                Some(News::Readable) => "readable".to_owned(),
            };
            [told(file.look()), told(file.look()), told(file.look())]
        };
        let nothing = ["nothing"; 3];
        let once = |news| ["nothing", news, "nothing"];
        assert_eq!(looks(&|| ()), ["config-password", "nothing", "nothing"], "it is absent from the start");
        assert_eq!(looks(&|| write("old\n", 0o600)), once("readable"));
        assert_eq!(looks(&|| write("old\n", 0o600)), nothing, "it is the same");
        assert_eq!(looks(&|| write("new-one\n", 0o600)), once("new-one"));
        assert_eq!(looks(&|| ()), nothing, "it is said once");
        assert_eq!(looks(&|| write("", 0o600)), once("config-password"), "an empty one is none");
        assert_eq!(looks(&|| write("newer-one", 0o600)), once("newer-one"));
        assert_eq!(looks(&remove), once("config-password"));
        assert_eq!(looks(&|| write("newer-one", 0o600)), once("readable"));
        assert_eq!(looks(&|| write("newer-one", 0o604)), once("check-secret-exposed"), "others may read it");
        assert_eq!(looks(&|| write("newest-one", 0o600)), once("newest-one"));
    }
}
