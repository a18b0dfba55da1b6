//! Products that are created (`product.create`) and changed (`product.update`).

use std::time::Duration;

use chrono::{DateTime, Utc};
use espelho_api_client::resources::products::ProductDetail;
use espelho_model::{
    money::{parse_decimal, unreadable},
    text,
    text::Text,
};
use espelho_store::Effect;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Settlement, evidence::Evidence, late_effects};

/// What the journal keeps with a product that is created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreationEvidence {
    /// The SKU, unique in the store.
    pub sku: String,
}

impl Evidence for CreationEvidence {
    const KIND: &'static str = "product.create";
    const IS_REPEATABLE: bool = false;
    const EARLIER_ROW: &'static str = r#"{"sku":"A"}"#;

    fn can_prove(&self) -> bool {
        !self.sku.is_empty()
    }
}

/// What the journal keeps with a change of a product.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdateEvidence {
    /// The product's id.
    pub product: String,
    /// The fields that change, as the command has them.
    pub data: Map<String, Value>,
}

impl Evidence for UpdateEvidence {
    const KIND: &'static str = "product.update";
    const IS_REPEATABLE: bool = true;
    const EARLIER_ROW: &'static str = r#"{"product":"P","data":{"name":"Banco"}}"#;

    fn can_prove(&self) -> bool {
        let data = Value::Object(self.data.clone());
        FIELDS.iter().any(|name| !data[*name].is_null())
            || MEASURES.iter().any(|name| measure(&data, name).is_some())
    }
}

/// The fields that a reading of the product shows.
const FIELDS: [&str; 7] = [
    "name",
    "base_unit",
    "price_type",
    "is_available_for_sale",
    "auto_wholesale_pricing",
    "is_industrializable",
    "allow_sale_without_stock",
];
const MEASURES: [&str; 4] = ["height", "width", "length", "weight"];

/// What became of a change whose answer was lost.
pub fn settle_update(evidence: &UpdateEvidence, detail: &ProductDetail) -> Settlement {
    let is_there = evidence.can_prove() && shows(&Value::Object(evidence.data.clone()), detail);
    Settlement::of(is_there, "the product shows it", "the product does not show it")
}

/// Returns for how long another change of the product, whose answer was lost, may still overwrite what this one asks for.
/// `effects` are those of the product.
pub fn may_be_overwritten_for(
    data: &Value,
    detail: &ProductDetail,
    effects: &[Effect],
    now: DateTime<Utc>,
) -> Option<Duration> {
    let overwrites = |lost: &UpdateEvidence| contradicts(lost, data, detail);
    late_effects::may_be_overwritten_for(effects, overwrites, now)
}

/// Says whether such a change was carried out after the one that was `sent`: the product shows it, and it is over.
pub fn is_overwritten(
    sent: &Effect,
    data: &Value,
    detail: &ProductDetail,
    effects: &[Effect],
    now: DateTime<Utc>,
) -> bool {
    let is_shown = |lost: &UpdateEvidence| {
        contradicts(lost, data, detail) && shows(&Value::Object(lost.data.clone()), detail)
    };
    late_effects::is_overwritten(sent, effects, is_shown, now)
}

/// Says whether a change of a product gives one of its fields another value than this one does.
fn contradicts(lost: &UpdateEvidence, data: &Value, detail: &ProductDetail) -> bool {
    let lost_data = Value::Object(lost.data.clone());
    let differs = |name: &&str| {
        let (own, other) = (&data[*name], &lost_data[*name]);
        !own.is_null() && !other.is_null() && own != other
    };
    let is_other_measure = |name: &&str| {
        measure(data, name).zip(measure(&lost_data, name)).is_some_and(|(own, other)| own != other)
    };
    lost.product == detail.product.id.as_str()
        && (FIELDS.iter().any(differs) || MEASURES.iter().any(is_other_measure))
}

