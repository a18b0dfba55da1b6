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

use crate::plan::push::product::number_of;

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
            other => number_of(name, other).map(Some),
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

#[cfg(test)]
mod tests {
    use espelho_model::text::Locale;
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_that_the_document_knows_are_read_nested_or_plain() {
        let size = |height, width, length, weight| json!({"height": height, "width": width, "length": length, "weight": weight});
        let nested = changes(&json!({"dimensions": size(10, 8, 8, 1)})).unwrap();
        let plain = changes(&size(10, 8, 8, 1)).unwrap();
        assert!(nested.dimensions.is_some() && nested.dimensions == plain.dimensions);
        let texts = changes(&json!({"height": "10", "width": "8.0", "length": 8, "weight": "1"})).unwrap();
        assert!(texts.dimensions.is_some(), "numbers may be texts");
        let none =
            changes(&json!({"name": null, "base_unit": null, "height": null, "is_industrializable": null}))
                .unwrap();
        assert!(none.name.is_none() && none.base_unit.is_none() && none.dimensions.is_none());
        assert_eq!(none.switches, ProductSwitches::default(), "null is as good as no field");
        let on =
            changes(&json!({"sku": "CAN-1", "is_available_for_sale": true, "auto_wholesale_pricing": false}))
                .unwrap();
        assert_eq!(
            (on.switches.is_available_for_sale, on.switches.auto_wholesale_pricing),
            (Some(true), Some(false))
        );
        assert_eq!((on.switches.is_industrializable, on.switches.allow_sale_without_stock), (None, None));
    }

    #[test]
    fn a_field_of_another_type_or_table_is_refused_by_its_name() {
        for (data, named) in [
            (json!({"name": 5}), "name"),
            (json!({"base_unit": true}), "base_unit"),
            (json!({"base_unit": "saco"}), "saco"),
            (json!({"price_type": ["default"]}), "price_type"),
            (json!({"price_type": "leilão"}), "leilão"),
            (json!({"is_available_for_sale": 1}), "is_available_for_sale"),
            (json!({"auto_wholesale_pricing": "não"}), "auto_wholesale_pricing"),
            (json!({"dimensions": {"height": "alto", "width": 1, "length": 1, "weight": 1}}), "height"),
            (json!({"weight": [1]}), "weight"),
            (json!({"price": "9.90"}), "erp_prices"),
            (json!({"quantity": 1}), "erp_stock"),
            (json!({"reserved_quantity": 1}), "reserved_quantity"),
            (json!({"available_quantity": 1}), "available_quantity"),
            (json!({"Name": "x"}), "Name"),
            (json!({"gtin": "7891234567895"}), "gtin"),
        ] {
            let Err(refused) = changes(&data) else { panic!("{data} is taken") };
            let refused = refused.message(Locale::default());
            assert!(refused.contains(named), "{data}: {refused}");
        }
        for part in [json!({"height": 1}), json!({"dimensions": {"height": 1, "width": 1, "length": 1}})] {
            assert!(changes(&part).is_err(), "{part}: all of them or none");
        }
        for data in [json!(null), json!([]), json!("nome"), json!(7)] {
            assert!(changes(&data).is_err(), "{data}");
        }
    }
}
