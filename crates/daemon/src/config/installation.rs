//! `espelho.toml`: the installation.

use std::{
    net::SocketAddr,
    num::{NonZeroU32, NonZeroUsize},
    path::{Path, PathBuf},
    time::Duration,
};

use espelho_model::{
    privacy::Policy,
    text,
    text::{Language, Locale, Tz},
};
use espelho_sync_engine::plan::schedule::Intervals;
use serde::{Deserialize, Serialize};
use tracing_subscriber::filter::LevelFilter;

use super::{
    ConfigError, LabelsSection, address::check_outgoing, cadence::Cadence, file, notices::NoticesSection,
    people, retention::RetentionSection,
};
use crate::http::webhook::{Limits, TlsFiles};

/// The installation.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Installation {
    /// The language of the service's texts for people.
    #[serde(deserialize_with = "people::language")]
    pub language: Language,
    /// The time zone of times shown to people.
    #[serde(serialize_with = "people::write_timezone", deserialize_with = "people::timezone")]
    pub timezone: Tz,
    pub database: Database,
    pub http: Http,
    pub webhooks: Webhooks,
    pub log: Log,
    pub traces: Traces,
    pub notices: NoticesSection,
    pub schedule: Schedule,
    pub labels: LabelsSection,
    /// The treatment of each field about a person.
    pub privacy: Policy,
    pub retention: RetentionSection,
}

/// The address of the mirror's database.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Database {
    /// `sqlite:PATH` (relative to the state directory, see `place`) or `postgres://user@host/db`.
    pub url: String,
    /// A file that contains the address, for an address with a password.
    pub url_file: Option<PathBuf>,
    /// A SQLite mirror is backed up before it is migrated.
    pub backup_before_migration: bool,
}

/// Health, metrics, the status page and the HTTP API.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Http {
    pub listen: SocketAddr,
    /// The tokens of the HTTP API, which is off without it.
    pub tokens_file: Option<PathBuf>,
    /// The operators who may act on the page; absent: nobody acts there.
    pub operators_file: Option<PathBuf>,
}

/// The webhook receiver.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Webhooks {
    pub listen: SocketAddr,
    /// Certificate chain and key, in PEM; without them the receiver speaks plain HTTP, to a proxy.
    pub tls_certificate_file: Option<PathBuf>,
    pub tls_key_file: Option<PathBuf>,
    pub max_connections: NonZeroUsize,
    pub max_connections_per_address: NonZeroUsize,
    pub header_seconds: NonZeroU32,
    pub request_seconds: NonZeroU32,
    pub idle_seconds: NonZeroU32,
    /// The maximum number of deliveries that wait for the disk.
    pub queue: NonZeroUsize,
    /// The maximum size in MiB of deliveries that are being read or wait for the disk.
    pub queue_megabytes: NonZeroU32,
}

impl Default for Installation {
    fn default() -> Self {
        let Locale { language, timezone } = Locale::default();
        Self {
            language,
            timezone,
            database: Database::default(),
            http: Http::default(),
            webhooks: Webhooks::default(),
            log: Log::default(),
            traces: Traces::default(),
            notices: NoticesSection::default(),
            schedule: Schedule::default(),
            labels: LabelsSection::default(),
            privacy: Policy::default(),
            retention: RetentionSection::default(),
        }
    }
}

impl Installation {
    /// Returns the differences to another installation that only a restart applies.
    pub(crate) fn fixed_differences(&self, other: &Self) -> Vec<&'static str> {
        let differences = [
            ("language", self.language != other.language),
            ("timezone", self.timezone != other.timezone),
            ("[database]", self.database != other.database),
            ("http.listen", self.http.listen != other.http.listen),
            ("[webhooks]", self.webhooks != other.webhooks),
            ("log.format", self.log.format != other.log.format),
            ("[traces]", self.traces != other.traces),
            ("[notices]", self.notices != other.notices),
            ("[privacy]", self.privacy != other.privacy),
            ("[retention]", self.retention != other.retention),
        ];
        differences.into_iter().filter_map(|(name, differs)| differs.then_some(name)).collect()
    }
}

