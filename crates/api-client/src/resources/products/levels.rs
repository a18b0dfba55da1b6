//! Reads stock (API document, "Product": stock response).

use espelho_model::{
    LocationId, RawJson, Sku,
    product::{StockLevel, StockLocation},
};
use rust_decimal::Decimal;
use serde_json::value::RawValue;

use crate::wire::{
    envelope::BodyError,
    fields::{FieldReader, object},
    shape,
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

/// Reads a stock object, or the bare list of levels that the product's detail may contain.
pub(super) fn read_stock(read: &mut FieldReader, json: &str, sku: &Sku) -> Result<Stock, BodyError> {
    let (total, levels, locations): (_, Vec<&RawValue>, Vec<&RawValue>) = match json.starts_with('[') {
        true => (None, serde_json::from_str(json)?, Vec::new()),
        false => {
            let wire: StockWire<'_> = object(json)?;
            let total = read.decimal("stock.total", wire.total).map(|total| total.normalize());
            (total, read.list("stock.stocks", wire.stocks), read.list("stock.locations", wire.locations))
        }
    };
    let locations = locations.into_iter().filter_map(|row| read_location(read, row)).collect();
    let levels = levels.into_iter().filter_map(|row| read_level(read, row, sku)).collect();
    Ok(Stock { total, levels, locations })
}

fn read_level(read: &mut FieldReader, row: &RawValue, sku: &Sku) -> Option<StockLevel> {
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
    Some(StockLevel {
        sku: read.id("stocks[].product_sku", own_sku).map_or_else(|| sku.clone(), Sku::new),
        location_id,
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

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;

    use super::*;

    fn read(payload: &str) -> (Stock, Vec<&'static str>) {
        let mut read = FieldReader::new(FixedOffset::east_opt(0).unwrap());
        let stock = read_stock(&mut read, payload, &Sku::new("S1")).unwrap();
        (stock, read.into_unreadable())
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
        assert_eq!((level.sku.as_str(), level.location_id.as_str()), ("S2", "7"));
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
