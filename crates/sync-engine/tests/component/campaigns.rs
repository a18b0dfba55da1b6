//! Campaigns and their listings: passes and sweeps, failures of one campaign, and the end.

use std::time::Duration;

use espelho_model::sync::{RunState, Target};
use espelho_sandbox::{Fault, NewCampaign, Spoil};
use espelho_sync_engine::plan::schedule::Sweep;
use serde_json::json;

use crate::{
    passes::store,
    refreshes::{OFTEN, mirrored},
    support::{Kind, live::only, refused_with},
};

#[tokio::test]
async fn campaigns_that_end_are_read_once_more_and_those_that_vanish_are_gone() {
    let rig = store(Kind::Sqlite, 2, 5).await;
    let create = |name: &str| {
        let campaign = NewCampaign {
            name: name.into(),
            kind: "standard".into(),
            status: "active".into(),
            starts_in: Some(-60),
            ends_in: Some(86_400),
            opt_in_closes_in: Some(3_600),
            discount: None,
        };
        rig.control().campaigns().create(&campaign).unwrap()
    };
    let (ending, vanishing) = (create("Acaba"), create("Some"));
    let report = rig.pass_of(Target::Campaigns).await;
    assert_eq!((report.state, rig.live("campaigns").await > 1), (RunState::Complete, true));
    // It takes a listing between the last reading and its end.
    let listing = rig.control().listings().active(&rig.key()).remove(0);
    let joining = json!({"publication_ids": [listing["item_id"]]});
    rig.truth.post(&format!("/api/seller/discounts/campaigns/{ending}/opt-in"), &joining).await;
    assert!(rig.control().campaigns().set_status(ending, "cancelled"));
    assert!(rig.control().campaigns().set_status(vanishing, "cancelled"));
    rig.fault(&format!("/campaigns/{vanishing}"), None, refused_with(404, "NOT_FOUND"));
    let report = rig.pass_of(Target::Campaigns).await;
    assert_eq!((report.state, report.counts.gone), (RunState::Complete, 1), "{report:?}");
    let status = |id: u64| format!("SELECT status FROM campaigns WHERE id = '{id}' AND gone_at IS NULL");
    assert_eq!(rig.ask(&status(ending)).await, ["cancelled"]);
    let enrolled = format!(
        "SELECT item_id FROM campaign_listings WHERE campaign_id = '{ending}' AND enrolled AND gone_at IS NULL"
    );
    assert_eq!(rig.ask(&enrolled).await, [listing["item_id"].as_str().unwrap()]);
    assert!(rig.ask(&status(vanishing)).await.is_empty());
    // Back again: it is no longer gone.
    rig.control().faults().clear();
    assert!(rig.control().campaigns().set_status(vanishing, "active"));
    rig.pass_of(Target::Campaigns).await;
    assert_eq!(rig.ask(&status(vanishing)).await, ["active"]);
}

#[tokio::test]
async fn a_campaign_that_cannot_be_read_to_its_end_is_shown_until_it_can() {
    let rig = store(Kind::Sqlite, 2, 5).await;
    let campaign = rig.control().campaigns().create(&NewCampaign::default()).unwrap();
    rig.pass_of(Target::Campaigns).await;
    let shown = format!("SELECT code FROM v_errors WHERE entity = 'campaign' AND key = '{campaign}'");
    let eligible = format!("/campaigns/{campaign}/eligible-products");
    let nameless = Fault::Spoil(Spoil { at: "/data/data/*/item_id".into(), value: None, key: None });
    for (status, fault, code) in [
        ("active", refused_with(404, "NOT_FOUND"), "NOT_FOUND"),
        ("cancelled", refused_with(404, "NOT_FOUND"), "NOT_FOUND"),
        ("cancelled", nameless, "incomplete"),
    ] {
        assert!(rig.control().campaigns().set_status(campaign, status));
        rig.fault(&eligible, None, fault);
        let report = rig.pass_of(Target::Campaigns).await;
        assert_eq!((report.state, report.counts.failed), (RunState::Partial, 1), "{report:?}");
        assert_eq!(report.failures[0].code, code, "{report:?}");
        assert_eq!(rig.ask(&shown).await, [code], "{status}");
        rig.control().faults().clear();
        let report = rig.pass_of(Target::Campaigns).await;
        assert_eq!((report.state, report.counts.failed), (RunState::Complete, 0), "{report:?}");
        assert!(rig.ask(&shown).await.is_empty(), "{status}");
    }
}

