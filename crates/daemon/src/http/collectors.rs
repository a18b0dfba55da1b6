//! The metrics of `/metrics` that are collected on request, beside the counters.

use std::{collections::BTreeMap, path::Path};

use chrono::{DateTime, Utc};
use espelho_api_client::{client_metrics::Timings, limit::Lane};
use espelho_model::{StoreKey, watch::Watch};
use espelho_store::{IntentCounts, Store};
use espelho_sync_engine::plan::alarms::State as Verdict;

use super::{
    State,
    exposition::{head, line},
    traffic,
};

/// Ticks of `/proc/self/stat`; the same on every Linux that Rust supports.
const TICKS_PER_SECOND: f64 = 100.0;
/// Bytes of a memory page there.
const PAGE: f64 = 4_096.0;
/// Free bytes below which the disk counts as full.
const FULL: u64 = 32 << 20;

/// Returns the text of `/metrics`.
pub(super) async fn metrics(state: &State) -> String {
    let mut text = state.metrics.render();
    alarms(&mut text, state);
    budgets(&mut text, state);
    let asking = state.clone();
    let told = super::in_time(&state.clock, async move { from_database(&asking).await }).await;
    text.push_str(&told.unwrap_or_default());
    lanes(&mut text, &state.watch);
    traffic::write(&mut text, &state.store_metrics.all(), &state.timings.each_ref().map(Timings::timed));
    database_errors(&mut text);
    disk(&mut text, &state.store);
    process(&mut text, state.snapshots.live.started_at);
    text
}

