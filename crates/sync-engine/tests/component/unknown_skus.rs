//! Rows of the ERP whose SKU the mirror does not know: when that is said, and what ends it.

use std::time::Duration;

use espelho_model::sync::{Resource, RunState};
use espelho_sandbox::Fault;
use espelho_sync_engine::{Options, plan::schedule::Sweep};
use serde_json::json;

use crate::support::{Goods, Kind, Rig, Setup, live::only, refused_with};

const OFTEN: Duration = Duration::from_secs(60);
const PRICES: &str = "SELECT state || ' ' || COALESCE(error_code, '') FROM erp_prices";
const STOCK: &str = "SELECT state || ' ' || COALESCE(error_code, '') FROM erp_stock";

fn run() -> Options {
    Options { kind: "manual", ..Options::default() }
}

async fn store(orders: usize, products: usize) -> Rig {
    let setup = Setup::on(Kind::Sqlite);
    setup.with(|setup| (setup.world.orders, setup.world.products) = (orders, products)).open().await
}

/// Creates a product in the marketplace's portal.
async fn portal_makes(rig: &Rig, sku: &str) {
    let body = json!({"name": "Caneca nova", "sku": sku, "base_unit": "un", "price_type": "default"});
    rig.truth.post("/api/products", &body).await;
}

/// A row that failed because its SKU was not known is carried out once its product is mirrored, though the ERP writes
/// nothing more.
#[tokio::test]
async fn a_row_whose_product_comes_later_is_carried_out_by_itself() {
    let mut rig = store(3, 6).await;
    rig.reconcile(&run()).await;
    let outside = rig.kept_in_step(only(&[Sweep::Counts, Sweep::Products], OFTEN), false).await;
    rig.set_price("NOVA-1", 1, "19.90").await;
    rig.set_price("NOVA-2", 1, "29.90").await;
    rig.shown(PRICES, |rows| rows == ["failed unknown_sku", "failed unknown_sku"]).await;
    // Nothing is written, and nothing is new: it stays as it is.
    rig.pass(Duration::from_secs(600)).await;
    assert_eq!(rig.ask(PRICES).await, ["failed unknown_sku", "failed unknown_sku"]);
    portal_makes(&rig, "NOVA-1").await;
    let of_first = "SELECT state FROM erp_prices WHERE sku = 'NOVA-1'";
    rig.shown(of_first, |rows| rows == ["done"]).await;
    assert_eq!(
        rig.ask("SELECT error_code FROM erp_prices").await,
        ["unknown_sku"],
        "the other one is still unknown"
    );
    // A reconciliation that somebody asks for brings it as well.
    portal_makes(&rig, "NOVA-2").await;
    rig.request_reconciliation(&outside, run()).await;
    rig.shown("SELECT state FROM erp_prices", |rows| rows == ["done", "done"]).await;
    rig.stop().await;
}

#[tokio::test]
async fn a_row_whose_product_a_command_creates_is_carried_out_after_it() {
    let mut rig = store(3, 6).await;
    rig.reconcile(&run()).await;
    rig.kept_in_step(only(&[], OFTEN), false).await;
    rig.set_price("NOVA-3", 1, "19.90").await;
    rig.shown(PRICES, |rows| rows == ["failed unknown_sku"]).await;
    let made =
        rig.command("product.create", "NOVA-3", &json!({"name": "Caneca nova", "base_unit": "un"})).await;
    assert_eq!(made[0], "done", "{made:?}");
    rig.shown("SELECT state FROM erp_prices", |rows| rows == ["done"]).await;
    rig.stop().await;
}

#[tokio::test]
async fn a_row_whose_product_was_gone_and_comes_back_is_carried_out() {
    let mut rig = store(3, 6).await;
    rig.reconcile(&run()).await;
    let goods = rig.goods().await.remove(0);
    let gone = format!("UPDATE products SET gone_at = mirrored_at WHERE id = '{}'", goods.id);
    rig.tables.execute(&gone).await;
    rig.kept_in_step(only(&[], OFTEN), false).await;
    rig.stop().await;
    rig.tables.execute(&gone).await;
    let outside = rig.keep_in_step(only(&[Sweep::Products], OFTEN), false).await;
    rig.set_stock(&goods, "3").await;
    rig.shown(STOCK, |rows| rows == ["failed unknown_sku"] || rows == ["done "]).await;
    rig.request_reconciliation(&outside, Options { deep: true, ..run() }).await;
    rig.shown(STOCK, |rows| rows == ["done "]).await;
    assert_eq!(rig.stock_of(&goods).await, 3);
    rig.stop().await;
}

