//! The sweeps of each store: interval, cost and last success; the marketplace's counts; and whether webhooks arrive.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{
    text,
    text::{Language, Locale, words},
    time::{is_future, past},
};
use espelho_store::{RemoteCount, SweepOverview, SweepRecord, WebhookWatch};
use espelho_sync_engine::{
    live::WebhookNews,
    plan::load::{StoreSize, fits, load},
    plan::schedule::Sweep,
    plan::webhook_news::as_known,
};
use serde::{Deserialize, Serialize};

use super::{ShownStore, StoreSnapshot, SweepPlan, columns, columns::wrapped};

/// Formats calls a minute: `1,5`, `1.5`.
pub(crate) fn rate(per_minute: f64, locale: Locale) -> String {
    let rate = format!("{per_minute:.1}");
    match locale.language {
        Language::Portuguese => rate.replace('.', ","),
        Language::English => rate,
    }
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

impl SweepRow {
    /// Adds a success that the sweep's record does not have.
    fn with_success(mut self, at: Option<DateTime<Utc>>) -> Self {
        if at > self.last_success {
            let period = TimeDelta::from_std(Duration::from_secs(self.every_seconds)).unwrap_or_default();
            (self.last_success, self.next_due) = (at, at.map(|at| at + period));
        }
        self
    }
}

impl Webhook {
    /// Adds what the running service has heard: the record is written once a minute.
    pub(super) fn note_heard(&mut self, arriving: &WebhookNews, at: DateTime<Utc>) {
        self.heard_at = self.heard_at.max(past(arriving.heard_at, at));
        self.test_heard_at = self.test_heard_at.max(past(arriving.test_heard_at, at));
    }
}

/// Combines what is known about a store's sweeps; the snapshot's tables tell how much the store has. What a clock that
/// was ahead has recorded is not known: its times lie in the future.
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
        let row = row(load.sweep, load.every, load.is_stretched, load.per_minute, record, at);
        // The tests of a start and of a suspicion are no sweep's.
        let watch = overview.watch.as_ref().filter(|watch| watch.problem.is_none());
        match load.sweep {
            Sweep::WebhookTest => row.with_success(past(watch.and_then(|watch| watch.tested_at), at)),
            _ => row,
        }
    };
    Sweeps {
        rows: loads.iter().filter(|load| is_run(load.sweep)).map(row_of).collect(),
        requests_per_minute: loads.iter().map(|load| load.per_minute).sum(),
        fits: fits(&loads, per_minute),
        remote: overview.counts.iter().filter(|count| !is_future(count.at, at)).map(remote).collect(),
        webhook: plan.receives.then(|| {
            let watch = overview.watch.as_ref().map(|watch| as_known(watch, at));
            watch.as_ref().map(webhook).unwrap_or_default()
        }),
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
    at: DateTime<Utc>,
) -> SweepRow {
    let last_success = past(record.and_then(|record| record.succeeded_at), at);
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

/// Returns the table for a terminal: the problem of a sweep is below its line.
pub(super) fn lines(store: &StoreSnapshot, at: DateTime<Utc>, locale: Locale) -> Vec<String> {
    let sweeps = &store.sweeps;
    if sweeps.rows.is_empty() {
        return Vec::new();
    }
    let cells = |row: &SweepRow| {
        let every = locale.span(i64::try_from(row.every_seconds).unwrap_or(i64::MAX));
        let span = |seconds: i64| locale.span(seconds);
        vec![
            words::sweep(&row.sweep).message(locale),
            if row.stretched { format!("{every} (+)") } else { every },
            rate(row.requests_per_minute, locale),
            row.last_success.map_or_else(|| "-".to_owned(), |last| span((at - last).num_seconds())),
            row.next_due.map_or_else(|| "-".to_owned(), |due| span((due - at).num_seconds())),
        ]
    };
    let mut rows: Vec<_> = sweeps.rows.iter().map(cells).collect();
    let per_minute = rate(sweeps.requests_per_minute, locale);
    rows.push(vec![text!("status-total").message(locale), String::new(), per_minute]);
    let columns = [
        (text!("status-sweep"), false),
        (text!("status-every"), true),
        (text!("status-per-minute"), true),
        (text!("status-read"), false),
        (text!("status-next-in"), false),
    ];
    let titles = std::iter::once(None);
    let problems = titles.chain(sweeps.rows.iter().map(|row| row.problem.as_deref())).chain([None]);
    let shown = |problem: &str| format!("    {}", wrapped(problem, 6));
    let lines = columns::lines(&columns, rows, locale).into_iter().zip(problems);
    lines.flat_map(|(line, problem)| [Some(line), problem.map(shown)]).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::specimen;

    // withstands: F087
    #[test]
    fn times_in_the_future_are_shown_as_unknown_and_what_is_heard_counts_before_it_is_on_record() {
        let (at, intervals) = (specimen::at, crate::config::Installation::default().schedule.intervals());
        let plan = SweepPlan { receives: true, intervals };
        for (then, is_known) in [(59, true), (61, true), (180, false)] {
            let overview = SweepOverview {
                sweeps: vec![SweepRecord {
                    kind: "enums".into(),
                    started_at: at(then),
                    succeeded_at: Some(at(then)),
                    problem: None,
                }],
                counts: vec![RemoteCount {
                    kind: "orders".into(),
                    remote: 61,
                    local: 61,
                    at: at(then),
                    behind_since: None,
                }],
                watch: Some(WebhookWatch { heard_at: Some(at(then)), ..WebhookWatch::default() }),
                ..SweepOverview::default()
            };
            let mut sweeps = of_store(&specimen::store("a"), 300, &plan, (&overview, 0), at(60));
            let row = sweeps.rows.iter().find(|row| row.sweep == "enums").unwrap();
            let known = [row.last_success.is_some(), row.next_due.is_some(), !sweeps.remote.is_empty()];
            assert_eq!(known, [is_known; 3], "minute {then}");
            let webhook = sweeps.webhook.as_mut().unwrap();
            assert_eq!(webhook.heard_at.is_some(), is_known, "minute {then}");
            let arriving = WebhookNews { heard_at: Some(at(then + 1)), ..WebhookNews::default() };
            webhook.note_heard(&arriving, at(then + 1));
            assert_eq!(webhook.heard_at, Some(at(then + 1)));
        }
    }

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
        let shown = lines(&store, specimen::at(60), Locale::default()).join("\n");
        let line = shown.lines().find(|line| line.starts_with("Pedidos em aberto")).unwrap();
        let cells: Vec<&str> = line.split_whitespace().skip(3).collect();
        assert_eq!(cells, ["10", "min", "(+)", "100,0", "60", "s", "9", "min"]);
        assert!(shown.contains("    no answer"), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
        assert!(!shown.contains("Teste do webhook"), "it has no webhook");
    }
}
