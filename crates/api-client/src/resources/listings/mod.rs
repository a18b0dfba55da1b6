//! Listings (API document, "Listings (items) and categories"): simulate, create as draft, publish for review. No
//! route reads a listing; its review state arrives in events and in campaigns.

mod draft;
mod read;

use chrono::{Offset as _, Utc};
use espelho_model::{ItemId, RawJson, listing::Listing};

pub use self::draft::{
    Description, DraftAttribute, DraftVariation, Gtin, ListingDraft, ListingTitle, SheetItem, TechnicalSheet,
    VariationAttribute,
};
use self::read::read_listing;
use super::answer::{Written, read_written};
use crate::{ApiRequest, Error, resources::handles::ListingsApi};

const PUBLISH: &str = "/api/items/{id}/publish";

/// Builds the request that sends a draft to review.
pub fn publish_request(listing: &ItemId) -> ApiRequest {
    ApiRequest::put(PUBLISH, &[listing.as_str()])
}

/// Returns the listing in the answer to a write, if there is one.
pub fn listing_in(answer: &str) -> Option<Listing> {
    read_written(answer, Utc.fix(), read_listing).value
}

impl ListingsApi<'_> {
    /// Simulates a draft. An answer means that the marketplace would accept it. Nothing is created, but the call is
    /// sent as a write and so only once.
    ///
    /// # Errors
    /// As every call; an unacceptable draft is a refusal with 422.
    pub async fn simulate(self, draft: &ListingDraft) -> Result<RawJson, Error> {
        self.requests.fetch_raw(&draft.simulate_request()).await
    }

    /// Creates a listing, as a draft.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn create(self, draft: &ListingDraft) -> Result<Written<Listing>, Error> {
        self.requests.write_as(&draft.create_request(), read_listing).await
    }

    /// Sends a draft to review.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn publish(self, listing: &ItemId) -> Result<Written<Listing>, Error> {
        self.requests.write_as(&publish_request(listing), read_listing).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::outward::sent;

    // proves: LST-043
    #[test]
    fn a_listing_is_published_by_its_id_without_a_body() {
        let request = publish_request(&ItemId::new("MPB-0000000000001"));
        assert_eq!(sent(&request), "PUT /api/items/MPB-0000000000001/publish");
    }
}
