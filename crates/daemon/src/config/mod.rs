//! The configuration (PRODUCT contract 2): `DIR/espelho.toml` and `DIR/stores/KEY.toml`.

mod address;
mod cadence;
mod file;
mod installation;
mod labels;
mod notices;
mod people;
mod push;
mod retention;
mod secret;
mod store;
mod tokens;
mod webhook;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use espelho_model::{
    StoreKey, text,
    text::{Arg, Locale, Text},
};

use crate::{
    http::{api::Tokens, webhook::Receiving},
    status::{ShownStore, SweepPlan},
};

pub(crate) use address::{Environment, check_address, check_base, environment_of};
pub(crate) use cadence::span;
pub(crate) use installation::{Installation, LogFormat, Schedule, Traces};
pub(crate) use labels::{LabelsConfig, LabelsSection};
pub(crate) use notices::{
    ExecConfig, NoticeWebhook, NoticesConfig, NoticesSection, PingConfig, SmtpConfig, SmtpTls,
};
pub(crate) use people::of_installation as people;
pub(crate) use secret::{
    Use, belongs_to_another, from_first as first_readable, is_service, secret_file, service_may_use,
    unreadable,
};
pub(crate) use store::StoreConfig;
pub(crate) use webhook::WebhookConfig;

/// A configuration that cannot be used: where, what, and what to write instead.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub(crate) struct ConfigError {
    /// File and line, or the environment variable.
    pub place: String,
    /// What is wrong, with the next step at the end.
    pub problem: Text,
}

/// The problems of a folder that nobody has written a configuration into.
const NONE_YET: [&str; 2] = ["config-no-folder", "config-no-stores"];

impl Configuration {
    /// Returns the first password file of the installation in `dir` that the package's service may not read.
    pub(crate) fn not_the_services(&self, dir: &Path) -> Option<&Path> {
        let is_installed = dir == Path::new(SYSTEM);
        let mut files =
            self.stores.iter().filter_map(|store| store.password_files.iter().find(|file| file.exists()));
        let denied = files.find(|file| is_installed && service_may_use(file, Use::Read) == Some(false));
        denied.map(PathBuf::as_path)
    }
}

impl ConfigError {
    /// Tells whether nobody has written a configuration yet.
    pub(crate) fn is_none_yet(&self) -> bool {
        NONE_YET.contains(&self.problem.id())
    }

    /// Tells whether it is a secret that another user alone may read: of a command of this user it says nothing about the
    /// service, if that user is the service's.
    pub(crate) fn is_of_another_user(&self) -> bool {
        self.problem.id() == secret::ANOTHERS
    }

    /// Tells whether a store's secret cannot be read from its file.
    pub(crate) fn is_of_stores_secret(&self) -> bool {
        let is_stores = Path::new(&self.place).parent().is_some_and(|folder| folder.ends_with("stores"));
        is_stores && secret::is_unread(&self.problem)
    }

    /// Returns the same for people: where, what, and the next step.
    pub(crate) fn text(&self) -> Text {
        let problem = self.problem.clone();
        // It names its file itself, and nothing in the configuration is to be corrected.
        if self.is_of_another_user() {
            return problem;
        }
        if self.is_none_yet() {
            return text!("config-none-yet", place = &self.place, problem = problem);
        }
        let mistake = match problem.has_next() {
            true => {
                let next = Arg::Next(Box::new(problem.clone()));
                text!("config-at-next", place = &self.place, problem = problem, next = next)
            }
            false => text!("config-at", place = &self.place, problem = problem),
        };
        text!("config-mistake", mistake = mistake)
    }
}

/// Everything that DIR contains.
#[derive(Debug)]
pub(crate) struct Configuration {
    /// `espelho.toml`.
    pub installation: Installation,
    /// The stores, in the order of their keys.
    pub stores: Vec<StoreConfig>,
    /// The tokens of the HTTP API.
    pub tokens: Tokens,
    /// The ways by which people hear of alarms.
    pub notices: NoticesConfig,
}

impl Configuration {
    /// Returns the installation's language and time zone, for texts that the service writes for people.
    pub(crate) fn locale(&self) -> Locale {
        Locale { language: self.installation.language, timezone: self.installation.timezone }
    }

    /// Returns the stores that receive webhooks, with their configured secrets.
    pub(crate) fn receiving(&self) -> Receiving {
        let receives =
            |store: &StoreConfig| Some((store.key.clone(), store.webhook.as_ref()?.secret.clone()));
        self.stores.iter().filter_map(receives).collect()
    }

