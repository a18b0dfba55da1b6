//! Notices: which messages about alarms go out to people now. Pure.
//!
//! An [`Episode`] is one message to people and, later, the message that it is over. Every alarm that stands is in an
//! episode that was told and is not over; an alarm that comes back is told again only after its episode was over. So
//! nothing that lasts is untold, and nothing is told twice.

mod ping;
mod sightings;

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::alarms::{Code, Observations, Owner, Severity};

pub use ping::{Ping, PingProof, ping};
pub use sightings::Sightings;

/// An alarm that comes back within this time flaps: its end is told only after it was gone for as long as this.
pub const FLAP: TimeDelta = TimeDelta::hours(1);
/// The least time between two messages about one code, by how many went out within the last hour. Thousands of stores
/// that fall behind one after another are a handful of messages, each with all the stores that are new.
const SPACING: [TimeDelta; 4] =
    [TimeDelta::zero(), TimeDelta::seconds(30), TimeDelta::minutes(2), TimeDelta::minutes(10)];
/// A marketplace that was in trouble and has not answered since is called well again after this time: nothing is known
/// to be wrong, and nothing asks it.
const UNPROVED: TimeDelta = TimeDelta::minutes(10);
/// After a process began or ended, alarms that nobody has seen since then are over after this time: they may not have
/// been found again yet.
const FOUND_AGAIN: TimeDelta = TimeDelta::minutes(5);
/// The same for alarms that are read from the tables.
const READ_AGAIN: TimeDelta = TimeDelta::seconds(30);
/// The delay after the first failed attempt; it doubles with each.
const FIRST_RETRY: TimeDelta = TimeDelta::seconds(5);
/// The longest delay.
const LONGEST_RETRY: TimeDelta = TimeDelta::minutes(10);
/// After so many attempts, 50 minutes, a message is given up.
const ATTEMPTS: u32 = 12;

/// The configuration of what is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The least severity that is told.
    pub from: Severity,
    /// An alarm that comes and goes within this time is not told.
    pub settle: TimeDelta,
}

/// The identity of an alarm over time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AlarmKey {
    /// Its code. A process of another version may know more codes.
    pub code: String,
    /// Its store; `None` where it concerns several, and where the cause says all.
    pub store: Option<String>,
    /// The cause within the code.
    pub cause: String,
}

impl AlarmKey {
    /// Returns the identity of an alarm. A marketplace that is down stays one alarm while it hits first one store, then
    /// several.
    pub fn new(code: &str, store: Option<&str>, cause: &str) -> Self {
        let is_of_the_cause = is_about_marketplace(code) || code == Code::Paused.as_str();
        let store = store.filter(|_| !is_of_the_cause).map(str::to_owned);
        Self { code: code.to_owned(), store, cause: cause.to_owned() }
    }

    /// Tells whether it is about the database, so that it may be impossible to record what is told.
    pub fn is_about_database(&self) -> bool {
        [
            Code::DiskFull,
            Code::DatabaseBusy,
            Code::DatabaseUnreachable,
            Code::DatabaseReadOnly,
            Code::DatabaseReplaced,
        ]
        .iter()
        .any(|code| code.as_str() == self.code)
    }

    /// Tells whether it is read from the tables, and so known again right after a start.
    fn is_read_from_tables(&self) -> bool {
        [
            Code::UnknownStore,
            Code::Failed,
            Code::Held,
            Code::Doubtful,
            Code::Waiting,
            Code::Deadline,
            Code::FiscalGate,
            Code::MirrorDiffers,
            Code::Paused,
            Code::SchemaChanged,
            Code::NoticeFailed,
        ]
        .iter()
        .any(|code| code.as_str() == self.code)
    }
}

/// Tells whether no alarm is raised of this while a cause that explains it lasts.
fn is_explained(key: &AlarmKey, standing: &BTreeMap<AlarmKey, Severity>) -> bool {
    let is_one_of = |code: &str, codes: &[Code]| codes.iter().any(|known| known.as_str() == code);
    is_one_of(&key.code, &[Code::Late, Code::NotHeld, Code::TokenExpires])
        && standing.iter().any(|(other, severity)| {
            other.is_about_database()
                || is_about_marketplace(&other.code)
                // With a token that works, another program explains nothing.
                || (is_one_of(&other.code, &[Code::CredentialRefused, Code::ForeignLogin])
                    && *severity == Severity::Failing)
        })
}

