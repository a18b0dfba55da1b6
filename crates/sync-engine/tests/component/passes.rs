//! Passes that meet broken rows, refusals, outages, kills and another writer.

use std::collections::BTreeSet;

use espelho_model::sync::{Resource, RunState, Target};
use espelho_sandbox::{Fault, NewCampaign};
use espelho_sync_engine::{Options, ResourceReport, StoreReport, Trouble};
use serde_json::json;

use crate::support::{Kind, Rig, Setup, on_both_databases, refused_with};

on_both_databases![
    a_row_that_the_database_refuses_is_the_only_one_of_its_page_that_is_missing,
    rows_that_fail_are_named_and_read_again_by_the_next_pass,
];

const FAILED: &str = "SELECT key || ' ' || code FROM sync_failures WHERE resource = 'orders' ORDER BY key";

pub(crate) async fn store(kind: Kind, orders: usize, products: usize) -> Rig {
    let setup = Setup::on(kind);
    setup.with(|setup| (setup.world.orders, setup.world.products) = (orders, products)).open().await
}

fn run_of(targets: &[Target]) -> Options {
    Options { only: targets.to_vec(), kind: "manual", ..Options::default() }
}

fn orders() -> Options {
    run_of(&[Resource::Orders.into()])
}

impl Rig {
    /// Reconciles one target.
    pub(crate) async fn pass_of(&self, target: impl Into<Target>) -> ResourceReport {
        self.reconcile(&run_of(&[target.into()])).await.resources.remove(0)
    }
}

fn code(report: &ResourceReport) -> &str {
    report.problem.as_ref().map_or("", |problem| problem.code.as_str())
}

async fn numbers(rig: &Rig) -> Vec<String> {
    let rows = rig.listing("/api/v1/sellers/orders?limit=100").await;
    let mut numbers: Vec<String> =
        rows.iter().map(|row| row["order_number"].as_str().unwrap().to_owned()).collect();
    numbers.sort();
    numbers
}

async fn rows_that_fail_are_named_and_read_again_by_the_next_pass(kind: Kind) {
    let rig = store(kind, 30, 3).await;
    let numbers = numbers(&rig).await;
    for (at, fault) in [
        (3, refused_with(422, "VALIDATION_ERROR")),
        (9, Fault::Html(503)),
        (15, refused_with(404, "NOT_FOUND")),
    ] {
        rig.fault(&format!("/orders/{}", numbers[at]), None, fault);
    }
    let report = rig.pass_of(Resource::Orders).await;
    assert_eq!((report.state, code(&report)), (RunState::Partial, ""));
    assert_eq!((report.counts.seen, report.counts.changed, report.counts.failed), (30, 27, 3));
    let named: Vec<&String> = report.failures.iter().map(|failure| &failure.key).collect();
    assert_eq!(named, [&numbers[3], &numbers[9], &numbers[15]]);
    let failed = rig.ask(FAILED).await;
    assert_eq!(failed.len(), 3, "{failed:?}");
    for (row, at) in failed.iter().zip([3, 9, 15]) {
        assert!(row.starts_with(&*numbers[at]), "{row}");
    }
    // The rows themselves have not changed: only that they failed makes the next pass read them.
    rig.control().faults().clear();
    rig.control().reset_stats();
    let report = rig.pass_of(Resource::Orders).await;
    assert_eq!((report.state, report.details, report.counts.changed), (RunState::Complete, 3, 3));
    assert!(rig.ask(FAILED).await.is_empty());
    rig.orders_are_the_marketplaces().await;
}

#[tokio::test]
async fn a_row_that_failed_and_is_no_longer_listed_needs_no_repair() {
    let rig = store(Kind::Sqlite, 10, 3).await;
    let numbers = numbers(&rig).await;
    rig.fault(&format!("/orders/{}", numbers[4]), None, refused_with(422, "VALIDATION_ERROR"));
    rig.pass_of(Resource::Orders).await;
    assert_eq!(rig.ask(FAILED).await.len(), 1);
    assert!(rig.control().orders().remove(&rig.key(), &numbers[4]));
    let report = rig.pass_of(Resource::Orders).await;
    assert_eq!((report.state, report.counts.gone), (RunState::Complete, 0));
    assert!(rig.ask(FAILED).await.is_empty());
}

