//! Reads products with their tiers and stock, and the locations of the stock.

use std::{collections::HashSet, sync::Arc};

use espelho_api_client::{
    Client, Error as ApiError, ListPage,
    error::Refusal,
    resources::products::{ProductDetail, ProductQuery},
};
use espelho_model::{ContentHash, LocationId, ProductId, fault, sync::Resource, text};
use espelho_store::{Error as StoreError, LeaseTx, ProductWrite};
use parking_lot::Mutex;

use super::{Fetched, Pull, RowWrite};
use crate::plan::located_levels::{LocationNames, locate};

const PER_PAGE: u32 = 100;

/// Reads the products of one store.
#[derive(Clone, Debug)]
pub struct ProductsPull {
    client: Client,
    query: ProductQuery,
    /// Locations that the mirror has, or that this pass has requested.
    known_locations: Arc<Mutex<HashSet<LocationId>>>,
    /// Locations that the mirror or an answer of this pass describes.
    names: Arc<Mutex<LocationNames>>,
}

impl ProductsPull {
    /// Reads all products; `known` are the stock locations that need no request.
    pub fn new(client: Client, known: LocationNames, page_parameter: String) -> Self {
        let query = ProductQuery { per_page: Some(PER_PAGE), page: 0, page_parameter };
        let known_locations = Arc::new(Mutex::new(known.keys().cloned().collect()));
        Self { client, query, known_locations, names: Arc::new(Mutex::new(known)) }
    }

    /// Fills in what the detail route omits. The document shows tiers and stock in the detail, but not whether the
    /// stock includes its locations; only the stock route is sure to have them.
    async fn complete(
        &self,
        client: &Client,
        detail: &mut ProductDetail,
        unreadable: &mut Vec<&'static str>,
    ) -> Result<(), ApiError> {
        let id = detail.product.id.clone();
        if !detail.has_prices {
            let prices = client.products().prices(&id).await?;
            unreadable.extend(prices.unreadable);
            detail.product.prices = prices.value;
        }
        self.locate_levels(detail);
        let strange = self.strange_locations(detail);
        if detail.has_stock && strange.is_empty() {
            return Ok(());
        }
        let stock = match client.products().stock(&id, detail.product.sku.as_ref()).await {
            Ok(stock) => stock,
            Err(error) => {
                // The next product with these locations requests them.
                self.known_locations.lock().retain(|id| !strange.contains(id));
                return Err(error);
            }
        };
        unreadable.extend(stock.unreadable);
        self.known_locations.lock().extend(stock.value.locations.iter().map(|location| location.id.clone()));
        detail.locations = stock.value.locations;
        if !detail.has_stock {
            detail.product.stock = stock.value.levels;
        }
        self.locate_levels(detail);
        Ok(())
    }

    /// Gives levels that name their location its id.
    fn locate_levels(&self, detail: &mut ProductDetail) {
        let mut names = self.names.lock();
        let described = detail.locations.iter().map(|location| (location.id.clone(), location.name.clone()));
        names.extend(described);
        locate(&mut detail.product.stock, &names);
    }
}

impl ProductsPull {
    /// Returns the locations of a product that nobody has described, and notes them: sixteen products with one new
    /// location request it once, and one that even the stock route does not describe is not requested again. No lock
    /// is held during a request: its answer may have to wait for what another product holds.
    fn strange_locations(&self, detail: &ProductDetail) -> Vec<LocationId> {
        let mut known = self.known_locations.lock();
        known.extend(detail.locations.iter().map(|location| location.id.clone()));
        let levels = detail.product.stock.iter();
        let strange: Vec<LocationId> =
            levels.map(|level| &level.location_id).filter(|id| !known.contains(*id)).cloned().collect();
        known.extend(strange.iter().cloned());
        strange
    }
}

impl Pull for ProductsPull {
    type Detail = ProductDetail;

    const RESOURCE: Resource = Resource::Products;

    fn scope(&self) -> String {
        self.query.request().describe()
    }

    fn limit(&self) -> usize {
        self.query.per_page.unwrap_or(15) as usize
    }

    async fn list(&self, page: u64) -> Result<ListPage, ApiError> {
        self.client.products().list(&ProductQuery { page, ..self.query.clone() }).await
    }

    fn simplify(&mut self, _: &Refusal) -> bool {
        self.query.per_page.take().is_some()
    }

    fn ask_as(&mut self, scope: &str) -> bool {
        let queries =
            [self.query.per_page, None].map(|per_page| ProductQuery { per_page, ..self.query.clone() });
        let same = queries.into_iter().find(|query| query.request().describe() == scope);
        same.map(|query| self.query = query).is_some()
    }

    async fn detail(&self, key: &str) -> Result<Fetched<ProductDetail>, ApiError> {
        let (client, held) = self.client.holding();
        let read = client.products().get(&ProductId::new(key)).await?;
        fault::point("product", key);
        let (mut detail, mut unreadable) = (read.value, read.unreadable);
        self.complete(&client, &mut detail, &mut unreadable).await?;
        let remark = |field: &&'static str| text!("run-note-field", field = field.to_string());
        let remarks = unreadable.iter().map(remark).collect();
        Ok(Fetched { content_hash: fingerprint(&detail), detail, remarks, held })
    }

    async fn edited(
        tx: &mut LeaseTx<'_>,
        rows: &[RowWrite<ProductDetail>],
    ) -> Result<HashSet<String>, StoreError> {
        tx.mirror().edited_products(rows.iter().map(|row| row.detail.product.clone()).collect()).await
    }

    async fn write(tx: &mut LeaseTx<'_>, rows: Vec<RowWrite<ProductDetail>>) -> Result<(), StoreError> {
        let mut locations = Vec::new();
        let mut products = Vec::with_capacity(rows.len());
        for RowWrite { detail, listing_hash, content_hash, op, .. } in rows {
            locations.extend(detail.locations);
            products.push(ProductWrite { product: detail.product, listing_hash, content_hash, op });
        }
        tx.mirror().write_locations(locations).await?;
        tx.mirror().write_products(products).await
    }
}

/// Returns the fingerprint of product, tiers and stock together: a change of any of them is a change of the product.
fn fingerprint(detail: &ProductDetail) -> ContentHash {
    let product = &detail.product;
    let tiers = product.prices.iter().map(|tier| tier.raw.as_str());
    let levels = product.stock.iter().map(|level| level.raw.as_str());
    let parts: Vec<&str> = std::iter::once(product.raw.as_str()).chain(tiers).chain(levels).collect();
    ContentHash::of(parts.join("\n").as_bytes())
}
