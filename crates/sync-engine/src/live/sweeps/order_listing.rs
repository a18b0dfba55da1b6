//! Reads the listing of orders, page by page.

use espelho_api_client::{Client, Error as ApiError, ListPage, limit::Lane, resources::orders::OrderQuery};

use crate::{Error, Input, StoreContext, plan::last_page::is_beyond_the_end};

/// Rows per page.
const LIMIT: u32 = 100;

/// A walk over the listing of orders.
pub(super) struct OrderListing<'c> {
    context: &'c StoreContext,
    client: Client,
    query: OrderQuery,
    /// Requests made.
    requests: u64,
}

impl<'c> OrderListing<'c> {
    /// Returns a walk over orders with these statuses, or over all where none is named.
    pub(super) fn new(context: &'c StoreContext, sort: &str, statuses: &[&str]) -> Self {
        let query = OrderQuery {
            sort: Some(sort.to_owned()),
            limit: Some(LIMIT),
            statuses: statuses.iter().map(|status| (*status).to_owned()).collect(),
            page_parameter: context.page_parameter.clone(),
            ..OrderQuery::default()
        };
        Self { context, client: context.client.in_lane(Lane::Poll), query, requests: 0 }
    }

    /// Returns a walk over what a search for an order's number finds.
    pub(super) fn of_order(context: &'c StoreContext, number: &str) -> Self {
        let mut listing = Self::new(context, "-created_at", &[]);
        listing.query.search = Some(number.to_owned());
        listing
    }

    /// Returns how many requests the walk took.
    pub(super) fn requests(&self) -> u64 {
        self.requests
    }

    /// Reads a page. If the server refuses the request, simplifies it; the server's own order is newest first.
    pub(super) async fn page(&mut self, page: u64) -> Result<ListPage, Error> {
        loop {
            self.requests += 1;
            match self.client.orders().list(&OrderQuery { page, ..self.query.clone() }).await {
                Ok(listing) => {
                    self.context.show_poisoned_rows(Input::Order, &listing).await;
                    return Ok(listing);
                }
                Err(error) if is_beyond_the_end(page, &error) => {
                    return Ok(ListPage::default());
                }
                Err(ApiError::Refused { status: 400 | 422, .. })
                    if page == 1
                        && (self.query.sort.take().is_some() || self.query.limit.take().is_some()) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}