/// Makes the database refuse an order; returns what allows it again.
pub(crate) async fn refuse(rig: &Rig, kind: Kind, number: &str) -> &'static str {
    let check = format!("order_number <> '{number}'");
    let (refuse, allow) = match kind {
        Kind::Sqlite => (
            // A value of another type where only a number can be.
            format!(
                "CREATE TABLE numbers (id INTEGER PRIMARY KEY); \
                 CREATE TRIGGER refusal BEFORE INSERT ON orders WHEN NOT (NEW.{check}) \
                 BEGIN INSERT INTO numbers VALUES ('none'); END"
            ),
            "DROP TRIGGER refusal",
        ),
        Kind::Postgres => (
            format!("ALTER TABLE orders ADD CONSTRAINT refusal CHECK ({check})"),
            "ALTER TABLE orders DROP CONSTRAINT refusal",
        ),
    };
    rig.tables.execute(&refuse).await;
    allow
}

async fn a_row_that_the_database_refuses_is_the_only_one_of_its_page_that_is_missing(kind: Kind) {
    let rig = store(kind, 20, 3).await;
    let numbers = numbers(&rig).await;
    let allow = refuse(&rig, kind, &numbers[7]).await;
    let report = rig.pass_of(Resource::Orders).await;
    assert_eq!((report.state, code(&report)), (RunState::Partial, ""), "{report:?}");
    assert_eq!((report.counts.changed, report.counts.failed), (19, 1));
    assert_eq!(rig.ask(FAILED).await, [format!("{} unwritable", numbers[7])]);
    let lines = format!("SELECT id FROM order_items WHERE order_number = '{}'", numbers[7]);
    assert!(rig.ask(&lines).await.is_empty(), "no half of it");
    rig.tables.execute(allow).await;
    let report = rig.pass_of(Resource::Orders).await;
    assert_eq!((report.state, report.details, report.counts.changed), (RunState::Complete, 1, 1));
    assert!(rig.ask(FAILED).await.is_empty());
    rig.orders_are_the_marketplaces().await;
}

#[tokio::test]
async fn the_rest_of_a_page_is_not_asked_for_when_row_after_row_fails_and_the_third_page_ends_the_pass() {
    let rig = store(Kind::Sqlite, 450, 3).await;
    rig.fault("GET /api/v1/sellers/orders/{id}", None, refused_with(403, "FORBIDDEN"));
    let report = rig.pass_of(Resource::Orders).await;
    assert_eq!(report.state, RunState::Partial);
    assert!(report.problem.is_some() && report.pages < 5, "{report:?}");
    assert_eq!(report.counts.changed, 0);
    // Twenty failures and what was under way with them, on each of three pages.
    assert!(report.details < 150, "{} details", report.details);
    let codes = "SELECT DISTINCT code FROM sync_failures WHERE resource = 'orders' ORDER BY code";
    let codes = rig.ask(codes).await;
    assert!(codes.contains(&"not_asked".to_owned()) && codes.len() == 2, "{codes:?}");
    // The next run goes on behind these pages; the one after it reads them again.
    rig.control().faults().clear();
    let next = rig.pass_of(Resource::Orders).await;
    assert_eq!(next.resumed_at, Some(report.pages + 1));
    assert!(next.problem.is_none(), "{next:?}");
    let last = rig.pass_of(Resource::Orders).await;
    assert_eq!((last.state, rig.live("orders").await), (RunState::Complete, 450));
    assert!(rig.ask(FAILED).await.is_empty());
    rig.orders_are_the_marketplaces().await;
}

