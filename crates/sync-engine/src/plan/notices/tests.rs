use proptest::prelude::*;

use super::*;
use crate::plan::alarms::State;

const RULES: Rules = Rules { from: Severity::Failing, settle: TimeDelta::seconds(5) };

fn at(second: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_795_000_000 + second, 0).unwrap()
}

fn key(code: &str, store: &str) -> AlarmKey {
    AlarmKey::new(code, Some(store), "")
}

/// A process that watches, decides and remembers, with a clock that the test moves.
struct World {
    rules: Rules,
    now: i64,
    instances: BTreeSet<String>,
    standing: BTreeMap<AlarmKey, Severity>,
    sightings: Sightings,
    evidence: Evidence,
    episodes: Vec<Episode>,
    /// The messages that went out, with their times.
    told: Vec<(i64, Told)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Told {
    Raised {
        id: String,
        severity: Severity,
        members: BTreeSet<AlarmKey>,
    },
    Ended {
        id: String,
    },
    /// Over without a message.
    Absorbed {
        id: String,
    },
}

impl World {
    fn new(rules: Rules) -> Self {
        let (standing, episodes, told) = (BTreeMap::new(), Vec::new(), Vec::new());
        let mut sightings = Sightings::begin(at(0));
        sightings.note(at(0), ["a".to_owned()].into(), &standing);
        let (instances, evidence) = (["a".to_owned()].into(), Evidence::default());
        Self { rules, now: 0, instances, standing, sightings, evidence, episodes, told }
    }

    fn stands(&mut self, code: &str, store: &str) -> &mut Self {
        self.standing.insert(key(code, store), Severity::Failing);
        self
    }

    fn goes(&mut self, code: &str, store: &str) -> &mut Self {
        self.standing.remove(&key(code, store));
        self
    }

    /// Lets time pass in steps of three seconds, as the service does, and decides at each.
    fn passes(&mut self, seconds: i64) -> &mut Self {
        let end = self.now + seconds;
        while self.now < end {
            self.now = end.min(self.now + 3);
            self.tick();
        }
        self
    }

    fn tick(&mut self) {
        self.sightings.note(at(self.now), self.instances.clone(), &self.standing);
        let scene = Scene {
            at: at(self.now),
            standing: &self.standing,
            sightings: &self.sightings,
            evidence: &self.evidence,
            episodes: &self.episodes,
        };
        for decision in decide(self.rules, scene) {
            self.apply(decision);
        }
        // The table gives those that are open, and those of the last hour.
        let now = at(self.now);
        self.episodes.retain(|episode| episode.is_open() || is_recent(episode, now));
    }

    fn apply(&mut self, decision: Decision) {
        match decision {
            Decision::Raise { code, severity, members, quiet } => {
                let id = format!("{code}-{}", self.told.len());
                self.told
                    .push((self.now, Told::Raised { id: id.clone(), severity, members: members.clone() }));
                let raised_at = at(self.now);
                self.episodes.push(Episode { id, code, severity, members, raised_at, quiet, ended_at: None });
            }
            Decision::End { id, ended_at } => {
                assert!(ended_at <= at(self.now));
                self.told.push((self.now, Told::Ended { id: id.clone() }));
                self.end(&id);
            }
            Decision::Absorb { id } => {
                self.told.push((self.now, Told::Absorbed { id: id.clone() }));
                self.end(&id);
            }
        }
    }

    fn end(&mut self, id: &str) {
        let now = at(self.now);
        let episode = self.episodes.iter_mut().find(|episode| episode.id == id).unwrap();
        assert_eq!(episode.ended_at.replace(now), None, "{id} is over already");
    }

    /// The process begins again, and finds in the table what was told.
    fn restarts(&mut self) -> &mut Self {
        self.sightings = Sightings::begin(at(self.now));
        self
    }

    fn answered(&mut self, store: &str, address: &str, is_answered: bool) -> &mut Self {
        self.evidence.stores.insert(store.to_owned(), (address.to_owned(), is_answered));
        self
    }

    /// Returns what was told, as `+CODE` with the number of alarms, and `-CODE`.
    fn said(&self) -> Vec<String> {
        let word = |told: &Told| match told {
            Told::Raised { id, members, .. } => Some(format!("+{} {}", code_of(id), members.len())),
            Told::Ended { id } => Some(format!("-{}", code_of(id))),
            Told::Absorbed { .. } => None,
        };
        self.told.iter().filter_map(|(_, told)| word(told)).collect()
    }

