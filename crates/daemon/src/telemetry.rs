//! Logs go to stderr; stdout is for reports.

use std::sync::OnceLock;

use espelho_sync_engine::order_trace;
use json_subscriber::JsonLayer;
use tracing::Subscriber;
use tracing_subscriber::{
    EnvFilter, Layer, Registry,
    fmt::{self, MakeWriter, time::SystemTime},
    layer::SubscriberExt as _,
    registry::LookupSpan,
    reload,
    util::SubscriberInitExt as _,
};

use crate::{config::LogFormat, traces::Traces};

/// The filter of lines, which SIGHUP replaces.
type LevelFilter = reload::Layer<EnvFilter, Registry>;

/// Changes the log level, in any format.
type Level = Box<dyn Fn(EnvFilter) + Send + Sync>;

static LEVEL: OnceLock<Level> = OnceLock::new();

/// Starts to log. `$ESPELHO_LOG` overrides the level for this process.
pub(crate) fn start(format: LogFormat, level: &str) {
    start_with_traces(format, level, None);
}

/// The same, and sends traces to their collector, where there is one.
pub(crate) fn start_with_traces(format: LogFormat, level: &str, traces: Option<&Traces>) {
    let (filter, handle) = reload::Layer::new(filter_of(level));
    let lines = lines(format, filter);
    // A second start (demo after sandbox, tests) keeps the first.
    let logging = tracing_subscriber::registry().with(lines);
    let _ = match traces {
        Some(traces) => logging.with(traces.layer()).try_init(),
        // A layer that is none would have every callsite asked each time.
        None => logging.try_init(),
    };
    let _ = LEVEL.set(Box::new(move |filter| drop(handle.reload(filter))));
}

/// The layer that writes what a filter lets through.
fn lines(format: LogFormat, filter: LevelFilter) -> Box<dyn Layer<Registry> + Send + Sync> {
    match format {
        LogFormat::Json => json(std::io::stderr).with_filter(filter).boxed(),
        LogFormat::Text => {
            let is_terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
            let lines = fmt::layer().with_writer(std::io::stderr).with_target(false);
            // It would say so on standard error, where a closed pipe is a panic.
            lines.with_ansi(is_terminal).log_internal_errors(false).with_filter(filter).boxed()
        }
    }
}

/// The layer that writes each line as one JSON object: `ts`, `level`, `target`, `msg`, and the fields of the event.
fn json<S, W>(writer: W) -> JsonLayer<S, W>
where
    S: Subscriber + for<'s> LookupSpan<'s>,
    W: for<'w> MakeWriter<'w> + 'static,
{
    let mut lines = JsonLayer::new(writer);
    lines.with_timer("ts", SystemTime).with_level("level").with_target("target");
    lines.with_flattened_event_with_renames(|name, ()| if name == "message" { "msg" } else { name }, ());
    lines.log_internal_errors(false);
    lines
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
    let filter = EnvFilter::try_from_env("ESPELHO_LOG").unwrap_or_else(|_| EnvFilter::new(configured));
    // Spans are for traces: a line has its fields itself.
    match format!("{}=off", order_trace::TARGET).parse() {
        Ok(directive) => filter.add_directive(directive),
        Err(_) => filter,
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use tracing_subscriber::layer::Identity;

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_of_json_has_the_keys_that_operators_are_told() {
        let written = Written::default();
        let writer = written.clone();
        let lines = tracing_subscriber::registry().with(json(move || writer.clone()));
        tracing::subscriber::with_default(lines, || {
            tracing::warn!(target: "espelho_daemon::lines", store = "loja-1", count = 2, "a \u{1b}[31m line\nof two");
        });
        let line = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        assert_eq!(line.lines().count(), 1, "{line}");
        let mut object: serde_json::Value = serde_json::from_str(&line).unwrap();
        let at = object["ts"].take();
        assert!(chrono::DateTime::parse_from_rfc3339(at.as_str().unwrap()).is_ok(), "{line}");
        let expected = serde_json::json!({
            "ts": null,
            "level": "WARN",
            "target": "espelho_daemon::lines",
            "msg": "a \u{1b}[31m line\nof two",
            "store": "loja-1",
            "count": 2,
        });
        assert_eq!(object, expected);
    }

    #[test]
    fn without_a_collector_there_are_no_spans_and_with_one_lines_stay_as_they_are() {
        let lines = || lines(LogFormat::Text, reload::Layer::new(filter_of("info")).0);
        let is_span = || !tracing::info_span!(target: order_trace::TARGET, "call").is_disabled();
        tracing::subscriber::with_default(tracing_subscriber::registry().with(lines()), || {
            assert!(!is_span());
            assert!(tracing::enabled!(tracing::Level::INFO) && !tracing::enabled!(tracing::Level::DEBUG));
        });
        let collected = tracing_subscriber::registry().with(lines()).with(Identity::new());
        tracing::subscriber::with_default(collected, || assert!(is_span()));
    }
}
