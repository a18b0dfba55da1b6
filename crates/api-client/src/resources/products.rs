//! Products, prices and stock, reading (API document, "Products, prices, stock").

use chrono::FixedOffset;
use espelho_model::{
    LocationId, ProductId, RawJson, Sku,
    money::with_cents,
    product::{PriceTier, Product, StockLevel, StockLocation},
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::Read;
use crate::{
    ApiRequest, Client, Error, ListPage,
    wire::{
        envelope::BodyError,
        fields::{Field, FieldReader, object},
    },
};

const LIST: &str = "/api/products";
const DETAIL: &str = "/api/products/{id}";
const PRICES: &str = "/api/products/{id}/prices";
const STOCK: &str = "/api/products/{id}/stock";

/// Which page of the products. The document names no parameters for this listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProductQuery {
    /// Rows a page.
    pub per_page: Option<u32>,
    /// The page, from 1.
    pub page: u64,
    /// The name of the page parameter.
    pub page_parameter: String,
}

impl ProductQuery {
    /// The listing request.
    pub fn request(&self) -> ApiRequest {
        let (per_page, page) = (self.per_page.map(|n| n.to_string()), self.page.to_string());
        let parameters =
            [("per_page", per_page.as_deref()), (self.page_parameter.as_str(), Some(page.as_str()))];
        ApiRequest::get(LIST, &[])
            .query(parameters.into_iter().filter_map(|(name, value)| Some((name, value?))))
    }
}

/// A stock object: levels, and the locations they lie in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stock {
    /// What each location holds.
    pub levels: Vec<StockLevel>,
    /// The locations.
    pub locations: Vec<StockLocation>,
}

/// A product as its detail route gives it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProductDetail {
    /// The product with what the answer carried of tiers and stock.
    pub product: Product,
    /// The locations that the answer carried.
    pub locations: Vec<StockLocation>,
    /// Whether the answer carried tiers at all.
    pub has_prices: bool,
    /// Whether the answer carried stock at all.
    pub has_stock: bool,
}

impl Client {
    /// One page of the listing.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn list_products(&self, query: &ProductQuery) -> Result<ListPage, Error> {
        self.fetch_list(&query.request(), row_key).await
    }

    /// One product with tiers and stock.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn product(&self, id: &ProductId) -> Result<Read<ProductDetail>, Error> {
        let request = ApiRequest::get(DETAIL, &[id.as_str()]);
        self.read_with(&request, |payload| parse_product(payload, id, self.naive_offset)).await
    }

    /// The tiers of a product.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn product_prices(&self, id: &ProductId) -> Result<Read<Vec<PriceTier>>, Error> {
        let request = ApiRequest::get(PRICES, &[id.as_str()]);
        self.read_with(&request, |payload| {
            let mut read = FieldReader::new(self.naive_offset);
            let wrapped: PricesWire<'_> = object(payload).unwrap_or_default();
            let rows: Vec<&RawValue> = serde_json::from_str(wrapped.prices.map_or(payload, RawValue::get))?;
            let value = read_tiers(&mut read, rows);
            Ok(Read { value, unreadable: read.into_unreadable() })
        })
        .await
    }

    /// The stock of a product, with its locations.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn product_stock(&self, id: &ProductId, sku: &Sku) -> Result<Read<Stock>, Error> {
        let request = ApiRequest::get(STOCK, &[id.as_str()]);
        self.read_with(&request, |payload| {
            let mut read = FieldReader::new(self.naive_offset);
            let value = read_stock(&mut read, payload, sku)?;
            Ok(Read { value, unreadable: read.into_unreadable() })
        })
        .await
    }

    /// The public enum of units, as sent.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn product_units(&self) -> Result<Value, Error> {
        self.fetch(&ApiRequest::get("/api/global/enums/product/units", &[]).public()).await
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RowWire<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    product: Field<'a>,
}

