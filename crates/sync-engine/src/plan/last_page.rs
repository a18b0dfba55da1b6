//! Decides whether a page of a listing is its last.

use espelho_api_client::{Error as ApiError, PageMeta};

/// Whether the listing ends with this page, as far as the server reports; an empty page ends it in any case.
pub fn is_last_page(page: u64, rows: usize, meta: &PageMeta) -> bool {
    rows == 0
        || meta.has_next == Some(false)
        || meta.last_page.is_some_and(|last| last > 0 && page >= last)
        || meta.has_next.is_none()
            && meta.last_page.is_none()
            && meta.total.is_some_and(|total| total <= rows as u64)
}

/// Whether a refusal means that a page is beyond the last one: some servers answer so. A proxy's page is no end.
pub fn is_beyond_the_end(page: u64, error: &ApiError) -> bool {
    page > 1 && (error.is_absent() || matches!(error, ApiError::Refused { status: 416, .. }))
}

#[cfg(test)]
mod tests {
    use espelho_api_client::error::Refusal;

    use super::*;

    #[test]
    fn only_the_marketplaces_own_404_and_a_416_are_beyond_the_end_and_never_on_the_first_page() {
        for (page, status, code, expected) in [
            (2, 404, "NOT_FOUND", true),
            (2, 416, "", true),
            (900, 404, "NOT_FOUND", true),
            (1, 404, "NOT_FOUND", false),
            (1, 416, "", false),
            (2, 404, "", false),
            (2, 410, "NOT_FOUND", true),
            (2, 410, "", false),
            (2, 400, "", false),
            (2, 403, "FORBIDDEN", false),
            (2, 503, "", false),
        ] {
            let refusal = Box::new(Refusal { message_code: code.to_owned(), ..Refusal::default() });
            let error =
                ApiError::Refused { request: "GET /x".into(), read: true, status, refusal, after: None };
            assert_eq!(is_beyond_the_end(page, &error), expected, "page {page}: {status} {code}");
        }
    }

    #[test]
    fn a_listing_ends_where_the_server_says_so_or_where_nothing_comes() {
        let check = |page, rows, meta: PageMeta, expected| {
            assert_eq!(is_last_page(page, rows, &meta), expected, "{meta:?}");
        };
        let none = PageMeta::default();
        check(1, 0, PageMeta { has_next: Some(true), ..none }, true);
        check(1, 100, none, false);
        check(1, 100, PageMeta { has_next: Some(false), ..none }, true);
        check(3, 100, PageMeta { last_page: Some(3), ..none }, true);
        check(2, 100, PageMeta { last_page: Some(3), ..none }, false);
        check(1, 100, PageMeta { last_page: Some(0), ..none }, false);
        check(1, 7, PageMeta { total: Some(7), ..none }, true);
        check(1, 7, PageMeta { total: Some(8), ..none }, false);
    }
}