/// What ends a pass at once, since every further row would meet it too.
#[tokio::test]
async fn what_concerns_every_row_ends_the_pass_and_the_next_run_reads_no_more_than_a_page_again() {
    for fault in [Fault::ResetBefore, Fault::Html200, Fault::TruncateBody] {
        let rig = store(Kind::Sqlite, 120, 3).await;
        rig.pass_of(Resource::Products).await;
        let number = numbers(&rig).await.remove(110);
        rig.fault(&format!("/orders/{number}"), None, fault.clone());
        let report = rig.pass_of(Resource::Orders).await;
        if report.problem.is_none() {
            // A fault of this row alone: it is named, and the others are mirrored.
            assert_eq!((report.counts.changed, report.counts.failed), (119, 1), "{fault:?}");
        } else {
            assert_eq!(report.state, RunState::Partial, "{fault:?}");
            assert!(report.counts.changed >= 100, "{fault:?}: the first page is mirrored: {report:?}");
        }
        rig.control().faults().clear();
        rig.control().reset_stats();
        let report = rig.pass_of(Resource::Orders).await;
        assert_eq!(report.state, RunState::Complete, "{fault:?}: {report:?}");
        assert!(report.details <= 20, "{fault:?}: {} details", report.details);
        rig.orders_are_the_marketplaces().await;
    }
}

#[tokio::test]
async fn a_credential_that_is_rejected_ends_the_run_and_no_other_resource_is_asked_for() {
    let rig = store(Kind::Sqlite, 10, 3).await;
    assert!(rig.control().credentials().set_active(&rig.key(), false));
    let report = rig.reconcile(&Options { kind: "manual", ..Options::default() }).await;
    assert_eq!(report.state, RunState::Failed);
    assert_eq!(report.problems().next().unwrap().trouble, Trouble::Authentication);
    assert_eq!(report.resources.len(), 1, "{report:?}");
    let runs = "SELECT state || ' ' || CASE WHEN error IS NULL THEN '' ELSE 'told' END FROM sync_runs";
    assert_eq!(rig.ask(runs).await, ["failed told"]);
    assert!(rig.control().credentials().set_active(&rig.key(), true));
    let report = rig.reconcile(&Options { kind: "manual", ..Options::default() }).await;
    assert_eq!(report.state, RunState::Complete, "{report:?}");
}

#[tokio::test]
async fn a_run_that_is_stopped_ends_with_what_it_has_and_the_next_one_resumes() {
    let rig = store(Kind::Sqlite, 320, 3).await;
    let context = rig.parts.context(&rig.sandbox).await;
    let stop = context.stop.clone();
    let mut pages = BTreeSet::new();
    let watched = async {
        let count = "SELECT CAST(count(*) AS TEXT) FROM sync_pages WHERE resource = 'orders'";
        rig.until("a page is kept", async || pages.insert(rig.ask(count).await) && pages.len() > 1).await;
        stop.cancel();
        std::future::pending::<StoreReport>().await
    };
    let options = orders();
    let report = tokio::select! {
        report = espelho_sync_engine::reconcile(&context, &options) => report,
        report = watched => report,
    };
    let orders = &report.resources[0];
    assert_eq!((orders.state, code(orders)), (RunState::Partial, "stopped"), "{report:?}");
    drop(context);
    let next = rig.pass_of(Resource::Orders).await;
    assert!(next.resumed_at.is_some_and(|page| page > 1), "{next:?}");
    assert_eq!((next.state, next.counts.seen), (RunState::Complete, 320));
    rig.orders_are_the_marketplaces().await;
}

#[tokio::test]
async fn a_pass_that_was_interrupted_a_day_ago_begins_anew() {
    let rig = store(Kind::Sqlite, 250, 3).await;
    for (hours, resumes) in [(23, true), (25, false)] {
        let kept = "SELECT CAST(count(*) AS TEXT) FROM sync_pages WHERE resource = 'orders'";
        let anew = Options { restart: true, deep: true, ..orders() };
        tokio::select! {
            biased;
            () = rig.until("a page is kept", async || rig.ask(kept).await != ["0"]) => (),
            report = rig.reconcile(&anew) => panic!("{report:?}"),
        }
        rig.leap(std::time::Duration::from_secs(hours * 3_600));
        let report = rig.pass_of(Resource::Orders).await;
        assert_eq!(report.resumed_at.is_some(), resumes, "after {hours} h: {report:?}");
        assert_eq!(report.state, RunState::Complete);
        assert_eq!(rig.ask(kept).await, ["0"], "a whole pass leaves no checkpoint");
    }
    rig.orders_are_the_marketplaces().await;
}

