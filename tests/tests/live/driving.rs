//! Runs activity, ends it, and compares the mirror until it equals the marketplace.

use std::{collections::BTreeSet, time::Duration};

use espelho_sandbox::{DeliveryFault, Options};
use espelho_tests::{
    Kind,
    converge::{Activity, Contents, differences, marketplace::add_told, mirrored},
    sandbox_of,
};

use crate::{keeping::Keeping, receiving};

/// The activity, its pace, and the faults of the deliveries.
pub(crate) struct Plan {
    pub(crate) seconds: u64,
    pub(crate) orders_per_second: f64,
    pub(crate) changes_per_second: f64,
    pub(crate) spoiled: Vec<(u32, DeliveryFault)>,
    pub(crate) requests_per_minute: Option<u32>,
    /// By how many seconds the routes lag behind.
    pub(crate) lag: u32,
    pub(crate) schedule: &'static str,
    /// How often the mirror is compared before giving up.
    pub(crate) looks: u32,
}

/// All sweeps at their shortest intervals.
pub(crate) const BUSY: &str = "reconcile = \"*/5 * * * * *\"\nnew_orders = 1\nopen_orders = 1\n\
    products = 1\nparts = 1\ncampaigns = 1\nmedia = 2\nprofile = 2\n";

impl Plan {
    pub(crate) fn busy(seconds: u64, spoiled: &[(u32, DeliveryFault)]) -> Self {
        Self {
            seconds,
            orders_per_second: 20.0,
            changes_per_second: 50.0,
            spoiled: spoiled.to_vec(),
            requests_per_minute: None,
            lag: 0,
            schedule: BUSY,
            looks: 240,
        }
    }
}

/// The results of a run.
#[derive(Debug, Default)]
pub(crate) struct Converged {
    pub(crate) orders: u64,
    pub(crate) changes: u64,
    /// Deliveries in the inbox.
    pub(crate) received: usize,
    /// Requests that the service made, over all.
    pub(crate) requests: u64,
    /// The time since the end of the activity.
    pub(crate) took: Duration,
    /// Rows of the marketplace, over all tables.
    pub(crate) rows: usize,
    /// Rows that still differ at the end, by table.
    pub(crate) differing: Vec<(&'static str, usize)>,
}

/// Runs activity, ends it, and compares the mirror until it equals the marketplace or the attempts are exhausted.
pub(crate) async fn run(kind: Kind, plan: &Plan) -> Converged {
    let options =
        Options { orders: 30, products: 12, local_webhooks: true, rate: None, ..Options::default() };
    let sandbox = sandbox_of(options).await;
    let mut activity = Activity::of(&sandbox, 4).await;
    let budget = plan.requests_per_minute.unwrap_or(1_000_000);
    let mut keeping = Keeping::of(sandbox, kind, plan.schedule, budget).await;
    for (of_thousand, fault) in &plan.spoiled {
        keeping.spoil("", *of_thousand, *fault);
    }
    keeping.control().orders().lag(&keeping.store(), plan.lag);
    keep_busy(&mut activity, plan).await;
    // Held or delayed deliveries are sent now, labels are printed, and nothing else happens by itself.
    let control = keeping.control();
    // Lost deliveries stay lost: the rules remain active.
    control.forward(120);
    control.forward(120);
    control.webhooks().deliveries_done().await;
    let ended = tokio::time::Instant::now();
    let (rows, differing) = settle(&keeping, &activity, plan.looks).await;
    let took = ended.elapsed();
    let received = bodies(&keeping).await.len();
    let requests = control.stats().requests;
    for (table, found) in &differing {
        println!(
            "{kind:?} {table}: missing {:#?} surplus {:#?}",
            found.missing.first(),
            found.surplus.first()
        );
    }
    if !differing.is_empty() {
        println!(
            "{}",
            keeping
                .log()
                .lines()
                .filter(|line| line.contains("WARN"))
                .take(20)
                .collect::<Vec<_>>()
                .join("\n")
        );
    }
    let orders = activity.done.remove("order").unwrap_or_default();
    let changes = activity.done.values().sum();
    keeping.stop().await;
    let differing = differing.iter().map(|(table, difference)| (*table, difference.rows())).collect();
    Converged { orders, changes, received, requests, took, rows, differing }
}

/// Acts at a steady pace.
async fn keep_busy(activity: &mut Activity, plan: &Plan) {
    let began = tokio::time::Instant::now();
    let due = |count: u64, rate: f64| began + Duration::from_secs_f64(count as f64 / rate);
    let (mut orders, mut changes) = (0, 0);
    let end = began + Duration::from_secs(plan.seconds);
    loop {
        let (order, change) = (due(orders, plan.orders_per_second), due(changes, plan.changes_per_second));
        if order.min(change) >= end {
            return;
        }
        tokio::time::sleep_until(order.min(change)).await;
        if order <= change {
            activity.order();
            orders += 1;
        } else {
            activity.change().await;
            changes += 1;
        }
    }
}

type Differing = Vec<(&'static str, espelho_tests::converge::Difference)>;

/// Compares both repeatedly. The marketplace is read again if the mirror stays different.
async fn settle(keeping: &Keeping, activity: &Activity, looks: u32) -> (usize, Differing) {
    let mirror = keeping.mirror().await;
    let mut ticks = tokio::time::interval(Duration::from_millis(500));
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let (mut truth, mut open) = (Contents::new(), BTreeSet::new());
    let (mut rows, mut differing) = (0, Vec::new());
    for look in 0..looks {
        ticks.tick().await;
        if look % 8 == 0 {
            let campaigns = mirror.rows("campaigns").await;
            let seen = campaigns.into_iter().map(|campaign| campaign["id"].clone()).collect();
            (truth, open) = activity.marketplace().contents(&seen).await;
            add_told(&mut truth, &bodies(keeping).await);
            rows = truth.values().map(Vec::len).sum();
        }
        let found = differences(&truth, &mirrored::contents(&mirror, &open).await);
        differing = found.into_iter().collect();
        if differing.is_empty() {
            return (rows, differing);
        }
    }
    (rows, differing)
}

/// Returns the bodies of all acknowledged deliveries.
async fn bodies(keeping: &Keeping) -> BTreeSet<String> {
    receiving::bodies(&keeping.installation).await
}
