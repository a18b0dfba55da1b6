//! The transitions that an order allows, and the payload of each (API document, "Orders").

use std::fmt;

use espelho_model::{
    OrderNumber, text,
    text::{Text, words::order_status},
};
use jsonschema::error::ValidationErrorKind;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use crate::{ApiRequest, Error, resources::handles::OrdersApi};

/// The most violations that are reported.
const MOST_VIOLATIONS: usize = 20;

/// Builds the request for an order's possible statuses.
pub fn request(number: &OrderNumber) -> ApiRequest {
    ApiRequest::get("/api/v1/sellers/orders/{id}/possible-statuses", &[number.as_str()])
}

impl OrdersApi<'_> {
    /// Reads the transitions that the marketplace offers for an order now.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn possible_statuses(self, number: &OrderNumber) -> Result<PossibleStatuses, Error> {
        self.requests.fetch(&request(number)).await
    }
}

/// `data` of the possible-statuses route.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct PossibleStatuses {
    pub current_status: String,
    #[serde(default)]
    pub workflow_type: Option<String>,
    #[serde(default, deserialize_with = "null_is_none")]
    pub next_actions: Vec<NextAction>,
}

/// One offered transition.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct NextAction {
    pub action: String,
    pub target_status: String,
    /// The label of the target status. The action has no label.
    #[serde(default)]
    pub label: Option<String>,
    /// A JSON Schema for `data`; `None` if the transition takes no payload.
    #[serde(default, deserialize_with = "no_schema_is_none")]
    pub payload_schema: Option<Value>,
}

/// Why `data` cannot be sent with a transition.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SchemaProblem {
    /// The transition takes no payload.
    #[error("{target_status} takes no data")]
    TakesNone {
        /// The target status.
        target_status: String,
    },
    /// The schema itself is invalid, so it is unknown whether `data` fits.
    #[error("the schema of {target_status} cannot be used: {problem}")]
    Unusable {
        /// The target status.
        target_status: String,
        /// What is wrong with the schema.
        problem: String,
    },
    /// `data` violates the schema.
    #[error("data of {target_status}: {}", listed(violations))]
    Violated {
        /// The target status.
        target_status: String,
        /// Each violation, at most 20.
        violations: Vec<Violation>,
    },
}

impl SchemaProblem {
    /// Returns the text for people. The schema's requirements keep the schema's words.
    pub fn text(&self) -> Text {
        match self {
            Self::TakesNone { target_status } => {
                text!("value-takes-no-data", status = order_status(target_status))
            }
            Self::Unusable { target_status, problem } => {
                text!("value-schema-unusable", status = order_status(target_status), problem = problem)
            }
            Self::Violated { target_status, violations } => {
                let status = order_status(target_status);
                let problems: Vec<Text> = violations.iter().map(|violation| violation.text.clone()).collect();
                text!("value-schema", status = status, problem = problems)
            }
        }
    }
}

/// One violation of the schema. Carries no value of `data`, which may be a buyer's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The field, `outer.inner`; empty for `data` itself.
    pub field: String,
    /// The schema's requirement, in the words of JSON Schema.
    pub problem: String,
    /// The text for people.
    pub text: Text,
}

impl PossibleStatuses {
    /// Returns the action that leads to `target_status`, if the marketplace offers one that it also accepts.
    pub fn action_to(&self, target_status: &str) -> Option<&NextAction> {
        let leads_there = |action: &&NextAction| action.target_status == target_status;
        self.next_actions.iter().filter(leads_there).find(|action| !action.is_noise(&self.current_status))
    }
}

impl NextAction {
    /// Returns whether the marketplace lists the action but refuses it: `paid` while the order waits for its campaign
    /// (API document, "Order, collective").
    pub fn is_noise(&self, current_status: &str) -> bool {
        current_status == "awaiting_campaign_conclusion" && self.target_status == "paid"
    }

