//! Bulk transitions: many orders at once (API document, "Orders"). The document does not show the route's body.
//!
//! Nothing uses this route unless a caller names it explicitly: single calls report the outcome of each order.

use std::collections::HashSet;

use espelho_model::OrderNumber;
use serde_json::{Map, Value, json};

use crate::{ApiRequest, Error, resources::handles::OrdersApi};

/// The assumed body. The default is `{"action": …, "order_numbers": […], "data": …}`: `action` as the
/// possible-statuses route names it, the orders by the identifier of every order route, `data` as in the status
/// route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkBody {
    /// The field of the action.
    pub action_field: String,
    /// The field of the order numbers.
    pub orders_field: String,
}

impl Default for BulkBody {
    fn default() -> Self {
        Self { action_field: "action".into(), orders_field: "order_numbers".into() }
    }
}

/// One action on up to 200 orders.
#[derive(Clone, Debug, PartialEq)]
pub struct BulkTransition {
    body: Map<String, Value>,
}

/// Why orders cannot go into one bulk transition.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum InvalidBulk {
    /// There are no orders, or more than the route accepts.
    #[error("a bulk transition takes 1 to {most} orders, not {0}", most = BulkTransition::MOST_ORDERS)]
    Count(usize),
    /// In the assumed body one field would overwrite another.
    #[error("the fields {0:?} and {1:?} of a bulk transition must differ, also from \"data\"")]
    Fields(String, String),
    /// An order is repeated.
    #[error("order {0} is named twice")]
    Twice(OrderNumber),
}

impl BulkTransition {
    /// The most orders in one call (API document, "Limits").
    pub const MOST_ORDERS: usize = 200;

    /// Builds a bulk transition of an assumed form. The ten actions that the marketplace allows are not documented
    /// either; it refuses all others.
    ///
    /// # Errors
    /// Unless there are 1 to 200 orders, each named once, and the assumed fields differ.
    pub fn undocumented(
        assumed: &BulkBody,
        action: &str,
        orders: &[OrderNumber],
        data: Option<Value>,
    ) -> Result<Self, InvalidBulk> {
        if !(1..=Self::MOST_ORDERS).contains(&orders.len()) {
            return Err(InvalidBulk::Count(orders.len()));
        }
        let BulkBody { action_field, orders_field } = assumed;
        if action_field == orders_field || [action_field, orders_field].contains(&&"data".to_owned()) {
            return Err(InvalidBulk::Fields(action_field.clone(), orders_field.clone()));
        }
        let mut seen = HashSet::new();
        if let Some(twice) = orders.iter().find(|&order| !seen.insert(order)) {
            return Err(InvalidBulk::Twice(twice.clone()));
        }
        let numbers: Vec<_> = orders.iter().map(OrderNumber::as_str).collect();
        let mut body = Map::new();
        body.insert(action_field.clone(), json!(action));
        body.insert(orders_field.clone(), json!(numbers));
        body.extend(data.map(|data| ("data".to_owned(), data)));
        Ok(Self { body })
    }

    /// Builds the request.
    pub fn request(&self) -> ApiRequest {
        ApiRequest::post("/api/v1/sellers/orders/bulk/transition", &[]).json(&self.body)
    }
}

impl OrdersApi<'_> {
    /// Applies an action to many orders. Returns the answer as sent; read each order to see its outcome.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn bulk_transition(self, bulk: &BulkTransition) -> Result<Value, Error> {
        self.requests.answer(&bulk.request()).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders(count: usize) -> Vec<OrderNumber> {
        (0..count).map(|n| OrderNumber::new(format!("MP-{n}"))).collect()
    }

    fn bulk(orders: &[OrderNumber]) -> Result<BulkTransition, InvalidBulk> {
        BulkTransition::undocumented(&BulkBody::default(), "mark-preparing", orders, None)
    }

    // proves: ORD-056
    #[test]
    fn the_request_of_a_bulk_transition_has_the_assumed_body() {
        let request = bulk(&orders(2)).unwrap().request();
        assert_eq!(request.describe(), "POST /api/v1/sellers/orders/bulk/transition");
        let expected = json!({"action": "mark-preparing", "order_numbers": ["MP-0", "MP-1"]});
        assert_eq!(request.json_body(), Some(expected));
        let assumed = BulkBody { action_field: "status".into(), orders_field: "ids".into() };
        let data = Some(json!({"reason": "sem estoque"}));
        let other = BulkTransition::undocumented(&assumed, "cancelled", &orders(1), data).unwrap();
        let expected = json!({"status": "cancelled", "ids": ["MP-0"], "data": {"reason": "sem estoque"}});
        assert_eq!(other.request().json_body(), Some(expected));
    }

    #[test]
    fn an_assumed_body_whose_fields_collide_is_refused() {
        for (action_field, orders_field) in [("ids", "ids"), ("data", "ids"), ("action", "data")] {
            let (action_field, orders_field) = (action_field.to_owned(), orders_field.to_owned());
            let assumed = BulkBody { action_field, orders_field };
            let bulk = BulkTransition::undocumented(&assumed, "x", &orders(1), None);
            assert!(matches!(bulk, Err(InvalidBulk::Fields(..))), "{assumed:?}");
        }
    }

    // proves: ORD-057
    #[test]
    fn no_more_than_two_hundred_orders_go_into_one_call_and_none_twice() {
        assert!(bulk(&orders(1)).is_ok());
        assert!(bulk(&orders(200)).is_ok());
        assert_eq!(bulk(&orders(201)), Err(InvalidBulk::Count(201)));
        assert_eq!(bulk(&[]), Err(InvalidBulk::Count(0)));
        let twice = [orders(3), orders(1)].concat();
        assert_eq!(bulk(&twice), Err(InvalidBulk::Twice(OrderNumber::new("MP-0"))));
    }
}
