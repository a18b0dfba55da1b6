//! Moving orders on (`order.status`): what the marketplace offers now decides, what is there already is done, what waits for an
//! invoice is asked for again when there is one, and what is refused is not asked for twice.

use std::time::Duration;

use chrono::TimeDelta;
use espelho_api_client::{
    Documented, Error as ApiError,
    resources::orders::{InvalidTransition, PossibleStatuses, Transition},
};
use espelho_model::{
    OrderNumber,
    push::PushState,
    text,
    text::{Text, words::order_status},
    timeline::OrderEvent,
};
use espelho_store::Effect;
use serde_json::{Value, json};

use super::{
    Pusher,
    commands::CommandContext,
    journal::{Acted, Evidence},
    stock::invalid,
    verdict::{Cause, Message, Verdict},
};

/// How often the mirror is looked at for an invoice.
const INVOICE_RECHECK_INTERVAL: Duration = Duration::from_secs(2);
/// When it is tried again without one that the mirror knows of: webhooks may be lost. A tenth of the time that it has waited, within
/// these: most invoices come soon, and a look costs two requests.
const WITHOUT_NEWS: [Duration; 2] = [Duration::from_secs(30), Duration::from_secs(300)];
/// The code of a command that waits for an invoice.
const WAITING_INVOICE: &str = "waiting_invoice";
/// Times of the marketplace have whole seconds, and its clock and ours differ.
const BLUR: TimeDelta = TimeDelta::seconds(5);

