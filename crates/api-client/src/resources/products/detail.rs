//! Reads a product (API document, "Product").

use chrono::FixedOffset;
use espelho_model::{
    MediaId, ProductId, RawJson, Sku, media::ImageVariation, money::with_cents, product::Product,
};
use serde_json::value::RawValue;

use super::{
    ProductDetail, ProductExtras, Thumbnail,
    levels::{Stock, read_stock},
    tiers::read_tiers,
};
use crate::{
    resources::{Read, media::read_variation},
    wire::{
        envelope::BodyError,
        fields::{FieldReader, object},
        shape,
    },
};

shape! { DetailWire { product, prices, stock } }

shape! { ProductWire {
    id, sku, name, base_unit, price_type, is_available_for_sale, auto_wholesale_pricing, dimensions, height, width,
    length, weight, price, quantity, reserved_quantity, available_quantity,
} }

shape! { DimensionsWire { height, width, length, weight } }
shape! { ExtrasWire { is_industrializable, allow_sale_without_stock, thumbnail } }
shape! { ThumbnailWire { id, resources } }

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
        product.prices = read_tiers(&mut read, prices.get())?;
    }
    let mut stock = Stock::default();
    if let Some(sent) = detail.stock {
        stock = read_stock(&mut read, sent.get(), &product.id, product.sku.as_ref())?;
        product.stock = stock.levels;
    }
    let extras = read_extras(&mut read, own)?;
    let value = ProductDetail {
        product,
        locations: stock.locations,
        has_prices: detail.prices.is_some(),
        has_stock: detail.stock.is_some(),
        extras,
    };
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

/// Reads the product fields that are not mirrored.
fn read_extras(read: &mut FieldReader, json: &str) -> Result<ProductExtras, BodyError> {
    let wire: ExtrasWire<'_> = object(json)?;
    Ok(ProductExtras {
        is_industrializable: read.boolean("is_industrializable", wire.is_industrializable),
        allow_sale_without_stock: read.boolean("allow_sale_without_stock", wire.allow_sale_without_stock),
        thumbnail: read_thumbnail(read, wire.thumbnail),
    })
}

