//! `espelho prune` on the command line.

use std::time::Duration;

use clap::Args;

/// `espelho prune`.
#[derive(Args, Clone, Debug)]
pub struct PruneArgs {
    /// Keep records at least this long, if the service's own limits are shorter, and delete rows of the change feed of
    /// this age that every consumer has acknowledged: 1d, 90d; at least a day.
    #[arg(long, value_name = "SPAN", value_parser = age)]
    pub older_than: Option<Duration>,
    /// Count, and delete nothing.
    #[arg(long)]
    pub dry_run: bool,
}

/// Parses an age.
fn age(text: &str) -> Result<Duration, String> {
    crate::config::span(text)
        .filter(|span| *span >= Duration::from_secs(86_400))
        .ok_or_else(|| format!("{text:?}: 1d, 90d (>= 1d)"))
}
