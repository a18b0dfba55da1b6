//! SIGHUP: the configuration is read again, and applied as a whole or not at all.

use std::{io, path::PathBuf};

use espelho_model::text::Text;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::config::{self, ConfigError, Configuration};

/// The signal that triggers a reload, and the folder to read.
pub(crate) struct Reloads {
    signal: Signal,
    directory: PathBuf,
}

impl Reloads {
    /// Reads this folder again with each SIGHUP from now on.
    pub(crate) fn of(directory: PathBuf) -> io::Result<Self> {
        Ok(Self { signal: signal(SignalKind::hangup())?, directory })
    }

    /// Waits for the next SIGHUP.
    pub(crate) async fn next(&mut self) {
        if self.signal.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    /// Returns the configuration as it is now; for a broken one it logs and returns every mistake.
    pub(crate) fn read(&self) -> Result<Configuration, Vec<Text>> {
        config::load(&self.directory).map_err(|mistakes| {
            mistakes.iter().for_each(|mistake| refused(&mistake.to_string()));
            mistakes.iter().map(ConfigError::text).collect()
        })
    }
}

/// Logs why nothing changes.
pub(crate) fn refused(error: &str) {
    let next_step = "correct it, run `espelho check`, and reload again";
    tracing::error!(error, next_step, "the new configuration is refused; the old one stays");
}