    /// Checks `data` against the action's schema; `null` means "no data".
    ///
    /// The check fetches nothing: a schema that refers to another address is unusable.
    ///
    /// # Errors
    /// Names each violation, or says why the schema is unusable.
    pub fn validate(&self, data: &Value) -> Result<(), SchemaProblem> {
        let target_status = self.target_status.clone();
        let Some(schema) = &self.payload_schema else {
            // The document's own table lists fields for the status even without a schema.
            let is_documented = |fields: &Map<String, Value>| {
                fields.keys().all(|field| documented_fields(&target_status).contains(&field.as_str()))
            };
            return match data {
                Value::Null => Ok(()),
                Value::Object(fields) if !fields.is_empty() && is_documented(fields) => Ok(()),
                _ => Err(SchemaProblem::TakesNone { target_status }),
            };
        };
        let validator = match jsonschema::options().offline().build(schema) {
            Ok(validator) => validator,
            Err(error) => {
                return Err(SchemaProblem::Unusable { target_status, problem: error.to_string() });
            }
        };
        // If all fields are optional, a missing payload equals an empty one.
        let (nothing, empty) = (data.is_null(), json!({}));
        let instance = if nothing { &empty } else { data };
        let violations: Vec<_> = validator
            .iter_errors(instance)
            .take(MOST_VIOLATIONS)
            .map(|error| Violation::of(&error))
            .collect();
        if violations.is_empty() {
            Ok(())
        } else {
            Err(SchemaProblem::Violated { target_status, violations })
        }
    }
}

/// Returns the fields of `data` for a status (API document, "Orders": payload per target status).
fn documented_fields(target_status: &str) -> &'static [&'static str] {
    match target_status {
        "shipped" => &["tracking_code"],
        "cancelled" | "pickup_expired" => &["reason"],
        "production_started" => &["estimated_days"],
        "awaiting_materials" => &["materials"],
        "picked_up" => &["confirmation_code"],
        _ => &[],
    }
}

impl Violation {
    fn of(error: &jsonschema::ValidationError<'_>) -> Self {
        let mut field = error.instance_path().to_string().trim_start_matches('/').replace('/', ".");
        if let ValidationErrorKind::Required { property } = error.kind()
            && let Some(missing) = property.as_str()
        {
            field = if field.is_empty() { missing.to_owned() } else { format!("{field}.{missing}") };
        }
        let problem = error.masked().to_string();
        let text = match error.kind() {
            ValidationErrorKind::Required { .. } => text!("value-missing-field", field = &field),
            ValidationErrorKind::MinLength { limit } => {
                text!("value-too-short", field = &field, limit = *limit)
            }
            ValidationErrorKind::MaxLength { limit } => {
                text!("value-longer", field = &field, limit = *limit)
            }
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                text!("value-unknown-field", field = unexpected.join(", "))
            }
            _ => text!("value-against-schema", field = &field, problem = &problem),
        };
        Self { field, problem, text }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field.as_str() {
            "" => f.write_str(&self.problem),
            field => write!(f, "{field}: {}", self.problem),
        }
    }
}

