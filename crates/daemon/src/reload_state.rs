//! The result of the last request to read the configuration again.

use espelho_model::text::Text;
use serde::{Deserialize, Serialize};

/// The requests to read the configuration again, and the result of the last one: for `/status` and `espelho reload`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct ReloadState {
    /// The requests since the start that were carried out or refused.
    pub requests: u64,
    /// True if the last one was refused: the earlier configuration stays.
    pub is_refused: bool,
    /// The mistakes for which the last one was refused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mistakes: Vec<Text>,
    /// The parts of the configuration that change with a restart only.
    pub needs_restart: Vec<String>,
}

impl ReloadState {
    /// Notes a request that was carried out, but for the parts that need a restart.
    pub(crate) fn carried_out(&mut self, needs_restart: &[&'static str]) {
        let needs_restart = needs_restart.iter().map(|&part| part.to_owned()).collect();
        *self = Self { requests: self.requests + 1, needs_restart, ..Self::default() };
    }

    /// Notes a request that was refused for these mistakes.
    pub(crate) fn refused(&mut self, mistakes: &[Text]) {
        self.requests += 1;
        self.is_refused = true;
        self.mistakes = mistakes.to_vec();
    }
}