#[tokio::test]
async fn a_row_that_changes_while_a_pass_reads_is_as_the_marketplace_has_it_after_the_next() {
    let rig = store(Kind::Sqlite, 150, 3).await;
    let numbers = numbers(&rig).await;
    let kept = "SELECT CAST(count(*) AS TEXT) FROM sync_pages WHERE resource = 'orders'";
    let meddling = async {
        rig.until("a page is kept", async || rig.ask(kept).await != ["0"]).await;
        for number in numbers.iter().step_by(10) {
            assert!(rig.control().orders().set_notes(&rig.key(), number, Some("mudou no meio")));
        }
        std::future::pending::<StoreReport>().await
    };
    let options = orders();
    let report = tokio::select! {
        report = rig.reconcile(&options) => report,
        report = meddling => report,
    };
    assert!(report.problems().next().is_none(), "{report:?}");
    let again = rig.pass_of(Resource::Orders).await;
    assert!(again.counts.changed <= 15 && again.state == RunState::Complete, "{again:?}");
    rig.orders_are_the_marketplaces().await;
}

#[tokio::test]
async fn an_unchanged_row_that_another_one_of_its_page_asks_for_again_is_read_by_the_next_pass() {
    let rig = store(Kind::Sqlite, 1, 30).await;
    rig.pass_of(Resource::Products).await;
    let mut goods = rig.goods().await;
    let one = goods.remove(0);
    let other = goods.into_iter().find(|goods| goods.location == one.location).unwrap();
    let level = format!(
        "SELECT product_id FROM product_stock WHERE sku = '{}' AND location_id = '{}' AND gone_at IS NULL",
        one.sku, one.location
    );
    let lists_otherwise = async |ids: &[&str]| {
        let ids = ids.join("', '");
        rig.tables.execute(&format!("UPDATE products SET listing_hash = 1 WHERE id IN ('{ids}')")).await;
    };
    rig.lie("GET /api/products/{id}", "/data/product/sku", Some(json!(one.sku)), &other.id);
    lists_otherwise(&[other.id.as_str()]).await;
    rig.pass_of(Resource::Products).await;
    assert_eq!(rig.ask(&level).await, [&*other.id], "both have the SKU");
    rig.control().faults().clear();
    // Both are read: one is as it was, and the other leaves its SKU, with its level.
    lists_otherwise(&[one.id.as_str(), other.id.as_str()]).await;
    let report = rig.pass_of(Resource::Products).await;
    assert_eq!((report.details, report.counts.changed), (2, 1));
    assert!(rig.ask(&level).await.is_empty());
    let report = rig.pass_of(Resource::Products).await;
    assert_eq!((report.details, report.counts.changed), (1, 1));
    assert_eq!(rig.ask(&level).await, [&*one.id]);
    rig.products_are_the_marketplaces().await;
}

#[tokio::test]
async fn a_missing_row_is_gone_only_if_it_is_denied_by_itself_too() {
    let rig = store(Kind::Sqlite, 30, 3).await;
    rig.pass_of(Resource::Orders).await;
    let numbers = numbers(&rig).await;
    // The listing does not show them; one of them is really gone, one answers, one cannot be read.
    for (number, fault) in [(&numbers[3], None), (&numbers[4], Some(Fault::Html(503)))] {
        assert!(rig.control().orders().remove(&rig.key(), number));
        fault.into_iter().for_each(|fault| rig.fault(&format!("/orders/{number}"), None, fault));
    }
    let report = rig.pass_of(Resource::Orders).await;
    assert_eq!((report.counts.gone, rig.live("orders").await), (1, 29));
    assert_eq!(report.notes.len(), 1, "one could not be read: {:?}", report.notes);
    rig.control().faults().clear();
    let report = rig.pass_of(Resource::Orders).await;
    assert_eq!((report.counts.gone, rig.live("orders").await), (1, 28));
    rig.orders_are_the_marketplaces().await;
}

