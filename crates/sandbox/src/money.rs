//! Exact amounts: whole thousandths in an `i64`, never a float.

use std::ops::{Add, AddAssign, Sub};

use rust_decimal::Decimal;

/// An exact amount in thousandths: reais, centimetres, kilograms, or units of stock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Milli(pub(crate) i64);

impl Milli {
    pub(crate) fn cents(cents: i64) -> Self {
        Self(cents * 10)
    }

    pub(crate) fn whole(units: i64) -> Self {
        Self(units * 1000)
    }

    /// Rounds up to whole cents, as the document asks of every total.
    pub(crate) fn ceil_cents(self) -> Self {
        Self(-(-self.0).div_euclid(10) * 10)
    }

    pub(crate) fn times(self, quantity: u32) -> Self {
        Self(self.0 * i64::from(quantity))
    }

    /// The decimal cut to three places; `None` when it does not fit.
    pub(crate) fn from_decimal(value: Decimal) -> Option<Self> {
        let scaled = value.checked_mul(Decimal::ONE_THOUSAND)?.trunc();
        i64::try_from(scaled.mantissa() / 10_i128.pow(scaled.scale())).ok().map(Self)
    }

    /// The amount as a decimal without idle zeroes.
    pub(crate) fn decimal(self) -> Decimal {
        Decimal::new(self.0, 3).normalize()
    }

    /// The amount as a JSON number of an event. The nearest float is written by its shortest text, which is the amount
    /// itself up to 15 digits: more than any amount has.
    pub(crate) fn number(self) -> serde_json::Value {
        if self.0 % 1000 == 0 {
            return (self.0 / 1000).into();
        }
        serde_json::Value::from(self.0 as f64 / 1000.0)
    }

    /// Reads plain decimal text such as `58.9`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::from_decimal(text.parse().ok()?)
    }
}

impl Add for Milli {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Milli {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl AddAssign for Milli {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_cent_rounds_up_and_whole_cents_stay() {
        assert_eq!(Milli(12_341).ceil_cents(), Milli(12_350));
        assert_eq!(Milli(12_340).ceil_cents(), Milli(12_340));
    }

    #[test]
    fn the_number_of_an_event_is_the_amount() {
        let written = |amount: i64| Milli(amount).number().to_string();
        assert_eq!((written(19_995), written(7_000)), ("19.995".into(), "7".into()));
        assert_eq!((written(-5), written(999_999_999_999)), ("-0.005".into(), "999999999.999".into()));
        assert_eq!(Milli(58_900).decimal().to_string(), "58.9");
    }

    #[test]
    fn decimal_text_is_read_exactly() {
        assert_eq!(Milli::parse("58.90"), Some(Milli(58_900)));
        assert_eq!(Milli::parse("-182.81"), Some(Milli(-182_810)));
        assert_eq!(Milli::parse("abc"), None);
    }
}
