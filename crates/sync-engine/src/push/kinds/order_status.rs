//! Order status (`order.status`): reads what the marketplace offers, requests the transition, waits for invoices.
//! `plan::push::order_status` decides.

use std::time::Duration;

use espelho_api_client::{
    ApiRequest, Documented, Error as ApiError,
    resources::orders::{NextAction, PossibleStatuses, Transition, answered_status},
};
use espelho_model::{OrderNumber, ProductId, RawJson, push::PushState, text};
use espelho_store::{Command, Effect};
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::super::{
    command_context::CommandContext,
    handler::{CommandHandler, SettleResult},
    journal::ExecutionResult,
    refused::refused,
    services::Services,
};
use crate::{
    Error,
    plan::push::{
        Settlement, Verdict,
        evidence::{EvidenceKind, read},
        invalid,
        order_status::{
            self, Action, TransitionEvidence, WAITING_INVOICE, decide, has_been, is_there, payload,
            shows_target, still_waits_for_invoice, too_late, wait_without_news, waits_for_invoice,
        },
    },
};

/// The interval at which the mirror is read for an invoice.
const INVOICE_RECHECK_INTERVAL: Duration = Duration::from_secs(2);

/// `order.status`.
pub(super) struct OrderStatus;

impl CommandHandler for OrderStatus {
    fn subject_key(&self, command: &Command) -> String {
        format!("order/{}", command.key)
    }

    /// Other commands of an order may overtake a status that waits; the statuses of one order keep their order.
    fn sequence_key(&self, command: &Command) -> Option<String> {
        Some(format!("order/{}/status", command.key))
    }

    fn evidence(&self) -> Option<EvidenceKind> {
        Some(EvidenceKind::of::<TransitionEvidence>())
    }

    fn cost(&self) -> u32 {
        2
    }

    fn planned_request(&self, command: &Command, data: &Value, _: Option<&ProductId>) -> Option<ApiRequest> {
        let target_status = data["status"].as_str()?.to_owned();
        let action = NextAction { action: String::new(), target_status, label: None, payload_schema: None };
        let transition = Transition::offered(&action, payload(data)).ok()?;
        Some(transition.request(&OrderNumber::new(command.key.clone())))
    }

    fn execute<'a>(
        &'a self,
        services: &'a Services<'a>,
        cx: &'a CommandContext<'a>,
    ) -> BoxFuture<'a, Result<Verdict, Error>> {
        Box::pin(execute(services, cx))
    }

    fn settle<'a>(&'a self, services: &'a Services<'a>, effect: &'a Effect) -> BoxFuture<'a, SettleResult> {
        Box::pin(settle(services, effect))
    }
}

async fn execute(services: &Services<'_>, cx: &CommandContext<'_>) -> Result<Verdict, Error> {
    let number = OrderNumber::new(cx.command.key.clone());
    let Some(target) = cx.data["status"].as_str().filter(|status| !status.is_empty()) else {
        return Ok(Verdict::Failed(invalid(text!(
            "value-missing",
            field = "data.status",
            example = "{\"status\": \"preparing\"}"
        ))));
    };
    if cx.confirmed("order.status").is_some() {
        services.listener.order(&number);
        return Ok(Verdict::Done(None));
    }
    if still_waits(services, cx, &number).await? {
        return Ok(Verdict::Waiting(waits_for_invoice(&[]), INVOICE_RECHECK_INTERVAL));
    }
    let journal_end = services.context.store.journal().end(&services.context.key).await?;
    let possible = match services.client.orders().possible_statuses(&number).await {
        Ok(possible) => possible,
        Err(error) => return refused(error),
    };
    let transition = match next_step(services, cx, &number, target, &possible).await? {
        Ok(transition) => transition,
        Err(verdict) => {
            if verdict == Verdict::Done(None) {
                services.listener.order(&number);
            }
            return Ok(verdict);
        }
    };
    let request = transition.request(&number);
    // Every effect up to that end of the journal was planned before the order reached the target.
    let evidence = TransitionEvidence {
        order: number.as_str().to_owned(),
        target: target.to_owned(),
        from: possible.current_status,
        journal_end: Some(journal_end),
    };
    let effect = cx.effect(&request, &evidence);
    // Documents that the mirror learns of after this are news.
    let documents = services.context.store.lookups().current_invoices(&services.context.key, &number).await?;
    let shows = |answer: &RawJson| shows_target(target, answered_status(&number, answer).as_deref());
    let acted = services.journal.execute_if_shown(effect, &cx.intent(), &request, shows).await?;
    services.listener.order(&number);
    match acted {
        ExecutionResult::Applied(_) => Ok(Verdict::Done(None)),
        ExecutionResult::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
        ExecutionResult::Refused(error) => refused_transition(services, cx, &number, documents, error).await,
    }
}

