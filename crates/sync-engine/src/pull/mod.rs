//! Reads a resource of the marketplace into the mirror.
//!
//! A pass walks the listing. For each page, it looks up the known rows, reads the details of new or changed rows, and
//! writes rows and checkpoint in one transaction. While it writes a page, it reads the next one, and while the last details
//! of a page arrive, the next page of the listing; a killed run reads at most two pages again.

mod abort_rules;
mod ahead;
mod beside;
mod full_reads;
mod missing_rows;
mod options;
mod orders;
mod page;
mod pass;
mod products;
mod read;
mod subresources;
mod write;

use std::{collections::HashSet, future::Future};

use chrono::{DateTime, Utc};
use espelho_api_client::{Error as ApiError, HeldAnswers, ListPage, error::Refusal};
use espelho_model::{ContentHash, sync::Resource, text::Text};
use espelho_store::{Error as StoreError, LeaseTx, Op};

use crate::{
    StoreContext,
    plan::{refresh::PassReading, refresh_request::ListedState},
};

pub(crate) use full_reads::{CampaignMemory, FullReader, is_final, read_in_full};
pub use options::PassOptions;
pub use orders::OrdersPull;
pub use pass::run_pass;
pub use products::ProductsPull;
pub(crate) use subresources::{read_subresource, subresource_of};

/// How one resource is listed, read and written. Clones share what they learn.
pub trait Pull: Clone + Send + Sync {
    /// The detail of one row.
    type Detail: Send + Sync;

    /// The resource.
    const RESOURCE: Resource;

    /// Describes how the listing is read. A pass resumes only if this is the same.
    fn scope(&self) -> String;

    /// Rows requested per page.
    fn limit(&self) -> usize;

    /// Reads one page of the listing.
    fn list(&self, page: u64) -> impl Future<Output = Result<ListPage, ApiError>> + Send;

    /// Simplifies the request after the server refused the listing; returns `false` when nothing is left to drop.
    fn simplify(&mut self, refusal: &Refusal) -> bool;

    /// Adopts the request of an interrupted pass; returns `false` if it is not one of ours.
    fn ask_as(&mut self, scope: &str) -> bool;

    /// Reads the detail of one row.
    fn detail(&self, key: &str) -> impl Future<Output = Result<Fetched<Self::Detail>, ApiError>> + Send;

    /// Decides what a pass takes a detail for, beside its listing row.
    fn reading(detail: &Self::Detail, listed: &ListedState, now: DateTime<Utc>) -> PassReading {
        let _ = (detail, listed, now);
        PassReading::OfRow
    }

    /// Returns why a detail is not believed beside what the mirror and its listing row say, if so.
    /// `is_listed_with_status` means that the listing row has a status.
    fn doubt(
        context: &StoreContext,
        detail: &Self::Detail,
        is_listed_with_status: bool,
    ) -> impl Future<Output = Result<Option<ApiError>, StoreError>> + Send {
        let _ = (context, detail, is_listed_with_status);
        std::future::ready(Ok(None))
    }

    /// Returns the keys of the mirrored rows whose columns are not those of these details: somebody has edited them.
    fn edited(
        tx: &mut LeaseTx<'_>,
        rows: &[RowWrite<Self::Detail>],
    ) -> impl Future<Output = Result<HashSet<String>, StoreError>> + Send;

    /// Lets a write in the same transaction take these rows, although their details have not changed.
    fn distrust(
        tx: &mut LeaseTx<'_>,
        keys: Vec<String>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        let _ = (tx, keys);
        std::future::ready(Ok(()))
    }

    /// Writes details into the mirror.
    fn write(
        tx: &mut LeaseTx<'_>,
        rows: Vec<RowWrite<Self::Detail>>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// A detail to write into the mirror.
#[derive(Clone, Debug)]
pub struct RowWrite<T> {
    /// The key under which it is listed.
    pub key: String,
    /// The detail.
    pub detail: T,
    /// The fingerprint of its listing row.
    pub listing_hash: ContentHash,
    /// The fingerprint of the detail.
    pub content_hash: ContentHash,
    /// Whether it updates a row that the mirror has already.
    pub op: Op,
}

/// A detail that was read.
#[derive(Clone, Debug)]
pub struct Fetched<T> {
    /// The detail.
    pub detail: T,
    /// Its fingerprint.
    pub content_hash: ContentHash,
    /// Remarks to count: fields that could not be read, values that are not known.
    pub remarks: Vec<Text>,
    /// Its share of the memory budget, until it is written.
    pub held: HeldAnswers,
}
