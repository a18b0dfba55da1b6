//! Transitions of orders (`order.status`): what the marketplace offers decides, what is there already is done, and what
//! it refuses is not asked for twice.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_api_client::resources::orders::{InvalidTransition, PossibleStatuses, Transition};
use espelho_model::{
    order::Order,
    text,
    text::{Text, words::order_status},
    timeline::OrderEvent,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Message, Settlement, Verdict, evidence::Evidence, invalid};

/// Times of the marketplace have whole seconds, and its clock and ours differ.
const BLUR: TimeDelta = TimeDelta::seconds(5);
/// The code of a command that waits for an invoice.
pub const WAITING_INVOICE: &str = "waiting_invoice";
/// The time between two checks of an order that moves on by itself.
const AUTOMATIC_RECHECK: Duration = Duration::from_secs(30);
/// The time without news after which the documents are read: webhooks may be lost. A tenth of the age of the command,
/// within these: most invoices come soon, and a reading costs two requests.
const WITHOUT_NEWS: [Duration; 2] = [Duration::from_secs(30), Duration::from_secs(300)];

/// What the journal keeps with a transition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransitionEvidence {
    /// The order's number.
    pub order: String,
    /// The status that was asked for.
    pub target: String,
    /// The status before it.
    pub from: String,
    /// The end of the journal before the order's status was read; an earlier version named the field.
    #[serde(rename = "mark")]
    pub journal_end: Option<i64>,
}

impl Evidence for TransitionEvidence {
    const KIND: &'static str = "order.status";
    const IS_REPEATABLE: bool = false;
    const EARLIER_ROW: &'static str =
        r#"{"order":"MP-1","target":"shipped","from":"ready_to_ship","mark":9}"#;
}

/// The next step for a transition.
#[derive(Debug)]
pub enum Action {
    /// The row is answered, or waits.
    Answer(Verdict),
    /// The order's timeline must be read first: [`has_been`].
    ReadTimeline,
    /// The transition is asked for.
    Send(Transition),
}

/// The next step, from what the marketplace offers now. `has_been` says whether the timeline shows that the order has
/// been there since the command was given; `None` where nobody has read it.
pub fn decide(target: &str, payload: Value, possible: &PossibleStatuses, has_been: Option<bool>) -> Action {
    if is_there(target, &possible.current_status) || has_been == Some(true) {
        return Action::Answer(Verdict::Done(None));
    }
    // Nobody moves an order to `paid`: it gets there by itself, and where that is offered it is noise.
    if has_been.is_none() && target != "paid" && possible.action_to(target).is_none() {
        return Action::ReadTimeline;
    }
    if target == "delivered" && possible.current_status == "picked_up" {
        let message = Message::new("automatic", text!("push-automatic"));
        return Action::Answer(Verdict::Waiting(message, AUTOMATIC_RECHECK));
    }
    let Some(action) = possible.action_to(target) else {
        return Action::Answer(Verdict::Failed(not_offered(target, possible)));
    };
    match Transition::offered(action, payload) {
        Ok(transition) => Action::Send(transition),
        Err(error) => Action::Answer(Verdict::Failed(invalid_payload(&error))),
    }
}

/// True where an order is in the status that was asked for.
pub fn is_there(target: &str, current: &str) -> bool {
    // Goods that are there make it an ordinary paid order, of which nobody knows how it became one.
    reached(target) == target && current == target
}

/// Says whether an order has been where it is to go since the command was given, and has gone on from there. What lies
/// before it was not what it asks for: an order that was prepared last week and is cancelled by now is not to be called
/// prepared.
pub fn has_been(
    target: &str,
    events: &[OrderEvent],
    was_tried: bool,
    given_at: Option<DateTime<Utc>>,
) -> bool {
    let since = given_at.map(|at| at - BLUR);
    let is_later =
        |event: &OrderEvent| since.is_some_and(|since| event.created_at.is_some_and(|at| at >= since));
    events.iter().any(|event| is_move_to(event, target) && (was_tried || is_later(event)))
}

/// True where the marketplace shows an order at the status that was asked for.
pub fn shows_target(target: &str, shown: Option<&str>) -> bool {
    shown == Some(reached(target))
}

