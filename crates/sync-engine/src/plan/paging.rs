//! Walking through a listing page by page: when to go on, when it is over, and when the server leads us
//! in circles. The rows are trusted before what the server says about them.

use std::collections::HashSet;

use espelho_api_client::PageMeta;
use espelho_model::ContentHash;
use espelho_store::KeptPage;

/// Pages without a new row that are accepted in a row: rows that shift back make one or two.
const IDLE_PAGES: u32 = 3;
/// Times that a listing is read from its first page before what is missing counts as missing.
const SWEEPS: u32 = 3;
/// Page sizes that servers cut to. A first page of such a length, without pagination, may be cut; of any
/// other length it is the whole listing.
const USUAL_SIZES: [usize; 10] = [10, 15, 20, 25, 30, 40, 50, 100, 200, 250];

/// What to do after a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Read this page next.
    Read(u64),
    /// The listing was read to its end.
    Finished,
}

/// Why a listing cannot be walked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stuck {
    /// A later page is the first one, or the one before it, once more.
    #[error("the marketplace ignores the page parameter: page {page} is page {same_as} again")]
    IgnoresPage {
        /// The page asked for.
        page: u64,
        /// The page that it repeats.
        same_as: u64,
    },
    /// Page after page brings nothing new.
    #[error("the listing does not end: pages up to {page} repeat rows of earlier ones")]
    NoProgress {
        /// The page reached.
        page: u64,
    },
}

/// The state of a walk.
#[derive(Clone, Debug)]
pub struct Pager {
    /// Rows that were asked for with each page.
    limit: usize,
    seen: HashSet<ContentHash>,
    first: Vec<ContentHash>,
    previous: Vec<ContentHash>,
    first_total: Option<u64>,
    total: Option<u64>,
    idle: u32,
    sweep: u32,
    /// Whether this sweep only looks for rows that came in at the front meanwhile.
    only_head: bool,
}

