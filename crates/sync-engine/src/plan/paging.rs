//! A walk through a listing page by page: decides when to go on, when the listing ends, and when the server goes in
//! circles. The rows count for more than what the server says about them.

use espelho_api_client::PageMeta;
use espelho_model::{ContentHash, text, text::Text};
use espelho_store::KeptPage;

use super::seen_keys::SeenKeys;

/// Pages without a new row that are accepted in a row: rows that shift back cause one or two.
const IDLE_PAGES: u32 = 3;
/// The same while rows arrive at the front: each arrival shifts all pages.
const IDLE_PAGES_WHILE_GROWING: u32 = 100;
/// Pages on which no row has a readable key that are accepted before the next new row.
const NAMELESS_PAGES: u32 = 5;
/// How often a listing is read from end to end before missing rows count as missing.
const FULL_SWEEPS: u32 = 3;
/// How often its first pages are read again for rows that arrived meanwhile.
const HEAD_SWEEPS: u32 = 20;
/// Page sizes that servers cut to. Where the server says nothing about pagination and page 2 repeats page 1, a page of
/// such a length may be the beginning of a longer listing; one of any other length is an unpaged listing.
const USUAL_SIZES: [usize; 10] = [10, 15, 20, 25, 30, 40, 50, 100, 200, 250];

/// What to do after a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Read this page next.
    Read(u64),
    /// The listing was read to its end.
    Finished,
}

/// The reason why a listing cannot be walked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stuck {
    /// A later page repeats the first one, or the one before it.
    #[error("the marketplace ignores the page parameter: page {page} is page {same_as} again")]
    IgnoresPage {
        /// The page asked for.
        page: u64,
        /// The page that it repeats.
        same_as: u64,
    },
    /// Page after page brings nothing new, or no row that can be named.
    #[error("the listing does not end: pages up to {page} repeat rows of earlier ones")]
    NoProgress {
        /// The page reached.
        page: u64,
    },
}

impl Stuck {
    /// Returns the message for people.
    pub fn text(&self) -> Text {
        match self {
            Self::IgnoresPage { page, same_as } => {
                text!("run-ignores-page", page = *page, same = *same_as)
            }
            Self::NoProgress { page } => text!("run-no-progress", page = *page),
        }
    }
}

/// The state of a walk.
#[derive(Clone, Debug)]
pub struct Pager {
    /// Rows that are requested with each page.
    limit: usize,
    seen: SeenKeys,
    first: Vec<ContentHash>,
    /// Rows on the first page: the size of a full page where the server does not say it.
    first_received: usize,
    previous: Vec<ContentHash>,
    /// Rows that the server reported when this sweep began.
    sweep_total: Option<u64>,
    total: Option<u64>,
    idle: u32,
    /// Pages without a readable key since the last new row.
    nameless: u32,
    /// The highest page of the first sweep.
    highest: u64,
    full_sweeps: u32,
    head_sweeps: u32,
    /// Whether this sweep only reads rows that arrived at the front meanwhile.
    only_head: bool,
    /// Whether rows left the listing during the last full sweep, so that others may have slipped past.
    shrinking: bool,
}

