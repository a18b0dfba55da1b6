//! `espelho notice` on the command line.

use clap::Subcommand;

/// `espelho notice`.
#[derive(Clone, Debug, Subcommand)]
pub enum NoticeCommand {
    /// Sends a test message by every configured channel, and says what became of each. Ends with 1 when none went out, 3
    /// when some did not.
    Test {
        /// Only by this channel: ping, webhook, smtp or exec.
        #[arg(long, value_name = "CHANNEL", value_parser = ["ping", "webhook", "smtp", "exec"])]
        channel: Option<String>,
    },
}
