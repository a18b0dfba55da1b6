//! `espelho forget` on the command line.

use clap::{Args, builder::NonEmptyStringValueParser};

/// `espelho forget`.
#[derive(Args, Clone, Debug)]
pub struct ForgetArgs {
    /// The person: an e-mail address, a CPF or CNPJ, a customer id, or the number of one of the person's orders.
    #[arg(
        value_name = "PERSON",
        value_parser = NonEmptyStringValueParser::new(),
        required_unless_present = "everyone"
    )]
    pub person: Option<String>,
    /// Everybody in the store that --store names.
    #[arg(long, conflicts_with = "person", requires = "store")]
    pub everyone: bool,
    /// Only in this store.
    #[arg(long, value_name = "KEY")]
    pub store: Option<String>,
    /// Count what would be erased; change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// With --everyone: do not ask.
    #[arg(long, requires = "everyone")]
    pub yes: bool,
}
