//! Pages that shift while they are read, and rows with the same time at a page's edge.

use espelho_sandbox::{Fault, FaultRule};
use espelho_tests::{Kind, on_both_databases, sandbox, truth::Truth};

use super::{LIST, comparison::compare_orders, joined};

on_both_databases![
    orders_that_come_while_pages_are_read_are_all_mirrored_by_the_same_pass,
    orders_of_one_moment_across_a_pages_edge_are_all_mirrored_once,
];

fn shift(times: u32) -> FaultRule {
    FaultRule { route: LIST.into(), times: Some(times), kind: Fault::PageShift }
}

// withstands: F054
async fn orders_that_come_while_pages_are_read_are_all_mirrored_by_the_same_pass(kind: Kind) {
    // One order short of three full pages: the second new order opens a page that nothing has announced.
    let sandbox = sandbox(299, 5).await;
    let installation = joined(kind, &sandbox).await;
    sandbox.control().faults().add(shift(3));
    let run = installation.resync(&["--only", "orders"]).await.expect(0);
    assert!(!sandbox.control().faults().has_any(), "every page was shifted");
    assert_eq!(run.count("orders", "seen"), 302, "those that came meanwhile too");
    let truth = Truth::of(&sandbox).await;
    compare_orders(&installation.mirror().await, &truth).await;
    // The next pass brings nothing new.
    let again = installation.resync(&["--only", "orders"]).await.expect(0);
    assert_eq!(["changed", "gone"].map(|what| again.count("orders", what)), [0, 0]);
}

// withstands: F058
async fn orders_of_one_moment_across_a_pages_edge_are_all_mirrored_once(kind: Kind) {
    let sandbox = sandbox(85, 5).await;
    let installation = joined(kind, &sandbox).await;
    // They exist before the first page is read, and are within one second of each other.
    let numbers: Vec<String> = (0..30).map(|_| sandbox.control().orders().insert("loja-1")).collect();
    sandbox.control().faults().add(shift(2));
    let run = installation.resync(&["--only", "orders"]).await.expect(0);
    assert_eq!([run.count("orders", "seen"), run.count("orders", "gone")], [117, 0]);
    let mirror = installation.mirror().await;
    let at_the_edge = mirror
        .ask("SELECT CAST(created_at AS TEXT) AS at FROM orders ORDER BY orders.created_at LIMIT 2 OFFSET 99")
        .await;
    assert_eq!(at_the_edge[0], at_the_edge[1], "the edge lies within one moment");
    let listed = numbers.iter().map(|number| format!("'{number}'")).collect::<Vec<_>>().join(", ");
    let told = format!(
        "SELECT CAST(count(*) AS TEXT) AS n FROM changes WHERE entity = 'order' AND key IN ({listed})"
    );
    assert_eq!(mirror.ask(&told).await[0]["n"], "30", "each of them once");
    compare_orders(&mirror, &Truth::of(&sandbox).await).await;
    let again = installation.resync(&["--only", "orders"]).await.expect(0);
    assert_eq!(["changed", "gone"].map(|what| again.count("orders", what)), [0, 0]);
}
