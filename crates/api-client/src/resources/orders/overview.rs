//! All orders together: enums, the day's figures and their evolution (API document, "Orders").
//!
//! These answers are only displayed and decide nothing. The document names few of their fields, so they are returned
//! as sent.

use serde_json::Value;

use crate::{ApiRequest, Error, resources::handles::OrdersApi};

/// Builds the request for the dashboard. The server's default is 30 days.
pub fn dashboard_request(days: Option<u32>) -> ApiRequest {
    let days = days.map(|days| days.to_string());
    let parameters = days.as_deref().map(|days| ("days", days));
    ApiRequest::get("/api/v1/sellers/orders/dashboard", &[]).query(parameters)
}

impl OrdersApi<'_> {
    /// Reads all order enums, as sent.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn enums(self) -> Result<Value, Error> {
        self.requests.fetch(&ApiRequest::get("/api/v1/sellers/orders/enums", &[])).await
    }

    /// Reads the public enum of order statuses by workflow, as sent.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn statuses_by_workflow(self) -> Result<Value, Error> {
        self.requests.fetch(&ApiRequest::get("/api/global/enums/order/status", &[]).public()).await
    }

    /// Reads the KPIs of the current day, as sent.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn summary(self) -> Result<Value, Error> {
        self.requests.fetch(&ApiRequest::get("/api/v1/sellers/orders/summary", &[])).await
    }

    /// Reads the daily evolution, the totals of the period and their comparison with the previous period, as sent.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn dashboard(self, days: Option<u32>) -> Result<Value, Error> {
        self.requests.fetch(&dashboard_request(days)).await
    }
}

#[cfg(test)]
mod tests {
    use super::dashboard_request;

    // proves: ORD-039
    #[test]
    fn the_request_of_the_dashboard_leaves_the_days_to_the_server_unless_they_are_given() {
        assert_eq!(dashboard_request(None).describe(), "GET /api/v1/sellers/orders/dashboard");
        assert_eq!(dashboard_request(Some(7)).describe(), "GET /api/v1/sellers/orders/dashboard?days=7");
    }
}