impl Pager {
    /// Creates a walk that requests `limit` rows a page.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            seen: SeenKeys::default(),
            first: Vec::new(),
            first_received: 0,
            previous: Vec::new(),
            sweep_total: None,
            total: None,
            idle: 0,
            nameless: 0,
            highest: 0,
            full_sweeps: 1,
            head_sweeps: 0,
            only_head: false,
            shrinking: false,
        }
    }

    /// Restores an interrupted walk, one page of it after the other. Returns the next step, should this be the last of
    /// its pages.
    pub fn resume(&mut self, kept: &KeptPage) -> Step {
        if kept.page == 1 && !self.previous.is_empty() {
            self.full_sweeps += 1;
        }
        let meta = PageMeta { total: kept.total, ..PageMeta::default() };
        self.note(kept.page, &kept.keys, meta);
        if kept.last { Step::Finished } else { Step::Read(kept.page + 1) }
    }

    /// Returns the number of rows seen so far, each counted once.
    pub fn seen(&self) -> u64 {
        self.seen.len() as u64
    }

    /// Says whether a row was seen.
    pub fn has_seen(&self, key: ContentHash) -> bool {
        self.seen.contains(key)
    }

    /// Returns the number of rows that the server reports.
    pub fn total(&self) -> Option<u64> {
        self.total
    }

    /// Says whether every row that the server reports was seen.
    pub fn is_whole(&self) -> bool {
        !self.shrinking && self.total.is_none_or(|total| self.seen() >= total)
    }

    /// Takes in a page and returns the next step. `received` counts its rows, those without a readable key included.
    ///
    /// # Errors
    /// When the server does not page.
    pub fn after(
        &mut self,
        page: u64,
        keys: &[ContentHash],
        received: usize,
        meta: PageMeta,
    ) -> Result<Step, Stuck> {
        if let Some(same_as) = self.repeats(page, keys, meta) {
            let unpaged = page == 2 && meta == PageMeta::default() && !USUAL_SIZES.contains(&received);
            return if unpaged { Ok(Step::Finished) } else { Err(Stuck::IgnoresPage { page, same_as }) };
        }
        let fresh = self.note(page, keys, meta);
        if page == 1 {
            self.first_received = received;
        }
        self.count_idle(fresh, keys.len(), received);
        if self.only_head && fresh == 0 {
            return Ok(self.at_the_end());
        }
        let patience = if self.total > self.sweep_total { IDLE_PAGES_WHILE_GROWING } else { IDLE_PAGES };
        let is_first_sweep = self.full_sweeps == 1 && !self.only_head;
        if is_first_sweep && (self.idle >= patience || self.nameless >= NAMELESS_PAGES) {
            return Err(Stuck::NoProgress { page });
        }
        if !is_first_sweep && fresh == 0 && page >= self.furthest() + u64::from(patience) {
            return Ok(self.at_the_end());
        }
        if !self.is_last(page, received, meta) {
            return Ok(Step::Read(page + 1));
        }
        Ok(self.at_the_end())
    }

    /// Returns the page that a later sweep reads little beyond: the highest of the first sweep, or the one to which the rows
    /// that arrived since have shifted its end. The first row that is missing stands behind seen ones alone.
    fn furthest(&self) -> u64 {
        let size = self.first_received.max(1) as u64;
        self.highest.max(self.seen().div_ceil(size))
    }

    /// Counts the pages in a row without a new row. A page without readable keys proves no progress either.
    fn count_idle(&mut self, fresh: usize, keys: usize, received: usize) {
        if fresh > 0 {
            (self.idle, self.nameless) = (0, 0);
        } else if keys > 0 {
            self.idle += 1;
        } else if received > 0 {
            self.nameless += 1;
        }
    }

    /// Returns the earlier page that a page repeats, if there is one. The server then does not page, unless as many
    /// rows arrived in between as a page has.
    fn repeats(&self, page: u64, keys: &[ContentHash], meta: PageMeta) -> Option<u64> {
        if page < 2 || keys.is_empty() || meta.total > self.sweep_total {
            return None;
        }
        if keys == self.first {
            return Some(1);
        }
        (keys == self.previous).then(|| page - 1)
    }

    fn note(&mut self, page: u64, keys: &[ContentHash], meta: PageMeta) -> usize {
        if let Some(total) = meta.total {
            self.seen.note_total(total);
        }
        let fresh = keys.iter().filter(|key| self.seen.insert(**key)).count();
        if page == 1 {
            self.first = keys.to_vec();
            self.first_received = keys.len();
            self.sweep_total = meta.total;
        }
        if self.full_sweeps == 1 && !self.only_head {
            self.highest = self.highest.max(page);
        }
        self.previous = keys.to_vec();
        self.total = meta.total.or(self.total);
        fresh
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
            // "This is the last page" is believed unless the server's own total contradicts it.
            (Some(last), total) if last == page => {
                total.is_none_or(|t| self.full_sweeps > 1 || self.seen() >= t || rows < self.limit)
            }
            (_, Some(total)) => self.seen() >= total,
            // More rows than were requested: the server does not page, and this is everything.
            (_, None) if page == 1 => rows > self.limit,
            (_, None) => rows < self.first_received,
        }
    }

    /// Takes the end of the listing: reads again where rows may have slipped past meanwhile.
    ///
    /// Rows that arrive at the front are found there. Rows that leave pull others over the edge of a page that was read
    /// already, so everything is read once more. A departure and an arrival within one sweep hide each other; the next
    /// pass finds what this one missed.
    fn at_the_end(&mut self) -> Step {
        self.shrinking = !self.only_head && self.total < self.sweep_total;
        if self.is_whole() {
            return Step::Finished;
        }
        if self.total > self.sweep_total && self.head_sweeps < HEAD_SWEEPS {
            self.head_sweeps += 1;
            self.only_head = true;
            return Step::Read(1);
        }
        if self.full_sweeps < FULL_SWEEPS {
            self.full_sweeps += 1;
            self.only_head = false;
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
        assert_eq!(pager.after(1, &keys(0..10), 10, meta(1, 2, 20)), Ok(Step::Read(2)));
        assert_eq!(pager.after(2, &keys(10..20), 10, meta(2, 2, 20)), Ok(Step::Finished));
        assert!(pager.is_whole());
    }

    #[test]
    fn a_server_that_ignores_the_page_is_found_out_on_page_two() {
        let mut pager = Pager::new(10);
        assert_eq!(pager.after(1, &keys(0..10), 10, meta(1, 9, 90)), Ok(Step::Read(2)));
        assert_eq!(
            pager.after(2, &keys(0..10), 10, meta(1, 9, 90)),
            Err(Stuck::IgnoresPage { page: 2, same_as: 1 })
        );
    }

    #[test]
    fn a_server_that_repeats_its_last_page_for_ever_is_found_out() {
        let mut pager = Pager::new(10);
        let unsaid = PageMeta::default();
        assert_eq!(pager.after(1, &keys(0..10), 10, unsaid), Ok(Step::Read(2)));
        assert_eq!(pager.after(2, &keys(10..20), 10, unsaid), Ok(Step::Read(3)));
        assert_eq!(
            pager.after(3, &keys(10..20), 10, unsaid),
            Err(Stuck::IgnoresPage { page: 3, same_as: 2 })
        );
    }

    #[test]
    fn without_pagination_the_next_page_tells_whether_there_is_one() {
        let unsaid = PageMeta::default();
        let mut unpaged = Pager::new(100);
        assert_eq!(unpaged.after(1, &keys(0..7), 7, unsaid), Ok(Step::Read(2)));
        assert_eq!(unpaged.after(2, &keys(0..7), 7, unsaid), Ok(Step::Finished));
        let mut cut = Pager::new(100);
        assert_eq!(cut.after(1, &keys(0..24), 24, unsaid), Ok(Step::Read(2)));
        assert_eq!(cut.after(2, &keys(24..33), 9, unsaid), Ok(Step::Finished));
        let mut cut_and_ignored = Pager::new(100);
        assert_eq!(cut_and_ignored.after(1, &keys(0..20), 20, unsaid), Ok(Step::Read(2)));
        let stuck = Err(Stuck::IgnoresPage { page: 2, same_as: 1 });
        assert_eq!(cut_and_ignored.after(2, &keys(0..20), 20, unsaid), stuck);
        assert_eq!(Pager::new(10).after(1, &keys(0..37), 37, unsaid), Ok(Step::Finished));
        assert_eq!(Pager::new(100).after(1, &[], 0, unsaid), Ok(Step::Finished));
    }

    #[test]
    fn a_stated_page_size_may_be_an_echo_so_the_rows_tell_how_long_a_page_is() {
        let stated = PageMeta { per_page: Some(100), ..PageMeta::default() };
        let mut pager = Pager::new(100);
        assert_eq!(pager.after(1, &keys(0..24), 24, stated), Ok(Step::Read(2)));
        assert_eq!(pager.after(2, &keys(24..30), 6, stated), Ok(Step::Finished));
    }

    #[test]
    fn a_row_without_a_key_makes_no_page_short() {
        let unsaid = PageMeta::default();
        let mut pager = Pager::new(20);
        assert_eq!(pager.after(1, &keys(0..20), 20, unsaid), Ok(Step::Read(2)));
        assert_eq!(pager.after(2, &keys(20..39), 20, unsaid), Ok(Step::Read(3)));
    }

    // withstands: F062
    #[test]
    fn a_listing_that_says_it_has_rows_and_shows_none_is_not_read_for_ever() {
        let mut pager = Pager::new(10);
        assert_eq!(pager.after(1, &[], 0, meta(1, 5, 50)), Ok(Step::Read(1)));
        assert_eq!(pager.after(1, &[], 0, meta(1, 5, 50)), Ok(Step::Read(1)));
        assert_eq!(pager.after(1, &[], 0, meta(1, 5, 50)), Ok(Step::Finished));
        assert!(!pager.is_whole());
    }

    /// Walks a listing whose pages are all made by `page_of`; returns the pages read and how the walk ended.
    fn walk_endless(
        size: usize,
        page_of: impl Fn(u64, u32) -> (Vec<ContentHash>, usize, PageMeta),
    ) -> (u32, Result<(), Stuck>) {
        let (mut pager, mut page) = (Pager::new(size), 1);
        for read in 0..2_000 {
            let (keys, received, meta) = page_of(page, read);
            match pager.after(page, &keys, received, meta) {
                Ok(Step::Read(next)) => page = next,
                Ok(Step::Finished) => return (read + 1, Ok(())),
                Err(stuck) => return (read + 1, Err(stuck)),
            }
        }
        (2_000, Ok(()))
    }

    // withstands: F062
    #[test]
    fn a_listing_without_end_ends_after_a_few_pages_without_a_new_readable_key() {
        let unsaid = PageMeta::default();
        let more = PageMeta { has_next: Some(true), ..unsaid };
        let huge = meta(1, 1_000_000_000_000_000_000, 0);
        let stuck = |page| Err(Stuck::NoProgress { page });
        // One row without a key, for ever.
        for said in [unsaid, more, huge, PageMeta { total: Some(u64::MAX), ..unsaid }] {
            assert_eq!(walk_endless(100, |_, _| (vec![], 1, said)), (5, stuck(5)), "{said:?}");
            let after_two_pages = |page: u64, _| match page {
                1 | 2 => (keys(page * 100..page * 100 + 100), 100, said),
                _ => (vec![], 100, said),
            };
            assert_eq!(walk_endless(100, after_two_pages), (7, stuck(7)), "{said:?}");
        }
        // The same rows turn up on page after page, among rows without a key.
        let loops = |page: u64, _| match (page, page % 3) {
            (1, _) => (keys(0..30), 30, more),
            (_, 0) => (vec![], 1, more),
            (_, n) => (keys(n * 10..n * 10 + 10), 11, more),
        };
        assert_eq!(walk_endless(10, loops), (5, stuck(5)));
        // A few such pages among others end nothing.
        let some = |page: u64, _| match page {
            3..=6 => (vec![], 10, meta(page, 9, 90)),
            _ => (keys(page * 10..page * 10 + 10), 10, meta(page, 9, 90)),
        };
        assert!(walk_endless(10, some).1.is_ok());
    }

    // withstands: F062
    #[test]
    fn a_sweep_for_missing_rows_reads_hardly_further_than_the_first_one() {
        // The first sweep ends with fewer rows than the total, so the listing is read again, which then has no end.
        for nameless in [true, false] {
            let page_of = |page: u64, read: u32| match (read, nameless) {
                (0 | 1, _) => (keys(page * 10..page * 10 + 10), 10, meta(page, 2, 50)),
                (2, _) => (vec![], 0, meta(page, 2, 50)),
                (_, true) => (vec![], 10, PageMeta { has_next: Some(true), ..meta(page, 9, 50) }),
                (n, false) => {
                    let first = 11 + u64::from(n) % 5;
                    (keys(first..first + 7), 10, PageMeta { has_next: Some(true), ..meta(page, 9, 50) })
                }
            };
            let (read, _) = walk_endless(10, page_of);
            assert!(read <= 20, "{nameless}: {read} pages");
        }
    }

    // withstands: F062
    #[test]
    fn rows_are_trusted_before_an_inconsistent_last_page() {
        let mut pager = Pager::new(10);
        assert_eq!(pager.after(1, &keys(0..10), 10, meta(1, 0, 15)), Ok(Step::Read(2)));
        assert_eq!(pager.after(2, &keys(10..15), 5, meta(2, 0, 15)), Ok(Step::Finished));
        let mut stops_short = Pager::new(10);
        assert_eq!(stops_short.after(1, &keys(0..10), 10, meta(1, 1, 15)), Ok(Step::Read(2)));
    }

    #[test]
    fn a_walk_resumes_where_its_pages_end() {
        let kept = |step, page, range, last| KeptPage {
            step,
            page,
            total: Some(30),
            last,
            counts: espelho_model::sync::Counts::default(),
            keys: keys(range),
        };
        let mut pager = Pager::new(10);
        assert_eq!(pager.resume(&kept(1, 1, 0..10, false)), Step::Read(2));
        assert_eq!((pager.resume(&kept(2, 2, 10..20, false)), pager.seen()), (Step::Read(3), 20));
        assert_eq!(pager.after(3, &keys(20..30), 10, meta(3, 3, 30)), Ok(Step::Finished));
        assert!(pager.has_seen(keys(5..6)[0]));
        assert_eq!(Pager::new(10).resume(&kept(1, 1, 0..10, true)), Step::Finished);
    }

    /// Walks a listing that changes meanwhile: before each page some rows arrive at the front, or leave.
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
            match pager.after(page, &keys, keys.len(), meta(page, last, listed.len() as u64)) {
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

    #[test]
    fn a_row_that_arrivals_shifted_far_behind_the_first_sweep_is_found() {
        // Row 3 arrives behind the reading, then thirteen more before it is looked for: it stands on page 7, and the first
        // sweep ended on page 3.
        let arrivals = [(1, 1), (0, 1), (1, 2), (1, 3), (1, 1), (1, 4), (1, 2)];
        let (pager, rows) = walk(true, 2, 3, &arrivals);
        assert_eq!((rows.len(), pager.seen(), pager.is_whole()), (16, 16, true));
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
            prop_assert!(lost == 0 || !pager.is_whole(), "{} rows lost unnoticed", lost);
        }
    }
}
