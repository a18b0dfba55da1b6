//! Progress on the terminal: a bar for each store and target; without a terminal, a line now and then.

mod words;

use parking_lot::Mutex;
use std::{collections::HashMap, sync::Arc, time::Duration};

use espelho_model::{Clock, StoreKey, sync::Target, text, text::Locale};
use espelho_sync_engine::{Position, Progress};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

pub(crate) use self::words::{Pace, count};

/// The interval between two lines without a terminal.
const LINE_EVERY: Duration = Duration::from_secs(15);

type Key = (StoreKey, Target);

/// The data for the words of all passes.
struct Speaker {
    clock: Arc<dyn Clock>,
    locale: Locale,
    /// Requests a minute of each store.
    budgets: HashMap<StoreKey, u32>,
}

/// The start time of a pass, and the number of rows done before it.
#[derive(Clone, Copy)]
struct Begun {
    at: Duration,
    resumed: u64,
}

/// Bars on a terminal.
struct Bars {
    speaker: Speaker,
    all: MultiProgress,
    bars: Mutex<HashMap<Key, (ProgressBar, Begun)>>,
}

/// Lines for logs and pipes.
struct Lines {
    speaker: Speaker,
    /// With the time of the last line.
    passes: Mutex<HashMap<Key, (Begun, Duration)>>,
}

/// Returns the progress output that suits stderr.
pub(crate) fn for_stderr(
    clock: Arc<dyn Clock>,
    locale: Locale,
    budgets: HashMap<StoreKey, u32>,
) -> Arc<dyn Progress> {
    let speaker = Speaker { clock, locale, budgets };
    if std::io::IsTerminal::is_terminal(&std::io::stderr()) {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(5));
        return Arc::new(Bars { speaker, all, bars: Mutex::default() });
    }
    Arc::new(Lines { speaker, passes: Mutex::default() })
}

impl Speaker {
    fn now(&self) -> Duration {
        self.clock.monotonic()
    }

    fn pace(&self, store: &StoreKey, position: Position, begun: Begun) -> Pace {
        Pace {
            position,
            read: position.done.saturating_sub(begun.resumed),
            elapsed: self.now().saturating_sub(begun.at),
            per_minute: self.budgets.get(store).copied(),
        }
    }
}

impl Progress for Bars {
    fn begin(&self, store: &StoreKey, target: Target, resumed: u64) {
        let bar = self.all.add(ProgressBar::no_length());
        bar.set_style(style("{prefix:24} {pos:>7}  {elapsed}"));
        bar.set_prefix(format!("{store} {target}"));
        bar.set_position(resumed);
        let begun = Begun { at: self.speaker.now(), resumed };
        self.bars.lock().insert((store.clone(), target), (bar, begun));
    }

    fn advance(&self, store: &StoreKey, target: Target, position: Position) {
        let bars = self.bars.lock();
        let Some((bar, begun)) = bars.get(&(store.clone(), target)) else { return };
        if let Some(total) = position.total {
            if bar.length().is_none() {
                bar.set_style(style("{prefix:24} {wide_bar} {pos:>7}/{len:7} {msg}"));
            }
            bar.set_length(total);
        }
        bar.set_position(position.done);
        let left = self.speaker.pace(store, position, *begun).left();
        bar.set_message(left.map(|left| left.message(self.speaker.locale)).unwrap_or_default());
    }

    fn end(&self, store: &StoreKey, target: Target) {
        if let Some((bar, _)) = self.bars.lock().remove(&(store.clone(), target)) {
            bar.finish_and_clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Progress for Lines {
    fn begin(&self, store: &StoreKey, target: Target, resumed: u64) {
        if resumed > 0 {
            let resumed = text!("progress-resumed", rows = resumed);
            eprintln!("{store} {target}: {}", resumed.message(self.speaker.locale));
        }
        let now = self.speaker.now();
        self.passes.lock().insert((store.clone(), target), (Begun { at: now, resumed }, now));
    }

    fn advance(&self, store: &StoreKey, target: Target, position: Position) {
        let now = self.speaker.now();
        let mut passes = self.passes.lock();
        let Some((begun, last)) = passes.get_mut(&(store.clone(), target)) else { return };
        if now.saturating_sub(*last) < LINE_EVERY {
            return;
        }
        *last = now;
        let line = self.speaker.pace(store, position, *begun).line();
        eprintln!("{store} {target}: {}", line.message(self.speaker.locale));
    }

    fn end(&self, _: &StoreKey, _: Target) {}
}
