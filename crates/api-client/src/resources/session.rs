//! The session: which store a token speaks for (API document, "Authentication and session").

use serde_json::Value;

use crate::{ApiRequest, Client, Error};

impl Client {
    /// `GET /api/stores/auth/session`: store, company and `auth_type`, as sent.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn session(&self) -> Result<Value, Error> {
        self.fetch(&ApiRequest::get("/api/stores/auth/session", &[])).await
    }
}