    /// Returns the stores as the status shows them.
    pub(crate) fn shown(&self) -> Vec<ShownStore> {
        let intervals = self.installation.schedule.intervals();
        let shown = |store: &StoreConfig| ShownStore {
            key: store.key.clone(),
            per_minute: store.requests_per_minute.get(),
            plan: SweepPlan { receives: store.webhook.is_some(), intervals: intervals.clone() },
            base_url: store.base_url.clone(),
            password_place: store.password_place(),
            webhook_address: store.webhook.as_ref().map(|webhook| webhook.public_url.clone()),
        };
        self.stores.iter().map(shown).collect()
    }
}

/// The folder of an installed service.
pub(crate) const SYSTEM: &str = "/etc/espelho";
/// The state directory of the package's service, which belongs to the service's user.
pub(crate) const INSTALLED: &str = "/var/lib/espelho";

/// Returns the folder to read: the requested one, else `$ESPELHO_CONFIG`, else `/etc/espelho`, else `./config`.
pub(crate) fn directory(asked: Option<&Path>) -> PathBuf {
    if let Some(dir) = asked {
        return dir.to_owned();
    }
    if let Some(dir) = std::env::var_os("ESPELHO_CONFIG").filter(|dir| !dir.is_empty()) {
        return dir.into();
    }
    let system = Path::new(SYSTEM);
    if system.is_dir() { system.to_owned() } else { "config".into() }
}

/// Returns the folder that command lines must name: in another shell, which has neither this one's variable nor its working
/// folder, a bare `espelho` would read another one. A variable that says the same as `--config` is the machine's.
pub(crate) fn folder_to_name(asked: Option<&Path>) -> Option<PathBuf> {
    let variable = std::env::var_os("ESPELHO_CONFIG").filter(|dir| !dir.is_empty() && asked.is_some());
    let bare = variable.map_or_else(|| SYSTEM.into(), PathBuf::from);
    other_than(&directory(asked), &bare)
}

/// Returns a folder as somebody elsewhere names it, if it is not the other one.
fn other_than(folder: &Path, other: &Path) -> Option<PathBuf> {
    let real = |folder: &Path| folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let is_same = real(folder) == real(other);
    (!is_same).then(|| std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()))
}

/// The treatment of secrets while a configuration is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Secrets {
    Read,
    Leave,
}

/// Reads everything, and returns all mistakes at once.
pub(crate) fn load(dir: &Path) -> Result<Configuration, Vec<ConfigError>> {
    load_with(dir, Secrets::Read)
}

/// Reads everything but passwords, tokens and other secrets, which are empty, for a command that only reads the database:
/// its user may be allowed to read that and no secret.
pub(crate) fn load_without_secrets(dir: &Path) -> Result<Configuration, Vec<ConfigError>> {
    load_with(dir, Secrets::Leave)
}

/// Reads the address of the page and of the health checks alone.
pub(crate) fn load_listen(dir: &Path) -> Result<SocketAddr, ConfigError> {
    installation::load(dir).map(|installation| installation.http.listen)
}

/// Reads what can be read of `espelho.toml`, as a configuration without stores: enough to ask the running service, which
/// has the files of its start or of its last reload.
pub(crate) fn load_readable(dir: &Path) -> Configuration {
    let (tokens, notices) = (Tokens::default(), NoticesConfig::default());
    Configuration { installation: installation::load_readable(dir), stores: Vec::new(), tokens, notices }
}

/// Reads everything but the stores whose own files have a mistake, and returns the keys of those; `None` where
/// `espelho.toml` has one. Stores that are refused beside each other are read: nobody may log them in.
pub(crate) fn load_sound(dir: &Path) -> Option<(Configuration, Vec<StoreKey>)> {
    let sound = read(dir, Secrets::Read).0?;
    let is_sound = |key: &StoreKey| sound.stores.iter().any(|store| store.key == *key);
    let files = store_files(dir).0.into_iter().map(|(key, _)| key);
    let left_out = files.filter(|key| !is_sound(key)).collect();
    Some((sound, left_out))
}

fn place_of_store(dir: &Path, key: &StoreKey) -> String {
    dir.join("stores").join(format!("{key}.toml")).display().to_string()
}

fn load_with(dir: &Path, secrets: Secrets) -> Result<Configuration, Vec<ConfigError>> {
    match read(dir, secrets) {
        (Some(configuration), errors) if errors.is_empty() => Ok(configuration),
        (_, errors) => Err(errors),
    }
}

