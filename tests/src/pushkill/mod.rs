//! Kills the service with `kill -9` repeatedly while an ERP writes and buyers place orders: `erp` writes and records,
//! `wire` keeps what reached the marketplace, and `judge` compares the two at the end. None of espelho's own code is
//! used.
//!
//! One answer in ten is lost after the work is done, so espelho must rely on what it reads.

mod erp;
mod judge;
mod wire;

use std::{cell::Cell, pin::pin, time::Duration};

use espelho_sandbox::{Control, Fault, FaultRule, Options, Sandbox};
use tokio::time::Instant;

pub use judge::Report;

use crate::{Installation, Kind, Mirror, Random, installation::STORE, sandbox_of, truth::Reader};
use erp::Erp;
use wire::Wire;

/// Every route with an effect, labels last.
const WRITES: [&str; 5] = [
    "POST /api/products/{id}/stock",
    "POST /api/products/{id}/prices",
    "PUT /api/products/{id}/prices",
    "POST /api/v1/sellers/orders/{id}/status",
    "POST /api/v1/sellers/orders/{id}/shipment-labels/generate",
];
/// Answers that are lost after the work was done, in thousandths.
const LOST: u32 = 100;
/// Requests that are cut off before any work is done, in thousandths. Label requests are excluded, because such a
/// request cannot be told from a late generation.
const CUT_OFF: u32 = 30;
/// The time limit for a service to stop.
const STOPS_WITHIN: Duration = Duration::from_secs(30);

/// The parameters of a run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The database.
    pub kind: Kind,
    /// How often the service is killed.
    pub kills: u64,
    /// Determines the moments of the kills and what is written.
    pub seed: u64,
    /// Whether labels are generated too. If a request was cut off before it left, proving that takes two minutes.
    pub labels: bool,
    /// The time limit for work that is open at the end.
    pub longest: Duration,
}

/// The marketplace, the installation, and an independent reader.
struct Stage {
    sandbox: Sandbox,
    installation: Installation,
    mirror: Mirror,
    truth: Reader,
    /// The store's name in the sandbox.
    key: String,
}

/// The kills of a run.
#[derive(Debug, Default)]
struct Killed {
    kills: u64,
    /// Milliseconds from the start to the first request.
    back: Vec<u64>,
    took: Duration,
}

/// Kills the service according to the plan, lets it finish, and returns the report.
///
/// # Panics
/// When the service does not start, or open work does not end.
pub async fn run(plan: Plan) -> Report {
    let stage = Stage::set(plan).await;
    let mut erp = Erp::of(&stage, plan).await;
    let mut wire = Wire::default();
    for route in WRITES {
        let rule = FaultRule { route: route.into(), times: None, kind: Fault::ResetAfter };
        stage.control().faults().add_sometimes(rule, LOST);
    }
    for route in &WRITES[..4] {
        let rule = FaultRule { route: (*route).into(), times: None, kind: Fault::ResetBefore };
        stage.control().faults().add_sometimes(rule, CUT_OFF);
    }
    let over = Cell::new(false);
    let killing = async {
        let killed = stage.kill_again_and_again(plan, &mut wire).await;
        stage.stop_in_the_midst().await;
        over.set(true);
        killed
    };
    let (killed, ()) = tokio::join!(killing, erp.work(&over));
    stage.control().faults().clear();
    let service = stage.installation.start(&["run"]);
    let mut drains = tokio::time::interval(Duration::from_millis(500));
    let ended = {
        let mut finishing = pin!(tokio::time::timeout(plan.longest, erp.finish()));
        loop {
            tokio::select! {
                ended = &mut finishing => break ended,
                _ = drains.tick() => wire.drain(&stage.control()),
            }
        }
    };
    service.kill().await;
    wire.drain(&stage.control());
    if ended.is_err() {
        eprintln!("still open after {:?}: {:#?}", plan.longest, erp.open_rows().await);
    }
    let report = judge::judge(&stage, &erp, &wire, killed).await;
    if !(report.lost.is_empty() && report.doubled.is_empty() && report.wrong.is_empty()) {
        let path = std::env::temp_dir().join(format!("pushkill-{}.txt", plan.seed));
        std::fs::write(&path, stage.all_that_is_known(&wire).await).expect("a place for what is known");
        eprintln!("what the journal, the rows and the marketplace say: {}", path.display());
    }
    report
}

