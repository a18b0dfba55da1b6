//! `espelho backup` on the command line.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Subcommand};

/// `espelho backup`.
#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct BackupArgs {
    /// The folder, which must not exist [default: backups/espelho-TIME beside the database].
    #[arg(value_name = "PATH")]
    pub path: Option<PathBuf>,
    /// Tells when the next one is due.
    #[command(flatten)]
    pub plan: BackupPlan,
    /// Another act than to copy.
    #[command(subcommand)]
    pub command: Option<BackupCommand>,
}

/// Acts on backups.
#[derive(Clone, Debug, Subcommand)]
pub enum BackupCommand {
    /// Restores a backup into a place of its own, checks it there, and removes that again.
    Verify {
        /// The backup [default: the newest in backups beside the database].
        #[arg(value_name = "PATH")]
        path: Option<PathBuf>,
        /// Tells when the next one is due.
        #[command(flatten)]
        plan: BackupPlan,
    },
}

/// The plan of a timer that starts backups.
#[derive(Args, Clone, Copy, Debug)]
pub struct BackupPlan {
    /// For a timer: an alarm if no other one has succeeded within this time (36h, 8d); 0h ends that.
    #[arg(long, value_name = "SPAN", value_parser = span)]
    pub next_within: Option<Duration>,
}

/// Parses the time within which the next backup has to succeed; zero is none.
fn span(text: &str) -> Result<Duration, String> {
    if ["0s", "0m", "0h", "0d"].contains(&text) {
        return Ok(Duration::ZERO);
    }
    let has_unit = text.ends_with(|last: char| last.is_ascii_alphabetic());
    crate::config::span(text).filter(|_| has_unit).ok_or_else(|| format!("{text:?}: 36h, 8d (0h: none)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_has_a_unit_and_zero_is_none() {
        for (text, hours) in [
            ("0h", Some(0)),
            ("36h", Some(36)),
            ("8d", Some(192)),
            ("36", None),
            ("400d", None),
            ("-1h", None),
        ] {
            assert_eq!(span(text).ok(), hours.map(|hours| Duration::from_secs(hours * 3_600)), "{text}");
        }
    }
}
