//! The mirror: the marketplace's rows, the pages and passes that bring them, and the change feed.
//!
//! Every write goes through the transaction of [`page`]. `orders` and `products` have statements of their own; all
//! other aggregates are [`tables`] by description. `lookups`, `staleness` and `missing` tell which values are known
//! and which rows to read again.

pub(crate) mod blanking;
pub(crate) mod changes;
pub(crate) mod consumers;
pub(crate) mod edited;
pub(crate) mod erased;
pub(crate) mod failures;
pub(crate) mod identity;
pub(crate) mod label_folder;
pub(crate) mod lookups;
pub(crate) mod mirrored_values;
pub(crate) mod missing;
pub(crate) mod orders;
pub(crate) mod page;
pub(crate) mod passes;
pub(crate) mod products;
pub(crate) mod protected;
pub(crate) mod push_lookups;
pub(crate) mod resources;
pub(crate) mod rows;
pub(crate) mod staleness;
pub(crate) mod subresources;
pub(crate) mod tables;
pub(crate) mod watch;

use std::sync::Arc;

use espelho_model::{Clock, privacy::Privacy};

use self::page::LeaseTx;
use crate::driver::Database;

/// The mirrored rows: which exist, which are missing or failed, and how they compare with the marketplace.
#[derive(Clone, Copy)]
pub struct Mirror<'s> {
    pub(crate) database: &'s Database,
    pub(crate) clock: &'s Arc<dyn Clock>,
    pub(crate) privacy: &'s Privacy,
}

/// Rows to read again: open orders, orders and products by age, missing and stale sub-resources.
#[derive(Clone, Copy)]
pub struct Staleness<'s> {
    pub(crate) database: &'s Database,
    pub(crate) clock: &'s Arc<dyn Clock>,
    pub(crate) privacy: &'s Privacy,
}

/// Single mirrored values, by the key of their row.
#[derive(Clone, Copy)]
pub struct Lookups<'s> {
    pub(crate) database: &'s Database,
    pub(crate) clock: &'s Arc<dyn Clock>,
    pub(crate) privacy: &'s Privacy,
}

/// Labels and their downloaded files.
#[derive(Clone, Copy)]
pub struct LabelFiles<'s> {
    pub(crate) database: &'s Database,
}

/// The change feed and its consumers.
#[derive(Clone, Copy)]
pub struct Changes<'s> {
    pub(crate) database: &'s Database,
    pub(crate) clock: &'s Arc<dyn Clock>,
}

/// Writes mirrored rows and marks rows as gone.
pub struct MirrorWriter<'p, 'l> {
    pub(crate) page: &'p mut LeaseTx<'l>,
}

/// Writes rows of the tables by description.
pub(crate) struct TableWriter<'p, 'l> {
    pub(crate) page: &'p mut LeaseTx<'l>,
}

/// Records the files of labels.
pub struct LabelFileWriter<'p, 'l> {
    pub(crate) page: &'p mut LeaseTx<'l>,
}

/// Records rows that the mirror could not take.
pub struct FailureWriter<'p, 'l> {
    pub(crate) page: &'p mut LeaseTx<'l>,
}

/// Records the progress of a pass over a listing.
pub struct PassWriter<'p, 'l> {
    pub(crate) page: &'p mut LeaseTx<'l>,
}

/// Records when rows were read, and which are missing.
pub struct StalenessWriter<'p, 'l> {
    pub(crate) page: &'p mut LeaseTx<'l>,
}
