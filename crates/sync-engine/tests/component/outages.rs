//! A marketplace that does not answer: what the sweeps record, how its return is noticed, and what is caught up with.

use std::{collections::BTreeMap, time::Duration};

use espelho_model::sync::RunState;
use espelho_sandbox::Fault;
use espelho_sync_engine::{Options, plan::schedule::Sweep};

use crate::support::{Kind, Rig, Setup, live::only};

const OFTEN: Duration = Duration::from_secs(60);
const SESSION: &str = "/auth/session";

async fn mirrored(budget: u32) -> Rig {
    let setup = Setup::on(Kind::Sqlite).with(|setup| {
        (setup.world.orders, setup.world.products, setup.budget) = (5, 4, budget);
    });
    let mut rig = setup.start().await;
    rig.stop().await;
    rig
}

impl Rig {
    /// Every request fails in this way until the faults are cleared.
    fn fail_everywhere(&self, kind: Fault) {
        self.fault("", None, kind);
    }

    /// Returns when each sweep last went well.
    async fn successes(&self) -> BTreeMap<String, String> {
        let rows = self.ask("SELECT kind || '=' || CAST(succeeded_at AS TEXT) FROM sweeps").await;
        rows.iter().map(|row| row.split_once('=').map(|(k, v)| (k.into(), v.into())).unwrap()).collect()
    }
}

// withstands: F135
#[tokio::test]
async fn while_the_marketplace_is_gone_no_sweep_has_succeeded() {
    let often = [
        Sweep::NewOrders,
        Sweep::OpenOrders,
        Sweep::SoldProducts,
        Sweep::Products,
        Sweep::Subresources,
        Sweep::AgedOrders,
        Sweep::Counts,
        Sweep::Profile,
        Sweep::Campaigns,
        Sweep::Media,
        Sweep::Enums,
    ];
    for fault in [Fault::ResetBefore, Fault::Html(503), Fault::Html200] {
        let mut rig = mirrored(60_000).await;
        rig.kept_in_step(only(&often, OFTEN), true).await;
        // What asks for nothing while there is nothing to ask for may go well.
        let sku = rig.goods().await[0].sku.clone();
        let number = rig.sell("standard", &sku);
        let shown = format!("SELECT status FROM orders WHERE order_number = '{number}'");
        rig.shown(&shown, |rows| rows == ["paid"]).await;
        rig.fail_everywhere(fault.clone());
        let failing = "SELECT kind FROM sweeps WHERE problem IS NOT NULL ORDER BY kind";
        rig.shown(failing, |rows| rows.len() >= 6).await;
        let before = rig.successes().await;
        rig.pass(OFTEN * 10).await;
        let after = rig.successes().await;
        for kind in ["new_orders", "open_orders", "counts", "profile", "campaigns", "media", "enums"] {
            assert_eq!(before[kind], after[kind], "{kind} under {fault:?}");
        }
        rig.control().faults().clear();
        rig.shown(failing, <[String]>::is_empty).await;
        let later = rig.successes().await;
        assert!(["new_orders", "counts", "profile"].iter().all(|kind| later[*kind] > after[*kind]));
        rig.stop().await;
    }
}

#[tokio::test]
async fn the_end_of_an_outage_is_noticed_though_no_sweep_is_due() {
    let mut rig = mirrored(60_000).await;
    let sku = rig.goods().await[0].sku.clone();
    let outside = rig.kept_in_step(only(&[], Duration::ZERO), true).await;
    rig.fail_everywhere(Fault::Html(503));
    let number = rig.sell("standard", &sku);
    let data = serde_json::json!({"store_id": 1, "order_number": number, "status": "paid"});
    rig.deliver(&outside, "order.created", &data).await;
    let probes = rig.requests(SESSION).len();
    rig.until("it is asked for a sign of life", async || rig.requests(SESSION).len() >= probes + 2).await;
    rig.control().faults().clear();
    let cleared = rig.elapsed();
    rig.shown(&format!("SELECT status FROM orders WHERE order_number = '{number}'"), |rows| rows == ["paid"])
        .await;
    assert!(rig.elapsed() - cleared <= Duration::from_secs(60), "{:?}", rig.elapsed() - cleared);
    rig.stop().await;
}