/// Reads what has no mistake, and returns all mistakes.
fn read(dir: &Path, secrets: Secrets) -> (Option<Configuration>, Vec<ConfigError>) {
    if !dir.is_dir() {
        let missing = ConfigError { place: dir.display().to_string(), problem: text!("config-no-folder") };
        return (None, vec![missing]);
    }
    let mut errors = Vec::new();
    let installation = installation::load(dir).map_err(|e| errors.push(e)).ok();
    let with_secrets = installation.as_ref().filter(|_| secrets == Secrets::Read);
    let tokens_file = with_secrets.and_then(|installation| installation.http.tokens_file.as_deref());
    let tokens = tokens::load(dir, tokens_file).map_err(|e| errors.push(e)).unwrap_or_default();
    let notices = with_secrets.map(|installation| notices::load(dir, &installation.notices));
    let notices = notices.and_then(|notices| notices.map_err(|e| errors.push(e)).ok()).unwrap_or_default();
    let mut stores = Vec::new();
    let (files, misnamed) = store_files(dir);
    errors.extend(misnamed);
    for (key, path) in files {
        match store::load(dir, key, &path, secrets) {
            Ok(store) => stores.push(store),
            Err(error) => errors.push(error),
        }
    }
    errors.extend(shared_credentials(dir, &stores));
    errors.extend(others_address(dir, &stores));
    let configuration =
        installation.map(|installation| Configuration { installation, stores, tokens, notices });
    (configuration, errors)
}

/// Refuses two stores with one credential: each login would end the other's token.
fn shared_credentials(dir: &Path, stores: &[StoreConfig]) -> Option<ConfigError> {
    let mut seen = std::collections::HashMap::new();
    stores.iter().find_map(|store| {
        let account = (address::marketplace(&store.base_url), store.username.to_lowercase());
        let first = seen.insert(account, &store.key)?;
        Some(ConfigError {
            place: place_of_store(dir, &store.key),
            problem: text!("config-shared-credential", first = first.as_str()),
        })
    })
}

/// Returns the other store that the path of a webhook's address names. In the sandbox it counts only if it is here: a proxy
/// of a developer may name its paths as it likes.
pub(crate) fn other_store_in(
    url: &str,
    (store, environment): (&StoreKey, Environment),
    is_here: impl Fn(&StoreKey) -> bool,
) -> Option<StoreKey> {
    let path = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let named = path.rsplit_once("/webhooks/").and_then(|(_, key)| StoreKey::new(key).ok());
    named.filter(|key| key != store).filter(|key| environment == Environment::Production || is_here(key))
}

/// Returns the other store of a folder that has this webhook address already.
pub(crate) fn other_store_with(dir: &Path, url: &str, store: &StoreKey) -> Option<StoreKey> {
    let others = read(dir, Secrets::Leave).0?.stores.into_iter().filter(|other| other.key != *store);
    let has_it = |other: &StoreConfig| {
        let webhook = other.webhook.as_ref();
        webhook.is_some_and(|webhook| webhook.public_url.trim_end_matches('/') == url.trim_end_matches('/'))
    };
    others.filter(has_it).map(|other| other.key).next()
}

/// Refuses the webhook address of another store: its deliveries would be answered with that store's secret, or with none
/// where this installation does not have the store.
fn others_address(dir: &Path, stores: &[StoreConfig]) -> Option<ConfigError> {
    let mut addressed = stores.iter().filter_map(|store| Some((store, &store.webhook.as_ref()?.public_url)));
    let mut seen = std::collections::HashMap::new();
    addressed.find_map(|(store, url)| {
        let is_here = |key: &StoreKey| stores.iter().any(|other| other.key == *key);
        let named = other_store_in(url, (&store.key, store.environment), is_here);
        let same = seen.insert(url.trim_end_matches('/'), &store.key);
        let other = named.as_ref().or(same)?;
        Some(ConfigError {
            place: place_of_store(dir, &store.key),
            problem: text!("config-webhook-of-other", other = other.as_str(), store = store.key.as_str()),
        })
    })
}

