//! Exact numbers. Nothing in the mirror passes through binary floating point.

use rust_decimal::Decimal;

use crate::{text, text::Text};

/// Gives an amount at least two decimals, as people write money, without changing its value: `19.9` becomes `19.90`;
/// `12.345` (a unit price with `price_scale` 3) is unchanged.
pub fn with_cents(amount: Decimal) -> Decimal {
    let mut amount = amount;
    if amount.scale() < 2 {
        amount.rescale(2);
    }
    amount
}

/// The largest amount or quantity. Nobody sells more, and no arithmetic with a few such numbers overflows.
pub const LARGEST: i64 = 1_000_000_000_000_000;

/// Returns a number that an amount or a quantity may be; `None` for one beyond [`LARGEST`], above or below zero.
pub fn in_bounds(number: Decimal) -> Option<Decimal> {
    (number.abs() <= Decimal::from(LARGEST)).then_some(number)
}

/// Reads a decimal from a number's own text: `19.9`, `-0.10`, `+5`, `.5`, `1e2`, `1.5E-3`, with surrounding blanks.
///
/// Returns `None` for anything else, for more digits than fit exactly (28 significant), for a text longer than any
/// amount, and for a number beyond [`LARGEST`]. The library that does the work also takes `1_000` and `5.`: the first is
/// a slip for one of two numbers, the second has lost its decimals.
pub fn parse_decimal(text: &str) -> Option<Decimal> {
    let text = text.trim();
    if text.is_empty() || text.len() > 64 || text.contains('_') || has_lost_decimals(text) {
        return None;
    }
    let number = match text.split_once(['e', 'E']) {
        None => Decimal::from_str_exact(text).ok(),
        Some((mantissa, exponent)) => {
            scale_by(Decimal::from_str_exact(mantissa).ok()?, exponent.parse().ok()?)
        }
    };
    number.and_then(in_bounds)
}

/// Says why a text that [`parse_decimal`] does not read is no number for a field.
pub fn unreadable(field: &str, written: &str) -> Text {
    match oddity(written.trim()) {
        Oddity::NoNumber => text!("value-not-number-but", field = field, value = written),
        Oddity::TooLarge => text!("value-too-large", field = field, value = written),
        Oddity::TooManyDecimals => text!("value-too-many-decimals", field = field, value = written),
    }
}

/// The reason why a text is read as no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Oddity {
    NoNumber,
    TooLarge,
    TooManyDecimals,
}

fn oddity(text: &str) -> Oddity {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, decimals) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_digits = |part: &str| part.bytes().all(|digit| digit.is_ascii_digit());
    let power = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let is_number = is_digits(whole) && is_digits(decimals) && is_digits(power) && !power.is_empty();
    if !is_number || has_lost_decimals(mantissa) || whole.len() + decimals.len() == 0 {
        return Oddity::NoNumber;
    }
    let Some(leading) = whole.bytes().chain(decimals.bytes()).position(|digit| digit != b'0') else {
        return Oddity::TooManyDecimals;
    };
    // The number of digits before its point, once it is written without an exponent.
    let exponent = exponent.parse::<i64>().unwrap_or(if exponent.starts_with('-') { -FAR } else { FAR });
    let before = (whole.len() as i64).saturating_sub(leading as i64).saturating_add(exponent);
    if before > DIGITS { Oddity::TooLarge } else { Oddity::TooManyDecimals }
}

/// The digits before the point of a number that is below [`LARGEST`].
const DIGITS: i64 = 15;
/// Stands for an exponent that is no 64-bit number.
const FAR: i64 = 1 << 62;

/// Says whether no digit follows a point.
fn has_lost_decimals(text: &str) -> bool {
    let mut parts = text.split('.').skip(1);
    parts.any(|decimals| !decimals.starts_with(|first: char| first.is_ascii_digit()))
}

