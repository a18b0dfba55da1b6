//! `espelho backup` on the command line.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `espelho backup`.
#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct BackupArgs {
    /// The folder, which must not exist [default: backups/espelho-TIME beside the database].
    #[arg(value_name = "PATH")]
    pub path: Option<PathBuf>,
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
    },
}
