//! Joining a campaign (API document, "Campaigns").

use espelho_model::{CampaignId, ItemId, text};
use serde::Serialize;

use crate::{ApiRequest, Invalid};

const ROUTE: &str = "/api/seller/discounts/campaigns/{id}/opt-in";

/// The listings that join a campaign: at least one, each once, each in the document's form of a listing id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptIn {
    listings: Vec<ItemId>,
}

#[derive(Serialize)]
struct OptInBody<'a> {
    publication_ids: Vec<&'a str>,
}

impl OptIn {
    /// Takes the listings and keeps their order.
    ///
    /// # Errors
    /// When there is no listing, or an id is not of the form `<PREFIX>-<13 digits>`.
    pub fn new(listings: impl IntoIterator<Item = ItemId>) -> Result<Self, Invalid> {
        let mut taken: Vec<ItemId> = Vec::new();
        for listing in listings {
            if !listing.is_well_formed() {
                let rule = text!("value-rule-listing-id");
                return Err(Invalid::value("publication_ids", listing, rule));
            }
            if !taken.contains(&listing) {
                taken.push(listing);
            }
        }
        match taken.is_empty() {
            true => Err(Invalid::Missing { field: "publication_ids" }),
            false => Ok(Self { listings: taken }),
        }
    }

    /// Returns the listings.
    pub fn listings(&self) -> &[ItemId] {
        &self.listings
    }

    /// Builds the request.
    pub fn request(&self, campaign: CampaignId) -> ApiRequest {
        let publication_ids = self.listings.iter().map(ItemId::as_str).collect();
        ApiRequest::post(ROUTE, &[&campaign.to_string()]).json(&OptInBody { publication_ids })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::outward::sent;

    fn of(ids: &[&str]) -> Result<OptIn, Invalid> {
        OptIn::new(ids.iter().map(|id| ItemId::new(*id)))
    }

    // proves: CMP-053
    #[test]
    fn joining_names_each_listing_once_in_order() {
        let listings = of(&["MPB-0000000000002", "MPB-0000000000001", "MPB-0000000000002"]).unwrap();
        assert_eq!(
            sent(&listings.request(CampaignId::new(7))),
            r#"POST /api/seller/discounts/campaigns/7/opt-in {"publication_ids":["MPB-0000000000002","MPB-0000000000001"]}"#
        );
    }

    #[test]
    fn nobody_joins_with_nothing_or_with_what_is_no_listing() {
        assert_eq!(of(&[]), Err(Invalid::Missing { field: "publication_ids" }));
        let error = of(&["MPB-0000000000001", "01J9Z3K5T7V9X1B3D5F7H9K1M3"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "publication_ids is 01J9Z3K5T7V9X1B3D5F7H9K1M3; it must be a prefix, a hyphen and 13 digits"
        );
    }

    proptest! {
        #[test]
        fn what_joins_is_what_was_given_without_repeats(numbers in prop::collection::vec(0u32..5, 1..12)) {
            let given: Vec<_> = numbers.iter().map(|n| ItemId::new(format!("MPB-{n:013}"))).collect();
            let joined = OptIn::new(given.clone()).unwrap();
            prop_assert!(given.iter().all(|id| joined.listings().contains(id)));
            let mut once = joined.listings().to_vec();
            once.sort();
            once.dedup();
            prop_assert_eq!(once.len(), joined.listings().len());
        }
    }
}
