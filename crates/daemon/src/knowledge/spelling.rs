//! The ways in which people write what they look for: a number without its zeros, a SKU in small letters, a fiscal
//! document's number, a part of a product's name. Pure.

use espelho_model::text::folded;
use espelho_store::Spellings;

/// The digits of the longest order number that is tried with zeros before it.
const ORDER_DIGITS: usize = 16;
/// The digits of a fiscal document's number.
const INVOICE_DIGITS: usize = 9;
/// A part of a name that is shorter is in too many names.
const SHORTEST_NAME: usize = 3;

/// Returns the spellings to try for what somebody has written.
pub(crate) fn spellings(asked: &str) -> Spellings {
    let bare = asked.trim().trim_start_matches('#').trim();
    let number = bare.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut spellings = Spellings { lower: bare.to_lowercase(), ..Spellings::default() };
    if bare.is_empty() {
        return spellings;
    }
    spellings.orders = match is_number(bare) {
        true => padded(bare, ORDER_DIGITS),
        false => distinct([bare.to_owned(), bare.to_uppercase(), bare.to_lowercase()]),
    };
    if is_number(bare) || (is_number(number) && is_invoice(&bare[..bare.len() - number.len()])) {
        spellings.invoices = padded(number, INVOICE_DIGITS);
    }
    spellings.skus = distinct([bare.to_owned(), bare.to_uppercase(), bare.to_lowercase()]);
    if bare.chars().count() >= SHORTEST_NAME {
        spellings.name = pattern(bare);
    }
    spellings
}

/// Tells whether people write this before the number of a fiscal document.
fn is_invoice(before: &str) -> bool {
    let letters: String = before.chars().filter(|letter| letter.is_alphabetic()).collect();
    matches!(letters.to_lowercase().as_str(), "nf" | "nfe" | "nota")
}

/// Returns a number as it is, without zeros before it, and with so many that it has each length up to `digits`.
fn padded(number: &str, digits: usize) -> Vec<String> {
    let significant = number.trim_start_matches('0');
    let widths = significant.len().max(1)..=digits;
    let with_zeros = widths.map(|width| format!("{significant:0>width$}"));
    distinct([number.to_owned()].into_iter().chain(with_zeros))
}

fn distinct(all: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for one in all {
        if !one.is_empty() && !kept.contains(&one) {
            kept.push(one);
        }
    }
    kept
}

/// Returns a pattern of `LIKE` for a name in small letters without accents that has these words in this order. Any other
/// letter that is not ASCII's stands for any.
fn pattern(words: &str) -> String {
    let mut pattern = String::from("%");
    for word in words.split_whitespace() {
        for letter in folded(word).chars() {
            match letter {
                '%' | '_' | '!' => pattern.extend(['!', letter]),
                letter if letter.is_ascii() => pattern.push(letter),
                _ => pattern.push('_'),
            }
        }
        pattern.push('%');
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_tried_with_and_without_zeros() {
        let of = spellings("#123");
        assert!(
            ["123", "0123", "000123", "0000000000000123"]
                .iter()
                .all(|n| of.orders.contains(&(*n).to_owned()))
        );
        assert!(of.orders.len() <= ORDER_DIGITS + 1 && of.invoices.contains(&"000000123".to_owned()));
        assert!(spellings("000123").orders.contains(&"123".to_owned()));
        for (asked, has_invoices) in
            [("NF-e 77", true), ("nfe77", true), ("nota 77", true), ("CAN-77", false)]
        {
            assert_eq!(spellings(asked).invoices.contains(&"77".to_owned()), has_invoices, "{asked}");
        }
        assert_eq!(spellings("0").orders.first().map(String::as_str), Some("0"));
        assert_eq!(spellings(" # "), Spellings::default());
    }

    #[test]
    fn letters_are_tried_in_both_sizes_and_names_by_their_words() {
        assert_eq!(spellings("can-01").skus, ["can-01", "CAN-01"]);
        for (asked, expected) in [
            ("Caneta  AZUL", "%caneta%azul%"),
            ("são", "%sao%"),
            ("relógio ñ", "%relogio%_%"),
            ("100%", "%100!%%"),
            ("ab", ""),
        ] {
            assert_eq!(spellings(asked).name, expected, "{asked}");
        }
    }
}
