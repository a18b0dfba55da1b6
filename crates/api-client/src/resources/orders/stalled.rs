//! Stalled orders: those with an expired deadline (API document, "Orders").

use chrono::{DateTime, FixedOffset, Utc};
use espelho_model::{OrderNumber, RawJson};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    ApiRequest, Error, PageMeta,
    resources::handles::OrdersApi,
    wire::{
        envelope::BodyError,
        fields::{Field, FieldReader},
        list,
    },
};

/// A query for a page of the stalled orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StalledQuery {
    page: u64,
    per_page: u8,
}

/// The number of rows is outside of the route's limits.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("stalled orders come 1 to {most} a page, not {0}", most = StalledQuery::MOST_ROWS)]
pub struct TooManyRows(pub u32);

impl StalledQuery {
    /// The most rows on a page (API document, "Limits").
    pub const MOST_ROWS: u8 = 50;

    /// Selects a page, from 1, with the most rows.
    pub fn page(page: u64) -> Self {
        Self { page, per_page: Self::MOST_ROWS }
    }

    /// Sets the number of rows.
    ///
    /// # Errors
    /// Unless it is 1 to 50.
    pub fn per_page(self, rows: u32) -> Result<Self, TooManyRows> {
        match u8::try_from(rows) {
            Ok(per_page @ 1..=Self::MOST_ROWS) => Ok(Self { per_page, ..self }),
            _ => Err(TooManyRows(rows)),
        }
    }

    /// Builds the request.
    pub fn request(self) -> ApiRequest {
        let (page, per_page) = (self.page.to_string(), self.per_page.to_string());
        ApiRequest::get("/api/v1/sellers/orders/stalled", &[])
            .query([("page", page.as_str()), ("per_page", per_page.as_str())])
    }
}

/// One page of stalled orders.
#[derive(Clone, Debug, PartialEq)]
pub struct StalledRows {
    /// The orders, oldest deadline first.
    pub rows: Vec<StalledOrder>,
    /// How many rows had no readable order number.
    pub rows_without_id: usize,
    /// What the server says about the whole listing.
    pub meta: PageMeta,
}

/// An order with an expired deadline.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names; times in UTC")]
pub struct StalledOrder {
    pub number: OrderNumber,
    pub status: Option<String>,
    pub status_label: Option<String>,
    pub status_color: Option<String>,
    /// The deadline that expired first.
    pub reason: Option<String>,
    pub deadline_at: Option<DateTime<Utc>>,
    /// The row as received.
    pub raw: RawJson,
}

impl OrdersApi<'_> {
    /// Reads one page of the stalled orders.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn stalled(self, query: StalledQuery) -> Result<StalledRows, Error> {
        self.requests.send(&query.request(), |body| parse(body, self.requests.naive_offset())).await
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RowWire<'a> {
    #[serde(borrow)]
    order_number: Field<'a>,
    #[serde(borrow)]
    status: Field<'a>,
    #[serde(borrow)]
    status_label: Field<'a>,
    #[serde(borrow)]
    status_color: Field<'a>,
    #[serde(borrow)]
    reason: Field<'a>,
    #[serde(borrow)]
    deadline_at: Field<'a>,
}

fn parse(body: &[u8], naive: FixedOffset) -> Result<StalledRows, BodyError> {
    let (sent, meta) = list::split(body)?;
    let count = sent.len();
    let rows: Vec<_> = sent.into_iter().filter_map(|row| read_row(row, naive)).collect();
    Ok(StalledRows { rows_without_id: count - rows.len(), rows, meta })
}

fn read_row(row: &RawValue, naive: FixedOffset) -> Option<StalledOrder> {
    let mut read = FieldReader::new(naive);
    let wire: RowWire<'_> = read.nested("row", Some(row))?;
    Some(StalledOrder {
        number: OrderNumber::new(read.id("order_number", wire.order_number)?),
        status: read.text("status", wire.status),
        status_label: read.text("status_label", wire.status_label),
        status_color: read.text("status_color", wire.status_color),
        reason: read.text("reason", wire.reason),
        deadline_at: read.time("deadline_at", wire.deadline_at),
        raw: RawJson::new(row.get()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: ORD-036
    #[test]
    fn the_request_of_stalled_orders_never_asks_for_more_than_fifty_rows() {
        let request = |query: StalledQuery| query.request().describe();
        assert_eq!(request(StalledQuery::page(1)), "GET /api/v1/sellers/orders/stalled?page=1&per_page=50");
        let few = StalledQuery::page(2).per_page(10).unwrap();
        assert_eq!(request(few), "GET /api/v1/sellers/orders/stalled?page=2&per_page=10");
        for rows in [0, 51, 256, u32::MAX] {
            assert_eq!(StalledQuery::page(1).per_page(rows), Err(TooManyRows(rows)));
        }
    }

    // proves: ORD-033, ORD-037, ORD-038
    #[test]
    fn a_stalled_order_says_which_deadline_expired_and_when() {
        let row = r##"{"order_number":"MP-1","status":"paid","status_label":"Pago","status_color":"#0a0","reason":"nfe","deadline_at":"2026-11-19T12:00:00Z"}"##;
        let body = format!(
            r#"{{"success":true,"data":{{"data":[{row},{{"reason":"?"}}],"meta":{{"pagination":{{"page":1,"last_page":3}}}}}}}}"#
        );
        let page = parse(body.as_bytes(), FixedOffset::east_opt(0).unwrap()).unwrap();
        assert_eq!((page.rows.len(), page.rows_without_id, page.meta.last_page), (1, 1, Some(3)));
        let order = &page.rows[0];
        assert_eq!((order.number.as_str(), order.reason.as_deref()), ("MP-1", Some("nfe")));
        assert_eq!(
            (order.status_label.as_deref(), order.status_color.as_deref()),
            (Some("Pago"), Some("#0a0"))
        );
        assert_eq!(order.deadline_at.unwrap().to_rfc3339(), "2026-11-19T12:00:00+00:00");
        assert_eq!(order.raw.as_str(), row);
    }
}
