//! Audits: mirror and marketplace are compared, and neither is changed.

use std::time::Duration;

use espelho_sandbox::{Fault, NewCampaign};
use espelho_sync_engine::{
    Audit, AuditOptions, Difference, ResourceAudit, Subject, Trouble, audit, plan::schedule::Sweep,
};

use crate::support::{Kind, Rig, STORE, Setup, live::only, on_both_databases, refused_with};

on_both_databases![columns_that_somebody_edited_are_found_and_named_and_a_deep_run_mends_them];

/// How often the sweep of a test runs.
const OFTEN: Duration = Duration::from_secs(60);

/// A store of which every subject was mirrored once.
async fn mirrored() -> Rig {
    mirrored_on(Kind::Sqlite).await
}

async fn mirrored_on(kind: Kind) -> Rig {
    let setup = Setup::on(kind).with(|setup| (setup.world.orders, setup.world.products) = (6, 8));
    let mut rig = setup.start().await;
    rig.stop().await;
    rig.control().campaigns().create(&campaign()).unwrap();
    rig.kept_in_step(only(&[], OFTEN), false).await;
    rig.until("the sub-resources are read", async || {
        rig.ask("SELECT order_number FROM order_parts WHERE part = 'shipments'").await.len() == 6
    })
    .await;
    rig.stop().await;
    rig
}

fn campaign() -> NewCampaign {
    NewCampaign {
        name: "Semana do espelho".into(),
        kind: "standard".into(),
        status: "active".into(),
        starts_in: Some(-60),
        ends_in: Some(40 * 86_400),
        opt_in_closes_in: Some(3_600),
        discount: None,
    }
}

impl Rig {
    async fn audited(&self, only: &[Subject], sample: usize) -> Audit {
        let context = self.parts.context(&self.sandbox).await;
        let options = AuditOptions { only: only.to_vec(), sample };
        self.done(audit(&context, &options, 0)).await
    }

    async fn audited_one(&self, subject: Subject) -> ResourceAudit {
        self.audited(&[subject], 100).await.resources.remove(0)
    }
}

#[tokio::test]
async fn a_mirror_that_is_right_has_no_differences_and_is_not_changed() {
    let rig = mirrored().await;
    let feed = "SELECT CAST(max(seq) AS TEXT) FROM changes";
    let before = rig.ask(feed).await;
    let audit = rig.audited(&[], 100).await;
    assert!(audit.is_clean(), "{audit:?}");
    assert!(audit.requests > 14, "{audit:?}");
    let subjects: Vec<Subject> = audit.resources.iter().map(|resource| resource.subject).collect();
    assert_eq!(subjects, Subject::ALL);
    for resource in &audit.resources {
        match resource.subject {
            Subject::PriceLists => assert!(resource.note.is_some(), "no route reads them: {resource:?}"),
            subject => {
                assert!(resource.listed > 0 && resource.note.is_none(), "{subject}: {resource:?}");
                assert_eq!(resource.listed, resource.mirrored, "{subject}");
            }
        }
    }
    let [orders, products] = &audit.resources[..2] else { panic!("{audit:?}") };
    assert_eq!((orders.total, products.total), (Some(6), Some(8)));
    assert!(orders.sampled > 6, "their sub-resources too: {}", orders.sampled);
    assert_eq!(products.sampled, 8);
    let records = "SELECT resource || ' ' || CAST(differing AS TEXT) FROM audits ORDER BY resource";
    let expected = ["campaigns 0", "media_images 0", "orders 0", "products 0", "profile 0"];
    assert_eq!(rig.ask(records).await, expected);
    assert_eq!(rig.ask(feed).await, before);
}

/// Something that is wrong in the mirror: where, how it came to be so, and what an audit says about it.
struct Wrong {
    subject: Subject,
    /// Returns the key of the row that is chosen.
    key: &'static str,
    /// Falsifies the row; `{}` stands for its key.
    falsify: &'static str,
    difference: Difference,
    /// Reads again what mends it.
    mended_by: &'static str,
}

