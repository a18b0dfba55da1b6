//! The metrics of `/metrics` that are states: they are collected when somebody asks.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use chrono::{DateTime, Utc};
use espelho_api_client::{client_metrics::Timings, limit::Lane};
use espelho_model::watch::Watch;
use espelho_store::{IntentCounts, POISONED, RowsInTrouble, Store};
use espelho_sync_engine::plan::alarms::State as Verdict;

use super::{State, traffic};
use crate::metric::{Exposition, by_store, list};

/// Free bytes below which the disk counts as full.
const FULL: u64 = 32 << 20;

/// Rows that are not done, by store and table.
type Undone = BTreeMap<String, BTreeMap<String, IntentCounts>>;

/// Returns the text of `/metrics`.
pub(super) async fn metrics(state: &State) -> String {
    let mut text = Exposition::after(state.metrics.render());
    by_store::write(&mut text);
    alarms(&mut text, state);
    budgets(&mut text, state);
    let asking = state.clone();
    let told = super::in_time(&state.clock, async move { from_database(&asking).await }).await;
    text.push(&told.unwrap_or_default());
    lanes(&mut text, &state.watch);
    traffic::write(&mut text, &state.store_metrics.all(), &state.timings.each_ref().map(Timings::timed));
    database_errors(&mut text);
    disk(&mut text, &state.store);
    process(&mut text, state.snapshots.live.started_at);
    text.into_text()
}

/// Returns the metrics that only the database knows.
async fn from_database(state: &State) -> Exposition {
    let mut text = Exposition::default();
    match state.store.overview().token_ends().await {
        Ok(ends) => {
            let mut family = text.family(&list::TOKEN_EXPIRES);
            for (store, end) in ends {
                family.line(&[&store], end.timestamp() as f64);
            }
        }
        Err(error) => tracing::debug!(%error, "cannot read the tokens' expiry for /metrics"),
    }
    if let Err(error) = wanted(&mut text, state).await {
        tracing::debug!(%error, "cannot read the intents for /metrics");
    }
    text
}

/// Writes the alarms, by store and code; an alarm of several stores names none. A cleared alarm has no line.
fn alarms(text: &mut Exposition, state: &State) {
    let mut family = text.family(&list::ALARM);
    let Some(posted) = state.snapshots.board.latest() else { return };
    let mut counts = BTreeMap::<(String, &str), u64>::new();
    for alarm in &posted.verdict.alarms {
        let store = alarm.store.as_ref().map(ToString::to_string).unwrap_or_default();
        *counts.entry((store, alarm.code.as_str())).or_default() += alarm.count;
    }
    for ((store, code), count) in &counts {
        family.line(&[store, code], *count as f64);
    }
    let mut family = text.family(&list::STATE);
    for one in Verdict::ALL {
        let is_it = one == posted.verdict.state;
        family.line(&[one.as_str()], f64::from(u8::from(is_it)));
    }
}

async fn wanted(text: &mut Exposition, state: &State) -> Result<(), espelho_store::Error> {
    let (undone, done) = (state.store.intents().undone(None).await?, state.snapshots.done().await?);
    let shown = state.snapshots.shown.get();
    let known: BTreeSet<&str> = shown.iter().map(|store| store.key.as_str()).collect();
    let now = state.clock.now();
    intents(text, &known, (&undone, &done), now);
    doubtful(text, &known, &undone, now);
    poisoned(text, &known, &state.store.overview().rows_in_trouble().await?);
    Ok(())
}

/// Writes the number of intents, by state. Without intents there is no line: a hub has thousands of stores. Rows for stores
/// that no configuration has count together, with an empty name: whoever writes them may invent any number of names.
fn intents(
    text: &mut Exposition,
    known: &BTreeSet<&str>,
    (undone, done): (&Undone, &[(String, String, u64)]),
    now: DateTime<Utc>,
) {
    let (mut rows, mut oldest) = (BTreeMap::new(), BTreeMap::new());
    for (store, table, n) in done {
        *rows.entry((shown_as(store, known), table.as_str(), "done")).or_insert(0) += n;
    }
    for (store, tables) in undone {
        let store = shown_as(store, known);
        for (table, n) in tables {
            for (word, n) in
                [("open", n.open), ("failed", n.failed), ("held", n.held), ("doubtful", n.doubtful)]
            {
                *rows.entry((store, table.as_str(), word)).or_insert(0) += n;
            }
            if let Some(since) = n.oldest_open {
                let oldest = oldest.entry((store, table.as_str())).or_insert(since);
                *oldest = since.min(*oldest);
            }
        }
    }
    let mut family = text.family(&list::INTENTS);
    rows.iter().for_each(|((store, table, word), rows)| family.line(&[store, table, word], *rows as f64));
    let mut family = text.family(&list::INTENTS_OLDEST_OPEN);
    for ((store, table), since) in oldest {
        family.line(&[store, table], (now - since).num_seconds().max(0) as f64);
    }
}

