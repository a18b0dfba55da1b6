//! Reads price tiers (API document, "Product": price tier).

use chrono::FixedOffset;
use espelho_model::{RawJson, money::with_cents, product::PriceTier};
use serde_json::value::RawValue;

use crate::{
    resources::Read,
    wire::{envelope::BodyError, fields::FieldReader, shape, within::rows},
};

shape! { TierWire {
    min_quantity, value, price, discount_percent, package_weight, package_height, package_width, package_length,
} }

/// Reads the list of tiers, bare or within the answer.
pub(super) fn parse_tiers(payload: &str, naive: FixedOffset) -> Result<Read<Vec<PriceTier>>, BodyError> {
    let mut read = FieldReader::new(naive);
    let value = read_tiers(&mut read, payload)?;
    Ok(Read { value, unreadable: read.into_unreadable() })
}

/// Reads a list of tiers; anything else is not understood.
pub(super) fn read_tiers(read: &mut FieldReader, json: &str) -> Result<Vec<PriceTier>, BodyError> {
    Ok(rows(json, &["prices", "tiers"])?.into_iter().filter_map(|row| read_tier(read, row)).collect())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(payload: &str) -> Read<Vec<PriceTier>> {
        parse_tiers(payload, FixedOffset::east_opt(0).unwrap()).unwrap()
    }

    // proves: PRC-001, PRC-002, PRC-003
    #[test]
    fn tiers_are_read_with_their_measures_or_without_any() {
        let Read { value, unreadable } = read(
            r#"[{"min_quantity":1,"value":19.9,"discount_percent":null,"package_weight":null,"package_height":null,
                 "package_width":null,"package_length":null},
                {"min_quantity":10,"value":"17.915","discount_percent":10,"package_weight":0.75,
                 "package_height":"10.50","package_width":20,"package_length":30}]"#,
        );
        assert_eq!(unreadable, Vec::<&str>::new());
        let [base, ten] = value.as_slice() else { panic!("{value:?}") };
        let packages =
            |t: &PriceTier| [t.package_weight, t.package_height, t.package_width, t.package_length];
        assert_eq!((base.min_quantity, base.discount_percent, packages(base)), (1, None, [None; 4]));
        assert_eq!(base.value.unwrap().to_string(), "19.90");
        assert_eq!((ten.min_quantity, ten.discount_percent.unwrap().to_string()), (10, "10".to_owned()));
        assert_eq!(ten.value.unwrap().to_string(), "17.915");
        assert_eq!(packages(ten).map(|m| m.unwrap().to_string()), ["0.75", "10.5", "20", "30"]);
    }

    #[test]
    fn a_tier_without_its_key_is_left_out_and_named() {
        let Read { value, unreadable } =
            read(r#"{"prices":[{"min_quantity":"x","value":1},{"min_quantity":2}]}"#);
        assert_eq!((value.len(), unreadable), (1, vec!["prices[].min_quantity"]));
        for nested in [r#"{"prices":{"data":[{"min_quantity":2}]}}"#, r#"{"tiers":[{"min_quantity":2}]}"#] {
            assert_eq!(read(nested).value.len(), 1, "{nested}");
        }
        assert_eq!(read(r#"{"prices":null}"#).value.len(), 0);
        for strange in ["{}", r#"{"prices":3}"#, r#"{"value":1}"#, "3"] {
            assert!(parse_tiers(strange, FixedOffset::east_opt(0).unwrap()).is_err(), "{strange}");
        }
    }
}