const fn wrong(
    subject: Subject,
    key: &'static str,
    falsify: &'static str,
    difference: Difference,
    mended_by: &'static str,
) -> Wrong {
    Wrong { subject, key, falsify, difference, mended_by }
}

const ORDER: &str = "SELECT order_number FROM orders ORDER BY order_number LIMIT 1 OFFSET 2";
const PRODUCT: &str = "SELECT id FROM products ORDER BY id LIMIT 1 OFFSET 3";

const WRONG: [Wrong; 13] = [
    wrong(
        Subject::Orders,
        ORDER,
        "DELETE FROM orders WHERE order_number = '{}'",
        Difference::Missing,
        "orders",
    ),
    wrong(
        Subject::Orders,
        ORDER,
        "UPDATE orders SET gone_at = mirrored_at WHERE order_number = '{}'",
        Difference::Missing,
        "orders",
    ),
    wrong(
        Subject::Orders,
        ORDER,
        "UPDATE orders SET content_hash = 1 WHERE order_number = '{}'",
        Difference::Detail,
        "orders",
    ),
    wrong(
        Subject::Orders,
        ORDER,
        "UPDATE orders SET content_hash = 1, listing_hash = 1 WHERE order_number = '{}'",
        Difference::Listing,
        "orders",
    ),
    wrong(
        Subject::Orders,
        ORDER,
        "INSERT INTO orders (store, order_number, listing_hash, content_hash, mirrored_at, raw) \
         SELECT store, 'Z' || order_number, 1, 1, mirrored_at, '{\"x\": 1}' FROM orders WHERE order_number = '{}'",
        Difference::Surplus,
        "orders",
    ),
    wrong(
        Subject::Products,
        PRODUCT,
        "DELETE FROM products WHERE id = '{}'",
        Difference::Missing,
        "products",
    ),
    wrong(
        Subject::Products,
        PRODUCT,
        "UPDATE products SET content_hash = 1 WHERE id = '{}'",
        Difference::Detail,
        "products",
    ),
    wrong(
        Subject::Campaigns,
        "SELECT id FROM campaigns LIMIT 1",
        "DELETE FROM campaigns WHERE id = '{}'",
        Difference::Missing,
        "campaigns",
    ),
    wrong(
        Subject::Campaigns,
        "SELECT id FROM campaigns LIMIT 1",
        "UPDATE campaigns SET content_hash = 1 WHERE id = '{}'",
        Difference::Detail,
        "campaigns",
    ),
    wrong(
        Subject::Campaigns,
        "SELECT campaign_id || '/' || item_id FROM campaign_listings LIMIT 1",
        "UPDATE campaign_listings SET content_hash = 1 WHERE campaign_id || '/' || item_id = '{}'",
        Difference::Detail,
        "campaigns",
    ),
    wrong(
        Subject::Media,
        "SELECT id FROM media_images LIMIT 1",
        "DELETE FROM media_images WHERE id = '{}'",
        Difference::Missing,
        "media_images",
    ),
    wrong(
        Subject::Media,
        "SELECT id FROM media_images LIMIT 1",
        "UPDATE media_images SET content_hash = 1 WHERE id = '{}'",
        Difference::Detail,
        "media_images",
    ),
    wrong(
        Subject::Profile,
        "SELECT id FROM store_profiles",
        "UPDATE store_profiles SET content_hash = 1 WHERE id = '{}'",
        Difference::Detail,
        "profile",
    ),
];