/// Returns a store's name, which is empty for a store that no configuration has.
fn shown_as<'k>(store: &str, known: &BTreeSet<&'k str>) -> &'k str {
    known.get(store).copied().unwrap_or_default()
}

/// Writes the rows whose outcome cannot be proved. Each store has its lines from the start, so that an alert sees the
/// first row.
fn doubtful(text: &mut Exposition, known: &BTreeSet<&str>, undone: &Undone, now: DateTime<Utc>) {
    let mut each: BTreeMap<&str, (u64, i64)> = known.iter().map(|store| (*store, (0, 0))).collect();
    for (store, tables) in undone {
        let rows: u64 = tables.values().map(|counts| counts.doubtful).sum();
        let oldest = tables.values().filter_map(|counts| counts.oldest_doubtful).min();
        let age = oldest.map_or(0, |since| (now - since).num_seconds().max(0));
        if rows > 0 || known.contains(store.as_str()) {
            let all = each.entry(shown_as(store, known)).or_default();
            *all = (all.0 + rows, all.1.max(age));
        }
    }
    let mut family = text.family(&list::DOUBTFUL_INTENTS);
    each.iter().for_each(|(store, (rows, _))| family.line(&[store], *rows as f64));
    let mut family = text.family(&list::DOUBTFUL_OLDEST_AGE);
    each.iter().for_each(|(store, (_, age))| family.line(&[store], *age as f64));
}

/// Writes what is set aside. Each store has its line from the start.
fn poisoned(text: &mut Exposition, known: &BTreeSet<&str>, troubled: &[RowsInTrouble]) {
    let mut each: BTreeMap<&str, u64> = known.iter().map(|store| (*store, 0)).collect();
    for rows in troubled.iter().filter(|rows| rows.code == POISONED) {
        *each.entry(shown_as(&rows.store, known)).or_default() += rows.rows;
    }
    let mut family = text.family(&list::POISONED);
    each.iter().for_each(|(store, rows)| family.line(&[store], *rows as f64));
}

fn budgets(text: &mut Exposition, state: &State) {
    let snapshots = &state.snapshots;
    let shown = snapshots.shown.get();
    let limiters = shown
        .iter()
        .filter_map(|store| Some((&store.key, store.per_minute, snapshots.live.limiters.of(&store.key)?)));
    let limiters: Vec<_> = limiters.collect();
    let mut family = text.family(&list::RATELIMIT_REMAINING);
    for (store, rate, limiter) in &limiters {
        family.line(&[store.as_str()], rate.saturating_sub(limiter.held()).into());
    }
    let mut family = text.family(&list::RATELIMIT_WAITING);
    for (store, _, limiter) in &limiters {
        for lane in Lane::ALL {
            family.line(&[store.as_str(), lane.name()], limiter.waiting(lane) as f64);
        }
    }
}

/// Writes one line for each lane name: the oldest progress of all stores, because thousands of stores would be tens of
/// thousands of lines.
fn lanes(text: &mut Exposition, watch: &Watch) {
    let mut family = text.family(&list::LANE_PROGRESS);
    for (lane, at) in watch.moved() {
        family.line(&[lane], at.timestamp() as f64);
    }
}

/// Writes the database's disk if it is this machine's; PostgreSQL's disk is not.
fn disk(text: &mut Exposition, store: &Store) {
    let Some(file) = store.file() else { return };
    let mut wal = file.as_os_str().to_owned();
    wal.push("-wal");
    if let Ok(wal) = std::fs::metadata(wal) {
        text.single(&list::DB_WAL, wal.len() as f64);
    }
    if let Some(free) = free(store) {
        text.single(&list::DISK_FREE, free as f64);
        text.single(&list::DISK_FULL, f64::from(u8::from(free < FULL)));
    }
}

/// Returns the path of the database's file.
pub(crate) fn file_of(store: &Store) -> Option<String> {
    store.file().map(|file| file.display().to_string())
}

/// Returns the bytes that are free on the disk of the database file.
pub(crate) fn free(store: &Store) -> Option<u64> {
    let file = store.file()?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    rustix::fs::statvfs(folder).ok().map(|disk| disk.f_bavail * disk.f_frsize)
}

fn database_errors(text: &mut Exposition) {
    let counted = espelho_store::Error::counted();
    let mut family = text.family(&list::DB_ERRORS);
    // The line exists before anything fails, so that an alert on its growth sees the first failure.
    family.line(&["connection"], counted.get("connection").copied().unwrap_or(0) as f64);
    for (code, count) in counted.iter().filter(|(code, _)| *code != "connection") {
        family.line(&[code], *count as f64);
    }
}

