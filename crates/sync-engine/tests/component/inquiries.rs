//! What people ask of a running live mirror: questions, reconciliations, audits.

use std::{sync::Arc, time::Duration};

use espelho_model::sync::{Resource, RunState};
use espelho_sandbox::{Fault, NewWebhook};
use espelho_sync_engine::{
    Ability, AuditOptions, Difference, Examination, Options, Question, RoundTrip, Subject, TokenProof,
};
use serde_json::json;

use crate::support::{
    Kind, Rig, Setup,
    live::{Outside, only},
    refused_with,
};

/// How often a sweep of a test runs.
const OFTEN: Duration = Duration::from_secs(60);
const TEST: &str = "/api/integration/webhook/test";

async fn kept(receives: bool) -> (Rig, Arc<Outside>) {
    let setup = Setup::on(Kind::Sqlite).with(|setup| (setup.world.orders, setup.world.products) = (4, 4));
    let mut rig = setup.start().await;
    rig.stop().await;
    let outside = rig.kept_in_step(only(&[], OFTEN), receives).await;
    (rig, outside)
}

impl Rig {
    /// Makes a webhook whose address nobody answers at: what arrives, the test puts into the inbox.
    pub(crate) fn make_webhook(&self) -> String {
        let webhook = NewWebhook {
            url: Some("http://127.0.0.1:9/webhooks".into()),
            events: Some(vec!["*".into()]),
            ..NewWebhook::default()
        };
        self.control().webhooks().create(&self.key(), webhook).unwrap().id
    }
}

#[tokio::test]
async fn a_token_that_works_is_proved_with_the_stores_name_or_by_a_refusal_that_knows_it() {
    let (mut rig, outside) = kept(false).await;
    let Some(Examination::Token(proof)) = rig.inquire(&outside, Question::Token).await else {
        panic!("no proof")
    };
    assert!(proof.name.is_some() && proof.withheld.is_none(), "{proof:?}");
    for status in [403, 404] {
        rig.fault("/auth/session", None, refused_with(status, "FORBIDDEN"));
        let Some(Examination::Token(TokenProof { name, withheld, .. })) =
            rig.inquire(&outside, Question::Token).await
        else {
            panic!("no proof by {status}")
        };
        assert_eq!((name, withheld), (None, Some(status)));
        rig.control().faults().clear();
    }
    rig.fault("/auth/session", None, refused_with(422, "VALIDATION_ERROR"));
    let Some(Examination::Failed(refusal)) = rig.inquire(&outside, Question::Token).await else {
        panic!("a proof")
    };
    assert!(!refusal.is_authentication && !refusal.error.is_empty(), "{refusal:?}");
    rig.stop().await;
}

#[tokio::test]
async fn a_question_whose_answer_takes_too_long_is_given_up_and_the_next_one_is_answered() {
    let (mut rig, outside) = kept(false).await;
    rig.fault("/auth/session", None, Fault::TooMany(30));
    assert_eq!(rig.inquire(&outside, Question::Token).await, None);
    rig.control().faults().clear();
    let mut answer = None;
    for _ in 0..5 {
        rig.pass(Duration::from_secs(60)).await;
        answer = rig.inquire(&outside, Question::Token).await;
        if answer.is_some() {
            break;
        }
    }
    assert!(matches!(answer, Some(Examination::Token(_))), "{answer:?}");
    rig.stop().await;
}

#[tokio::test]
async fn each_ability_is_granted_missing_or_unknown() {
    let (mut rig, outside) = kept(false).await;
    let granted = |abilities: &[Ability]| -> Vec<(String, Option<bool>)> {
        abilities.iter().map(|ability| (ability.name.clone(), ability.granted)).collect()
    };
    let named = |orders, products| {
        [
            ("orders".to_owned(), orders),
            ("store_products_read".to_owned(), products),
            ("store_products_write".to_owned(), None),
            ("store_orders_substores".to_owned(), None),
        ]
    };
    let Some(Examination::Abilities(abilities)) = rig.inquire(&outside, Question::Abilities).await else {
        panic!("no answer")
    };
    assert_eq!(granted(&abilities), named(Some(true), Some(true)));
    assert_eq!(Ability::orders_read(), abilities[0]);
    let Some(Examination::Abilities(others)) = rig.inquire(&outside, Question::OtherAbilities).await else {
        panic!("no answer")
    };
    assert_eq!(others, abilities[1..], "all but the orders, which are not read for it");
    // The next login is not due before.
    rig.leap(Duration::from_secs(120));
    assert!(rig.control().credentials().set_abilities(&rig.key(), &[]));
    assert!(rig.control().credentials().kill_token(&rig.key()));
    let Some(Examination::Abilities(abilities)) = rig.inquire(&outside, Question::Abilities).await else {
        panic!("no answer")
    };
    assert_eq!(granted(&abilities), named(Some(true), Some(false)));
    assert_eq!(abilities[1].missing, ["store_products_read"]);
    rig.fault("GET /api/v1/sellers/orders", None, refused_with(422, "VALIDATION_ERROR"));
    let Some(Examination::Abilities(abilities)) = rig.inquire(&outside, Question::Abilities).await else {
        panic!("no answer")
    };
    assert!(abilities[0].granted.is_none() && abilities[0].error.is_some(), "{abilities:?}");
    rig.stop().await;
}

