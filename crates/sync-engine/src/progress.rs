//! Telling whoever waits how far a run is.

use espelho_model::{StoreKey, sync::Target};

/// How far a pass is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Rows that are dealt with.
    pub done: u64,
    /// Rows that there are, if the server said it or the mirror knows.
    pub total: Option<u64>,
    /// Requests that are left, by what the rows so far have cost.
    pub requests_left: Option<u64>,
}

impl Position {
    /// A position from the rows of the whole pass, and the rows and requests of this run.
    pub fn new(done: u64, total: Option<u64>, read: u64, requests: u64) -> Self {
        let left = total.map(|total| total.saturating_sub(done));
        let requests_left = left.filter(|_| read > 0).map(|left| (left * requests).div_ceil(read));
        Self { done, total, requests_left }
    }
}

/// Hears how a run gets on. Calls are frequent and must return at once.
pub trait Progress: Send + Sync {
    /// A target's pass is about to begin, or to go on after `resumed` rows.
    fn begin(&self, store: &StoreKey, target: Target, resumed: u64);
    /// The pass has come so far.
    fn advance(&self, store: &StoreKey, target: Target, position: Position);
    /// The pass ended.
    fn end(&self, store: &StoreKey, target: Target);
}

/// Nobody is watching.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _: &StoreKey, _: Target, _: u64) {}
    fn advance(&self, _: &StoreKey, _: Target, _: Position) {}
    fn end(&self, _: &StoreKey, _: Target) {}
}

#[cfg(test)]
mod tests {
    use super::Position;

    #[test]
    fn requests_that_are_left_follow_from_what_the_rows_have_cost() {
        for (done, total, read, requests, left) in [
            (100, Some(400), 100, 101, Some(303)),
            (300, Some(400), 100, 101, Some(101)),
            (400, Some(400), 400, 404, Some(0)),
            (100, None, 100, 101, None),
            (0, Some(400), 0, 0, None),
        ] {
            assert_eq!(Position::new(done, total, read, requests).requests_left, left);
        }
    }
}