/// Tells whether the cause of a code is the address of a marketplace.
fn is_about_marketplace(code: &str) -> bool {
    Code::parse(code).is_some_and(Code::is_about_marketplace)
}

/// One message about alarms of one code, until it is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Episode {
    /// Its identifier.
    pub id: String,
    /// The code of its alarms.
    pub code: String,
    /// The severity that was told.
    pub severity: Severity,
    /// Its alarms.
    pub members: BTreeSet<AlarmKey>,
    /// When it was told.
    pub raised_at: DateTime<Utc>,
    /// It is over when its alarms were gone for this long.
    pub quiet: TimeDelta,
    /// When it was over.
    pub ended_at: Option<DateTime<Utc>>,
}

impl Episode {
    fn is_open(&self) -> bool {
        self.ended_at.is_none()
    }
}

/// The answers that marketplaces have given to this process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The stores that this process works on, with the marketplace's address, and whether it has answered of late.
    stores: BTreeMap<String, (String, bool)>,
}

impl Evidence {
    /// Collects the evidence in some observations.
    pub fn of(seen: &Observations) -> Self {
        let ours = seen.stores.iter().filter(|store| matches!(store.owner, Owner::Here(_)));
        let answered = |then: DateTime<Utc>| (seen.at - then).abs() <= super::alarms::PROVES;
        let evidence = ours.map(|store| {
            (store.key.to_string(), (store.base_url.clone(), store.answered_at.is_some_and(answered)))
        });
        Self { stores: evidence.collect() }
    }

    /// Tells whether an answer proves that an alarm of a marketplace or a credential is over; `None` where this process
    /// works on none of its stores, or another proof is needed.
    fn answers(&self, key: &AlarmKey) -> Option<bool> {
        if is_about_marketplace(&key.code) {
            let mut of_it = self.stores.values().filter(|(address, _)| *address == key.cause).peekable();
            of_it.peek()?;
            return Some(of_it.all(|(_, is_answered)| *is_answered));
        }
        let is_about_credential = key.code == Code::CredentialRefused.as_str();
        let store = key.store.as_ref().filter(|_| is_about_credential)?;
        self.stores.get(store).map(|(_, is_answered)| *is_answered)
    }
}

/// One thing to do now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Tell these alarms, in one message.
    Raise {
        /// Their code.
        code: String,
        /// The worst severity among them.
        severity: Severity,
        /// The alarms.
        members: BTreeSet<AlarmKey>,
        /// For how long they must be gone before the end is told.
        quiet: TimeDelta,
    },
    /// Tell that an episode is over.
    End {
        /// The episode.
        id: String,
        /// When its last alarm was gone.
        ended_at: DateTime<Utc>,
    },
    /// End an episode without a message: all its alarms were told again as something worse.
    Absorb {
        /// The episode.
        id: String,
    },
}

/// The facts for a decision.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'s> {
    /// The time.
    pub at: DateTime<Utc>,
    /// The alarms that stand, with their severity.
    pub standing: &'s BTreeMap<AlarmKey, Severity>,
    /// When each was seen.
    pub sightings: &'s Sightings,
    /// The answers of marketplaces.
    pub evidence: &'s Evidence,
    /// The episodes that are not over, and those that were told within [`FLAP`].
    pub episodes: &'s [Episode],
}

/// Decides which messages go out now.
pub fn decide(rules: Rules, scene: Scene<'_>) -> Vec<Decision> {
    let mut decisions = raises(rules, scene);
    decisions.extend(scene.episodes.iter().filter(|episode| episode.is_open()).filter_map(|episode| {
        let members = own_members(episode, scene.episodes);
        if members.is_empty() {
            return Some(Decision::Absorb { id: episode.id.clone() });
        }
        let quiet = episode.quiet.max(rules.settle);
        let gone = members.into_iter().map(|key| gone_since(key, quiet, scene));
        let ended_at = gone.collect::<Option<Vec<_>>>()?.into_iter().max()?;
        Some(Decision::End { id: episode.id.clone(), ended_at })
    }));
    decisions
}