fn row_key(row: &RawValue) -> Option<String> {
    let wire: RowWire<'_> = object(row.get()).ok()?;
    match (wire.id, wire.product) {
        (None, Some(inner)) => row_key(inner),
        (id, _) => FieldReader::new(FixedOffset::east_opt(0)?).id("id", id),
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PricesWire<'a> {
    #[serde(borrow)]
    prices: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DetailWire<'a> {
    #[serde(borrow)]
    product: Field<'a>,
    #[serde(borrow)]
    prices: Field<'a>,
    #[serde(borrow)]
    stock: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ProductWire<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    sku: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    base_unit: Field<'a>,
    #[serde(borrow)]
    price_type: Field<'a>,
    #[serde(borrow)]
    is_available_for_sale: Field<'a>,
    #[serde(borrow)]
    auto_wholesale_pricing: Field<'a>,
    #[serde(borrow)]
    dimensions: Field<'a>,
    #[serde(borrow)]
    height: Field<'a>,
    #[serde(borrow)]
    width: Field<'a>,
    #[serde(borrow)]
    length: Field<'a>,
    #[serde(borrow)]
    weight: Field<'a>,
    #[serde(borrow)]
    price: Field<'a>,
    #[serde(borrow)]
    quantity: Field<'a>,
    #[serde(borrow)]
    reserved_quantity: Field<'a>,
    #[serde(borrow)]
    available_quantity: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DimensionsWire<'a> {
    #[serde(borrow)]
    height: Field<'a>,
    #[serde(borrow)]
    width: Field<'a>,
    #[serde(borrow)]
    length: Field<'a>,
    #[serde(borrow)]
    weight: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TierWire<'a> {
    #[serde(borrow)]
    min_quantity: Field<'a>,
    #[serde(borrow)]
    value: Field<'a>,
    #[serde(borrow)]
    price: Field<'a>,
    #[serde(borrow)]
    discount_percent: Field<'a>,
    #[serde(borrow)]
    package_weight: Field<'a>,
    #[serde(borrow)]
    package_height: Field<'a>,
    #[serde(borrow)]
    package_width: Field<'a>,
    #[serde(borrow)]
    package_length: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct StockWire<'a> {
    #[serde(borrow)]
    stocks: Field<'a>,
    #[serde(borrow)]
    locations: Field<'a>,
}

/// A row of `stocks[]`. The document does not say what `location_stock` holds: an id or an object.
#[derive(Default, Deserialize)]
#[serde(default)]
struct LevelWire<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    product_sku: Field<'a>,
    #[serde(borrow)]
    location_id: Field<'a>,
    #[serde(borrow)]
    location_stock: Field<'a>,
    #[serde(borrow)]
    quantity: Field<'a>,
    #[serde(borrow)]
    reserved_quantity: Field<'a>,
    #[serde(borrow)]
    available_quantity: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LocationWire<'a> {
    #[serde(borrow)]
    location_id: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    status: Field<'a>,
    #[serde(borrow)]
    location_type: Field<'a>,
    #[serde(borrow)]
    allows_pickup: Field<'a>,
    #[serde(borrow)]
    allows_production: Field<'a>,
}

pub(crate) fn parse_product(
    payload: &str,
    asked: &ProductId,
    naive: FixedOffset,
) -> Result<Read<ProductDetail>, BodyError> {
    let detail: DetailWire<'_> = object(payload)?;
    let own = detail.product.map_or(payload, RawValue::get);
    let mut read = FieldReader::new(naive);
    let mut product = read_product(&mut read, own, asked)?;
    if let Some(prices) = detail.prices {
        let rows = read.list("prices", Some(prices));
        product.prices = read_tiers(&mut read, rows);
    }
    let mut stock = Stock::default();
    if let Some(sent) = detail.stock {
        let sku = product.sku.clone().unwrap_or_else(|| Sku::new(product.id.as_str()));
        stock = read_stock(&mut read, sent.get(), &sku)?;
        product.stock = stock.levels;
    }
    let (has_prices, has_stock) = (detail.prices.is_some(), detail.stock.is_some());
    let value = ProductDetail { product, locations: stock.locations, has_prices, has_stock };
    Ok(Read { value, unreadable: read.into_unreadable() })
}

fn read_product(read: &mut FieldReader, json: &str, asked: &ProductId) -> Result<Product, BodyError> {
    let wire: ProductWire<'_> = object(json)?;
    let id = read.text("id", wire.id).ok_or_else(|| BodyError::shape("a product without id"))?;
    if id != asked.as_str() {
        return Err(BodyError::shape(format!("asked for product {asked}, was given {id}")));
    }
    let size: DimensionsWire<'_> = read.nested("dimensions", wire.dimensions).unwrap_or_default();
    let mut amount = |name, field| read.decimal(name, field).map(|n| n.normalize());
    Ok(Product {
        height: amount("dimensions.height", size.height.or(wire.height)),
        width: amount("dimensions.width", size.width.or(wire.width)),
        length: amount("dimensions.length", size.length.or(wire.length)),
        weight: amount("dimensions.weight", size.weight.or(wire.weight)),
        quantity: amount("quantity", wire.quantity),
        reserved_quantity: amount("reserved_quantity", wire.reserved_quantity),
        available_quantity: amount("available_quantity", wire.available_quantity),
        id: ProductId::new(id),
        sku: read.id("sku", wire.sku).map(Sku::new),
        name: read.text("name", wire.name),
        base_unit: read.text("base_unit", wire.base_unit),
        price_type: read.text("price_type", wire.price_type),
        is_available_for_sale: read.boolean("is_available_for_sale", wire.is_available_for_sale),
        auto_wholesale_pricing: read.boolean("auto_wholesale_pricing", wire.auto_wholesale_pricing),
        price: read.decimal("price", wire.price).map(with_cents),
        prices: Vec::new(),
        stock: Vec::new(),
        raw: RawJson::new(json),
    })
}