impl Stage {
    /// Sets up a store whose products all have one location, mirrored once.
    async fn set(plan: Plan) -> Self {
        let options = Options { orders: 1, products: 120, seed: plan.seed, ..Options::default() };
        let sandbox = sandbox_of(options).await;
        let installation = Installation::on(plan.kind).await;
        installation.write_main(
            "[log]\nlevel = \"error\"\n[schedule]\nreconcile = \"0 0 0 1 1 *\"\nnew_orders = 1\nopen_orders = 1\nparts = 1\n",
        );
        let access = sandbox.stores().remove(0);
        installation.write_store(STORE, &sandbox.base_url(), &access.username, &access.password);
        let other = sandbox.control().credentials().create(&access.key).expect("a credential");
        let truth = Reader::log_in_with(&sandbox, &other).await;
        for product in truth.all("/api/products?per_page=100").await {
            let sku = crate::truth::text(&product["sku"]);
            assert!(
                sandbox.control().products().set_stock(&access.key, &sku, erp::START),
                "{sku} is stocked"
            );
        }
        installation.resync(&[]).await.expect(0);
        let mirror = installation.mirror().await;
        Self { sandbox, installation, mirror, truth, key: access.key }
    }

    fn control(&self) -> Control {
        self.sandbox.control()
    }

    /// Returns the journal, the commands and what reached the marketplace, to explain a mismatch.
    async fn all_that_is_known(&self, wire: &Wire) -> String {
        let effects = "SELECT CAST(id AS TEXT) AS a_id, CAST(command_id AS TEXT) AS b_command, kind AS c, key AS d, state AS e, \
            CAST(planned_at AS TEXT) AS f_planned, CAST(sent_at AS TEXT) AS g_sent, CAST(settled_at AS TEXT) AS h_settled, code AS i, \
            note AS j, evidence AS k, request AS l FROM effects ORDER BY id";
        let commands = "SELECT CAST(id AS TEXT) AS a_id, kind AS b, key AS c, CAST(data AS TEXT) AS d, state AS e, \
            CAST(created_at AS TEXT) AS f_created, CAST(done_at AS TEXT) AS g_done FROM commands ORDER BY id";
        let (journal, rows) =
            (self.installation.journal().await.ask(effects).await, self.mirror.ask(commands).await);
        format!("effects\n{journal:#?}\ncommands\n{rows:#?}\nwrites\n{:#?}\n", wire.writes)
    }

    /// Returns the first column of a query, as text.
    async fn ask(&self, sql: &str) -> Vec<String> {
        let rows = self.mirror.ask(sql).await;
        rows.into_iter().flat_map(std::collections::BTreeMap::into_values).collect()
    }

    /// Stops a service while it works and checks that it ends by itself.
    async fn stop_in_the_midst(&self) {
        let requests = self.sandbox.stats().requests;
        let service = self.installation.start(&["run"]);
        let works = async || self.sandbox.stats().requests > requests + 20;
        assert!(within(Duration::from_secs(60), works).await, "the service works");
        let told = Instant::now();
        service.terminate().await;
        service.end().await.expect(0);
        assert!(told.elapsed() < STOPS_WITHIN, "it took {:?} to stop", told.elapsed());
    }

    async fn kill_again_and_again(&self, plan: Plan, wire: &mut Wire) -> Killed {
        let mut random = Random::seeded(plan.seed ^ 0x6B69_6C6C);
        let (mut killed, began) = (Killed::default(), Instant::now());
        while killed.kills < plan.kills {
            let requests = self.sandbox.stats().requests;
            let (started, mut service) = (Instant::now(), self.installation.start(&["run"]));
            // Some are killed during the start, most in the middle of work, and a few after much of it could be done.
            let (from_start, delay) = match random.up_to(20) {
                1 => (false, random.up_to(2_000)),
                2..=4 => (true, random.up_to(40)),
                _ => (false, 4 + random.up_to(116)),
            };
            if !from_start {
                let works = async || self.sandbox.stats().requests > requests;
                if within(Duration::from_secs(30), works).await {
                    killed.back.push(started.elapsed().as_millis() as u64);
                }
            }
            pause(Duration::from_millis(delay)).await;
            assert!(!service.has_ended(), "the service has ended by itself: {}", service.end().await);
            service.kill().await;
            killed.kills += 1;
            wire.drain(&self.control());
            if killed.kills.is_multiple_of(100) {
                println!(
                    "{} kills after {:.0} s; {} ms from starts to first requests",
                    killed.kills,
                    began.elapsed().as_secs_f64(),
                    killed.back.iter().sum::<u64>()
                );
            }
        }
        killed.took = began.elapsed();
        killed
    }
}

/// Returns whether the condition holds in time.
async fn within(longest: Duration, mut condition: impl AsyncFnMut() -> bool) -> bool {
    let mut ticks = tokio::time::interval(Duration::from_millis(1));
    let looking = async {
        while !condition().await {
            ticks.tick().await;
        }
    };
    tokio::time::timeout(longest, looking).await.is_ok()
}

/// Waits a fixed time: the moment of a kill depends on time alone.
async fn pause(length: Duration) {
    let never = tokio::time::timeout(length, std::future::pending::<()>()).await;
    debug_assert!(never.is_err());
}
