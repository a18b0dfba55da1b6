//! The keys that a walk has seen, at eight bytes each.
//!
//! A hash set takes nine bytes a bucket, and doubles its buckets: 19 MB for a million keys, and 28 MB while it grows. So
//! only the latest keys are in one, and all others in a sorted list.

use std::collections::HashSet;

use espelho_model::ContentHash;

/// Keys in the hash set before they move to the list: as many as 16,384 buckets take.
const LATEST: usize = 14_336;
/// Keys that room is made for at once, whatever the marketplace says about the length of its listing.
const MOST_EXPECTED: u64 = 4_000_000;

/// A set of keys that only grows.
#[derive(Clone, Debug, Default)]
pub(super) struct SeenKeys {
    sorted: Vec<i64>,
    /// Never holds a key of the list.
    latest: HashSet<i64>,
    /// How many keys the listing has, as far as it is known.
    expected: usize,
}

impl SeenKeys {
    /// Returns the number of keys.
    pub(super) fn len(&self) -> usize {
        self.sorted.len() + self.latest.len()
    }

    /// Says whether the set has a key.
    pub(super) fn contains(&self, key: ContentHash) -> bool {
        self.latest.contains(&key.as_i64()) || self.is_sorted_in(key)
    }

    /// Adds a key; says whether it is new.
    pub(super) fn insert(&mut self, key: ContentHash) -> bool {
        let is_new = !self.is_sorted_in(key) && self.latest.insert(key.as_i64());
        if self.latest.len() == LATEST {
            self.merge();
        }
        is_new
    }

    /// Notes how long the listing is, so that the list of a long one is made once instead of growing.
    pub(super) fn note_total(&mut self, total: u64) {
        self.expected = usize::try_from(total.min(MOST_EXPECTED)).unwrap_or(0);
    }

    fn is_sorted_in(&self, key: ContentHash) -> bool {
        self.sorted.binary_search(&key.as_i64()).is_ok()
    }

    /// Moves the latest keys to the list, in place and from its end, so that nothing is overwritten before it has moved.
    fn merge(&mut self) {
        let mut latest: Vec<i64> = self.latest.drain().collect();
        latest.sort_unstable();
        let mut left = self.sorted.len();
        self.make_room(left + latest.len());
        self.sorted.resize(left + latest.len(), 0);
        for (smaller, key) in latest.iter().enumerate().rev() {
            let from = self.sorted[..left].partition_point(|sorted| sorted < key);
            self.sorted.copy_within(from..left, from + smaller + 1);
            self.sorted[from + smaller] = *key;
            left = from;
        }
    }

    /// Makes room in the list for `keys` keys: for the whole listing at once, else for an eighth more, never twice as
    /// many. A listing that grows meanwhile needs room for one more move.
    fn make_room(&mut self, keys: usize) {
        if keys > self.sorted.capacity() {
            let room = (keys + keys / 8).max(self.expected + LATEST);
            self.sorted.reserve_exact(room - self.sorted.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(n: i64) -> ContentHash {
        ContentHash::from_i64(n)
    }

    /// A key that looks like a fingerprint, another one for each number.
    fn spread(n: i64) -> i64 {
        n.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64.cast_signed())
    }

    #[test]
    fn a_key_is_new_once_also_after_it_has_moved_to_the_list() {
        let mut seen = SeenKeys::default();
        let extremes = [i64::MIN, -1, 0, 1, i64::MAX];
        assert!(extremes.into_iter().all(|n| !seen.contains(key(n)) && seen.insert(key(n))));
        assert!(extremes.into_iter().all(|n| seen.contains(key(n)) && !seen.insert(key(n))));
        seen.merge();
        assert!(seen.latest.is_empty());
        assert!(extremes.into_iter().all(|n| seen.contains(key(n)) && !seen.insert(key(n))));
        assert_eq!((seen.sorted.as_slice(), seen.len()), (extremes.as_slice(), 5));
        assert!(!seen.contains(key(2)));
    }

    #[test]
    fn the_latest_keys_move_to_the_list_when_the_hash_set_is_full() {
        let mut seen = SeenKeys::default();
        let most = i64::try_from(LATEST).unwrap();
        for n in 1..=most * 3 + 1 {
            assert!(seen.insert(key(spread(n))));
            assert_eq!(seen.len() as i64, n);
        }
        assert_eq!((seen.sorted.len(), seen.latest.len()), (LATEST * 3, 1));
        assert!(seen.sorted.is_sorted_by(|a, b| a < b));
        assert!((1..=most * 3 + 1).all(|n| seen.contains(key(spread(n)))));
        assert!((1..=most).all(|n| !seen.contains(key(spread(-n)))));
    }

    #[test]
    fn the_list_of_a_listing_of_known_length_is_made_once() {
        let mut seen = SeenKeys::default();
        let length = LATEST * 5;
        seen.note_total(length as u64);
        assert_eq!(seen.sorted.capacity(), 0, "a short listing needs no list");
        let mut made = HashSet::new();
        for n in 0..length {
            seen.insert(key(spread(n as i64)));
            made.insert(seen.sorted.capacity());
        }
        made.remove(&0);
        assert_eq!(made.len(), 1, "{made:?}");
        assert!(seen.sorted.capacity() < length + 2 * LATEST);
    }

    #[test]
    fn a_list_that_nobody_announced_never_doubles_and_an_absurd_length_is_not_believed() {
        let mut seen = SeenKeys::default();
        for n in 0..LATEST * 20 {
            seen.insert(key(spread(n as i64)));
        }
        assert!(seen.sorted.capacity() <= LATEST * 24, "{}", seen.sorted.capacity());
        seen.note_total(u64::MAX);
        assert_eq!(seen.expected as u64, MOST_EXPECTED);
    }

    proptest! {
        #[test]
        fn it_is_a_set(steps in prop::collection::vec((-60i64..60, 0u8..8), 0..200)) {
            let (mut seen, mut model) = (SeenKeys::default(), HashSet::new());
            for (n, step) in steps {
                prop_assert_eq!(seen.contains(key(n)), model.contains(&n));
                prop_assert_eq!(seen.insert(key(n)), model.insert(n));
                if step == 0 {
                    seen.merge();
                }
                prop_assert_eq!(seen.len(), model.len());
            }
            prop_assert!((-60..60).all(|n| seen.contains(key(n)) == model.contains(&n)));
            prop_assert!(seen.sorted.is_sorted_by(|a, b| a < b));
        }
    }
}
