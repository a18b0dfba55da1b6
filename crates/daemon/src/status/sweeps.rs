//! The sweeps of each store: interval, cost and last success; the marketplace's counts; and whether webhooks arrive.

use std::{fmt::Write as _, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{
    text,
    text::{Locale, Text, words},
};
use espelho_store::{RemoteCount, SweepOverview, SweepRecord, WebhookWatch};
use espelho_sync_engine::{
    live::schedule::{Intervals, Sweep},
    plan::load::{StoreSize, fits, load},
};
use serde::{Deserialize, Serialize};

use super::{ShownStore, StoreSnapshot, text::wrapped};

/// The sweep plan of a store.
#[derive(Clone, Debug)]
pub(crate) struct SweepPlan {
    /// Whether it has a webhook.
    pub receives: bool,
    pub intervals: Intervals,
}

/// The sweeps of a store.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Sweeps {
    /// Each sweep.
    pub rows: Vec<SweepRow>,
    /// The maximum cost of all sweeps, in requests a minute.
    pub requests_per_minute: f64,
    /// Whether they fit the budget without a sweep that runs less often than configured.
    pub fits: bool,
    /// The counts of the marketplace.
    pub remote: Vec<Remote>,
    /// Whether webhooks arrive; absent if the store has no webhook.
    pub webhook: Option<Webhook>,
}

/// A sweep.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct SweepRow {
    pub sweep: String,
    pub every_seconds: u64,
    pub stretched: bool,
    pub requests_per_minute: f64,
    pub last_success: Option<DateTime<Utc>>,
    pub next_due: Option<DateTime<Utc>>,
    pub problem: Option<String>,
}

/// A count of the marketplace, and the mirror's count at that time.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Remote {
    pub of: String,
    pub remote: u64,
    pub local: u64,
    pub at: DateTime<Utc>,
}

/// Whether webhooks arrive.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub(crate) struct Webhook {
    pub heard_at: Option<DateTime<Utc>>,
    pub missed_since_then: u64,
    pub missed_since: Option<DateTime<Utc>>,
    pub tested_at: Option<DateTime<Utc>>,
    pub test_heard_at: Option<DateTime<Utc>>,
    pub problem: Option<String>,
    /// When another program's login was last noticed.
    #[serde(default)]
    pub other_login_at: Option<DateTime<Utc>>,
}

/// Combines what is known about a store's sweeps; the snapshot's tables tell how much the store has.
pub(super) fn of_store(
    store: &StoreSnapshot,
    per_minute: u32,
    plan: &SweepPlan,
    (overview, open): (&SweepOverview, u64),
    at: DateTime<Utc>,
) -> Sweeps {
    let has = holdings(store, plan, open);
    let loads = load(&has, per_minute, |sweep| plan.intervals.of(sweep).period(at));
    let is_run = |sweep: Sweep| sweep != Sweep::WebhookTest || plan.receives;
    let row_of = |load: &espelho_sync_engine::plan::load::SweepLoad| {
        let name = load.sweep.as_str();
        let record = overview.sweeps.iter().find(|record| record.kind == name);
        row(load.sweep, load.every, load.is_stretched, load.per_minute, record)
    };
    Sweeps {
        rows: loads.iter().filter(|load| is_run(load.sweep)).map(row_of).collect(),
        requests_per_minute: loads.iter().map(|load| load.per_minute).sum(),
        fits: fits(&loads, per_minute),
        remote: overview.counts.iter().map(remote).collect(),
        webhook: plan.receives.then(|| overview.watch.as_ref().map(webhook).unwrap_or_default()),
    }
}

fn holdings(store: &StoreSnapshot, plan: &SweepPlan, open: u64) -> StoreSize {
    let live = |table: &str| store.tables.iter().find(|t| t.table == table).map_or(0, |t| t.live);
    StoreSize {
        open_orders: open,
        orders: live("orders"),
        products: live("products"),
        campaigns: live("campaigns"),
        campaign_listings: live("campaign_listings"),
        images: live("media_images"),
        receives: plan.receives,
    }
}

fn row(
    sweep: Sweep,
    every: Duration,
    stretched: bool,
    per_minute: f64,
    record: Option<&SweepRecord>,
) -> SweepRow {
    let last_success = record.and_then(|record| record.succeeded_at);
    let every_seconds = every.as_secs();
    let period = TimeDelta::from_std(every).unwrap_or_default();
    SweepRow {
        sweep: sweep.as_str().to_owned(),
        every_seconds,
        stretched,
        requests_per_minute: (per_minute * 10.0).round() / 10.0,
        last_success,
        next_due: last_success.map(|last| last + period),
        problem: record.and_then(|record| record.problem.clone()),
    }
}

