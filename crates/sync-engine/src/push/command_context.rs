//! One command while a worker handles it, and what its handler builds from it.

use espelho_api_client::ApiRequest;
use espelho_model::{
    doubled_names::doubled_name,
    push::{CommandKind, PushState},
    text,
    text::Text,
};
use espelho_store::{Command, Effect, EffectState, NewEffect};
use serde_json::Value;

use super::{
    fields::{FieldType, check_fields},
    journal::Intent,
};
use crate::plan::push::evidence::{Evidence, write};

/// The context of one command while a worker handles it.
pub(crate) struct CommandContext<'a> {
    pub(crate) command: &'a Command,
    pub(crate) kind: CommandKind,
    /// The key of the command's subject, which its effects have in the journal.
    pub(crate) subject: String,
    /// The command's data; `null` where it has none.
    pub(crate) data: Value,
    /// The command's effects so far, in order.
    pub(crate) effects: Vec<Effect>,
    /// Whether a person released it from the guards.
    pub(crate) is_released: bool,
}

impl CommandContext<'_> {
    /// Returns number and fingerprint, for the journal.
    pub(crate) fn identity(&self) -> (i64, String) {
        (self.command.id, self.command.fingerprint())
    }

    /// Returns the intent that is checked once more before anything is sent.
    pub(crate) fn intent(&self) -> Intent<'_> {
        Intent::Command(self.command.id, self.command.fingerprint())
    }

    /// Returns `true` if nothing of this attempt was sent: the ERP has just written the command, or a person has repeated
    /// it (`espelho retry`). A change that an earlier attempt sent and that never showed is then sent again.
    pub(crate) fn is_new_attempt(&self) -> bool {
        self.command.state == Some(PushState::New)
    }

    /// Returns the last confirmed effect of a kind.
    pub(crate) fn confirmed(&self, kind: &str) -> Option<&Effect> {
        self.effects.iter().rev().find(|effect| effect.kind == kind && effect.state == EffectState::Confirmed)
    }

    /// Returns what is wrong with a field of the data, unless something was carried out already: that it is there
    /// twice, or, where the kind's fields are known, that it is none of them or has another type.
    pub(crate) fn wrong_field(&self, known: Option<&[(&str, FieldType)]>) -> Option<Text> {
        let has_begun = self.effects.iter().any(|effect| effect.state == EffectState::Confirmed);
        if has_begun || self.data.is_null() {
            return None;
        }
        if let Some(field) = doubled_name(&self.command.data) {
            return Some(text!("value-doubled-field", field = field));
        }
        check_fields(&self.data, known?).err()
    }

    /// Builds an effect of this command, with the evidence that settles it if its answer is lost.
    pub(crate) fn effect<E: Evidence>(&self, request: &ApiRequest, evidence: &E) -> NewEffect {
        NewEffect { evidence: Some(write(evidence)), ..self.effect_without_evidence(E::KIND, request) }
    }

    /// Builds an effect that nothing can prove if its answer is lost.
    pub(crate) fn effect_without_evidence(&self, kind: &'static str, request: &ApiRequest) -> NewEffect {
        let (key, command) = (self.subject.clone(), Some(self.identity()));
        NewEffect { key, kind, command, request: request.in_full(), evidence: None }
    }
}

/// Returns the id in an answer, at whichever known place it stands.
pub(crate) fn id_in(answer: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(answer).ok()?;
    let text = |value: &Value| match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let names = ["product", "price_list", "image", "media", "item", "data"];
    text(&answer["id"]).or_else(|| text(&answer["item_id"])).or_else(|| {
        names.iter().find_map(|name| text(&answer[*name]["id"]).or_else(|| text(&answer[*name]["item_id"])))
    })
}

#[cfg(test)]
mod tests {
    use super::id_in;

    #[test]
    fn an_id_is_found_at_each_place_where_an_answer_may_have_it() {
        for (answer, expected) in [
            (r#"{"id":7}"#, Some("7")),
            (r#"{"id":"P-1"}"#, Some("P-1")),
            (r#"{"item_id":"MPB-1"}"#, Some("MPB-1")),
            (r#"{"id":7,"item_id":"MPB-1"}"#, Some("7")),
            (r#"{"product":{"id":7}}"#, Some("7")),
            (r#"{"price_list":{"id":"L"}}"#, Some("L")),
            (r#"{"image":{"id":"01ARZ"}}"#, Some("01ARZ")),
            (r#"{"media":{"id":"01ARZ"}}"#, Some("01ARZ")),
            (r#"{"item":{"item_id":"MPB-1"}}"#, Some("MPB-1")),
            (r#"{"data":{"id":18446744073709551615}}"#, Some("18446744073709551615")),
            (r#"{"id":"","product":{"id":7}}"#, Some("7")),
            (r#"{"id":null,"data":{"id":7}}"#, Some("7")),
            (r#"{"id":""}"#, None),
            (r#"{"id":[7]}"#, None),
            (r#"{"category":{"id":7}}"#, None),
            ("{}", None),
            ("[]", None),
            ("null", None),
            ("", None),
            (r#"{"id":7"#, None),
        ] {
            assert_eq!(id_in(answer).as_deref(), expected, "{answer}");
        }
    }
}