/// Returns `mantissa * 10^exponent`, if that is exact.
fn scale_by(mantissa: Decimal, exponent: i32) -> Option<Decimal> {
    let mut result = mantissa;
    let step = if exponent < 0 { Decimal::new(1, 1) } else { Decimal::TEN };
    // An honest exponent is small. A huge one is an attack or an overflow, and both mean "unreadable".
    if exponent.unsigned_abs() > 28 {
        return None;
    }
    for _ in 0..exponent.unsigned_abs() {
        let next = result.checked_mul(step)?;
        if exponent < 0 && next.checked_mul(Decimal::TEN)? != result {
            return None;
        }
        result = next;
    }
    Some(result.normalize())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn money_keeps_its_value_and_gains_cents() {
        let check = |input: &str, expected: &str| {
            assert_eq!(with_cents(parse_decimal(input).unwrap()).to_string(), expected, "{input}");
        };
        check("19.9", "19.90");
        check("0", "0.00");
        check("12.345", "12.345");
        check("1e2", "100.00");
        check("1.5E-3", "0.0015");
        check(" 7 ", "7.00");
        check("-1e15", "-1000000000000000.00");
        check("+5", "5.00");
        check("+1.5", "1.50");
        check(".5", "0.50");
        check("-.5", "-0.50");
    }

    #[test]
    fn a_text_that_is_read_as_no_number_says_what_is_wrong_with_it() {
        use Oddity::{NoNumber, TooLarge, TooManyDecimals};
        let decimals = |first: &str, zeros: usize, last: &str| format!("{first}.{}{last}", "0".repeat(zeros));
        for (written, expected) in [
            (decimals("84", 28, "1"), TooManyDecimals),
            (decimals("7", 45, ""), TooManyDecimals),
            (decimals("-0", 70, "1"), TooManyDecimals),
            ("1e-400".to_owned(), TooManyDecimals),
            ("1e-99999999999999999999".to_owned(), TooManyDecimals),
            ("1e308".to_owned(), TooLarge),
            ("-1.5E+308".to_owned(), TooLarge),
            ("1e99999999999999999999".to_owned(), TooLarge),
            ("1e16".to_owned(), TooLarge),
            ("9".repeat(40), TooLarge),
            (decimals("10000000000000000", 1, "1"), TooLarge),
            ("seven".to_owned(), NoNumber),
            ("1,5".to_owned(), NoNumber),
            ("1_000".to_owned(), NoNumber),
            ("5.".to_owned(), NoNumber),
            ("1.2.3".to_owned(), NoNumber),
            ("1e".to_owned(), NoNumber),
            ("e5".to_owned(), NoNumber),
            (".".to_owned(), NoNumber),
            ("--1".to_owned(), NoNumber),
            ("NaN".to_owned(), NoNumber),
            (String::new(), NoNumber),
        ] {
            assert_eq!(parse_decimal(&written), None, "{written}");
            assert_eq!(oddity(&written), expected, "{written}");
        }
        let told = unreadable("price", "1e308").to_string();
        assert!(told.starts_with("price is “1e308”") && told.contains("large"), "{told}");
    }

    #[test]
    fn what_is_not_an_exact_number_is_unreadable_and_never_zero() {
        for bad in [
            "",
            " ",
            "NaN",
            "1,5",
            "0x10",
            "1e400",
            "1e-400",
            "--1",
            &"9".repeat(40),
            "1e",
            "e5",
            "1_000",
            "2_5",
            "1_2.5",
            "1.5_0",
            "1_",
            "1e1_0",
            "_",
            "1 000",
            "- 5",
            "+ 5",
            "+-5",
            "5.",
            "5.e2",
            ".",
            "-.",
            "1.2.3",
            "1e16",
            "-1000000000000001",
        ] {
            assert_eq!(parse_decimal(bad), None, "{bad}");
        }
    }

    proptest! {
        // withstands: F071
        #[test]
        fn every_amount_reads_back_as_its_own_text(units in -99_999_999i64..99_999_999, scale in 0u32..=4) {
            let amount = Decimal::new(units, scale);
            prop_assert_eq!(parse_decimal(&amount.to_string()), Some(amount));
        }

        // withstands: F071
        #[test]
        fn an_exponent_means_the_same_as_writing_it_out(units in -9_999i64..9_999, exponent in 0i32..=6) {
            let written_out = Decimal::new(units, 0) * Decimal::from(10i64.pow(exponent.unsigned_abs()));
            prop_assert_eq!(parse_decimal(&format!("{units}e{exponent}")), Some(written_out));
        }
    }
}