/// The sub-resources with their own routes: the target, and its name in the tables.
const PARTS: [(Target, &str); 5] = [
    (Target::Shipments, "shipments"),
    (Target::Tracking, "tracking"),
    (Target::Invoices, "invoices"),
    (Target::Events, "events"),
    (Target::Financial, "financial"),
];

#[tokio::test]
async fn each_sub_resource_is_read_for_every_order_and_a_second_run_changes_nothing() {
    let rig = store(Kind::Sqlite, 30, 5).await;
    rig.pass_of(Resource::Orders).await;
    let read = |part: &str| format!("SELECT order_number FROM order_parts WHERE part = '{part}'");
    for (target, part) in PARTS {
        let dry = Options { dry_run: true, ..run_of(&[target]) };
        let report = rig.reconcile(&dry).await.resources.remove(0);
        assert_eq!((report.counts.seen, report.counts.changed), (30, 0), "{part}");
        assert!(rig.ask(&read(part)).await.is_empty(), "{part}: a dry run has written");
        let report = rig.pass_of(target).await;
        assert_eq!(report.state, RunState::Complete, "{part}: {report:?}");
        assert_eq!((report.counts.seen, report.counts.changed), (30, 30), "{part}");
        assert_eq!(rig.ask(&read(part)).await.len(), 30, "{part}");
        let again = rig.pass_of(target).await;
        assert_eq!((again.counts.changed, again.details), (0, 30), "{part}");
    }
    assert!(rig.live("shipments").await > 0 && rig.live("order_events").await > 0);
}

#[tokio::test]
async fn a_sub_resource_that_fails_for_one_order_is_named_and_read_for_the_others() {
    let rig = store(Kind::Sqlite, 12, 5).await;
    rig.pass_of(Resource::Orders).await;
    let number = numbers(&rig).await.remove(5);
    for (target, part) in PARTS {
        rig.fault(&format!("/orders/{number}/"), None, refused_with(422, "VALIDATION_ERROR"));
        let report = rig.pass_of(target).await;
        assert_eq!((report.state, report.counts.failed), (RunState::Partial, 1), "{part}: {report:?}");
        assert_eq!((report.counts.changed, &report.failures[0].key), (11, &number), "{part}");
        rig.control().faults().clear();
        let report = rig.pass_of(target).await;
        assert_eq!((report.state, report.counts.changed), (RunState::Complete, 1), "{part}");
    }
}

#[tokio::test]
async fn sub_resources_end_early_where_every_further_request_would_be_refused_too() {
    let rig = store(Kind::Sqlite, 40, 5).await;
    rig.pass_of(Resource::Orders).await;
    rig.fault("/financial", None, Fault::TooMany(1));
    let report = rig.pass_of(Target::Financial).await;
    assert!(report.problem.is_some() && report.counts.changed == 0, "{report:?}");
    assert_eq!(report.details, 16, "those under way, and no more");
    rig.control().faults().clear();
    assert_eq!(rig.pass_of(Target::Financial).await.state, RunState::Complete);
}

#[tokio::test]
async fn what_a_credential_may_not_see_is_no_problem_and_what_is_down_is_one() {
    let rig = store(Kind::Sqlite, 2, 5).await;
    for (target, route) in [(Target::Campaigns, "/discounts/campaigns"), (Target::MediaImages, "/api/media")]
    {
        rig.fault(route, None, refused_with(403, "FORBIDDEN"));
        let closed = rig.pass_of(target).await;
        assert_eq!((closed.state, closed.counts.changed, code(&closed)), (RunState::Complete, 0, ""));
        rig.control().faults().clear();
        rig.fault(route, None, Fault::Html(503));
        let down = rig.pass_of(target).await;
        assert_eq!(down.state, RunState::Failed, "{target:?}: {down:?}");
        assert!(down.problem.is_some());
        rig.control().faults().clear();
        assert_eq!(rig.pass_of(target).await.state, RunState::Complete, "{target:?}");
    }
}