#[tokio::test]
async fn each_row_that_is_wrong_is_found_and_named_and_a_deep_run_mends_it() {
    let rig = mirrored().await;
    for Wrong { subject, key, falsify, difference, mended_by } in WRONG {
        let key = rig.ask(key).await.pop().unwrap_or_else(|| panic!("{falsify}: no row"));
        rig.tables.execute(&falsify.replace("{}", &key)).await;
        let audit = rig.audited_one(subject).await;
        let [(name, found)] = &audit.differences[..] else { panic!("{falsify}: {audit:?}") };
        assert_eq!((audit.differing, *found), (1, difference), "{falsify}");
        assert!(name.contains(&key), "{falsify}: {name} is not {key}");
        let record = format!("SELECT CAST(differing AS TEXT) FROM audits WHERE resource = '{subject}'");
        assert_eq!(rig.ask(&record).await, ["1"], "{falsify}");
        let only = vec![mended_by.parse().unwrap()];
        let options = espelho_sync_engine::Options { only, deep: true, kind: "manual", ..Default::default() };
        rig.reconcile(&options).await;
        let audit = rig.audited_one(subject).await;
        assert_eq!((audit.differing, audit.problem), (0, None), "{falsify}: it is mended");
    }
}

/// An edit of the mirror beside the service: the fingerprints still fit. Subject, edited rows, how they are edited, what
/// shows the edit, and what is read again.
const EDITED: [(Subject, &str, &str, &str, &str); 12] = [
    (
        Subject::Orders,
        ORDER,
        "UPDATE orders SET status = 'edited', total_order = 0.01 WHERE order_number = '{}'",
        "SELECT status || ' ' || total_order FROM orders WHERE order_number = '{}'",
        "orders",
    ),
    (
        Subject::Orders,
        ORDER,
        "UPDATE orders SET ship_by = '2001-01-01T00:00:00.000000Z' WHERE order_number = '{}'",
        "SELECT CAST(ship_by AS TEXT) FROM orders WHERE order_number = '{}'",
        "orders",
    ),
    (
        Subject::Orders,
        ORDER,
        "UPDATE order_items SET quantity = 999, is_blocking_stock = NULL WHERE order_number = '{}'",
        "SELECT CAST(quantity AS TEXT) FROM order_items WHERE order_number = '{}'",
        "orders",
    ),
    (
        Subject::Orders,
        ORDER,
        "DELETE FROM order_items WHERE order_number = '{}'",
        "SELECT id FROM order_items WHERE order_number = '{}' AND gone_at IS NULL ORDER BY id",
        "orders",
    ),
    (
        Subject::Orders,
        ORDER,
        "INSERT INTO order_items (store, order_number, id, mirrored_at, raw) \
         SELECT store, order_number, 'z' || id, mirrored_at, raw FROM order_items WHERE order_number = '{}'",
        "SELECT id FROM order_items WHERE order_number = '{}' AND gone_at IS NULL ORDER BY id",
        "orders",
    ),
    (
        Subject::Orders,
        ORDER,
        "UPDATE shipments SET status = 'edited' WHERE order_number = '{}'",
        "SELECT status FROM shipments WHERE order_number = '{}'",
        "shipments",
    ),
    (
        Subject::Orders,
        ORDER,
        "UPDATE order_events SET created_at = '2001-01-01T00:00:00.000000Z' WHERE order_number = '{}'",
        "SELECT CAST(created_at AS TEXT) FROM order_events WHERE order_number = '{}' ORDER BY id",
        "events",
    ),
    (
        Subject::Products,
        PRODUCT,
        "UPDATE products SET price = 0, is_available_for_sale = NULL WHERE id = '{}'",
        "SELECT CAST(price AS TEXT) FROM products WHERE id = '{}'",
        "products",
    ),
    (
        Subject::Products,
        PRODUCT,
        "UPDATE product_stock SET quantity = 0 WHERE product_id = '{}'",
        "SELECT CAST(quantity AS TEXT) FROM product_stock WHERE product_id = '{}' ORDER BY location_id",
        "products",
    ),
    (
        Subject::Products,
        PRODUCT,
        "DELETE FROM product_prices WHERE product_id = '{}'",
        "SELECT CAST(value AS TEXT) FROM product_prices WHERE product_id = '{}' ORDER BY min_quantity",
        "products",
    ),
    (
        Subject::Campaigns,
        "SELECT id FROM campaigns LIMIT 1",
        "UPDATE campaigns SET ends_at = NULL WHERE id = '{}'",
        "SELECT CAST(ends_at AS TEXT) FROM campaigns WHERE id = '{}'",
        "campaigns",
    ),
    (
        Subject::Profile,
        "SELECT id FROM store_profiles",
        "UPDATE store_profiles SET name = 'edited' WHERE id = '{}'",
        "SELECT name FROM store_profiles WHERE id = '{}'",
        "profile",
    ),
];

