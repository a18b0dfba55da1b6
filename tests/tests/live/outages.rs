//! A corrected password, sales in a row, and refusals among answers.

use std::time::Duration;

use espelho_sandbox::{DeliveryFault, Fault, FaultRule, NewOrder, Options};
use espelho_tests::{Installation, Kind, installation::STORE, on_both_databases, sandbox_of, until};

use crate::{keeping::Keeping, sweeping::rarely_but};

const PRODUCT: &str = "GET /api/products/{id}";

on_both_databases![
    a_corrected_password_file_is_noticed_without_a_reload,
    many_sales_of_one_product_cost_a_few_readings_of_it,
    a_resync_is_hardly_slowed_by_refusals_among_answers,
];

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
