//! `stores/KEY.toml`: one store.

use std::{
    collections::BTreeMap,
    num::NonZeroU32,
    path::{Path, PathBuf},
};

use chrono::{DateTime, FixedOffset, Utc};
use espelho_api_client::PasswordCheck;
use espelho_model::{StoreKey, text, text::Text};
use espelho_store::KeptToken;
use espelho_sync_engine::{plan::gone::GoneGuard, push::PushOptions};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use super::{
    ConfigError, LabelsConfig, Secrets,
    address::{Environment, check_base},
    file,
    labels::StoreLabels,
    push::{Campaigns, Held, Push, number},
    secret,
    webhook::{Webhook, WebhookConfig},
};

/// The marketplace's limit (API document, "Limits"); in production no value above it is accepted.
const MARKETPLACE_LIMIT: u32 = 300;

/// A store, checked.
#[derive(Clone, Debug)]
pub(crate) struct StoreConfig {
    pub key: StoreKey,
    pub environment: Environment,
    pub base_url: String,
    pub username: String,
    pub password: SecretString,
    /// The possible paths of the password file, the preferred one first; empty for a password in the store's file.
    pub password_files: Vec<PathBuf>,
    pub requests_per_minute: NonZeroU32,
    pub gone_guard: GoneGuard,
    pub page_parameter: String,
    pub naive_offset: FixedOffset,
    /// Absent: the store is read by polling only.
    pub webhook: Option<WebhookConfig>,
    /// Absent: no label file is fetched.
    pub labels: Option<LabelsConfig>,
    /// How intents are carried out.
    pub push: PushOptions,
    /// Absent: no folder is watched.
    pub inbox: Option<PathBuf>,
}

impl StoreConfig {
    /// Returns where the password is, for people: its file, else the store's own.
    pub(crate) fn password_place(&self) -> String {
        let found = self.password_files.iter().find(|path| path.exists()).or(self.password_files.first());
        found.map_or_else(|| format!("stores/{}.toml", self.key), |path| path.display().to_string())
    }

    /// Returns when the file with the password was last written: its own, else the store's in `dir`.
    pub(crate) fn password_written_at(&self, dir: &Path) -> Option<DateTime<Utc>> {
        let written = |path: &Path| std::fs::metadata(path).ok()?.modified().ok();
        let written = match self.password_files.is_empty() {
            true => written(&dir.join("stores").join(format!("{}.toml", self.key))),
            false => self.password_files.iter().find_map(|path| written(path)),
        };
        written.map(DateTime::<Utc>::from)
    }

    /// Whether the configuration is unchanged.
    pub(crate) fn is_as(&self, other: &Self) -> bool {
        let secrets = |config: &Self| {
            let webhook = config.webhook.as_ref().and_then(|webhook| webhook.secret.as_ref());
            [Some(&config.password), webhook].map(|secret| secret.map(|s| s.expose_secret().to_owned()))
        };
        // `Debug` shows every present and future key; only secrets are hidden from it.
        format!("{self:?}") == format!("{other:?}") && secrets(self) == secrets(other)
    }

    /// Tells whether the password is the one that obtained this token; `None` if that is not on record, or the token is
    /// another credential's.
    pub(crate) fn has_password_of(&self, token: &KeptToken) -> Option<bool> {
        let is_ours = token.username == self.username && token.base_url == self.base_url;
        let check = PasswordCheck::from_number(token.password_check.filter(|_| is_ours)?)?;
        Some(check == PasswordCheck::of(&self.username, &self.password))
    }

