//! The schedule of delays between attempts of a read.
//!
//! `backoff` is unmaintained. Only this file uses it, and only for its delays (see `deny.toml`).

use std::time::Duration;

use backoff::{ExponentialBackoff, backoff::Backoff};

/// Delays that double from half a second to thirty, with jitter, for a limited number of attempts.
pub struct Attempts {
    delays: ExponentialBackoff,
    left: u32,
}

impl Attempts {
    /// Creates a schedule for at most `attempts` attempts, the first one included.
    pub fn new(attempts: u32) -> Self {
        let delays = ExponentialBackoff {
            initial_interval: Duration::from_millis(500),
            current_interval: Duration::from_millis(500),
            max_interval: Duration::from_secs(30),
            multiplier: 2.0,
            randomization_factor: 0.3,
            // The number of attempts is the limit: elapsed time by the crate's own clock could not be tested.
            max_elapsed_time: None,
            ..ExponentialBackoff::default()
        };
        Self { delays, left: attempts.saturating_sub(1) }
    }

    /// Returns the delay before the next attempt; `None` when no attempt is left. A delay that the server asked for
    /// replaces our own.
    pub fn next_delay(&mut self, asked: Option<Duration>) -> Option<Duration> {
        self.left = self.left.checked_sub(1)?;
        let own = self.delays.next_backoff();
        asked.or(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_end_and_give_way_to_the_server() {
        let mut attempts = Attempts::new(5);
        let delays: Vec<_> = std::iter::from_fn(|| attempts.next_delay(None)).collect();
        assert_eq!(delays.len(), 4);
        for (nth, delay) in delays.iter().enumerate() {
            let centre = 0.5 * f64::from(1u32 << nth);
            assert!((centre * 0.69..=centre * 1.31).contains(&delay.as_secs_f64()), "{nth}: {delay:?}");
        }
        let asked = Duration::from_secs(17);
        assert_eq!(Attempts::new(2).next_delay(Some(asked)), Some(asked));
        assert_eq!(Attempts::new(1).next_delay(Some(asked)), None);
    }

    // withstands: F094
    #[test]
    fn a_thousand_that_failed_together_do_not_come_back_together() {
        let third = |_| {
            let mut attempts = Attempts::new(4);
            std::iter::from_fn(|| attempts.next_delay(None)).sum::<Duration>()
        };
        let mut back: Vec<Duration> = (0..1_000).map(third).collect();
        back.sort();
        let within = |first: &Duration| {
            back.iter().filter(|at| (*first..*first + Duration::from_millis(100)).contains(at)).count()
        };
        let most = back.iter().map(within).max().unwrap_or(0);
        assert!(most < 200, "{most} of a thousand within a tenth of a second");
    }
}
