//! Numbers as people, spreadsheets and programs write them: `1990.50`, `1.990,50`, `1990,5`.
//!
//! A single separator before exactly three digits may separate thousands or decimals: `1.990` is never guessed.

use espelho_model::money::parse_decimal;
use rust_decimal::Decimal;

/// The source of a number, which may tell what a single separator means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Convention {
    /// Unknown: the command line.
    Unknown,
    /// A comma precedes decimals: files with `;`, as Brazilian spreadsheets write them.
    Comma,
    /// A point precedes decimals: files with `,`, as programs write them.
    Point,
}

/// A text read as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// It has one meaning.
    Clear(Decimal),
    /// It has two possible meanings.
    Ambiguous {
        /// The separator separates thousands.
        thousands: Decimal,
        /// The separator precedes decimals.
        decimals: Decimal,
    },
    /// It is no number.
    Unreadable,
}

/// Parses a number.
pub(crate) fn read(text: &str, convention: Convention) -> Reading {
    let text = text.trim();
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let number = |plain: &str| parse_decimal(&format!("{sign}{plain}"));
    let clear =
        |plain: Option<String>| plain.as_deref().and_then(number).map_or(Reading::Unreadable, Reading::Clear);
    match (digits.rfind(','), digits.rfind('.')) {
        (None, None) => clear(is_digits(digits).then(|| digits.to_owned())),
        (Some(comma), Some(point)) if comma > point => clear(grouped(digits, '.', ',')),
        (Some(_), Some(_)) => clear(grouped(digits, ',', '.')),
        (Some(_), None) => single(digits, ',', convention == Convention::Comma, number),
        (None, Some(_)) => single(digits, '.', convention == Convention::Point, number),
    }
}

/// Parses digits that have only one kind of separator.
fn single(
    digits: &str,
    separator: char,
    is_decimal: bool,
    number: impl Fn(&str) -> Option<Decimal>,
) -> Reading {
    let parts: Vec<&str> = digits.split(separator).collect();
    let as_decimals = match parts[..] {
        [whole, fraction] if is_digits(fraction) && (whole.is_empty() || is_digits(whole)) => {
            number(&format!("{}.{fraction}", if whole.is_empty() { "0" } else { whole }))
        }
        _ => None,
    };
    let as_thousands = is_grouped(&parts).then(|| number(&parts.concat())).flatten();
    match (as_thousands, as_decimals) {
        (Some(thousands), Some(decimals)) if !is_decimal => Reading::Ambiguous { thousands, decimals },
        (_, Some(decimals)) => Reading::Clear(decimals),
        (Some(thousands), None) => Reading::Clear(thousands),
        (None, None) => Reading::Unreadable,
    }
}

/// Returns the plain digits of a number with both separators: thousands in groups of three, then decimals.
fn grouped(digits: &str, thousands: char, point: char) -> Option<String> {
    let (whole, fraction) = digits.split_once(point)?;
    let parts: Vec<&str> = whole.split(thousands).collect();
    (is_grouped(&parts) && is_digits(fraction)).then(|| format!("{}.{fraction}", parts.concat()))
}

/// Whether parts are thousands: one to three digits that do not begin with zero, then groups of three.
fn is_grouped(parts: &[&str]) -> bool {
    let Some((first, rest)) = parts.split_first() else { return false };
    let is_first = is_digits(first) && first.len() <= 3 && !first.starts_with('0');
    is_first && rest.iter().all(|part| part.len() == 3 && is_digits(part))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clear(text: &str) -> Reading {
        Reading::Clear(text.parse().unwrap())
    }

    fn one_of(thousands: &str, decimals: &str) -> Reading {
        Reading::Ambiguous { thousands: thousands.parse().unwrap(), decimals: decimals.parse().unwrap() }
    }

    // withstands: F145
    #[test]
    fn a_number_is_read_where_it_means_one_thing_and_never_guessed() {
        for (text, expected) in [
            ("12", clear("12")),
            ("-2", clear("-2")),
            (" 12.5 ", clear("12.5")),
            ("12,5", clear("12.5")),
            ("1,99", clear("1.99")),
            ("1990,50", clear("1990.50")),
            ("1990.50", clear("1990.50")),
            ("1.990,00", clear("1990.00")),
            ("1,990.00", clear("1990.00")),
            ("1.234.567", clear("1234567")),
            ("1.234.567,8", clear("1234567.8")),
            ("1990.500", clear("1990.500")),
            ("0.500", clear("0.500")),
            ("0,125", clear("0.125")),
            (",5", clear("0.5")),
            ("1.990", one_of("1990", "1.990")),
            ("1,990", one_of("1990", "1.990")),
            ("-1.000", one_of("-1000", "-1.000")),
            ("", Reading::Unreadable),
            ("seis", Reading::Unreadable),
            ("1,2,3", Reading::Unreadable),
            ("1.23,4", Reading::Unreadable),
            ("1.2.3", Reading::Unreadable),
            ("1.", Reading::Unreadable),
            ("--1", Reading::Unreadable),
            ("NaN", Reading::Unreadable),
            ("1e5", Reading::Unreadable),
        ] {
            assert_eq!(read(text, Convention::Unknown), expected, "{text:?}");
        }
    }

    #[test]
    fn a_file_tells_which_separator_stands_before_decimals() {
        for (text, convention, expected) in [
            ("1.990", Convention::Point, clear("1.990")),
            ("1,990", Convention::Comma, clear("1.990")),
            ("1.990", Convention::Comma, one_of("1990", "1.990")),
            ("1,990", Convention::Point, one_of("1990", "1.990")),
        ] {
            assert_eq!(read(text, convention), expected, "{text:?} {convention:?}");
        }
    }
}