    fn raised_at(&self) -> Vec<i64> {
        let raised = self.told.iter().filter(|(_, told)| matches!(told, Told::Raised { .. }));
        raised.map(|(at, _)| *at).collect()
    }
}

fn code_of(id: &str) -> &str {
    id.rsplit_once('-').unwrap().0
}

#[test]
fn an_alarm_is_told_once_and_its_end_once() {
    let mut world = World::new(RULES);
    world.stands("failed", "a").passes(3_600).goes("failed", "a").passes(3_600);
    assert_eq!(world.said(), ["+failed 1", "-failed"]);
    let [(raised, _), (ended, _)] = world.told[..] else { panic!("{:?}", world.told) };
    assert!(raised <= 12 && ended <= 3_600 + 12, "both within seconds: {raised}, {ended}");
}

#[test]
fn an_alarm_that_comes_and_goes_at_once_is_not_told() {
    let mut world = World::new(RULES);
    world.stands("late", "a").passes(3).goes("late", "a").passes(600);
    assert_eq!(world.said(), [""; 0]);
}

#[test]
fn what_is_less_grave_than_asked_for_is_not_told_until_it_grows() {
    let mut world = World::new(RULES);
    world.standing.insert(key("deadline", "a"), Severity::Warning);
    world.passes(600);
    assert_eq!(world.said(), [""; 0]);
    world.stands("deadline", "a").passes(60);
    assert_eq!(world.said(), ["+deadline 1"]);
    let mut world = World::new(Rules { from: Severity::Warning, ..RULES });
    world.standing.insert(key("deadline", "a"), Severity::Warning);
    world.passes(600);
    world.stands("deadline", "a").passes(600);
    world.goes("deadline", "a").passes(600);
    assert_eq!(world.said(), ["+deadline 1", "+deadline 1", "-deadline"], "what grew worse has one end");
}

#[test]
fn another_program_beside_a_token_that_works_explains_no_other_alarm() {
    for (severity, expected) in
        [(Severity::Warning, &["+late 1", "-late"][..]), (Severity::Failing, &["+late 1"])]
    {
        let mut world = World::new(RULES);
        world.stands("late", "a").passes(600);
        world.standing.insert(key("foreign_login", "a"), severity);
        world.goes("late", "a").passes(600);
        let mut said = world.said();
        said.retain(|told| told.ends_with("late") || told.contains("late "));
        assert_eq!(said, expected, "{severity:?}");
    }
}

#[test]
fn three_thousand_stores_of_one_cause_are_one_message() {
    let mut world = World::new(RULES);
    for store in 0..3_095 {
        world.stands("late", &format!("loja-{store}"));
    }
    world.passes(600);
    world.standing.clear();
    world.passes(60);
    assert_eq!(world.said(), ["+late 3095", "-late"]);
}

#[test]
fn stores_that_fail_one_after_another_are_a_handful_of_messages() {
    let mut world = World::new(RULES);
    for store in 0..1_000 {
        world.stands("late", &format!("loja-{store}")).passes(3);
    }
    world.passes(600);
    assert!((3..=9).contains(&world.told.len()), "{:?}", world.raised_at());
    let covered: usize = world.episodes.iter().map(|episode| episode.members.len()).sum();
    assert_eq!(covered, 1_000, "and none is left out");
    // Two at a time are told within a minute of each other.
    let mut world = World::new(RULES);
    world.stands("credential_refused", "a").passes(12);
    world.stands("credential_refused", "b").passes(45);
    assert_eq!(world.said(), ["+credential_refused 1", "+credential_refused 1"]);
}

#[test]
fn an_alarm_that_flaps_is_told_twice_and_its_end_after_an_hour_of_quiet() {
    let mut world = World::new(RULES);
    for _ in 0..40 {
        world.stands("failed", "a").passes(60).goes("failed", "a").passes(60);
    }
    assert_eq!(world.said(), ["+failed 1", "-failed", "+failed 1"]);
    world.passes(3_600);
    assert_eq!(world.said().len(), 4, "now it is over");
    world.stands("failed", "a").passes(60).goes("failed", "a").passes(60);
    assert_eq!(world.said().len(), 6, "and what comes long afterwards is new");
}

#[test]
fn a_marketplace_that_hits_one_store_and_then_several_stays_one_message() {
    let mut world = World::new(RULES);
    world.answered("a", "https://m", false).answered("b", "https://m", false);
    let one = AlarmKey::new("marketplace_unreachable", Some("a"), "https://m");
    let both = AlarmKey::new("marketplace_unreachable", None, "https://m");
    world.standing.insert(one.clone(), Severity::Failing);
    world.passes(60);
    world.standing.remove(&one);
    world.standing.insert(both.clone(), Severity::Failing);
    world.passes(60);
    assert_eq!(world.said(), ["+marketplace_unreachable 1"]);
    world.standing.remove(&both);
    world.answered("a", "https://m", true).answered("b", "https://m", true).passes(30);
    assert_eq!(world.said(), ["+marketplace_unreachable 1", "-marketplace_unreachable"]);
}

#[test]
fn a_restart_neither_repeats_nor_ends_what_was_told() {
    let down = AlarmKey::new("marketplace_errors", None, "https://m");
    let mut world = World::new(RULES);
    world.standing.insert(down.clone(), Severity::Failing);
    world.answered("a", "https://m", false).passes(60);
    // The new process has asked nobody yet.
    world.standing.clear();
    world.restarts().passes(30);
    world.standing.insert(down.clone(), Severity::Failing);
    world.passes(600);
    assert_eq!(world.said(), ["+marketplace_errors 1"]);
    world.standing.clear();
    world.answered("a", "https://m", true).passes(30);
    assert_eq!(world.said(), ["+marketplace_errors 1", "-marketplace_errors"]);
}

#[test]
fn an_end_waits_for_the_proof_that_its_kind_has() {
    for (code, proved, last, expected) in [
        // An answer of the marketplace proves it at once; without one, ten minutes pass.
        ("marketplace_errors", Some(true), 9, true),
        ("marketplace_errors", Some(false), 590, false),
        ("marketplace_errors", Some(false), 620, true),
        ("credential_refused", Some(true), 9, true),
        ("credential_refused", Some(false), 590, false),
        // After a start, causes in the tables are found again within seconds, others within minutes.
        ("failed", None, 24, false),
        ("failed", None, 40, true),
        ("scope_missing", None, 290, false),
        ("scope_missing", None, 310, true),
        // The process that records the end has written.
        ("database_unreachable", None, 9, true),
        ("marketplace_errors", None, 290, false),
        ("marketplace_errors", None, 310, true),
    ] {
        let mut world = World::new(RULES);
        let alarm =
            AlarmKey::new(code, Some("a"), if code == "marketplace_errors" { "https://m" } else { "" });
        world.standing.insert(alarm.clone(), Severity::Failing);
        world.passes(60);
        assert_eq!(world.told.len(), 1, "{code}");
        world.standing.clear();
        if let Some(is_answered) = proved {
            world.answered("a", "https://m", is_answered);
        }
        world.restarts().passes(last);
        assert_eq!(world.told.len() == 2, expected, "{code} {proved:?} after {last} s");
    }
}

#[test]
fn an_alarm_that_another_process_reported_is_not_over_because_that_process_ended() {
    let mut world = World::new(RULES);
    world.instances = ["a".to_owned(), "b".to_owned()].into();
    world.stands("scope_missing", "loja-of-b").passes(60);
    // It ends, and this process takes its store, and finds the same.
    world.instances = ["a".to_owned()].into();
    world.goes("scope_missing", "loja-of-b").passes(60);
    world.stands("scope_missing", "loja-of-b").passes(60);
    assert_eq!(world.said(), ["+scope_missing 1"]);
    world.goes("scope_missing", "loja-of-b").passes(15);
    assert_eq!(world.said(), ["+scope_missing 1", "-scope_missing"]);
}

#[test]
fn attempts_double_their_delay_and_end() {
    let delays: Vec<i64> = (1..).map_while(retry_after).map(|delay| delay.num_seconds()).collect();
    assert_eq!(delays, [5, 10, 20, 40, 80, 160, 320, 600, 600, 600, 600]);
}

#[test]
fn the_dead_man_switch_hears_of_life_only_with_fresh_proof() {
    let proof = |state, lasts, age, written: Option<i64>| {
        ping(Some(PingProof {
            state,
            lasts: TimeDelta::seconds(lasts),
            age: TimeDelta::seconds(age),
            written: written.map(TimeDelta::seconds),
        }))
    };
    for (state, lasts, age, written, expected) in [
        (State::Ok, 9_999, 3, Some(5), Ping::Alive),
        (State::Warning, 9_999, 3, Some(5), Ping::Alive),
        (State::Unknown, 900, 3, Some(5), Ping::Alive),
        (State::Unknown, 901, 3, Some(5), Ping::Failing),
        (State::Failing, 0, 3, Some(5), Ping::Failing),
        (State::Failing, 0, 3, None, Ping::Failing),
        (State::Ok, 9_999, 61, Some(5), Ping::Silent),
        (State::Ok, 9_999, 3, Some(181), Ping::Silent),
        (State::Ok, 9_999, 3, None, Ping::Silent),
        // A proof of the future comes from a clock that was set back since.
        (State::Ok, 9_999, 3, Some(-181), Ping::Silent),
    ] {
        assert_eq!(proof(state, lasts, age, written), expected, "{state:?} {lasts} {age} {written:?}");
    }
    assert_eq!(ping(None), Ping::Silent);
}

/// One step of a history: an alarm changes, time passes, a process begins again.
#[derive(Clone, Debug)]
enum Step {
    Stands(u8, u8, bool),
    Goes(u8, u8),
    Passes(i64),
    Restarts,
    Instances(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..4u8, 0..5u8, any::<bool>()).prop_map(|(code, store, fails)| Step::Stands(code, store, fails)),
        3 => (0..4u8, 0..5u8).prop_map(|(code, store)| Step::Goes(code, store)),
        4 => (1..200i64).prop_map(Step::Passes),
        1 => (1..4_000i64).prop_map(Step::Passes),
        1 => Just(Step::Restarts),
        1 => (0..3u8).prop_map(Step::Instances),
    ]
}

