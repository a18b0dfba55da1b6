//! Decides what follows from a refresh that failed.
//!
//! An order that a listing shows must be readable: if its detail is denied, its row shows that, as in a complete
//! reconciliation. The routes may be behind each other for some seconds, so only the third denial counts. What a delivery
//! reported is read again afterwards too, as often as any other.

use std::time::Duration;

use espelho_api_client::{Class, Error as ApiError};

use crate::plan::{
    refresh_queue::Work,
    refresh_request::{Entity, Urgency},
};

/// The denials of a listed order before the one that is shown: those after 0 and 2 s.
const DENIALS_BEFORE: usize = 2;

/// The reading that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The urgency of the reading.
    pub urgency: Urgency,
    /// True if a listing shows the entity, as far as known.
    pub is_listed: bool,
    /// The number of readings before for the same request.
    pub round: usize,
    /// True if it is not read again for the same request.
    pub is_last: bool,
}

impl Reading {
    /// Describes the reading of what the queue gave out.
    pub fn of(work: &Work) -> Self {
        let Work { request, round, is_last, .. } = work;
        let is_listed = request.listing_hash.is_some() || request.was_denied;
        Self { urgency: request.urgency, is_listed, round: *round, is_last: *is_last }
    }

    /// Describes the same reading where the marketplace denies all that it lists: no route is only behind, and the first
    /// denial counts. What a delivery reported is awaited all the same.
    #[must_use]
    pub fn among_denied(self) -> Self {
        match self.urgency {
            Urgency::Hinted => self,
            Urgency::Found | Urgency::Swept => Self { round: self.round.max(DENIALS_BEFORE), ..self },
        }
    }
}

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
    /// A delivery reported it, or a listing shows it, and the marketplace may not show it yet.
    Await {
        /// True if its row shows that it cannot be read.
        is_shown: bool,
    },
    /// Its row shows why it cannot be read.
    Show,
}

/// Decides what to do after the marketplace's error.
pub fn after_error(entity: &Entity, reading: Reading, error: &ApiError) -> AfterError {
    let Reading { urgency, is_listed, round, is_last } = reading;
    if error.is_authentication() {
        return AfterError::End;
    }
    if error.is_absent() {
        return match (entity, urgency) {
            (Entity::Product(_), _) => AfterError::WalkListing,
            (Entity::Order(_), Urgency::Hinted) => {
                AfterError::Await { is_shown: is_last || (is_listed && round >= DENIALS_BEFORE) }
            }
            (Entity::Order(_), Urgency::Found) if is_listed && round < DENIALS_BEFORE => {
                AfterError::Await { is_shown: false }
            }
            // A sweep asks again only for rows that have failed before.
            (Entity::Order(_), Urgency::Found | Urgency::Swept) if is_listed => AfterError::Show,
            (Entity::Order(_), Urgency::Found | Urgency::Swept) => AfterError::Leave,
        };
    }
    // A delivery names the id of a SKU (API document, "Events": `product_sku_id`), which need not be that of a product.
    if let (Entity::Product(_), Urgency::Hinted, ApiError::Refused { status: 400 | 422, .. }) =
        (entity, urgency, error)
    {
        return AfterError::WalkListing;
    }
    if error.is_foreign_denial() || may_pass(error) {
        return AfterError::Retry { after: None };
    }
    match error.class() {
        Class::Transient { after } => AfterError::Retry { after },
        Class::Reauthenticate => AfterError::Retry { after: None },
        Class::Permanent | Class::Ambiguous => AfterError::Show,
    }
}

/// Tells whether a read was refused for something of the moment: a proxy's redirect, a conflict with somebody else's
/// write, or "too early".
fn may_pass(error: &ApiError) -> bool {
    matches!(error, ApiError::Refused { read: true, status: 300..=399 | 409 | 425, .. })
}

#[cfg(test)]
mod tests {
    use espelho_api_client::error::Refusal;
    use espelho_model::{OrderNumber, ProductId};

