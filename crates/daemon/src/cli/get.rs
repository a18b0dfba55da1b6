//! `espelho get` on the command line.

use clap::{Args, Subcommand};

/// `espelho get`.
#[derive(Clone, Debug, Subcommand)]
pub enum GetCommand {
    /// An order with its lines, shipments and fiscal documents.
    Order(GetOrderArgs),
}

/// `espelho get order`.
#[derive(Args, Clone, Debug)]
pub struct GetOrderArgs {
    /// The order's number.
    pub number: String,
    /// The store, where several have an order of this number.
    #[arg(long, value_name = "KEY")]
    pub store: Option<String>,
}