#[tokio::test]
async fn an_image_that_is_not_listed_is_gone_only_if_it_is_denied_by_itself() {
    let rig = store(Kind::Sqlite, 2, 5).await;
    assert_eq!(rig.pass_of(Target::MediaImages).await.state, RunState::Complete);
    let there = rig.live("media_images").await;
    assert!(there > 0);
    let copy = |id: &str| {
        format!(
            "INSERT INTO media_images (store, id, content_hash, mirrored_at, raw) \
             SELECT store, '{id}', 1, mirrored_at, raw FROM media_images LIMIT 1"
        )
    };
    rig.tables.execute(&copy("01ARZ3NDEKTSV4RRFFQ69G5FAV")).await;
    rig.fault("/api/media/01ARZ3NDEKTSV4RRFFQ69G5FAV", None, refused_with(422, "VALIDATION_ERROR"));
    let report = rig.pass_of(Target::MediaImages).await;
    assert_eq!((report.counts.gone, rig.live("media_images").await), (0, there + 1));
    rig.control().faults().clear();
    let report = rig.pass_of(Target::MediaImages).await;
    assert_eq!((report.counts.gone, rig.live("media_images").await), (1, there));
}

#[tokio::test]
async fn a_dry_run_does_not_read_what_is_read_in_full() {
    let rig = store(Kind::Sqlite, 2, 5).await;
    let whole = [Target::Campaigns, Target::MediaImages, Target::Profile, Target::Labels];
    let report = rig.reconcile(&Options { dry_run: true, ..run_of(&whole) }).await;
    assert_eq!(report.resources.len(), 4);
    assert!(report.resources.iter().all(|resource| resource.notes.len() == 1), "{report:?}");
    for table in ["campaigns", "media_images", "store_profiles"] {
        assert_eq!(rig.live(table).await, 0, "{table}");
    }
    // Without a folder for them, no label file is fetched, which is said.
    let labels = rig.pass_of(Target::Labels).await;
    assert_eq!((labels.state, labels.notes.len()), (RunState::Complete, 1));
}

/// A refusal that names a parameter of the request.
fn refused_parameter(name: &str) -> Fault {
    let body = json!({
        "success": false, "code": 422, "message_code": "VALIDATION_ERROR", "description": "Campos inválidos.",
        "data": [], "errors": {name: ["não é aceito"]}, "meta": [],
    });
    Fault::Status {
        code: 422,
        body: body.to_string().into_bytes(),
        content_type: "application/json".into(),
        headers: Vec::new(),
    }
}

/// What a listing refuses, one request after the other, and the pages that are read in the end: of 100 rows, of 50, or
/// of the 20 that the marketplace gives unasked.
const SIMPLIFIED: [(&[&str], u64); 4] =
    [(&[], 1), (&["sort"], 1), (&["limit", "sort"], 2), (&["limit", "limit", "limit"], 3)];

#[tokio::test]
async fn a_listing_that_refuses_its_request_is_asked_for_in_a_simpler_way() {
    for (refused, pages) in SIMPLIFIED {
        let rig = store(Kind::Sqlite, 55, 3).await;
        for name in refused {
            rig.fault("GET /api/v1/sellers/orders", 1, refused_parameter(name));
        }
        let report = rig.pass_of(Resource::Orders).await;
        assert_eq!((report.state, code(&report)), (RunState::Complete, ""), "{refused:?}: {report:?}");
        assert_eq!((report.pages, report.counts.seen), (pages, 55), "{refused:?}");
        // The next run asks in full again, and finds nothing to read.
        let again = rig.pass_of(Resource::Orders).await;
        assert_eq!((again.pages, again.details, again.counts.gone), (1, 0, 0), "{refused:?}");
    }
}

