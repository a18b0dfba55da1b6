//! Products, prices and stock (API document, "Products, prices, stock").
//!
//! Reading: `detail`, `tiers`, `levels`. Writing: [`draft`] creates and changes products, [`prices`] writes single
//! tiers, [`tier_list`] enforces the rules between tiers, [`stock`] moves stock, [`gallery`] adds images.

pub(crate) mod detail;
pub mod draft;
pub mod gallery;
mod levels;
pub mod measures;
pub mod prices;
pub mod stock;
pub mod tier_list;
mod tiers;
mod units;

use chrono::FixedOffset;
use espelho_model::{
    MediaId, ProductId, Sku,
    media::ImageVariation,
    product::{PriceTier, Product, StockLocation},
};
use serde_json::value::RawValue;

use self::{detail::parse_product, levels::read_stock, tiers::parse_tiers};
pub use self::{
    draft::{BaseUnit, NewProduct, PriceType, ProductChanges, ProductUpdate},
    levels::Stock,
    measures::{Dimensions, Measures, Package},
    prices::{AutomaticPricing, Discount, Price, Tier, WholesaleQuantity, WholesaleTier},
    stock::{Movement, Quantity},
    tier_list::TierList,
    units::Unit,
};
use super::Read;
use crate::{
    ApiRequest, Error, ListPage,
    resources::handles::ProductsApi,
    wire::{
        fields::{FieldReader, object},
        shape,
    },
};

const LIST: &str = crate::route::PRODUCTS;
const DETAIL: &str = "/api/products/{id}";
const PRICES: &str = "/api/products/{id}/prices";
const STOCK: &str = "/api/products/{id}/stock";

/// A query for a page of the products. The document names no parameters for this listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProductQuery {
    /// Rows on a page.
    pub per_page: Option<u32>,
    /// The page, from 1.
    pub page: u64,
    /// The name of the page parameter.
    pub page_parameter: String,
}

impl ProductQuery {
    /// Builds the request.
    pub fn request(&self) -> ApiRequest {
        let (per_page, page) = (self.per_page.map(|n| n.to_string()), self.page.to_string());
        let parameters =
            [("per_page", per_page.as_deref()), (self.page_parameter.as_str(), Some(page.as_str()))];
        ApiRequest::get(LIST, &[])
            .query(parameters.into_iter().filter_map(|(name, value)| Some((name, value?))))
    }
}

/// A product as returned by its detail route.
#[derive(Clone, Debug, PartialEq)]
pub struct ProductDetail {
    /// The product, with the tiers and stock of the answer.
    pub product: Product,
    /// The locations in the answer.
    pub locations: Vec<StockLocation>,
    /// Whether the answer contained tiers.
    pub has_prices: bool,
    /// Whether the answer contained stock.
    pub has_stock: bool,
    /// Fields without a column in the mirror's tables.
    pub extras: ProductExtras,
}

/// Product fields without a column, present only in `raw`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct ProductExtras {
    pub is_industrializable: Option<bool>,
    pub allow_sale_without_stock: Option<bool>,
    pub thumbnail: Option<Thumbnail>,
}

/// The first image of a product's gallery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thumbnail {
    /// The image's id.
    pub id: Option<MediaId>,
    /// The sizes of the image.
    pub resources: Vec<ImageVariation>,
}

impl ProductsApi<'_> {
    /// Reads one page of the listing.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn list(self, query: &ProductQuery) -> Result<ListPage, Error> {
        self.requests.fetch_list(&query.request(), row_key).await
    }

    /// Reads one product with tiers and stock.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn get(self, id: &ProductId) -> Result<Read<ProductDetail>, Error> {
        let request = ApiRequest::get(DETAIL, &[id.as_str()]);
        self.requests
            .read_object(&request, |payload| parse_product(payload, id, self.requests.naive_offset()))
            .await
    }

    /// Reads the tiers of a product.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn prices(self, id: &ProductId) -> Result<Read<Vec<PriceTier>>, Error> {
        let request = ApiRequest::get(PRICES, &[id.as_str()]);
        self.requests
            .read_object(&request, |payload| parse_tiers(payload, self.requests.naive_offset()))
            .await
    }

    /// Reads the stock of a product, with its locations.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn stock(self, id: &ProductId, sku: Option<&Sku>) -> Result<Read<Stock>, Error> {
        let request = ApiRequest::get(STOCK, &[id.as_str()]);
        self.requests
            .read_object(&request, |payload| {
                let mut read = FieldReader::new(self.requests.naive_offset());
                let value = read_stock(&mut read, payload, id, sku)?;
                Ok(Read { value, unreadable: read.into_unreadable() })
            })
            .await
    }
}

shape! { RowWire { id, product } }

fn row_key(row: &RawValue) -> Option<String> {
    let wire: RowWire<'_> = object(row.get()).ok()?;
    match (wire.id, wire.product) {
        (None, Some(inner)) => row_key(inner),
        (id, _) => FieldReader::new(FixedOffset::east_opt(0)?).id("id", id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: PRD-003
    #[test]
    fn products_are_listed_by_page_and_named_by_their_id() {
        let query = ProductQuery { per_page: Some(100), page: 2, page_parameter: "page".into() };
        assert_eq!(query.request().describe(), "GET /api/products?per_page=100&page=2");
        let key = |json: &str| row_key(&RawValue::from_string(json.to_owned()).unwrap());
        assert_eq!(key(r#"{"id":"P1","sku":"S"}"#), Some("P1".into()));
        assert_eq!(key(r#"{"product":{"id":"P1"},"prices":[]}"#), Some("P1".into()));
        assert_eq!(key(r#"{"sku":"S"}"#), None);
    }
}