async fn columns_that_somebody_edited_are_found_and_named_and_a_deep_run_mends_them(kind: Kind) {
    let rig = mirrored_on(kind).await;
    let feed = "SELECT CAST(max(seq) AS TEXT) FROM changes";
    for (subject, key, edit, shown, mended_by) in EDITED {
        let key = rig.ask(key).await.pop().unwrap_or_else(|| panic!("{edit}: no row"));
        let [edit, shown] = [edit, shown].map(|sql| sql.replace("{}", &key));
        let right = rig.ask(&shown).await;
        rig.tables.execute(&edit).await;
        assert_ne!(rig.ask(&shown).await, right, "{edit}");
        let audit = rig.audited_one(subject).await;
        let [(name, found)] = &audit.differences[..] else { panic!("{edit}: {audit:?}") };
        assert_eq!((audit.differing, *found), (1, Difference::Edited), "{edit}");
        assert!(name.contains(&key), "{edit}: {name} is not {key}");
        assert_ne!(rig.ask(&shown).await, right, "{edit}: an audit changes nothing");
        let only = vec![mended_by.parse().unwrap()];
        let options = espelho_sync_engine::Options { only, deep: true, kind: "manual", ..Default::default() };
        let report = rig.reconcile(&options).await;
        assert_eq!(report.resources[0].counts.changed, 1, "{edit}: {report:?}");
        assert_eq!(rig.ask(&shown).await, right, "{edit}: it is mended");
        let before = rig.ask(feed).await;
        rig.reconcile(&options).await;
        assert_eq!(rig.ask(feed).await, before, "{edit}: nothing is left to mend");
    }
    let audit = rig.audited(&[], 100).await;
    assert!(audit.is_clean(), "{audit:?}");
}

#[tokio::test]
async fn a_sub_resource_that_is_wrong_is_named_with_its_order() {
    let rig = mirrored().await;
    let number = rig.ask(ORDER).await.remove(0);
    for part in ["shipments", "tracking", "invoices", "events", "financial"] {
        let of_it = format!("WHERE order_number = '{number}' AND part = '{part}'");
        let hash = rig.ask(&format!("SELECT CAST(content_hash AS TEXT) FROM order_parts {of_it}")).await;
        rig.tables.execute(&format!("UPDATE order_parts SET content_hash = 1 {of_it}")).await;
        let audit = rig.audited_one(Subject::Orders).await;
        assert_eq!(audit.differences, [(format!("{number}/{part}"), Difference::Detail)]);
        rig.tables.execute(&format!("UPDATE order_parts SET content_hash = {} {of_it}", hash[0])).await;
        // A sub-resource that was never read is late, not different.
        rig.tables.execute(&format!("DELETE FROM order_parts {of_it}")).await;
        let audit = rig.audited_one(Subject::Orders).await;
        assert_eq!((audit.differing, audit.problem), (0, None), "{part}");
    }
}