/// True where a product is as a change asks for.
pub fn shows(data: &Value, detail: &ProductDetail) -> bool {
    let product = &detail.product;
    let text = |name: &str, own: &Option<String>| {
        data[name].as_str().is_none_or(|desired| own.as_deref() == Some(desired))
    };
    let switch =
        |name: &str, own: Option<bool>| data[name].as_bool().is_none_or(|desired| own == Some(desired));
    let is_as_long =
        |name: &str, own: Option<Decimal>| measure(data, name).is_none_or(|desired| own == Some(desired));
    text("name", &product.name)
        && text("base_unit", &product.base_unit)
        && text("price_type", &product.price_type)
        && switch("is_available_for_sale", product.is_available_for_sale)
        && switch("auto_wholesale_pricing", product.auto_wholesale_pricing)
        && switch("is_industrializable", detail.extras.is_industrializable)
        && switch("allow_sale_without_stock", detail.extras.allow_sale_without_stock)
        && is_as_long("height", product.height)
        && is_as_long("width", product.width)
        && is_as_long("length", product.length)
        && is_as_long("weight", product.weight)
}

/// A measure of a product, nested as the API has it or plain as the table `products` has it.
fn measure(data: &Value, name: &str) -> Option<Decimal> {
    number(if data["dimensions"].is_object() { &data["dimensions"][name] } else { &data[name] })
}

/// A number as JSON may have it: a text keeps its decimals.
pub fn number(value: &Value) -> Option<Decimal> {
    match value {
        Value::Number(number) => parse_decimal(&number.to_string()),
        Value::String(text) => parse_decimal(text),
        _ => None,
    }
}

/// The same for a field that must be a number; an error says what it is instead.
///
/// # Errors
/// When it is no number, or one that no amount and no quantity may be.
pub fn number_of(field: &str, value: &Value) -> Result<Decimal, Text> {
    number(value).ok_or_else(|| match value {
        Value::Number(number) => unreadable(field, &number.to_string()),
        Value::String(text) => unreadable(field, text),
        _ => text!("value-not-number", field = field),
    })
}

#[cfg(test)]
mod tests {
    use espelho_api_client::resources::products::ProductExtras;
    use espelho_model::{ProductId, RawJson, product::Product};
    use espelho_store::EffectState;
    use serde_json::json;

    use super::{
        super::{
            evidence::write,
            tests::{at, effect},
        },
        *,
    };

    // withstands: F001
    #[test]
    fn a_change_may_be_overwritten_by_a_lost_one_that_contradicts_it_and_shows_that_it_was() {
        let change = |id, second, product: &str, data: &Value, state| {
            let Value::Object(data) = data.clone() else { unreachable!() };
            let evidence = UpdateEvidence { product: product.to_owned(), data };
            let (sent_at, planned_at) = (Some(at(second)), at(second));
            Effect { id, sent_at, planned_at, ..effect("product.update", Some(&write(&evidence)), state) }
        };
        let confirmed = EffectState::Confirmed;
        let shown = json!({"name": "Banco"});
        // The product is "Banco", 1.5 high: rows are what was lost, what is asked for, and whether the lost one overwrote it.
        for (lost, data, contradicts, overwrote) in [
            (shown.clone(), json!({"name": "Mesa"}), true, true),
            (json!({"name": "Cadeira"}), json!({"name": "Mesa"}), true, false),
            (shown.clone(), json!({"name": "Banco"}), false, false),
            (json!({"is_available_for_sale": true}), json!({"name": "Mesa"}), false, false),
            (json!({"is_available_for_sale": true}), json!({"is_available_for_sale": false}), true, true),
            (json!({"name": null}), json!({"name": "Mesa"}), false, false),
            (json!({"height": "1.50"}), json!({"dimensions": {"height": 2}}), true, true),
            (json!({"height": "1.50"}), json!({"dimensions": {"height": 1.5}}), false, false),
        ] {
            let lost = change(1, 0, "P", &lost, EffectState::Refuted);
            let sent = change(2, 5, "P", &data, confirmed);
            let effects = [sent.clone(), lost];
            let left = may_be_overwritten_for(&data, &detail(), &effects, at(5));
            assert_eq!(left, contradicts.then_some(Duration::from_secs(35)), "{effects:?}");
            assert_eq!(is_overwritten(&sent, &data, &detail(), &effects, at(40)), overwrote, "{effects:?}");
            assert!(!is_overwritten(&sent, &data, &detail(), &effects, at(39)), "not over yet");
            let late = Effect { planned_at: at(40), ..sent };
            assert!(!is_overwritten(&late, &data, &detail(), &effects, at(60)), "sent after it was over");
        }
        let data = json!({"name": "Mesa"});
        let of_another = [change(1, 0, "Q", &shown, EffectState::Refuted)];
        assert_eq!(may_be_overwritten_for(&data, &detail(), &of_another, at(5)), None);
    }

