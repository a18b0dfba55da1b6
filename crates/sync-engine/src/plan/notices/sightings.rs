//! When each alarm was seen, by this process.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::{DateTime, TimeDelta, Utc};

use super::AlarmKey;
use crate::plan::alarms::Severity;

/// For how long an alarm that is gone is remembered.
const KEPT: TimeDelta = TimeDelta::days(1);

/// The times at which alarms stood.
#[derive(Clone, Debug)]
pub struct Sightings {
    /// Since when each alarm stands.
    standing: HashMap<AlarmKey, DateTime<Utc>>,
    /// When each alarm was last seen.
    last: HashMap<AlarmKey, DateTime<Utc>>,
    /// The processes that report alarms.
    instances: BTreeSet<String>,
    /// When a process last began or ended.
    changed_at: DateTime<Utc>,
}

impl Sightings {
    /// Begins to watch.
    pub fn begin(at: DateTime<Utc>) -> Self {
        Self { standing: HashMap::new(), last: HashMap::new(), instances: BTreeSet::new(), changed_at: at }
    }

    /// Notes the alarms that stand now, and the processes that report them.
    pub fn note(
        &mut self,
        at: DateTime<Utc>,
        instances: BTreeSet<String>,
        standing: &BTreeMap<AlarmKey, Severity>,
    ) {
        if instances != self.instances {
            (self.instances, self.changed_at) = (instances, at);
        }
        self.standing.retain(|key, _| standing.contains_key(key));
        for key in standing.keys() {
            self.standing.entry(key.clone()).or_insert(at);
            self.last.insert(key.clone(), at);
        }
        self.last.retain(|_, seen| (at - *seen).abs() < KEPT);
    }

    /// Returns since when an alarm stands without a break.
    pub(super) fn stands_since(&self, key: &AlarmKey) -> Option<DateTime<Utc>> {
        self.standing.get(key).copied()
    }

    /// Returns since when an alarm is gone, as far as this process knows.
    pub(super) fn gone_since(&self, key: &AlarmKey) -> DateTime<Utc> {
        self.last.get(key).copied().unwrap_or(self.changed_at)
    }

    /// Tells whether an alarm was seen by the processes that live now.
    pub(super) fn was_seen_since_change(&self, key: &AlarmKey) -> bool {
        self.last.get(key).is_some_and(|seen| *seen >= self.changed_at)
    }

    /// Returns when a process last began or ended.
    pub(super) fn changed_at(&self) -> DateTime<Utc> {
        self.changed_at
    }
}
