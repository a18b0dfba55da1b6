//! The exact form of sent values: no number passes through binary floating point.

use rust_decimal::Decimal;
use serde::{Serialize, Serializer, ser::Error as _};
use serde_json::value::RawValue;

/// A decimal as a JSON number, digit by digit. Trailing zeros are dropped, so that equal amounts are equal bytes and
/// whole numbers are integers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exact(pub(crate) Decimal);

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let digits = self.0.normalize().to_string();
        RawValue::from_string(digits).map_err(S::Error::custom)?.serialize(serializer)
    }
}

/// An identifier in the form that the marketplace uses: a whole number as a number, everything else as text. The
/// document gives `location_id` as an integer in events and is silent elsewhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identifier<'a>(pub(crate) &'a str);

impl Serialize for Identifier<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.parse::<i64>() {
            Ok(number) if number.to_string() == self.0 => serializer.serialize_i64(number),
            _ => serializer.serialize_str(self.0),
        }
    }
}

/// Declares a decimal with its own rule, serialized as [`Exact`].
macro_rules! amount {
    ($(#[$doc:meta])+ $name:ident) => {
        $(#[$doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(rust_decimal::Decimal);

        impl $name {
            /// Returns the number.
            pub fn get(self) -> rust_decimal::Decimal {
                self.0
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::wire::outward::Exact(self.0).serialize(serializer)
            }
        }
    };
}

pub(crate) use amount;

/// Formats a request on one line for snapshots: method, path and query, then the body, as sent.
#[cfg(test)]
pub(crate) fn sent(request: &crate::ApiRequest) -> String {
    use crate::request::Body;
    match &request.body {
        Body::Empty => request.describe(),
        Body::Json(json) => format!("{} {}", request.describe(), String::from_utf8_lossy(json)),
        Body::File(file) => format!(
            "{} [{}: {}, {}, {} bytes]",
            request.describe(),
            file.field,
            file.name,
            file.media_type,
            file.bytes.len()
        ),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn json(value: impl Serialize) -> String {
        serde_json::to_string(&value).unwrap()
    }

    #[test]
    fn a_sum_that_binary_numbers_miss_is_sent_exactly() {
        let [a, b] = ["0.1", "0.2"].map(|text| text.parse::<Decimal>().unwrap());
        assert_eq!(json(Exact(a + b)), "0.3");
        for (number, expected) in [
            ("12.345", "12.345"),
            ("19.90", "19.9"),
            ("10.00", "10"),
            ("0", "0"),
            ("79228162514264337593543950335", "79228162514264337593543950335"),
            ("0.0000000000000000000000000001", "0.0000000000000000000000000001"),
        ] {
            assert_eq!(json(Exact(number.parse().unwrap())), expected);
        }
    }

    #[test]
    fn an_identifier_is_a_number_only_where_its_digits_survive_it() {
        for (id, expected) in [
            ("7", "7"),
            ("007", "\"007\""),
            ("CD-1", "\"CD-1\""),
            ("99999999999999999999", "\"99999999999999999999\""),
        ] {
            assert_eq!(json(Identifier(id)), expected);
        }
    }

    proptest! {
        #[test]
        fn every_decimal_goes_out_as_the_same_number(units in any::<i64>(), scale in 0u32..=6) {
            let number = Decimal::new(units, scale);
            let text = json(Exact(number));
            prop_assert_eq!(text.parse::<Decimal>().unwrap(), number);
            prop_assert!(!text.contains(['"', 'e', 'E']));
        }
    }
}
