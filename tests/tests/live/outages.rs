//! The state of sweeps while the marketplace is unavailable, how soon its return is noticed, and a corrected
//! password.

use std::time::Duration;

use espelho_sandbox::{DeliveryFault, Fault, FaultRule, NewOrder, Options};
use espelho_tests::{Installation, Kind, installation::STORE, on_both_databases, sandbox_of, until};

use crate::{comparison, keeping::Keeping, sweeping::rarely_but};

const SESSION: &str = "GET /api/stores/auth/session";
const PRODUCT: &str = "GET /api/products/{id}";

on_both_databases![
    while_the_marketplace_is_gone_no_sweep_has_succeeded,
    the_end_of_an_outage_is_noticed_though_no_sweep_is_due,
    a_corrected_password_file_is_noticed_without_a_reload,
    reserved_stock_is_fresh_within_seconds_of_a_sale,
    many_sales_of_one_product_cost_a_few_readings_of_it,
    a_resync_is_hardly_slowed_by_refusals_among_answers,
];

/// Makes every request fail in this way until the faults are cleared.
fn everywhere(keeping: &Keeping, kind: Fault) {
    keeping.control().faults().add(FaultRule { route: String::new(), times: None, kind });
}

// withstands: F135
async fn while_the_marketplace_is_gone_no_sweep_has_succeeded(kind: Kind) {
    let often = [
        "new_orders",
        "open_orders",
        "sold_products",
        "products",
        "parts",
        "aged_orders",
        "counts",
        "profile",
    ];
    let mut keeping = Keeping::scheduled(kind, 5, 3, &rarely_but(&often)).await;
    let swept = "SELECT kind FROM sweeps WHERE succeeded_at IS NOT NULL AND kind IN ('new_orders', 'open_orders', \
                 'sold_products', 'aged_products', 'parts', 'aged_orders', 'counts', 'profile') ORDER BY kind";
    let all = [
        "aged_orders",
        "aged_products",
        "counts",
        "new_orders",
        "open_orders",
        "parts",
        "profile",
        "sold_products",
    ];
    keeping.shows(swept, &all).await;
    everywhere(&keeping, Fault::ResetBefore);
    let failing = "SELECT kind FROM sweeps WHERE problem IS NOT NULL";
    until("a sweep has failed", async || !keeping.ask(failing).await.is_empty()).await;
    let times = "SELECT kind || ' ' || CAST(succeeded_at AS TEXT) AS k FROM sweeps ORDER BY kind";
    let then = keeping.ask(times).await;
    let is_asked = async |times: u64| {
        let before = keeping.control().stats().requests;
        until("it is asked in vain", async || keeping.control().stats().requests >= before + times).await;
    };
    // Completed work that is not recorded yet is recorded with the next sweep.
    is_asked(15).await;
    let later = keeping.ask(times).await;
    is_asked(25).await;
    assert_eq!(keeping.ask(times).await, later, "{then:?}");
    keeping.control().faults().clear();
    let recovered = until("every sweep goes well again", async || keeping.ask(failing).await.is_empty());
    tokio::time::timeout(Duration::from_secs(60), recovered).await.unwrap();
    keeping.stop().await;
}

async fn the_end_of_an_outage_is_noticed_though_no_sweep_is_due(kind: Kind) {
    let mut keeping = Keeping::scheduled(kind, 5, 3, &rarely_but(&[])).await;
    let (control, store) = (keeping.control(), keeping.store());
    everywhere(&keeping, Fault::Html(503));
    let number = control.orders().place(&store, NewOrder::default());
    let probes = || control.stats().by_route.get(SESSION).copied().unwrap_or_default();
    let before = probes();
    until("the marketplace is asked for a sign of life", async || probes() >= before + 2).await;
    control.faults().clear();
    let noticed = keeping.order_is(&number, "paid");
    tokio::time::timeout(Duration::from_secs(25), noticed).await.expect("it took too long");
    keeping.kill().await;
}

