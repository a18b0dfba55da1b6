//! What the `data` of a transition holds: its JSON Schema as it is published, and the checks that hold it to that
//! schema.
//!
//! An error stands under `data.` and the name of the field, such as `data.reason`.

use serde_json::{Map, Value};

use crate::refusal::FieldErrors;

/// The payload of an action ("`data` payload per target status").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Payload {
    /// None; the route ignores what is sent.
    Nothing,
    /// `reason`, 10 to 500 characters.
    Reason,
    /// `tracking_code`, optional, up to 100 characters.
    Tracking,
    /// `confirmation_code`, up to 50 characters.
    Confirmation,
    /// `estimated_days`, optional, 1 or more.
    Estimate,
    /// `materials`, optional, a list of texts.
    Materials,
}

/// The data that was sent, after the checks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Data {
    pub(crate) reason: Option<Box<str>>,
    pub(crate) tracking_code: Option<Box<str>>,
    /// All of it that the schema names, for the timeline.
    pub(crate) metadata: Option<Value>,
}

const REASON: &str = concat!(
    r#"{"type":"object","properties":{"reason":{"type":"string","minLength":10,"maxLength":500}},"#,
    r#""required":["reason"]}"#
);
const TRACKING: &str =
    r#"{"type":"object","properties":{"tracking_code":{"type":"string","maxLength":100}},"required":[]}"#;
const CONFIRMATION: &str = concat!(
    r#"{"type":"object","properties":{"confirmation_code":{"type":"string","minLength":1,"maxLength":50}},"#,
    r#""required":["confirmation_code"]}"#
);
const ESTIMATE: &str =
    r#"{"type":"object","properties":{"estimated_days":{"type":"integer","minimum":1}},"required":[]}"#;
const MATERIALS: &str = concat!(
    r#"{"type":"object","properties":{"materials":{"type":"array","items":{"type":"string"}}},"#,
    r#""required":[]}"#
);

impl Payload {
    /// The JSON Schema of `data`, or `None` where the transition takes no data.
    pub(crate) fn schema(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Reason => Some(REASON),
            Self::Tracking => Some(TRACKING),
            Self::Confirmation => Some(CONFIRMATION),
            Self::Estimate => Some(ESTIMATE),
            Self::Materials => Some(MATERIALS),
        }
    }

    /// Reads the data of a request, whose absence is as good as an empty object.
    pub(crate) fn read(self, data: Option<&Value>) -> Result<Data, FieldErrors> {
        let nothing = Map::new();
        let fields = match data {
            None | Some(Value::Null) => &nothing,
            Some(Value::Object(fields)) => fields,
            Some(_) => return Err(FieldErrors::one("data", "O campo data deve ser um objeto.")),
        };
        match self {
            Self::Nothing => Ok(Data::default()),
            Self::Reason => {
                let reason = Text { name: "reason", least: 10, most: 500, required: true }.read(fields)?;
                Ok(Data { metadata: metadata_of(fields, "reason"), reason, ..Data::default() })
            }
            Self::Tracking => {
                let code =
                    Text { name: "tracking_code", least: 0, most: 100, required: false }.read(fields)?;
                let tracking_code = code.filter(|code| !code.is_empty());
                Ok(Data { metadata: metadata_of(fields, "tracking_code"), tracking_code, ..Data::default() })
            }
            Self::Confirmation => {
                Text { name: "confirmation_code", least: 1, most: 50, required: true }.read(fields)?;
                Ok(Data::default())
            }
            Self::Estimate => estimate(fields),
            Self::Materials => materials(fields),
        }
    }
}

/// A field of text.
struct Text {
    name: &'static str,
    /// In characters, not bytes.
    least: usize,
    most: usize,
    required: bool,
}

impl Text {
    fn read(&self, fields: &Map<String, Value>) -> Result<Option<Box<str>>, FieldErrors> {
        let Self { name, least, most, required } = self;
        let problem = match fields.get(*name) {
            None if !required => return Ok(None),
            None => "é obrigatório".to_owned(),
            Some(Value::String(text)) => match text.chars().count() {
                count if count < *least => format!("deve ter no mínimo {least} caracteres"),
                count if count > *most => format!("não pode ter mais de {most} caracteres"),
                _ => return Ok(Some(text.as_str().into())),
            },
            Some(_) => "deve ser um texto".to_owned(),
        };
        Err(wrong(name, &problem))
    }
}

fn estimate(fields: &Map<String, Value>) -> Result<Data, FieldErrors> {
    let problem = match fields.get("estimated_days") {
        None => return Ok(Data::default()),
        Some(Value::Number(days)) if !is_whole(days) => "deve ser um número inteiro",
        Some(Value::Number(days)) if days.as_f64().is_some_and(|days| days < 1.0) => "deve ser no mínimo 1",
        Some(Value::Number(_)) => {
            return Ok(Data { metadata: metadata_of(fields, "estimated_days"), ..Data::default() });
        }
        Some(_) => "deve ser um número inteiro",
    };
    Err(wrong("estimated_days", problem))
}