#[tokio::test]
async fn a_campaign_whose_answers_fail_costs_the_others_no_row() {
    let rig = store(Kind::Sqlite, 2, 5).await;
    let create = |name: &str| {
        let campaign = NewCampaign { name: name.into(), ..NewCampaign::default() };
        rig.control().campaigns().create(&campaign).unwrap()
    };
    let (failing, other) = (create("Falha"), create("Outra"));
    let shown = "SELECT key FROM v_errors WHERE entity = 'campaign'";
    rig.fault(&format!("/campaigns/{failing}/eligible-products"), None, Fault::Html(503));
    let report = rig.pass_of(Target::Campaigns).await;
    assert_eq!((report.state, report.counts.failed), (RunState::Partial, 1), "{report:?}");
    assert_eq!(rig.ask(shown).await, [failing.to_string()]);
    let listings = format!("SELECT item_id FROM campaign_listings WHERE campaign_id = '{other}'");
    assert!(!rig.ask(&listings).await.is_empty());
    rig.control().faults().clear();
    rig.fault(&format!("/campaigns/{failing}"), None, Fault::Html(503));
    for ended in [failing, other] {
        assert!(rig.control().campaigns().set_status(ended, "cancelled"));
    }
    let report = rig.pass_of(Target::Campaigns).await;
    assert_eq!((report.state, report.counts.failed), (RunState::Partial, 1), "{report:?}");
    let status = |id: u64| format!("SELECT status FROM campaigns WHERE id = '{id}'");
    assert_eq!(rig.ask(&status(other)).await, ["cancelled"]);
    rig.control().faults().clear();
    assert_eq!(rig.pass_of(Target::Campaigns).await.state, RunState::Complete);
    assert!(rig.ask(shown).await.is_empty());
    assert_eq!(rig.ask(&status(failing)).await, ["cancelled"]);
}

#[tokio::test]
async fn an_ended_campaign_that_is_refused_is_asked_for_ever_more_rarely_and_over_when_it_was_read() {
    let mut rig = mirrored(1, 5).await;
    let campaign = rig.control().campaigns().create(&NewCampaign::default()).unwrap();
    rig.kept_in_step(only(&[Sweep::Campaigns], OFTEN), false).await;
    // It takes a listing between the last reading and its end.
    let listing = rig.control().listings().active(&rig.key()).remove(0);
    let joining = json!({"publication_ids": [listing["item_id"]]});
    let eligible = format!("/campaigns/{campaign}/eligible-products");
    rig.fault(&eligible, None, refused_with(404, "NOT_FOUND"));
    rig.truth.post(&format!("/api/seller/discounts/campaigns/{campaign}/opt-in"), &joining).await;
    assert!(rig.control().campaigns().set_status(campaign, "cancelled"));
    let shown = format!("SELECT code FROM v_errors WHERE entity = 'campaign' AND key = '{campaign}'");
    rig.shown(&shown, |codes| codes == ["NOT_FOUND"]).await;
    // It is read with each sweep until its end is known.
    let ended = format!("SELECT status FROM campaigns WHERE id = '{campaign}'");
    rig.shown(&ended, |status| status == ["cancelled"]).await;
    let asked = rig.requests(&eligible).len();
    rig.pass(OFTEN * 10).await;
    assert_eq!(rig.requests(&eligible).len(), asked, "not with each sweep");
    rig.control().faults().clear();
    rig.shown(&shown, <[String]>::is_empty).await;
    let enrolled =
        format!("SELECT item_id FROM campaign_listings WHERE campaign_id = '{campaign}' AND enrolled");
    assert_eq!(rig.ask(&enrolled).await, [listing["item_id"].as_str().unwrap()]);
    let asked = rig.requests(&eligible).len();
    rig.pass(OFTEN * 10).await;
    assert_eq!(rig.requests(&eligible).len(), asked, "that was its last reading");
    rig.stop().await;
}

#[tokio::test]
async fn an_ended_campaign_that_is_itself_refused_stays_as_it_was_read_last_and_is_no_error() {
    let mut rig = mirrored(1, 5).await;
    let campaign = rig.control().campaigns().create(&NewCampaign::default()).unwrap();
    rig.kept_in_step(only(&[Sweep::Campaigns], OFTEN), false).await;
    rig.fault("GET /api/seller/discounts/campaigns/{id}", None, refused_with(422, "VALIDATION_ERROR"));
    assert!(rig.control().campaigns().set_status(campaign, "cancelled"));
    let own = format!("/campaigns/{campaign}");
    let asked = || rig.requests(&own).iter().filter(|entry| entry.path.ends_with(&own)).count();
    rig.until("it is asked for", async || asked() > 0).await;
    rig.pass(OFTEN).await;
    let at_first = asked();
    rig.pass(OFTEN * 10).await;
    assert_eq!(asked(), at_first, "not with each sweep");
    let shown = format!("SELECT code FROM v_errors WHERE entity = 'campaign' AND key = '{campaign}'");
    assert!(rig.ask(&shown).await.is_empty());
    let live = format!("SELECT 'x' FROM campaigns WHERE id = '{campaign}' AND gone_at IS NULL");
    assert_eq!(rig.ask(&live).await, ["x"]);
    rig.stop().await;
}

