//! The control endpoints of webhooks, deliveries, occurrences and conversations.

use serde::Deserialize;
use serde_json::json;

use super::{DeliveryFault, DeliveryRule, NewOccurrence, dispatch};
use crate::{
    answer::Answer,
    call::Call,
    control::endpoint::{ControlEndpoint, body, control, done},
    faults::{ALWAYS, thousandths},
    refusal::{FieldErrors, Refusal},
};

/// The control endpoints of this area.
pub(crate) const ENDPOINTS: &[ControlEndpoint] = &[
    ControlEndpoint::get("webhooks/{store}", "the webhooks of a store", list),
    ControlEndpoint::post(
        "webhooks/{store}",
        concat!(
            r#"makes a webhook in the portal: {"url": "http://127.0.0.1:9000/hook", "events": "#,
            r#"["order.*"], "headers": [["X-Loja", "1"]]}"#
        ),
        add,
    ),
    ControlEndpoint::post("webhook/{id}", r#"changes a webhook in the portal: {"active": false}"#, edit),
    ControlEndpoint::delete("webhook/{id}", "deletes a webhook in the portal", delete),
    ControlEndpoint::post("webhook/{id}/test", "presses the test button of a webhook", test),
    ControlEndpoint::get("deliveries/{store}", "the delivery history: every attempt", history),
    ControlEndpoint::post(
        "deliveries/faults",
        concat!(
            r#"spoils deliveries (lost, doubled, held_back, delayed, wrong_signature, other_secret): "#,
            r#"{"event": "order.", "times": 1, "probability": 1.0, "kind": "delayed", "seconds": 30}"#
        ),
        spoil,
    ),
    ControlEndpoint::delete("deliveries/faults", "forgets every fault of deliveries", unspoil),
    ControlEndpoint::post(
        "occurrences/{store}",
        concat!(
            r#"opens an occurrence: {"title": "Atraso na postagem", "severity": "high", "trigger_key": "#,
            r#""shipping_delay"}"#
        ),
        open_occurrence,
    ),
    ControlEndpoint::post(
        "occurrences/{store}/{id}/end",
        r#"ends an occurrence (resolved, cancelled, auto_closed): {"status": "resolved"}"#,
        end_occurrence,
    ),
    ControlEndpoint::post(
        "conversations/{store}",
        r#"opens a conversation: {"order_number": "000100000001", "type": "question"}"#,
        open_conversation,
    ),
    ControlEndpoint::post(
        "conversations/{store}/{id}/messages",
        concat!(
            r#"somebody writes (customer, platform, store): {"sender_type": "customer", "body": "Quando "#,
            r#"chega?"}"#
        ),
        say,
    ),
    ControlEndpoint::post(
        "conversations/{store}/{id}/close",
        r#"closes a conversation: {"reason": "resolved"}"#,
        close_conversation,
    ),
];

fn list(call: &Call) -> Result<Answer, Refusal> {
    call.world.store(call.id(0)).ok_or(Refusal::NotFound)?;
    Ok(Answer::value(&json!(control(call).webhooks().of_store(call.id(0)))))
}

fn add(call: &Call) -> Result<Answer, Refusal> {
    let secret = control(call).webhooks().add_in_portal(call.id(0), body(call)?)?;
    Ok(Answer::value(&json!(secret)).with_status(201))
}

fn edit(call: &Call) -> Result<Answer, Refusal> {
    control(call).webhooks().edit_in_portal(call.id(0), body(call)?)?;
    done(true)
}

fn delete(call: &Call) -> Result<Answer, Refusal> {
    done(control(call).webhooks().delete(call.id(0)))
}

fn test(call: &Call) -> Result<Answer, Refusal> {
    dispatch::test_from_portal(&call.world, call.id(0))?;
    done(true)
}

fn history(call: &Call) -> Result<Answer, Refusal> {
    call.world.store(call.id(0)).ok_or(Refusal::NotFound)?;
    Ok(Answer::value(&json!(control(call).webhooks().deliveries(call.id(0)))))
}

/// A delivery rule as JSON.
#[derive(Deserialize)]
struct Rule {
    #[serde(default)]
    event: String,
    times: Option<u32>,
    probability: Option<f64>,
    #[serde(flatten)]
    kind: Kind,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Kind {
    Lost,
    Doubled,
    HeldBack,
    Delayed { seconds: u32 },
    WrongSignature,
    OtherSecret,
}

fn spoil(call: &Call) -> Result<Answer, Refusal> {
    let Rule { event, times, probability, kind } = body(call)?;
    let kind = match kind {
        Kind::Lost => DeliveryFault::Lost,
        Kind::Doubled => DeliveryFault::Doubled,
        Kind::HeldBack => DeliveryFault::HeldBack,
        Kind::Delayed { seconds } => DeliveryFault::Delayed(seconds),
        Kind::WrongSignature => DeliveryFault::WrongSignature,
        Kind::OtherSecret => DeliveryFault::OtherSecret,
    };
    let of_thousand = probability.map_or(Ok(ALWAYS), thousandths)?;
    control(call).webhooks().spoil_deliveries(DeliveryRule { event, times, of_thousand, kind });
    done(true)
}

fn unspoil(call: &Call) -> Result<Answer, Refusal> {
    control(call).webhooks().clear_delivery_faults();
    done(true)
}

fn open_occurrence(call: &Call) -> Result<Answer, Refusal> {
    call.world.store(call.id(0)).ok_or(Refusal::NotFound)?;
    let id = control(call).support_cases().open_occurrence(call.id(0), body::<NewOccurrence>(call)?);
    let error = || Refusal::Invalid(FieldErrors::one("severity", "O campo severity é inválido."));
    Ok(Answer::value(&json!({"occurrence_id": id.ok_or_else(error)?})))
}

#[derive(Deserialize)]
struct End {
    status: String,
}

fn end_occurrence(call: &Call) -> Result<Answer, Refusal> {
    let End { status } = body(call)?;
    done(control(call).support_cases().end_occurrence(call.id(0), number(call)?, &status))
}

#[derive(Deserialize)]
struct Conversation {
    order_number: String,
    #[serde(rename = "type")]
    kind: String,
}

fn open_conversation(call: &Call) -> Result<Answer, Refusal> {
    let Conversation { order_number, kind } = body(call)?;
    let id = control(call)
        .support_cases()
        .open_conversation(call.id(0), &order_number, &kind)
        .ok_or(Refusal::NotFound)?;
    Ok(Answer::value(&json!({"conversation_id": id})))
}

#[derive(Deserialize)]
struct Message {
    sender_type: String,
    body: String,
}

fn say(call: &Call) -> Result<Answer, Refusal> {
    let message: Message = body(call)?;
    let id =
        control(call).support_cases().say(call.id(0), number(call)?, &message.sender_type, &message.body);
    Ok(Answer::value(&json!({"message_id": id.ok_or(Refusal::NotFound)?})))
}

#[derive(Deserialize)]
struct Reason {
    reason: String,
}

fn close_conversation(call: &Call) -> Result<Answer, Refusal> {
    let Reason { reason } = body(call)?;
    done(control(call).support_cases().close_conversation(call.id(0), number(call)?, &reason))
}

/// The second identifier of the path, which is a number.
fn number(call: &Call) -> Result<u64, Refusal> {
    call.id(1).parse().map_err(|_| Refusal::NotFound)
}