impl Webhooks {
    /// Returns the receiver's limits.
    pub(crate) fn limits(&self) -> Limits {
        let seconds = |seconds: NonZeroU32| Duration::from_secs(seconds.get().into());
        Limits {
            connections: self.max_connections.get(),
            connections_per_address: self.max_connections_per_address.get(),
            header: seconds(self.header_seconds),
            request: seconds(self.request_seconds),
            idle: seconds(self.idle_seconds),
            queue: self.queue.get(),
            queue_bytes: (self.queue_megabytes.get() as usize) << 20,
        }
    }

    /// Returns its certificate files, if it has any.
    pub(crate) fn tls(&self) -> Option<TlsFiles> {
        let (certificate, key) = (self.tls_certificate_file.clone()?, self.tls_key_file.clone()?);
        Some(TlsFiles { certificate, key })
    }
}

/// Logs, on stderr.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Log {
    pub format: LogFormat,
    /// `error`, `warn`, `info`, `debug`, `trace`, or a filter like `info,espelho_api_client=debug`.
    pub level: String,
}

/// Traces, by OpenTelemetry's protocol.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Traces {
    /// The address of a collector for OTLP over HTTP; none: no traces.
    pub endpoint: Option<String>,
}

/// The format of a log line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    #[default]
    Text,
    Json,
}

/// When the service reconciles, and how often it sweeps in between.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Schedule {
    /// A cron expression of six fields, in UTC.
    pub reconcile: String,
    pub new_orders: Cadence,
    pub open_orders: Cadence,
    pub sold_products: Cadence,
    pub products: Cadence,
    pub parts: Cadence,
    pub aged_orders: Cadence,
    pub counts: Cadence,
    pub campaigns: Cadence,
    pub media: Cadence,
    pub profile: Cadence,
    pub enums: Cadence,
    pub webhook_test: Cadence,
}

impl Schedule {
    /// Whether the sweeps run as in another schedule; the time of the reconciliation does not matter.
    pub(crate) fn sweeps_as(&self, other: &Self) -> bool {
        Self { reconcile: other.reconcile.clone(), ..self.clone() } == *other
    }

    /// Returns how often each sweep runs.
    pub(crate) fn intervals(&self) -> Intervals {
        Intervals {
            new_orders: self.new_orders.engine(),
            open_orders: self.open_orders.engine(),
            sold_products: self.sold_products.engine(),
            products: self.products.engine(),
            subresources: self.parts.engine(),
            aged_orders: self.aged_orders.engine(),
            counts: self.counts.engine(),
            campaigns: self.campaigns.engine(),
            media: self.media.engine(),
            profile: self.profile.engine(),
            enums: self.enums.engine(),
            webhook_test: self.webhook_test.engine(),
        }
    }
}

impl Default for Database {
    fn default() -> Self {
        Self { url: "sqlite:espelho.db".into(), url_file: None, backup_before_migration: true }
    }
}

impl Default for Http {
    fn default() -> Self {
        Self { listen: ([127, 0, 0, 1], 8787).into(), tokens_file: None, operators_file: None }
    }
}

impl Default for Webhooks {
    fn default() -> Self {
        let [connections, per_address, queue] =
            [2_048, 64, 1_024].map(|n| NonZeroUsize::new(n).unwrap_or(NonZeroUsize::MIN));
        let [header, request, idle, megabytes] =
            [5, 10, 15, 16].map(|n| NonZeroU32::new(n).unwrap_or(NonZeroU32::MIN));
        Self {
            listen: ([127, 0, 0, 1], 8788).into(),
            tls_certificate_file: None,
            tls_key_file: None,
            max_connections: connections,
            max_connections_per_address: per_address,
            header_seconds: header,
            request_seconds: request,
            idle_seconds: idle,
            queue,
            queue_megabytes: megabytes,
        }
    }
}

