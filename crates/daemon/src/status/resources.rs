//! What is mirrored of each store, against what the marketplace has: rows on both sides, how old it is, how much of it
//! differed when it was last compared.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use espelho_store::AuditRecord;
use serde::{Deserialize, Serialize};

use super::{StorePicture, words::span};

/// What is mirrored of one kind.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct ResourceRow {
    pub resource: String,
    /// Rows of the mirror that are not gone.
    pub local: u64,
    /// Rows that the marketplace counts, and when it did; absent where no route counts them.
    pub remote: Option<u64>,
    pub remote_at: Option<DateTime<Utc>>,
    /// Rows of the mirror at that time.
    pub local_then: Option<u64>,
    /// When it was last walked through, or looked at for news.
    pub last_success: Option<DateTime<Utc>>,
    pub lag_seconds: Option<i64>,
    pub drift: Option<Drift>,
    /// Rows that cannot be mirrored.
    pub errors: u64,
}

/// How a sample compared.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Drift {
    pub at: DateTime<Utc>,
    pub compared: u64,
    pub differing: u64,
}

/// A kind: its name, what people call it, the sweep that keeps it, and what its failures are filed under.
struct Kind {
    name: &'static str,
    pt: &'static str,
    en: &'static str,
    sweep: &'static str,
    entity: &'static str,
    /// Whether a complete run walks through it too.
    in_runs: bool,
}

const fn kind(
    name: &'static str,
    (pt, en): (&'static str, &'static str),
    sweep: &'static str,
    entity: &'static str,
    in_runs: bool,
) -> Kind {
    Kind { name, pt, en, sweep, entity, in_runs }
}

const OPEN: &str = "open_orders";
const PROFILE: &str = "profile";

const KINDS: [Kind; 8] = [
    kind("orders", ("Pedidos", "Orders"), "new_orders", "order", true),
    kind(OPEN, ("Pedidos em aberto", "Open orders"), OPEN, "", true),
    kind("products", ("Produtos", "Products"), "aged_products", "product", true),
    kind("shipments", ("Envios", "Shipments"), "parts", "shipment", false),
    kind("campaigns", ("Campanhas", "Campaigns"), "campaigns", "campaign", false),
    kind("campaign_listings", ("Anúncios em campanhas", "Campaign listings"), "campaigns", "", false),
    kind("media_images", ("Imagens", "Images"), "media", "media_image", false),
    kind(PROFILE, ("Dados da loja", "Store profile"), PROFILE, "", false),
];

/// Puts together what is known; the picture has tables, failures and sweeps already.
pub(super) fn of_store(
    store: &StorePicture,
    audits: &[AuditRecord],
    open: u64,
    at: DateTime<Utc>,
) -> Vec<ResourceRow> {
    KINDS.iter().map(|kind| row(store, kind, audits, open, at)).collect()
}

fn row(
    store: &StorePicture,
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
    let audit = audits.iter().find(|audit| audit.resource == kind.name);
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

/// What people call it, in both languages.
pub(super) fn name(resource: &str) -> (&str, &str) {
    KINDS.iter().find(|kind| kind.name == resource).map_or((resource, ""), |kind| (kind.pt, kind.en))
}

/// How a sample compared, in a few words.
pub(super) fn drift(row: &ResourceRow, at: DateTime<Utc>) -> String {
    let Some(drift) = &row.drift else { return "-".to_owned() };
    format!("{} / {}, {}", drift.differing, drift.compared, span((at - drift.at).num_seconds()))
}

/// The table for a terminal.
pub(super) fn text(store: &StorePicture, at: DateTime<Utc>) -> String {
    let mut text = String::new();
    if store.resources.is_empty() {
        return text;
    }
    let dash = || "-".to_owned();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "\n{:<24} {:>12} {:>15} {:>9} {:>7}  DIFERE / DRIFT",
        "DADOS / DATA", "AQUI / HERE", "LÁ / THERE", "HÁ / AGO", "ERROS"
    );
    for row in &store.resources {
        let remote = row.remote.map_or_else(dash, |remote| remote.to_string());
        let lag = row.lag_seconds.map_or_else(dash, span);
        let (local, errors, drift) = (row.local, row.errors, drift(row, at));
        let _ = writeln!(text, "{:<24} {local:>12} {remote:>15} {lag:>9} {errors:>7}  {drift}", row.resource);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::{Failures, specimen, sweeps};

    fn store() -> (StorePicture, Vec<AuditRecord>) {
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
        store.failures = vec![Failures {
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
    fn the_table_fits_the_page_and_names_what_differs() {
        let (mut store, audits) = store();
        store.resources = of_store(&store, &audits, 12, specimen::at(60));
        let shown = text(&store, specimen::at(60));
        let line = shown.lines().find(|line| line.starts_with("orders")).unwrap();
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(cells, ["orders", "300", "302", "60", "s", "4", "1", "/", "20,", "60", "min"]);
        assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
    }
}
