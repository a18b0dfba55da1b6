//! Transitions of one order: the single status route (API document, "Orders").

use std::num::NonZeroU32;

use chrono::FixedOffset;
use espelho_model::{OrderNumber, RawJson, order::Order, text, text::Text};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    next_action::{NextAction, SchemaProblem},
    read::parse_order,
};
use crate::{
    ApiRequest, Error,
    resources::{Read, handles::OrdersApi},
};

const ROUTE: &str = "/api/v1/sellers/orders/{id}/status";

/// A target status with its payload. Only what the document or the action's own schema allows can be built.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Transition {
    status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
}

/// A payload that the status route would refuse.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum InvalidTransition {
    /// A text is too short or too long; lengths are in characters.
    #[error("{field} must have {least} to {most} characters, not {length}")]
    Length {
        /// The field of `data`.
        field: &'static str,
        /// The fewest characters.
        least: usize,
        /// The most characters.
        most: usize,
        /// The actual length.
        length: usize,
    },
    /// The payload violates the action's schema.
    #[error(transparent)]
    Schema(#[from] SchemaProblem),
}

impl InvalidTransition {
    /// Returns the text for people.
    pub fn text(&self) -> Text {
        match self {
            Self::Length { field, least, most, length } => {
                text!("value-length", field = *field, least = *least, most = *most, length = *length)
            }
            Self::Schema(problem) => problem.text(),
        }
    }
}

/// The transitions that take no payload.
impl Transition {
    /// To `preparing`: the store packs the order.
    pub fn preparing() -> Self {
        Self::bare("preparing")
    }

    /// To `ready_to_ship`; needs an issued fiscal document.
    pub fn ready_to_ship() -> Self {
        Self::bare("ready_to_ship")
    }

    /// To `delivered`, by hand. The marketplace refuses it if the platform's carrier or driver confirms delivery.
    pub fn delivered() -> Self {
        Self::bare("delivered")
    }

    /// To `ready_for_pickup`.
    pub fn ready_for_pickup() -> Self {
        Self::bare("ready_for_pickup")
    }

    /// To `available`: a pre-ordered product has arrived.
    pub fn available() -> Self {
        Self::bare("available")
    }

    /// To `restocked`: the missing goods of a back-order have arrived.
    pub fn restocked() -> Self {
        Self::bare("restocked")
    }

    /// To `production_in_progress`.
    pub fn production_in_progress() -> Self {
        Self::bare("production_in_progress")
    }

    /// To `production_finished`.
    pub fn production_finished() -> Self {
        Self::bare("production_finished")
    }

    fn bare(status: &str) -> Self {
        Self { status: status.to_owned(), data: None }
    }
}

/// The transitions with a payload.
impl Transition {
    /// To `shipped`; needs an issued fiscal document.
    ///
    /// # Errors
    /// When there is a tracking code that is empty or longer than 100 characters.
    pub fn shipped(tracking_code: Option<&str>) -> Result<Self, InvalidTransition> {
        let data = match tracking_code {
            Some(code) => Some(json!({"tracking_code": sized("tracking_code", 1, 100, code)?})),
            None => None,
        };
        Ok(Self { data, ..Self::bare("shipped") })
    }

    /// To `cancelled`: only before `preparing`.
    ///
    /// # Errors
    /// Unless the reason has 10 to 500 characters.
    pub fn cancelled(reason: &str) -> Result<Self, InvalidTransition> {
        Self::for_reason("cancelled", reason)
    }

    /// To `pickup_expired`: the customer did not collect the order.
    ///
    /// # Errors
    /// Unless the reason has 10 to 500 characters.
    pub fn pickup_expired(reason: &str) -> Result<Self, InvalidTransition> {
        Self::for_reason("pickup_expired", reason)
    }

    /// To `picked_up`. The marketplace then sets `delivered` itself.
    ///
    /// # Errors
    /// When the customer's code is empty or longer than 50 characters.
    pub fn picked_up(confirmation_code: &str) -> Result<Self, InvalidTransition> {
        let code = sized("confirmation_code", 1, 50, confirmation_code)?;
        Ok(Self { data: Some(json!({"confirmation_code": code})), ..Self::bare("picked_up") })
    }

    /// To `production_started`.
    pub fn production_started(estimated_days: Option<NonZeroU32>) -> Self {
        let data = estimated_days.map(|days| json!({"estimated_days": days}));
        Self { data, ..Self::bare("production_started") }
    }

    /// To `awaiting_materials`. Without materials, no payload is sent.
    pub fn awaiting_materials(materials: &[String]) -> Self {
        let data = (!materials.is_empty()).then(|| json!({"materials": materials}));
        Self { data, ..Self::bare("awaiting_materials") }
    }

    /// To the target of an action that the marketplace offers for the order, with `data` according to its schema
    /// (`null` for none).
    ///
    /// # Errors
    /// When `data` violates the schema or the document's own bounds, or the schema is invalid.
    pub fn offered(action: &NextAction, data: Value) -> Result<Self, InvalidTransition> {
        action.validate(&data)?;
        check_documented(&action.target_status, &data)?;
        Ok(Self { data: (!data.is_null()).then_some(data), ..Self::bare(&action.target_status) })
    }