/// Decides the next step, and reads the order's timeline where the decision needs it.
async fn next_step(
    services: &Services<'_>,
    cx: &CommandContext<'_>,
    number: &OrderNumber,
    target: &str,
    possible: &PossibleStatuses,
) -> Result<Result<Transition, Verdict>, Error> {
    let mut been = None;
    loop {
        match decide(target, payload(&cx.data), possible, been) {
            Action::Answer(verdict) => return Ok(Err(verdict)),
            Action::Send(transition) => return Ok(Ok(transition)),
            Action::ReadTimeline => been = Some(has_been_there(services, cx, number, target).await?),
        }
    }
}

async fn refused_transition(
    services: &Services<'_>,
    cx: &CommandContext<'_>,
    number: &OrderNumber,
    documents: Vec<String>,
    error: ApiError,
) -> Result<Verdict, Error> {
    match error.kind() {
        Some(Documented::FiscalGate(words)) => {
            let until = services.context.clock.monotonic() + without_news(services, cx);
            services.invoices.note(cx.command.id, documents, until);
            Ok(Verdict::Waiting(waits_for_invoice(&words), INVOICE_RECHECK_INTERVAL))
        }
        // The order moved between the reading and the request: perhaps to the target.
        Some(Documented::ImpossibleTransition) => {
            let target = cx.data["status"].as_str().unwrap_or_default();
            let now = services.client.orders().possible_statuses(number).await?;
            let has_moved = is_there(target, &now.current_status)
                || matches!(next_step(services, cx, number, target, &now).await?, Err(Verdict::Done(None)));
            match has_moved {
                true => Ok(Verdict::Done(None)),
                false if target == "cancelled" => Ok(Verdict::Failed(too_late())),
                false => refused(error),
            }
        }
        _ => refused(error),
    }
}

/// Says whether a command was refused for lack of an invoice and there is still none. Webhooks and sweeps bring
/// news; when they bring none for a while, the documents are read. The transition is not requested again before
/// there is an invoice.
async fn still_waits(
    services: &Services<'_>,
    cx: &CommandContext<'_>,
    number: &OrderNumber,
) -> Result<bool, Error> {
    let id = cx.command.id;
    let noted = services.invoices.of(id);
    let now = services.context.clock.monotonic();
    let (then, until) = match noted {
        Some(noted) => noted,
        // After a restart the row has this information.
        None if cx.command.code.as_deref() == Some(WAITING_INVOICE) => (None, now),
        None => return Ok(false),
    };
    // A person asked for a retry (`espelho retry`).
    if cx.command.state == Some(PushState::New) {
        services.invoices.end(id);
        return Ok(false);
    }
    let documents = services.context.store.lookups().current_invoices(&services.context.key, number).await?;
    let is_changed = then.as_ref().is_some_and(|then| *then != documents);
    if !is_changed && now < until {
        return Ok(true);
    }
    if !is_changed {
        // The order may have moved on without us.
        let order = services.client.orders().get(number).await?.value;
        let fiscal = match services.client.orders().fiscal(number).await {
            Ok(fiscal) => fiscal.value,
            // The marketplace answers so where there is no document yet.
            Err(error) if error.is_absent() => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        if still_waits_for_invoice(&order, fiscal.iter().any(|document| document.is_current)) {
            let until = now + without_news(services, cx);
            services.invoices.note(id, documents, until);
            return Ok(true);
        }
    }
    services.invoices.end(id);
    Ok(false)
}

fn without_news(services: &Services<'_>, cx: &CommandContext<'_>) -> Duration {
    wait_without_news(cx.command.created_at, services.context.clock.now())
}

async fn has_been_there(
    services: &Services<'_>,
    cx: &CommandContext<'_>,
    number: &OrderNumber,
    target: &str,
) -> Result<bool, Error> {
    let was_tried = cx.effects.iter().any(|effect| effect.sent_at.is_some());
    let events = services.client.orders().events(number).await?.value;
    Ok(has_been(target, &events, was_tried, cx.command.created_at))
}

async fn settle(services: &Services<'_>, effect: &Effect) -> SettleResult {
    let evidence: TransitionEvidence = read(effect)?;
    let number = OrderNumber::new(&evidence.order);
    services.listener.order(&number);
    let order = services.client.orders().get(&number).await?.value;
    let sent_at = effect.sent_at.unwrap_or(effect.planned_at);
    let settled = order_status::settle(&evidence, sent_at, order.status.as_deref(), &[]);
    if let Settlement::Happened { .. } = settled {
        return Ok(settled);
    }
    let events = services.client.orders().events(&number).await?.value;
    Ok(order_status::settle(&evidence, sent_at, order.status.as_deref(), &events))
}