/// What was read before the ERP wrote, and what is then said of a SKU that the mirror does not have.
#[tokio::test]
async fn a_sku_is_said_to_be_unknown_only_after_a_complete_pass_over_the_products() {
    type Before = fn(&Rig, &str) -> Options;
    let cases: [(&str, Before, RunState, &str); 6] = [
        ("everything", |_, _| run(), RunState::Complete, "failed"),
        (
            "products alone",
            |_, _| Options { only: vec![Resource::Products.into()], ..run() },
            RunState::Complete,
            "failed",
        ),
        (
            "orders alone",
            |_, _| Options { only: vec![Resource::Orders.into()], ..run() },
            RunState::Complete,
            "waiting",
        ),
        (
            "all products but one",
            |rig, product| {
                rig.fault(&format!("/products/{product}"), None, refused_with(422, "VALIDATION_ERROR"));
                run()
            },
            RunState::Partial,
            "waiting",
        ),
        (
            "no products, because their listing is down",
            |rig, _| {
                rig.fault("GET /api/products", None, Fault::Html(503));
                run()
            },
            RunState::Partial,
            "waiting",
        ),
        (
            "all products, and not all orders",
            |rig, _| {
                rig.fault("GET /api/v1/sellers/orders", None, Fault::Html(503));
                run()
            },
            RunState::Partial,
            "failed",
        ),
    ];
    for (what, before, run_state, expected) in cases {
        let mut rig = store(3, 6).await;
        let product = rig.listing("/api/products?per_page=100").await.remove(2);
        let id = crate::support::truth::text(&product["id"]);
        let options = before(&rig, &id);
        assert_eq!(rig.reconcile(&options).await.state, run_state, "{what}");
        rig.control().faults().clear();
        rig.start().await;
        rig.set_price("NADA-9", 1, "19.90").await;
        let state = format!("{expected} unknown_sku");
        rig.shown(PRICES, |rows| rows == [state.as_str()]).await;
        rig.pass(Duration::from_secs(60)).await;
        assert_eq!(rig.ask(PRICES).await, [state], "{what}: it stays so");
        assert!(rig.writes("/prices").is_empty(), "{what}");
        rig.stop().await;
    }
}

#[tokio::test]
async fn a_row_that_waits_for_the_first_complete_pass_is_carried_out_after_it() {
    let mut rig = store(3, 6).await;
    let listed = rig.listing("/api/products?per_page=100").await;
    let product = crate::support::truth::text(&listed[2]["id"]);
    rig.fault(&format!("/products/{product}"), None, refused_with(422, "VALIDATION_ERROR"));
    assert_eq!(rig.reconcile(&run()).await.state, RunState::Partial);
    rig.start().await;
    let sku = listed[2]["sku"].as_str().unwrap().to_owned();
    let level = rig.goods().await.remove(0);
    rig.set_stock(&Goods { sku: sku.clone(), ..level }, "1").await;
    rig.set_stock(&Goods { sku: "NADA-9".into(), ..rig.goods().await.remove(0) }, "1").await;
    rig.shown(STOCK, |rows| rows == ["waiting unknown_sku", "waiting unknown_sku"]).await;
    rig.control().faults().clear();
    rig.mirror_again().await;
    let known = format!("SELECT state || ' ' || COALESCE(error_code, '') FROM erp_stock WHERE sku = '{sku}'");
    rig.shown(&known, |rows| !rows[0].contains("unknown_sku")).await;
    let unknown = "SELECT state || ' ' || error_code FROM erp_stock WHERE sku = 'NADA-9'";
    rig.shown(unknown, |rows| rows == ["failed unknown_sku"]).await;
    rig.stop().await;
}
