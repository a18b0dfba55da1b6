//! Guards: hold prices and levels that look like a slip, until a person releases them. Pure.

use rust_decimal::Decimal;

/// The limits beyond which an intent is held.
#[derive(Clone, Debug, PartialEq)]
pub struct Guards {
    /// A price that falls by more per cent than this.
    pub price_max_fall_percent: Decimal,
    /// A price that rises by more per cent than this.
    pub price_max_rise_percent: Decimal,
    /// A price below this, in BRL.
    pub price_floor: Decimal,
    /// More levels than this that go to zero at once …
    pub zero_max_rows: usize,
    /// … when they are more than this per cent of the levels that are above zero.
    pub zero_max_percent: Decimal,
    /// More new listings than this within an hour.
    pub listings_per_hour: usize,
}

impl Default for Guards {
    /// A slipped decimal point is a fall by 90 or a rise by 900 per cent.
    fn default() -> Self {
        Self {
            price_max_fall_percent: Decimal::from(80),
            price_max_rise_percent: Decimal::from(400),
            price_floor: Decimal::ZERO,
            zero_max_rows: 10,
            zero_max_percent: Decimal::from(20),
            listings_per_hour: 20,
        }
    }
}

/// The reason why a price is held.
#[derive(Clone, Debug, PartialEq)]
pub enum PriceHeld {
    /// It is zero.
    Zero,
    /// It is below the floor.
    BelowFloor(Decimal),
    /// It falls or rises by more per cent than it may.
    Jumps(Decimal),
}

impl Guards {
    /// Returns why a price is held, if it is; `before` is the marketplace's price.
    pub fn holds_price(&self, before: Option<Decimal>, after: Decimal) -> Option<PriceHeld> {
        if after.is_zero() {
            return Some(PriceHeld::Zero);
        }
        if after < self.price_floor {
            return Some(PriceHeld::BelowFloor(self.price_floor));
        }
        // Without an earlier price, or with one of zero (`checked_div` gives `None`), there is no percentage to hold.
        let before = before.filter(Decimal::is_sign_positive)?;
        let per_cent = (after - before).checked_mul(Decimal::ONE_HUNDRED)?.checked_div(before)?;
        let jumps = per_cent < -self.price_max_fall_percent || per_cent > self.price_max_rise_percent;
        jumps.then(|| PriceHeld::Jumps(per_cent.round_dp(1)))
    }

    /// Says whether this many levels that go to zero are held, of this many above zero.
    pub fn holds_zeroes(&self, zeroes: usize, above_zero: usize) -> bool {
        let share = Decimal::from(zeroes) * Decimal::ONE_HUNDRED;
        zeroes > self.zero_max_rows && share > self.zero_max_percent * Decimal::from(above_zero.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(before: Option<&str>, after: &str) -> Option<PriceHeld> {
        let number = |text: &str| text.parse().unwrap();
        Guards::default().holds_price(before.map(number), number(after))
    }

    #[test]
    fn a_slipped_decimal_point_is_held_and_a_sale_is_not() {
        assert_eq!(price(Some("100"), "10"), Some(PriceHeld::Jumps(Decimal::from(-90))));
        assert_eq!(price(Some("100"), "1000"), Some(PriceHeld::Jumps(Decimal::from(900))));
        for fine in ["20", "50", "99.99", "100", "500"] {
            assert_eq!(price(Some("100"), fine), None, "{fine}");
        }
        assert_eq!((price(None, "5"), price(Some("0"), "5")), (None, None));
    }

    #[test]
    fn a_price_of_zero_or_below_the_floor_is_held_whatever_it_was() {
        assert_eq!(
            (price(None, "0"), price(Some("1"), "0.00")),
            (Some(PriceHeld::Zero), Some(PriceHeld::Zero))
        );
        let guards = Guards { price_floor: Decimal::from(5), ..Guards::default() };
        assert_eq!(guards.holds_price(None, Decimal::from(4)), Some(PriceHeld::BelowFloor(Decimal::from(5))));
        assert_eq!(guards.holds_price(None, Decimal::from(5)), None);
    }

    #[test]
    fn a_shop_is_not_emptied_at_once_and_a_few_levels_may_go() {
        let guards = Guards::default();
        assert!(!guards.holds_zeroes(10, 10), "few, whatever their share");
        assert!(!guards.holds_zeroes(1_000, 5_000), "many, and a fifth of all");
        assert!(guards.holds_zeroes(1_001, 5_000));
        assert!(guards.holds_zeroes(11, 0) && guards.holds_zeroes(30, 30), "a small shop too");
    }
}