    fn for_reason(status: &str, reason: &str) -> Result<Self, InvalidTransition> {
        let reason = sized("reason", 10, 500, reason)?;
        Ok(Self { data: Some(json!({"reason": reason})), ..Self::bare(status) })
    }

    /// Returns the target status.
    pub fn status(&self) -> &str {
        &self.status
    }

    /// Builds the request for one order.
    pub fn request(&self, number: &OrderNumber) -> ApiRequest {
        ApiRequest::post(ROUTE, &[number.as_str()]).json(self)
    }
}

/// Returns the status that the answer to a transition shows: the document promises the updated order. `None` if
/// the answer shows no status of this order.
pub fn answered_status(number: &OrderNumber, answer: &RawJson) -> Option<String> {
    // The offset reads times, which are not used.
    parse_order(answer.as_str(), number, FixedOffset::east_opt(0)?).ok()?.value.status
}

/// Checks the bounds of the document's table, which apply even if an action's schema omits them.
fn check_documented(status: &str, data: &Value) -> Result<(), InvalidTransition> {
    let (field, least, most) = match status {
        "cancelled" | "pickup_expired" => ("reason", 10, 500),
        "picked_up" => ("confirmation_code", 1, 50),
        "shipped" if data.get("tracking_code").is_some() => ("tracking_code", 1, 100),
        _ => return Ok(()),
    };
    let text = data.get(field).and_then(Value::as_str).unwrap_or_default();
    sized(field, least, most, text).map(drop)
}

/// Checks a length in characters, as people and the server's schema count them. In bytes, half a page of Portuguese
/// would be refused.
fn sized<'a>(
    field: &'static str,
    least: usize,
    most: usize,
    text: &'a str,
) -> Result<&'a str, InvalidTransition> {
    let length = text.chars().count();
    if (least..=most).contains(&length) {
        return Ok(text);
    }
    Err(InvalidTransition::Length { field, least, most, length })
}

