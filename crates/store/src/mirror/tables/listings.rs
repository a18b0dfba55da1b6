//! Listings. No route reads them: their data comes from answers and reviews.

use chrono::{DateTime, Utc};
use espelho_model::{listing::Listing, sync::Counts};

use super::{
    record::Record,
    table::{Merge, Scope, Table},
};
use crate::{Error, driver::Value, mirror::MirrorWriter};

pub(crate) static LISTINGS: Table = Table::new(
    "listings",
    "listing",
    Scope::Store,
    "id",
    &[
        "title",
        "type",
        "type_label",
        "status",
        "status_label",
        "gtin_type",
        "gtin",
        "department_id",
        "department_name",
        "category_id",
        "category_name",
        "score",
        "rejection_reason",
        "slug",
        "short_description",
        "price_range",
        "updated_at",
    ],
)
// An approved listing has no reason for a rejection and no label of another status.
.merging(Merge { as_of: "updated_at", with_status: &["status_label", "rejection_reason"] });

impl MirrorWriter<'_, '_> {
    /// Mirrors data of listings (API document, "Listing (item)", "Events"): an answer, or a review's result, which
    /// has little more than the id. Omitted fields stay. `as_of` is the data's time; older data never overwrites
    /// newer data.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn write_listings(
        &mut self,
        listings: Vec<Listing>,
        as_of: DateTime<Utc>,
    ) -> Result<Counts, Error> {
        let records = listings.into_iter().map(|listing| (record(listing, as_of), as_of)).collect();
        self.page.tables().merge_rows(&LISTINGS, records).await
    }
}

fn record(listing: Listing, as_of: DateTime<Utc>) -> Record {
    let (department, category) = (listing.department, listing.category);
    let values: [Value; 17] = [
        listing.title.into(),
        listing.listing_type.into(),
        listing.type_label.into(),
        listing.status.into(),
        listing.status_label.into(),
        listing.gtin_type.into(),
        listing.gtin.into(),
        department.as_ref().map(|d| d.id.as_str().to_owned()).into(),
        department.and_then(|d| d.name).into(),
        category.as_ref().map(|c| c.id.to_string()).into(),
        category.and_then(|c| c.name).into(),
        listing.score.into(),
        listing.rejection_reason.into(),
        listing.slug.into(),
        listing.short_description.into(),
        listing.price_range.into(),
        as_of.into(),
    ];
    Record::new(listing.item_id.into_string(), values, listing.raw)
}