    use super::*;
    use crate::plan::refresh_request::RefreshRequest;

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
            (&order, Urgency::Found, true, 404, AfterError::Leave, "a denial is recorded elsewhere"),
            (&order, Urgency::Swept, false, 404, AfterError::Leave, "a denial is recorded elsewhere"),
            (&product, Urgency::Hinted, false, 404, AfterError::WalkListing, "it may be a listing's number"),
            (&product, Urgency::Swept, true, 404, AfterError::WalkListing, "the listing tells"),
            (&product, Urgency::Hinted, false, 422, AfterError::WalkListing, "it may be the id of a SKU"),
            (&product, Urgency::Hinted, true, 400, AfterError::WalkListing, "it may be the id of a SKU"),
            (&order, Urgency::Found, false, 302, AfterError::Retry { after: None }, "a proxy redirects it"),
            (&order, Urgency::Found, false, 409, AfterError::Retry { after: None }, "it is being written"),
            (&order, Urgency::Swept, false, 425, AfterError::Retry { after: None }, "it is too early"),
            (&product, Urgency::Swept, false, 409, AfterError::Retry { after: None }, "it is being written"),
            (&order, Urgency::Hinted, false, 422, AfterError::Show, "it will be refused again"),
            (&order, Urgency::Hinted, false, 403, AfterError::Show, "it will be refused again"),
            (&product, Urgency::Swept, false, 422, AfterError::Show, "it will be refused again"),
        ] {
            let reading = Reading { urgency, is_listed: false, round: if is_last { 4 } else { 0 }, is_last };
            assert_eq!(after_error(entity, reading, &refused(status)), expected, "{status}: {why}");
        }
    }

    #[test]
    fn among_orders_that_are_all_denied_the_first_denial_is_shown_unless_a_delivery_reported_it() {
        let order = Entity::Order(OrderNumber::new("1"));
        for (urgency, expected) in [
            (Urgency::Found, AfterError::Show),
            (Urgency::Swept, AfterError::Show),
            (Urgency::Hinted, AfterError::Await { is_shown: false }),
        ] {
            let reading = Reading { urgency, is_listed: true, round: 0, is_last: false }.among_denied();
            assert_eq!(after_error(&order, reading, &refused(404)), expected, "{urgency:?}");
        }
    }

    #[test]
    fn an_order_that_is_listed_and_denied_is_awaited_for_seconds_and_then_shown() {
        let (order, product) = (Entity::Order(OrderNumber::new("1")), Entity::Product(ProductId::new("1")));
        let [awaited, shown] = [false, true].map(|is_shown| AfterError::Await { is_shown });
        let wait = Some(Duration::from_secs(7));
        for (entity, urgency, round, status, expected, why) in [
            (&order, Urgency::Found, 0, 404, awaited, "the listing may be ahead"),
            (&order, Urgency::Found, 1, 404, awaited, "the same, after 2 s"),
            (&order, Urgency::Found, 2, 404, AfterError::Show, "it is listed and cannot be read"),
            (&order, Urgency::Found, 4, 404, AfterError::Show, "the same"),
            (&order, Urgency::Hinted, 1, 404, awaited, "a delivery reported it too"),
            (&order, Urgency::Hinted, 2, 404, shown, "it is shown, and read again after 60 s"),
            (&order, Urgency::Hinted, 3, 404, shown, "the same, after 300 s"),
            (&order, Urgency::Hinted, 4, 404, shown, "the sweeps read it from now on"),
            (&order, Urgency::Swept, 0, 404, AfterError::Show, "it failed before"),
            (&order, Urgency::Found, 2, 4_040, AfterError::Retry { after: None }, "it is a proxy's page"),
            (&order, Urgency::Found, 2, 429, AfterError::Retry { after: wait }, "the server set a wait"),
            (&order, Urgency::Found, 0, 422, AfterError::Show, "it will be refused again"),
            (&order, Urgency::Found, 2, 401, AfterError::End, "the credential is rejected"),
            (&product, Urgency::Found, 2, 404, AfterError::WalkListing, "the listing tells"),
        ] {
            let reading = Reading { urgency, is_listed: true, round, is_last: round >= 4 };
            assert_eq!(after_error(entity, reading, &refused(status)), expected, "{status}, {round}: {why}");
        }
    }

    #[test]
    fn an_order_is_listed_if_its_request_has_the_fingerprint_of_its_row_or_it_was_denied_as_a_listed_one() {
        let hash = Some(espelho_model::ContentHash::from_i64(9));
        for (listing_hash, was_denied) in [(None, false), (hash, false), (None, true), (hash, true)] {
            let request = RefreshRequest { listing_hash, was_denied, ..RefreshRequest::found([]) };
            let work =
                Work { entity: Entity::Order(OrderNumber::new("1")), request, round: 2, is_last: false };
            let (urgency, is_listed) = (Urgency::Found, listing_hash.is_some() || was_denied);
            assert_eq!(Reading::of(&work), Reading { urgency, is_listed, round: 2, is_last: false });
        }
    }
}
