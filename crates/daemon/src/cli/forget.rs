//! `espelho forget` on the command line.

use clap::{Args, builder::NonEmptyStringValueParser};

/// `espelho forget`.
#[derive(Args, Clone, Debug)]
pub struct ForgetArgs {
    /// The person: an e-mail address, a CPF or CNPJ, a customer id, or the number of one of the person's orders.
    #[arg(value_name = "PERSON", value_parser = NonEmptyStringValueParser::new())]
    pub person: String,
    /// Only in this store.
    #[arg(long, value_name = "KEY")]
    pub store: Option<String>,
    /// Count what would be erased; change nothing.
    #[arg(long)]
    pub dry_run: bool,
}
