//! An order's notes (`order.notes`): reads the current notes and replaces them. `plan::push::order_notes` decides.

use std::time::Duration;

use espelho_api_client::resources::orders::notes;
use espelho_model::{OrderNumber, text};
use serde_json::Value;

use super::{
    Pusher,
    cause::{Cause, refused},
    commands::{CommandContext, key_of},
    journal::ExecutionResult,
};
use crate::plan::push::{
    Verdict, invalid,
    order_notes::{Action, Agreed, NotesEvidence, decide, last_written},
};

impl Pusher<'_> {
    pub(super) async fn set_notes(&self, cx: &CommandContext<'_>) -> Result<Verdict, Cause> {
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
        if cx.confirmed("order.notes").is_some() {
            self.listener.order(&number);
            return Ok(Verdict::Done(None));
        }
        // Read the mirror before the order.
        let mirrored = self.context.store.lookups().order_notes(&self.context.key, &number).await?;
        let order = match self.client.order(&number).await {
            Ok(order) => order.value,
            Err(error) => return refused(error),
        };
        let effects = self.context.store.journal().effects_on(&self.context.key, &key_of(cx.command)).await?;
        let agreed = Agreed {
            by_command: cx.data.get("base").map(|base| base.as_str().map(str::to_owned)),
            written: last_written(&effects),
            mirrored,
        };
        let may_overwrite = cx.is_released || cx.data["force"] == Value::Bool(true);
        if let Action::Answer(verdict) = decide(desired, order.notes.as_deref(), &agreed, may_overwrite) {
            self.listener.order(&number);
            return Ok(verdict);
        }
        let request = notes::request(&number, desired);
        let evidence = NotesEvidence { order: number.as_str().to_owned(), notes: desired.map(str::to_owned) };
        let effect = cx.effect(&request, &evidence);
        let acted = self.execute_once(effect, &cx.intent(), &request).await?;
        self.listener.order(&number);
        match acted {
            ExecutionResult::Applied(_) => Ok(Verdict::Done(None)),
            ExecutionResult::Refused(error) => refused(error),
            ExecutionResult::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
        }
    }
}
