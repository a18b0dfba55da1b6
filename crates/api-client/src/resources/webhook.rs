//! The webhook's own route (API document, "Authentication and session"). [`crate::webhook`] reads the deliveries.

use crate::{ApiRequest, Error, resources::handles::AuthApi};

/// Builds the request for a test delivery. The document shows no body, so none is sent.
pub fn test_request() -> ApiRequest {
    ApiRequest::post("/api/integration/webhook/test", &[])
}

impl AuthApi<'_> {
    /// Makes the marketplace send a real, signed `webhook.test`, if the webhook is active.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn test_webhook(self) -> Result<(), Error> {
        self.requests.command(&test_request()).await
    }
}

#[cfg(test)]
mod tests {
    use super::test_request;

    // proves: AUT-052, VER-001
    #[test]
    fn the_request_of_a_test_delivery_has_no_body_and_needs_the_token() {
        let request = test_request();
        assert_eq!(request.describe(), "POST /api/integration/webhook/test");
        assert_eq!(request.json_body(), None);
        assert!(request.authenticated);
    }
}