/// Returns the messages about alarms that stand and are untold, one for each code.
fn raises(rules: Rules, scene: Scene<'_>) -> Vec<Decision> {
    let mut told = BTreeMap::<&AlarmKey, Severity>::new();
    for episode in scene.episodes.iter().filter(|episode| episode.is_open()) {
        for key in &episode.members {
            let known = told.entry(key).or_insert(episode.severity);
            *known = episode.severity.max(*known);
        }
    }
    let mut untold = BTreeMap::<&str, BTreeMap<&AlarmKey, Severity>>::new();
    for (key, severity) in scene.standing {
        let is_settled = scene.sightings.stands_since(key);
        let is_settled = is_settled.is_some_and(|since| (scene.at - since).abs() >= rules.settle);
        let is_told = told.get(key).is_some_and(|told| told >= severity);
        if *severity >= rules.from && is_settled && !is_told {
            untold.entry(&key.code).or_default().insert(key, *severity);
        }
    }
    let spaced = untold.into_iter().filter(|(code, _)| may_tell(code, scene));
    let raise = |(code, alarms): (&str, BTreeMap<&AlarmKey, Severity>)| {
        let severity = alarms.values().copied().max()?;
        let members: BTreeSet<AlarmKey> = alarms.into_keys().cloned().collect();
        let flaps = scene.episodes.iter().any(|episode| {
            !episode.is_open() && is_recent(episode, scene.at) && !episode.members.is_disjoint(&members)
        });
        let quiet = if flaps { FLAP } else { rules.settle };
        Some(Decision::Raise { code: code.to_owned(), severity, members, quiet })
    };
    spaced.filter_map(raise).collect()
}

/// Tells whether another message about a code may go out now.
fn may_tell(code: &str, scene: Scene<'_>) -> bool {
    let told = scene.episodes.iter().filter(|episode| episode.code == code && is_recent(episode, scene.at));
    let times: Vec<DateTime<Utc>> = told.map(|episode| episode.raised_at).collect();
    let spacing = SPACING.get(times.len()).or(SPACING.last()).copied().unwrap_or_default();
    times.into_iter().max().is_none_or(|last| (scene.at - last).abs() >= spacing)
}

/// Tells whether an episode was told within the last hour. One of the future is: the clock was set back.
fn is_recent(episode: &Episode, at: DateTime<Utc>) -> bool {
    (at - episode.raised_at).abs() < FLAP
}

/// Returns the alarms of an episode that no worse one has taken over.
fn own_members<'e>(episode: &'e Episode, episodes: &[Episode]) -> Vec<&'e AlarmKey> {
    let has_taken = |key: &AlarmKey| {
        let is_worse = |other: &&Episode| other.is_open() && other.severity > episode.severity;
        episodes.iter().filter(is_worse).any(|other| other.members.contains(key))
    };
    episode.members.iter().filter(|key| !has_taken(key)).collect()
}

/// Returns since when an alarm is over; `None` while it is not, or may not be.
fn gone_since(key: &AlarmKey, quiet: TimeDelta, scene: Scene<'_>) -> Option<DateTime<Utc>> {
    let Scene { at, sightings, evidence, .. } = scene;
    if scene.standing.contains_key(key) || is_explained(key, scene.standing) {
        return None;
    }
    let gone = sightings.gone_since(key);
    let was_seen = sightings.was_seen_since_change(key);
    // A time of the future is from before the clock was set back.
    let has_passed = |since: DateTime<Utc>, long: TimeDelta| (at - since).abs() >= long;
    let waited = |long: TimeDelta| was_seen || has_passed(sightings.changed_at(), long);
    let is_over = match evidence.answers(key) {
        Some(is_answered) => is_answered || has_passed(gone, UNPROVED),
        None if key.is_about_database() => true,
        None if key.is_read_from_tables() => waited(READ_AGAIN),
        None => waited(FOUND_AGAIN),
    };
    (is_over && has_passed(gone, quiet)).then_some(gone.min(at))
}

/// Returns the delay after a failed attempt; `None` when the message is given up.
pub fn retry_after(attempts: u32) -> Option<TimeDelta> {
    let doubled = FIRST_RETRY * (1 << attempts.saturating_sub(1).min(10));
    (attempts < ATTEMPTS).then(|| doubled.min(LONGEST_RETRY))
}

#[cfg(test)]
mod tests;
