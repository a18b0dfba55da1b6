//! Discount campaigns (API document, "Campaigns"): reads campaigns and joins one. There is no documented way to
//! leave.

mod opt_in;
mod read;

use espelho_model::{
    CampaignId, RawJson,
    campaign::{Campaign, CampaignSummary, EligibleListing, EnrolledListing},
};

pub use self::opt_in::OptIn;
use self::read::{campaign_row, eligible_row, enrolled_row, read_campaign, read_summary};
use super::{
    Read,
    paging::{Paging, with_parameters},
};
use crate::{ApiRequest, Error, RowPage, resources::handles::CampaignsApi};

const CALENDAR: &str = "/api/seller/discounts/campaigns/calendar";
const SUMMARY: &str = "/api/seller/discounts/campaigns/summary";
const ONE: &str = "/api/seller/discounts/campaigns/{id}";
const ELIGIBLE: &str = "/api/seller/discounts/campaigns/{id}/eligible-products";
const ENROLLED: &str = "/api/seller/discounts/campaigns/{id}/my-products";

/// Requests a page of the campaigns that have not ended, nearest first.
pub fn calendar_request(paging: Paging) -> ApiRequest {
    with_parameters(ApiRequest::get(CALENDAR, &[]), paging.parameters())
}

/// Requests a page of the listings that have joined a campaign.
pub fn enrolled_request(campaign: CampaignId, paging: Paging) -> ApiRequest {
    with_parameters(ApiRequest::get(ENROLLED, &[&campaign.to_string()]), paging.parameters())
}

/// A query for the store's listings that could join a campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EligibleQuery {
    /// `search`: a part of the title, or the `item_id`.
    pub search: Option<String>,
    /// The page.
    pub paging: Paging,
}

impl EligibleQuery {
    /// Builds the request.
    pub fn request(&self, campaign: CampaignId) -> ApiRequest {
        let search = [("search", self.search.clone())];
        let request = ApiRequest::get(ELIGIBLE, &[&campaign.to_string()]);
        with_parameters(request, search.into_iter().chain(self.paging.parameters()))
    }
}

impl CampaignsApi<'_> {
    /// Reads a page of the campaigns that have not ended. Needs `store_products_read`, like all reads of campaigns.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn calendar(self, paging: Paging) -> Result<RowPage<Campaign>, Error> {
        self.requests.fetch_rows(&calendar_request(paging), campaign_row).await
    }

    /// Reads the totals over all campaigns.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn summary(self) -> Result<Read<CampaignSummary>, Error> {
        self.requests.read_as(&ApiRequest::get(SUMMARY, &[]), read_summary).await
    }

    /// Reads one campaign.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn get(self, id: CampaignId) -> Result<Read<Campaign>, Error> {
        let request = ApiRequest::get(ONE, &[&id.to_string()]);
        self.requests.read_as(&request, |read, payload| read_campaign(read, payload, id)).await
    }

    /// Reads a page of the store's active offers that are not in a campaign yet.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn eligible_listings(
        self,
        campaign: CampaignId,
        query: &EligibleQuery,
    ) -> Result<RowPage<EligibleListing>, Error> {
        self.requests.fetch_rows(&query.request(campaign), eligible_row).await
    }

    /// Reads a page of the listings that have joined a campaign.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn enrolled_listings(
        self,
        campaign: CampaignId,
        paging: Paging,
    ) -> Result<RowPage<EnrolledListing>, Error> {
        self.requests.fetch_rows(&enrolled_request(campaign, paging), enrolled_row).await
    }

    /// Joins a campaign with some listings. The document does not show the answer;
    /// [`enrolled_listings`](Self::enrolled_listings) shows what joined. Needs `store_products_write`.
    ///
    /// # Errors
    /// As every call; after the deadline a refusal with `CAMPAIGN_OPT_IN_CLOSED`.
    pub async fn join(self, campaign: CampaignId, listings: &OptIn) -> Result<RawJson, Error> {
        self.requests.fetch_raw(&listings.request(campaign)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::outward::sent;

    // proves: CMP-001, CMP-002, CMP-003, CMP-045, CMP-046
    #[test]
    fn the_calendar_and_the_enrolled_listings_are_asked_for_by_page() {
        let second = Paging { page: 2, per_page: Some(50) };
        assert_eq!(
            sent(&calendar_request(Paging::default())),
            "GET /api/seller/discounts/campaigns/calendar?page=1"
        );
        assert_eq!(
            sent(&calendar_request(second)),
            "GET /api/seller/discounts/campaigns/calendar?page=2&per_page=50"
        );
        assert_eq!(
            sent(&enrolled_request(CampaignId::new(7), second)),
            "GET /api/seller/discounts/campaigns/7/my-products?page=2&per_page=50"
        );
    }

    // proves: CMP-033, CMP-034, CMP-035
    #[test]
    fn eligible_listings_are_searched_by_title_or_item_id() {
        let query = EligibleQuery { search: Some("Café & chá".into()), ..EligibleQuery::default() };
        assert_eq!(
            sent(&query.request(CampaignId::new(7))),
            "GET /api/seller/discounts/campaigns/7/eligible-products?search=Caf%C3%A9%20%26%20ch%C3%A1&page=1"
        );
        assert_eq!(
            sent(&EligibleQuery::default().request(CampaignId::new(7))),
            "GET /api/seller/discounts/campaigns/7/eligible-products?page=1"
        );
    }
}
