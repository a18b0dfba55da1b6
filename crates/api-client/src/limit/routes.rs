//! Routes that the server limits more tightly than the token (API document, "Limits", mentions none). Pure: the
//! caller passes the time.
//!
//! A refusal while the token still has budget concerns only its route. The route waits as long as the server says.
//! Its pace follows from the accepted requests, never from halving:
//! - a refusal among answers costs its wait, and nothing else;
//! - consecutive refusals double the wait, up to [`LONGEST_WAIT`], until a request is accepted;
//! - if more than a fifth of a minute's requests are refused, the route continues at the number accepted in that
//!   minute;
//! - a slowed route speeds up, first a little, then twice as much each time, while few requests are refused.

use std::{collections::BTreeMap, time::Duration};

/// The shortest time before a slowed route may speed up.
const STEP: Duration = Duration::from_secs(30);
/// The slowest pace of a route, in requests a minute. A slower route would not notice that its limit is gone.
const SLOWEST: f64 = 3.0;
/// The longest wait that the server did not ask for: the interval at [`SLOWEST`].
const LONGEST_WAIT: Duration = Duration::from_secs(20);
/// The interval between requests of a route after a refusal, until one is accepted.
const ONE_BY_ONE: Duration = Duration::from_millis(200);
/// This many consecutive refusals are no accident.
const IN_A_ROW: u32 = 4;
/// After that many, the route restarts at this fraction of the token's pace, or at what was accepted before.
const AFTER_A_ROW: f64 = 0.1;
/// The refusals in a minute from which their share is meaningful, and the observation time before that.
const MANY: u32 = 6;
const WATCHED_FOR: Duration = Duration::from_secs(30);
/// A route with a larger share of refusals has a limit.
const LIMITED: f64 = 0.2;
/// A route with a smaller share of refusals may speed up.
const FREE: f64 = 0.08;
/// A route without a refusal for this long counts as normal again.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(600);

/// Length and number of the buckets that cover a minute.
const PART: Duration = Duration::from_secs(5);
const PARTS: usize = 13;

/// The routes that were refused.
#[derive(Debug)]
pub(crate) struct Routes {
    /// The token's pace, in requests a minute.
    full: f64,
    refused: BTreeMap<&'static str, Refused>,
}

#[derive(Debug)]
struct Refused {
    minute: Minute,
    /// The route's pace, if it is slower than the token's.
    pace: Option<Pace>,
    /// When its next request may be sent.
    next: Duration,
    /// The end of its wait. A refusal of a request that was in flight before that has the same cause.
    paused_until: Duration,
    /// Consecutive refusals.
    in_a_row: u32,
    /// Requests accepted in the minute before the first of these refusals.
    accepted_before: u32,
    last: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Pace {
    per_minute: f64,
    /// How often the pace was raised since it was set.
    raised: u32,
    changed: Duration,
}

/// Counts of accepted and refused requests in the last minute.
#[derive(Debug, Default)]
struct Minute {
    /// The number of the newest bucket.
    newest: u64,
    parts: [(u32, u32); PARTS],
    /// When the first request was counted.
    since: Option<Duration>,
}

impl Minute {
    fn at(&mut self, now: Duration) -> &mut (u32, u32) {
        self.since.get_or_insert(now);
        let number = u64::try_from(now.as_millis() / PART.as_millis()).unwrap_or(u64::MAX);
        let passed = number.saturating_sub(self.newest).min(PARTS as u64);
        for gone in 0..passed {
            self.parts[((number - gone) % PARTS as u64) as usize] = (0, 0);
        }
        self.newest = self.newest.max(number);
        &mut self.parts[(self.newest % PARTS as u64) as usize]
    }

    /// Returns how many requests were accepted, and how many were refused.
    fn counts(&mut self, now: Duration) -> (u32, u32) {
        self.at(now);
        self.parts.iter().fold((0, 0), |(accepted, refused), part| (accepted + part.0, refused + part.1))
    }

