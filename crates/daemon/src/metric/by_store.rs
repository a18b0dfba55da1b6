//! Holds the metrics of which every store has lines, with `store` as their only label or with one more of a few words. A
//! recorder keeps a copy of all labels for each line, some 230 bytes, and thousands of stores have thirty lines each.

use std::collections::BTreeMap;

use espelho_model::StoreKey;
use parking_lot::Mutex;

use super::{Exposition, Kind, Metric, list};

/// The lines of all stores.
static STORES: Mutex<Lines> = Mutex::new(Lines(BTreeMap::new()));

/// The lines of each store.
#[derive(Debug)]
struct Lines(BTreeMap<StoreKey, Vec<Line>>);

#[derive(Debug)]
struct Line {
    metric: &'static Metric,
    /// The value of the second label; empty for a metric without one.
    word: &'static str,
    value: f64,
}

impl Metric {
    /// Adds to a store's counter. Adding 0 makes its line exist. `word` is the value of the second label; empty for a
    /// metric without one.
    pub(crate) fn add(&'static self, store: &StoreKey, word: &'static str, more: u64) {
        debug_assert_eq!(self.kind, Kind::Counter, "{}", self.name);
        STORES.lock().change(self, (store, word), |value| value + more as f64);
    }

    /// Sets a store's gauge. `word` is the value of the second label; empty for a metric without one.
    pub(crate) fn set(&'static self, store: &StoreKey, word: &'static str, value: f64) {
        debug_assert_eq!(self.kind, Kind::Gauge, "{}", self.name);
        STORES.lock().change(self, (store, word), |_| value);
    }
}

/// Writes the lines of all stores. Metric by metric, because whoever counts waits meanwhile.
pub(crate) fn write(text: &mut Exposition) {
    list::ALL.iter().for_each(|metric| STORES.lock().write(metric, text));
}

impl Lines {
    fn change(
        &mut self,
        metric: &'static Metric,
        (store, word): (&StoreKey, &'static str),
        to: impl Fn(f64) -> f64,
    ) {
        debug_assert_eq!(metric.labels.len(), 1 + usize::from(!word.is_empty()), "{}", metric.name);
        if !self.0.contains_key(store) {
            self.0.insert(store.clone(), Vec::new());
        }
        let Some(lines) = self.0.get_mut(store) else { return };
        match lines.iter_mut().find(|line| std::ptr::eq(line.metric, metric) && line.word == word) {
            Some(line) => line.value = to(line.value),
            None => lines.push(Line { metric, word, value: to(0.0) }),
        }
    }

    fn write(&self, metric: &'static Metric, text: &mut Exposition) {
        let of_metric = |line: &&Line| std::ptr::eq(line.metric, metric);
        let lines = self.0.iter().flat_map(|(store, lines)| {
            lines.iter().filter(of_metric).map(move |line| (store.as_str(), line))
        });
        let mut lines = lines.peekable();
        if lines.peek().is_none() {
            return;
        }
        let mut family = text.family(metric);
        for (store, line) in lines {
            match line.word {
                "" => family.line(&[store], line.value),
                word => family.line(&[store, word], line.value),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_grows_a_gauge_stands_and_each_store_has_its_own_lines() {
        let [a, b] = ["a", "b"].map(|name| StoreKey::new(name).unwrap());
        let mut lines = Lines(BTreeMap::new());
        lines.change(&list::MISSED_HINTS, (&b, "order.created"), |value| value + 2.0);
        lines.change(&list::MISSED_HINTS, (&b, "order.created"), |value| value + 3.0);
        lines.change(&list::MISSED_HINTS, (&b, "order.invoiced"), |value| value + 0.0);
        lines.change(&list::MISSED_HINTS, (&a, "order.created"), |value| value + 1.0);
        lines.change(&list::MIRROR_OLDEST_WAITING, (&a, ""), |_| 7.5);
        lines.change(&list::MIRROR_OLDEST_WAITING, (&a, ""), |_| 0.5);
        let mut text = Exposition::default();
        list::ALL.iter().for_each(|metric| lines.write(metric, &mut text));
        let text = text.into_text();
        let shown: Vec<&str> = text.lines().filter(|line| !line.starts_with("# HELP")).collect();
        let expected = [
            "# TYPE espelho_mirror_oldest_waiting_seconds gauge",
            "espelho_mirror_oldest_waiting_seconds{store=\"a\"} 0.5",
            "# TYPE espelho_missed_hints_total counter",
            "espelho_missed_hints_total{store=\"a\",event=\"order.created\"} 1",
            "espelho_missed_hints_total{store=\"b\",event=\"order.created\"} 5",
            "espelho_missed_hints_total{store=\"b\",event=\"order.invoiced\"} 0",
        ];
        assert_eq!(shown, expected);
    }
}
