//! Answers that lie: a field that is null, absent, of another type, or from before.

use std::time::Duration;

use espelho_model::{
    StoreKey,
    sync::{Resource, Target},
};
use espelho_sandbox::{CampaignDiscount, Fault, NewCampaign, NewOrder, Spoil};
use espelho_store::IntentKind;
use espelho_sync_engine::{
    Options, Problem,
    plan::policy::{Joining, Policy},
    push::preview,
};
use rust_decimal::Decimal;
use serde_json::{Value, json};

use crate::support::{Decision, Goods, Kind, Rig, STORE, Setup, cut_after, on_both_databases, truth::text};

on_both_databases![
    a_field_that_lies_costs_its_own_row_at_most_and_the_row_heals_when_the_lie_ends,
    a_movement_waits_until_the_marketplace_tells_the_quantity,
    a_sent_level_whose_quantity_is_not_told_is_neither_done_nor_sent_again,
    a_listing_whose_price_fell_after_the_policy_saw_it_does_not_join,
    an_order_that_moved_is_moved_once_although_the_answer_shows_its_status_from_before,
];

const ORDERS: &str = "GET /api/v1/sellers/orders";
const ORDER: &str = "GET /api/v1/sellers/orders/{id}";
const PRODUCTS: &str = "GET /api/products";
const PRODUCT: &str = "GET /api/products/{id}";

/// The fate of a row with a field that lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It is mirrored, without what the field tells.
    Mirrored,
    /// It is named as an error.
    Failed,
    /// It is not mirrored, and nothing names it.
    Unseen,
}

use Fate::{Failed, Mirrored, Unseen};

