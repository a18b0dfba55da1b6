//! The HTTP API's statements: pages of every table, and batches of the ERP's rows with the answer to
//! their request.

pub(crate) mod batch;
pub(crate) mod catalogue;
pub(crate) mod read;
pub(crate) mod requests;
pub(crate) mod select;

use std::sync::Arc;

use espelho_model::Clock;

use crate::driver::Database;

/// The tables as the HTTP API reads and writes them.
#[derive(Clone, Copy)]
pub struct Api<'s> {
    pub(crate) database: &'s Database,
    pub(crate) clock: &'s Arc<dyn Clock>,
}

/// Every statement of this room, for the test that prepares all.
pub(crate) fn statements() -> Vec<String> {
    catalogue::api_tables().iter().flat_map(select::to_prepare).collect()
}
