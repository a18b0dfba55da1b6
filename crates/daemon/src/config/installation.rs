//! `espelho.toml`: the installation.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{ConfigError, file};

/// The installation.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Installation {
    pub database: Database,
    pub http: Http,
    pub webhooks: Webhooks,
    pub log: Log,
    pub schedule: Schedule,
}

/// Where the mirror is.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Database {
    /// `sqlite:PATH` (relative to the working directory) or `postgres://user@host/db`.
    pub url: String,
    /// A file with the address, for one that holds a password.
    pub url_file: Option<PathBuf>,
}

/// Health and metrics.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Http {
    pub listen: SocketAddr,
}

/// The receiver of webhooks.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Webhooks {
    pub listen: SocketAddr,
}

/// Logs, on stderr.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Log {
    pub format: LogFormat,
    /// `error`, `warn`, `info`, `debug`, `trace`, or a filter like `info,espelho_api_client=debug`.
    pub level: String,
}

/// How a log line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    #[default]
    Text,
    Json,
}

/// When the service reconciles: cron expressions of six fields, in UTC.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Schedule {
    pub reconcile: String,
}

impl Default for Database {
    fn default() -> Self {
        Self { url: "sqlite:espelho.db".into(), url_file: None }
    }
}

impl Default for Http {
    fn default() -> Self {
        Self { listen: ([127, 0, 0, 1], 8787).into() }
    }
}

impl Default for Webhooks {
    fn default() -> Self {
        Self { listen: ([127, 0, 0, 1], 8788).into() }
    }
}

impl Default for Log {
    fn default() -> Self {
        Self { format: LogFormat::Text, level: "info".into() }
    }
}

impl Default for Schedule {
    fn default() -> Self {
        // Each hour, not on its first second, when the rest of the world does.
        Self { reconcile: "20 7 * * * *".into() }
    }
}

/// Reads `DIR/espelho.toml` if it is there, and lets `ESPELHO__SECTION__KEY` override it.
pub(super) fn load(dir: &Path) -> Result<Installation, ConfigError> {
    let path = dir.join("espelho.toml");
    // The file alone first, so that its mistakes are found with their line.
    let from_file = match path.exists() {
        true => file::parse(&path, &file::read(&path)?)?,
        false => Installation::default(),
    };
    let mut installation = override_from_environment(&from_file)?;
    if let Some(file) = &installation.database.url_file {
        // Beside the file that names it; join keeps an absolute path as it is.
        installation.database.url = file::read(&dir.join(file))?.trim().to_owned();
    }
    check_schedule(&installation, &path)?;
    Ok(installation)
}

fn override_from_environment(from_file: &Installation) -> Result<Installation, ConfigError> {
    let blame = |error: &dyn std::fmt::Display, key: &str| ConfigError {
        place: format!("ESPELHO__{}", key.to_uppercase().replace('.', "__")),
        problem: file::in_words(&error.to_string()),
    };
    let environment = config::Environment::with_prefix("ESPELHO").prefix_separator("__").separator("__");
    let layered = config::Config::builder()
        .add_source(config::Config::try_from(from_file).map_err(|e| blame(&e, "*"))?)
        .add_source(environment)
        .build()
        .map_err(|e| blame(&e, "*"))?;
    serde_path_to_error::deserialize(layered).map_err(|error| blame(error.inner(), &error.path().to_string()))
}

fn check_schedule(installation: &Installation, path: &Path) -> Result<(), ConfigError> {
    let expression = &installation.schedule.reconcile;
    match tokio_cron_scheduler::Job::new(expression.as_str(), |_, _| ()) {
        Ok(_) => Ok(()),
        Err(error) => Err(ConfigError {
            place: path.display().to_string(),
            problem: format!(
                "schedule.reconcile {expression:?} is no cron expression ({error}); \
                 write six fields: second minute hour day month weekday"
            ),
        }),
    }
}