impl Default for Log {
    fn default() -> Self {
        Self { format: LogFormat::Text, level: "info".into() }
    }
}

impl Default for Schedule {
    fn default() -> Self {
        // Each hour, but not in its first second, when everybody else does.
        let reconcile = "20 7 * * * *".into();
        Self {
            reconcile,
            new_orders: Cadence::seconds(60),
            open_orders: Cadence::seconds(60),
            sold_products: Cadence::seconds(30),
            products: Cadence::seconds(45),
            parts: Cadence::seconds(30),
            aged_orders: Cadence::seconds(60),
            counts: Cadence::seconds(300),
            campaigns: Cadence::seconds(900),
            media: Cadence::seconds(3_600),
            profile: Cadence::seconds(3_600),
            enums: Cadence::seconds(86_400),
            webhook_test: Cadence::seconds(86_400),
        }
    }
}

/// Reads `DIR/espelho.toml` if it exists; `ESPELHO__SECTION__KEY` overrides it.
pub(super) fn load(dir: &Path) -> Result<Installation, ConfigError> {
    let path = dir.join("espelho.toml");
    // Parses the file alone first, so that its mistakes are found with their line.
    let from_file = match path.exists() {
        true => file::parse(&path, &file::read(&path)?)?,
        false => Installation::default(),
    };
    let mut installation = override_from_environment(&from_file)?;
    read_database_url(&mut installation.database, dir)?;
    let webhooks = &mut installation.webhooks;
    for file in [&mut webhooks.tls_certificate_file, &mut webhooks.tls_key_file].into_iter().flatten() {
        *file = dir.join(&*file);
    }
    check_webhooks(webhooks, &path)?;
    check_listeners(installation.http.listen, installation.webhooks.listen, &path)?;
    if let Some(file) = &mut installation.http.operators_file {
        *file = dir.join(&*file);
        let problem = |problem| ConfigError { place: file.display().to_string(), problem };
        crate::operators::read(file).map_err(problem)?;
    }
    check_schedule(&installation, &path)?;
    check_level(&installation.log.level, &path)?;
    if let Some(endpoint) = &installation.traces.endpoint {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let place = file::place_of(&path, &text, "endpoint");
        check_outgoing("traces.endpoint", endpoint).map_err(|problem| ConfigError { place, problem })?;
    }
    if let Some(mistake) = installation.labels.mistake() {
        return Err(ConfigError { place: path.display().to_string(), problem: mistake });
    }
    if let Some((key, problem)) = installation.retention.mistake() {
        // The environment may say it instead of the file, which may not exist.
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        return Err(ConfigError { place: file::place_of(&path, &text, key), problem });
    }
    Ok(installation)
}

/// Reads what can be read of `DIR/espelho.toml`: what has a mistake is as if nobody had written it.
pub(super) fn load_readable(dir: &Path) -> Installation {
    let text = file::read(&dir.join("espelho.toml")).unwrap_or_default();
    let from_file: Installation = file::parse_readable(&text);
    let mut installation = override_from_environment(&from_file).unwrap_or(from_file);
    // Without the file the address stays the one beside it.
    let _ = read_database_url(&mut installation.database, dir);
    installation
}

/// Takes the database's address from the file that has it, if one is named.
fn read_database_url(database: &mut Database, dir: &Path) -> Result<(), ConfigError> {
    if let Some(file) = database.url_file.as_ref().filter(|_| !is_url_overridden(is_set)) {
        // The path is relative to the file that names it; join keeps an absolute path unchanged.
        database.url = file::read(&dir.join(file))?.trim().to_owned();
    }
    Ok(())
}

/// True if the environment has the database's address itself, which comes before a file that `espelho.toml` names; `has`
/// tells whether a variable is set.
fn is_url_overridden(has: impl Fn(&str) -> bool) -> bool {
    has("ESPELHO__DATABASE__URL") && !has("ESPELHO__DATABASE__URL_FILE")
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}

