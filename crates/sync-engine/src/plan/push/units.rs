//! Units that a product is sold in.

use rust_decimal::Decimal;

/// Units that are sold whole (API document, "Product": `base_unit`).
const WHOLE_UNITS: [&str; 4] = ["un", "pc", "cx", "pct"];

/// True for a fraction of a unit that is sold whole.
pub fn has_half_unit(unit: Option<&str>, quantity: Decimal) -> bool {
    unit.is_some_and(|unit| WHOLE_UNITS.contains(&unit)) && !quantity.fract().is_zero()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pieces_boxes_and_packs_have_no_half() {
        let half = Decimal::new(15, 1);
        for unit in WHOLE_UNITS {
            assert!(has_half_unit(Some(unit), half), "{unit}");
            assert!(!has_half_unit(Some(unit), Decimal::new(20, 1)), "{unit}: 2.0 is whole");
        }
        assert!(!has_half_unit(Some("kg"), half));
        assert!(!has_half_unit(None, half), "nobody knows the unit");
    }
}
