//! `[retention]` of `espelho.toml`: for how many days old records are kept. `plan::retention` says what each limit means,
//! and which values are too short.

use espelho_model::{text, text::Text};
use espelho_sync_engine::plan::retention::{Retention, TooShort};
use serde::{Deserialize, Serialize};

/// The section. An absent key keeps for ever.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RetentionSection {
    /// Deliveries, after they were handled.
    pub inbox_days: u32,
    /// Effects, after they were settled.
    pub effects_days: u32,
    /// Rows of the change feed that every consumer has acknowledged.
    pub changes_days: Option<u32>,
    /// Runs.
    pub runs_days: Option<u32>,
    /// Commands about orders that are over.
    pub commands_days: Option<u32>,
    /// Texts of conversations, messages and occurrences.
    pub messages_days: Option<u32>,
    /// The objects (`raw`) of finished orders.
    pub raw_days: Option<u32>,
}

impl Default for RetentionSection {
    fn default() -> Self {
        let Retention { deliveries, effects, changes, runs, commands, messages, raw, .. } =
            Retention::default();
        Self {
            inbox_days: deliveries,
            effects_days: effects,
            changes_days: changes,
            runs_days: runs,
            commands_days: commands,
            messages_days: messages,
            raw_days: raw,
        }
    }
}

impl RetentionSection {
    /// Returns the limits, with that of label files, which `[labels]` has.
    pub(crate) fn limits(&self, label_files: Option<u32>) -> Retention {
        Retention {
            deliveries: self.inbox_days,
            effects: self.effects_days,
            changes: self.changes_days,
            runs: self.runs_days,
            commands: self.commands_days,
            messages: self.messages_days,
            raw: self.raw_days,
            label_files,
        }
    }

    /// Returns the key whose value is too short to be safe, with the words about it.
    pub(super) fn mistake(&self) -> Option<(&'static str, Text)> {
        let TooShort { key, days, least } = self.limits(None).mistake()?;
        Some((key, text!("config-retention", key = key, days = days, least = least)))
    }
}
