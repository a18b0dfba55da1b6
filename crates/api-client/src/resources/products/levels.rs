//! Reads stock (API document, "Product": stock response).

use std::collections::BTreeSet;

use espelho_model::{
    LocationId, ProductId, RawJson, Sku,
    product::{StockLevel, StockLocation},
};
use rust_decimal::Decimal;
use serde_json::value::RawValue;

use crate::wire::{
    envelope::BodyError,
    fields::{FieldReader, object},
    shape,
    within::{object_with, rows},
};

/// A stock object: levels and their locations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stock {
    /// `total`: the sum over all locations.
    pub total: Option<Decimal>,
    /// The stock level of each location.
    pub levels: Vec<StockLevel>,
    /// The locations.
    pub locations: Vec<StockLocation>,
}

shape! { StockWire { total, stocks, locations } }

shape! {
    /// A row of `stocks[]`. The document does not say whether `location_stock` holds an id or an object.
    LevelWire {
        id, product_sku, location_id, location_stock, quantity, reserved_quantity, available_quantity,
    }
}

shape! { LocationWire { location_id, id, name, status, location_type, allows_pickup, allows_production } }

/// Reads a stock object, or the bare list of levels that the product's detail may contain. Anything else is not
/// understood. `product` and `sku` are those of the product.
pub(super) fn read_stock(
    read: &mut FieldReader,
    json: &str,
    product: &ProductId,
    sku: Option<&Sku>,
) -> Result<Stock, BodyError> {
    let levels = rows(json, &["stocks", "stock"])?;
    let wire: StockWire<'_> = match json.starts_with('[') {
        true => StockWire::default(),
        false => object(object_with(json, &["stocks"], "stock").unwrap_or(json))?,
    };
    let total = read.decimal("stock.total", wire.total).map(|total| total.normalize());
    let locations = read.list("stock.locations", wire.locations);
    let locations: Vec<StockLocation> =
        locations.into_iter().filter_map(|row| read_location(read, row)).collect();
    let levels: Vec<(StockLevel, bool)> = levels
        .into_iter()
        .filter_map(|row| read_level(read, row, sku.map_or(product.as_str(), Sku::as_str)))
        .map(|(level, is_named)| {
            (StockLevel { location_id: located(&locations, level.location_id), ..level }, is_named)
        })
        .collect();
    let named: BTreeSet<&Sku> =
        levels.iter().filter(|(_, is_named)| *is_named).map(|(level, _)| &level.sku).collect();
    // A row's `product_sku` may be an id: the document shows neither its form nor more than one SKU of a product.
    let own = sku.filter(|_| named.len() < 2).cloned();
    let levels = levels.into_iter().map(|(level, _)| match &own {
        Some(sku) => StockLevel { sku: sku.clone(), ..level },
        None => level,
    });
    let levels = levels.collect();
    Ok(Stock { total, levels, locations })
}

/// Returns the id of the location that a level lies in. `location_stock` may hold its name: it is one if no location
/// has it as its id, and one alone is called so.
fn located(locations: &[StockLocation], told: LocationId) -> LocationId {
    if locations.iter().any(|location| location.id == told) {
        return told;
    }
    let mut called = locations.iter().filter(|location| location.name.as_deref() == Some(told.as_str()));
    match (called.next(), called.next()) {
        (Some(only), None) => only.id.clone(),
        _ => told,
    }
}