/// Returns `stores/*.toml`, by key, and what is wrong with the others. Other files may be there (passwords); hidden files
/// belong to editors.
fn store_files(dir: &Path) -> (Vec<(StoreKey, PathBuf)>, Vec<ConfigError>) {
    let folder = dir.join("stores");
    let place = folder.display().to_string();
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) => {
            let problem = match error.kind() {
                std::io::ErrorKind::NotFound => text!("config-no-stores"),
                _ => text!("config-stores-unreadable", problem = error.to_string()),
            };
            return (Vec::new(), vec![ConfigError { place, problem }]);
        }
    };
    let (mut files, mut errors) = (Vec::new(), Vec::new());
    for entry in entries.flatten() {
        let path = entry.path();
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if path.extension().is_none_or(|extension| extension != "toml") || stem.starts_with('.') {
            continue;
        }
        match StoreKey::new(&stem) {
            Ok(key) => files.push((key, path)),
            Err(_) => {
                let problem = text!("config-bad-key", key = &stem);
                errors.push(ConfigError { place: path.display().to_string(), problem });
            }
        }
    }
    if files.is_empty() && errors.is_empty() {
        errors.push(ConfigError { place, problem: text!("config-no-stores") });
    }
    files.sort();
    (files, errors)
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Language;

    use super::*;

    /// Loads two stores with these webhook addresses; returns the mistakes.
    fn two_stores(first: &str, second: &str) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("stores")).unwrap();
        for (key, url) in [("loja-a", first), ("loja-b", second)] {
            let text = format!(
                "environment = \"sandbox\"\nbase_url = \"http://127.0.0.1:1\"\n[credentials]\nusername = \"{key}\"\n\
                 password = \"segredo\"\n[webhook]\npublic_url = \"{url}\"\n"
            );
            std::fs::write(dir.path().join(format!("stores/{key}.toml")), text).unwrap();
        }
        dir
    }

    fn mistakes(first: &str, second: &str) -> Vec<String> {
        let dir = two_stores(first, second);
        load(dir.path()).err().unwrap_or_default().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_folder_is_named_where_a_bare_command_would_read_another_one() {
        let dir = tempfile::tempdir().unwrap();
        let [own, other] = ["own", "other"].map(|name| dir.path().join(name));
        std::fs::create_dir(&own).unwrap();
        let again = own.join("../own");
        assert_eq!(other_than(&own, &again), None);
        assert_eq!(other_than(&own, &other), Some(own));
        assert!(other_than(Path::new("here"), &other).is_some_and(|folder| folder.is_absolute()));
        let asked = folder_to_name(Some(Path::new("./config")));
        assert!(asked.is_some_and(|folder| folder.is_absolute()), "another shell has another working folder");
        assert_eq!(folder_to_name(Some(Path::new(SYSTEM))), None);
    }

    #[test]
    fn one_badly_named_file_hides_no_store() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("stores")).unwrap();
        let text = "environment = \"sandbox\"\nbase_url = \"http://127.0.0.1:1\"\n\
                    [credentials]\nusername = \"a\"\npassword = \"segredo\"\n";
        for name in ["loja.toml", "Loja Um.toml"] {
            std::fs::write(dir.path().join("stores").join(name), text).unwrap();
        }
        let mistakes = load(dir.path()).err().unwrap();
        assert_eq!(
            mistakes.iter().map(|mistake| mistake.problem.id()).collect::<Vec<_>>(),
            ["config-bad-key"]
        );
        let (sound, left_out) = load_sound(dir.path()).unwrap();
        assert_eq!((sound.stores.len(), left_out.len()), (1, 0));
    }

    #[test]
    fn without_any_configuration_the_next_step_is_to_make_one() {
        let dir = tempfile::tempdir().unwrap();
        let [none, empty, stores] = ["none", "empty", "stores"].map(|name| dir.path().join(name));
        std::fs::create_dir(&empty).unwrap();
        std::fs::create_dir_all(stores.join("stores")).unwrap();
        for folder in [&none, &empty, &stores] {
            for locale in Language::ALL.map(Locale::of) {
                let errors = load(folder).err().unwrap_or_default();
                let [error] = &errors[..] else { panic!("{errors:?}") };
                let (said, next) = (error.text().message(locale), error.text().next(locale));
                assert!(said.contains("sudo espelho init") && !said.contains("config-"), "{said}");
                assert_eq!(next.as_deref(), Some("sudo espelho init"), "{said}");
            }
        }
        std::fs::write(stores.join("stores/loja.toml"), "x = 1\n").unwrap();
        let errors = load(&stores).err().unwrap_or_default();
        assert!(errors[0].text().next(Locale::default()).is_some_and(|next| next.contains("espelho check")));
    }

    #[test]
    fn a_broken_file_still_says_where_the_service_is_asked() {
        for (text, port, url) in [
            (
                "[http]\nlissten = 1\nlisten = \"127.0.0.1:9100\"\n[database]\nurl = \"sqlite:a.db\"\n",
                9_100,
                "sqlite:a.db",
            ),
            ("[database]\nurl_file = \"url\"\n[http]\nlisten = \"nowhere\"\n", 8_787, "sqlite:b.db"),
            ("[database]\nurl_file = \"none\"\n", 8_787, "sqlite:espelho.db"),
            (
                "[schedule]\nreconcile = \"x\"\n[http]\nlisten = \"127.0.0.1:9100\"\n",
                9_100,
                "sqlite:espelho.db",
            ),
        ] {
            let dir = tempfile::tempdir().unwrap();
            std::fs::write(dir.path().join("url"), "sqlite:b.db\n").unwrap();
            std::fs::write(dir.path().join("espelho.toml"), text).unwrap();
            assert!(load(dir.path()).is_err());
            let read = load_readable(dir.path()).installation;
            assert_eq!((read.http.listen.port(), read.database.url.as_str()), (port, url), "{text}");
        }
    }

    #[test]
    fn a_command_that_only_reads_the_database_needs_no_secret() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("stores")).unwrap();
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        write("espelho.toml", "[http]\ntokens_file = \"nowhere\"\n[notices.ping]\nurl_file = \"nowhere\"\n");
        write(
            "stores/loja.toml",
            "environment = \"sandbox\"\nbase_url = \"http://127.0.0.1:1\"\n\
            [credentials]\nusername = \"a@b\"\npassword_file = \"nowhere\"\n\
            [webhook]\npublic_url = \"http://127.0.0.1:2/webhooks/loja\"\nsecret_file = \"nowhere\"\n",
        );
        assert!(load(dir.path()).is_err());
        let loaded = load_without_secrets(dir.path()).map(|all| all.stores.len());
        assert_eq!(
            loaded.map_err(|errors| errors.iter().map(ToString::to_string).collect()),
            Ok::<_, Vec<String>>(1)
        );
    }

    #[test]
    fn production_refuses_a_webhook_address_with_another_key_and_says_which_one_to_write() {
        for (path, is_refused) in [
            ("/webhooks/loja", false),
            ("/proxy/webhooks/loja/", false),
            ("/in/loja", false),
            ("/webhooks/outra", true),
            ("/proxy/webhooks/outra/", true),
        ] {
            let dir = tempfile::tempdir().unwrap();
            std::fs::create_dir(dir.path().join("stores")).unwrap();
            let text = format!(
                "base_url = \"https://m.test\"\n[credentials]\nusername = \"loja\"\npassword = \"segredo\"\n\
                 [webhook]\npublic_url = \"https://erp.test{path}\"\n"
            );
            std::fs::write(dir.path().join("stores/loja.toml"), text).unwrap();
            let mistakes: Vec<String> =
                load(dir.path()).err().unwrap_or_default().iter().map(ToString::to_string).collect();
            assert_eq!(mistakes.len(), usize::from(is_refused), "{path}: {mistakes:?}");
            let is_named =
                |mistake: &String| mistake.contains("store outra") && mistake.ends_with("/webhooks/loja");
            assert!(mistakes.iter().all(is_named), "{mistakes:?}");
        }
    }

    #[test]
    fn a_webhook_address_of_another_store_is_refused() {
        let at = |path: &str| format!("https://erp.example.com{path}");
        for (first, second) in [
            ("/webhooks/loja-a", "/webhooks/loja-b"),
            ("/in?store=loja-a", "/in?store=loja-b"),
            ("/a", "/webhooks/loja-c"),
        ] {
            assert_eq!(mistakes(&at(first), &at(second)), Vec::<String>::new(), "{first} {second}");
        }
        for (first, second) in [
            ("/webhooks/loja-a", "/webhooks/loja-a"),
            ("/webhooks/loja-a", "/webhooks/loja-a/"),
            ("/in", "/in"),
            ("/a", "/proxy/webhooks/loja-a"),
        ] {
            let found = mistakes(&at(first), &at(second));
            let [mistake] = &found[..] else { panic!("{first} {second}: {found:?}") };
            assert!(mistake.contains("loja-b.toml") && mistake.contains("loja-a"), "{mistake}");
        }
    }

    #[test]
    fn an_address_that_another_store_has_is_found_before_anything_is_written() {
        let [a, b] = ["loja-a", "loja-b"].map(|key| StoreKey::new(key).unwrap());
        let dir = two_stores("https://erp.example.com/in", "https://erp.example.com/x");
        for (url, store, expected) in [
            ("https://erp.example.com/in/", &b, Some(&a)),
            ("https://erp.example.com/in", &a, None),
            ("https://erp.example.com/new", &b, None),
        ] {
            assert_eq!(other_store_with(dir.path(), url, store).as_ref(), expected, "{url} {store}");
        }
    }
}
