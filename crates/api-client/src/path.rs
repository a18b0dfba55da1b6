//! Encodes external text as URL path segments.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Encodes everything but RFC 3986's unreserved characters.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Encodes one path segment, so that no identifier can reach another route.
///
/// A segment made only of dots is encoded too, because URL parsers would otherwise walk up the path. An empty segment
/// is encoded like a single dot, because the path without it would be that of the listing.
pub(crate) fn segment(text: &str) -> String {
    if text.bytes().all(|b| b == b'.') {
        // A URL parser treats even `%2E%2E` as a parent directory, so the percent sign is encoded as well.
        return "%252E".repeat(text.len().max(1));
    }
    parameter(text)
}

/// Encodes a query parameter's name or value.
pub(crate) fn parameter(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{parameter, segment};

    proptest! {
        #[test]
        fn an_identifier_never_leaves_its_segment(id in any::<String>()) {
            let url = reqwest::Url::parse("https://m.example/api/v1/sellers/orders/").unwrap();
            let url = url.join(&format!("./{}/events", segment(&id))).unwrap();
            let segments: Vec<_> = url.path_segments().unwrap().collect();
            prop_assert_eq!(segments.len(), 6);
            prop_assert_eq!(&segments[..4], &["api", "v1", "sellers", "orders"]);
            prop_assert_eq!(segments[5], "events");
            prop_assert!(url.query().is_none() && url.fragment().is_none());
        }
    }

    #[test]
    fn dots_slashes_and_question_marks_stay_data() {
        assert_eq!(segment("MP-1234.5_6~7"), "MP-1234.5_6~7");
        assert_eq!(segment("a/b?c#d"), "a%2Fb%3Fc%23d");
        assert_eq!(segment(".."), "%252E%252E");
        assert_eq!(segment(""), "%252E");
        assert_eq!(parameter(".."), "..");
    }
}
