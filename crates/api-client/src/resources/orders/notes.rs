//! The store's own notes on an order (API document, "Orders"). The customer does not see them.

use espelho_model::OrderNumber;
use serde::Serialize;

use crate::{ApiRequest, Error, resources::handles::OrdersApi};

#[derive(Serialize)]
struct Body<'a> {
    /// Also sent as `null`, which clears the notes.
    notes: Option<&'a str>,
}

/// Builds the request that replaces the whole text; `None` clears it.
pub fn request(number: &OrderNumber, notes: Option<&str>) -> ApiRequest {
    ApiRequest::put("/api/v1/sellers/orders/{id}/notes", &[number.as_str()]).json(&Body { notes })
}

impl OrdersApi<'_> {
    /// Replaces an order's notes; `None` clears them.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn set_notes(self, number: &OrderNumber, notes: Option<&str>) -> Result<(), Error> {
        self.requests.command(&request(number, notes)).await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // proves: ORD-045, ORD-069, ORD-070, ENV-003
    #[test]
    fn the_request_of_notes_carries_the_whole_text_or_null() {
        let number = OrderNumber::new("MP-1");
        let request = |notes| request(&number, notes);
        assert_eq!(request(Some("a")).describe(), "PUT /api/v1/sellers/orders/MP-1/notes");
        assert_eq!(
            request(Some("ligar \"antes\"\n")).json_body(),
            Some(json!({"notes": "ligar \"antes\"\n"}))
        );
        assert_eq!(request(Some("")).json_body(), Some(json!({"notes": ""})));
        assert_eq!(request(None).json_body(), Some(json!({"notes": null})));
    }
}
