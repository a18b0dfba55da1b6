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
    /// How it is planned.
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
        /// How it is planned.
        #[command(flatten)]
        plan: BackupPlan,
    },
}

/// How backups are planned.
#[derive(Args, Clone, Copy, Debug)]
pub struct BackupPlan {
    /// For a timer: an alarm if no other one has succeeded within this time (36h, 8d); 0h ends that.
    #[arg(long, value_name = "SPAN", value_parser = span)]
    pub next_within: Option<Duration>,
}

/// Parses the time within which the next backup has to succeed.
fn span(text: &str) -> Result<Duration, String> {
    let has_unit = text.ends_with(|last: char| last.is_ascii_alphabetic());
    crate::config::span(text).filter(|_| has_unit).ok_or_else(|| format!("{text:?}: 36h, 8d (0h: none)"))
}