/// Tells what became of a transition whose answer was lost, or did not show the order at its target.
pub fn settle(
    evidence: &TransitionEvidence,
    sent_at: DateTime<Utc>,
    current: Option<&str>,
    events: &[OrderEvent],
) -> Settlement {
    if shows_target(&evidence.target, current) {
        return Settlement::Happened { answer: None, how: "the order is there" };
    }
    let shows = events.iter().any(|event| {
        event.new_status.as_deref() == Some(&evidence.target)
            && event.created_at.is_none_or(|at| at >= sent_at - BLUR)
    });
    Settlement::of(shows, "the order's timeline shows it", "neither the order nor its timeline shows it")
}

/// How long a command that was given at this time waits for an invoice until the documents are read.
pub fn wait_without_news(given_at: Option<DateTime<Utc>>, now: DateTime<Utc>) -> Duration {
    let [least, most] = WITHOUT_NEWS;
    let age = given_at.and_then(|at| (now - at).to_std().ok());
    (age.unwrap_or_default() / 10).clamp(least, most)
}

/// True where an order still waits for an invoice: it was not moved on, and has no current document.
pub fn still_waits_for_invoice(order: &Order, has_current_document: bool) -> bool {
    matches!(order.status.as_deref(), Some("paid" | "preparing")) && !has_current_document
}

/// The status in which an order is after a transition: goods that are there make it an ordinary paid one (API document,
/// "Order, pre-order and backorder").
fn reached(target: &str) -> &str {
    match target {
        "available" | "restocked" => "paid",
        other => other,
    }
}

fn is_move_to(event: &OrderEvent, target: &str) -> bool {
    let from = match target {
        "available" => Some("awaiting_availability"),
        "restocked" => Some("awaiting_restock"),
        _ => None,
    };
    let comes_from = from.is_none() || event.old_status.as_deref() == from;
    event.new_status.as_deref() == Some(reached(target)) && comes_from
}

/// The payload of a transition: `data.data`, or what stands beside `status`. A field without a value is none, and no
/// fields are no payload.
pub fn payload(data: &Value) -> Value {
    let payload = match data.get("data") {
        Some(payload) => payload.clone(),
        None => {
            let mut rest = data.as_object().cloned().unwrap_or_default();
            rest.remove("status");
            Value::Object(rest)
        }
    };
    match payload {
        Value::Object(mut fields) => {
            fields.retain(|_, value| !(value.is_null() || value.as_str() == Some("")));
            if fields.is_empty() { Value::Null } else { Value::Object(fields) }
        }
        Value::Array(list) if list.is_empty() => Value::Null,
        other => other,
    }
}

fn not_offered(target: &str, possible: &PossibleStatuses) -> Message {
    let current = &possible.current_status;
    if target == "cancelled" {
        let text = text!("push-too-late-to-cancel-from", current = order_status(current));
        return Message::new("too_late_to_cancel", text);
    }
    let offered = possible.next_actions.iter().filter(|action| !action.is_noise(current));
    let offered: Vec<Text> = offered.map(|action| with_code(&action.target_status)).collect();
    let (current, target) = (order_status(current), order_status(target));
    let text = match offered.is_empty() {
        true => text!("push-no-transition", current = current, target = target),
        false => {
            text!("push-impossible-transition", current = current, target = target, offered = offered)
        }
    };
    Message::new("impossible_transition", text)
}

/// A status as people say it, and as a command writes it.
fn with_code(status: &str) -> Text {
    text!("words-with-code", word = order_status(status), code = status)
}

/// The words for a cancellation that came too late.
pub fn too_late() -> Message {
    Message::new("too_late_to_cancel", text!("push-too-late-to-cancel"))
}

/// The words for an order that waits for its invoice; `words` are the marketplace's.
pub fn waits_for_invoice(words: &[String]) -> Message {
    let text = match words {
        [] => text!("push-waiting-invoice"),
        words => text!("push-waiting-invoice-as-said", words = words.join("; ")),
    };
    Message::new(WAITING_INVOICE, text)
}

fn invalid_payload(error: &InvalidTransition) -> Message {
    invalid(error.text())
}

#[cfg(test)]
pub(crate) mod tests {
    use espelho_model::{LineId, OrderNumber, RawJson, order::OrderItem};
    use serde_json::json;

    use super::{super::tests::at, *};

    pub(crate) fn order(status: &str) -> Order {
        let bare = Order::bare(OrderNumber::new("1"), RawJson::new("{}"));
        Order { status: Some(status.to_owned()), ..bare }
    }