#[tokio::test]
async fn a_listing_that_refuses_every_request_ends_the_pass_with_its_words() {
    let rig = store(Kind::Sqlite, 30, 3).await;
    for name in ["sort", "limit", "limit", "date_from"] {
        rig.fault("GET /api/v1/sellers/orders", 1, refused_parameter(name));
    }
    let report = rig.pass_of(Resource::Orders).await;
    assert_eq!((report.state, report.pages, report.counts.changed), (RunState::Failed, 0, 0));
    let problem = report.problem.unwrap();
    assert!(problem.text.to_string().contains("Campos inválidos."), "{}", problem.text);
    let report = rig.pass_of(Resource::Orders).await;
    assert_eq!((report.state, rig.live("orders").await), (RunState::Complete, 30));
}

#[tokio::test]
async fn a_pass_that_was_simplified_resumes_as_it_asked() {
    let rig = store(Kind::Sqlite, 320, 3).await;
    let kept = "SELECT CAST(count(*) AS TEXT) FROM sync_pages WHERE resource = 'orders'";
    rig.fault("GET /api/v1/sellers/orders", 1, refused_parameter("limit"));
    let options = orders();
    tokio::select! {
        biased;
        () = rig.until("a page is kept", async || rig.ask(kept).await != ["0"]) => (),
        report = rig.reconcile(&options) => panic!("{report:?}"),
    }
    let pages: u64 = rig.ask(kept).await[0].parse().unwrap();
    let report = rig.pass_of(Resource::Orders).await;
    assert_eq!(report.resumed_at, Some(pages + 1), "{report:?}");
    assert_eq!(report.pages, 7 - pages, "pages of 50 rows, as before the interruption");
    assert_eq!((report.state, report.counts.seen), (RunState::Complete, 320));
    rig.orders_are_the_marketplaces().await;
}

#[tokio::test]
async fn a_listing_that_ends_while_it_is_read_ends_the_pass() {
    let rig = store(Kind::Sqlite, 210, 3).await;
    rig.pass_of(Resource::Orders).await;
    let numbers = numbers(&rig).await;
    let kept = "SELECT CAST(count(*) AS TEXT) FROM sync_pages WHERE resource = 'orders'";
    let shrinking = async {
        rig.until("a page is kept", async || rig.ask(kept).await != ["0"]).await;
        for number in &numbers[208..] {
            assert!(rig.control().orders().remove(&rig.key(), number));
        }
        std::future::pending::<StoreReport>().await
    };
    let options = Options { deep: true, ..orders() };
    let report = tokio::select! {
        report = rig.reconcile(&options) => report,
        report = shrinking => report,
    };
    assert!(report.problems().next().is_none(), "{report:?}");
    let report = rig.pass_of(Resource::Orders).await;
    assert_eq!((report.state, rig.live("orders").await), (RunState::Complete, 208));
    rig.orders_are_the_marketplaces().await;
}

#[tokio::test]
async fn a_page_size_that_is_refused_is_left_out() {
    let rig = store(Kind::Sqlite, 1, 1).await;
    let id = rig.control().campaigns().create(&NewCampaign::default()).unwrap().to_string();
    rig.fault("/discounts/campaigns", 1, refused_with(422, "VALIDATION_ERROR"));
    let report = rig.pass_of(Target::Campaigns).await;
    assert_eq!((report.state, code(&report)), (RunState::Complete, ""), "{report:?}");
    assert!(rig.ask("SELECT id FROM campaigns WHERE gone_at IS NULL").await.contains(&id));
    rig.fault("/discounts/campaigns", None, refused_with(422, "VALIDATION_ERROR"));
    let report = rig.pass_of(Target::Campaigns).await;
    assert_eq!((report.state, code(&report)), (RunState::Failed, "VALIDATION_ERROR"), "{report:?}");
}
