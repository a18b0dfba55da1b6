//! Query strings: pairs decoded, and the checks that several routes share.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use crate::refusal::FieldErrors;

/// The pairs of a query string. A pair with an empty value is left out: the marketplace treats it as absent.
pub(crate) fn pairs(query: &str) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    query.split('&').filter_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        (!value.is_empty()).then(|| (decode(key), decode(value)))
    })
}

fn decode(text: &str) -> Cow<'_, str> {
    if text.contains('+') {
        let spaced = text.replace('+', " ");
        return Cow::Owned(percent_decode_str(&spaced).decode_utf8_lossy().into_owned());
    }
    if text.contains('%') {
        return percent_decode_str(text).decode_utf8_lossy();
    }
    Cow::Borrowed(text)
}

/// Which page of a listing is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    /// From 1.
    pub(crate) number: usize,
    /// Rows a page.
    pub(crate) size: usize,
}

impl Page {
    /// The part of `total` rows that this page holds.
    pub(crate) fn range(self, total: usize) -> std::ops::Range<usize> {
        let start = self.number.saturating_sub(1).saturating_mul(self.size).min(total);
        start..start.saturating_add(self.size).min(total)
    }
}

/// Reads a whole number from 1 to `max`, or notes what is wrong with it.
pub(crate) fn whole(name: &'static str, text: &str, max: usize, errors: &mut FieldErrors) -> Option<usize> {
    let problem = match text.parse::<usize>() {
        Ok(0) => "deve ser no mínimo 1".to_owned(),
        Ok(value) if value > max => format!("não pode ser superior a {max}"),
        Ok(value) => return Some(value),
        Err(_) => "deve ser um número inteiro".to_owned(),
    };
    errors.add(name, format!("O campo {name} {problem}."));
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_decoded_and_empty_values_dropped() {
        let found: Vec<_> = pairs("search=Jo%C3%A3o+D%27&status=&page=2").collect();
        assert_eq!(found, [("search".into(), "João D'".into()), ("page".into(), "2".into())]);
    }

    #[test]
    fn a_page_beyond_the_end_is_empty() {
        assert_eq!(Page { number: 2, size: 20 }.range(30), 20..30);
        assert_eq!(Page { number: 9, size: 20 }.range(30), 30..30);
    }
}
