//! Logs go to stderr; stdout is for reports.

use std::sync::OnceLock;

use tracing_subscriber::EnvFilter;

use crate::config::LogFormat;

/// Changes the log level, in any format.
type Level = Box<dyn Fn(EnvFilter) + Send + Sync>;

static LEVEL: OnceLock<Level> = OnceLock::new();

/// Starts to log. `$ESPELHO_LOG` overrides the level for this process.
pub(crate) fn start(format: LogFormat, level: &str) {
    let filter = filter_of(level);
    let builder = tracing_subscriber::fmt().with_writer(std::io::stderr).with_target(false);
    // A second start (demo after sandbox, tests) keeps the first.
    let level: Level = match format {
        LogFormat::Json => {
            let builder = builder.json().flatten_event(true).with_env_filter(filter).with_filter_reloading();
            let handle = builder.reload_handle();
            let _ = builder.try_init();
            Box::new(move |filter| drop(handle.reload(filter)))
        }
        LogFormat::Text => {
            let builder = builder.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()));
            let builder = builder.with_env_filter(filter).with_filter_reloading();
            let handle = builder.reload_handle();
            let _ = builder.try_init();
            Box::new(move |filter| drop(handle.reload(filter)))
        }
    };
    let _ = LEVEL.set(level);
}

/// Changes the level from now on.
pub(crate) fn change_level(level: &str) {
    if let Some(change) = LEVEL.get() {
        change(filter_of(level));
    }
}

fn filter_of(level: &str) -> EnvFilter {
    // The scheduler's own "info" messages are about itself; the filter can enable them by name.
    let configured = format!("tokio_cron_scheduler=warn,{level}");
    EnvFilter::try_from_env("ESPELHO_LOG").unwrap_or_else(|_| EnvFilter::new(configured))
}
