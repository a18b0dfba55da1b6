//! An order's notes (`order.notes`): reads the current notes and replaces them. `plan::push::order_notes` decides.

use std::time::Duration;

use espelho_api_client::{ApiRequest, resources::orders::notes};
use espelho_model::{OrderNumber, ProductId, text};
use espelho_store::{Command, Effect};
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::super::{
    command_context::CommandContext,
    fields::FieldType,
    handler::{CommandHandler, SettleResult},
    journal::ExecutionResult,
    refused::refused,
    services::Services,
};
use crate::{
    Error,
    plan::push::{
        Verdict,
        evidence::{EvidenceKind, read},
        invalid,
        order_notes::{
            self, Action, Agreed, NotesEvidence, are_lost_ones, decide, decide_again, last_written,
            may_be_overwritten, written,
        },
    },
};

/// `order.notes`.
pub(super) struct OrderNotes;

impl CommandHandler for OrderNotes {
    fn subject_key(&self, command: &Command) -> String {
        format!("order/{}", command.key)
    }

    fn fields(&self) -> Option<&'static [(&'static str, FieldType)]> {
        Some(&[
            ("notes", FieldType::Other),
            ("base", FieldType::TextOrNull),
            ("force", FieldType::FlagOrNull),
        ])
    }

    fn evidence(&self) -> Option<EvidenceKind> {
        Some(EvidenceKind::of::<NotesEvidence>())
    }

    fn cost(&self) -> u32 {
        2
    }

    fn planned_request(&self, command: &Command, data: &Value, _: Option<&ProductId>) -> Option<ApiRequest> {
        Some(notes::request(&OrderNumber::new(command.key.clone()), data["notes"].as_str()))
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
    let desired = match cx.data.get("notes") {
        Some(Value::String(text)) => Some(text.as_str()),
        Some(Value::Null) => None,
        _ => {
            let example = "{\"notes\": \"…\"}";
            return Ok(Verdict::Failed(invalid(text!(
                "value-missing",
                field = "data.notes",
                example = example
            ))));
        }
    };
    let (store, key, clock) = (&services.context.store, &services.context.key, &services.context.clock);
    let effects = store.journal().effects_on(key, &cx.subject).await?;
    let sent = cx.confirmed("order.notes");
    if sent.is_some_and(|sent| !may_be_overwritten(desired, sent, &effects, clock.now())) {
        services.listener.order(&number);
        return Ok(written(desired, &effects, clock.now()));
    }
    // Read the mirror before the order.
    let mirrored = store.lookups().order_notes(key, &number).await?;
    let order = match services.client.orders().get(&number).await {
        Ok(order) => order.value,
        Err(error) => return refused(error),
    };
    let agreed = Agreed {
        by_command: cx.data.get("base").map(|base| base.as_str().map(str::to_owned)),
        written: last_written(&effects),
        mirrored,
    };
    let there = order.notes.as_deref();
    let is_told = cx.is_released || cx.data["force"] == Value::Bool(true);
    let may_overwrite = is_told || are_lost_ones(there, &effects);
    let action = match sent {
        Some(sent) => decide_again(desired, there, sent, &effects, clock.now()),
        None => decide(desired, there, &agreed, may_overwrite),
    };
    if let Action::Answer(verdict) = action {
        services.listener.order(&number);
        return Ok(match verdict {
            Verdict::Done(None) => written(desired, &effects, clock.now()),
            verdict => verdict,
        });
    }
    let request = notes::request(&number, desired);
    let evidence = NotesEvidence { order: number.as_str().to_owned(), notes: desired.map(str::to_owned) };
    let effect = cx.effect(&request, &evidence);
    let acted = services.journal.execute_once(effect, &cx.intent(), &request).await?;
    services.listener.order(&number);
    match acted {
        ExecutionResult::Applied(_) => Ok(written(desired, &effects, clock.now())),
        ExecutionResult::Refused(error) => refused(error),
        ExecutionResult::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
    }
}

async fn settle(services: &Services<'_>, effect: &Effect) -> SettleResult {
    let evidence: NotesEvidence = read(effect)?;
    let order = services.client.orders().get(&OrderNumber::new(&evidence.order)).await?.value;
    Ok(order_notes::settle(&evidence, order.notes.as_deref()))
}