    pub(crate) fn line(sku: &str, quantity: i64) -> OrderItem {
        OrderItem {
            id: LineId::new("1"),
            product_id: None,
            sku: Some(sku.to_owned()),
            quantity: Some(quantity.into()),
            unit_price: None,
            net_value: None,
            price_scale: None,
            stock_status: None,
            is_blocking_stock: None,
            name: None,
            raw: RawJson::new("{}"),
        }
    }

    fn offers(current: &str, targets: &[&str]) -> PossibleStatuses {
        let action = |target: &&str| json!({"action": "go", "target_status": target});
        let actions: Vec<Value> = targets.iter().map(action).collect();
        serde_json::from_value(json!({"current_status": current, "next_actions": actions})).unwrap()
    }

    fn event(old: &str, new: &str, seconds: Option<i64>) -> OrderEvent {
        OrderEvent {
            id: "1".into(),
            event_type: None,
            description: None,
            old_status: Some(old.into()),
            new_status: Some(new.into()),
            author_type: None,
            author_name: None,
            metadata: None,
            created_at: seconds.map(at),
            raw: RawJson::new("{}"),
        }
    }

    /// The step as a word: `done`, `timeline`, `send`, or the code of the answer.
    fn step(target: &str, possible: &PossibleStatuses, has_been: Option<bool>) -> String {
        match decide(target, Value::Null, possible, has_been) {
            Action::Answer(Verdict::Done(None)) => "done".to_owned(),
            Action::Answer(Verdict::Failed(message) | Verdict::Waiting(message, _)) => message.code,
            Action::Answer(other) => panic!("{other:?}"),
            Action::ReadTimeline => "timeline".to_owned(),
            Action::Send(transition) => format!("send {}", transition.status()),
        }
    }

    /// Target, current status, what is offered, whether the timeline shows the target, and the step.
    type Row = (&'static str, &'static str, &'static [&'static str], Option<bool>, &'static str);

    #[test]
    fn what_the_marketplace_offers_decides() {
        let rows: [Row; 16] = [
            ("preparing", "paid", &["preparing", "cancelled"], None, "send preparing"),
            ("preparing", "preparing", &["shipped"], None, "done"),
            ("preparing", "shipped", &["delivered"], None, "timeline"),
            ("preparing", "shipped", &["delivered"], Some(true), "done"),
            ("preparing", "shipped", &["delivered"], Some(false), "impossible_transition"),
            ("shipped", "delivered", &[], Some(false), "impossible_transition"),
            ("cancelled", "shipped", &["delivered"], Some(false), "too_late_to_cancel"),
            ("cancelled", "cancelled", &[], None, "done"),
            ("delivered", "picked_up", &[], Some(false), "automatic"),
            ("delivered", "picked_up", &["delivered"], None, "automatic"),
            ("available", "awaiting_availability", &["available"], None, "send available"),
            ("available", "paid", &["preparing"], None, "timeline"),
            ("available", "paid", &["preparing"], Some(true), "done"),
            ("restocked", "paid", &["preparing"], Some(false), "impossible_transition"),
            // Nobody moves an order to `paid`, and where it is offered during a campaign it is noise.
            ("paid", "awaiting_campaign_conclusion", &["paid", "preparing"], None, "impossible_transition"),
            ("paid", "waiting_payment", &[], None, "impossible_transition"),
        ];
        for (target, current, offered, has_been, expected) in rows {
            assert_eq!(step(target, &offers(current, offered), has_been), expected, "{current} to {target}");
        }
    }

    #[test]
    fn an_order_that_goes_nowhere_still_has_a_next_step() {
        let message = not_offered("paid", &offers("waiting_payment", &[]));
        for locale in text::Language::ALL.map(text::Locale::of) {
            let next = message.text.clone().with("row", "command 7").next(locale).unwrap();
            assert!(next.contains("espelho ignore command 7") && next.contains("portal"), "{next}");
        }
    }

    #[test]
    fn a_payload_that_the_marketplace_would_refuse_is_refused_first() {
        let cancelled =
            decide("cancelled", json!({"reason": "short"}), &offers("paid", &["cancelled"]), None);
        let Action::Answer(Verdict::Failed(message)) = cancelled else { panic!("{cancelled:?}") };
        assert_eq!(message.code, "invalid_data");
    }

