//! Dimensions of goods, alone and packed (API document, "Product", "Dimensions").

use espelho_model::text;
use rust_decimal::Decimal;
use serde::Serialize;

use crate::{Invalid, wire::outward::Exact};

/// Four measures by name, because a height cannot be told from a width by its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measures {
    /// In centimetres.
    pub height: Decimal,
    /// In centimetres.
    pub width: Decimal,
    /// In centimetres.
    pub length: Decimal,
    /// In kilograms.
    pub weight: Decimal,
}

/// The dimensions of a product, each at least 0.001. Freight needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "DimensionsBody")]
pub struct Dimensions(Measures);

/// The package measures of a wholesale tier: all four, each above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Package(Measures);

#[derive(Serialize)]
struct DimensionsBody {
    height: Exact,
    width: Exact,
    length: Exact,
    weight: Exact,
}

impl Dimensions {
    /// Takes the measures.
    ///
    /// # Errors
    /// When one is below 0.001.
    pub fn new(measures: Measures) -> Result<Self, Invalid> {
        let least = Decimal::new(1, 3);
        let names = ["dimensions.height", "dimensions.width", "dimensions.length", "dimensions.weight"];
        measures
            .check(names, |measure| measure >= least, text!("value-rule-thousandth"))
            .map(|()| Self(measures))
    }
}

impl From<Dimensions> for DimensionsBody {
    fn from(Dimensions(Measures { height, width, length, weight }): Dimensions) -> Self {
        Self { height: Exact(height), width: Exact(width), length: Exact(length), weight: Exact(weight) }
    }
}

impl Package {
    /// Takes the measures.
    ///
    /// # Errors
    /// When one is not above zero.
    pub fn new(measures: Measures) -> Result<Self, Invalid> {
        let names = ["package_height", "package_width", "package_length", "package_weight"];
        measures
            .check(names, |measure| measure > Decimal::ZERO, text!("value-rule-above-zero"))
            .map(|()| Self(measures))
    }

    /// Returns the measures.
    pub fn measures(self) -> Measures {
        self.0
    }
}

impl Measures {
    fn check(
        self,
        names: [&'static str; 4],
        holds: impl Fn(Decimal) -> bool,
        rule: text::Text,
    ) -> Result<(), Invalid> {
        let values = [self.height, self.width, self.length, self.weight];
        match names.into_iter().zip(values).find(|(_, value)| !holds(*value)) {
            Some((name, value)) => Err(Invalid::value(name, value, rule)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Builds measures from four texts: height, width, length, weight.
    pub(crate) fn measures([height, width, length, weight]: [&str; 4]) -> Measures {
        let [height, width, length, weight] =
            [height, width, length, weight].map(|text| text.parse().unwrap());
        Measures { height, width, length, weight }
    }

    // proves: PRD-015, PRD-016
    #[test]
    fn dimensions_are_at_least_a_thousandth_and_go_out_digit_by_digit() {
        let good = Dimensions::new(measures(["0.001", "10.10", "3", "0.3"])).unwrap();
        assert_eq!(
            serde_json::to_string(&good).unwrap(),
            r#"{"height":0.001,"width":10.1,"length":3,"weight":0.3}"#
        );
        for at in 0..4 {
            let mut sides = ["1"; 4];
            sides[at] = "0.0009";
            let error = Dimensions::new(measures(sides)).unwrap_err().to_string();
            let name = ["height", "width", "length", "weight"][at];
            assert_eq!(error, format!("dimensions.{name} is 0.0009; it must be at least 0.001"));
        }
    }

    // proves: PRC-017
    #[test]
    fn a_package_has_four_measures_above_zero() {
        assert!(Package::new(measures(["0.0001"; 4])).is_ok());
        for at in 0..4 {
            for bad in ["0", "-1"] {
                let mut sides = ["1"; 4];
                sides[at] = bad;
                assert!(Package::new(measures(sides)).is_err(), "{sides:?}");
            }
        }
    }
}
