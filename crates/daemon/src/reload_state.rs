//! The result of the last request to read the configuration again.

use serde::{Deserialize, Serialize};

/// The requests to read the configuration again, and the result of the last one: for `/status` and `espelho reload`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct ReloadState {
    /// The requests since the start that were carried out or refused.
    pub requests: u64,
    /// True if the last one was refused: the earlier configuration stays.
    pub is_refused: bool,
    /// The parts of the configuration that change with a restart only.
    pub needs_restart: Vec<String>,
}

impl ReloadState {
    /// Notes a request that was carried out, but for the parts that need a restart.
    pub(crate) fn carried_out(&mut self, needs_restart: &[&'static str]) {
        let needs_restart = needs_restart.iter().map(|&part| part.to_owned()).collect();
        *self = Self { requests: self.requests + 1, is_refused: false, needs_restart };
    }

    /// Notes a request that was refused.
    pub(crate) fn refused(&mut self) {
        self.requests += 1;
        self.is_refused = true;
    }
}