impl OrdersApi<'_> {
    /// Sends a transition and returns the order as the marketplace then has it.
    ///
    /// # Errors
    /// As every call; see [`Error`]. An answer that is not the order leaves the outcome
    /// [`Ambiguous`](crate::Class::Ambiguous).
    pub async fn transition(
        self,
        number: &OrderNumber,
        transition: &Transition,
    ) -> Result<Read<Order>, Error> {
        let request = transition.request(number);
        self.requests
            .read_with(&request, |payload| parse_order(payload, number, self.requests.naive_offset()))
            .await
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn body(transition: &Transition) -> Value {
        let request = transition.request(&OrderNumber::new("MP-1"));
        assert_eq!(request.describe(), "POST /api/v1/sellers/orders/MP-1/status");
        request.json_body().unwrap()
    }

    #[test]
    fn the_answer_to_a_transition_shows_the_status_of_its_own_order_or_none() {
        for (answer, expected) in [
            (r#"{"order_number":"MP-1","status":"preparing"}"#, Some("preparing")),
            (r#"{"order":{"order_number":"MP-1","status":"paid"}}"#, Some("paid")),
            (r#"{"order_number":"MP-1"}"#, None),
            (r#"{"order_number":"MP-1","status":null}"#, None),
            (r#"{"order_number":"MP-1","status":{"to":"paid"}}"#, None),
            (r#"{"order_number":"MP-2","status":"preparing"}"#, None),
            (r#"{"status":"preparing"}"#, None),
            ("[]", None),
            ("{}", None),
            ("null", None),
        ] {
            let status = answered_status(&OrderNumber::new("MP-1"), &RawJson::new(answer));
            assert_eq!(status.as_deref(), expected, "{answer}");
        }
    }

    // proves: ORD-045, ORD-054, FLO-001, FLO-002
    #[test]
    fn the_request_of_a_bare_transition_carries_the_status_alone() {
        let check = |transition: Transition, status: &str| {
            assert_eq!(body(&transition), json!({"status": status}));
            assert_eq!(transition.status(), status);
        };
        check(Transition::preparing(), "preparing");
        check(Transition::ready_to_ship(), "ready_to_ship");
        check(Transition::delivered(), "delivered");
        check(Transition::ready_for_pickup(), "ready_for_pickup");
        check(Transition::available(), "available");
        check(Transition::restocked(), "restocked");
        check(Transition::production_in_progress(), "production_in_progress");
        check(Transition::production_finished(), "production_finished");
    }

    // proves: ORD-054, FLO-003, FLO-004, FLO-006, FLO-007, FLO-008, FLO-010
    #[test]
    fn the_request_of_a_transition_with_payload_carries_it_under_data() {
        let check = |transition: Transition, expected: Value| assert_eq!(body(&transition), expected);
        check(Transition::shipped(None).unwrap(), json!({"status": "shipped"}));
        let code = json!({"tracking_code": "BR123"});
        check(Transition::shipped(Some("BR123")).unwrap(), json!({"status": "shipped", "data": code}));
        let reason = json!({"reason": "sem estoque"});
        check(
            Transition::cancelled("sem estoque").unwrap(),
            json!({"status": "cancelled", "data": reason.clone()}),
        );
        check(
            Transition::pickup_expired("sem estoque").unwrap(),
            json!({"status": "pickup_expired", "data": reason}),
        );
        let code = json!({"confirmation_code": "1234"});
        check(Transition::picked_up("1234").unwrap(), json!({"status": "picked_up", "data": code}));
        check(Transition::production_started(None), json!({"status": "production_started"}));
        let days = json!({"estimated_days": 3});
        check(
            Transition::production_started(NonZeroU32::new(3)),
            json!({"status": "production_started", "data": days}),
        );
        check(Transition::awaiting_materials(&[]), json!({"status": "awaiting_materials"}));
        let materials = ["cola".to_owned(), "MDF".to_owned()];
        check(
            Transition::awaiting_materials(&materials),
            json!({"status": "awaiting_materials", "data": {"materials": ["cola", "MDF"]}}),
        );
    }

    // proves: FLO-003, FLO-005, FLO-009, FLO-011
    // withstands: F021
    #[test]
    fn lengths_are_bounded_in_characters_and_the_bounds_belong() {
        for with_reason in [Transition::cancelled, Transition::pickup_expired] {
            for good in [10, 500] {
                assert!(with_reason(&"ã".repeat(good)).is_ok(), "{good}");
            }
            for bad in [0, 9, 501] {
                let expected =
                    InvalidTransition::Length { field: "reason", least: 10, most: 500, length: bad };
                assert_eq!(with_reason(&"ã".repeat(bad)), Err(expected));
            }
        }
        assert!(Transition::shipped(Some(&"é".repeat(100))).is_ok());
        assert!(Transition::shipped(Some(&"é".repeat(101))).is_err());
        assert!(Transition::shipped(Some("")).is_err());
        assert!(Transition::picked_up(&"é".repeat(50)).is_ok());
        assert!(Transition::picked_up(&"é".repeat(51)).is_err());
        assert!(Transition::picked_up("").is_err());
    }

    // proves: ORD-052, ORD-054
    #[test]
    fn an_offered_transition_is_held_against_its_schema_before_it_exists() {
        let schema =
            json!({"type": "object", "required": ["bay"], "properties": {"bay": {"type": "integer"}}});
        let action: NextAction = serde_json::from_value(
            json!({"action": "park", "target_status": "parked", "payload_schema": schema}),
        )
        .unwrap();
        let parked = Transition::offered(&action, json!({"bay": 7})).unwrap();
        assert_eq!(body(&parked), json!({"status": "parked", "data": {"bay": 7}}));
        for bad in [json!({"bay": "sete"}), json!({}), Value::Null] {
            let refused = Transition::offered(&action, bad.clone());
            assert!(matches!(refused, Err(InvalidTransition::Schema(_))), "{bad}: {refused:?}");
        }
        let bare = NextAction { payload_schema: None, ..action };
        assert_eq!(body(&Transition::offered(&bare, Value::Null).unwrap()), json!({"status": "parked"}));
        assert!(Transition::offered(&bare, json!({})).is_err());
    }

    // proves: FLO-003, FLO-004, FLO-005, FLO-008, FLO-009, FLO-010, FLO-011
    #[test]
    fn an_offer_whose_schema_is_lax_is_held_to_the_documents_bounds_all_the_same() {
        let lax = |status: &str, data: Value| {
            let action =
                json!({"action": "x", "target_status": status, "payload_schema": {"type": "object"}});
            Transition::offered(&serde_json::from_value(action).unwrap(), data)
        };
        for status in ["cancelled", "pickup_expired"] {
            assert!(lax(status, json!({"reason": "ã".repeat(10)})).is_ok(), "{status}");
            for bad in [
                Value::Null,
                json!({}),
                json!({"reason": "ã".repeat(9)}),
                json!({"reason": "ã".repeat(501)}),
                json!({"reason": 1_234_567_890}),
            ] {
                let refused = lax(status, bad.clone());
                assert!(matches!(refused, Err(InvalidTransition::Length { field: "reason", .. })), "{bad}");
            }
        }
        assert!(lax("picked_up", json!({"confirmation_code": "7"})).is_ok());
        assert!(lax("picked_up", Value::Null).is_err());
        assert!(lax("picked_up", json!({"confirmation_code": "7".repeat(51)})).is_err());
        assert!(lax("shipped", Value::Null).is_ok());
        assert!(lax("shipped", json!({"tracking_code": "7".repeat(101)})).is_err());
    }

    proptest! {
        #[test]
        fn every_reason_that_is_accepted_arrives_as_it_is(reason in "\\PC{0,520}") {
            let fits = (10..=500).contains(&reason.chars().count());
            match Transition::cancelled(&reason) {
                Ok(cancelled) => {
                    prop_assert!(fits);
                    let sent = body(&cancelled);
                    prop_assert_eq!(sent["data"]["reason"].as_str(), Some(reason.as_str()));
                }
                Err(_) => prop_assert!(!fits),
            }
        }
    }
}
