//! `espelho migrate` on the command line.

use clap::Args;

/// `espelho migrate`.
#[derive(Args, Clone, Debug)]
pub struct MigrateArgs {
    /// Creates a new one also where another place has one already: the working directory, or /var/lib/espelho.
    #[arg(long)]
    pub new: bool,
    /// Runs the pending migrations on a copy, says what they change and how long they take, and removes the copy.
    #[arg(long, conflicts_with_all = ["new", "no_backup"])]
    pub rehearse: bool,
    /// Makes no backup before it migrates (SQLite).
    #[arg(long)]
    pub no_backup: bool,
}
