//! `espelho pause` and `resume` on the command line.

use std::time::Duration;

use clap::Args;
use espelho_model::pause::PauseScope;

/// A value of `espelho pause --only`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum PauseArg {
    /// Nothing is sent to the marketplace.
    Push,
    /// Nothing is read by sweeps, reconciliations, label polls and audits.
    Pull,
    /// Deliveries are kept, and nothing is read for them.
    Webhooks,
    /// Levels (erp_stock) are not sent.
    Stock,
    /// Prices (erp_prices) are not sent.
    Prices,
    /// Commands are not carried out.
    Commands,
}

impl PauseArg {
    /// Returns the scope.
    pub fn scope(self) -> PauseScope {
        match self {
            Self::Push => PauseScope::Push,
            Self::Pull => PauseScope::Pull,
            Self::Webhooks => PauseScope::Webhooks,
            Self::Stock => PauseScope::Stock,
            Self::Prices => PauseScope::Prices,
            Self::Commands => PauseScope::Commands,
        }
    }
}

/// `espelho pause`.
#[derive(Args, Clone, Debug)]
pub struct PauseArgs {
    /// Only this store (repeatable).
    #[arg(long, value_name = "KEY")]
    pub store: Vec<String>,
    /// Only this part.
    #[arg(long, value_name = "PART")]
    pub only: Option<PauseArg>,
    /// For how long: 90s, 30m, 2h, 1d; at most 30 days.
    #[arg(long = "for", value_name = "SPAN", value_parser = pause_span)]
    pub span: Duration,
}

/// `espelho resume`.
#[derive(Args, Clone, Debug)]
pub struct ResumeArgs {
    /// Only this store (repeatable).
    #[arg(long, value_name = "KEY")]
    pub store: Vec<String>,
    /// Only pauses of this part.
    #[arg(long, value_name = "PART")]
    pub only: Option<PauseArg>,
}

/// Parses how long a pause lasts.
fn pause_span(text: &str) -> Result<Duration, String> {
    let longest = Duration::from_secs(30 * 86_400);
    let has_unit = text.ends_with(|last: char| last.is_ascii_alphabetic());
    crate::config::span(text)
        .filter(|_| has_unit)
        .filter(|span| !span.is_zero() && *span <= longest)
        .ok_or_else(|| format!("{text:?}: 90s, 30m, 2h, 1d (<= 30d)"))
}