/// Returns how often a store is asked for a sign of life in ten minutes in which nothing is due, while the marketplace
/// answers another store every ten seconds, or none.
async fn probes_in_ten_minutes(others_are_answered: bool) -> usize {
    let mut rig = mirrored(60_000).await;
    rig.keep_in_step(only(&[], Duration::ZERO), false).await;
    let before = rig.requests(SESSION).len();
    for _ in 0..60 {
        rig.pass(Duration::from_secs(10)).await;
        if others_are_answered {
            let now = rig.parts.clock.now();
            rig.parts.marketplace.note_answered(Some(now), now);
        }
    }
    let probes = rig.requests(SESSION).len() - before;
    rig.stop().await;
    probes
}

#[tokio::test]
async fn a_store_whose_marketplace_answers_others_is_asked_for_a_sign_of_life_less_often() {
    let (alone, beside_others) = (probes_in_ten_minutes(false).await, probes_in_ten_minutes(true).await);
    assert!((32..=41).contains(&alone), "{alone}: one each 15 to 19 s");
    assert!((18..=25).contains(&beside_others), "{beside_others}: one each 24 to 33 s");
}

#[tokio::test]
async fn a_reconciliation_that_an_outage_cut_short_goes_on_as_soon_as_there_is_an_answer() {
    let setup = Setup::on(Kind::Sqlite).with(|setup| setup.world.orders = 250);
    let mut rig = setup.open().await;
    let outside = rig.keep_in_step(only(&[], OFTEN), true).await;
    let kept = "SELECT CAST(count(*) AS TEXT) FROM orders";
    rig.until("a page is mirrored", async || rig.ask(kept).await != ["0"]).await;
    rig.fail_everywhere(Fault::ResetBefore);
    rig.until("it has ended early", async || outside.told().reconciled == 1).await;
    let told = outside.told().reconciled;
    rig.control().faults().clear();
    // Nobody asks for it, and no timetable has it.
    rig.until("it goes on", async || outside.told().reconciled > told).await;
    let runs = "SELECT kind || ' ' || state FROM sync_runs WHERE finished_at IS NOT NULL ORDER BY id LIMIT 1";
    assert_eq!(rig.ask(runs).await, ["scheduled partial"]);
    assert_eq!(rig.ask("SELECT resource FROM sync_passes").await.len(), 0, "it went to the end");
    // Rows that failed in the outage are read by the next run.
    let report = rig.request_reconciliation(&outside, Options { kind: "manual", ..Options::default() }).await;
    assert_eq!(report.state, RunState::Complete, "{report:?}");
    rig.orders_are_the_marketplaces().await;
    rig.stop().await;
}

#[tokio::test]
async fn an_ability_that_comes_back_brings_what_failed_without_it() {
    let mut rig = mirrored(60_000).await;
    let outside = rig.kept_in_step(only(&[], OFTEN), true).await;
    let sku = rig.goods().await[0].sku.clone();
    let number = rig.sell("standard", &sku);
    let body = serde_json::json!({
        "success": false, "code": 403, "message_code": "FORBIDDEN", "description": "Sem permissão.",
        "data": [], "errors": ["store_orders_read"], "meta": [],
    });
    let forbidden = Fault::Status {
        code: 403,
        body: body.to_string().into_bytes(),
        content_type: "application/json".into(),
        headers: Vec::new(),
    };
    rig.fault(&format!("/orders/{number}"), None, forbidden);
    let data = serde_json::json!({"store_id": 1, "order_number": number, "status": "paid"});
    rig.deliver(&outside, "order.created", &data).await;
    let failed = format!("SELECT code FROM sync_failures WHERE key = '{number}'");
    rig.shown(&failed, |rows| !rows.is_empty()).await;
    rig.pass(OFTEN * 3).await;
    rig.control().faults().clear();
    rig.shown(&format!("SELECT status FROM orders WHERE order_number = '{number}'"), |rows| rows == ["paid"])
        .await;
    rig.shown(&failed, <[String]>::is_empty).await;
    rig.stop().await;
}

#[tokio::test]
async fn a_rejected_credential_ends_the_live_mirror_with_its_problem() {
    let mut rig = mirrored(60_000).await;
    let outside = rig.kept_in_step(only(&[Sweep::NewOrders], OFTEN), true).await;
    assert!(rig.control().credentials().set_active(&rig.key(), false));
    let ended = rig.dies_before(async |_| outside.told().failed.len() > 20).await;
    assert!(ended, "it goes on without a credential: {:?}", outside.told().failed);
    // Corrected, the next start goes on.
    assert!(rig.control().credentials().set_active(&rig.key(), true));
    let outside = rig.keep_in_step(only(&[], OFTEN), true).await;
    rig.until("it has caught up", async || outside.told().reconciled > 0).await;
    rig.stop().await;
}