/// A route, a place in its answer, the fate of the row where nothing is there, JSON of another type, and the fate
/// with that.
type Field = (&'static str, &'static str, Fate, &'static str, Fate);

const OF_ORDERS: [Field; 14] = [
    (ORDER, "/data/order_number", Failed, "{}", Failed),
    (ORDER, "/data/status", Failed, "3", Failed),
    (ORDER, "/data/items", Failed, r#""nada""#, Failed),
    (ORDER, "/data/items/*/id", Mirrored, "{}", Failed),
    (ORDER, "/data/items/*/quantity", Mirrored, r#""duas""#, Failed),
    (ORDER, "/data/items/*/unit_price", Mirrored, r#""12,50""#, Failed),
    (ORDER, "/data/items_count", Mirrored, "[]", Mirrored),
    (ORDER, "/data/totals", Mirrored, "7", Mirrored),
    (ORDER, "/data/totals/order", Mirrored, r#""a combinar""#, Mirrored),
    (ORDER, "/data/customer", Mirrored, "3", Mirrored),
    (ORDER, "/data/created_at", Mirrored, r#""ontem""#, Mirrored),
    (ORDERS, "/data/*/order_number", Unseen, "{}", Unseen),
    (ORDERS, "/data/*/status", Mirrored, "[]", Mirrored),
    (ORDERS, "/data/*/updated_at", Mirrored, "false", Mirrored),
];

const OF_PRODUCTS: [Field; 14] = [
    (PRODUCT, "/data/product", Failed, r#""nada""#, Failed),
    (PRODUCT, "/data/product/id", Failed, "{}", Failed),
    (PRODUCT, "/data/product/sku", Mirrored, "[]", Mirrored),
    (PRODUCT, "/data/product/name", Mirrored, "{}", Mirrored),
    (PRODUCT, "/data/product/base_unit", Mirrored, "[]", Mirrored),
    (PRODUCT, "/data/product/price", Mirrored, r#""caro""#, Mirrored),
    (PRODUCT, "/data/prices", Mirrored, r#""nada""#, Failed),
    (PRODUCT, "/data/prices/*/min_quantity", Mirrored, r#""muitas""#, Mirrored),
    (PRODUCT, "/data/prices/*/value", Mirrored, "{}", Mirrored),
    (PRODUCT, "/data/stock", Mirrored, "7", Failed),
    (PRODUCT, "/data/stock/*/location_stock", Mirrored, "[]", Mirrored),
    (PRODUCT, "/data/stock/*/quantity", Mirrored, r#""muitos""#, Mirrored),
    (PRODUCTS, "/data/*/id", Unseen, "{}", Unseen),
    (PRODUCTS, "/data/*/sku", Mirrored, "9", Mirrored),
];

/// A lie about one row.
struct Lie {
    route: &'static str,
    at: &'static str,
    value: Option<Value>,
    key: String,
    fate: Fate,
}

/// Three lies for each field, each about a row of its own: null, absent, and of another type.
fn lies(fields: &[Field], keys: &[String]) -> Vec<Lie> {
    let mut keys = keys.iter();
    let mut lies = Vec::new();
    for &(route, at, missing, other, fate) in fields {
        let other: Value = serde_json::from_str(other).unwrap();
        for (value, fate) in [(Some(Value::Null), missing), (None, missing), (Some(other), fate)] {
            let key = keys.next().expect("there is a row for each lie").clone();
            lies.push(Lie { route, at, value, key, fate });
        }
    }
    lies
}

/// Lies about the lines of new orders with two of them: none, two of one id, negative quantities.
fn lies_about_lines(rig: &Rig, products: &[Value]) -> Vec<Lie> {
    let is_on_sale = |row: &&Value| {
        row["is_available_for_sale"] == true && row["available_quantity"].as_f64().is_some_and(|n| n >= 5.0)
    };
    let on_sale = products.iter().filter(is_on_sale).take(2);
    let lines: Vec<(String, u32)> = on_sale.map(|row| (text(&row["sku"]), 1)).collect();
    let mut lies = Vec::new();
    for (at, value) in
        [("/data/items", json!([])), ("/data/items/*/id", json!(5)), ("/data/items/*/quantity", json!(-3))]
    {
        let order = NewOrder { lines: lines.clone(), ..NewOrder::of("standard") };
        let key = rig.control().orders().place(&rig.key(), order);
        assert!(!key.is_empty(), "{lines:?} cannot be bought");
        lies.push(Lie { route: ORDER, at, value: Some(value), key, fate: Failed });
    }
    lies
}

impl Lie {
    /// Begins to lie. A place that the answer does not have would be no lie.
    async fn begin(&self, rig: &Rig) {
        let path = match self.route {
            ORDERS => "/api/v1/sellers/orders?limit=100".to_owned(),
            ORDER => format!("/api/v1/sellers/orders/{}", self.key),
            PRODUCTS => "/api/products?per_page=100".to_owned(),
            _ => format!("/api/products/{}", self.key),
        };
        let before = rig.truth.data(&path).await;
        rig.lie(self.route, self.at, self.value.clone(), &self.key);
        assert_ne!(rig.truth.data(&path).await, before, "{} of {} is not there", self.at, self.key);
    }
}

fn run(deep: bool) -> Options {
    let only = vec![Resource::Orders.into(), Resource::Products.into()];
    Options { only, deep, kind: "manual", ..Options::default() }
}

/// Returns one field of each row.
fn column(rows: &[Value], name: &str) -> Vec<String> {
    rows.iter().map(|row| text(&row[name])).collect()
}

const FAILED: &str = "SELECT key || ' ' || code FROM sync_failures ORDER BY key";

async fn a_field_that_lies_costs_its_own_row_at_most_and_the_row_heals_when_the_lie_ends(kind: Kind) {
    let setup = Setup::on(kind).with(|setup| (setup.world.orders, setup.world.products) = (50, 60));
    let rig = setup.open().await;
    let orders = rig.listing("/api/v1/sellers/orders?limit=100").await;
    let products = rig.listing("/api/products?per_page=100").await;
    // A few products have no price that could lie.
    let priced: Vec<Value> = products.iter().filter(|row| !row["price"].is_null()).cloned().collect();
    let mut told = lies(&OF_ORDERS, &column(&orders, "order_number"));
    told.extend(lies(&OF_PRODUCTS, &column(&priced, "id")));
    told.extend(lies_about_lines(&rig, &priced));
    for lie in &told {
        lie.begin(&rig).await;
    }
    let all = orders.len() + 3 + products.len();

    let report = rig.reconcile(&run(false)).await;
    // The rows of a listing whose number cannot be read are missed.
    let is_incomplete =
        |problem: &Option<Problem>| problem.as_ref().is_some_and(|of| of.code == "incomplete");
    assert!(report.resources.iter().all(|resource| is_incomplete(&resource.problem)), "{report:?}");
    let mirrored = "SELECT order_number FROM orders WHERE gone_at IS NULL UNION ALL \
        SELECT id FROM products WHERE gone_at IS NULL";
    let (rows, failed) = (rig.ask(mirrored).await, rig.ask(FAILED).await);
    for Lie { at, value, key, fate, .. } in &told {
        let found = match (rows.contains(key), failed.contains(&format!("{key} unexpected"))) {
            (true, false) => Some(Mirrored),
            (false, true) => Some(Failed),
            (false, false) => Some(Unseen),
            (true, true) => None,
        };
        assert_eq!(found, Some(*fate), "{at} of {key} is {value:?}: {failed:?}");
    }
    let lost = told.iter().filter(|lie| lie.fate != Mirrored).count();
    assert_eq!(rows.len(), all - lost, "no other row is missing");

    rig.control().faults().clear();
    rig.reconcile(&run(false)).await;
    assert_eq!((rig.ask(FAILED).await, rig.ask(mirrored).await.len()), (Vec::new(), all));
    // A listing does not show that the fields of a mirrored row are there again.
    rig.reconcile(&run(true)).await;
    rig.orders_are_the_marketplaces().await;
    rig.products_are_the_marketplaces().await;
}

#[tokio::test]
async fn an_order_whose_detail_lies_keeps_its_rows_and_is_read_again_until_it_is_true() {
    let setup = Setup::on(Kind::Sqlite).with(|setup| (setup.world.orders, setup.world.products) = (4, 3));
    let rig = setup.open().await;
    let number = rig.control().orders().insert(&rig.key());
    rig.reconcile(&run(false)).await;
    let rows = "SELECT order_number || ' ' || COALESCE(status, '') FROM orders WHERE gone_at IS NULL UNION ALL \
        SELECT order_number || ' ' || id FROM order_items WHERE gone_at IS NULL ORDER BY 1";
    let before = rig.ask(rows).await;
    assert!(rig.control().orders().set_status(&rig.key(), &number, "preparing"));
    for (at, value) in [
        ("/data/items", Some(Value::Null)),
        ("/data/items", None),
        ("/data/items", Some(json!([]))),
        ("/data/status", Some(json!({"value": "paid"}))),
        ("/data/status", Some(Value::Null)),
        ("/data/totals", Some(Value::Null)),
    ] {
        rig.lie(ORDER, at, value.clone(), &number);
        rig.reconcile(&run(false)).await;
        assert_eq!(rig.ask(rows).await, before, "{at}: {value:?}");
        assert_eq!(rig.ask(FAILED).await, [format!("{number} unexpected")], "{at}: {value:?}");
        rig.control().faults().clear();
    }
    rig.reconcile(&run(false)).await;
    assert!(rig.ask(FAILED).await.is_empty());
    rig.orders_are_the_marketplaces().await;
}

const LEVELS: &str = "SELECT state FROM erp_stock ORDER BY sku";

#[tokio::test]
async fn two_products_of_one_sku_are_named_and_what_the_erp_writes_for_it_waits() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    rig.stop().await;
    let goods = rig.goods().await;
    let (one, other) = (&goods[0], &goods[1]);
    rig.lie(PRODUCT, "/data/product/sku", Some(json!(one.sku)), &other.id);
    rig.reconcile(&run(true)).await;
    let mut ids = [one.id.clone(), other.id.clone()];
    ids.sort();
    let shared = "SELECT key FROM v_errors WHERE code = 'shared_sku' ORDER BY key";
    assert_eq!(rig.ask(shared).await, ids);
    // An earlier version wrote such products without a note, and a note of old may have no cause any more.
    rig.tables.execute("DELETE FROM shared_skus").await;
    let old = format!("INSERT INTO shared_skus (store, sku) VALUES ('{STORE}', 'of old')");
    rig.tables.execute(&old).await;
    assert!(rig.ask(shared).await.is_empty());
    rig.reconcile(&run(false)).await;
    assert_eq!(rig.ask("SELECT sku FROM shared_skus").await, [one.sku.as_str()]);
    assert_eq!(rig.ask(shared).await, ids);
    rig.start().await;
    rig.set_stock(one, "3").await;
    let levels = "SELECT state || ' ' || COALESCE(error_code, '') FROM erp_stock";
    rig.shown(levels, |rows| rows == ["waiting shared_sku"]).await;
    assert!(rig.writes("/stock").is_empty(), "nobody knows which of them is meant");
    rig.stop().await;
    rig.control().faults().clear();
    rig.reconcile(&run(true)).await;
    assert!(rig.ask(shared).await.is_empty());
    rig.start().await;
    rig.shown(LEVELS, |states| states == ["done"]).await;
    assert_eq!((rig.stock_of(one).await, rig.writes("/stock").len()), (3, 1));
    rig.stop().await;
}

#[tokio::test]
async fn nothing_is_planned_for_a_sku_that_two_products_share() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    rig.stop().await;
    let goods = rig.goods().await;
    let (one, other) = (&goods[0], &goods[1]);
    rig.set_stock(one, "3").await;
    rig.set_price(&one.sku, 1, "12.50").await;
    let movement = json!({"location_id": one.location, "delta": 1});
    rig.give("stock.adjust", &one.sku, &movement).await;
    for kind in ["price.delete_tier", "product.update", "gallery.add", "order.notes"] {
        rig.give(kind, &one.sku, &json!({})).await;
    }
    let store = StoreKey::new(STORE).unwrap();
    for is_shared in [false, true] {
        let planned = preview(&rig.parts.store, &store, &rig.push).await.unwrap();
        let waits = planned.iter().map(|call| {
            let waits = call.note.as_ref().is_some_and(|note| note.id() == "push-shared-sku");
            assert!(!waits || (call.requests == 0 && call.calls.is_empty()), "{call:?}");
            waits
        });
        // The last is a command on an order, whatever the order's number looks like.
        let expected = [is_shared, is_shared, is_shared, is_shared, is_shared, is_shared, false];
        assert_eq!(waits.collect::<Vec<_>>(), expected, "{planned:?}");
        rig.lie(PRODUCT, "/data/product/sku", Some(json!(one.sku)), &other.id);
        rig.reconcile(&run(true)).await;
    }
}

#[tokio::test]
async fn a_sent_level_is_verified_at_the_product_that_it_went_to_and_at_no_other_of_its_sku() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    // The row of the ERP meets the products in the order of their rows: the first is the one that it did not go to.
    let rows = rig.ask("SELECT id FROM products ORDER BY rowid").await;
    let mut goods = rig.goods().await;
    goods.sort_by_key(|goods| rows.iter().position(|id| *id == goods.id));
    let other = goods.remove(0);
    let fits = |goods: &Goods| goods.location == other.location && goods.quantity != other.quantity;
    let one = goods.into_iter().find(fits).unwrap();
    rig.lie(PRODUCT, QUANTITIES, Some(Value::Null), &one.id);
    rig.set_stock(&one, &other.quantity.to_string()).await;
    rig.until("it was sent", async || rig.writes("/stock").len() == 1).await;
    rig.shown(LEVELS, |states| states == ["sending"]).await;
    rig.stop().await;
    // Now the other one shows what the first was to show, and the first does not.
    rig.control().faults().clear();
    assert!(rig.control().products().set_stock(&rig.key(), &one.id, other.quantity + 5));
    rig.lie(PRODUCT, "/data/product/sku", Some(json!(one.sku)), &other.id);
    rig.reconcile(&run(true)).await;
    rig.start().await;
    rig.shown(LEVELS, |states| states == ["failed"]).await;
    assert_eq!(rig.ask("SELECT error_code FROM erp_stock").await, ["stock_conflict"]);
    assert_eq!(rig.writes("/stock").len(), 1);
    rig.stop().await;
}

#[tokio::test]
async fn a_sent_level_whose_sku_went_to_another_product_is_set_there() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let mut goods = rig.goods().await;
    let one = goods.remove(0);
    let other = goods.into_iter().find(|goods| goods.location == one.location).unwrap();
    rig.lie(PRODUCT, QUANTITIES, Some(Value::Null), &one.id);
    let desired = one.quantity + other.quantity + 1;
    rig.set_stock(&one, &desired.to_string()).await;
    rig.until("it was sent", async || rig.writes("/stock").len() == 1).await;
    rig.shown(LEVELS, |states| states == ["sending"]).await;
    rig.stop().await;
    rig.control().faults().clear();
    rig.lie(PRODUCT, "/data/product/sku", Some(json!(one.sku)), &other.id);
    rig.lie(PRODUCT, "/data/product/sku", Some(json!("ANOTHER")), &one.id);
    rig.reconcile(&run(true)).await;
    rig.start().await;
    rig.shown(LEVELS, |states| states == ["done"]).await;
    assert_eq!((rig.stock_of(&other).await, rig.writes("/stock").len()), (desired, 2));
    rig.stop().await;
}

/// The place of the quantities in a product's detail.
const QUANTITIES: &str = "/data/stock/*/quantity";

async fn a_movement_waits_until_the_marketplace_tells_the_quantity(kind: Kind) {
    let mut rig = Rig::on(kind).await;
    let goods = rig.goods().await.swap_remove(0);
    rig.lie(PRODUCT, QUANTITIES, Some(Value::Null), &goods.id);
    let data = json!({"location_id": goods.location, "delta": 3});
    let id = rig.give("stock.adjust", &goods.sku, &data).await;
    let waits = rig.outcome(id, |state| state == "waiting").await;
    assert!(waits[1] == "unexpected" && waits[2].contains(&goods.location), "{waits:?}");
    assert!(rig.writes("/stock").is_empty(), "nothing could prove later that it happened");
    rig.control().faults().clear();
    // A start looks at once at what waits, also where time is the machine's.
    rig.stop().await;
    rig.start().await;
    assert_eq!(rig.outcome(id, |state| state == "done").await[0], "done");
    assert_eq!((rig.stock_of(&goods).await, rig.writes("/stock").len()), (goods.quantity + 3, 1));
    rig.stop().await;
}

async fn a_sent_level_whose_quantity_is_not_told_is_neither_done_nor_sent_again(kind: Kind) {
    let mut rig = Rig::on(kind).await;
    let goods = rig.goods().await.swap_remove(0);
    rig.lie(PRODUCT, QUANTITIES, Some(Value::Null), &goods.id);
    rig.set_stock(&goods, "3").await;
    rig.shown(LEVELS, |states| states == ["sending"]).await;
    rig.until("it was sent", async || rig.writes("/stock").len() == 1).await;
    rig.stop().await;
    rig.control().faults().clear();
    rig.start().await;
    rig.shown(LEVELS, |states| states == ["done"]).await;
    assert_eq!((rig.stock_of(&goods).await, rig.writes("/stock").len()), (3, 1));
    rig.stop().await;
}

#[tokio::test]
async fn a_sent_level_whose_quantity_is_never_told_is_left_to_a_person_after_a_minute() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await.swap_remove(0);
    rig.lie(PRODUCT, QUANTITIES, Some(Value::Null), &goods.id);
    rig.set_stock(&goods, "3").await;
    rig.until("it was sent", async || rig.writes("/stock").len() == 1).await;
    rig.shown(LEVELS, |states| states == ["sending"]).await;
    rig.pass(Duration::from_secs(20)).await;
    assert_eq!(rig.ask(LEVELS).await, ["sending"]);
    rig.shown(LEVELS, |states| states == ["failed"]).await;
    assert_eq!(rig.ask("SELECT error_code FROM erp_stock").await, ["unprovable"]);
    assert_eq!(rig.writes("/stock").len(), 1);
    // It was set, and a person sees it once the marketplace tells it.
    rig.control().faults().clear();
    let key = format!("{}/{}", goods.sku, goods.location);
    rig.decide(IntentKind::Stock, &key, Decision::Retry).await;
    rig.shown(LEVELS, |states| states == ["done"]).await;
    assert_eq!((rig.stock_of(&goods).await, rig.writes("/stock").len()), (3, 1));
    rig.stop().await;
}

#[tokio::test]
async fn a_level_that_the_mirror_shows_is_sent_where_its_quantity_is_told_no_more() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await.swap_remove(0);
    rig.pass(Duration::from_secs(60)).await;
    rig.lie(PRODUCT, QUANTITIES, Some(Value::Null), &goods.id);
    rig.set_stock(&goods, &goods.quantity.to_string()).await;
    rig.until("it was sent", async || rig.writes("/stock").len() == 1).await;
    rig.control().faults().clear();
    rig.shown(LEVELS, |states| states == ["done"]).await;
    assert_eq!((rig.stock_of(&goods).await, rig.writes("/stock").len()), (goods.quantity, 1));
    rig.stop().await;
}

#[tokio::test]
async fn a_level_whose_answer_is_lost_and_whose_quantity_is_never_told_is_not_sent_again() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await.swap_remove(0);
    rig.lie(PRODUCT, QUANTITIES, Some(Value::Null), &goods.id);
    rig.fault("POST /api/products/{id}/stock", 1, cut_after());
    rig.set_stock(&goods, "3").await;
    let is_left = |states: &[String]| states == ["failed"] || states == ["doubtful"];
    rig.shown(LEVELS, is_left).await;
    rig.pass(Duration::from_secs(120)).await;
    assert_eq!(rig.ask("SELECT error_code FROM erp_stock").await, ["unprovable"]);
    assert_eq!(rig.journal.ask("SELECT state FROM effects").await, ["doubtful"]);
    assert_eq!(rig.writes("/stock").len(), 1);
    rig.stop().await;
}

async fn a_listing_whose_price_fell_after_the_policy_saw_it_does_not_join(kind: Kind) {
    let campaigns =
        Policy { joining: Joining::Joins, max_discount_percent: Decimal::from(50), ..Policy::default() };
    let mut rig = Setup::on(kind).with(|setup| setup.push.campaigns = campaigns).start().await;
    rig.stop().await;
    let discount = CampaignDiscount { kind: "percentage".into(), value: "10".into() };
    let new = NewCampaign { discount: Some(discount), ..NewCampaign::default() };
    let campaign = rig.control().campaigns().create(&new).unwrap();
    let only = vec![Target::Campaigns];
    rig.reconcile(&Options { only, kind: "manual", ..Options::default() }).await;
    let joinable = format!(
        "SELECT item_id FROM campaign_listings WHERE campaign_id = '{campaign}' AND discount_preview IS NOT NULL \
         ORDER BY item_id"
    );
    let listings = rig.ask(&joinable).await;
    let (fell, stayed) = (&listings[0], &listings[1..]);
    assert!(!stayed.is_empty(), "{listings:?}");
    // The price falls between the reading of the policy and the request.
    let eligible = format!("/campaigns/{campaign}/eligible-products");
    rig.lie(&eligible, "/data/data/*/discount_preview", Some(json!("0.50")), fell);
    rig.start().await;
    let states =
        format!("SELECT state || ' ' || COALESCE(error_code, '') FROM commands WHERE key = '{campaign}'");
    rig.shown(&states, |states| states == ["failed campaign_price_fell"]).await;
    let words = rig.ask(&format!("SELECT error FROM commands WHERE key = '{campaign}'")).await.remove(0);
    assert!(words.contains(fell.as_str()) && !words.contains(stayed[0].as_str()), "{words}");
    let enrolled = enrolled(&rig, campaign).await;
    assert!(!enrolled.contains(fell) && stayed.iter().all(|one| enrolled.contains(one)), "{enrolled:?}");
    let joins = format!("/campaigns/{campaign}/opt-in");
    assert_eq!(rig.writes(&joins).len(), 1);
    // The price is as it was: a person lets it join, which the policy does not do anew by itself.
    rig.control().faults().clear();
    let id =
        rig.ask(&format!("SELECT CAST(id AS TEXT) FROM commands WHERE key = '{campaign}'")).await.remove(0);
    rig.decide(IntentKind::Command, &id, Decision::Retry).await;
    rig.shown(&states, |states| states == ["done "]).await;
    assert_eq!((self::enrolled(&rig, campaign).await.len(), rig.writes(&joins).len()), (listings.len(), 2));
    rig.stop().await;
}

async fn enrolled(rig: &Rig, campaign: u64) -> Vec<String> {
    let path = format!("/api/seller/discounts/campaigns/{campaign}/my-products?per_page=100");
    column(rig.truth.data(&path).await["data"].as_array().unwrap(), "publication_id")
}

async fn an_order_that_moved_is_moved_once_although_the_answer_shows_its_status_from_before(kind: Kind) {
    let mut rig = Rig::on(kind).await;
    let sku = rig.goods().await.swap_remove(0).sku;
    for lie in [Some(json!("paid")), Some(Value::Null), None, Some(json!({"value": "preparing"}))] {
        let number = rig.sell("standard", &sku);
        let spoil = Spoil { at: "/data/status".into(), value: lie.clone(), key: None };
        rig.fault("POST /api/v1/sellers/orders/{id}/status", 1, Fault::Spoil(spoil));
        let answer = rig.command("order.status", &number, &json!({"status": "preparing"})).await;
        assert_eq!(answer[0], "done", "{lie:?}: {answer:?}");
        assert!(!rig.control().faults().has_any(), "{lie:?}: the answer did not lie");
        assert_eq!(rig.writes(&format!("{number}/status")).len(), 1, "{lie:?}");
    }
    rig.stop().await;
}

#[tokio::test]
async fn a_change_that_a_reading_shows_only_seconds_later_is_done_and_sent_once() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await.swap_remove(0);
    let (value, key) = (Some(json!("De antes")), Some(goods.id.clone()));
    let spoil = Spoil { at: "/data/product/name".into(), value, key };
    // The reading before it is sent, and two of those after it.
    rig.fault(PRODUCT, 3, Fault::Spoil(spoil));
    let path = format!("/api/products/{}", goods.id);
    let id = rig.give("product.update", &goods.sku, &json!({"name": "Outro nome"})).await;
    let over = rig.outcome(id, |state| state == "done" || state == "failed").await;
    assert_eq!((over[0].as_str(), rig.writes(&path).len()), ("done", 1), "{over:?}");
    assert!(!rig.control().faults().has_any(), "no reading was late");
    rig.stop().await;
}

#[tokio::test]
async fn a_price_that_a_reading_shows_only_seconds_later_is_as_it_was_sent_and_sent_once() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let product = "SELECT id || '|' || sku || '|' || CAST(price AS TEXT) AS p FROM products \
                   WHERE price_type = 'default' AND price > 1 ORDER BY sku";
    let row = rig.ask(product).await.swap_remove(0);
    let [id, sku, price] = row.split('|').collect::<Vec<_>>()[..] else { panic!("{row}") };
    let price: f64 = price.parse().unwrap();
    rig.lie(PRODUCT, "/data/prices/*/value", Some(json!(price)), id);
    rig.set_price(sku, 1, &format!("{:.2}", price * 1.1)).await;
    let shown = "SELECT state AS s FROM erp_prices";
    rig.until("it was sent", async || !rig.writes("/prices").is_empty()).await;
    rig.shown(shown, |states| states == ["sending"]).await;
    rig.control().faults().clear();
    rig.shown(shown, |states| states == ["done"]).await;
    assert_eq!(rig.ask("SELECT COALESCE(error_code, '') AS c FROM erp_prices").await, [""]);
    assert_eq!(rig.writes("/prices").len(), 1);
    rig.stop().await;
}
