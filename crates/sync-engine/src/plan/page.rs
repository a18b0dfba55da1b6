//! Decides which rows of a listing page need their detail, and when a part of the page is written before its end.

use std::collections::{HashMap, HashSet};

use espelho_api_client::ListedRow;
use espelho_store::Known;

/// What to do with a page's rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PagePlan {
    /// Rows whose detail must be read: new, changed in the listing, listed again after they were gone, or failed
    /// before.
    pub fetch: Vec<ListedRow>,
    /// The number of rows that are mirrored as they are listed.
    pub unchanged: usize,
}

/// Compares a page with the mirror. A row that the page lists twice counts once, as last listed; `deep` reads all rows.
pub fn plan_page(
    rows: &[ListedRow],
    known: &HashMap<String, Known>,
    earlier_failures: &HashSet<String>,
    deep: bool,
) -> PagePlan {
    let mut plan = PagePlan::default();
    let last: HashMap<&str, usize> =
        rows.iter().enumerate().map(|(at, row)| (row.key.as_str(), at)).collect();
    for (at, row) in rows.iter().enumerate() {
        if last[row.key.as_str()] != at {
            continue;
        }
        let same = known.get(&row.key).is_some_and(|k| k.listing_hash == row.hash && !k.gone);
        if same && !deep && !earlier_failures.contains(&row.key) {
            plan.unchanged += 1;
        } else {
            plan.fetch.push(row.clone());
        }
    }
    plan
}

/// Says whether to write the `read` rows of a page before its next row is requested. `at_once` requests are under way at
/// most, `room` rows may be held, and `left` rows are not requested yet.
pub fn is_piece_due(read: usize, at_once: usize, room: usize, left: usize) -> bool {
    left > 0 && read + at_once > room
}

#[cfg(test)]
mod tests {
    use espelho_model::ContentHash;

    use super::*;
    use espelho_api_client::RowState;

    fn row(key: &str, listing: &str) -> ListedRow {
        let hash = ContentHash::of(listing.as_bytes());
        ListedRow { key: key.into(), hash, text: String::new(), state: RowState::default() }
    }

    fn known(key: &str, listing: &str, gone: bool) -> (String, Known) {
        let listing_hash = ContentHash::of(listing.as_bytes());
        (key.into(), Known { listing_hash, content_hash: listing_hash, gone })
    }

    #[test]
    fn a_piece_is_written_where_the_next_row_would_find_no_room_and_not_for_the_last_rows() {
        for (read, at_once, room, left, expected) in [
            (16, 16, 32, 50, false),
            (17, 16, 32, 50, true),
            (17, 16, 32, 0, false),
            (84, 16, 100, 1, false),
            (85, 16, 100, 1, true),
            (1, 1, 1, 3, true),
            (1, 1, 1, 0, false),
        ] {
            assert_eq!(is_piece_due(read, at_once, room, left), expected, "{read} {at_once} {room} {left}");
        }
    }

    #[test]
    fn details_are_read_only_for_rows_that_are_new_different_back_or_failed() {
        let rows =
            [row("same", "1"), row("new", "1"), row("changed", "2"), row("back", "1"), row("failed", "1")];
        let known = [
            known("same", "1", false),
            known("changed", "1", false),
            known("back", "1", true),
            known("failed", "1", false),
        ];
        let plan = plan_page(&rows, &known.into(), &HashSet::from(["failed".to_owned()]), false);
        assert_eq!(plan.unchanged, 1);
        assert_eq!(
            plan.fetch.iter().map(|r| r.key.as_str()).collect::<Vec<_>>(),
            ["new", "changed", "back", "failed"]
        );
    }

    #[test]
    fn a_row_listed_twice_on_a_page_is_read_once() {
        let plan = plan_page(
            &[row("a", "1"), row("b", "1"), row("a", "2")],
            &HashMap::new(),
            &HashSet::new(),
            false,
        );
        assert_eq!(plan.fetch, [row("b", "1"), row("a", "2")]);
    }
}
