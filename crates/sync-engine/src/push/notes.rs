//! An order's notes (`order.notes`): the whole text is replaced, so what a person wrote meanwhile is kept and the conflict shown.

use std::time::Duration;

use espelho_api_client::resources::orders::notes;
use espelho_model::{OrderNumber, text};
use espelho_store::{Effect, EffectState};
use serde_json::{Value, json};

use super::{
    Pusher,
    commands::{CommandContext, key_of},
    journal::{Acted, Evidence},
    stock::invalid,
    verdict::{Cause, Message, Verdict},
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
        // Before the order is read.
        let mirrored = self.context.store.order_notes(&self.context.key, &number).await?;
        let order = match self.client.order(&number).await {
            Ok(order) => order.value,
            Err(error) => return super::refused(error),
        };
        let now = order.notes.as_deref();
        if same(now, desired) {
            return Ok(Verdict::Done(None));
        }
        // What both sides last agreed on: what the command says itself, what we last wrote, or else what the mirror has.
        let base = match (cx.data.get("base"), self.last_notes(cx).await?, mirrored) {
            (Some(base), _, _) => base.as_str().map(str::to_owned),
            (None, Some(ours), _) => ours,
            (None, None, Some(mirrored)) => mirrored,
            // Nobody has seen anything: there is nothing to be in conflict with.
            (None, None, None) => order.notes.clone(),
        };
        let is_released = cx.is_released || cx.data["force"] == Value::Bool(true);
        if !same(now, base.as_deref()) && !is_released {
            self.listener.order(&number);
            return Ok(Verdict::Failed(conflict()));
        }
        let request = notes::request(&number, desired);
        let effect = cx.effect("order.notes", &request, &json!({"order": number.as_str(), "notes": desired}));
        let acted = self.execute_once(effect, &cx.intent(), &request).await?;
        self.listener.order(&number);
        match acted {
            Acted::Applied(_) => Ok(Verdict::Done(None)),
            Acted::Refused(error) => super::refused(error),
            Acted::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
        }
    }

    /// What we last wrote there, if it is on record.
    async fn last_notes(&self, cx: &CommandContext<'_>) -> Result<Option<Option<String>>, Cause> {
        let effects = self.context.store.effects_on(&self.context.key, &key_of(cx.command)).await?;
        let is_ours =
            |effect: &&Effect| effect.kind == "order.notes" && effect.state == EffectState::Confirmed;
        let evidence = effects.iter().find(is_ours).and_then(|effect| effect.evidence.as_deref());
        let known: Option<Value> = evidence.and_then(|text| serde_json::from_str(text).ok());
        Ok(known.map(|known| known["notes"].as_str().map(str::to_owned)))
    }

    pub(super) async fn evidence_of_notes(&self, known: &Value) -> Result<Evidence, Cause> {
        let number = OrderNumber::new(known["order"].as_str().unwrap_or_default());
        let order = self.client.order(&number).await?.value;
        Ok(match same(order.notes.as_deref(), known["notes"].as_str()) {
            true => Evidence::Happened { answer: None, how: "the order has the notes" },
            false => Evidence::DidNot { how: "the order has other notes" },
        })
    }
}

/// Whether two texts say the same; none and empty do.
fn same(one: Option<&str>, other: Option<&str>) -> bool {
    one.unwrap_or_default() == other.unwrap_or_default()
}

fn conflict() -> Message {
    Message::new("notes_conflict", text!("push-notes-conflict"))
}
