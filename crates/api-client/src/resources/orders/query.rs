//! The listing of orders (API document, "Orders").

use chrono::{FixedOffset, NaiveDate};
use serde_json::value::RawValue;

use crate::{
    ApiRequest, Error, ListPage,
    resources::handles::OrdersApi,
    wire::{fields::FieldReader, members::member},
};

const ROUTE: &str = crate::route::ORDERS;

/// A query for the listing. `None` leaves a parameter to the server's default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderQuery {
    /// `status`: any of these.
    pub statuses: Vec<String>,
    /// `search`: an order number, or a customer's name.
    pub search: Option<String>,
    /// `customer_id`.
    pub customer_id: Option<String>,
    /// `channel`: any of these.
    pub channels: Vec<String>,
    /// `type`.
    pub order_type: Option<String>,
    /// `workflow`: one of the `workflow_type` values.
    pub workflow: Option<String>,
    /// `item_id`: orders that contain this listing.
    pub item_id: Option<String>,
    /// `blocking_stock`: only orders with a line that blocks dispatch.
    pub blocking_stock: bool,
    /// `item_stock_status`: orders with a line in any of these.
    pub item_stock_statuses: Vec<String>,
    /// `date_from`: created on or after this day.
    pub date_from: Option<NaiveDate>,
    /// `date_to`: created on or before this day.
    pub date_to: Option<NaiveDate>,
    /// `late`. The document does not show its values.
    pub late: Option<String>,
    /// `sort`: a field, with `-` before it for descending.
    pub sort: Option<String>,
    /// `limit`: rows a page, 20 by default.
    pub limit: Option<u32>,
    /// The page, from 1. The document does not name the parameter, so [`OrderQuery::page_parameter`] sets the name.
    pub page: u64,
    /// The name of the page parameter.
    pub page_parameter: String,
}

impl OrderQuery {
    /// Builds the request.
    pub fn request(&self) -> ApiRequest {
        let csv = |values: &[String]| (!values.is_empty()).then(|| values.join(","));
        let day = |date: Option<NaiveDate>| date.map(|d| d.to_string());
        let parameters = [
            ("status", csv(&self.statuses)),
            ("search", self.search.clone()),
            ("customer_id", self.customer_id.clone()),
            ("channel", csv(&self.channels)),
            ("type", self.order_type.clone()),
            ("workflow", self.workflow.clone()),
            ("item_id", self.item_id.clone()),
            ("blocking_stock", self.blocking_stock.then(|| "1".to_owned())),
            ("item_stock_status", csv(&self.item_stock_statuses)),
            ("date_from", day(self.date_from)),
            ("date_to", day(self.date_to)),
            ("late", self.late.clone()),
            ("sort", self.sort.clone()),
            ("limit", self.limit.map(|rows| rows.to_string())),
            (self.page_parameter.as_str(), Some(self.page.to_string())),
        ];
        let given = parameters.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?)));
        ApiRequest::get(ROUTE, &[]).query(given)
    }
}

impl OrdersApi<'_> {
    /// Reads one page of the listing.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn list(self, query: &OrderQuery) -> Result<ListPage, Error> {
        self.requests.fetch_list(&query.request(), row_key).await
    }
}

fn row_key(row: &RawValue) -> Option<String> {
    FieldReader::new(FixedOffset::east_opt(0)?).id("order_number", member(row, "order_number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    // proves: ORD-002, ORD-004, ORD-005, ORD-006, ORD-007, ORD-008, ORD-009, ORD-010, ORD-011, ORD-012, ORD-013
    // proves: ORD-014, ORD-015, ORD-016, ORD-017, ORD-018, VER-001
    #[test]
    fn the_request_of_a_listing_has_each_filter_that_is_set_and_no_other() {
        let paged = OrderQuery { page: 1, page_parameter: "page".into(), ..OrderQuery::default() };
        let check = |query: OrderQuery, expected: &str| {
            assert_eq!(query.request().describe(), format!("GET /api/v1/sellers/orders?{expected}"));
        };
        let day = |day| NaiveDate::from_ymd_opt(2026, 11, day);
        check(paged.clone(), "page=1");
        check(
            OrderQuery { search: Some("Ana & Zé".into()), ..paged.clone() },
            "search=Ana%20%26%20Z%C3%A9&page=1",
        );
        check(OrderQuery { search: Some("MP-1".into()), ..paged.clone() }, "search=MP-1&page=1");
        check(OrderQuery { sort: Some("created_at".into()), ..paged.clone() }, "sort=created_at&page=1");
        check(OrderQuery { sort: Some("-created_at".into()), ..paged.clone() }, "sort=-created_at&page=1");
        check(OrderQuery { late: Some("nfe".into()), ..paged.clone() }, "late=nfe&page=1");
        let whole = OrderQuery {
            statuses: texts(&["paid", "preparing"]),
            customer_id: Some("77".into()),
            channels: texts(&["marketplace", "direct"]),
            order_type: Some("standard".into()),
            workflow: Some("backorder".into()),
            item_id: Some("MPB-0000000000001".into()),
            blocking_stock: true,
            item_stock_statuses: texts(&["awaiting_restock", "in_production"]),
            date_from: day(1),
            date_to: day(30),
            limit: Some(50),
            page: 3,
            page_parameter: "pagina".into(),
            ..paged
        };
        check(
            whole,
            "status=paid%2Cpreparing&customer_id=77&channel=marketplace%2Cdirect&type=standard&workflow=backorder\
             &item_id=MPB-0000000000001&blocking_stock=1&item_stock_status=awaiting_restock%2Cin_production\
             &date_from=2026-11-01&date_to=2026-11-30&limit=50&pagina=3",
        );
    }

    // proves: ORD-045
    #[test]
    fn a_row_is_named_by_its_order_number_alone() {
        let key = |json: &str| row_key(&RawValue::from_string(json.to_owned()).unwrap());
        assert_eq!(key(r#"{"id":9,"order_number":"MP-1"}"#), Some("MP-1".into()));
        assert_eq!(key(r#"{"order_number":1234}"#), Some("1234".into()));
        assert_eq!(key(r#"{"id":9}"#), None);
    }
}