fn read_tiers(read: &mut FieldReader, rows: Vec<&RawValue>) -> Vec<PriceTier> {
    rows.into_iter().filter_map(|row| read_tier(read, row)).collect()
}

fn read_tier(read: &mut FieldReader, row: &RawValue) -> Option<PriceTier> {
    let wire: TierWire<'_> = read.nested("prices[]", Some(row))?;
    let mut amount = |name, field| read.decimal(name, field).map(|n| n.normalize());
    let (package_weight, package_height) = (
        amount("prices[].package_weight", wire.package_weight),
        amount("prices[].package_height", wire.package_height),
    );
    let (package_width, package_length) = (
        amount("prices[].package_width", wire.package_width),
        amount("prices[].package_length", wire.package_length),
    );
    Some(PriceTier {
        min_quantity: read.integer("prices[].min_quantity", wire.min_quantity)?,
        value: read.decimal("prices[].value", wire.value.or(wire.price)).map(with_cents),
        discount_percent: read.decimal("prices[].discount_percent", wire.discount_percent),
        package_weight,
        package_height,
        package_width,
        package_length,
        raw: RawJson::new(row.get()),
    })
}

/// Reads a stock object, or the bare list of levels that the product's detail may carry.
fn read_stock(read: &mut FieldReader, json: &str, sku: &Sku) -> Result<Stock, BodyError> {
    let (levels, locations): (Vec<&RawValue>, Vec<&RawValue>) = match json.starts_with('[') {
        true => (serde_json::from_str(json)?, Vec::new()),
        false => {
            let wire: StockWire<'_> = object(json)?;
            (read.list("stock.stocks", wire.stocks), read.list("stock.locations", wire.locations))
        }
    };
    let locations = locations.into_iter().filter_map(|row| read_location(read, row)).collect();
    let levels = levels.into_iter().filter_map(|row| read_level(read, row, sku)).collect();
    Ok(Stock { levels, locations })
}

fn read_level(read: &mut FieldReader, row: &RawValue, sku: &Sku) -> Option<StockLevel> {
    let wire: LevelWire<'_> = read.nested("stocks[]", Some(row))?;
    let inner = wire.location_stock.filter(|raw| raw.get().starts_with('{'));
    let place: LocationWire<'_> = read.nested("stocks[].location_stock", inner).unwrap_or_default();
    let scalar = wire.location_stock.filter(|raw| !raw.get().starts_with('{'));
    let location = wire.location_id.or(place.location_id).or(place.id).or(scalar).or(wire.id);
    let mut amount = |name, field| read.decimal(name, field).map(|n| n.normalize());
    let quantity = amount("stocks[].quantity", wire.quantity);
    let reserved_quantity = amount("stocks[].reserved_quantity", wire.reserved_quantity);
    let available_quantity = amount("stocks[].available_quantity", wire.available_quantity);
    let own_sku = wire.product_sku.filter(|raw| !raw.get().starts_with('{'));
    Some(StockLevel {
        sku: read.id("stocks[].product_sku", own_sku).map_or_else(|| sku.clone(), Sku::new),
        location_id: LocationId::new(read.id("stocks[].location_stock", location)?),
        quantity,
        reserved_quantity,
        available_quantity,
        raw: RawJson::new(row.get()),
    })
}

fn read_location(read: &mut FieldReader, row: &RawValue) -> Option<StockLocation> {
    let wire: LocationWire<'_> = read.nested("locations[]", Some(row))?;
    Some(StockLocation {
        id: LocationId::new(read.id("locations[].location_id", wire.location_id.or(wire.id))?),
        name: read.text("locations[].name", wire.name),
        status: read.text("locations[].status", wire.status),
        location_type: read.text("locations[].location_type", wire.location_type),
        allows_pickup: read.boolean("locations[].allows_pickup", wire.allows_pickup),
        allows_production: read.boolean("locations[].allows_production", wire.allows_production),
        raw: RawJson::new(row.get()),
    })
}