/// Reads a level, and whether it names a SKU; else it has `otherwise`.
fn read_level(read: &mut FieldReader, row: &RawValue, otherwise: &str) -> Option<(StockLevel, bool)> {
    let wire: LevelWire<'_> = read.nested("stocks[]", Some(row))?;
    let inner = wire.location_stock.filter(|raw| raw.get().starts_with('{'));
    let place: LocationWire<'_> = read.nested("stocks[].location_stock", inner).unwrap_or_default();
    let scalar = wire.location_stock.filter(|raw| !raw.get().starts_with('{'));
    let location = wire.location_id.or(place.location_id).or(place.id).or(scalar);
    // The row's own `id` identifies the record. Used as a location, it would misdirect a movement.
    let Some(location_id) = read.id("stocks[].location_stock", location).map(LocationId::new) else {
        read.give_up("stocks[].location_stock");
        return None;
    };
    let mut amount = |name, field| read.decimal(name, field).map(|n| n.normalize());
    let quantity = amount("stocks[].quantity", wire.quantity);
    let reserved_quantity = amount("stocks[].reserved_quantity", wire.reserved_quantity);
    let available_quantity = amount("stocks[].available_quantity", wire.available_quantity);
    let own_sku = wire.product_sku.filter(|raw| !raw.get().starts_with('{'));
    let own_sku = read.id("stocks[].product_sku", own_sku);
    let is_named = own_sku.is_some();
    let level = StockLevel {
        sku: own_sku.map_or_else(|| Sku::new(otherwise), Sku::new),
        location_id,
        quantity,
        reserved_quantity,
        available_quantity,
        raw: RawJson::new(row.get()),
    };
    Some((level, is_named))
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

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;

    use super::*;

    fn read(payload: &str) -> (Stock, Vec<&'static str>) {
        let mut read = FieldReader::new(FixedOffset::east_opt(0).unwrap());
        let stock = read_stock(&mut read, payload, &ProductId::new("P1"), Some(&Sku::new("S1"))).unwrap();
        (stock, read.into_unreadable())
    }

    fn keys(payload: &str, sku: Option<&str>) -> Result<Vec<(String, String)>, BodyError> {
        let mut read = FieldReader::new(FixedOffset::east_opt(0).unwrap());
        let sku = sku.map(Sku::new);
        let stock = read_stock(&mut read, payload, &ProductId::new("P1"), sku.as_ref())?;
        let key = |level: StockLevel| (level.sku.into_string(), level.location_id.into_string());
        Ok(stock.levels.into_iter().map(key).collect())
    }

    fn owned(keys: &[(&str, &str)]) -> Vec<(String, String)> {
        keys.iter().map(|(sku, location)| ((*sku).to_owned(), (*location).to_owned())).collect()
    }

    #[test]
    fn levels_have_the_sku_of_their_product_unless_they_name_several() {
        let row =
            |sku: &str, at: u8| format!(r#"{{"product_sku":{sku},"location_stock":{at},"quantity":1}}"#);
        let two = |a: &str, b: &str| format!(r#"{{"stocks":[{},{}]}}"#, row(a, 1), row(b, 2));
        for (payload, sku, expected) in [
            (two("77", "77"), Some("S1"), [("S1", "1"), ("S1", "2")]),
            (two("null", "null"), Some("S1"), [("S1", "1"), ("S1", "2")]),
            (two("\"A\"", "\"B\""), Some("S1"), [("A", "1"), ("B", "2")]),
            (two("\"S1\"", "null"), Some("S1"), [("S1", "1"), ("S1", "2")]),
            (two("\"A\"", "null"), None, [("A", "1"), ("P1", "2")]),
            (two("77", "77"), None, [("77", "1"), ("77", "2")]),
            (two("null", "null"), None, [("P1", "1"), ("P1", "2")]),
        ] {
            assert_eq!(keys(&payload, sku).unwrap(), owned(&expected), "{payload} {sku:?}");
        }
    }

    #[test]
    fn levels_are_found_where_they_are_and_never_taken_for_none() {
        for payload in [
            r#"[{"location_id":7,"quantity":8}]"#,
            r#"{"stocks":[{"location_id":7,"quantity":8}]}"#,
            r#"{"stock":[{"location_id":7,"quantity":8}]}"#,
            r#"{"stock":{"stocks":[{"location_id":7,"quantity":8}],"locations":[]}}"#,
            r#"{"stocks":{"data":[{"location_id":7,"quantity":8}]}}"#,
        ] {
            assert_eq!(keys(payload, Some("S1")).unwrap(), owned(&[("S1", "7")]), "{payload}");
        }
        assert_eq!(keys(r#"{"stocks":null}"#, Some("S1")).unwrap(), owned(&[]));
        for payload in ["{}", r#"{"total":8}"#, r#"{"stocks":8}"#, r#"{"levels":[]}"#, "8"] {
            assert!(keys(payload, Some("S1")).is_err(), "{payload}");
        }
        let mut read = FieldReader::new(FixedOffset::east_opt(0).unwrap());
        let wrapped = r#"{"stock":{"total":8,"stocks":[],"locations":[{"location_id":7}]}}"#;
        let stock = read_stock(&mut read, wrapped, &ProductId::new("P1"), None).unwrap();
        assert_eq!((stock.total, stock.locations.len()), (Some(Decimal::from(8)), 1));
    }

    #[test]
    fn a_level_that_names_its_location_has_the_locations_id() {
        let locations = r#""locations":[{"location_id":7,"name":"CD"},{"location_id":8,"name":"Loja"},
            {"location_id":9,"name":"Loja"},{"location_id":"CD-2","name":"8"}]"#;
        for (told, expected) in [
            (r#""CD""#, "7"),
            ("7", "7"),
            (r#""8""#, "8"),
            (r#""Loja""#, "Loja"),
            (r#""cd""#, "cd"),
            (r#""Outra""#, "Outra"),
        ] {
            let payload = format!(r#"{{"stocks":[{{"location_stock":{told},"quantity":1}}],{locations}}}"#);
            assert_eq!(keys(&payload, Some("S1")).unwrap(), owned(&[("S1", expected)]), "{told}");
        }
    }

    // proves: STK-007, STK-011, STK-012
    #[test]
    fn stock_is_read_as_levels_and_the_locations_they_lie_in() {
        let (stock, unreadable) = read(
            r#"{"total":7.5,"stocks":[{"id":1,"product_sku":"S2","location_stock":7,"quantity":8,"reserved_quantity":0.5,
                "available_quantity":7.5}],"locations":[{"location_id":7,"store_id":1,"name":"CD","status":"active",
                "location_type":"warehouse","allows_pickup":true,"allows_production":false}]}"#,
        );
        assert_eq!(unreadable, Vec::<&str>::new());
        assert_eq!(stock.total.unwrap().to_string(), "7.5");
        let [level] = stock.levels.as_slice() else { panic!("{stock:?}") };
        assert_eq!((level.sku.as_str(), level.location_id.as_str()), ("S1", "7"));
        let figures = [level.quantity, level.reserved_quantity, level.available_quantity];
        assert_eq!(figures.map(|n| n.unwrap().to_string()), ["8", "0.5", "7.5"]);
        let [place] = stock.locations.as_slice() else { panic!("{stock:?}") };
        let words = [&place.name, &place.status, &place.location_type].map(|word| word.as_deref().unwrap());
        assert_eq!((place.id.as_str(), words), ("7", ["CD", "active", "warehouse"]));
        assert_eq!((place.allows_pickup, place.allows_production), (Some(true), Some(false)));
    }

    #[test]
    fn the_available_quantity_is_the_platforms_own_and_never_computed() {
        let (stock, _) =
            read(r#"[{"location_id":7,"quantity":8,"reserved_quantity":3,"available_quantity":4}]"#);
        assert_eq!(stock.levels[0].available_quantity.unwrap().to_string(), "4");
        assert_eq!(stock.levels[0].sku.as_str(), "S1");
    }
}