fn override_from_environment(from_file: &Installation) -> Result<Installation, ConfigError> {
    let blame = |error: &dyn std::fmt::Display, key: &str| ConfigError {
        place: format!("ESPELHO__{}", key.to_uppercase().replace('.', "__")),
        problem: file::in_words(&error.to_string(), None, |_| None),
    };
    let environment = config::Environment::with_prefix("ESPELHO").prefix_separator("__").separator("__");
    let layered = config::Config::builder()
        .add_source(config::Config::try_from(from_file).map_err(|e| blame(&e, "*"))?)
        .add_source(environment)
        .build()
        .map_err(|e| blame(&e, "*"))?;
    serde_path_to_error::deserialize(layered).map_err(|error| blame(error.inner(), &error.path().to_string()))
}

fn check_webhooks(webhooks: &Webhooks, path: &Path) -> Result<(), ConfigError> {
    let mistake = match (&webhooks.tls_certificate_file, &webhooks.tls_key_file) {
        (Some(_), None) => text!("config-tls-key"),
        (None, Some(_)) => text!("config-tls-certificate"),
        _ if webhooks.queue_megabytes.get() > 1_024 => text!("config-queue"),
        _ => return Ok(()),
    };
    Err(ConfigError { place: path.display().to_string(), problem: mistake })
}

/// Refuses one address for both listeners: the second could not be opened.
fn check_listeners(http: SocketAddr, webhooks: SocketAddr, path: &Path) -> Result<(), ConfigError> {
    let is_any = http.ip().is_unspecified() || webhooks.ip().is_unspecified();
    if http.port() == 0 || http.port() != webhooks.port() || !(is_any || http.ip() == webhooks.ip()) {
        return Ok(());
    }
    let text = std::fs::read_to_string(path).unwrap_or_default();
    Err(ConfigError {
        place: file::place_of(path, &text, "listen"),
        problem: text!("config-same-listeners", listen = http.to_string()),
    })
}

/// Refuses a word that is no level: a filter would take it for the name of a module, and say nothing at all.
fn check_level(level: &str, path: &Path) -> Result<(), ConfigError> {
    let is_level = |part: &str| {
        let level = part.rsplit_once('=').map_or(part, |(_, level)| level).trim();
        !level.is_empty() && level.parse::<LevelFilter>().is_ok()
    };
    if level.split(',').all(is_level) {
        return Ok(());
    }
    let text = std::fs::read_to_string(path).unwrap_or_default();
    Err(ConfigError {
        place: file::place_of(path, &text, "level"),
        problem: text!("config-log-level", level = level),
    })
}