    #[test]
    fn what_lies_before_the_command_was_not_what_it_asks_for() {
        let events = [event("paid", "preparing", Some(100))];
        let been = |was_tried, given: Option<i64>| has_been("preparing", &events, was_tried, given.map(at));
        assert!(been(false, Some(100)));
        assert!(been(false, Some(105)), "clocks differ");
        assert!(!been(false, Some(106)));
        assert!(!been(false, None));
        assert!(been(true, Some(999)), "we have asked for it ourselves");
        assert!(!has_been("shipped", &events, true, Some(at(0))));
        assert!(
            !has_been("preparing", &[event("paid", "preparing", None)], false, Some(at(0))),
            "nobody knows when"
        );
    }

    #[test]
    fn goods_that_are_there_are_told_by_where_the_order_came_from() {
        let events = [event("awaiting_availability", "paid", Some(100))];
        assert!(has_been("available", &events, true, None));
        assert!(!has_been("restocked", &events, true, None));
        assert!(!has_been("available", &[event("waiting_payment", "paid", Some(100))], true, None));
    }

    #[test]
    fn an_answer_with_another_status_or_none_does_not_show_the_target() {
        for (target, shown, expected) in [
            ("preparing", Some("preparing"), true),
            ("preparing", Some("paid"), false),
            ("preparing", None, false),
            ("available", Some("paid"), true),
            ("restocked", Some("paid"), true),
            ("available", Some("awaiting_availability"), false),
            // The timeline proves it.
            ("picked_up", Some("delivered"), false),
        ] {
            assert_eq!(shows_target(target, shown), expected, "{target} {shown:?}");
        }
    }

    // withstands: F001
    #[test]
    fn a_lost_transition_shows_in_the_order_or_in_its_timeline_since_it_was_sent() {
        let evidence = |target: &str| TransitionEvidence {
            order: "1".into(),
            target: target.into(),
            from: "paid".into(),
            journal_end: None,
        };
        let happened = |target: &str, current: &str, events: &[OrderEvent]| {
            matches!(settle(&evidence(target), at(100), Some(current), events), Settlement::Happened { .. })
        };
        assert!(happened("preparing", "preparing", &[]));
        assert!(happened("available", "paid", &[]));
        assert!(happened("preparing", "shipped", &[event("paid", "preparing", Some(100))]));
        assert!(happened("preparing", "shipped", &[event("paid", "preparing", Some(95))]), "clocks differ");
        assert!(!happened("preparing", "paid", &[event("paid", "preparing", Some(94))]), "an earlier time");
        assert!(happened("preparing", "shipped", &[event("paid", "preparing", None)]));
        assert!(!happened("preparing", "paid", &[event("paid", "cancelled", Some(100))]));
        assert!(!matches!(settle(&evidence("preparing"), at(0), None, &[]), Settlement::Happened { .. }));
    }

    #[test]
    fn documents_are_read_after_a_tenth_of_the_age_within_half_a_minute_and_five() {
        let waits = |given: Option<i64>, now| wait_without_news(given.map(at), at(now)).as_secs();
        assert_eq!(waits(Some(0), 0), 30);
        assert_eq!(waits(Some(0), 300), 30);
        assert_eq!(waits(Some(0), 1_000), 100);
        assert_eq!(waits(Some(0), 9_000), 300);
        assert_eq!(waits(Some(50), 0), 30, "a clock that was set back");
        assert_eq!(waits(None, 9_000), 30);
    }

    #[test]
    fn an_order_in_preparation_without_a_document_waits() {
        assert!(still_waits_for_invoice(&order("preparing"), false));
        assert!(still_waits_for_invoice(&order("paid"), false), "a document is not even issued yet");
        assert!(!still_waits_for_invoice(&order("preparing"), true));
        assert!(!still_waits_for_invoice(&order("ready_to_ship"), false));
    }

    #[test]
    fn the_payload_is_data_or_what_stands_beside_the_status() {
        let rows = [
            (json!({"status": "x"}), Value::Null),
            (json!({"status": "x", "data": {"reason": "r"}}), json!({"reason": "r"})),
            (json!({"status": "x", "reason": "r"}), json!({"reason": "r"})),
            (json!({"status": "x", "data": {"reason": null, "code": ""}}), Value::Null),
            (json!({"status": "x", "data": []}), Value::Null),
            (json!({"status": "x", "data": null}), Value::Null),
            (json!({"status": "x", "data": "text"}), json!("text")),
        ];
        for (data, expected) in rows {
            assert_eq!(payload(&data), expected, "{data}");
        }
    }
}
