//! The mirrored rows of each store, compared with the marketplace: the number of rows in both, their age, and how much
//! differed at the last comparison.

use chrono::{DateTime, Utc};
use espelho_model::{
    text,
    text::{Arg, Locale, words},
    time::is_future,
};
use espelho_store::AuditRecord;
use serde::{Deserialize, Serialize};

use super::{StoreSnapshot, columns};

/// The mirrored rows of one kind.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct ResourceRow {
    pub resource: String,
    /// Rows of the mirror that are not gone.
    pub local: u64,
    /// The marketplace's number of rows, and the time of its count; absent if no route counts them.
    pub remote: Option<u64>,
    pub remote_at: Option<DateTime<Utc>>,
    /// Rows of the mirror at that time.
    pub local_then: Option<u64>,
    /// When it was last read in full, or checked for news.
    pub last_success: Option<DateTime<Utc>>,
    pub lag_seconds: Option<i64>,
    pub drift: Option<Drift>,
    /// Rows that cannot be mirrored.
    pub errors: u64,
}

impl ResourceRow {
    /// Whether the last comparison found a difference.
    pub(crate) fn drifts(&self) -> bool {
        self.drift.as_ref().is_some_and(|drift| drift.differing > 0)
    }
}

/// The comparison of a sample.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Drift {
    pub at: DateTime<Utc>,
    pub compared: u64,
    pub differing: u64,
}

/// A kind: its name, the sweep that refreshes it, and the entity of its failures.
struct Kind {
    name: &'static str,
    sweep: &'static str,
    entity: &'static str,
    /// Whether a complete run reads it too.
    in_runs: bool,
}

const fn kind(name: &'static str, sweep: &'static str, entity: &'static str, in_runs: bool) -> Kind {
    Kind { name, sweep, entity, in_runs }
}

const OPEN: &str = "open_orders";
const PROFILE: &str = "profile";

const KINDS: [Kind; 8] = [
    kind("orders", "new_orders", "order", true),
    kind(OPEN, OPEN, "", true),
    kind("products", "aged_products", "product", true),
    kind("shipments", "parts", "shipment", false),
    kind("campaigns", "campaigns", "campaign", false),
    kind("campaign_listings", "campaigns", "", false),
    kind("media_images", "media", "media_image", false),
    kind(PROFILE, PROFILE, "", false),
];

/// Combines what is known; the snapshot already has tables, failures and sweeps.
pub(super) fn of_store(
    store: &StoreSnapshot,
    audits: &[AuditRecord],
    open: u64,
    at: DateTime<Utc>,
) -> Vec<ResourceRow> {
    KINDS.iter().map(|kind| row(store, kind, audits, open, at)).collect()
}

fn row(
    store: &StoreSnapshot,
    kind: &Kind,
    audits: &[AuditRecord],
    open: u64,
    at: DateTime<Utc>,
) -> ResourceRow {
    let name = if kind.name == PROFILE { "store_profiles" } else { kind.name };
    let live = || store.tables.iter().find(|table| table.table == name).map_or(0, |table| table.live);
    let remote = store.sweeps.remote.iter().find(|count| count.of == kind.name);
    let swept = store.sweeps.rows.iter().find(|row| row.sweep == kind.sweep);
    let swept = swept.and_then(|row| row.last_success);
    let last_success = swept.max(store.last_success.filter(|_| kind.in_runs));
    let failures = store.failures.iter().filter(|failures| failures.entity == kind.entity);
    let audit = audits.iter().find(|audit| audit.resource == kind.name && !is_future(audit.at, at));
    ResourceRow {
        resource: kind.name.to_owned(),
        local: if kind.name == OPEN { open } else { live() },
        remote: remote.map(|count| count.remote),
        remote_at: remote.map(|count| count.at),
        local_then: remote.map(|count| count.local),
        last_success,
        lag_seconds: last_success.map(|then| (at - then).num_seconds().max(0)),
        drift: audit.map(|a| Drift { at: a.at, compared: a.compared, differing: a.differing }),
        errors: failures.map(|failures| failures.rows).sum(),
    }
}

