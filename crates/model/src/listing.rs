//! Listings and their categories, as the mirror stores them (API document, "Listing (item)").

use rust_decimal::Decimal;

use crate::{CategoryId, DepartmentId, ItemId, RawJson};

/// The `status` values of the document.
pub const STATUSES: [&str; 5] = ["draft", "pending_review", "active", "paused", "inactive"];

/// One listing. `None` means not applicable or not sent.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct Listing {
    pub item_id: ItemId,
    pub title: Option<String>,
    /// `type.value`.
    pub listing_type: Option<String>,
    /// `type.label`.
    pub type_label: Option<String>,
    /// `status.value`.
    pub status: Option<String>,
    /// `status.label`.
    pub status_label: Option<String>,
    /// `gtin.type`.
    pub gtin_type: Option<String>,
    /// `gtin.value`.
    pub gtin: Option<String>,
    pub department: Option<Department>,
    pub category: Option<Category>,
    pub score: Option<Decimal>,
    /// Why the review rejected the listing.
    pub rejection_reason: Option<String>,
    pub slug: Option<String>,
    pub short_description: Option<String>,
    /// `price_range` as received; the document does not show its fields.
    pub price_range: Option<RawJson>,
    /// `store` as received.
    pub store: Option<RawJson>,
    /// The listing as received.
    pub raw: RawJson,
}

/// A department: the top of the category tree.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct Department {
    pub id: DepartmentId,
    pub name: Option<String>,
    pub icon_svg: Option<String>,
    /// The department as received.
    pub raw: RawJson,
}

/// A category. Listings belong to leaf categories.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct Category {
    pub id: CategoryId,
    pub parent_id: Option<String>,
    pub name: Option<String>,
    /// `hierarchy` as received: the path to the category, in a form that the document does not show.
    pub hierarchy: Option<RawJson>,
    /// The category as received.
    pub raw: RawJson,
}

/// An attribute that a listing in a category has or may have.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct CategoryAttribute {
    /// As received, number or text; it must be sent in the same form.
    pub id: RawJson,
    pub name: Option<String>,
    pub is_required: Option<bool>,
    pub is_variant: Option<bool>,
    pub is_combinable: Option<bool>,
    /// The section of the attribute, if the answer is grouped.
    pub section: Option<String>,
    /// The attribute as received, with the definition of its values.
    pub raw: RawJson,
}

impl Listing {
    /// Returns the status, if the document does not list it.
    pub fn unknown_values(&self) -> Vec<(&'static str, &str)> {
        let status = self.status.as_deref().filter(|status| !STATUSES.contains(status));
        status.map(|status| ("status", status)).into_iter().collect()
    }
}
