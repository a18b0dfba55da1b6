//! Reads orders, listed oldest first: new ones come at the end, so no page shifts.

use std::collections::HashSet;

use chrono::{DateTime, Days, NaiveDate, Utc};
use espelho_api_client::{
    Client, Error as ApiError, ListPage,
    error::Refusal,
    resources::orders::{OrderQuery, read},
};
use espelho_model::{OrderNumber, fault, order::Order, sync::Resource, text};
use espelho_store::{Error as StoreError, LeaseTx, OrderWrite};

use super::{Fetched, Pull, RowWrite};
use crate::{
    StoreContext,
    plan::lost_values::{lost_value, may_have_lost_one},
    plan::open_orders::open_statuses,
    plan::refresh::{PassReading, pass_reading},
    plan::refresh_request::ListedState,
};

/// Rows per page. The document gives a default of 20 and no maximum. If a server refuses or cuts it, the pass follows.
const LIMIT: u32 = 100;

/// The next page size to try: the largest that the document mentions for any order route.
const SMALLER: u32 = 50;

/// Reads the orders of one store.
#[derive(Clone, Debug)]
pub struct OrdersPull {
    client: Client,
    query: OrderQuery,
}

impl OrdersPull {
    /// Reads all orders, or those created since a day. `date_from` gets a margin of one day, because the document does
    /// not name its time zone.
    pub fn new(client: Client, since: Option<NaiveDate>, page_parameter: String) -> Self {
        let query = OrderQuery {
            date_from: since.map(|day| day.checked_sub_days(Days::new(1)).unwrap_or(day)),
            sort: Some("created_at".into()),
            limit: Some(LIMIT),
            page_parameter,
            ..OrderQuery::default()
        };
        Self { client, query }
    }

    /// Reads the open orders only.
    pub fn open(client: Client, page_parameter: String) -> Self {
        let mut pull = Self::new(client, None, page_parameter);
        pull.query.statuses = open_statuses().into_iter().map(str::to_owned).collect();
        pull
    }
}

impl Pull for OrdersPull {
    type Detail = Order;

    const RESOURCE: Resource = Resource::Orders;

    fn scope(&self) -> String {
        // The request for "page 0" describes everything except the page.
        self.query.request().describe()
    }

    fn limit(&self) -> usize {
        self.query.limit.unwrap_or(20) as usize
    }

    async fn list(&self, page: u64) -> Result<ListPage, ApiError> {
        self.client.orders().list(&OrderQuery { page, ..self.query.clone() }).await
    }

    fn simplify(&mut self, refusal: &Refusal) -> bool {
        // Drops the field that the refusal names. If it names none, drops the page size before the sort order.
        if refusal.names("sort") && self.query.sort.take().is_some() {
            return true;
        }
        match self.query.limit {
            Some(LIMIT) => self.query.limit = Some(SMALLER),
            Some(_) => self.query.limit = None,
            None => return self.query.sort.take().is_some(),
        }
        true
    }

    fn ask_as(&mut self, scope: &str) -> bool {
        let limits = [Some(LIMIT), Some(SMALLER), None];
        let sorts = [self.query.sort.clone(), None];
        let ways = sorts.into_iter().flat_map(|sort| limits.map(|limit| (sort.clone(), limit)));
        let mut queries = ways.map(|(sort, limit)| OrderQuery { sort, limit, ..self.query.clone() });
        let same = queries.find(|query| query.request().describe() == scope);
        same.map(|query| self.query = query).is_some()
    }

    async fn detail(&self, key: &str) -> Result<Fetched<Order>, ApiError> {
        let (client, held) = self.client.holding();
        let read = client.orders().get(&OrderNumber::new(key)).await?;
        fault::point("order", key);
        let unknown = read.value.unknown_values();
        let unknown = unknown.iter().map(|(field, value)| {
            text!("run-note-value", field = field.to_string(), value = value.to_string())
        });
        let unreadable =
            read.unreadable.iter().map(|field| text!("run-note-field", field = field.to_string()));
        let remarks = unknown.chain(unreadable).collect();
        Ok(Fetched { content_hash: read.value.raw.content_hash(), detail: read.value, remarks, held })
    }

    fn reading(order: &Order, listed: &ListedState, now: DateTime<Utc>) -> PassReading {
        pass_reading(listed, order.status.as_deref(), order.updated_at, now)
    }

    async fn doubt(
        context: &StoreContext,
        order: &Order,
        is_listed_with_status: bool,
    ) -> Result<Option<ApiError>, StoreError> {
        if !may_have_lost_one(order) {
            return Ok(None);
        }
        let mut known = context.store.lookups().known_order(&context.key, &order.number).await?;
        known.has_status |= is_listed_with_status;
        Ok(lost_value(order, known).map(|field| ApiError::Unexpected {
            request: read::request(&order.number).describe(),
            read: true,
            problem: format!("an order without {field}, which was known"),
        }))
    }

    async fn edited(tx: &mut LeaseTx<'_>, rows: &[RowWrite<Order>]) -> Result<HashSet<String>, StoreError> {
        tx.mirror().edited_orders(rows.iter().map(|row| row.detail.clone()).collect()).await
    }

    async fn distrust(tx: &mut LeaseTx<'_>, keys: Vec<String>) -> Result<(), StoreError> {
        tx.mirror().distrust_orders(keys).await
    }

    async fn write(tx: &mut LeaseTx<'_>, rows: Vec<RowWrite<Order>>) -> Result<(), StoreError> {
        let write = |row: RowWrite<Order>| OrderWrite {
            order: row.detail,
            listing_hash: row.listing_hash,
            op: row.op,
        };
        tx.mirror().write_orders(rows.into_iter().map(write).collect()).await
    }
}