impl Pager {
    /// A walk that asks for `limit` rows a page.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            seen: HashSet::new(),
            first: Vec::new(),
            previous: Vec::new(),
            first_total: None,
            total: None,
            idle: 0,
            sweep: 1,
            only_head: false,
        }
    }

    /// A walk that was interrupted after these pages, and the page to read next.
    pub fn resumed(limit: usize, pages: &[KeptPage]) -> (Self, u64) {
        let mut pager = Self::new(limit);
        let mut next = 1;
        for kept in pages {
            let meta = PageMeta { total: kept.total, ..PageMeta::default() };
            pager.note(kept.page, &kept.keys, meta);
            next = kept.page + 1;
        }
        (pager, next)
    }

    /// Rows seen so far, each once.
    pub fn seen(&self) -> u64 {
        self.seen.len() as u64
    }

    /// Whether a row was seen.
    pub fn has_seen(&self, key: ContentHash) -> bool {
        self.seen.contains(&key)
    }

    /// Rows that the server says there are.
    pub fn total(&self) -> Option<u64> {
        self.total
    }

    /// Whether every row that the server says there is was seen.
    pub fn is_whole(&self) -> bool {
        self.total.is_none_or(|total| self.seen() >= total)
    }

    /// Takes in a page and says what to do next.
    ///
    /// # Errors
    /// When the server does not page.
    pub fn after(&mut self, page: u64, keys: &[ContentHash], meta: PageMeta) -> Result<Step, Stuck> {
        self.refuse_repetition(page, keys)?;
        let fresh = self.note(page, keys, meta);
        self.idle = if fresh > 0 || keys.is_empty() { 0 } else { self.idle + 1 };
        if self.only_head && fresh == 0 {
            return Ok(Step::Finished);
        }
        if self.sweep == 1 && self.idle >= IDLE_PAGES {
            return Err(Stuck::NoProgress { page });
        }
        if !self.is_last(page, keys.len(), meta) {
            return Ok(Step::Read(page + 1));
        }
        Ok(self.at_the_end())
    }

    /// A repeated page is a server that does not page; the same few rows on page 2 of a busy listing are not
    /// possible, because a page that only shifts keeps at least its order and loses or gains a row.
    fn refuse_repetition(&self, page: u64, keys: &[ContentHash]) -> Result<(), Stuck> {
        if page < 2 || keys.is_empty() {
            return Ok(());
        }
        if keys == self.first {
            return Err(Stuck::IgnoresPage { page, same_as: 1 });
        }
        if keys == self.previous {
            return Err(Stuck::IgnoresPage { page, same_as: page - 1 });
        }
        Ok(())
    }

    fn note(&mut self, page: u64, keys: &[ContentHash], meta: PageMeta) -> usize {
        let before = self.seen.len();
        self.seen.extend(keys);
        if page == 1 {
            if !self.first.is_empty() {
                self.sweep += 1;
            }
            self.first = keys.to_vec();
            self.first_total = self.first_total.or(meta.total);
        }
        self.previous = keys.to_vec();
        self.total = meta.total.or(self.total);
        self.seen.len() - before
    }

    fn is_last(&self, page: u64, rows: usize, meta: PageMeta) -> bool {
        if rows == 0 {
            return true;
        }
        if let Some(more) = meta.has_next {
            return !more;
        }
        match (meta.last_page, meta.total) {
            (Some(last), _) if last > page => false,
            // "This is the last page" is believed unless the server's own total says otherwise.
            (Some(last), total) if last == page => {
                total.is_none_or(|t| self.sweep > 1 || self.seen() >= t || rows < self.limit)
            }
            (_, Some(total)) => self.seen() >= total,
            (_, None) if page == 1 => rows < self.limit && !USUAL_SIZES.contains(&rows),
            (_, None) => rows < self.first.len(),
        }
    }

    /// The listing's end was reached: look again where rows may have slipped past while it was read.
    fn at_the_end(&mut self) -> Step {
        let rows_missing = !self.is_whole();
        let rows_arrived = self.total > self.first_total;
        if rows_missing && self.sweep < SWEEPS {
            self.only_head = false;
            return Step::Read(1);
        }
        if rows_arrived && self.sweep == 1 {
            self.only_head = true;
            return Step::Read(1);
        }
        Step::Finished
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(range: std::ops::Range<u64>) -> Vec<ContentHash> {
        range.map(|n| ContentHash::of(&n.to_le_bytes())).collect()
    }

    fn meta(page: u64, last: u64, total: u64) -> PageMeta {
        PageMeta { page: Some(page), last_page: Some(last), total: Some(total), ..PageMeta::default() }
    }

    #[test]
    fn the_last_page_is_believed_so_that_no_request_is_wasted() {
        let mut pager = Pager::new(10);
        assert_eq!(pager.after(1, &keys(0..10), meta(1, 2, 20)), Ok(Step::Read(2)));
        assert_eq!(pager.after(2, &keys(10..20), meta(2, 2, 20)), Ok(Step::Finished));
        assert!(pager.is_whole());
    }

    #[test]
    fn a_server_that_ignores_the_page_is_found_out_on_page_two() {
        let mut pager = Pager::new(10);
        assert_eq!(pager.after(1, &keys(0..10), meta(1, 9, 90)), Ok(Step::Read(2)));
        assert_eq!(
            pager.after(2, &keys(0..10), meta(1, 9, 90)),
            Err(Stuck::IgnoresPage { page: 2, same_as: 1 })
        );
    }

    #[test]
    fn a_server_that_repeats_its_last_page_for_ever_is_found_out() {
        let mut pager = Pager::new(10);
        let unsaid = PageMeta::default();
        assert_eq!(pager.after(1, &keys(0..10), unsaid), Ok(Step::Read(2)));
        assert_eq!(pager.after(2, &keys(10..20), unsaid), Ok(Step::Read(3)));
        assert_eq!(pager.after(3, &keys(10..20), unsaid), Err(Stuck::IgnoresPage { page: 3, same_as: 2 }));
    }

    #[test]
    fn without_pagination_a_short_page_ends_the_listing_and_a_usual_size_does_not() {
        let unsaid = PageMeta::default();
        assert_eq!(Pager::new(100).after(1, &keys(0..7), unsaid), Ok(Step::Finished));
        let mut cut_to_twenty = Pager::new(100);
        assert_eq!(cut_to_twenty.after(1, &keys(0..20), unsaid), Ok(Step::Read(2)));
        assert_eq!(cut_to_twenty.after(2, &keys(20..33), unsaid), Ok(Step::Finished));
        assert_eq!(Pager::new(100).after(1, &[], unsaid), Ok(Step::Finished));
    }

    #[test]
    fn rows_are_trusted_before_an_inconsistent_last_page() {
        let mut pager = Pager::new(10);
        assert_eq!(pager.after(1, &keys(0..10), meta(1, 0, 15)), Ok(Step::Read(2)));
        assert_eq!(pager.after(2, &keys(10..15), meta(2, 0, 15)), Ok(Step::Finished));
        let mut stops_short = Pager::new(10);
        assert_eq!(stops_short.after(1, &keys(0..10), meta(1, 1, 15)), Ok(Step::Read(2)));
    }

    #[test]
    fn a_walk_resumes_where_its_pages_end() {
        let kept = |step, page, range| KeptPage {
            step,
            page,
            total: Some(30),
            counts: Default::default(),
            keys: keys(range),
        };
        let (mut pager, next) = Pager::resumed(10, &[kept(1, 1, 0..10), kept(2, 2, 10..20)]);
        assert_eq!((next, pager.seen()), (3, 20));
        assert_eq!(pager.after(3, &keys(20..30), meta(3, 3, 30)), Ok(Step::Finished));
        assert!(pager.has_seen(keys(5..6)[0]));
    }

    /// A listing that changes while it is read: before each page some rows arrive at the front, or leave.
    fn walk(newest_first: bool, size: usize, start: u64, events: &[(u8, u64)]) -> (Pager, Vec<u64>) {
        let mut rows: Vec<u64> = (0..start).collect();
        let (mut next_id, mut pager, mut page) = (start, Pager::new(size), 1);
        let mut events = events.iter().copied().chain(std::iter::repeat((0, 0)));
        for _ in 0..10_000 {
            let listed: Vec<u64> =
                if newest_first { rows.iter().rev().copied().collect() } else { rows.clone() };
            let from = (page as usize - 1) * size;
            let keys: Vec<_> =
                listed.iter().skip(from).take(size).map(|n| ContentHash::of(&n.to_le_bytes())).collect();
            let last = (listed.len() as u64).div_ceil(size as u64).max(1);
            match pager.after(page, &keys, meta(page, last, listed.len() as u64)) {
                Ok(Step::Read(next)) => page = next,
                Ok(Step::Finished) => return (pager, rows),
                Err(stuck) => panic!("{stuck}"),
            }
            match events.next() {
                Some((0, _)) | None => (),
                Some((1, n)) => (0..n).for_each(|_| {
                    rows.push(next_id);
                    next_id += 1;
                }),
                Some((_, n)) => drop(rows.remove(n as usize % rows.len())),
            }
        }
        panic!("the walk does not end");
    }

    proptest! {
        #[test]
        fn arrivals_while_paging_lose_no_row(
            newest_first: bool, size in 2usize..8, start in 1u64..60,
            arrivals in prop::collection::vec((0u8..2, 1u64..5), 0..12),
        ) {
            let (pager, rows) = walk(newest_first, size, start, &arrivals);
            for row in rows {
                prop_assert!(pager.has_seen(ContentHash::of(&row.to_le_bytes())), "row {} was lost", row);
            }
        }

        #[test]
        fn departures_while_paging_lose_no_row_or_are_noticed(
            newest_first: bool, size in 2usize..8, start in 20u64..60,
            departures in prop::collection::vec((2u8..3, 0u64..60), 0..6),
        ) {
            let (pager, rows) = walk(newest_first, size, start, &departures);
            let lost = rows.iter().filter(|row| !pager.has_seen(ContentHash::of(&row.to_le_bytes()))).count();
            prop_assert!(lost == 0 || !pager.is_whole() || pager.seen() > rows.len() as u64, "{} rows lost unnoticed", lost);
        }
    }
}
