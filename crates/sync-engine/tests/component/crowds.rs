//! Passes of stores that wait for each other's memory.

use std::{sync::Arc, time::Duration};

use espelho_model::sync::{Resource, RunState};
use espelho_sandbox::Fault;
use espelho_sync_engine::MemoryBudget;

use crate::{
    passes::{refuse, store},
    support::{Kind, Rig, on_both_databases, refused_with},
};

on_both_databases![
    a_page_of_a_crowd_that_ends_early_counts_what_is_mirrored_of_it,
    a_page_of_a_crowd_that_the_database_refuses_does_not_wait_for_the_next_one,
    in_a_crowd_a_page_is_written_in_pieces_while_it_is_read,
];

const ORDERS: usize = 60;
const MIRRORED: &str = "SELECT order_number FROM orders";

impl Rig {
    /// Reads the orders until one of their details hangs and all that can be read beside it was; returns how many of
    /// them are mirrored then.
    async fn mirrored_beside_one_that_hangs(&self, requests: u64) -> usize {
        self.fault("GET /api/v1/sellers/orders/{id}", 1, Fault::Stall(Duration::from_secs(600)));
        let looking_on = self.until("all others are read", async || {
            let stats = self.control().stats();
            stats.requests >= requests && stats.by_status.values().sum::<u64>() + 1 == stats.requests
        });
        tokio::select! {
            biased;
            () = looking_on => self.ask(MIRRORED).await.len(),
            report = self.pass_of(Resource::Orders) => panic!("nothing hung: {report:?}"),
        }
    }
}

async fn in_a_crowd_a_page_is_written_in_pieces_while_it_is_read(kind: Kind) {
    let mut rig = store(kind, ORDERS, 3).await;
    rig.control().reset_stats();
    // A login, the listing, and the details.
    let all = 2 + ORDERS as u64;
    assert_eq!(rig.mirrored_beside_one_that_hangs(all).await, 0, "alone, a page is one transaction");
    rig.control().reset_stats();
    // One page, for which no room is left when it is read.
    rig.parts.memory_budget = Arc::new(MemoryBudget::of_rows(100));
    let mirrored = rig.mirrored_beside_one_that_hangs(all - 1).await;
    // Seventeen of them twice: sixteen are under way beside them.
    assert_eq!(mirrored, 34);
    rig.control().reset_stats();
    let report = rig.pass_of(Resource::Orders).await;
    assert_eq!((report.state, report.counts.seen), (RunState::Complete, ORDERS as u64), "{report:?}");
    assert_eq!(report.details, (ORDERS - mirrored) as u64, "what is mirrored is not read again");
    rig.orders_are_the_marketplaces().await;
}

async fn a_page_of_a_crowd_that_the_database_refuses_does_not_wait_for_the_next_one(kind: Kind) {
    let mut rig = store(kind, 120, 3).await;
    rig.parts.memory_budget = Arc::new(MemoryBudget::of_rows(100));
    let listed = rig.listing("/api/v1/sellers/orders?limit=100&sort=created_at").await;
    // The last row of the first page is in no piece, but written with the page.
    let number = listed[99]["order_number"].as_str().unwrap();
    let allow = refuse(&rig, kind, number).await;
    let pass = tokio::time::timeout(Duration::from_secs(60), rig.pass_of(Resource::Orders)).await;
    let report = pass.expect("the pass waits for room that only it can give back");
    assert_eq!((report.state, report.problem.is_some()), (RunState::Partial, false), "{report:?}");
    assert_eq!((report.counts.seen, report.counts.changed, report.counts.failed), (120, 119, 1));
    assert!(report.details > 120, "the page was refused, and read again: {report:?}");
    rig.tables.execute(allow).await;
    let report = rig.pass_of(Resource::Orders).await;
    assert_eq!((report.state, report.counts.changed), (RunState::Complete, 1), "{report:?}");
    rig.orders_are_the_marketplaces().await;
}

async fn a_page_of_a_crowd_that_ends_early_counts_what_is_mirrored_of_it(kind: Kind) {
    let mut rig = store(kind, ORDERS, 3).await;
    rig.parts.memory_budget = Arc::new(MemoryBudget::of_rows(100));
    let listed = rig.listing("/api/v1/sellers/orders?limit=100&sort=created_at").await;
    let number = listed[55]["order_number"].as_str().unwrap();
    rig.fault(&format!("/orders/{number}"), None, refused_with(401, "UNAUTHENTICATED"));
    let report = rig.pass_of(Resource::Orders).await;
    assert!(report.problem.is_some(), "{report:?}");
    let mirrored = rig.ask(MIRRORED).await.len();
    assert!((34..ORDERS).contains(&mirrored), "{mirrored}");
    assert_eq!(report.counts.changed, mirrored as u64);
    rig.control().faults().clear();
    let report = rig.pass_of(Resource::Orders).await;
    assert_eq!((report.state, report.counts.changed), (RunState::Complete, (ORDERS - mirrored) as u64));
    rig.orders_are_the_marketplaces().await;
}