    /// Returns true if the credential has another password than before.
    pub(crate) fn has_new_password(&self, before: &Self) -> bool {
        self.password.expose_secret() != before.password.expose_secret()
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoreFile {
    #[serde(default)]
    environment: Environment,
    base_url: String,
    credentials: Credentials,
    #[serde(default)]
    webhook: Option<Webhook>,
    #[serde(default)]
    labels: StoreLabels,
    #[serde(default)]
    limits: Limits,
    #[serde(default)]
    push: Push,
    #[serde(default)]
    campaigns: Option<Campaigns>,
    /// By SKU.
    #[serde(default)]
    price_floors: BTreeMap<String, f64>,
    #[serde(default)]
    guards: Guards,
    #[serde(default)]
    assumptions: Assumptions,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Credentials {
    username: String,
    #[serde(default)]
    password: Option<SecretString>,
    #[serde(default)]
    password_file: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Limits {
    requests_per_minute: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { requests_per_minute: MARKETPLACE_LIMIT }
    }
}

#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Guards {
    gone_max_rows: u64,
    gone_max_percent: f64,
    price_max_fall_percent: f64,
    price_max_rise_percent: f64,
    price_floor: f64,
    zero_max_rows: usize,
    zero_max_percent: f64,
    listings_per_hour: usize,
}

impl Default for Guards {
    fn default() -> Self {
        let GoneGuard { max_rows, max_percent, .. } = GoneGuard::default();
        Self {
            gone_max_rows: max_rows,
            gone_max_percent: max_percent,
            price_max_fall_percent: 80.0,
            price_max_rise_percent: 400.0,
            price_floor: 0.0,
            zero_max_rows: 10,
            zero_max_percent: 20.0,
            listings_per_hour: 20,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Assumptions {
    page_parameter: String,
    naive_offset: String,
}

impl Default for Assumptions {
    fn default() -> Self {
        Self { page_parameter: "page".into(), naive_offset: "+00:00".into() }
    }
}

/// Reads and checks a store's file.
pub(super) fn load(
    dir: &Path,
    key: StoreKey,
    path: &Path,
    secrets: Secrets,
) -> Result<StoreConfig, ConfigError> {
    let text = file::read(path)?;
    let file: StoreFile = file::parse(path, &text)?;
    let at = |name: &str, problem: Text| ConfigError { place: file::place_of(path, &text, name), problem };
    check_base(&file.base_url, file.environment).map_err(|e| at("base_url", e))?;
    let webhook = file.webhook.map(|webhook| webhook.check(file.environment, dir, path, secrets)).transpose();
    let webhook = webhook.map_err(|(name, problem)| at(name, problem))?;
    let labels = file.labels.check().map_err(|(name, problem)| at(name, problem))?;
    let requests_per_minute = check_rate(file.limits.requests_per_minute, file.environment)
        .map_err(|e| at("requests_per_minute", e))?;
    let credentials = file.credentials;
    if credentials.username.trim().is_empty() {
        return Err(at("username", text!("config-username")));
    }
    let (is_inline, named) = (credentials.password.is_some(), credentials.password_file.as_deref());
    let password_files = secret::password_files(dir, path, &key, is_inline, named);
    let password = match secrets {
        Secrets::Read => secret::password(dir, path, &key, credentials.password, named),
        Secrets::Leave => {
            secret::inline(credentials.password.as_ref(), named).map(|()| SecretString::default())
        }
    };
    let password = password.map_err(|e| at("credentials", e))?;
    let naive_offset = file.assumptions.naive_offset.parse().map_err(|_| {
        at("naive_offset", text!("config-naive-offset", value = &file.assumptions.naive_offset))
    })?;
    let held = Held {
        price_max_fall_percent: file.guards.price_max_fall_percent,
        price_max_rise_percent: file.guards.price_max_rise_percent,
        price_floor: file.guards.price_floor,
        zero_max_rows: file.guards.zero_max_rows,
        zero_max_percent: file.guards.zero_max_percent,
        listings_per_hour: file.guards.listings_per_hour,
    };
    number("gone_max_percent", file.guards.gone_max_percent).map_err(|(name, problem)| at(name, problem))?;
    let inbox = file.push.inbox.clone();
    let push = file
        .push
        .check(held, &file.price_floors, file.campaigns, dir)
        .map_err(|(name, problem)| at(name, problem))?;
    Ok(StoreConfig {
        key,
        environment: file.environment,
        base_url: file.base_url,
        username: credentials.username,
        password,
        password_files,
        requests_per_minute,
        gone_guard: GoneGuard {
            max_rows: file.guards.gone_max_rows,
            max_percent: file.guards.gone_max_percent,
            ..GoneGuard::default()
        },
        page_parameter: file.assumptions.page_parameter,
        naive_offset,
        webhook,
        labels,
        push,
        inbox,
    })
}

fn check_rate(requests_per_minute: u32, environment: Environment) -> Result<NonZeroU32, Text> {
    let rate = NonZeroU32::new(requests_per_minute).ok_or_else(|| text!("config-rate-least"))?;
    if environment == Environment::Production && rate.get() > MARKETPLACE_LIMIT {
        return Err(text!("config-rate-most", rate = rate.get(), most = MARKETPLACE_LIMIT));
    }
    Ok(rate)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use secrecy::ExposeSecret as _;

    use super::*;

    fn load_text(text: &str) -> Result<StoreConfig, String> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("stores")).unwrap();
        let path = dir.path().join("stores/loja.toml");
        std::fs::write(&path, text).unwrap();
        let password = dir.path().join("stores/loja.password");
        std::fs::write(&password, "segredo do arquivo\n").unwrap();
        std::fs::set_permissions(password, std::fs::Permissions::from_mode(0o600)).unwrap();
        let loaded = load(dir.path(), StoreKey::new("loja").unwrap(), &path, Secrets::Read);
        loaded.map_err(|e| e.to_string().replace(&format!("{}/", dir.path().join("stores").display()), ""))
    }

    fn store(environment: &str, base_url: &str, more: &str) -> String {
        format!(
            "environment = \"{environment}\"\nbase_url = \"{base_url}\"\n{more}\n[credentials]\nusername = \"loja@a1b2c3d4\"\npassword_file = \"loja.password\"\n"
        )
    }

    #[test]
    fn a_password_file_lies_beside_the_file_that_names_it_and_loses_its_line_end() {
        let config = load_text(&store("production", "https://m.test", "")).unwrap();
        assert_eq!(config.password.expose_secret(), "segredo do arquivo");
        assert_eq!(config.requests_per_minute.get(), 300);
        assert!(!format!("{config:?}").contains("segredo"));
    }

    // withstands: F130
    #[test]
    fn production_refuses_plain_http_and_loopback_by_name_and_the_sandbox_does_not() {
        for (url, words) in [
            (
                "http://m.test",
                "loja.toml:2: base_url \"http://m.test\" must begin with https:// in production",
            ),
            ("https://127.0.0.1:8799", "is an address of this machine"),
            ("https://[::1]", "is an address of this machine"),
            ("https://localhost", "is an address of this machine"),
            ("https://localhost.", "is an address of this machine"),
            ("https://[::ffff:127.0.0.1]", "is an address of this machine"),
        ] {
            let error = load_text(&store("production", url, "")).unwrap_err();
            assert!(error.contains(words), "{error}");
            assert!(load_text(&store("sandbox", url, "")).is_ok(), "{url}");
        }
    }

    #[test]
    fn production_refuses_the_examples_address_and_the_sandbox_does_not() {
        let example = include_str!("../../../../config/stores/example.toml");
        let error = load_text(example).unwrap_err();
        assert!(
            error.starts_with("loja.toml:9: ") && error.contains("https://marketplace.example"),
            "{error}"
        );
        for (host, refused) in [
            ("m.example", true),
            ("example", true),
            ("EXAMPLE.com.", true),
            ("api.example.org:8443", true),
            ("m.invalid", true),
            ("myexample.com", false),
            ("example.com.br", false),
            ("m.test", false),
        ] {
            let address = format!("https://{host}");
            let loaded = load_text(&store("production", &address, ""));
            assert_eq!(loaded.is_err(), refused, "{host}");
            assert!(load_text(&store("sandbox", &address, "")).is_ok(), "{host}");
        }
    }

    #[test]
    fn production_takes_one_to_three_hundred_requests_a_minute_and_the_sandbox_any() {
        let rate = |environment, rate: &str| {
            let text = store(environment, "https://m.test", "");
            load_text(&format!("{text}[limits]\nrequests_per_minute = {rate}\n"))
        };
        assert!(rate("production", "1").is_ok() && rate("production", "300").is_ok());
        assert!(rate("production", "301").unwrap_err().contains("a number from 1 to 300"));
        assert!(rate("sandbox", "1000000").is_ok());
        for bad in ["0", "-1", "12.5", "\"300\""] {
            assert!(rate("sandbox", bad).unwrap_err().starts_with("loja.toml:"), "{bad}");
        }
    }

    // withstands: F118
    #[test]
    fn a_guard_that_is_no_number_is_refused_with_its_line() {
        let guard = |name: &str, value: &str| {
            load_text(&format!("{}[guards]\n{name} = {value}\n", store("sandbox", "http://127.0.0.1:1", "")))
        };
        for name in [
            "gone_max_percent",
            "zero_max_percent",
            "price_max_fall_percent",
            "price_max_rise_percent",
            "price_floor",
        ] {
            for bad in ["nan", "inf", "-inf", "-1.0", "1e308"] {
                let error = guard(name, bad).unwrap_err();
                assert!(
                    error.starts_with("loja.toml:8: ") && error.contains(name) && error.contains("0 or more"),
                    "{error}"
                );
            }
            assert!(guard(name, "0.0").is_ok() && guard(name, "12.5").is_ok(), "{name}");
        }
    }

    #[test]
    fn a_base_address_is_a_host_and_says_what_to_write_where_it_is_more() {
        for (address, instead) in [
            ("https://m.test", None),
            ("https://m.test/", None),
            ("https://m.test/shop", None),
            ("https://m.test:8443", None),
            ("https://m.test/api", Some("https://m.test")),
            ("https://m.test/api/v1/sellers", Some("https://m.test")),
            ("https://m.test/shop/api/", Some("https://m.test/shop")),
            ("https://m.test?x=1", Some("https://m.test")),
            ("https://m.test/shop#top", Some("https://m.test/shop")),
        ] {
            let loaded = load_text(&store("production", address, ""));
            match instead {
                None => assert!(loaded.is_ok(), "{address}"),
                Some(instead) => {
                    let error = loaded.unwrap_err();
                    assert!(error.starts_with("loja.toml:2: base_url"), "{error}");
                    assert!(error.ends_with(&format!("write \"{instead}\"")), "{error}");
                }
            }
        }
    }

    #[test]
    fn credentials_in_an_address_are_refused_and_not_quoted() {
        let error = load_text(&store("production", "https://user:segredo@m.test", "")).unwrap_err();
        assert_eq!(error, "loja.toml:2: base_url carries credentials; they belong in [credentials]");
    }

    // withstands: F118
    #[test]
    fn an_unknown_key_is_refused_with_its_line_and_the_nearest_key() {
        let error =
            load_text(&store("sandbox", "http://127.0.0.1:1", "").replace("password_file", "pasword_file"));
        let error = error.unwrap_err();
        assert!(
            error.starts_with("loja.toml:6: unknown key \"pasword_file\"; did you mean \"password_file\"?"),
            "{error}"
        );
    }
}
