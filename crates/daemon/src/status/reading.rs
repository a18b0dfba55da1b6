//! The progress of each store's first reading: its share, and the remaining time as far as somebody has watched it. Pure.

use std::{collections::BTreeMap, time::Duration};

use chrono::{DateTime, Utc};
use espelho_model::{
    text,
    text::{Text, words},
};
use espelho_store::ReadSoFar;
use espelho_sync_engine::Position;

use super::{StatusSnapshot, StoreSnapshot};
use crate::progress::Pace;

/// The rows that each first reading had when it was first seen: the pace is measured from there, because what an earlier
/// process has read took another time.
#[derive(Debug, Default)]
pub(crate) struct WatchedReadings(BTreeMap<(String, String), Watched>);

/// A reading that is watched: when, and at how many rows, the watch began; and its rows at the last look.
#[derive(Clone, Copy, Debug)]
struct Watched {
    begun: DateTime<Utc>,
    before: u64,
    last: u64,
}

impl WatchedReadings {
    /// Notes how far the readings of a snapshot are, and forgets those that have ended.
    pub(crate) fn note(&mut self, snapshot: &StatusSnapshot) {
        let mut before = std::mem::take(&mut self.0);
        // Without a total nothing is shown. The reading that has one next may be another: open orders come first.
        for (store, read) in readings(snapshot).filter(|(_, read)| read.total.is_some()) {
            let key = (store.store.clone(), read.resource.clone());
            // A reading that has less than at the last look has begun anew.
            let known = before.remove(&key).filter(|watched| watched.last <= read.seen);
            let (begun, rows) = known.map_or((snapshot.at, read.seen), |known| (known.begun, known.before));
            self.0.insert(key, Watched { begun, before: rows, last: read.seen });
        }
    }

    /// Returns a line for each first reading whose total is known.
    pub(super) fn lines(&self, snapshot: &StatusSnapshot) -> Vec<Text> {
        readings(snapshot).filter_map(|(store, read)| self.line(store, read, snapshot.at)).collect()
    }

    fn line(&self, store: &StoreSnapshot, read: &ReadSoFar, at: DateTime<Utc>) -> Option<Text> {
        // A total that is exceeded was counted before more rows came.
        let total = read.total.filter(|total| *total > 0 && *total >= read.seen)?;
        let key = (store.store.clone(), read.resource.clone());
        let (begun, before) =
            self.0.get(&key).map_or((at, read.seen), |watched| (watched.begun, watched.before));
        let pace = Pace {
            position: Position { done: read.seen, total: Some(total), requests_left: None },
            read: read.seen.saturating_sub(before),
            elapsed: (at - begun).to_std().unwrap_or(Duration::ZERO),
            per_minute: store.budget.as_ref().map(|budget| budget.per_minute),
        };
        Some(text!(
            "status-first-reading",
            store = store.store.as_str(),
            resource = words::resource(&read.resource),
            progress = pace.line()
        ))
    }
}

/// Puts what the service knows of the passes under way in place of their checkpoints, which tell of whole pages only.
pub(super) fn take_in(recorded: &mut Vec<ReadSoFar>, under_way: Vec<ReadSoFar>) {
    recorded.retain(|read| under_way.iter().all(|newer| newer.resource != read.resource));
    recorded.extend(under_way);
    recorded.sort_by(|a, b| a.resource.cmp(&b.resource));
}

