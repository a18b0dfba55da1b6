//! Inputs that end the whole process: each does so twice at most, then the work goes on without it.

use espelho_sandbox::{NewOrder, Options};
use espelho_tests::{Installation, Kind, Outcome, Running, on_both_databases, pages, sandbox_of, until};

on_both_databases![an_input_that_ends_the_process_does_so_twice_and_then_costs_one_row];

/// Runs a command in which these inputs end the process.
fn start(installation: &Installation, arguments: &[&str], faults: &str) -> Running {
    let mut command = installation.command(arguments);
    command.env("ESPELHO_FAULTS", faults);
    Running::of(command)
}

async fn resync(installation: &Installation, faults: &str) -> Outcome {
    start(installation, &["--resync", "--json"], faults).end().await
}

// withstands: F150
async fn an_input_that_ends_the_process_does_so_twice_and_then_costs_one_row(kind: Kind) {
    let sandbox = sandbox_of(Options { stores: 2, orders: 20, products: 5, ..Options::default() }).await;
    let installation = Installation::on(kind).await;
    let base = installation.write_main_with_known_port();
    installation.join(&sandbox);
    let number = sandbox.control().orders().place(&sandbox.stores()[0].key, NewOrder::default());
    let faults = format!("order=={number}!;stock==POISON/1!");
    for _ in 0..2 {
        let ended = resync(&installation, &faults).await;
        assert!(![0, 3].contains(&ended.code), "the order ends the process: {ended}");
    }
    let ended = resync(&installation, &faults).await;
    assert_eq!(ended.code, 3, "the third one is through, with a row that failed: {ended}");
    let mirror = installation.mirror().await;
    let aside = mirror.ask("SELECT resource, key, code FROM sync_failures").await;
    assert_eq!(aside.len(), 1, "{aside:?}");
    assert_eq!((aside[0]["key"].as_str(), aside[0]["code"].as_str()), (number.as_str(), "poisoned"));
    let mirrored = mirror.ask("SELECT order_number FROM orders").await;
    assert_eq!(mirrored.len(), 40, "everything else is there");
    // A row of the ERP does the same to the service.
    let keys: Vec<String> = sandbox.stores().into_iter().map(|store| store.key).collect();
    let insert = |store: &str| {
        format!(
            "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('{store}', 'POISON', '1', 3)"
        )
    };
    mirror.execute(&insert(&keys[0])).await;
    let answered = "SELECT store, state, error_code FROM erp_stock WHERE state = 'failed'";
    for _ in 0..2 {
        let mut service = start(&installation, &["run"], &faults);
        until("the row ends the service", async || service.has_ended()).await;
    }
    let mut service = start(&installation, &["run"], &faults);
    pages::ready(&mut service, &base).await;
    until("the row is answered", async || !mirror.ask(answered).await.is_empty()).await;
    assert_eq!(mirror.ask(answered).await[0]["error_code"], "poisoned");
    assert!(!service.has_ended());
    // The end of the process makes every input under way a suspect, until an attempt on it ends well.
    let others = format!("SELECT key FROM quarantine WHERE key NOT IN ('{number}', 'POISON/1')");
    until("nothing else is suspected", async || mirror.ask(&others).await.is_empty()).await;
    pages::stopped(service).await;
    // A person brings the order back: without the fault it is read.
    let store = keys[0].as_str();
    installation.run(&["retry", "order", &number, "--store", store]).await.expect(0);
    installation.resync(&[]).await.expect(0);
    assert_eq!(mirror.ask("SELECT order_number FROM orders").await.len(), 41);
    assert!(mirror.ask("SELECT key FROM sync_failures").await.is_empty());
    let left = mirror.ask("SELECT * FROM quarantine").await;
    assert!(left.is_empty(), "{left:?}");
}