fn check_schedule(installation: &Installation, path: &Path) -> Result<(), ConfigError> {
    let expression = &installation.schedule.reconcile;
    match tokio_cron_scheduler::Job::new(expression.as_str(), |_, _| ()) {
        Ok(_) => Ok(()),
        Err(error) => Err(ConfigError {
            place: path.display().to_string(),
            problem: text!("config-cron", expression = expression, problem = error.to_string()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::privacy::Treatment;

    use super::*;

    fn loaded(text: &str) -> Result<Installation, String> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("espelho.toml"), text).unwrap();
        let shorter =
            |error: ConfigError| error.to_string().replace(&format!("{}/", dir.path().display()), "");
        load(dir.path()).map_err(shorter)
    }

    #[test]
    fn what_stands_in_the_example_is_the_default() {
        let example = loaded(include_str!("../../../../config/espelho.toml")).unwrap();
        let default = Installation::default();
        // "1d" is written for 86,400 seconds.
        let intervals = |of: &Installation| format!("{:?}", of.schedule.intervals());
        assert_eq!(intervals(&example), intervals(&default));
        assert_eq!(example.schedule.reconcile, default.schedule.reconcile);
        assert_eq!(Installation { schedule: default.schedule.clone(), ..example }, default);
    }

    #[test]
    fn an_address_in_the_environment_comes_before_a_file_that_the_configuration_names() {
        let (url, file) = ("ESPELHO__DATABASE__URL", "ESPELHO__DATABASE__URL_FILE");
        for (set, expected) in [(&[][..], false), (&[url], true), (&[file], false), (&[url, file], false)] {
            assert_eq!(is_url_overridden(|name| set.contains(&name)), expected, "{set:?}");
        }
    }

    #[test]
    fn one_address_for_both_listeners_is_refused() {
        let both = |http: &str, webhooks: &str| {
            loaded(&format!("[http]\nlisten = \"{http}\"\n[webhooks]\nlisten = \"{webhooks}\""))
        };
        for (http, webhooks) in [
            ("127.0.0.1:9000", "127.0.0.1:9001"),
            ("127.0.0.1:9000", "127.0.0.2:9000"),
            ("127.0.0.1:0", "127.0.0.1:0"),
        ] {
            assert!(both(http, webhooks).is_ok(), "{http} {webhooks}");
        }
        for (http, webhooks) in [
            ("127.0.0.1:9000", "127.0.0.1:9000"),
            ("127.0.0.1:9000", "0.0.0.0:9000"),
            ("[::]:9000", "127.0.0.1:9000"),
        ] {
            let error = both(http, webhooks).unwrap_err();
            assert!(error.starts_with("espelho.toml:2: http.listen"), "{error}");
        }
    }

    #[test]
    fn a_word_that_is_no_level_is_refused() {
        for fine in ["info", "WARN", "off", "info,espelho_api_client=debug", "warn, espelho_daemon = trace"] {
            assert!(loaded(&format!("[log]\nlevel = \"{fine}\"")).is_ok(), "{fine}");
        }
        for odd in ["lodu", "", "info,", "espelho_daemon=lodu"] {
            let error = loaded(&format!("[log]\nlevel = \"{odd}\"")).unwrap_err();
            assert!(error.starts_with("espelho.toml:2: log.level"), "{error}");
        }
    }

    #[test]
    fn every_key_that_the_example_comments_out_is_one() {
        let example = include_str!("../../../../config/espelho.toml");
        let (_, retention) = example.split_once("[retention]").unwrap();
        let commented = retention.lines().filter_map(|line| line.strip_prefix('#')?.split_once("_days = "));
        let commented: Vec<String> =
            commented.map(|(name, days)| format!("{name}_days = {days}\n")).take(5).collect();
        assert_eq!(commented.len(), 5);
        let limits = loaded(&format!("[retention]\n{}", commented.concat())).unwrap();
        let limits = limits.retention.limits(None);
        assert!(
            [limits.changes, limits.runs, limits.commands, limits.messages, limits.raw]
                .iter()
                .all(Option::is_some)
        );
    }

    #[test]
    fn what_of_a_person_is_kept_is_said_by_field() {
        let policy = loaded("[privacy]\nname = \"hash\"\ncity = \"leave_out\"\n").unwrap().privacy;
        let expected = Policy { name: Treatment::Hash, city: Treatment::LeaveOut, ..Policy::default() };
        assert_eq!(policy, expected);
        for (text, words) in [
            (
                "[privacy]\nnames = \"hash\"\n",
                "espelho.toml:2: unknown key \"names\"; did you mean \"name\"?",
            ),
            ("[privacy]\n\nname = \"drop\"\n", "espelho.toml:3: "),
            (
                "[retention]\nraw_day = 90\n",
                "espelho.toml:2: unknown key \"raw_day\"; did you mean \"raw_days\"?",
            ),
            (
                "[retention]\ninbox_days = 7\neffects_days = 30\n",
                "espelho.toml:3: retention.effects_days is 30 days, too short to be safe; write 31 or more",
            ),
            ("[retention]\ninbox_days = 0\n", "espelho.toml:2: retention.inbox_days is 0 days"),
            ("[retention]\nraw_days = -1\n", "espelho.toml:2: "),
        ] {
            let error = loaded(text).unwrap_err();
            assert!(error.starts_with(words), "{error}");
        }
    }
}