fn any_key(code: u8, store: u8) -> AlarmKey {
    let code = ["failed", "scope_missing", "marketplace_errors", "database_busy"][usize::from(code)];
    AlarmKey::new(
        code,
        Some(&format!("loja-{store}")),
        if code == "marketplace_errors" { "https://m" } else { "" },
    )
}

/// Checks that each alarm is told once for each severity until its end was told, and each end once, after its message.
fn check_order(world: &World) {
    let mut open = BTreeMap::<String, (Severity, BTreeSet<AlarmKey>)>::new();
    for (_, told) in &world.told {
        match told {
            Told::Raised { id, severity, members } => {
                for (severity_before, before) in open.values() {
                    assert!(
                        severity_before < severity || before.is_disjoint(members),
                        "told twice: {members:?} in {:?}",
                        world.told
                    );
                }
                open.insert(id.clone(), (*severity, members.clone()));
            }
            Told::Ended { id } | Told::Absorbed { id } => {
                assert!(open.remove(id).is_some(), "{id} was not told, or is over: {:?}", world.told);
            }
        }
    }
}

/// Checks that an hour has few messages about one code.
fn check_rate(world: &World) {
    let mut by_code = BTreeMap::<&str, Vec<i64>>::new();
    for (at, told) in &world.told {
        if let Told::Raised { id, .. } = told {
            by_code.entry(code_of(id)).or_default().push(*at);
        }
    }
    for (code, times) in by_code {
        for first in &times {
            let within = times.iter().filter(|time| (*first..first + 3_600).contains(*time)).count();
            assert!(within <= 9, "{within} of {code} in an hour: {times:?}");
        }
    }
}