fn listed(violations: &[Violation]) -> String {
    violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn null_is_none<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<NextAction>, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// Some servers write an empty list for "no object" (this API's own error envelope does).
fn no_schema_is_none<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    let schema: Option<Value> = Option::deserialize(from)?;
    Ok(schema.filter(|schema| schema.as_array().is_none_or(|list| !list.is_empty())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(target_status: &str, payload_schema: &Value) -> NextAction {
        let action = json!({"action": "x", "target_status": target_status, "payload_schema": payload_schema});
        serde_json::from_value(action).unwrap()
    }

    fn cancel() -> NextAction {
        let reason = json!({"type": "string", "minLength": 10, "maxLength": 500});
        action(
            "cancelled",
            &json!({"type": "object", "required": ["reason"], "properties": {"reason": reason}}),
        )
    }

    #[test]
    fn the_request_of_possible_statuses_names_the_order() {
        let request = request(&OrderNumber::new("MP-1"));
        assert_eq!(request.describe(), "GET /api/v1/sellers/orders/MP-1/possible-statuses");
    }

    // proves: ORD-048, ORD-049, ORD-050, ORD-051, ORD-052, ORD-053
    #[test]
    fn actions_are_read_with_and_without_a_schema() {
        let read: PossibleStatuses = serde_json::from_value(json!({
            "current_status": "paid",
            "workflow_type": "standard",
            "next_actions": [
                {"action": "mark-preparing", "target_status": "preparing", "label": "Em preparo", "payload_schema": null},
                {"action": "cancel", "target_status": "cancelled", "label": "Cancelado", "payload_schema": {"type": "object"}},
                {"action": "odd", "target_status": "odd", "payload_schema": []},
            ],
        }))
        .unwrap();
        assert_eq!((read.current_status.as_str(), read.workflow_type.as_deref()), ("paid", Some("standard")));
        let schemas: Vec<_> =
            read.next_actions.iter().map(|action| action.payload_schema.is_some()).collect();
        assert_eq!(schemas, [false, true, false]);
        assert_eq!(read.action_to("preparing").map(|action| action.action.as_str()), Some("mark-preparing"));
        assert_eq!(read.action_to("cancelled").and_then(|action| action.label.as_deref()), Some("Cancelado"));
        assert!(read.action_to("delivered").is_none());
    }

    #[test]
    fn a_terminal_order_offers_nothing() {
        for none in [json!([]), json!(null)] {
            let read =
                json!({"current_status": "delivered", "workflow_type": "standard", "next_actions": none});
            let read: PossibleStatuses = serde_json::from_value(read).unwrap();
            assert!(read.next_actions.is_empty());
        }
    }

    // proves: ORD-052, FLO-004, FLO-005
    #[test]
    fn data_is_held_against_the_schema_and_each_violation_is_named() {
        assert_eq!(cancel().validate(&json!({"reason": "sem estoque"})), Ok(()));
        let violations = |data| match cancel().validate(&data) {
            Err(SchemaProblem::Violated { violations, .. }) => violations,
            other => panic!("{other:?}"),
        };
        let short = violations(json!({"reason": "não"}));
        assert_eq!(short[0].field, "reason");
        assert!(!short[0].problem.contains("não"), "a violation repeats no value: {}", short[0].problem);
        assert_eq!(violations(json!({}))[0].field, "reason");
        assert_eq!(violations(json!(null))[0].field, "reason");
        assert_eq!(violations(json!([]))[0].field, "");
        let error = cancel().validate(&json!({"reason": 5})).unwrap_err().to_string();
        assert!(error.starts_with("data of cancelled: reason: "), "{error}");
    }

    #[test]
    fn lengths_are_counted_in_characters_not_in_bytes() {
        let accented = |count| json!({"reason": "ç".repeat(count)});
        assert_eq!(cancel().validate(&accented(10)), Ok(()));
        assert_eq!(cancel().validate(&accented(500)), Ok(()));
        assert!(cancel().validate(&accented(9)).is_err());
        assert!(cancel().validate(&accented(501)).is_err());
    }

    // proves: ORD-053, FLO-001
    #[test]
    fn an_action_without_schema_takes_no_data_and_one_with_optional_fields_takes_none_too() {
        let bare = action("preparing", &Value::Null);
        assert_eq!(bare.validate(&Value::Null), Ok(()));
        assert!(matches!(bare.validate(&json!({"x": 1})), Err(SchemaProblem::TakesNone { .. })));
        assert_eq!(action("shipped", &Value::Null).validate(&json!({"tracking_code": "BR1"})), Ok(()));
        let code = json!({"type": ["string", "null"], "maxLength": 100});
        let shipped = action("shipped", &json!({"type": "object", "properties": {"tracking_code": code}}));
        assert_eq!(shipped.validate(&Value::Null), Ok(()));
        assert_eq!(shipped.validate(&json!({"tracking_code": "BR1"})), Ok(()));
        assert!(shipped.validate(&json!({"tracking_code": "B".repeat(101)})).is_err());
    }

    #[test]
    fn a_schema_that_does_not_compile_or_points_elsewhere_is_an_error_of_its_own() {
        for schema in [
            json!({"type": "no such type"}),
            json!({"$ref": "https://schemas.example/cancel.json"}),
            json!({"$ref": "file:///etc/passwd"}),
            json!({"properties": {"x": {"pattern": "("}}}),
            json!("text"),
        ] {
            let problem = action("cancelled", &schema).validate(&json!({"x": "y"}));
            assert!(matches!(problem, Err(SchemaProblem::Unusable { .. })), "{schema}: {problem:?}");
        }
    }

    // proves: FLO-054
    #[test]
    fn paid_is_noise_only_while_the_order_waits_for_its_campaign() {
        let paid = action("paid", &Value::Null);
        assert!(paid.is_noise("awaiting_campaign_conclusion"));
        assert!(!paid.is_noise("awaiting_restock"));
        assert!(!cancel().is_noise("awaiting_campaign_conclusion"));
        let waiting = PossibleStatuses {
            current_status: "awaiting_campaign_conclusion".into(),
            workflow_type: Some("collective".into()),
            next_actions: vec![paid, cancel()],
        };
        assert!(waiting.action_to("paid").is_none());
        assert!(waiting.action_to("cancelled").is_some());
    }
}