/// Writes the metrics that every Prometheus client has for its process.
fn process(text: &mut Exposition, started_at: DateTime<Utc>) {
    let process = metrics_process::collector::collect();
    let count = |count: Option<u64>| count.map(|count| count as f64);
    for (metric, value) in [
        (&list::PROCESS_START_TIME, Some(started_at.timestamp() as f64)),
        (&list::PROCESS_CPU, process.cpu_seconds_total),
        (&list::PROCESS_THREADS, count(process.threads)),
        (&list::PROCESS_VIRTUAL_MEMORY, count(process.virtual_memory_bytes)),
        (&list::PROCESS_RESIDENT_MEMORY, count(process.resident_memory_bytes)),
        (&list::PROCESS_OPEN_FDS, count(process.open_fds)),
        (&list::PROCESS_MAX_FDS, count(process.max_fds)),
    ] {
        if let Some(value) = value {
            text.single(metric, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_stores_that_nobody_has_count_together() {
        let now = DateTime::from_timestamp(1_795_000_000, 0).unwrap();
        let open = |open, seconds| IntentCounts {
            open,
            oldest_open: Some(now - chrono::TimeDelta::seconds(seconds)),
            ..IntentCounts::default()
        };
        let undone = [("a", open(1, 5)), ("x", open(2, 7)), ("y\n", open(3, 90))];
        let undone: Undone =
            undone.map(|(store, n)| (store.to_owned(), BTreeMap::from([("stock".to_owned(), n)]))).into();
        let done = ["a", "x", "y\n"].map(|store| (store.to_owned(), "stock".to_owned(), 10));
        let mut text = Exposition::default();
        intents(&mut text, &BTreeSet::from(["a", "b"]), (&undone, &done), now);
        let text = text.into_text();
        let lines: Vec<&str> =
            text.lines().filter(|line| !line.starts_with('#') && !line.ends_with(" 0")).collect();
        let expected = [
            r#"espelho_intents{store="",table="stock",state="done"} 20"#,
            r#"espelho_intents{store="",table="stock",state="open"} 5"#,
            r#"espelho_intents{store="a",table="stock",state="done"} 10"#,
            r#"espelho_intents{store="a",table="stock",state="open"} 1"#,
            r#"espelho_intents_oldest_open_seconds{store="",table="stock"} 90"#,
            r#"espelho_intents_oldest_open_seconds{store="a",table="stock"} 5"#,
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn what_is_doubtful_has_lines_for_each_store_from_the_start() {
        let now = DateTime::from_timestamp(1_795_000_000, 0).unwrap();
        let counts = |doubtful, seconds: Option<i64>| IntentCounts {
            doubtful,
            oldest_doubtful: seconds.map(|seconds| now - chrono::TimeDelta::seconds(seconds)),
            ..IntentCounts::default()
        };
        let undone = |store: &str, tables: Vec<IntentCounts>| {
            let tables = ["stock", "price", "command"].map(str::to_owned).into_iter().zip(tables).collect();
            (store.to_owned(), tables)
        };
        let undone = BTreeMap::from([
            undone("b", vec![counts(1, Some(60)), counts(2, Some(90))]),
            undone("c", vec![counts(0, None)]),
            undone("nobody's", vec![counts(1, None)]),
        ]);
        let mut text = Exposition::default();
        doubtful(&mut text, &BTreeSet::from(["a", "b", "c"]), &undone, now);
        let text = text.into_text();
        for (metric, values) in
            [(&list::DOUBTFUL_INTENTS, [1, 0, 3, 0]), (&list::DOUBTFUL_OLDEST_AGE, [0, 0, 90, 0])]
        {
            let lines = ["", "a", "b", "c"].iter().zip(values);
            let lines = lines.map(|(store, value)| format!("{}{{store=\"{store}\"}} {value}\n", metric.name));
            let lines = lines.collect::<String>();
            assert!(text.contains(&format!(" gauge\n{lines}")), "no {lines} in\n{text}");
        }
    }

    #[test]
    fn what_is_set_aside_is_counted_for_each_store_whatever_its_state() {
        let rows = |store: &str, state: &str, code: &str, rows| RowsInTrouble {
            store: store.to_owned(),
            state: state.to_owned(),
            code: code.to_owned(),
            rows,
            ..RowsInTrouble::default()
        };
        let troubled = [
            rows("b", "failed", "poisoned", 2),
            rows("b", "waiting", "poisoned", 1),
            rows("b", "failed", "unknown_sku", 9),
        ];
        let mut text = Exposition::default();
        poisoned(&mut text, &BTreeSet::from(["a", "b"]), &troubled);
        let text = text.into_text();
        assert!(
            text.ends_with("espelho_poisoned{store=\"a\"} 0\nespelho_poisoned{store=\"b\"} 3\n"),
            "{text}"
        );
    }

    #[test]
    fn this_process_has_all_metrics_of_a_process() {
        let mut text = Exposition::default();
        process(&mut text, DateTime::UNIX_EPOCH);
        let text = text.into_text();
        for metric in list::ALL.iter().filter(|metric| metric.name.starts_with("process_")) {
            let lines = text.lines().filter_map(|line| line.strip_prefix(metric.name)?.strip_prefix(' '));
            let values: Vec<f64> = lines.map(|value| value.parse().unwrap()).collect();
            assert_eq!(values.len(), 1, "{} in\n{text}", metric.name);
        }
    }
}
