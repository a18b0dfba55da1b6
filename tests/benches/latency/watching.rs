//! Reads the mirror every 50 ms until it shows the changes.

use std::{collections::BTreeMap, time::Duration};

use espelho_tests::Mirror;
use tokio::time::Instant;

use crate::changing::Changing;

/// The interval between two reads.
const EVERY: Duration = Duration::from_millis(50);
/// How long to wait after the last change for the mirror to show it.
const LONGEST: Duration = Duration::from_secs(180);

pub(crate) struct Watching(Mirror);

/// The measured latencies.
#[derive(Default)]
pub(crate) struct Measured {
    pub(crate) changes: usize,
    pub(crate) unseen: usize,
    pub(crate) slowest: Vec<(String, Duration)>,
    lags: Vec<Duration>,
}

impl Measured {
    /// Returns the seconds within which this share of the changes was shown.
    pub(crate) fn at(&self, share: f64) -> f64 {
        let last = self.lags.len().saturating_sub(1);
        self.lags.get((last as f64 * share).ceil() as usize).map_or(f64::NAN, Duration::as_secs_f64)
    }
}

/// Changes that are not shown yet, by row, oldest first.
type Pending = BTreeMap<String, Vec<(String, Instant)>>;

impl Watching {
    pub(crate) fn of(mirror: Mirror) -> Self {
        Self(mirror)
    }

    /// Makes changes at a steady pace, and records when the mirror shows each.
    pub(crate) async fn watch(&self, changing: &mut Changing, time: Duration) -> Measured {
        let (began, mut next, mut pending) = (Instant::now(), Instant::now(), Pending::new());
        let mut measured = Measured::default();
        let mut ticks = tokio::time::interval(EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        while began.elapsed() < time || !pending.is_empty() && began.elapsed() < time + LONGEST {
            ticks.tick().await;
            while next <= Instant::now() && began.elapsed() < time {
                next += changing.pace();
                for change in changing.change() {
                    measured.changes += 1;
                    pending.entry(change.key).or_default().push((change.shows, Instant::now()));
                }
            }
            self.look(&mut pending, &mut measured).await;
        }
        measured.unseen = pending.values().map(Vec::len).sum();
        measured.lags.sort();
        measured.slowest.sort_by_key(|(_, lag)| std::cmp::Reverse(*lag));
        measured.slowest.truncate(5);
        measured
    }

    async fn look(&self, pending: &mut Pending, measured: &mut Measured) {
        if pending.is_empty() {
            return;
        }
        let keys: Vec<String> = pending.keys().map(|key| format!("'{key}'")).collect();
        let keys = keys.join(",");
        let sql = format!(
            "SELECT order_number AS k, status AS v FROM orders WHERE order_number IN ({keys}) UNION ALL \
             SELECT sku, CAST(quantity AS TEXT) FROM products WHERE sku IN ({keys})"
        );
        let rows = self.0.ask(&sql).await;
        let now = Instant::now();
        for row in rows {
            let (Some(key), Some(value)) = (row.get("k"), row.get("v")) else { continue };
            let value = value.split('.').next().unwrap_or_default();
            let Some(waiting) = pending.get_mut(key) else { continue };
            // A later state also shows the earlier changes of the row.
            let Some(at) = waiting.iter().rposition(|(shows, _)| shows == value) else { continue };
            for (shows, since) in waiting.drain(..=at) {
                measured.lags.push(now - since);
                measured.slowest.push((format!("{key} {shows}"), now - since));
            }
            if waiting.is_empty() {
                pending.remove(key);
            }
        }
    }
}