    fn detail() -> ProductDetail {
        let product = Product {
            id: ProductId::new("P"),
            sku: None,
            name: Some("Banco".into()),
            base_unit: Some("un".into()),
            price_type: Some("default".into()),
            is_available_for_sale: Some(true),
            auto_wholesale_pricing: Some(false),
            height: Some("1.5".parse().unwrap()),
            width: Some(Decimal::TWO),
            length: None,
            weight: Some("0.3".parse().unwrap()),
            price: None,
            quantity: None,
            reserved_quantity: None,
            available_quantity: None,
            prices: Vec::new(),
            stock: Vec::new(),
            raw: RawJson::new("{}"),
        };
        let extras = ProductExtras { is_industrializable: Some(true), ..ProductExtras::default() };
        ProductDetail { product, locations: Vec::new(), has_prices: true, has_stock: true, extras }
    }

    #[test]
    fn a_product_shows_a_change_when_each_field_of_it_is_there() {
        let rows = [
            (json!({"name": "Banco"}), true),
            (json!({"name": "Mesa"}), false),
            (json!({"base_unit": "un", "price_type": "default"}), true),
            (json!({"base_unit": "cx"}), false),
            (json!({"price_type": "wholesale"}), false),
            (json!({"is_available_for_sale": true, "auto_wholesale_pricing": false}), true),
            (json!({"is_available_for_sale": false}), false),
            (json!({"auto_wholesale_pricing": true}), false),
            (json!({"is_industrializable": true}), true),
            (json!({"is_industrializable": false}), false),
            (json!({"allow_sale_without_stock": true}), false),
            (json!({"height": 1.5, "width": "2.00"}), true),
            (json!({"dimensions": {"height": "1.50", "width": 2}}), true),
            (json!({"dimensions": {"height": "1.51"}}), false),
            (json!({"width": 3}), false),
            (json!({"length": 1}), false),
            (json!({"weight": 0.3}), true),
            (json!({"weight": 0.4}), false),
        ];
        for (data, expected) in rows {
            assert_eq!(shows(&data, &detail()), expected, "{data}");
            let Value::Object(fields) = data else { unreachable!() };
            let evidence = UpdateEvidence { product: "P".into(), data: fields };
            let settled = matches!(settle_update(&evidence, &detail()), Settlement::Happened { .. });
            assert_eq!(settled, expected, "{evidence:?}");
        }
    }

    // withstands: F001
    #[test]
    fn a_change_of_nothing_that_a_reading_shows_proves_nothing() {
        for data in [json!({}), json!({"name": null}), json!({"sku": "A"}), json!({"dimensions": {}})] {
            let Value::Object(fields) = data else { unreachable!() };
            let evidence = UpdateEvidence { product: "P".into(), data: fields };
            assert!(!evidence.can_prove(), "{evidence:?}");
            assert!(matches!(settle_update(&evidence, &detail()), Settlement::DidNotHappen { .. }));
        }
        assert!(!CreationEvidence { sku: String::new() }.can_prove());
        assert!(CreationEvidence { sku: "A".into() }.can_prove());
    }

    #[test]
    fn numbers_keep_their_decimals() {
        assert_eq!(number(&json!("1.50")).map(|n| n.to_string()).as_deref(), Some("1.50"));
        assert_eq!(number(&json!(" 2 ")), Some(Decimal::TWO));
        assert_eq!(number(&json!(1.5)).map(|n| n.to_string()).as_deref(), Some("1.5"));
        assert_eq!(number(&json!(1e-3)).map(|n| n.to_string()).as_deref(), Some("0.001"));
        assert_eq!(number(&json!("one")), None);
        assert_eq!(number(&json!(null)), None);
        assert_eq!(number(&json!([1])), None);
    }
}