#[tokio::test]
async fn what_the_marketplace_does_not_show_is_unreadable_and_what_it_denies_is_surplus() {
    let rig = mirrored().await;
    let number = rig.ask("SELECT order_number FROM orders ORDER BY order_number").await.remove(3);
    let path = format!("/orders/{number}");
    for (status, code, difference, open) in [
        // A row that could not be read raises no alarm: the mirror may be right.
        (422, "VALIDATION_ERROR", Difference::Unreadable, "0"),
        (404, "NOT_FOUND", Difference::Surplus, "1"),
        // A foreign 404 or 410 says nothing about the order, and ends no earlier difference.
        (404, "", Difference::Unreadable, "1"),
        (410, "", Difference::Unreadable, "1"),
    ] {
        rig.fault(&path, None, refused_with(status, code));
        let audit = rig.audited(&[Subject::Orders], 4).await.resources.remove(0);
        // Of four orders out of six, the fourth is one.
        let found: Vec<_> = audit.differences.into_iter().filter(|(key, _)| *key == number).collect();
        assert_eq!(found, [(number.clone(), difference)], "{status}");
        let record = "SELECT CAST(differing AS TEXT) FROM audits WHERE resource = 'orders'";
        assert_eq!(rig.ask(record).await, [open], "{status}");
        rig.control().faults().clear();
    }
}

// withstands: F134
#[tokio::test]
async fn a_difference_stays_until_an_audit_has_compared_its_row_and_it_agrees() {
    let rig = mirrored().await;
    let (order, product) = (rig.ask(ORDER).await.remove(0), rig.ask(PRODUCT).await.remove(0));
    let of_order = format!("WHERE order_number = '{order}'");
    let of_product = format!("WHERE id = '{product}'");
    let of_part = format!("WHERE order_number = '{order}' AND part = 'events'");
    let edited = [("orders", &of_order), ("products", &of_product), ("order_parts", &of_part)];
    let mut right = Vec::new();
    for (table, row) in edited {
        right.extend(rig.ask(&format!("SELECT CAST(content_hash AS TEXT) FROM {table} {row}")).await);
        rig.tables.execute(&format!("UPDATE {table} SET content_hash = 1 {row}")).await;
    }
    let listed = [Subject::Orders, Subject::Products];
    let record = "SELECT resource || ' ' || CAST(differing AS TEXT) FROM audits ORDER BY resource";
    for sample in [100, 0] {
        rig.audited(&listed, sample).await;
        assert_eq!(rig.ask(record).await, ["orders 2", "products 1"], "whatever the sample of {sample} is");
    }
    // The rows agree again without a reading: only an audit can find that.
    for ((table, row), hash) in edited.into_iter().zip(right) {
        rig.tables.execute(&format!("UPDATE {table} SET content_hash = {hash} {row}")).await;
    }
    rig.audited(&listed, 0).await;
    assert_eq!(rig.ask(record).await, ["orders 0", "products 0"]);
    assert!(rig.ask("SELECT key FROM audit_differences").await.is_empty());
}

#[tokio::test]
async fn what_was_never_mirrored_is_late_and_what_is_closed_is_no_difference() {
    let setup = Setup::on(Kind::Sqlite).with(|setup| setup.world.orders = 2);
    let mut rig = setup.start().await;
    rig.stop().await;
    let whole = [Subject::Campaigns, Subject::Media, Subject::Profile];
    for subject in whole {
        let audit = rig.audited_one(subject).await;
        assert!(audit.note.is_some() && audit.problem.is_none(), "{subject} is late: {audit:?}");
        assert_eq!((audit.listed, audit.differing), (0, 0));
    }
    assert!(rig.ask("SELECT resource FROM audits").await.is_empty(), "nothing was compared");
    rig.kept_in_step(only(&[], OFTEN), false).await;
    rig.stop().await;
    let routes = ["/discounts/campaigns", "/api/media", "/auth/session"];
    for (subject, route) in whole.into_iter().zip(routes) {
        assert!(rig.audited_one(subject).await.note.is_none(), "{subject} is mirrored now");
        rig.fault(route, None, refused_with(403, "FORBIDDEN"));
        let audit = rig.audited_one(subject).await;
        assert!(audit.note.is_some() && audit.problem.is_none(), "{subject} is closed: {audit:?}");
        rig.control().faults().clear();
        rig.fault(route, None, Fault::Html(503));
        let audit = rig.audited_one(subject).await;
        assert!(audit.problem.is_some() && audit.note.is_none(), "{subject} is down: {audit:?}");
        rig.control().faults().clear();
    }
}

