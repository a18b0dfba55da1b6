//! Decides what follows from a refresh that failed.

use std::time::Duration;

use espelho_api_client::{Class, Error as ApiError};

use crate::plan::refresh_request::{Entity, Urgency};

/// What to do about an entity that could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterError {
    /// The work on the store ends: nothing else would succeed either.
    End,
    /// It is read again, not before the wait that the marketplace requested.
    Retry {
        /// The wait.
        after: Option<Duration>,
    },
    /// The identifier may be of another kind than the route takes: only the listing shows what changed.
    WalkListing,
    /// Nothing: a complete pass, or a repeated denial, decides whether it is gone.
    Leave,
    /// A delivery reported it, and the marketplace may not show it yet.
    Await {
        /// Whether its row shows that it was never found.
        is_shown: bool,
    },
    /// Its row shows why it cannot be read.
    Show,
}

/// Decides what to do after the marketplace's error; `is_last` means that the entity is not read again for the same
/// delivery.
pub fn after_error(entity: &Entity, urgency: Urgency, is_last: bool, error: &ApiError) -> AfterError {
    if error.is_authentication() {
        return AfterError::End;
    }
    if error.is_absent() {
        return match (entity, urgency) {
            (Entity::Product(_), _) => AfterError::WalkListing,
            (Entity::Order(_), Urgency::Hinted) => AfterError::Await { is_shown: is_last },
            (Entity::Order(_), Urgency::Found | Urgency::Swept) => AfterError::Leave,
        };
    }
    // A delivery names the id of a SKU (API document, "Events": `product_sku_id`), which need not be that of a product.
    if let (Entity::Product(_), Urgency::Hinted, ApiError::Refused { status: 400 | 422, .. }) =
        (entity, urgency, error)
    {
        return AfterError::WalkListing;
    }
    if error.is_foreign_denial() {
        return AfterError::Retry { after: None };
    }
    match error.class() {
        Class::Transient { after } => AfterError::Retry { after },
        Class::Reauthenticate => AfterError::Retry { after: None },
        Class::Permanent | Class::Ambiguous => AfterError::Show,
    }
}

#[cfg(test)]
mod tests {
    use espelho_api_client::error::Refusal;
    use espelho_model::{OrderNumber, ProductId};

    use super::*;

    /// Returns a refusal; a 404 of 4040 is that of a proxy.
    fn refused(status: u16) -> ApiError {
        let (status, message_code) = match status {
            404 => (404, "NOT_FOUND"),
            4_040 => (404, ""),
            status => (status, ""),
        };
        let after = (status == 429).then(|| Duration::from_secs(7));
        ApiError::Refused {
            request: "GET /x".to_owned(),
            read: true,
            status,
            refusal: Box::new(Refusal { message_code: message_code.to_owned(), ..Refusal::default() }),
            after,
        }
    }

    #[test]
    fn an_error_ends_all_or_is_retried_or_awaited_or_shown() {
        let order = Entity::Order(OrderNumber::new("1"));
        let product = Entity::Product(ProductId::new("1"));
        let wait = Some(Duration::from_secs(7));
        for (entity, urgency, is_last, status, expected, why) in [
            (&order, Urgency::Hinted, false, 401, AfterError::End, "the credential is rejected"),
            (&product, Urgency::Swept, true, 401, AfterError::End, "the credential is rejected"),
            (&order, Urgency::Swept, false, 429, AfterError::Retry { after: wait }, "the server set a wait"),
            (&order, Urgency::Hinted, true, 503, AfterError::Retry { after: None }, "it is down"),
            (&product, Urgency::Found, false, 500, AfterError::Retry { after: None }, "it is down"),
            (&order, Urgency::Hinted, false, 404, AfterError::Await { is_shown: false }, "it may be behind"),
            (&order, Urgency::Hinted, true, 404, AfterError::Await { is_shown: true }, "it never came"),
            (
                &order,
                Urgency::Hinted,
                true,
                410,
                AfterError::Retry { after: None },
                "the marketplace never says so",
            ),
            (&order, Urgency::Hinted, true, 4_040, AfterError::Retry { after: None }, "it is a proxy's page"),
            (
                &product,
                Urgency::Swept,
                false,
                4_040,
                AfterError::Retry { after: None },
                "it is a proxy's page",
            ),
            (&order, Urgency::Found, true, 404, AfterError::Leave, "what was listed is gone again"),
            (&order, Urgency::Swept, false, 404, AfterError::Leave, "a denial is recorded elsewhere"),
            (&product, Urgency::Hinted, false, 404, AfterError::WalkListing, "it may be a listing's number"),
            (&product, Urgency::Swept, true, 404, AfterError::WalkListing, "the listing tells"),
            (&product, Urgency::Hinted, false, 422, AfterError::WalkListing, "it may be the id of a SKU"),
            (&product, Urgency::Hinted, true, 400, AfterError::WalkListing, "it may be the id of a SKU"),
            (&order, Urgency::Hinted, false, 422, AfterError::Show, "it will be refused again"),
            (&order, Urgency::Hinted, false, 403, AfterError::Show, "it will be refused again"),
            (&product, Urgency::Swept, false, 422, AfterError::Show, "it will be refused again"),
        ] {
            assert_eq!(after_error(entity, urgency, is_last, &refused(status)), expected, "{status}: {why}");
        }
    }
}
