//! Decides about orders that failed because the marketplace lists them and denies their details.
//!
//! A sweep that lists them reads them again, page by page: a detail route that was behind, or away, for half an hour
//! leaves as many of them as have arrived meanwhile. The sweep for new orders searches the listing for the others, a
//! few at a time: one that is still listed is read again, and the failure of one that is listed no more ends. Neither
//! depends on the page where the listing shows it.
//!
//! A listing of ever new orders whose details are denied must not take the budget: after some denials in a row, only a
//! few of the orders that the mirror does not have are read for each sweep, until one of them is answered
//! ([`DenialStreak`]). The next sweep finds the others again, and what a delivery reports is read as ever.

use espelho_api_client::{ListedRow, PageMeta};

use super::last_page::is_last_page;

/// The code of the failure of an order that a delivery reported and that was never found. A listing that shows it is
/// news.
pub const NEVER_FOUND: &str = "not_found";

/// Denied orders of one page of a listing that are read again at once: a whole page.
pub const LISTED_AT_ONCE: usize = 100;

/// So many denials of listed orders in a row, and the marketplace seems to deny all that it lists.
const DENIED_IN_A_ROW: u32 = 20;
/// Orders that are read for each sweep for orders even then: the first that is answered ends it.
const PROBES: u32 = 5;

/// The denials of listed orders since one that the mirror did not have was answered.
#[derive(Debug, Default)]
pub struct DenialStreak {
    /// The denials in a row.
    denied: u32,
    /// Those among them of orders that are new: the mirror does not have them, and no denial is on record.
    new: u32,
    /// The probes since the last sweep for orders began.
    probes: u32,
    /// True if an order was left unread since then.
    has_left: bool,
}

/// The decision about an order that a listing shows and the mirror does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is read.
    Read,
    /// It is left to the next sweep.
    Leave {
        /// True for the first one since the last sweep began.
        is_first: bool,
    },
}

impl DenialStreak {
    /// Allows further probes: a sweep for orders begins.
    pub fn begin_sweep(&mut self) {
        (self.probes, self.has_left) = (0, false);
    }

    /// Decides about the next order that the mirror does not have.
    pub fn admit(&mut self) -> Admission {
        if !self.is_long() {
            return Admission::Read;
        }
        if self.probes < PROBES {
            self.probes += 1;
            return Admission::Read;
        }
        Admission::Leave { is_first: !std::mem::replace(&mut self.has_left, true) }
    }

    /// Records the denial of a listed order; `is_new` says that the mirror does not have it, and no denial is on record.
    pub fn denied(&mut self, is_new: bool) {
        self.denied = self.denied.saturating_add(1);
        self.new = self.new.saturating_add(u32::from(is_new));
    }

    /// Records that an order was answered that the mirror did not have.
    pub fn answered(&mut self) {
        (self.denied, self.new) = (0, 0);
    }

    /// Tells if the marketplace seems to deny each new order that it lists, and none is only listed before its detail is
    /// there. Orders on record are denied again and again, and say nothing of a new one.
    pub fn denies_new(&self) -> bool {
        self.new >= DENIED_IN_A_ROW
    }

    fn is_long(&self) -> bool {
        self.denied >= DENIED_IN_A_ROW
    }
}

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
    use std::ops::Range;

    use espelho_model::ContentHash;

    use super::*;
    use espelho_api_client::RowState;

    fn row(key: &str) -> ListedRow {
        ListedRow {
            key: key.into(),
            hash: ContentHash::from_i64(9),
            text: String::new(),
            state: RowState::default(),
        }
    }

    #[test]
    fn after_denials_in_a_row_a_few_orders_are_read_for_each_sweep_until_one_is_answered() {
        const NONE: Range<u32> = 0..0;
        const ALL: u32 = u32::MAX;
        // Each of three sweeps lists so many new orders. The readings with these numbers are answered, the others denied.
        for (listed, answered, expected, why) in [
            (19, NONE, [19, 6, 5], "so many may be denied, and one more"),
            (20, NONE, [20, 5, 5], "then five for each sweep"),
            (2_000, NONE, [25, 5, 5], "however many are listed"),
            (2_000, 29..30, [25, 25, 5], "an answer among denials begins the count anew"),
            (2_000, 27..ALL, [25, 2_000, 2_000], "the first answer ends it"),
            (2_000, 1..ALL, [2_000, 2_000, 2_000], "all are answered"),
        ] {
            let (mut streak, mut reads) = (DenialStreak::default(), 0);
            let mut sweep = || {
                streak.begin_sweep();
                let before = reads;
                for _ in 0..listed {
                    if streak.admit() == Admission::Read {
                        reads += 1;
                        match answered.contains(&reads) {
                            true => streak.answered(),
                            false => streak.denied(true),
                        }
                    }
                }
                reads - before
            };
            assert_eq!([sweep(), sweep(), sweep()], expected, "{listed}: {why}");
        }
    }

    #[test]
    fn orders_on_record_bound_what_is_read_and_do_not_say_that_a_new_order_is_denied_for_good() {
        for (new, on_record, expected, why) in [
            (0, 19, (false, false), "a few are denied"),
            (0, 2_000, (true, false), "a parent store is denied the orders of its substores, day after day"),
            (19, 2_000, (true, false), "a few new ones are denied too"),
            (20, 0, (true, true), "all that is new is denied"),
        ] {
            let mut streak = DenialStreak::default();
            (0..new).for_each(|_| streak.denied(true));
            (0..on_record).for_each(|_| streak.denied(false));
            assert_eq!((streak.is_long(), streak.denies_new()), expected, "{why}");
            streak.answered();
            assert_eq!((streak.is_long(), streak.denies_new()), (false, false), "{why}; and one is answered");
        }
    }

    #[test]
    fn only_the_first_order_that_a_sweep_leaves_is_told() {
        let mut streak = DenialStreak::default();
        (0..DENIED_IN_A_ROW).for_each(|_| streak.denied(false));
        for _ in 0..2 {
            streak.begin_sweep();
            let probes: Vec<Admission> = (0..PROBES).map(|_| streak.admit()).collect();
            assert!(probes.iter().all(|admission| *admission == Admission::Read), "{probes:?}");
            for is_first in [true, false, false] {
                assert_eq!(streak.admit(), Admission::Leave { is_first });
            }
        }
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