// withstands: F146
async fn a_corrected_password_file_is_noticed_without_a_reload(kind: Kind) {
    let mut keeping = Keeping::scheduled(kind, 3, 2, &rarely_but(&["new_orders"])).await;
    keeping.stop().await;
    let (control, access) = (keeping.control(), keeping.sandbox.stores().remove(0));
    let file = keeping.installation.dir().join(format!("stores/{STORE}.toml"));
    let text = std::fs::read_to_string(&file).unwrap();
    let inline = format!("password = \"{}\"", access.password);
    assert!(text.contains(&inline));
    keeping
        .installation
        .write(&format!("stores/{STORE}.toml"), &text.replace(&inline, "password_file = \"loja.password\""));
    keeping.installation.write("stores/loja.password", "not-the-password-1\n");
    control.credentials().kill_token(&access.key);
    keeping.start();
    until("the login is refused", async || keeping.log().contains("login of")).await;
    keeping.installation.write("stores/loja.password", &format!("{}\n", access.password));
    let number = control.orders().place(&access.key, NewOrder::default());
    let noticed = keeping.order_is(&number, "paid");
    tokio::time::timeout(Duration::from_secs(40), noticed).await.expect("it took too long");
    let log = keeping.log();
    assert!(!log.contains("not-the-password-1") && !log.contains(&access.password), "{log}");
    keeping.kill().await;
}

// withstands: F149
async fn reserved_stock_is_fresh_within_seconds_of_a_sale(kind: Kind) {
    let mut keeping = Keeping::scheduled(kind, 5, 4, &rarely_but(&[])).await;
    // Every delivery about stock is lost; reserved stock is never reported anyway.
    for event in ["product.stock_updated", "stock.depleted", "stock.restored"] {
        keeping.spoil(event, 1_000, DeliveryFault::Lost);
    }
    let (control, store) = (keeping.control(), keeping.store());
    let reserved = "SELECT CAST(CAST(sum(reserved_quantity) AS INTEGER) AS TEXT) AS r FROM product_stock";
    let before = keeping.ask(reserved).await;
    let number = control.orders().place(&store, NewOrder::default());
    let fresh = async {
        keeping.order_is(&number, "paid").await;
        until("the reserved stock is another", async || keeping.ask(reserved).await != before).await;
    };
    tokio::time::timeout(Duration::from_secs(20), fresh).await.expect("it took too long");
    let unread = format!(
        "SELECT 'x' AS x FROM order_items AS i JOIN products AS p ON p.id = i.product_id \
         WHERE i.order_number = '{number}' AND p.id NOT IN (SELECT id FROM product_reads)"
    );
    keeping.shows(&unread, &[]).await;
    control.webhooks().deliveries_done().await;
    keeping.inbox_is_handled().await;
    let truth = keeping.truth().await;
    comparison::compare_products(&keeping.mirror().await, &truth).await;
}

async fn many_sales_of_one_product_cost_a_few_readings_of_it(kind: Kind) {
    const SALES: usize = 200;
    let mut keeping = Keeping::scheduled(kind, 1, 1, &rarely_but(&[])).await;
    for event in ["product.stock_updated", "stock.depleted", "stock.restored"] {
        keeping.spoil(event, 1_000, DeliveryFault::Lost);
    }
    let (control, store) = (keeping.control(), keeping.store());
    control.reset_stats();
    for _ in 0..SALES {
        control.orders().place(&store, NewOrder::default());
    }
    control.webhooks().deliveries_done().await;
    keeping.inbox_is_handled().await;
    let readings = || control.stats().by_route.get(PRODUCT).copied().unwrap_or_default();
    until("the product is read", async || readings() > 0).await;
    let truth = keeping.truth().await;
    let orders = keeping.ask("SELECT CAST(count(*) AS TEXT) AS n FROM orders").await;
    assert_eq!(orders, [(SALES + 1).to_string()]);
    drop(truth);
    assert!(readings() <= 15, "{} readings", readings());
}

// withstands: F095
async fn a_resync_is_hardly_slowed_by_refusals_among_answers(kind: Kind) {
    let sandbox = sandbox_of(Options { orders: 420, products: 3, ..Options::default() }).await;
    let installation = Installation::on(kind).await;
    installation.join(&sandbox);
    let control = sandbox.control();
    let rule = FaultRule { route: "GET ".into(), times: None, kind: Fault::TooMany(1) };
    control.faults().add_sometimes(rule, 50);
    let outcome = installation.resync(&[]).await.expect(0);
    let store = outcome.store();
    let (requests, refused) = (store["requests"].as_u64().unwrap(), store["rate_limited"].as_u64().unwrap());
    assert_eq!(outcome.count("orders", "seen"), 420);
    assert!(refused * 10 <= requests, "{refused} of {requests} were refused");
    let seconds = store["seconds"].as_f64().unwrap();
    // Each refusal costs its second, and nothing else; halved paces once turned that into minutes.
    assert!(seconds < 2.0 * refused as f64 + 30.0, "{seconds} s with {refused} refusals of {requests}");
    eprintln!("{kind:?}: {seconds} s, {refused} of {requests} refused");
}