/// A JSON Schema counts `2.0` among the integers.
fn is_whole(number: &serde_json::Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
}

fn materials(fields: &Map<String, Value>) -> Result<Data, FieldErrors> {
    let Some(value) = fields.get("materials") else { return Ok(Data::default()) };
    let Value::Array(materials) = value else { return Err(wrong("materials", "deve ser uma lista")) };
    let mut errors = FieldErrors::new();
    for at in (0..materials.len()).filter(|at| !materials[*at].is_string()) {
        errors.add(format!("data.materials.{at}"), format!("O campo data.materials.{at} deve ser um texto."));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(Data { metadata: metadata_of(fields, "materials"), ..Data::default() })
}

fn wrong(name: &str, problem: &str) -> FieldErrors {
    FieldErrors::one(format!("data.{name}"), format!("O campo data.{name} {problem}."))
}

/// The field as the timeline keeps it.
fn metadata_of(fields: &Map<String, Value>, name: &str) -> Option<Value> {
    fields.get(name).map(|value| serde_json::json!({name: value}))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problem(payload: Payload, data: &Value) -> Option<String> {
        payload.read(Some(data)).err().map(|errors| errors.as_slice()[0].0.to_string())
    }

    // proves: FLO-003, FLO-004, FLO-005, FLO-006, FLO-007, FLO-008, FLO-009, FLO-010, FLO-011
    #[test]
    fn data_is_held_to_its_schema_to_the_character() {
        let reason = |length: usize| json!({"reason": "ã".repeat(length)});
        let code = |length: usize| json!({"confirmation_code": "é".repeat(length)});
        let tracking = |length: usize| json!({"tracking_code": "ç".repeat(length)});
        let table = [
            (Payload::Reason, json!({}), Some("data.reason")),
            (Payload::Reason, json!(null), Some("data.reason")),
            (Payload::Reason, json!({"reason": null}), Some("data.reason")),
            (Payload::Reason, json!({"reason": 1_234_567_890}), Some("data.reason")),
            (Payload::Reason, reason(9), Some("data.reason")),
            (Payload::Reason, reason(10), None),
            (Payload::Reason, reason(500), None),
            (Payload::Reason, reason(501), Some("data.reason")),
            (Payload::Reason, json!([]), Some("data")),
            (Payload::Reason, json!("motivo bem longo"), Some("data")),
            (Payload::Tracking, json!({}), None),
            (Payload::Tracking, tracking(100), None),
            (Payload::Tracking, tracking(101), Some("data.tracking_code")),
            (Payload::Tracking, json!({"tracking_code": 12}), Some("data.tracking_code")),
            (Payload::Tracking, json!({"tracking_code": null}), Some("data.tracking_code")),
            (Payload::Confirmation, json!({}), Some("data.confirmation_code")),
            (Payload::Confirmation, code(0), Some("data.confirmation_code")),
            (Payload::Confirmation, code(50), None),
            (Payload::Confirmation, code(51), Some("data.confirmation_code")),
            (Payload::Estimate, json!({}), None),
            (Payload::Estimate, json!({"estimated_days": 1}), None),
            (Payload::Estimate, json!({"estimated_days": 2.0}), None),
            (Payload::Estimate, json!({"estimated_days": 0}), Some("data.estimated_days")),
            (Payload::Estimate, json!({"estimated_days": -3}), Some("data.estimated_days")),
            (Payload::Estimate, json!({"estimated_days": 1.5}), Some("data.estimated_days")),
            (Payload::Estimate, json!({"estimated_days": "3"}), Some("data.estimated_days")),
            (Payload::Materials, json!({}), None),
            (Payload::Materials, json!({"materials": []}), None),
            (Payload::Materials, json!({"materials": ["tecido", ""]}), None),
            (Payload::Materials, json!({"materials": ["tecido", 3]}), Some("data.materials.1")),
            (Payload::Materials, json!({"materials": "tecido"}), Some("data.materials")),
            (Payload::Nothing, json!({"anything": 1}), None),
            (Payload::Nothing, json!(7), Some("data")),
        ];
        for (payload, data, expected) in table {
            assert_eq!(problem(payload, &data).as_deref(), expected, "{payload:?} {data}");
        }
    }

    #[test]
    fn every_schema_is_json() {
        for schema in [REASON, TRACKING, CONFIRMATION, ESTIMATE, MATERIALS] {
            serde_json::from_str::<Value>(schema).unwrap();
        }
    }
}
