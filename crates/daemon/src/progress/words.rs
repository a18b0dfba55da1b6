//! The progress of a pass and its remaining time, in words. Pure.

use std::time::Duration;

use espelho_model::{
    text,
    text::{Arg, Text},
};
use espelho_sync_engine::Position;

/// The budget counts as the limit if it explains this share of the remaining time.
const BOUND: f64 = 0.8;
/// With fewer rows the pace is unknown.
const FEW: u64 = 5;

/// The pace of a pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub(crate) position: Position,
    /// Rows of this run.
    pub(crate) read: u64,
    /// Time since this run began.
    pub(crate) elapsed: Duration,
    /// Requests a minute that the store may make.
    pub(crate) per_minute: Option<u32>,
}

impl Pace {
    /// Returns the remaining time: by the budget if that is the limit, else by the pace so far.
    pub(crate) fn left(self) -> Option<Text> {
        let Position { done, total, requests_left } = self.position;
        let rows_left = total?.saturating_sub(done);
        if rows_left == 0 || self.read < FEW {
            return None;
        }
        let by_pace = self.elapsed.as_secs_f64() / self.read as f64 * rows_left as f64;
        let by_budget = requests_left.zip(self.per_minute).map(|(requests, per_minute)| {
            (requests as f64 * 60.0 / f64::from(per_minute.max(1)), per_minute)
        });
        Some(match by_budget {
            Some((seconds, per_minute)) if seconds >= by_pace * BOUND && seconds >= 1.0 => {
                text!("progress-limit", limit = per_minute, seconds = seconds_of(seconds))
            }
            _ => text!("progress-left", seconds = seconds_of(by_pace)),
        })
    }

    /// Returns the line for output without a bar.
    pub(crate) fn line(self) -> Text {
        let Position { done, total, .. } = self.position;
        match (total.filter(|total| *total > 0), self.left()) {
            (Some(total), Some(left)) => {
                let percent = done * 100 / total;
                let (done, total) = (count(done), count(total));
                text!("progress-of-left", done = done, total = total, percent = percent, left = left)
            }
            (Some(total), None) => {
                let percent = done * 100 / total;
                text!("progress-of", done = count(done), total = count(total), percent = percent)
            }
            (None, _) => text!("progress-rows", done = count(done)),
        }
    }
}

/// Returns a count with thousands separators.
pub(crate) fn count(rows: u64) -> Arg {
    Arg::Quantity(rows.into())
}

fn seconds_of(seconds: f64) -> Arg {
    Arg::Seconds(seconds.ceil() as i64)
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Locale;

    use super::*;

    #[test]
    fn the_budget_is_named_where_it_is_the_bound() {
        let pace = |done, total, read, requests_left, elapsed, per_minute| Pace {
            position: Position { done, total, requests_left },
            read,
            elapsed: Duration::from_secs(elapsed),
            per_minute,
        };
        for (pace, words) in [
            (
                pace(100, Some(550), 100, Some(450), 20, Some(300)),
                "100 de 550 linhas (18 %), limite 300/min: faltam ~90 s",
            ),
            (
                pace(100, Some(550), 100, Some(450), 20, Some(1_000_000)),
                "100 de 550 linhas (18 %), faltam ~90 s",
            ),
            (pace(100, Some(550), 100, None, 20, None), "100 de 550 linhas (18 %), faltam ~90 s"),
            (pace(1, Some(550), 1, Some(549), 1, Some(300)), "1 de 550 linhas (0 %)"),
            (pace(550, Some(550), 550, Some(0), 60, Some(300)), "550 de 550 linhas (100 %)"),
            (pace(100, None, 100, None, 20, Some(300)), "100 linhas"),
            (pace(526, Some(1_000_000), 1, None, 1, None), "526 de 1.000.000 linhas (0 %)"),
            (pace(1_526, None, 1_526, None, 20, None), "1.526 linhas"),
        ] {
            assert_eq!(pace.line().message(Locale::default()), words);
        }
    }
}
