//! Decides about orders that failed because the marketplace lists them and denies their details.
//!
//! A sweep that lists them reads them again, page by page: a detail route that was behind, or away, for half an hour
//! leaves as many of them as have arrived meanwhile. The sweep for new orders searches the listing for the others, a
//! few at a time: one that is still listed is read again, and the failure of one that is listed no more ends. Neither
//! depends on the page where the listing shows it.

use espelho_api_client::{ListedRow, PageMeta};

use super::last_page::is_last_page;

/// The code of the failure of an order that a delivery reported and that was never found. A listing that shows it is
/// news.
pub const NEVER_FOUND: &str = "not_found";

/// Denied orders of one page of a listing that are read again at once: a whole page.
pub const LISTED_AT_ONCE: usize = 100;

/// Tells if a failure says that the marketplace denies a listed order: the message codes of its 404 end so.
pub fn is_denied(code: &str) -> bool {
    code.ends_with("NOT_FOUND")
}

/// The result of a search for an order in the listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Search {
    /// The listing shows it.
    Listed(ListedRow),
    /// The listing does not show it.
    Unlisted,
    /// The answer does not tell: it has rows that were not searched for, or further pages.
    Unclear,
}

/// Looks for an order among the rows of the first page of a search for its number.
pub fn search(number: &str, rows: Vec<ListedRow>, meta: &PageMeta) -> Search {
    // A number may be a part of others.
    let is_filtered = rows.iter().all(|row| row.key.contains(number));
    let is_whole = is_last_page(1, rows.len(), meta);
    match rows.into_iter().rfind(|row| row.key == number) {
        Some(row) => Search::Listed(row),
        None if is_filtered && is_whole => Search::Unlisted,
        None => Search::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::ContentHash;

    use super::*;

    fn row(key: &str) -> ListedRow {
        ListedRow { key: key.into(), hash: ContentHash::from_i64(9), text: "{}".into(), has_status: true }
    }

    #[test]
    fn only_the_marketplaces_own_words_for_a_missing_order_say_that_it_is_denied() {
        for (code, expected) in [
            ("NOT_FOUND", true),
            ("ORDER_NOT_FOUND", true),
            (NEVER_FOUND, false),
            ("http_404", false),
            ("unexpected", false),
        ] {
            assert_eq!(is_denied(code), expected, "{code}");
        }
    }

    #[test]
    fn an_order_is_listed_no_more_only_if_the_search_was_answered_and_does_not_show_it() {
        let whole =
            |total| PageMeta { page: Some(1), last_page: Some(1), total: Some(total), ..PageMeta::default() };
        let cut = PageMeta { page: Some(1), last_page: Some(2), total: Some(130), ..PageMeta::default() };
        for (keys, meta, expected, why) in [
            (&["19"][..], whole(1), Search::Listed(row("19")), "it is there"),
            (&["190", "19"], whole(2), Search::Listed(row("19")), "beside another one"),
            (&["19", "7"], cut, Search::Listed(row("19")), "the search was ignored, and it is there"),
            (&[], whole(0), Search::Unlisted, "nothing is there"),
            (&["190", "219"], whole(2), Search::Unlisted, "only numbers that contain it"),
            (&["190"], cut, Search::Unclear, "it may be on the next page"),
            (&["7", "8"], whole(2), Search::Unclear, "the search was ignored"),
        ] {
            assert_eq!(search("19", keys.iter().map(|key| row(key)).collect(), &meta), expected, "{why}");
        }
    }
}
