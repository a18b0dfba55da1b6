//! `espelho token` on the command line.

use clap::Subcommand;

/// `espelho token`.
#[derive(Clone, Debug, Subcommand)]
pub enum TokenCommand {
    /// Tells what the database knows of each store's token, without the token. Never logs in.
    Status {
        /// Only this store.
        #[arg(long, value_name = "KEY")]
        store: Option<String>,
    },
}