#[tokio::test]
async fn an_audit_that_cannot_read_a_listing_says_so_and_goes_on_with_the_others() {
    let rig = mirrored().await;
    rig.fault("GET /api/v1/sellers/orders", None, Fault::Html(503));
    let audit = rig.audited(&[Subject::Orders, Subject::Products], 10).await;
    assert!(!audit.is_clean());
    let [orders, products] = &audit.resources[..] else { panic!("{audit:?}") };
    assert_eq!(orders.problem.as_ref().unwrap().trouble, Trouble::Failure);
    assert!(products.problem.is_none() && products.differing == 0, "{products:?}");
    let records = rig.ask("SELECT resource FROM audits").await;
    assert_eq!(records, ["products"], "what was not compared is not recorded");
}

#[tokio::test]
async fn an_audit_that_is_stopped_compares_no_further() {
    let rig = mirrored().await;
    let context = rig.parts.context(&rig.sandbox).await;
    context.stop.cancel();
    let only = vec![Subject::Orders, Subject::Products];
    let audit = rig.done(audit(&context, &AuditOptions { only, sample: 10 }, 0)).await;
    for resource in &audit.resources {
        let problem = resource.problem.as_ref().unwrap();
        assert_eq!((problem.trouble, &*problem.code), (Trouble::Stopped, "stopped"), "{resource:?}");
    }
}

#[tokio::test]
async fn the_daily_audit_counts_a_row_that_was_falsified_until_it_is_mended() {
    let mut rig = mirrored().await;
    let (order, product) = (rig.ask(ORDER).await.remove(0), rig.ask(PRODUCT).await.remove(0));
    for sql in [
        format!("UPDATE orders SET content_hash = 1 WHERE order_number = '{order}'"),
        format!("UPDATE products SET content_hash = 1 WHERE id = '{product}'"),
    ] {
        rig.tables.execute(&sql).await;
    }
    let outside = rig.keep_in_step(only(&[], OFTEN), false).await;
    rig.until("it is reconciled", async || outside.told().reconciled > 0).await;
    let records = "SELECT resource || ' ' || CAST(compared AS TEXT) || ' ' || CAST(differing AS TEXT) FROM audits \
                   ORDER BY resource";
    assert!(rig.ask(records).await.is_empty(), "the first is hours after the start");
    rig.leap(Duration::from_secs(7 * 3_600));
    rig.shown(records, |rows| rows == ["orders 6 1", "products 8 1"]).await;
    assert_eq!(outside.told().audited, [(6, 1), (8, 1)]);
    // What it found, a person mends: the audit changes no row.
    let wrong = "SELECT order_number FROM orders WHERE content_hash = 1";
    assert_eq!(rig.ask(wrong).await, [order]);
    rig.mirror_again_in(only(&[], OFTEN)).await;
    rig.leap(Duration::from_secs(24 * 3_600));
    rig.shown(records, |rows| rows == ["orders 6 0", "products 8 0"]).await;
    rig.stop().await;
}

#[tokio::test]
async fn a_daily_audit_that_meets_an_outage_ends_early_and_the_next_one_is_whole() {
    let mut rig = mirrored().await;
    let outside = rig.keep_in_step(only(&[Sweep::Enums], OFTEN), false).await;
    rig.until("it is reconciled", async || outside.told().reconciled > 0).await;
    rig.fault("/api/products/", None, Fault::Html(503));
    rig.leap(Duration::from_secs(7 * 3_600));
    let records = "SELECT resource FROM audits ORDER BY resource";
    rig.shown(records, |rows| rows == ["orders"]).await;
    rig.control().faults().clear();
    // The record is seen a moment before the engine waits for the next audit.
    rig.pass(Duration::ZERO).await;
    rig.leap(Duration::from_secs(24 * 3_600));
    rig.shown(records, |rows| rows == ["orders", "products"]).await;
    let store = rig.ask("SELECT DISTINCT store FROM audits").await;
    assert_eq!(store, [STORE]);
    rig.stop().await;
}
