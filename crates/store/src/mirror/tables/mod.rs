//! Aggregates that are mirrored as received: one description for each table, a few functions for all.
//!
//! [`table`] describes a table and builds its statements, [`record`] is a row; [`mod@write`] compares, writes, marks as
//! gone and appends to the feed. Every other file is an aggregate: its tables, and typed functions that turn its
//! structs into rows. Orders and products have files of their own, because they come by the hundred thousand.

pub(crate) mod campaigns;
pub(crate) mod compare;
pub(crate) mod conversations;
pub(crate) mod financial;
pub(crate) mod invoices;
pub(crate) mod label_files;
pub(crate) mod listed;
pub(crate) mod listings;
pub(crate) mod media;
pub(crate) mod occurrences;
pub(crate) mod price_lists;
pub(crate) mod profile;
mod record;
pub(crate) mod shipments;
mod table;
pub(crate) mod timeline;
pub(crate) mod tracking;
mod write;

use table::Table;

/// All these tables.
pub(crate) const TABLES: [&Table; 16] = [
    &invoices::INVOICES,
    &timeline::EVENTS,
    &financial::BENEFITS,
    &financial::SPLITS,
    &financial::COMMISSIONS,
    &shipments::SHIPMENTS,
    &shipments::LABELS,
    &campaigns::CAMPAIGNS,
    &campaigns::LISTINGS,
    &price_lists::PRICE_LISTS,
    &media::IMAGES,
    &listings::LISTINGS,
    &occurrences::OCCURRENCES,
    &conversations::CONVERSATIONS,
    &conversations::MESSAGES,
    &profile::PROFILES,
];
