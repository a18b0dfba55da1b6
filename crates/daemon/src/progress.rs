//! Progress on the terminal: a bar for each store and resource; elsewhere a line now and then.

use std::{collections::HashMap, sync::Arc, time::Duration};

use espelho_model::{Clock, StoreKey, sync::Resource};
use espelho_sync_engine::Progress;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Between two lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(15);

type Key = (StoreKey, Resource);

/// Bars on a terminal.
pub(crate) struct Bars {
    all: MultiProgress,
    bars: Mutex<HashMap<Key, ProgressBar>>,
}

/// Lines for logs and pipes.
pub(crate) struct Lines {
    clock: Arc<dyn Clock>,
    last: Mutex<HashMap<Key, Duration>>,
}

/// What suits stderr.
pub(crate) fn for_stderr(clock: Arc<dyn Clock>) -> Arc<dyn Progress> {
    if std::io::IsTerminal::is_terminal(&std::io::stderr()) {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(5));
        return Arc::new(Bars { all, bars: Mutex::default() });
    }
    Arc::new(Lines { clock, last: Mutex::default() })
}

impl Bars {
    fn bars(&self) -> MutexGuard<'_, HashMap<Key, ProgressBar>> {
        self.bars.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress for Bars {
    fn begin(&self, store: &StoreKey, resource: Resource, resumed: u64) {
        let bar = self.all.add(ProgressBar::no_length());
        bar.set_style(style("{prefix:24} {pos:>7} rows  {rate:>10}  {elapsed}"));
        bar.set_prefix(format!("{store} {resource}"));
        bar.set_position(resumed);
        bar.reset_eta();
        self.bars().insert((store.clone(), resource), bar);
    }

    fn advance(&self, store: &StoreKey, resource: Resource, done: u64, total: Option<u64>) {
        let bars = self.bars();
        let Some(bar) = bars.get(&(store.clone(), resource)) else { return };
        if let (None, Some(total)) = (bar.length(), total) {
            bar.set_style(style("{prefix:24} {wide_bar} {pos:>7}/{len:7} {rate:>10}  ETA {eta}"));
            bar.set_length(total);
        }
        bar.set_position(done);
    }

    fn end(&self, store: &StoreKey, resource: Resource) {
        if let Some(bar) = self.bars().remove(&(store.clone(), resource)) {
            bar.finish_and_clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    let rate = |state: &ProgressState, text: &mut dyn std::fmt::Write| {
        // A rate that cannot be shown leaves its place empty; there is nobody to tell.
        let _ = write!(text, "{:.1}/s", state.per_sec());
    };
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("rate", rate)
}

impl Progress for Lines {
    fn begin(&self, store: &StoreKey, resource: Resource, resumed: u64) {
        if resumed > 0 {
            eprintln!("{store} {resource}: going on after {resumed} rows");
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.insert((store.clone(), resource), self.clock.monotonic());
    }

    fn advance(&self, store: &StoreKey, resource: Resource, done: u64, total: Option<u64>) {
        let now = self.clock.monotonic();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(at) = last.get_mut(&(store.clone(), resource)) else { return };
        if now - *at < LINE_EVERY {
            return;
        }
        *at = now;
        match total {
            Some(total) if total > 0 => {
                eprintln!("{store} {resource}: {done} of {total} rows ({} %)", done * 100 / total);
            }
            _ => eprintln!("{store} {resource}: {done} rows"),
        }
    }

    fn end(&self, _: &StoreKey, _: Resource) {}
}
