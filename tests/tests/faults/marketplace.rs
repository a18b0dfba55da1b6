//! A marketplace that is unreachable, answers only errors, or refuses everything with 429.

use std::time::Duration;

use espelho_sandbox::{Fault, FaultRule};
use espelho_tests::{Kind, on_both_databases, until};

use crate::stage::Stage;

on_both_databases![
    a_marketplace_that_is_stopped_is_named,
    a_marketplace_that_answers_nothing_but_errors_is_named,
    routes_that_answer_errors_while_others_work_are_named,
    a_marketplace_that_answers_429_to_everything_is_named,
];

// Exercises F134, F135
async fn a_marketplace_that_is_stopped_is_named(kind: Kind) {
    let stage = Stage::on(kind).await;
    stage.gateway.cut();
    // Meanwhile sweeps cannot keep their intervals.
    let mut watch = stage.watch("marketplace stopped", "marketplace_unreachable").beside(&["late"]);
    watch.raised().await;
    stage.gateway.mend().await;
    watch.ends();
    watch.cleared().await;
}

// Exercises F134, F135
async fn a_marketplace_that_answers_nothing_but_errors_is_named(kind: Kind) {
    let stage = Stage::on(kind).await;
    spoil(&stage, Fault::Html(500));
    let mut watch = stage.watch("500 everywhere", "marketplace_errors").beside(&["late"]);
    watch.raised().await;
    stage.control().faults().clear();
    watch.ends();
    watch.cleared().await;
}

// Exercises F134, F135
async fn routes_that_answer_errors_while_others_work_are_named(kind: Kind) {
    let stage = Stage::on(kind).await;
    let route = "/api/products".to_owned();
    stage.control().faults().add(FaultRule { route, times: None, kind: Fault::Html(500) });
    // A sweep calls them, and fails, within 50 s.
    let mut watch = stage
        .watch("500 for products", "marketplace_errors")
        .beside(&["late", "failed"])
        .found_within(Duration::from_secs(60));
    let alarm = watch.raised().await;
    assert!(alarm.text("text").contains("/api/products"), "the route is named: {alarm:?}");
    // It stays while other calls are answered, and ends with an answer of this route.
    let answered = || stage.sandbox.stats().by_status.get(&200).copied().unwrap_or_default();
    let before = answered();
    until("other calls are answered", async || answered() > before + 1).await;
    assert!(stage.surfaces.alarm("marketplace_errors").await.is_some());
    stage.control().faults().clear();
    watch.ends();
    watch.cleared().await;
}

// Exercises F134
async fn a_marketplace_that_answers_429_to_everything_is_named(kind: Kind) {
    let stage = Stage::on(kind).await;
    spoil(&stage, Fault::TooMany(5));
    let mut watch = stage.watch("429 storm", "throttled").beside(&["late"]);
    watch.raised().await;
    stage.control().faults().clear();
    watch.ends();
    watch.cleared().await;
}

/// Spoils every answer of the marketplace.
fn spoil(stage: &Stage, kind: Fault) {
    stage.control().faults().add(FaultRule { route: String::new(), times: None, kind });
}
