//! The request limit of a token, in the three ways a server may count a minute.
//!
//! The document says "300 per 1 minute, counted per token" and no more; a client has to hold under all of them.

use std::collections::VecDeque;

const MINUTE: i64 = 60_000;

/// How the minute of the request limit is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Window {
    /// Windows of 60 s aligned to the minute of the clock.
    #[default]
    Fixed,
    /// Any 60 s: a log of the last requests.
    Sliding,
    /// A window of 60 s that begins with the first request after the last window ended.
    FirstHit,
}

/// The limit's answer to one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Counted; `remaining` requests are left.
    Admitted { remaining: u32 },
    /// Not counted; the wait is in whole seconds.
    Refused { retry_after: u32 },
}

/// The recent requests of one token.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    window_start: i64,
    window_count: u32,
    /// Counted requests of the last 60 s: millisecond, and how many fell into it.
    log: VecDeque<(i64, u32)>,
    log_count: u32,
}

impl Meter {
    /// Counts a request, or refuses it uncounted.
    pub(crate) fn admit(&mut self, now: i64, rate: Option<u32>, window: Window) -> Verdict {
        self.forget(now);
        let Some(rate) = rate else {
            self.count(now);
            return Verdict::Admitted { remaining: 0 };
        };
        let (used, ends) = self.usage(now, window);
        if used >= rate {
            let wait = (ends - now).max(1);
            return Verdict::Refused { retry_after: u32::try_from((wait + 999) / 1000).unwrap_or(60) };
        }
        self.count(now);
        self.window_count += 1;
        Verdict::Admitted { remaining: rate - used - 1 }
    }

    /// Counted requests of the last 60 s.
    pub(crate) fn in_last_minute(&self) -> u32 {
        self.log_count
    }

    /// Requests used of the current window, and the instant at which one becomes free.
    fn usage(&mut self, now: i64, window: Window) -> (u32, i64) {
        match window {
            Window::Sliding => {
                return (self.log_count, self.log.front().map_or(now, |(at, _)| at + MINUTE));
            }
            Window::Fixed => {
                let start = now - now.rem_euclid(MINUTE);
                if start != self.window_start {
                    (self.window_start, self.window_count) = (start, 0);
                }
            }
            Window::FirstHit => {
                if now >= self.window_start + MINUTE {
                    (self.window_start, self.window_count) = (now, 0);
                }
            }
        }
        (self.window_count, self.window_start + MINUTE)
    }

    fn forget(&mut self, now: i64) {
        while let Some((at, count)) = self.log.front().copied() {
            if at > now - MINUTE {
                break;
            }
            self.log_count -= count;
            self.log.pop_front();
        }
    }

    fn count(&mut self, now: i64) {
        match self.log.back_mut() {
            Some((at, count)) if *at == now => *count += 1,
            _ => self.log.push_back((now, 1)),
        }
        self.log_count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSED_AT_ONCE: Option<u32> = Some(2);

    fn remaining(meter: &mut Meter, now: i64, window: Window) -> Result<u32, u32> {
        match meter.admit(now, REFUSED_AT_ONCE, window) {
            Verdict::Admitted { remaining } => Ok(remaining),
            Verdict::Refused { retry_after } => Err(retry_after),
        }
    }

    #[test]
    fn a_fixed_window_ends_with_the_minute_of_the_clock() {
        let mut meter = Meter::default();
        let start = 120 * MINUTE;
        assert_eq!(remaining(&mut meter, start + 59_000, Window::Fixed), Ok(1));
        assert_eq!(remaining(&mut meter, start + 59_100, Window::Fixed), Ok(0));
        assert_eq!(remaining(&mut meter, start + 59_200, Window::Fixed), Err(1));
        assert_eq!(remaining(&mut meter, start + 60_000, Window::Fixed), Ok(1));
        assert_eq!(meter.in_last_minute(), 3, "two windows touch within one minute");
    }

    #[test]
    fn a_sliding_window_frees_a_request_when_it_is_a_minute_old() {
        let mut meter = Meter::default();
        assert_eq!(remaining(&mut meter, 1_000, Window::Sliding), Ok(1));
        assert_eq!(remaining(&mut meter, 31_000, Window::Sliding), Ok(0));
        assert_eq!(remaining(&mut meter, 60_999, Window::Sliding), Err(1));
        assert_eq!(remaining(&mut meter, 61_000, Window::Sliding), Ok(0));
        assert_eq!(remaining(&mut meter, 61_001, Window::Sliding), Err(30));
    }

    #[test]
    fn a_first_hit_window_begins_with_the_first_request() {
        let mut meter = Meter::default();
        let start = 7 * MINUTE + 30_000;
        assert_eq!(remaining(&mut meter, start, Window::FirstHit), Ok(1));
        assert_eq!(remaining(&mut meter, start + 40_000, Window::FirstHit), Ok(0));
        assert_eq!(remaining(&mut meter, start + 41_000, Window::FirstHit), Err(19));
        assert_eq!(remaining(&mut meter, start + 60_000, Window::FirstHit), Ok(1));
    }

    #[test]
    fn refused_requests_are_not_counted() {
        let mut meter = Meter::default();
        for now in 0..10 {
            let _ = remaining(&mut meter, now, Window::Sliding);
        }
        assert_eq!(meter.in_last_minute(), 2);
    }
}
