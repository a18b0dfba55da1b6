//! Decides whether a page of a listing is its last.

use espelho_api_client::PageMeta;

/// Whether the listing ends with this page, as far as the server reports; an empty page ends it in any case.
pub fn is_last_page(page: u64, rows: usize, meta: &PageMeta) -> bool {
    rows == 0
        || meta.has_next == Some(false)
        || meta.last_page.is_some_and(|last| last > 0 && page >= last)
        || meta.has_next.is_none()
            && meta.last_page.is_none()
            && meta.total.is_some_and(|total| total <= rows as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

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