    fn share_refused(&mut self, now: Duration) -> f64 {
        let (accepted, refused) = self.counts(now);
        f64::from(refused) / f64::from((accepted + refused).max(1))
    }

    fn forget_refusals(&mut self) {
        self.parts.iter_mut().for_each(|part| part.1 = 0);
    }
}

impl Refused {
    fn new(now: Duration) -> Self {
        Self {
            minute: Minute::default(),
            pace: None,
            next: now,
            paused_until: Duration::ZERO,
            in_a_row: 0,
            accepted_before: 0,
            last: now,
        }
    }

    /// Sets the route's pace, if it is slower than the token's.
    fn go_at(&mut self, per_minute: f64, full: f64, now: Duration) {
        let per_minute = per_minute.max(SLOWEST);
        self.pace = (per_minute < full).then_some(Pace { per_minute, raised: 0, changed: now });
        self.minute.forget_refusals();
        self.minute.since = Some(now);
    }

    /// Speeds up if the pace has lasted long enough and few requests were refused.
    fn recover(&mut self, full: f64, now: Duration) {
        let Some(pace) = self.pace else { return };
        if now < pace.changed + STEP || self.minute.share_refused(now) >= FREE {
            return;
        }
        let factor = if pace.raised < 2 { 1.05 } else { 2.0 };
        let per_minute = pace.per_minute * factor;
        let raised = Pace { per_minute, raised: pace.raised + 1, changed: now };
        self.pace = (per_minute < full).then_some(raised);
    }
}

impl Routes {
    /// Creates the state with every route at the token's pace.
    pub(crate) fn new(per_minute: u32) -> Self {
        Self { full: f64::from(per_minute), refused: BTreeMap::new() }
    }

    /// Returns how long a request of a route has to wait. Returns `None` if it may go now, and reserves the interval
    /// before the next one.
    pub(crate) fn take(&mut self, route: &'static str, now: Duration) -> Option<Duration> {
        let own = self.refused.get_mut(route)?;
        own.recover(self.full, now);
        if own.pace.is_none() && now > own.last + FORGOTTEN_AFTER {
            self.refused.remove(route);
            return None;
        }
        if own.next > now {
            return Some(own.next - now);
        }
        let spacing = own.pace.map_or(Duration::ZERO, |pace| Duration::from_secs_f64(60.0 / pace.per_minute));
        let one_by_one = if own.in_a_row > 0 { ONE_BY_ONE } else { Duration::ZERO };
        own.next = now + spacing.max(one_by_one);
        None
    }

    /// Records that the server processed a request of a route, whatever it answered.
    pub(crate) fn accepted(&mut self, route: &'static str, now: Duration) {
        let Some(own) = self.refused.get_mut(route) else { return };
        own.minute.at(now).0 += 1;
        // A request sent before the refusal says nothing about the pace after it.
        if now < own.paused_until {
            return;
        }
        if std::mem::take(&mut own.in_a_row) >= IN_A_ROW {
            let before = f64::from(own.accepted_before).max(self.full * AFTER_A_ROW);
            own.go_at(before, self.full, now);
        }
    }

    /// Records that the server refused a request of a route alone, with the wait that it asked for. Returns whether
    /// the route's pace has changed.
    pub(crate) fn refused(&mut self, route: &'static str, now: Duration, wait: Duration) -> bool {
        let full = self.full;
        let own = self.refused.entry(route).or_insert_with(|| Refused::new(now));
        own.last = now;
        if now < own.paused_until {
            own.paused_until = own.paused_until.max(now + wait);
            own.next = own.next.max(own.paused_until);
            return false;
        }
        let (accepted, _) = own.minute.counts(now);
        if own.in_a_row == 0 {
            own.accepted_before = accepted;
        }
        own.in_a_row += 1;
        own.minute.at(now).1 += 1;
        let doubled =
            Duration::from_secs(1).saturating_mul(1 << (own.in_a_row - 1).min(10)).min(LONGEST_WAIT);
        let wait = if own.in_a_row > 1 { wait.max(doubled) } else { wait };
        own.paused_until = now + wait;
        own.next = own.next.max(own.paused_until);
        let (_, refused) = own.minute.counts(now);
        let was_watched = own.minute.since.is_some_and(|since| now >= since + WATCHED_FOR);
        let is_limited = was_watched
            && own.in_a_row < IN_A_ROW
            && refused >= MANY
            && own.minute.share_refused(now) > LIMITED;
        if is_limited {
            own.go_at(f64::from(accepted), full, now);
        }
        is_limited
    }