proptest! {
    // A case lets hours pass in steps of three seconds.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nothing_is_told_twice_and_nothing_that_lasts_is_untold(steps in prop::collection::vec(step(), 1..120)) {
        let mut world = World::new(Rules { from: Severity::Warning, ..RULES });
        for step in steps {
            match step {
                Step::Stands(code, store, fails) => {
                    let severity = if fails { Severity::Failing } else { Severity::Warning };
                    world.standing.insert(any_key(code, store), severity);
                }
                Step::Goes(code, store) => {
                    world.standing.remove(&any_key(code, store));
                }
                Step::Passes(seconds) => { world.passes(seconds); }
                Step::Restarts => { world.restarts(); }
                Step::Instances(last) => {
                    world.instances = (0..=last).map(|number| number.to_string()).collect();
                }
            }
        }
        check_order(&world);
        check_rate(&world);
        // Each alarm that stands is told once the spacing of messages has passed.
        world.passes(615);
        for (key, severity) in &world.standing {
            let covers = |episode: &Episode| {
                episode.is_open() && episode.severity >= *severity && episode.members.contains(key)
            };
            prop_assert!(world.episodes.iter().any(covers), "{key:?} is untold: {:?}", world.told);
        }
        // And whatever is gone is over in the end.
        world.standing.clear();
        world.passes(3_700);
        prop_assert!(world.episodes.iter().all(|episode| !episode.is_open()), "{:?}", world.episodes);
        check_order(&world);
    }
}
