//! The fields of a product in a command's data, under the API document's names.

use espelho_api_client::{
    Invalid,
    resources::products::{
        draft::{BaseUnit, PriceType, ProductChanges, ProductName, ProductSwitches},
        measures::{Dimensions, Measures},
    },
};
use espelho_model::{text, text::Text};
use serde_json::{Map, Value};

use crate::plan::push::product::number;

const SWITCHES: [&str; 4] =
    ["is_available_for_sale", "is_industrializable", "allow_sale_without_stock", "auto_wholesale_pricing"];

/// Reads the changes, under the API document's names.
pub(super) fn changes(data: &Value) -> Result<ProductChanges, Text> {
    let Some(fields) = data.as_object() else { return Err(text!("value-not-object")) };
    check_names(fields, &["sku"])?;
    let message = |error: Invalid| error.text();
    let text = |name: &str| match &data[name] {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.as_str())),
        _ => Err(text!("value-not-text", field = name)),
    };
    let name = text("name")?.map(|name| ProductName::new("name", name).map_err(message)).transpose()?;
    let mut switches = [None; 4];
    for (switch, name) in switches.iter_mut().zip(SWITCHES) {
        *switch = match &data[name] {
            Value::Null => None,
            Value::Bool(on) => Some(*on),
            _ => return Err(text!("value-not-boolean", field = name)),
        };
    }
    let [is_available_for_sale, is_industrializable, allow_sale_without_stock, auto_wholesale_pricing] =
        switches;
    Ok(ProductChanges {
        name,
        base_unit: text("base_unit")?.map(|word| BaseUnit::parse(word).map_err(message)).transpose()?,
        price_type: text("price_type")?.map(|word| PriceType::parse(word).map_err(message)).transpose()?,
        dimensions: dimensions(data)?,
        switches: ProductSwitches {
            is_available_for_sale,
            is_industrializable,
            allow_sale_without_stock,
            auto_wholesale_pricing,
        },
    })
}

/// Product fields that belong to another table, or to none.
const ELSEWHERE: [(&str, Option<&str>); 4] = [
    ("price", Some("erp_prices")),
    ("quantity", Some("erp_stock")),
    ("reserved_quantity", None),
    ("available_quantity", None),
];

pub(super) fn check_names(fields: &Map<String, Value>, more: &[&str]) -> Result<(), Text> {
    let known = ["name", "base_unit", "price_type", "dimensions", "height", "width", "length", "weight"];
    let is_known = |name: &&String| {
        let name = name.as_str();
        known.contains(&name) || SWITCHES.contains(&name) || more.contains(&name)
    };
    match fields.keys().find(|name| !is_known(name)) {
        Some(name) => Err(match ELSEWHERE.iter().find(|(own, _)| own == name) {
            Some((_, Some(table))) => text!("value-elsewhere", field = name, table = *table),
            Some((_, None)) => text!("value-computed", field = name),
            None => text!("value-unknown-field", field = name),
        }),
        None => Ok(()),
    }
}

/// Reads the dimensions, nested as in the API or flat as in the table `products`.
fn dimensions(data: &Value) -> Result<Option<Dimensions>, Text> {
    let measure = |name: &str| {
        let value = if data["dimensions"].is_object() { &data["dimensions"][name] } else { &data[name] };
        match value {
            Value::Null => Ok(None),
            other => number(other).map(Some).ok_or_else(|| text!("value-not-number", field = name)),
        }
    };
    let message = |error: Invalid| error.text();
    let all = [measure("height")?, measure("width")?, measure("length")?, measure("weight")?];
    match all {
        [None, None, None, None] => Ok(None),
        [Some(height), Some(width), Some(length), Some(weight)] => {
            Dimensions::new(Measures { height, width, length, weight }).map(Some).map_err(message)
        }
        _ => Err(text!("value-dimensions")),
    }
}