/// Returns the metrics that only the database knows.
async fn from_database(state: &State) -> String {
    let mut text = String::new();
    match state.store.overview().token_ends().await {
        Ok(ends) => {
            let name = "espelho_token_expires_timestamp_seconds";
            head(&mut text, name, "gauge");
            for (store, end) in ends {
                line(&mut text, name, &[("store", &store)], end.timestamp() as f64);
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
fn alarms(text: &mut String, state: &State) {
    head(text, "espelho_alarm", "gauge");
    let Some(posted) = state.snapshots.board.latest() else { return };
    let mut counts = BTreeMap::<(String, &str), u64>::new();
    for alarm in &posted.verdict.alarms {
        let store = alarm.store.as_ref().map(ToString::to_string).unwrap_or_default();
        *counts.entry((store, alarm.code.as_str())).or_default() += alarm.count;
    }
    for ((store, code), count) in &counts {
        line(text, "espelho_alarm", &[("store", store), ("code", code)], *count as f64);
    }
    head(text, "espelho_state", "gauge");
    for one in Verdict::ALL {
        let is_it = one == posted.verdict.state;
        line(text, "espelho_state", &[("state", one.as_str())], f64::from(u8::from(is_it)));
    }
}

/// Writes the number of intents, by state. Without intents there is no line: a hub has thousands of stores.
async fn wanted(text: &mut String, state: &State) -> Result<(), espelho_store::Error> {
    let (undone, done, now) =
        (state.store.intents().undone(None).await?, state.snapshots.done().await?, state.clock.now());
    let each =
        || undone.iter().flat_map(|(store, tables)| tables.iter().map(move |(table, n)| (store, table, n)));
    head(text, "espelho_intents", "gauge");
    for (store, table, rows) in done.iter() {
        line(text, "espelho_intents", &[("store", store), ("table", table), ("state", "done")], *rows as f64);
    }
    for (store, table, n) in each() {
        for (word, rows) in
            [("open", n.open), ("failed", n.failed), ("held", n.held), ("doubtful", n.doubtful)]
        {
            let labels = [("store", store.as_str()), ("table", table), ("state", word)];
            line(text, "espelho_intents", &labels, rows as f64);
        }
    }
    head(text, "espelho_intents_oldest_open_seconds", "gauge");
    for (store, table, n) in each() {
        let Some(since) = n.oldest_open else { continue };
        let (labels, age) = ([("store", store.as_str()), ("table", table)], (now - since).num_seconds());
        line(text, "espelho_intents_oldest_open_seconds", &labels, age.max(0) as f64);
    }
    let shown = state.snapshots.shown.get();
    doubtful(text, shown.iter().map(|store| &store.key), &undone, now);
    Ok(())
}

/// Writes the rows whose outcome cannot be proved. Each store has its lines from the start, so that an alert sees the
/// first row.
fn doubtful<'s>(
    text: &mut String,
    stores: impl Iterator<Item = &'s StoreKey>,
    undone: &BTreeMap<String, BTreeMap<String, IntentCounts>>,
    now: DateTime<Utc>,
) {
    let mut each: BTreeMap<&str, (u64, i64)> = stores.map(|store| (store.as_str(), (0, 0))).collect();
    for (store, tables) in undone {
        let rows = tables.values().map(|counts| counts.doubtful).sum();
        let oldest = tables.values().filter_map(|counts| counts.oldest_doubtful).min();
        let age = oldest.map_or(0, |since| (now - since).num_seconds().max(0));
        each.insert(store, (rows, age));
    }
    head(text, "espelho_doubtful_intents", "gauge");
    for (store, (rows, _)) in &each {
        line(text, "espelho_doubtful_intents", &[("store", store)], *rows as f64);
    }
    head(text, "espelho_doubtful_oldest_age_seconds", "gauge");
    for (store, (_, age)) in &each {
        line(text, "espelho_doubtful_oldest_age_seconds", &[("store", store)], *age as f64);
    }
}

fn budgets(text: &mut String, state: &State) {
    let snapshots = &state.snapshots;
    let shown = snapshots.shown.get();
    let limiters = shown
        .iter()
        .filter_map(|store| Some((&store.key, store.per_minute, snapshots.live.limiters.of(&store.key)?)));
    let limiters: Vec<_> = limiters.collect();
    head(text, "espelho_ratelimit_remaining", "gauge");
    for (store, rate, limiter) in &limiters {
        let remaining = rate.saturating_sub(limiter.held());
        line(text, "espelho_ratelimit_remaining", &[("store", store.as_str())], remaining.into());
    }
    head(text, "espelho_ratelimit_waiting", "gauge");
    for (store, _, limiter) in &limiters {
        for lane in Lane::ALL {
            let labels = [("store", store.as_str()), ("lane", lane.name())];
            line(text, "espelho_ratelimit_waiting", &labels, limiter.waiting(lane) as f64);
        }
    }
}

/// Writes one line for each lane name: the oldest progress of all stores, because thousands of stores would be tens of
/// thousands of lines.
fn lanes(text: &mut String, watch: &Watch) {
    head(text, "espelho_lane_progress_timestamp_seconds", "gauge");
    for (lane, at) in watch.moved() {
        let labels = [("lane", lane)];
        line(text, "espelho_lane_progress_timestamp_seconds", &labels, at.timestamp() as f64);
    }
}

/// Writes the database's disk if it is this machine's; PostgreSQL's disk is not.
fn disk(text: &mut String, store: &Store) {
    let Some(file) = store.file() else { return };
    let mut wal = file.as_os_str().to_owned();
    wal.push("-wal");
    if let Ok(wal) = std::fs::metadata(wal) {
        head(text, "espelho_db_wal_bytes", "gauge");
        line(text, "espelho_db_wal_bytes", &[], wal.len() as f64);
    }
    if let Some(free) = free(store) {
        head(text, "espelho_disk_free_bytes", "gauge");
        line(text, "espelho_disk_free_bytes", &[], free as f64);
        head(text, "espelho_disk_full", "gauge");
        line(text, "espelho_disk_full", &[], f64::from(u8::from(free < FULL)));
    }
}

/// Returns the bytes that are free on the disk of the database file.
pub(crate) fn free(store: &Store) -> Option<u64> {
    let file = store.file()?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    rustix::fs::statvfs(folder).ok().map(|disk| disk.f_bavail * disk.f_frsize)
}

fn database_errors(text: &mut String) {
    head(text, "espelho_db_errors_total", "counter");
    let counted = espelho_store::Error::counted();
    // The line exists before anything fails, so that an alert on its growth sees the first failure.
    line(
        text,
        "espelho_db_errors_total",
        &[("code", "connection")],
        counted.get("connection").copied().unwrap_or(0) as f64,
    );
    for (code, count) in counted.iter().filter(|(code, _)| *code != "connection") {
        line(text, "espelho_db_errors_total", &[("code", code)], *count as f64);
    }
}

/// Writes the metrics that every Prometheus client has for its process.
fn process(text: &mut String, started_at: DateTime<Utc>) {
    head(text, "process_start_time_seconds", "gauge");
    line(text, "process_start_time_seconds", &[], started_at.timestamp() as f64);
    if let Ok(stat) = std::fs::read_to_string("/proc/self/stat") {
        from_stat(text, &stat);
    }
    if let Ok(open) = std::fs::read_dir("/proc/self/fd") {
        head(text, "process_open_fds", "gauge");
        line(text, "process_open_fds", &[], open.count() as f64);
    }
    if let Ok(limits) = std::fs::read_to_string("/proc/self/limits") {
        let most = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
        if let Some(most) = most.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok()) {
            head(text, "process_max_fds", "gauge");
            line(text, "process_max_fds", &[], most);
        }
    }
}

fn from_stat(text: &mut String, stat: &str) {
    // The second field is the command in parentheses, which may hold blanks.
    let Some((_, fields)) = stat.rsplit_once(')') else { return };
    let fields: Vec<f64> = fields.split_whitespace().map(|field| field.parse().unwrap_or(0.0)).collect();
    let field = |at: usize| fields.get(at).copied().unwrap_or(0.0);
    let cpu = (field(11) + field(12)) / TICKS_PER_SECOND;
    for (name, kind, value) in [
        ("process_cpu_seconds_total", "counter", cpu),
        ("process_threads", "gauge", field(17)),
        ("process_virtual_memory_bytes", "gauge", field(20)),
        ("process_resident_memory_bytes", "gauge", field(21) * PAGE),
    ] {
        head(text, name, kind);
        line(text, name, &[], value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            undone("nobodys", vec![counts(1, None)]),
        ]);
        let stores = ["a", "b", "c"].map(|key| StoreKey::new(key).unwrap());
        let mut text = String::new();
        doubtful(&mut text, stores.iter(), &undone, now);
        let (rows, ages) = ("espelho_doubtful_intents", "espelho_doubtful_oldest_age_seconds");
        let expected = |name: &str, values: [u64; 4]| {
            let lines = ["a", "b", "c", "nobodys"].iter().zip(values);
            let lines = lines.map(|(store, value)| format!("{name}{{store=\"{store}\"}} {value}\n"));
            format!("# TYPE {name} gauge\n{}", lines.collect::<String>())
        };
        assert_eq!(text, expected(rows, [0, 3, 0, 1]) + &expected(ages, [0, 90, 0, 0]));
    }

    #[test]
    fn the_process_is_read_though_its_name_holds_blanks_and_parentheses() {
        let mut text = String::new();
        let zeros = |count| vec!["0"; count].join(" ");
        from_stat(&mut text, &format!("7 (a) b) S {} 150 50 {} 9 0 0 8192 2", zeros(10), zeros(4)));
        assert!(text.contains("process_cpu_seconds_total 2\n"), "{text}");
        assert!(
            text.contains("process_threads 9\n") && text.contains("process_virtual_memory_bytes 8192\n"),
            "{text}"
        );
        assert!(text.contains("process_resident_memory_bytes 8192\n"), "{text}");
        from_stat(&mut text, "nonsense");
    }
}