fn readings(snapshot: &StatusSnapshot) -> impl Iterator<Item = (&StoreSnapshot, &ReadSoFar)> {
    let unread = snapshot.stores.iter().filter(|store| !store.first_reading_ended);
    unread.flat_map(|store| store.reading.iter().map(move |read| (store, read)))
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Locale;

    use super::*;
    use crate::status::specimen;

    fn snapshot(minute: i64, seen: u64, total: Option<u64>, ended: bool) -> StatusSnapshot {
        let mut store = specimen::store("loja-1");
        (store.first_reading_ended, store.reading) =
            (ended, vec![ReadSoFar { resource: "orders".into(), seen, total }]);
        StatusSnapshot { at: specimen::at(minute), ..specimen::snapshot(vec![store]) }
    }

    #[test]
    fn a_first_reading_shows_its_share_and_once_it_is_watched_the_remaining_time() {
        let mut watched = WatchedReadings::default();
        for (minute, seen, total, ended, expected) in [
            (0, 1_000, Some(5_000), false, Some("1.000 de 5.000 linhas (20 %)")),
            (1, 1_500, Some(5_000), false, Some("1.500 de 5.000 linhas (30 %), faltam ~7 min")),
            // It has begun anew: what was watched before tells nothing of its pace.
            (2, 100, Some(5_000), false, Some("100 de 5.000 linhas (2 %)")),
            (3, 600, Some(5_000), false, Some("600 de 5.000 linhas (12 %), faltam ~8 min")),
            // Once more, with more rows than at the first look, and less than at the last.
            (4, 300, Some(5_000), false, Some("300 de 5.000 linhas (6 %)")),
            (5, 900, None, false, None),
            (6, 6_000, Some(5_000), false, None),
            (7, 0, Some(0), false, None),
            (8, 5_000, Some(5_000), true, None),
        ] {
            let snapshot = snapshot(minute, seen, total, ended);
            watched.note(&snapshot);
            let lines = watched.lines(&snapshot);
            let said: Vec<String> = lines.iter().map(|line| line.message(Locale::default())).collect();
            let expected = expected.map(|progress| format!("loja-1, primeira leitura, pedidos: {progress}"));
            assert_eq!(said, expected.into_iter().collect::<Vec<_>>(), "minute {minute}");
        }
    }

    #[test]
    fn a_pass_under_way_is_shown_row_by_row_and_not_by_its_checkpoints() {
        let so_far = |resource: &str, seen, total| ReadSoFar { resource: resource.into(), seen, total };
        let orders = |seen, total| so_far("orders", seen, total);
        let products = so_far("products", 30, Some(60));
        for (mut recorded, under_way, expected) in [
            (vec![orders(0, None)], vec![], vec![orders(0, None)]),
            (vec![orders(0, None)], vec![orders(40, Some(200))], vec![orders(40, Some(200))]),
            (vec![orders(100, Some(200))], vec![orders(7, None)], vec![orders(7, None)]),
            (vec![orders(0, None)], vec![products.clone()], vec![orders(0, None), products.clone()]),
            (vec![products.clone()], vec![orders(1, None)], vec![orders(1, None), products.clone()]),
        ] {
            take_in(&mut recorded, under_way);
            assert_eq!(recorded, expected);
        }
    }

    #[test]
    fn the_pace_of_the_open_orders_tells_nothing_of_all_orders() {
        let mut watched = WatchedReadings::default();
        for (minute, seen, total, expected) in [
            (0, 10, None, None),
            (1, 40, None, None),
            (2, 50, Some(200), Some("(25 %)")),
            (3, 100, Some(200), Some("(50 %), faltam ~2 min")),
        ] {
            let snapshot = snapshot(minute, seen, total, false);
            watched.note(&snapshot);
            let line = watched.lines(&snapshot).first().map(|line| line.message(Locale::default()));
            let is_said = match (&line, expected) {
                (Some(line), Some(expected)) => line.ends_with(expected),
                (line, expected) => line.is_none() && expected.is_none(),
            };
            assert!(is_said, "minute {minute}: {line:?}");
        }
    }

    #[test]
    fn a_reading_that_nobody_has_watched_has_no_remaining_time() {
        let once = snapshot(1, 1_500, Some(5_000), false);
        let [line] = &WatchedReadings::default().lines(&once)[..] else { panic!("one reading") };
        assert!(line.message(Locale::default()).ends_with("(30 %)"));
    }
}
