//! `espelho release`, `retry`, `ignore`: which rows a person decides about.

use clap::{Args, ValueEnum};
use espelho_model::push::PushState;

use super::IntentArg;

/// `espelho release`, `retry`, `ignore`.
#[derive(Args, Clone, Debug)]
pub struct DecideArgs {
    /// Which table, as in `espelho errors`.
    #[arg(value_name = "ENTITY", required_unless_present = "all")]
    pub entity: Option<IntentArg>,
    /// Which row, as in `espelho errors`.
    #[arg(value_name = "KEY", required_unless_present = "all")]
    pub key: Option<String>,
    /// Every row that is failed, held or in doubt (of ENTITY, where one is named).
    #[arg(long, conflicts_with = "key")]
    pub all: bool,
    /// With --all: only rows of this cause, as in `espelho errors`.
    #[arg(long, value_name = "CODE", requires = "all")]
    pub code: Option<String>,
    /// Only in this store.
    #[arg(long, value_name = "KEY")]
    pub store: Option<String>,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
}

/// `espelho retry`.
#[derive(Args, Clone, Debug)]
pub struct RetryArgs {
    /// Which rows.
    #[command(flatten)]
    pub decide: DecideArgs,
    /// With --all: what was ignored instead of what failed. A command in doubt is brought back by its number only.
    #[arg(long, requires = "all")]
    pub ignored: bool,
}

/// `espelho ignore`.
#[derive(Args, Clone, Debug)]
pub struct IgnoreArgs {
    /// Which rows.
    #[command(flatten)]
    pub decide: DecideArgs,
    /// With --all: only rows in this state. Rows that failed and rows that are held are two lists, and two decisions.
    #[arg(long, value_name = "STATE", requires = "all", required_if_eq("all", "true"))]
    pub state: Option<EndedStateArg>,
}

/// The states of rows that are given up together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EndedStateArg {
    /// Refused.
    Failed,
    /// Held by a guard.
    Held,
}

impl EndedStateArg {
    /// Returns the state.
    pub fn state(self) -> PushState {
        match self {
            Self::Failed => PushState::Failed,
            Self::Held => PushState::Held,
        }
    }
}
