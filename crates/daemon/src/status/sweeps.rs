//! The sweeps of each store: how often, what they take, when they last went well; what the marketplace counts; and whether
//! webhooks arrive.

use std::{fmt::Write as _, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_store::{RemoteCount, SweepOverview, SweepRecord, WebhookWatch};
use espelho_sync_engine::{
    live::schedule::{Intervals, Look},
    plan::load::{Holdings, fits, load},
};
use serde::{Deserialize, Serialize};

use super::{
    Alarm, StorePicture,
    text::wrapped,
    words::{ago, span},
};

/// Changes without a delivery that are no coincidence any more.
const MANY_MISSED: u64 = 3;
/// How long none may come while such changes are found.
const SILENT: TimeDelta = TimeDelta::minutes(30);
/// Deliveries in a row that cannot be verified and are no stray ones any more.
const MANY_UNVERIFIED: u64 = 3;
/// How long a test delivery may take.
const TEST_TAKES: TimeDelta = TimeDelta::minutes(10);

/// How a store is swept.
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
    /// What all of them take at most, in requests a minute.
    pub requests_per_minute: f64,
    /// Whether that fits, without a sweep that runs less often than it was told.
    pub fits: bool,
    /// What the marketplace counts.
    pub remote: Vec<Remote>,
    /// Whether webhooks arrive; absent where there is none.
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

/// What the marketplace counts of something, and what the mirror had then.
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

/// Puts together what is known of a store's sweeps; the picture's tables say how much the store has.
pub(super) fn of_store(
    store: &StorePicture,
    per_minute: u32,
    plan: &SweepPlan,
    (overview, open): (&SweepOverview, u64),
    at: DateTime<Utc>,
) -> Sweeps {
    let has = holdings(store, plan, open);
    let loads = load(&has, per_minute, |look| plan.intervals.of(look).period(at));
    let is_run = |look: Look| look != Look::WebhookTest || plan.receives;
    let row_of = |load: &espelho_sync_engine::plan::load::SweepLoad| {
        let name = load.look.as_str();
        let record = overview.sweeps.iter().find(|record| record.kind == name);
        row(load.look, load.every, load.is_stretched, load.per_minute, record)
    };
    Sweeps {
        rows: loads.iter().filter(|load| is_run(load.look)).map(row_of).collect(),
        requests_per_minute: loads.iter().map(|load| load.per_minute).sum(),
        fits: fits(&loads, per_minute),
        remote: overview.counts.iter().map(remote).collect(),
        webhook: plan.receives.then(|| overview.watch.as_ref().map(webhook).unwrap_or_default()),
    }
}

fn holdings(store: &StorePicture, plan: &SweepPlan, open: u64) -> Holdings {
    let live = |table: &str| store.tables.iter().find(|t| t.table == table).map_or(0, |t| t.live);
    Holdings {
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
    look: Look,
    every: Duration,
    stretched: bool,
    per_minute: f64,
    record: Option<&SweepRecord>,
) -> SweepRow {
    let last_success = record.and_then(|record| record.succeeded_at);
    let every_seconds = every.as_secs();
    let period = TimeDelta::from_std(every).unwrap_or_default();
    SweepRow {
        sweep: look.as_str().to_owned(),
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

/// What is wrong with a store's sweeps and webhooks.
pub(super) fn alarms(store: &StorePicture, at: DateTime<Utc>) -> Vec<Alarm> {
    let sweeps = &store.sweeps;
    let mut alarms: Vec<Alarm> = sweeps.webhook.iter().filter_map(|w| silent(store, w, at)).collect();
    alarms.extend(unverified(store));
    if !sweeps.rows.is_empty() && !sweeps.fits {
        alarms.push(Alarm {
            store: Some(store.store.clone()),
            code: "budget_short".into(),
            failing: false,
            pt: "as leituras periódicas não cabem no limite; algumas ficam mais raras".into(),
            en: "the sweeps do not fit the budget; some run less often".into(),
            cause: Some(format!("{:.0} requests a minute", sweeps.requests_per_minute)),
            hint: "make [schedule] rarer, or raise limits.requests_per_minute".into(),
        });
    }
    alarms
}

/// Webhooks that do not arrive: a test did not, or changes are found that none told.
fn silent(store: &StorePicture, webhook: &Webhook, at: DateTime<Utc>) -> Option<Alarm> {
    let untold = webhook.missed_since.filter(|since| {
        webhook.missed_since_then >= MANY_MISSED
            && at - *since >= SILENT
            && webhook.heard_at.is_none_or(|heard| heard < *since)
    });
    let heard_since =
        |then| [webhook.test_heard_at, webhook.heard_at].into_iter().flatten().any(|heard| heard >= then);
    let untested = webhook.tested_at.filter(|tested| !heard_since(*tested) && at - *tested >= TEST_TAKES);
    // A delivery that came after the refused test shows more than the refusal.
    let refused = webhook.problem.as_ref().filter(|_| !webhook.tested_at.is_some_and(heard_since));
    let cause = match (refused, untested, untold) {
        (Some(problem), _, _) => format!("the marketplace refused the test delivery: {problem}"),
        (None, Some(tested), _) => {
            format!("the test delivery asked for {} did not arrive", ago(at, tested))
        }
        (None, None, Some(since)) => {
            let missed = webhook.missed_since_then;
            format!("{missed} changes since {} without a delivery", ago(at, since))
        }
        (None, None, None) => return None,
    };
    // No answer tells where the webhook points; but each login moves it, and since that one nothing has come.
    let other = webhook.other_login_at.filter(|login| webhook.heard_at.is_none_or(|heard| heard < *login));
    let (cause, hint) = match other {
        Some(login) => (
            format!(
                "{cause}; another program has logged in with the store's credential (noticed {}), which moves the \
                 webhook to its own address",
                ago(at, login)
            ),
            "make a credential for each program in the seller portal: a credential has one webhook",
        ),
        None => (cause, "look at the webhook in the seller portal: is it active, and is its address ours?"),
    };
    let since = webhook.heard_at.map_or_else(|| "nunca / never".to_owned(), |heard| ago(at, heard));
    Some(Alarm {
        store: Some(store.store.clone()),
        code: "webhooks_silent".into(),
        failing: true,
        pt: format!("os webhooks não chegam (último: {since})"),
        en: format!("webhooks do not arrive (last: {since})"),
        cause: Some(cause),
        hint: hint.into(),
    })
}

/// Deliveries that no known secret has signed: the secret was lost (it is shown once), or another one took its place.
fn unverified(store: &StorePicture) -> Option<Alarm> {
    let in_a_row = Some(store.unverified).filter(|in_a_row| *in_a_row >= MANY_UNVERIFIED)?;
    Some(Alarm {
        store: Some(store.store.clone()),
        code: "webhooks_unverified".into(),
        failing: true,
        pt: format!("{in_a_row} webhooks seguidos com assinatura desconhecida"),
        en: format!("{in_a_row} webhooks in a row with a signature of no known secret"),
        cause: Some("the signing secret is shown once, and the one that is known is not the webhook's".into()),
        hint: "give webhook.secret_file; or delete the webhook in the seller portal: the next login makes a new one".into(),
    })
}

/// The table for a terminal.
pub(super) fn text(store: &StorePicture, at: DateTime<Utc>) -> String {
    let sweeps = &store.sweeps;
    let mut text = String::new();
    if sweeps.rows.is_empty() {
        return text;
    }
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "\n{:<24} {:>12} {:>15}  {:<16} PRÓXIMA / NEXT",
        "LEITURA / SWEEP", "CADA / EVERY", "REQ/MIN", "ÚLTIMA / LAST"
    );
    for row in &sweeps.rows {
        let every = span(i64::try_from(row.every_seconds).unwrap_or(i64::MAX));
        let every = if row.stretched { format!("{every} (+)") } else { every };
        let last = row.last_success.map_or_else(|| "-".to_owned(), |last| span((at - last).num_seconds()));
        let next = row.next_due.map_or_else(|| "-".to_owned(), |due| span((due - at).num_seconds()));
        let _ = writeln!(
            text,
            "{:<24} {every:>12} {:>15.1}  {last:<16} {next}",
            row.sweep, row.requests_per_minute
        );
        if let Some(problem) = &row.problem {
            let _ = writeln!(text, "    falhou / failed: {}", wrapped(problem, 6));
        }
    }
    let _ = writeln!(text, "{:<24} {:>12} {:>15.1}", "total", "", sweeps.requests_per_minute);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::specimen;

    fn codes(webhook: Webhook) -> Vec<String> {
        let mut store = specimen::store("a");
        store.sweeps.webhook = Some(webhook);
        alarms(&store, specimen::at(60)).into_iter().map(|alarm| alarm.code).collect()
    }

    // withstands: F050
    #[test]
    fn changes_that_no_delivery_tells_for_half_an_hour_are_an_alarm() {
        let missed = |missed, since, heard: Option<i64>| Webhook {
            missed_since_then: missed,
            missed_since: Some(specimen::at(since)),
            heard_at: heard.map(specimen::at),
            ..Webhook::default()
        };
        assert_eq!(codes(missed(3, 30, Some(20))), ["webhooks_silent"]);
        assert_eq!(codes(missed(3, 30, None)), ["webhooks_silent"]);
        assert_eq!(codes(missed(2, 30, None)), [""; 0], "two may be a coincidence");
        assert_eq!(codes(missed(3, 31, None)), [""; 0], "a delivery may be under way");
        assert_eq!(codes(missed(3, 30, Some(40))), [""; 0], "one has come since");
        assert_eq!(codes(Webhook::default()), [""; 0]);
    }

    // withstands: F037
    #[test]
    fn where_deliveries_stop_with_another_programs_login_that_is_named() {
        let alarm_of = |other_login: Option<i64>, heard: Option<i64>| {
            let mut store = specimen::store("a");
            store.sweeps.webhook = Some(Webhook {
                missed_since_then: 9,
                missed_since: Some(specimen::at(20)),
                heard_at: heard.map(specimen::at),
                other_login_at: other_login.map(specimen::at),
                ..Webhook::default()
            });
            let alarm = alarms(&store, specimen::at(60)).remove(0);
            (alarm.cause.unwrap(), alarm.hint)
        };
        for heard in [None, Some(5)] {
            let (cause, hint) = alarm_of(Some(10), heard);
            assert!(cause.contains("another program has logged in"), "{cause}");
            assert!(hint.contains("a credential for each program"), "{hint}");
        }
        for (login, heard) in [(None, None), (None, Some(5)), (Some(5), Some(10))] {
            let (cause, hint) = alarm_of(login, heard);
            assert!(!cause.contains("another program") && hint.contains("seller portal"), "{cause}; {hint}");
        }
    }

    // withstands: F035
    #[test]
    fn deliveries_that_cannot_be_verified_are_named_with_the_way_out() {
        let alarms_of =
            |unverified| alarms(&StorePicture { unverified, ..specimen::store("a") }, specimen::at(60));
        assert!(alarms_of(0).is_empty() && alarms_of(2).is_empty());
        let alarm = alarms_of(3).remove(0);
        assert_eq!((alarm.code.as_str(), alarm.failing), ("webhooks_unverified", true));
        for way_out in ["webhook.secret_file", "delete the webhook in the seller portal"] {
            assert!(alarm.hint.contains(way_out), "{}", alarm.hint);
        }
    }

    // withstands: F050
    #[test]
    fn a_test_delivery_that_does_not_come_or_is_refused_is_an_alarm() {
        let tested = |at: i64, heard: Option<i64>| Webhook {
            tested_at: Some(specimen::at(at)),
            test_heard_at: heard.map(specimen::at),
            ..Webhook::default()
        };
        assert_eq!(codes(tested(50, None)), ["webhooks_silent"]);
        assert_eq!(codes(tested(50, Some(49))), ["webhooks_silent"], "that was the day before");
        assert_eq!(codes(tested(51, None)), [""; 0], "it is given ten minutes");
        assert_eq!(codes(tested(50, Some(50))), [""; 0]);
        let refused = |webhook: Webhook| codes(Webhook { problem: Some("422".into()), ..webhook });
        assert_eq!(refused(tested(59, None)), ["webhooks_silent"]);
        assert_eq!(refused(Webhook { heard_at: Some(specimen::at(60)), ..tested(59, None) }), [""; 0]);
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
        let shown = text(&store, specimen::at(60));
        let line = shown.lines().find(|line| line.starts_with("open_orders")).unwrap();
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(cells, ["open_orders", "10", "min", "(+)", "100.0", "60", "s", "9", "min"]);
        assert!(shown.contains("falhou / failed: no answer"), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
        assert!(!shown.contains("webhook_test"), "it has no webhook");
        let alarm = alarms(&store, specimen::at(60)).remove(0);
        assert_eq!((alarm.code.as_str(), alarm.failing), ("budget_short", false));
    }
}