/// Returns the counts of both mirror and marketplace at one time: `300 / 302, 3 min`. It never compares rows of now
/// with a count of then. A count from before the end of the last run is not shown: `0 / 200` would stand beside 200
/// rows.
pub(crate) fn counted(store: &StoreSnapshot, row: &ResourceRow, at: DateTime<Utc>, locale: Locale) -> String {
    let (Some(remote), Some(then), Some(counted_at)) = (row.remote, row.local_then, row.remote_at) else {
        return "-".to_owned();
    };
    if run_ended(store).is_some_and(|ended| counted_at < ended) {
        return text!("status-not-counted").message(locale);
    }
    let when = text!("status-counted-at", span = Arg::Seconds((at - counted_at).num_seconds()));
    format!("{} / {}, {}", locale.number(then), locale.number(remote), when.message(locale))
}

/// Returns the latest number of our rows: where the comparison is newer than the count of the tables, its number.
pub(crate) fn here(store: &StoreSnapshot, row: &ResourceRow) -> u64 {
    let is_compared_later = row.remote_at.zip(store.counted_at).is_some_and(|(then, counted)| then > counted);
    row.local_then.filter(|_| is_compared_later).unwrap_or(row.local)
}

/// Returns when the last run ended that has read something.
fn run_ended(store: &StoreSnapshot) -> Option<DateTime<Utc>> {
    let partial = store.last_run.as_ref().filter(|run| run.state == "partial");
    store.last_success.max(partial.and_then(|run| run.finished_at))
}

/// Returns how old the rows' count is, where it is not of this minute.
pub(crate) fn count_age(store: &StoreSnapshot, at: DateTime<Utc>, locale: Locale) -> Option<String> {
    let age = (at - store.counted_at?).num_seconds();
    (age >= 60).then(|| text!("status-rows-counted", span = Arg::Seconds(age)).message(locale))
}

/// Returns the comparison of a sample in a few words.
pub(crate) fn drift(row: &ResourceRow, at: DateTime<Utc>, locale: Locale) -> String {
    let Some(drift) = &row.drift else { return "-".to_owned() };
    let span = Arg::Seconds((at - drift.at).num_seconds());
    text!("status-audit-cell", differing = drift.differing, compared = drift.compared, span = span)
        .message(locale)
}

/// Returns the table for a terminal.
pub(super) fn lines(store: &StoreSnapshot, at: DateTime<Utc>, locale: Locale) -> Vec<String> {
    if store.resources.is_empty() {
        return Vec::new();
    }
    let row = |row: &ResourceRow| {
        vec![
            words::resource(&row.resource).message(locale),
            locale.number(here(store, row)),
            counted(store, row, at, locale),
            row.lag_seconds.map_or_else(|| "-".to_owned(), |lag| locale.span(lag)),
            locale.number(row.errors),
            drift(row, at, locale),
        ]
    };
    let columns = [
        (text!("status-data"), false),
        (text!("status-here"), true),
        (text!("status-counted"), true),
        (text!("status-read"), true),
        (text!("status-errors"), true),
        (text!("status-audit"), false),
    ];
    columns::lines(&columns, store.resources.iter().map(row).collect(), locale)
}

#[cfg(test)]
mod tests {
    use espelho_store::FailureGroup;

    use super::*;
    use crate::status::{specimen, sweeps};