    /// Returns a route's own pace in requests a minute, if it is slower than the token's.
    pub(crate) fn pace(&self, route: &'static str) -> Option<f64> {
        self.refused.get(route)?.pace.map(|pace| pace.per_minute)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_refusal_among_answers_costs_its_wait_and_nothing_else() {
        let mut routes = Routes::new(300);
        routes.refused("/a", at(0), at(10));
        assert_eq!((routes.take("/a", at(0)), routes.take("/b", at(0))), (Some(at(10)), None));
        assert_eq!(routes.take("/a", at(10)), None);
        assert_eq!(routes.take("/a", at(10)), Some(ONE_BY_ONE), "until one is accepted");
        routes.accepted("/a", at(10));
        let soon = at(10) + ONE_BY_ONE;
        assert_eq!([routes.take("/a", soon), routes.take("/a", soon)], [None, None]);
        assert_eq!(routes.pace("/a"), None);
    }

    #[test]
    fn refusals_of_what_was_under_way_together_are_one_and_the_longest_wait_counts() {
        let mut routes = Routes::new(300);
        for wait in [10, 30, 20] {
            routes.refused("/a", at(0), at(wait));
        }
        assert_eq!((routes.pace("/a"), routes.take("/a", at(0))), (None, Some(at(30))));
        assert_eq!(routes.refused["/a"].in_a_row, 1);
    }

    #[test]
    fn refusals_in_a_row_double_the_wait_up_to_the_longest_but_a_longer_one_that_is_asked_for_is_honoured() {
        let mut routes = Routes::new(300);
        let (mut now, mut waits) = (at(0), Vec::new());
        for _ in 0..7 {
            routes.refused("/a", now, at(1));
            let wait = routes.take("/a", now).unwrap();
            waits.push(wait.as_secs());
            now += wait;
            assert_eq!(routes.take("/a", now), None);
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 20, 20]);
        routes.refused("/a", now, at(90));
        assert_eq!(routes.take("/a", now), Some(at(90)));
    }

    /// Simulates a server and a caller that always has a next request, with at most eight requests in flight.
    struct Simulation {
        routes: Routes,
        now: Duration,
        accepted: Vec<Duration>,
        refused: Vec<Duration>,
        /// Answers in flight: when they arrive, and for a refusal its wait.
        coming: std::collections::VecDeque<(Duration, Option<Duration>)>,
    }

    impl Simulation {
        fn new(per_minute: u32) -> Self {
            let (routes, now) = (Routes::new(per_minute), Duration::ZERO);
            Self { routes, now, accepted: vec![], refused: vec![], coming: std::collections::VecDeque::new() }
        }

        /// Sends requests until `end`. `serve` decides from the accepted requests whether a request is refused, and
        /// with what wait.
        fn until(&mut self, end: Duration, mut serve: impl FnMut(&[Duration], Duration) -> Option<Duration>) {
            let every = Duration::from_secs_f64(60.0 / self.routes.full);
            let mut next = self.now;
            while self.now < end {
                while let Some((_, answer)) = self.coming.pop_front_if(|(due, _)| *due <= self.now) {
                    match answer {
                        Some(wait) => drop(self.routes.refused("/a", self.now, wait)),
                        None => self.routes.accepted("/a", self.now),
                    }
                }
                let may = self.now >= next && self.coming.len() < 8;
                if may && self.routes.take("/a", self.now).is_none() {
                    let answer = serve(&self.accepted, self.now);
                    if answer.is_none() { &mut self.accepted } else { &mut self.refused }.push(self.now);
                    self.coming.push_back((self.now + Duration::from_millis(50), answer));
                    next = self.now.max(next + every);
                }
                self.now += Duration::from_millis(5);
            }
        }

