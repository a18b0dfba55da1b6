//! Routes that the server holds to a tighter limit than the token's (API document, "Limits", knows of none). Pure: time is
//! handed in.
//!
//! Such a limit shows by a refusal while the token's budget is not spent. Then the route alone waits as long as it is told,
//! and goes at half its pace from there on. Each minute without another refusal gives it a little of its pace back, until
//! it is held to the token's budget only, as all others are.

use std::{collections::BTreeMap, time::Duration};

/// A route that was refused gets a step of its pace back after so long.
const STEP: Duration = Duration::from_secs(60);
/// A step is one of so many parts of the token's pace.
const STEPS: f64 = 20.0;
/// No route goes slower than so many requests a minute: else nobody would notice that its limit is gone.
const SLOWEST: f64 = 1.0;

/// The routes that are slower than the token.
#[derive(Debug)]
pub(crate) struct Routes {
    /// The token's pace, in requests a minute.
    full: f64,
    slow: BTreeMap<&'static str, Slow>,
}

#[derive(Clone, Copy, Debug)]
struct Slow {
    per_minute: f64,
    /// When its next request may go.
    next: Duration,
    /// Until then it waits as the server said; what was under way meanwhile is refused for the same reason.
    paused_until: Duration,
    /// When its pace last changed.
    changed: Duration,
}

impl Routes {
    /// Every route at the token's pace.
    pub(crate) fn new(per_minute: u32) -> Self {
        Self { full: f64::from(per_minute), slow: BTreeMap::new() }
    }

    /// How long a request of a route has to wait, or its turn: then the next one's is later.
    pub(crate) fn take(&mut self, route: &'static str, now: Duration) -> Option<Duration> {
        self.recover(route, now);
        let slow = self.slow.get_mut(route)?;
        if slow.next > now {
            return Some(slow.next - now);
        }
        slow.next = now + Duration::from_secs_f64(60.0 / slow.per_minute);
        None
    }

    /// The server refused a request of a route alone, and said how long to wait.
    pub(crate) fn refused(&mut self, route: &'static str, now: Duration, wait: Duration) {
        self.recover(route, now);
        let known = self.slow.get(route).copied();
        if let Some(slow) = self.slow.get_mut(route).filter(|slow| now < slow.paused_until) {
            slow.paused_until = slow.paused_until.max(now + wait);
            slow.next = slow.next.max(slow.paused_until);
            return;
        }
        let per_minute = (known.map_or(self.full, |slow| slow.per_minute) / 2.0).max(SLOWEST);
        let until = now + wait;
        self.slow.insert(route, Slow { per_minute, next: until, paused_until: until, changed: until });
    }

    /// A route's own pace in requests a minute, where it is slower than the token's.
    pub(crate) fn pace(&self, route: &'static str) -> Option<f64> {
        self.slow.get(route).map(|slow| slow.per_minute)
    }

    fn recover(&mut self, route: &'static str, now: Duration) {
        let Some(slow) = self.slow.get_mut(route) else { return };
        let steps = now.saturating_sub(slow.changed).as_secs() / STEP.as_secs();
        slow.per_minute += steps as f64 * self.full / STEPS;
        slow.changed += STEP * u32::try_from(steps).unwrap_or(u32::MAX);
        if slow.per_minute >= self.full {
            self.slow.remove(route);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    // withstands: F095
    #[test]
    fn a_route_that_is_refused_goes_at_half_its_pace_and_gets_it_back_step_by_step() {
        let mut routes = Routes::new(300);
        routes.refused("/a", at(0), at(10));
        assert_eq!((routes.take("/a", at(0)), routes.take("/b", at(0))), (Some(at(10)), None));
        assert_eq!(routes.take("/a", at(10)), None);
        assert_eq!(routes.take("/a", at(10)), Some(Duration::from_millis(400)), "150 a minute");
        routes.refused("/a", at(20), at(10));
        assert_eq!(routes.pace("/a"), Some(75.0));
        for (minutes, pace) in [(1, Some(90.0)), (5, Some(150.0)), (14, Some(285.0)), (15, None)] {
            let _ = routes.take("/a", at(30 + minutes * 60));
            assert_eq!(routes.pace("/a"), pace, "after {minutes} min");
        }
        assert_eq!(routes.take("/a", at(2_000)), None);
        assert_eq!(routes.take("/a", at(2_000)), None, "it is as fast as all");
    }

    #[test]
    fn refusals_of_what_was_under_way_together_are_one() {
        let mut routes = Routes::new(300);
        for wait in [10, 30, 20] {
            routes.refused("/a", at(0), at(wait));
        }
        assert_eq!((routes.pace("/a"), routes.take("/a", at(0))), (Some(150.0), Some(at(30))));
    }

    // withstands: F095
    #[test]
    fn a_route_finds_the_pace_that_the_server_allows_it_and_is_rarely_refused_from_then_on() {
        const ALLOWED: usize = 20;
        let (mut routes, mut now, mut accepted, mut refused) =
            (Routes::new(300), Duration::ZERO, Vec::<Duration>::new(), Vec::new());
        while now < at(3_600) {
            if let Some(wait) = routes.take("/a", now) {
                now += wait;
                continue;
            }
            accepted.retain(|then| *then + at(60) > now);
            match accepted.first() {
                Some(first) if accepted.len() >= ALLOWED => {
                    refused.push(now);
                    routes.refused("/a", now, *first + at(60) - now);
                }
                _ => accepted.push(now),
            }
            now += Duration::from_millis(1);
        }
        assert!(refused.len() <= 90, "{} refused in an hour", refused.len());
        assert!(routes.pace("/a").is_some_and(|pace| pace < 60.0), "{:?}", routes.pace("/a"));
    }

    #[test]
    fn a_route_that_is_refused_for_ever_is_still_asked_once_a_minute() {
        let mut routes = Routes::new(300);
        for _ in 0..30 {
            let now = routes.take("/a", at(0)).unwrap_or_default();
            routes.refused("/a", now, at(1));
            routes.refused("/a", now + at(1), at(1));
        }
        assert!(routes.pace("/a").is_some_and(|pace| pace >= SLOWEST));
    }
}
