//! Fault rules: by name, a number of times, with a probability.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use parking_lot::Mutex;

use crate::{
    random::Random,
    refusal::{FieldErrors, Refusal},
};

/// The probability of a certain fault, in thousandths.
pub(crate) const ALWAYS: u32 = 1000;

/// A probability from 0 to 1 in thousandths.
pub(crate) fn thousandths(probability: f64) -> Result<u32, Refusal> {
    if (0.0..=1.0).contains(&probability) {
        return Ok((probability * f64::from(ALWAYS)).round() as u32);
    }
    Err(Refusal::Invalid(FieldErrors::one("probability", "O campo probability deve estar entre 0 e 1.")))
}

/// The rules in force, oldest first.
pub(crate) struct Rules<K> {
    state: Mutex<State<K>>,
    /// Spares the lock on the usual path: no rules.
    count: AtomicUsize,
}

struct State<K> {
    rules: Vec<Rule<K>>,
    random: Random,
}

struct Rule<K> {
    /// A part of the name of what it applies to.
    part: String,
    times: Option<u32>,
    of_thousand: u32,
    kind: K,
}

impl<K> Default for Rules<K> {
    fn default() -> Self {
        Self::seeded(0)
    }
}

impl<K> Rules<K> {
    pub(crate) fn seeded(seed: u64) -> Self {
        let random = Random::of(&[seed, 0xFA_017]);
        Self { state: Mutex::new(State { rules: Vec::new(), random }), count: AtomicUsize::new(0) }
    }

    pub(crate) fn add(&self, part: String, times: Option<u32>, of_thousand: u32, kind: K) {
        if times == Some(0) {
            return;
        }
        let mut state = self.state.lock();
        state.rules.push(Rule { part, times, of_thousand, kind });
        self.count.store(state.rules.len(), Relaxed);
    }

    pub(crate) fn clear(&self) {
        self.state.lock().rules.clear();
        self.count.store(0, Relaxed);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Relaxed) == 0
    }
}

impl<K> Rule<K> {
    /// Uses it up by one; true where that was its last time.
    fn spend(&mut self) -> bool {
        let Some(times) = &mut self.times else { return false };
        *times -= 1;
        *times == 0
    }
}

impl<K> Rules<K> {
    /// Tries every rule that matches and whose probability hits, the oldest first; each that strikes is used up by one.
    pub(crate) fn take_each(&self, matches: impl Fn(&str, &K) -> bool, mut strikes: impl FnMut(&K) -> bool) {
        if self.is_empty() {
            return;
        }
        let mut state = self.state.lock();
        let State { rules, random } = &mut *state;
        rules.retain_mut(|rule| {
            let has_struck = matches(&rule.part, &rule.kind)
                && random.chance(u64::from(rule.of_thousand))
                && strikes(&rule.kind);
            !(has_struck && rule.spend())
        });
        self.count.store(rules.len(), Relaxed);
    }
}

impl<K: Clone> Rules<K> {
    /// The fault of the first rule that matches and whose probability hits; it uses the rule up by one.
    pub(crate) fn take(&self, matches: impl Fn(&str, &K) -> bool) -> Option<K> {
        if self.is_empty() {
            return None;
        }
        let mut state = self.state.lock();
        let State { rules, random } = &mut *state;
        let strikes =
            |rule: &Rule<K>| matches(&rule.part, &rule.kind) && random.chance(u64::from(rule.of_thousand));
        let at = rules.iter().position(strikes)?;
        let kind = rules[at].kind.clone();
        if rules[at].spend() {
            rules.remove(at);
            self.count.store(rules.len(), Relaxed);
        }
        Some(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::{ALWAYS, Rules, thousandths};

    #[test]
    fn a_rule_strikes_so_many_times_and_is_spent() {
        let rules = Rules::default();
        rules.add("order".to_owned(), Some(2), ALWAYS, 7);
        assert_eq!(rules.take(|part, _| part == "shipment"), None);
        let struck: Vec<_> = (0..3).map(|_| rules.take(|part, _| part == "order")).collect();
        assert_eq!((struck, rules.is_empty()), (vec![Some(7), Some(7), None], true));
    }

    #[test]
    fn rules_that_strike_together_are_spent_each_by_itself() {
        let rules = Rules::default();
        for (times, kind) in [(Some(1), 1), (None, 2), (Some(2), 3), (Some(1), 4)] {
            rules.add("order".to_owned(), times, ALWAYS, kind);
        }
        let struck = || {
            let mut struck = Vec::new();
            rules.take_each(
                |part, kind| part == "order" && *kind != 4,
                |kind| {
                    struck.push(*kind);
                    *kind != 3 || struck.len() < 3
                },
            );
            struck
        };
        assert_eq!(struck(), [1, 2, 3], "the third finds nothing to strike");
        assert_eq!(struck(), [2, 3]);
        assert_eq!(struck(), [2, 3]);
        assert_eq!(struck(), [2], "and the fourth was never meant");
        assert!(!rules.is_empty());
    }

    #[test]
    fn a_probability_is_kept_and_the_same_seed_strikes_alike() {
        let strikes = |seed| {
            let rules = Rules::seeded(seed);
            rules.add(String::new(), None, 300, ());
            (0..1000).map(|_| rules.take(|_, _| true).is_some()).collect::<Vec<_>>()
        };
        let count = strikes(1).into_iter().filter(|struck| *struck).count();
        assert!((250..350).contains(&count), "{count}");
        assert_eq!(strikes(1), strikes(1));
        assert_ne!(strikes(1), strikes(2));
    }

    #[test]
    fn a_probability_lies_between_nothing_and_certainty() {
        assert_eq!(
            (thousandths(0.0).ok(), thousandths(0.25).ok(), thousandths(1.0).ok()),
            (Some(0), Some(250), Some(ALWAYS))
        );
        for odd in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(thousandths(odd).is_err(), "{odd}");
        }
    }
}