        fn since(of: &[Duration], then: Duration) -> usize {
            of.iter().filter(|at| **at >= then).count()
        }
    }

    fn within_a_minute(accepted: &[Duration], now: Duration) -> usize {
        accepted.iter().rev().take_while(|at| **at + Duration::from_secs(60) > now).count()
    }

    /// Returns the same numbers each time, evenly distributed from 0 to 99.
    fn dice() -> impl FnMut() -> u64 {
        let mut seed = 42_u64;
        move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % 100
        }
    }

    // withstands: F095
    #[test]
    fn where_one_in_twenty_is_refused_for_no_reason_the_budget_is_used() {
        let (mut simulation, mut dice) = (Simulation::new(300), dice());
        simulation.until(at(1_800), |_, _| (dice() < 5).then_some(at(1)));
        let accepted = simulation.accepted.len();
        assert!(accepted >= 30 * 200, "{accepted} accepted in 30 min of at most 9,000");
        assert_eq!(simulation.routes.pace("/a"), None);
    }

    // withstands: F095, F144
    #[test]
    fn four_hundred_and_twenty_requests_of_which_one_in_twenty_is_refused_take_half_a_minute_of_a_large_budget()
     {
        let (mut simulation, mut dice) = (Simulation::new(1_000_000), dice());
        simulation.until(at(30), |_, _| (dice() < 5).then_some(at(1)));
        assert!(simulation.accepted.len() >= 420, "{}", simulation.accepted.len());
    }

    // withstands: F095
    #[test]
    fn a_route_finds_the_pace_that_the_server_allows_it_and_is_rarely_refused_from_then_on() {
        for allowed in [10, 30, 100] {
            // An honest server says when to come again (`Retry-After`); the other only refuses.
            for is_honest in [true, false] {
                let mut simulation = Simulation::new(300);
                simulation.until(at(3_600), |accepted, now| {
                    let recent = within_a_minute(accepted, now);
                    let first = accepted.len().checked_sub(allowed).map(|at| accepted[at]);
                    (recent >= allowed).then(|| match (is_honest, first) {
                        (true, Some(first)) => first + at(60) - now,
                        _ => at(1),
                    })
                });
                let accepted = Simulation::since(&simulation.accepted, at(600)) / 50;
                let refused = Simulation::since(&simulation.refused, at(600)) / 50;
                let case =
                    format!("{allowed} allowed, honest {is_honest}: {accepted} and {refused} a minute");
                assert!(accepted * 10 >= allowed * 8, "{case}");
                assert!(refused * 10 <= allowed * 3 + 30, "{case}");
            }
        }
    }

    // withstands: F095
    #[test]
    fn a_route_that_is_refused_for_ever_is_asked_three_times_a_minute_and_is_soon_as_fast_as_before_afterwards()
     {
        let mut simulation = Simulation::new(300);
        simulation.until(at(60), |_, _| None);
        simulation.until(at(660), |_, _| Some(at(1)));
        let asked = Simulation::since(&simulation.refused, at(120));
        assert!((25..=60).contains(&asked), "{asked} asked in 9 min");
        simulation.until(at(720), |_, _| None);
        let first = Simulation::since(&simulation.accepted, at(660));
        assert!(first >= 15, "{first} in the minute after it");
        simulation.until(at(1_020), |_, _| None);
        assert_eq!(simulation.routes.pace("/a"), None);
        assert!(Simulation::since(&simulation.accepted, at(960)) >= 280, "as fast as all");
    }
}
