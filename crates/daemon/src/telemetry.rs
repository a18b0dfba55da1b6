//! Logs go to stderr; stdout is for reports.

use tracing_subscriber::EnvFilter;

use crate::config::LogFormat;

/// Begins to log. `$ESPELHO_LOG` overrides the level for this process.
pub(crate) fn start(format: LogFormat, level: &str) {
    // The scheduler's own news at "info" are about itself; whoever wants them names it in the filter.
    let configured = format!("tokio_cron_scheduler=warn,{level}");
    let filter = EnvFilter::try_from_env("ESPELHO_LOG").unwrap_or_else(|_| EnvFilter::new(configured));
    let builder =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    // A second start (demo after sandbox, tests) keeps the first.
    let _ = match format {
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
        LogFormat::Text => builder.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).try_init(),
    };
}