/// Reads a thumbnail: an object, or a bare address. An empty text means that there is none.
fn read_thumbnail(read: &mut FieldReader, field: Option<&RawValue>) -> Option<Thumbnail> {
    if field?.get().starts_with('"') {
        let url = read.text("thumbnail", field).filter(|url| !url.is_empty())?;
        let only = ImageVariation { name: None, size: None, url: Some(url) };
        return Some(Thumbnail { id: None, resources: vec![only] });
    }
    let wire: ThumbnailWire<'_> = read.nested("thumbnail", field)?;
    let variations = read.list("thumbnail.resources", wire.resources);
    Some(Thumbnail {
        id: read.id("thumbnail.id", wire.id).map(MediaId::new),
        resources: variations.into_iter().filter_map(|row| read_variation(read, row)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const ID: &str = "01J9Z3K5T7V9X1B3D5F7H9K1M3";

    fn read(payload: &Value) -> Result<Read<ProductDetail>, BodyError> {
        parse_product(&payload.to_string(), &ProductId::new(ID), FixedOffset::east_opt(0).unwrap())
    }

    fn product() -> Value {
        json!({
            "id": ID, "name": "Caneca", "sku": "CAN-1", "base_unit": "un", "price_type": "wholesale",
            "is_available_for_sale": true, "is_industrializable": false, "allow_sale_without_stock": 1,
            "auto_wholesale_pricing": false,
            "dimensions": {"height": 9.5, "width": "8", "length": 8, "weight": 0.35},
            "quantity": 10, "reserved_quantity": 3, "available_quantity": 7,
            "thumbnail": {"id": "01J9Z3K5T7V9X1B3D5F7H9K1M4", "resources": [{"name": "sm", "size": "200x200", "url": "https://m"}]},
            "price": 19.9
        })
    }

    // proves: PRD-004, PRD-007, PRD-008, PRD-009, PRD-012, PRD-013, PRD-014, PRD-015, PRD-017, PRD-018, PRD-019
    #[test]
    fn a_product_is_read_field_by_field_with_its_tiers_and_stock() {
        let sent = json!({
            "product": product(),
            "prices": [{"min_quantity": 1, "value": 19.9}],
            "stock": {"stocks": [{"location_stock": 7, "quantity": 10}], "locations": []}
        });
        let Read { value, unreadable } = read(&sent).unwrap();
        assert_eq!(unreadable, Vec::<&str>::new());
        assert!(value.has_prices && value.has_stock);
        let ProductDetail { product, extras, .. } = value;
        assert_eq!((product.id.as_str(), product.sku.as_ref().map(Sku::as_str)), (ID, Some("CAN-1")));
        let words =
            [&product.name, &product.base_unit, &product.price_type].map(|word| word.as_deref().unwrap());
        assert_eq!(words, ["Caneca", "un", "wholesale"]);
        assert_eq!(
            (product.is_available_for_sale, product.auto_wholesale_pricing),
            (Some(true), Some(false))
        );
        let numbers = [
            product.height,
            product.width,
            product.length,
            product.weight,
            product.quantity,
            product.reserved_quantity,
            product.available_quantity,
            product.price,
        ];
        let numbers = numbers.map(|number| number.unwrap().to_string());
        assert_eq!(numbers, ["9.5", "8", "8", "0.35", "10", "3", "7", "19.90"]);
        assert_eq!(product.price, product.prices[0].value);
        assert_eq!((product.prices.len(), product.stock[0].sku.as_str()), (1, "CAN-1"));
        assert_eq!((extras.is_industrializable, extras.allow_sale_without_stock), (Some(false), Some(true)));
        let thumbnail = extras.thumbnail.unwrap();
        assert_eq!(thumbnail.id, Some(MediaId::new("01J9Z3K5T7V9X1B3D5F7H9K1M4")));
        assert_eq!(thumbnail.resources[0].size.as_deref(), Some("200x200"));
    }

    // proves: PRD-012
    #[test]
    fn a_unit_that_the_document_does_not_know_is_kept() {
        let mut sent = product();
        sent["base_unit"] = json!("dz");
        assert_eq!(read(&sent).unwrap().value.product.base_unit.as_deref(), Some("dz"));
    }

    #[test]
    fn a_thumbnail_may_be_missing_or_a_bare_address() {
        let thumbnail = |value: Value| {
            let mut sent = product();
            sent["thumbnail"] = value;
            let Read { value, unreadable } = read(&sent).unwrap();
            assert_eq!(unreadable, Vec::<&str>::new());
            value.extras.thumbnail
        };
        for none in [Value::Null, json!(""), json!([])] {
            assert_eq!(thumbnail(none), None);
        }
        assert_eq!(thumbnail(json!("https://m")).unwrap().resources[0].url.as_deref(), Some("https://m"));
    }

    #[test]
    fn tiers_and_stock_in_another_form_are_found_or_not_understood() {
        let with = |prices: Value, stock: Value| {
            read(&json!({"product": product(), "prices": prices, "stock": stock}))
        };
        let tier = json!({"min_quantity": 1, "value": 19.9});
        let nested =
            with(json!({"data": [tier]}), json!({"stock": {"stocks": [{"location_id": 7}]}})).unwrap().value;
        assert_eq!((nested.product.prices.len(), nested.product.stock.len()), (1, 1));
        let absent = with(Value::Null, Value::Null).unwrap().value;
        assert!(!absent.has_prices && !absent.has_stock, "their own routes are asked");
        for strange in [json!({"x": []}), json!("none"), json!(3)] {
            assert!(with(strange.clone(), json!([])).is_err(), "{strange}");
            assert!(with(json!([]), strange.clone()).is_err(), "{strange}");
        }
    }

    #[test]
    fn another_product_is_no_answer() {
        let mut sent = product();
        sent["id"] = json!("01J9Z3K5T7V9X1B3D5F7H9K1M9");
        assert!(read(&sent).is_err());
        assert!(read(&json!({"name": "x"})).is_err());
    }
}