impl Pusher<'_> {
    pub(super) async fn move_order(&self, cx: &CommandContext<'_>) -> Result<Verdict, Cause> {
        let number = OrderNumber::new(cx.command.key.clone());
        let Some(target) = cx.data["status"].as_str().filter(|status| !status.is_empty()) else {
            return Ok(Verdict::Failed(invalid(text!(
                "value-missing",
                field = "data.status",
                example = "{\"status\": \"preparing\"}"
            ))));
        };
        if cx.confirmed("order.status").is_some() {
            self.listener.order(&number);
            return Ok(Verdict::Done(None));
        }
        if self.waits_for_invoice(cx, &number).await? {
            return Ok(Verdict::Waiting(waits_for_invoice(&[]), INVOICE_RECHECK_INTERVAL));
        }
        let mark = self.context.store.last_effect(&self.context.key).await?;
        let possible = match self.client.possible_statuses(&number).await {
            Ok(possible) => possible,
            Err(error) => return super::refused(error),
        };
        if possible.current_status == reached(target) && reached(target) == target
            || self.has_been(cx, &number, &possible).await?
        {
            self.listener.order(&number);
            return Ok(Verdict::Done(None));
        }
        if target == "delivered" && possible.current_status == "picked_up" {
            return Ok(Verdict::Waiting(comes_by_itself(), Duration::from_secs(30)));
        }
        let Some(action) = possible.action_to(target) else {
            return Ok(Verdict::Failed(not_offered(target, &possible)));
        };
        let transition = match Transition::offered(action, payload(&cx.data)) {
            Ok(transition) => transition,
            Err(error) => return Ok(Verdict::Failed(invalid_payload(&error))),
        };
        let request = transition.request(&number);
        // What was planned by then was planned before the order went there.
        let evidence = json!({
            "order": number.as_str(), "target": target, "from": possible.current_status, "mark": mark,
        });
        let effect = cx.effect("order.status", &request, &evidence);
        // What the mirror hears from here on is news.
        let documents = self.context.store.current_invoices(&self.context.key, &number).await?;
        let acted = self.execute_once(effect, &cx.intent(), &request).await?;
        self.listener.order(&number);
        match acted {
            Acted::Applied(_) => Ok(Verdict::Done(None)),
            Acted::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
            Acted::Refused(error) => self.refused_transition(cx, &number, documents, error).await,
        }
    }

    async fn refused_transition(
        &self,
        cx: &CommandContext<'_>,
        number: &OrderNumber,
        documents: Vec<String>,
        error: ApiError,
    ) -> Result<Verdict, Cause> {
        match error.kind() {
            Some(Documented::FiscalGate(words)) => {
                let until = self.context.clock.monotonic() + self.without_news(cx);
                self.state().documents.insert(cx.command.id, (Some(documents), until));
                Ok(Verdict::Waiting(waits_for_invoice(&words), INVOICE_RECHECK_INTERVAL))
            }
            // Between the look and the call the order has moved: perhaps to where it was to go.
            Some(Documented::ImpossibleTransition) => {
                let target = cx.data["status"].as_str().unwrap_or_default();
                let now = self.client.possible_statuses(number).await?;
                let is_there = now.current_status == reached(target) && reached(target) == target;
                match is_there || self.has_been(cx, number, &now).await? {
                    true => Ok(Verdict::Done(None)),
                    false if target == "cancelled" => Ok(Verdict::Failed(too_late())),
                    false => super::refused(error),
                }
            }
            _ => super::refused(error),
        }
    }

    /// Whether a command was refused for want of an invoice, and there is none yet. Webhooks and sweeps bring news; where they bring
    /// none for a while, the documents are read. It is not asked for again before there is one.
    async fn waits_for_invoice(&self, cx: &CommandContext<'_>, number: &OrderNumber) -> Result<bool, Cause> {
        let id = cx.command.id;
        let noted = self.state().documents.get(&id).cloned();
        let now = self.context.clock.monotonic();
        let (then, until) = match noted {
            Some(noted) => noted,
            // After a restart the row says it.
            None if cx.command.code.as_deref() == Some(WAITING_INVOICE) => (None, now),
            None => return Ok(false),
        };
        // Somebody wants it to be asked for now (`espelho retry`).
        if cx.command.state == Some(PushState::New) {
            self.state().documents.remove(&id);
            return Ok(false);
        }
        let documents = self.context.store.current_invoices(&self.context.key, number).await?;
        let is_news = then.as_ref().is_some_and(|then| *then != documents);
        if !is_news && now < until {
            return Ok(true);
        }
        if !is_news {
            // It may have gone on without us.
            let order = self.client.order(number).await?.value;
            let waits = order.status.as_deref() == Some("preparing");
            let fiscal = self.client.order_fiscal(number).await?.value;
            if waits && !fiscal.iter().any(|document| document.is_current) {
                let until = now + self.without_news(cx);
                self.state().documents.insert(id, (Some(documents), until));
                return Ok(true);
            }
        }
        self.state().documents.remove(&id);
        Ok(false)
    }

    /// How long a command waits for an invoice until the documents are read.
    fn without_news(&self, cx: &CommandContext<'_>) -> Duration {
        let [least, most] = WITHOUT_NEWS;
        let age = cx.command.created_at.and_then(|at| (self.context.clock.now() - at).to_std().ok());
        (age.unwrap_or_default() / 10).clamp(least, most)
    }

    /// Whether an order has been where it is to go since the command was given, and has gone on from there. What lies before it
    /// was not what it asks for: an order that was prepared last week and is cancelled by now is not to be called prepared.
    async fn has_been(
        &self,
        cx: &CommandContext<'_>,
        number: &OrderNumber,
        possible: &PossibleStatuses,
    ) -> Result<bool, Cause> {
        let target = cx.data["status"].as_str().unwrap_or_default();
        // Nobody moves an order to `paid`: it gets there by itself, and where that is offered it is noise.
        if target == "paid" || possible.action_to(target).is_some() {
            return Ok(false);
        }
        let was_tried = cx.effects.iter().any(|effect| effect.sent_at.is_some());
        let since = cx.command.created_at.map(|at| at - BLUR);
        let counts = |event: &OrderEvent| {
            is_move_to(event, target)
                && (was_tried || since.is_some_and(|since| event.created_at.is_some_and(|at| at >= since)))
        };
        let events = self.client.order_events(number).await?.value;
        Ok(events.iter().any(counts))
    }

    pub(super) async fn evidence_of_transition(
        &self,
        effect: &Effect,
        known: &Value,
    ) -> Result<Evidence, Cause> {
        let text = |name: &str| known[name].as_str().unwrap_or_default();
        let number = OrderNumber::new(text("order"));
        self.listener.order(&number);
        let order = self.client.order(&number).await?.value;
        if order.status.as_deref() == Some(reached(text("target"))) {
            return Ok(Evidence::Happened { answer: None, how: "the order is there" });
        }
        let since = effect.sent_at.unwrap_or(effect.planned_at) - BLUR;
        let events = self.client.order_events(&number).await?.value;
        let shows = events.iter().any(|event| {
            event.new_status.as_deref() == Some(text("target"))
                && event.created_at.is_none_or(|at| at >= since)
        });
        Ok(match shows {
            true => Evidence::Happened { answer: None, how: "the order's timeline shows it" },
            false => Evidence::DidNot { how: "neither the order nor its timeline shows it" },
        })
    }
}

/// The status in which an order is after a transition: goods that are there make it an ordinary paid one (API document, "Order, pre-order and
/// backorder").
fn reached(target: &str) -> &str {
    match target {
        "available" | "restocked" => "paid",
        other => other,
    }
}

/// Whether an event of the timeline is that move.
fn is_move_to(event: &OrderEvent, target: &str) -> bool {
    let from = match target {
        "available" => Some("awaiting_availability"),
        "restocked" => Some("awaiting_restock"),
        _ => None,
    };
    let comes_from = from.is_none() || event.old_status.as_deref() == from;
    event.new_status.as_deref() == Some(reached(target)) && comes_from
}

/// The payload of a transition: `data.data`, or whatever stands beside `status`. A field without a value is none, and no fields are no
/// payload.
pub(super) fn payload(data: &Value) -> Value {
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

fn too_late() -> Message {
    Message::new("too_late_to_cancel", text!("push-too-late-to-cancel"))
}

fn waits_for_invoice(words: &[String]) -> Message {
    let text = match words {
        [] => text!("push-waiting-invoice"),
        words => text!("push-waiting-invoice-as-said", words = words.join("; ")),
    };
    Message::new(WAITING_INVOICE, text)
}

fn comes_by_itself() -> Message {
    Message::new("automatic", text!("push-automatic"))
}

fn invalid_payload(error: &InvalidTransition) -> Message {
    invalid(error.text())
}
