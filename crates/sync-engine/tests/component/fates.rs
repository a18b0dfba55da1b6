//! What becomes of a command under each way in which its request can be refused, lost or answered by somebody else.

use espelho_model::push::CommandKind;
use espelho_sandbox::Fault;

use crate::{
    kinds::{CASES, Case, fates, stage, wanted},
    support::{cut_after, refused_with},
};

/// What becomes of a command, and how often its request was sent.
type Fate = (&'static str, usize);

/// Asserts the fate of each kind: of those that a reading proves, and of the others.
async fn each(what: &str, fault: Fault, provable: Fate, unprovable: Fate) {
    fates(Some(fault), |case, answer, sent| {
        let expected = if case.is_provable { provable } else { unprovable };
        assert_eq!((answer[0].as_str(), sent), expected, "{what}: {:?}: {answer:?}", case.kind);
    })
    .await;
}

/// The same for a request that had no effect and whose answer does not say so: it is sent again where a reading proves
/// that nothing happened. Labels that do not show may still be in the making: only a person asks for them again.
async fn each_in_doubt(what: &str, fault: Fault) {
    fates(Some(fault), |case, answer, sent| {
        let is_proved = case.is_provable && case.kind != CommandKind::LabelsGenerate;
        let expected = if is_proved { ("done", 2) } else { ("doubtful", 1) };
        assert_eq!((answer[0].as_str(), sent), expected, "{what}: {:?}: {answer:?}", case.kind);
    })
    .await;
}

fn json(code: u16, body: &str) -> Fault {
    let (body, content_type) = (body.as_bytes().to_vec(), "application/json".into());
    Fault::Status { code, body, content_type, headers: Vec::new() }
}

#[tokio::test]
async fn a_refusal_in_the_marketplaces_words_is_final_and_shown_with_its_code() {
    for (status, code) in [(404, "NOT_FOUND"), (403, "FORBIDDEN"), (409, "CONFLICT")] {
        fates(Some(refused_with(status, code)), |case, answer, sent| {
            assert_eq!((answer[0].as_str(), sent), ("failed", 1), "{status}: {:?}: {answer:?}", case.kind);
            assert_eq!(answer[1], code, "{:?}: {answer:?}", case.kind);
            assert!(!answer[2].is_empty() && !answer[3].is_empty(), "{:?}: {answer:?}", case.kind);
        })
        .await;
    }
}

#[tokio::test]
async fn a_proxy_that_does_not_know_the_route_has_refused_the_request_for_good() {
    each("a proxy's page", Fault::Html(404), ("failed", 1), ("failed", 1)).await;
    each("a gateway", json(404, r#"{"message":"no Route matched"}"#), ("failed", 1), ("failed", 1)).await;
}

// withstands: F007
#[tokio::test]
async fn a_server_error_leaves_a_command_in_doubt_whatever_its_body_says() {
    each_in_doubt("a proxy's page", Fault::Html(502)).await;
    each_in_doubt("an envelope", refused_with(503, "UNAVAILABLE")).await;
    each_in_doubt("an envelope that denies", refused_with(500, "NOT_FOUND")).await;
}

// withstands: F008
#[tokio::test]
async fn a_success_that_says_the_contrary_leaves_a_command_in_doubt() {
    each_in_doubt("a web page", Fault::Html200).await;
    let denied =
        r#"{"success":false,"code":422,"message_code":"X","description":"não","data":[],"errors":[]}"#;
    each_in_doubt("a denial", Fault::RawJson(denied.to_owned())).await;
    let refused = r#"{"code":422,"message_code":"X","description":"não","data":[],"errors":["não"]}"#;
    each_in_doubt("an error without the word", Fault::RawJson(refused.to_owned())).await;
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_settled_by_a_reading_and_never_sent_again() {
    each("half an answer", Fault::TruncateBody, ("done", 1), ("doubtful", 1)).await;
}

// withstands: F006
#[tokio::test]
async fn a_command_that_is_told_to_wait_is_sent_again_and_done() {
    each("too many", Fault::TooMany(2), ("done", 2), ("done", 2)).await;
}

/// Evidence in the journal that says nothing: what is in its column.
const GARBLED: [&str; 5] = ["NULL", "''", "'{'", "'null'", "'{\"v\":1,\"of\":\"another kind\"}'"];

/// Kinds of which each has evidence of its own.
const EVIDENT: [CommandKind; 5] = [
    CommandKind::OrderStatus,
    CommandKind::CampaignOptIn,
    CommandKind::ProductCreate,
    CommandKind::StockAdjust,
    CommandKind::MediaUpload,
];

// withstands: F003
#[tokio::test]
async fn an_effect_whose_evidence_says_nothing_stays_in_doubt_and_is_never_sent_again() {
    for garbled in GARBLED {
        let mut rig = stage().await;
        let is_meant = |case: &&Case| EVIDENT.contains(&case.kind);
        for case in CASES.iter().filter(is_meant) {
            let (key, data) = wanted(&mut rig, case.kind).await;
            let before = case.sent(&rig);
            rig.fault(case.route, 1, cut_after());
            let id = rig.give(case.kind.as_str(), &key, &data).await;
            rig.until("it was sent", async || case.sent(&rig) > before).await;
            rig.kill().await;
            let garble = format!("UPDATE effects SET evidence = {garbled} WHERE state = 'sent'");
            rig.journal.execute(&garble).await;
            rig.start().await;
            let answer = rig.outcome(id, |state| !["new", "waiting", "sending"].contains(&state)).await;
            let sent = case.sent(&rig) - before;
            assert_eq!((answer[0].as_str(), sent), ("doubtful", 1), "{garbled}: {:?}: {answer:?}", case.kind);
            assert!(answer[3].contains("espelho retry command"), "{garbled}: {:?}: {answer:?}", case.kind);
        }
        rig.stop().await;
    }
}
