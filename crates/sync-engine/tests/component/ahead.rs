//! Passes that request the next page of a listing early.

use std::time::Duration;

use espelho_model::sync::Resource;
use espelho_sandbox::Fault;
use espelho_sync_engine::{Options, StoreReport};

use crate::{
    passes::store,
    support::{Kind, Rig},
};

fn orders() -> Options {
    Options { only: vec![Resource::Orders.into()], kind: "manual", ..Options::default() }
}

impl Rig {
    /// Returns how often a page of the orders was requested.
    fn listed(&self, page: u64) -> usize {
        let is_it = |query: &str| query.split('&').any(|pair| pair == format!("page={page}"));
        let path = "/api/v1/sellers/orders?";
        self.requests(path).iter().filter(|entry| is_it(&entry.path[path.len()..])).count()
    }

    /// Returns the number of details requested.
    fn details(&self) -> usize {
        self.requests("/api/v1/sellers/orders/").len()
    }
}

#[tokio::test]
async fn the_next_page_is_requested_while_the_last_details_arrive() {
    let rig = store(Kind::Sqlite, 150, 3).await;
    let rows = rig.listing("/api/v1/sellers/orders?limit=100&sort=created_at").await;
    let slow = format!("/orders/{}", rows[98]["order_number"].as_str().unwrap());
    rig.fault(&slow, None, Fault::Stall(Duration::from_secs(600)));
    let options = orders();
    let before = rig.listed(2);
    tokio::select! {
        biased;
        () = rig.until("all but one have arrived", async || rig.listed(2) > before && rig.details() == 99) => (),
        report = rig.reconcile(&options) => panic!("{report:?}"),
    }
    rig.control().faults().clear();
    rig.control().reset_stats();
    let report = rig.reconcile(&options).await;
    assert!(report.problems().next().is_none(), "{report:?}");
    rig.orders_are_the_marketplaces().await;
}

// withstands: F115
#[tokio::test]
async fn no_third_page_is_requested_while_the_first_is_unwritten() {
    let rig = store(Kind::Sqlite, 350, 3).await;
    let (holder, options) = (rig.second_connection().await, orders());
    let watched = async {
        rig.until("the first page is requested", async || rig.listed(1) > 0).await;
        holder.execute("BEGIN IMMEDIATE").await;
        rig.until("two pages are read", async || rig.details() == 200).await;
        let mut looks = 0;
        rig.until("a while has passed", async || {
            assert_eq!(rig.listed(3), 0, "a killed run would read three pages again");
            looks += 1;
            looks > 100
        })
        .await;
        holder.execute("COMMIT").await;
        std::future::pending::<StoreReport>().await
    };
    let report = tokio::select! {
        report = rig.reconcile(&options) => report,
        report = watched => report,
    };
    assert!(report.problems().next().is_none(), "{report:?}");
    assert_eq!((1..=4).map(|page| rig.listed(page)).collect::<Vec<_>>(), [1; 4], "each page is read once");
    rig.orders_are_the_marketplaces().await;
}
