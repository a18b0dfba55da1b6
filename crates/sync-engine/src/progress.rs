//! Reports how far a run is.

use espelho_model::{StoreKey, sync::Target};

/// How far a pass is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Rows processed so far.
    pub done: u64,
    /// All rows, if the server reports the total or the mirror knows it.
    pub total: Option<u64>,
    /// Requests left, estimated from the cost of the rows so far.
    pub requests_left: Option<u64>,
}

impl Position {
    /// Returns a position from the rows of the whole pass, and the rows and requests of this run.
    pub fn new(done: u64, total: Option<u64>, read: u64, requests: u64) -> Self {
        let left = total.map(|total| total.saturating_sub(done));
        let requests_left = left.filter(|_| read > 0).map(|left| (left * requests).div_ceil(read));
        Self { done, total, requests_left }
    }
}

/// Receives the progress of a run. Calls are frequent and must return at once.
pub trait Progress: Send + Sync {
    /// A target's pass starts, or resumes after `resumed` rows.
    fn begin(&self, store: &StoreKey, target: Target, resumed: u64);
    /// The pass has reached `position`.
    fn advance(&self, store: &StoreKey, target: Target, position: Position);
    /// The pass ended.
    fn end(&self, store: &StoreKey, target: Target);
}

/// Ignores all progress.
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