fn remote(count: &RemoteCount) -> Remote {
    Remote { of: count.kind.clone(), remote: count.remote, local: count.local, at: count.at }
}

fn webhook(watch: &WebhookWatch) -> Webhook {
    Webhook {
        heard_at: watch.heard_at,
        missed_since_then: watch.missed,
        missed_since: watch.missed_since,
        tested_at: watch.tested_at,
        test_heard_at: watch.test_heard_at,
        problem: watch.problem.clone(),
        other_login_at: watch.other_login_at,
    }
}

/// Returns how often each sweep of a store runs within its budget; the number of rows is from the last count of both
/// mirror and marketplace.
pub(crate) fn periods(
    shown: &ShownStore,
    swept: Option<&SweepOverview>,
    at: DateTime<Utc>,
) -> Vec<(&'static str, Duration)> {
    let counted = |kind: &str| {
        let counts = swept.map(|swept| swept.counts.as_slice()).unwrap_or_default();
        counts.iter().find(|count| count.kind == kind).map_or(0, |count| count.local)
    };
    let has = StoreSize {
        open_orders: counted("open_orders"),
        orders: counted("orders"),
        products: counted("products"),
        campaigns: 0,
        campaign_listings: 0,
        images: 0,
        receives: shown.plan.receives,
    };
    let loads = load(&has, shown.per_minute, |sweep| shown.plan.intervals.of(sweep).period(at));
    let is_run = |sweep: Sweep| sweep != Sweep::WebhookTest;
    loads.iter().filter(|load| is_run(load.sweep)).map(|load| (load.sweep.as_str(), load.every)).collect()
}

/// Returns the table for a terminal.
pub(super) fn text(store: &StoreSnapshot, at: DateTime<Utc>, locale: Locale) -> String {
    let sweeps = &store.sweeps;
    let mut text = String::new();
    if sweeps.rows.is_empty() {
        return text;
    }
    let word = |text: Text| text.message(locale);
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "\n{:<24} {:>14} {:>13}  {:<12} {}",
        word(text!("status-sweep")),
        word(text!("status-every")),
        word(text!("status-per-minute")),
        word(text!("status-read")),
        word(text!("status-next-in"))
    );
    for row in &sweeps.rows {
        let every = locale.span(i64::try_from(row.every_seconds).unwrap_or(i64::MAX));
        let every = if row.stretched { format!("{every} (+)") } else { every };
        let span = |seconds: i64| locale.span(seconds);
        let last = row.last_success.map_or_else(|| "-".to_owned(), |last| span((at - last).num_seconds()));
        let next = row.next_due.map_or_else(|| "-".to_owned(), |due| span((due - at).num_seconds()));
        let (name, per_minute) = (word(words::sweep(&row.sweep)), row.requests_per_minute);
        let _ = writeln!(text, "{name:<24} {every:>14} {per_minute:>13.1}  {last:<12} {next}");
        if let Some(problem) = &row.problem {
            let _ = writeln!(text, "    {}", wrapped(problem, 6));
        }
    }
    let _ =
        writeln!(text, "{:<24} {:>14} {:>13.1}", word(text!("status-total")), "", sweeps.requests_per_minute);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::specimen;

    #[test]
    fn the_table_names_each_sweep_with_its_pace_and_fits_the_page() {
        let mut store = specimen::store("a");
        let overview = SweepOverview {
            sweeps: vec![SweepRecord {
                kind: "open_orders".into(),
                started_at: specimen::at(58),
                succeeded_at: Some(specimen::at(59)),
                problem: Some("no answer".into()),
            }],
            ..SweepOverview::default()
        };
        let intervals = crate::config::Installation::default().schedule.intervals();
        let plan = SweepPlan { receives: false, intervals };
        store.sweeps = of_store(&store, 300, &plan, (&overview, 100_000), specimen::at(60));
        let shown = text(&store, specimen::at(60), Locale::default());
        let line = shown.lines().find(|line| line.starts_with("Pedidos em aberto")).unwrap();
        let cells: Vec<&str> = line.split_whitespace().skip(3).collect();
        assert_eq!(cells, ["10", "min", "(+)", "100.0", "60", "s", "9", "min"]);
        assert!(shown.contains("    no answer"), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
        assert!(!shown.contains("Teste do webhook"), "it has no webhook");
    }
}
