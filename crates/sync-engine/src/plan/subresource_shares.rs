//! Shares what a sweep may queue among the sub-resources of orders.

/// What one sweep may still queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shares {
    left: u32,
    even: u32,
}

impl Shares {
    /// Returns the shares of a sweep that may queue `most`, of that many kinds.
    pub fn of(most: u32, kinds: usize) -> Self {
        Self { left: most, even: most / u32::try_from(kinds.max(1)).unwrap_or(most) }
    }

    /// Returns what is left for any kind.
    pub fn left(self) -> u32 {
        self.left
    }

    /// Returns an even share of it, so that one kind of a hundred thousand orders does not keep the others waiting.
    pub fn even(self) -> u32 {
        self.left.min(self.even)
    }

    /// Takes what was queued.
    pub fn take(&mut self, queued: usize) {
        self.left = self.left.saturating_sub(u32::try_from(queued).unwrap_or(u32::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_kind_takes_an_even_share_and_no_more_than_is_left() {
        let mut shares = Shares::of(100, 5);
        for (queued, left, even) in [(0, 100, 20), (70, 30, 20), (20, 10, 10), (10, 0, 0), (7, 0, 0)] {
            shares.take(queued);
            assert_eq!((shares.left(), shares.even()), (left, even), "after {queued}");
        }
    }

    #[test]
    fn no_kind_at_all_has_everything() {
        assert_eq!(Shares::of(9, 0).even(), 9);
    }
}