#[tokio::test]
async fn the_error_of_an_ended_campaign_that_a_proxy_denies_ends_with_the_next_sweep() {
    let mut rig = mirrored(1, 5).await;
    let campaign = rig.control().campaigns().create(&NewCampaign::default()).unwrap();
    rig.kept_in_step(only(&[Sweep::Campaigns], OFTEN), false).await;
    let mirrored = format!("SELECT status FROM campaigns WHERE id = '{campaign}' AND gone_at IS NULL");
    rig.shown(&mirrored, |status| !status.is_empty()).await;
    rig.fault(&format!("/campaigns/{campaign}"), None, Fault::Html(404));
    assert!(rig.control().campaigns().set_status(campaign, "cancelled"));
    let shown = format!("SELECT code FROM v_errors WHERE entity = 'campaign' AND key = '{campaign}'");
    rig.shown(&shown, |codes| !codes.is_empty()).await;
    rig.pass(OFTEN * 60).await;
    rig.control().faults().clear();
    let own = format!("/campaigns/{campaign}");
    let asked = || rig.requests(&own).iter().filter(|entry| entry.path.ends_with(&own)).count();
    let denied = asked();
    rig.shown(&shown, <[String]>::is_empty).await;
    // One may have been on its way when the proxy came back.
    assert!(asked() - denied <= 2, "asked for {} times", asked() - denied);
    // A proxy's 404 takes no campaign away.
    rig.shown(&mirrored, |status| status == ["cancelled"]).await;
    rig.stop().await;
}

#[tokio::test]
async fn the_error_of_an_ended_campaign_whose_failure_does_not_pass_ends_after_a_week() {
    let mut rig = mirrored(1, 5).await;
    let campaign = rig.control().campaigns().create(&NewCampaign::default()).unwrap();
    rig.kept_in_step(only(&[Sweep::Campaigns], OFTEN), false).await;
    rig.fault("GET /api/seller/discounts/campaigns/{id}", None, Fault::Html(502));
    assert!(rig.control().campaigns().set_status(campaign, "cancelled"));
    let shown = format!("SELECT code FROM v_errors WHERE entity = 'campaign' AND key = '{campaign}'");
    rig.shown(&shown, |codes| !codes.is_empty()).await;
    rig.leap(Duration::from_secs(7 * 24 * 3_600));
    rig.shown(&shown, <[String]>::is_empty).await;
    // A request may be under way, and is repeated.
    rig.pass(OFTEN).await;
    let own = format!("/campaigns/{campaign}");
    let asked = || rig.requests(&own).iter().filter(|entry| entry.path.ends_with(&own)).count();
    let before = asked();
    rig.pass(OFTEN * 3).await;
    assert_eq!(asked(), before, "nothing more is expected of it");
    assert!(rig.ask(&shown).await.is_empty());
    rig.stop().await;
}

#[tokio::test]
async fn a_campaign_that_ended_long_ago_and_cannot_be_read_is_no_error() {
    let mut rig = mirrored(1, 5).await;
    let campaign = rig.control().campaigns().create(&NewCampaign::default()).unwrap();
    rig.kept_in_step(only(&[Sweep::Campaigns], OFTEN), false).await;
    let mirrored = format!("SELECT id FROM campaigns WHERE id = '{campaign}' AND gone_at IS NULL");
    rig.shown(&mirrored, |ids| !ids.is_empty()).await;
    rig.stop().await;
    assert!(rig.control().campaigns().set_status(campaign, "cancelled"));
    let ago = (rig.parts.clock.now() - chrono::TimeDelta::days(8)).format("%FT%T%.6fZ").to_string();
    rig.tables.execute(&format!("UPDATE campaigns SET ends_at = '{ago}' WHERE id = '{campaign}'")).await;
    rig.fault("GET /api/seller/discounts/campaigns/{id}", None, Fault::Html(502));
    rig.kept_in_step(only(&[Sweep::Campaigns], OFTEN), false).await;
    let own = format!("/campaigns/{campaign}");
    let is_asked = || rig.requests(&own).iter().any(|entry| entry.path.ends_with(&own));
    rig.until("it is asked for", async || is_asked()).await;
    rig.pass(OFTEN * 3).await;
    let shown = format!("SELECT code FROM v_errors WHERE entity = 'campaign' AND key = '{campaign}'");
    assert!(rig.ask(&shown).await.is_empty());
    assert_eq!(rig.ask(&mirrored).await.len(), 1, "it stays as it was read last");
    rig.stop().await;
}