#[tokio::test]
async fn a_password_is_proved_by_a_login_that_the_live_mirror_goes_on_with() {
    let (mut rig, outside) = kept(false).await;
    // Not before the next login is due.
    rig.leap(Duration::from_secs(120));
    let logins = rig.sandbox.stats().logins;
    assert_eq!(rig.inquire(&outside, Question::Password).await, Some(Examination::Password));
    assert_eq!(rig.sandbox.stats().logins, logins + 1);
    let sku = rig.goods().await[0].sku.clone();
    let number = rig.sell("standard", &sku);
    let data = json!({"order_number": number, "status": "paid", "store_id": 1});
    rig.deliver(&outside, "order.created", &data).await;
    rig.shown(&format!("SELECT status FROM orders WHERE order_number = '{number}'"), |rows| rows == ["paid"])
        .await;
    assert_eq!(rig.sandbox.stats().logins, logins + 1, "with the same token");
    rig.stop().await;
}

#[tokio::test]
async fn a_test_delivery_that_was_asked_for_arrives_or_does_not_or_cannot_be_asked_for() {
    let (mut rig, outside) = kept(true).await;
    rig.pass(Duration::from_secs(60)).await;
    let Some(Examination::Webhook(RoundTrip::Refused { problem })) =
        rig.inquire(&outside, Question::Webhook).await
    else {
        panic!("there is no webhook")
    };
    assert!(!problem.is_empty());
    rig.make_webhook();
    let answer = rig.inquire(&outside, Question::Webhook).await;
    // Its own time limit is a second before the caller's.
    assert!(matches!(answer, None | Some(Examination::Webhook(RoundTrip::Unanswered))), "{answer:?}");
    let asked = rig.requests(TEST).len();
    let arrives = async {
        while rig.requests(TEST).len() == asked {
            tokio::task::yield_now().await;
        }
        rig.deliver(&outside, "webhook.test", &json!({"source": "integration.webhook-test"})).await;
    };
    let (answer, ()) = tokio::join!(rig.inquire(&outside, Question::Webhook), arrives);
    let Some(Examination::Webhook(RoundTrip::Arrived { milliseconds })) = answer else {
        panic!("{answer:?}")
    };
    assert!(milliseconds < 4_000, "{milliseconds}");
    rig.fault(TEST, None, refused_with(403, "FORBIDDEN"));
    let answer = rig.inquire(&outside, Question::Webhook).await;
    assert!(matches!(answer, Some(Examination::Webhook(RoundTrip::Refused { .. }))), "{answer:?}");
    rig.stop().await;
}

#[tokio::test]
async fn who_receives_nothing_cannot_tell_whether_a_delivery_arrives() {
    let (mut rig, outside) = kept(false).await;
    let asked = rig.requests(TEST).len();
    let Some(Examination::Webhook(RoundTrip::NotAsked(refusal))) =
        rig.inquire(&outside, Question::Webhook).await
    else {
        panic!("it was asked for")
    };
    assert_eq!((refusal.code.as_str(), rig.requests(TEST).len()), ("not_received", asked));
    rig.stop().await;
}

#[tokio::test]
async fn a_reconciliation_and_an_audit_are_done_on_request_beside_live_work() {
    let (mut rig, outside) = kept(true).await;
    let number = rig.ask("SELECT order_number FROM orders ORDER BY order_number").await.remove(1);
    rig.tables.execute(&format!("DELETE FROM orders WHERE order_number = '{number}'")).await;
    let options = || AuditOptions { only: vec![Subject::Orders, Subject::Products], sample: 10 };
    let audit = rig.request_audit(&outside, options()).await;
    assert_eq!(audit.resources[0].differences, [(number.clone(), Difference::Missing)]);
    let only = vec![Resource::Orders.into()];
    let manual = Options { only, kind: "manual", ..Options::default() };
    let before = outside.told().reconciled;
    let report = rig.request_reconciliation(&outside, manual).await;
    assert_eq!((report.state, report.counts().changed), (RunState::Complete, 1), "{report:?}");
    assert_eq!(outside.told().reconciled, before + 1);
    let audit = rig.request_audit(&outside, options()).await;
    assert!(audit.is_clean(), "{audit:?}");
    // The timetable's own comes as before.
    outside.reconcile.notify_one();
    rig.until("it is reconciled", async || outside.told().reconciled == before + 2).await;
    let kinds = "SELECT kind FROM sync_runs ORDER BY id DESC LIMIT 2";
    assert_eq!(rig.ask(kinds).await, ["scheduled", "manual"]);
    rig.stop().await;
}