    fn store() -> (StoreSnapshot, Vec<AuditRecord>) {
        let mut store = specimen::store("a");
        let at = specimen::at;
        store.sweeps.remote =
            vec![sweeps::Remote { of: "orders".into(), remote: 302, local: 299, at: at(58) }];
        let success = |sweep: &str, minute| sweeps::SweepRow {
            sweep: sweep.into(),
            every_seconds: 60,
            stretched: false,
            requests_per_minute: 1.0,
            last_success: Some(at(minute)),
            next_due: None,
            problem: None,
        };
        store.sweeps.rows = vec![success("new_orders", 59), success("campaigns", 30)];
        store.failures = vec![FailureGroup {
            entity: "order".into(),
            code: "http_500".into(),
            rows: 4,
            error: "e".into(),
            hint: "h".into(),
        }];
        let audit = AuditRecord { resource: "orders".into(), at: at(0), compared: 20, differing: 1 };
        (store, vec![audit])
    }

    #[test]
    fn each_kind_has_both_counts_its_age_its_drift_and_its_failures() {
        let (store, audits) = store();
        let rows = of_store(&store, &audits, 12, specimen::at(60));
        let of = |name: &str| rows.iter().find(|row| row.resource == name).unwrap();
        let orders = of("orders");
        assert_eq!((orders.local, orders.local_then, orders.remote), (300, Some(299), Some(302)));
        assert_eq!(orders.errors, 4);
        assert_eq!(orders.lag_seconds, Some(60), "the sweep is newer than the run");
        assert_eq!(orders.drift, Some(Drift { at: specimen::at(0), compared: 20, differing: 1 }));
        let products = of("products");
        assert_eq!((products.remote, products.lag_seconds), (None, Some(540)), "of the last complete run");
        assert_eq!((of("open_orders").local, of("open_orders").errors), (12, 0));
        let campaigns = of("campaigns");
        assert_eq!((campaigns.lag_seconds, &campaigns.drift), (Some(1_800), &None), "no run reads them");
        assert_eq!(of("media_images").last_success, None);
    }

    #[test]
    fn a_count_from_before_the_end_of_the_last_run_is_not_shown() {
        let (mut store, audits) = store();
        for (state, success, ended, expected) in [
            ("complete", Some(57), 57, "299 / 302, há 2 min"),
            ("complete", Some(59), 59, "ainda não contado"),
            ("partial", None, 59, "ainda não contado"),
            ("partial", None, 57, "299 / 302, há 2 min"),
            ("failed", Some(57), 59, "299 / 302, há 2 min"),
        ] {
            store.last_success = success.map(specimen::at);
            let run = store.last_run.as_mut().unwrap();
            (run.state, run.finished_at) = (state.into(), Some(specimen::at(ended)));
            let rows = of_store(&store, &audits, 12, specimen::at(60));
            let orders = rows.iter().find(|row| row.resource == "orders").unwrap();
            let said = counted(&store, orders, specimen::at(60), Locale::default());
            assert_eq!(said, expected, "{state}, ended at {ended}");
        }
    }

    #[test]
    fn of_two_counts_of_our_rows_the_newer_one_is_shown() {
        let (mut store, audits) = store();
        for (counted, expected) in [(None, 300), (Some(57), 299), (Some(58), 300), (Some(59), 300)] {
            store.counted_at = counted.map(specimen::at);
            let rows = of_store(&store, &audits, 12, specimen::at(60));
            assert_eq!(here(&store, &rows[0]), expected, "counted at {counted:?}");
            let products = rows.iter().find(|row| row.resource == "products").unwrap();
            assert_eq!(here(&store, products), products.local, "nothing counts them there");
        }
    }

    // withstands: F136
    #[test]
    fn the_table_fits_the_page_and_compares_what_was_counted_at_one_time() {
        let (mut store, audits) = store();
        store.resources = of_store(&store, &audits, 12, specimen::at(60));
        let shown = lines(&store, specimen::at(60), Locale::default());
        let line = shown.iter().find(|line| line.starts_with("pedidos ")).unwrap();
        assert!(
            line.contains("300") && line.contains("299 / 302, há 2 min") && line.contains("1 de 20"),
            "{line}"
        );
        assert!(shown.iter().all(|line| line.chars().count() <= 100), "{shown:#?}");
    }
}
