//! Errors before the sandbox serves.

use std::path::PathBuf;

/// A sandbox that could not be started.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address could not be bound, or the bound socket could not be used.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address asked for.
        address: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A file of the Olist data set could not be opened.
    #[error("cannot open {}", path.display())]
    OpenTable {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A file of the Olist data set could not be read as the table it should be.
    #[error("cannot read {} as a table of the data set", path.display())]
    ReadTable {
        /// The file.
        path: PathBuf,
        /// The error of the CSV reader.
        source: csv::Error,
    },
    /// A value of the Olist data set is not of the kind its column holds.
    #[error("{}: record {record} has an unreadable {column}", path.display())]
    BadValue {
        /// The file.
        path: PathBuf,
        /// The record, from 1, without the header.
        record: usize,
        /// The column's name.
        column: &'static str,
    },
    /// The options cannot be served.
    #[error("{0}")]
    Options(&'static str),
    /// The waiting for the end signal could not be set up.
    #[error("cannot wait for the end signal")]
    Signal {
        /// The error of the system.
        source: std::io::Error,
    },
}
