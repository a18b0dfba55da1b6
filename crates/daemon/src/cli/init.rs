//! `espelho init` on the command line.

use std::path::PathBuf;

use clap::Args;
use espelho_model::text::Language;

/// `espelho init`. Each option answers a question; what has none is asked at a terminal.
#[derive(Args, Clone, Debug, Default)]
pub struct InitArgs {
    /// The address of the marketplace's API.
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// The username from the seller portal.
    #[arg(long, value_name = "USER")]
    pub username: Option<String>,
    /// A file that the password is read from, instead of typing it; it is copied into the configuration.
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// The database [default: sqlite:espelho.db].
    #[arg(long, value_name = "URL")]
    pub database: Option<String>,
    /// The public address of the webhook, with the path /webhooks/KEY; an empty one: polling only.
    #[arg(long, value_name = "URL")]
    pub webhook: Option<String>,
    /// The language of the texts in the database and of the comments in the configuration: pt-BR or en.
    #[arg(long, value_name = "LANG")]
    pub language: Option<Language>,
    /// The store's name in tables and commands [default: the username's first part].
    #[arg(long, value_name = "KEY")]
    pub store: Option<String>,
    /// Replace the store's file if there is one.
    #[arg(long)]
    pub replace: bool,
}
