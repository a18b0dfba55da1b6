//! Reading a resource of the marketplace into the mirror.
//!
//! A pass walks the listing. For each page: look up what is known, read the details of what is new or
//! different, then write rows and checkpoint in one transaction. One page at a time: a killed run has at
//! most one page to read again.

mod orders;
mod pass;
mod products;
mod subresources;
mod sweep;
mod whole;
mod write;

use std::future::Future;

use espelho_api_client::{Error as ApiError, ListPage, error::Refusal};
use espelho_model::{ContentHash, sync::Resource, text::Text};
use espelho_store::{Error as StoreError, Op, PageTx};

pub use orders::OrdersPull;
pub use pass::{PassOptions, run_pass};
pub use products::ProductsPull;
pub(crate) use subresources::{read_subresource, subresource_of};
pub(crate) use whole::{WholeReader, read_whole};

/// How one resource is listed, read and written.
pub trait Pull: Send + Sync {
    /// The detail of one row.
    type Detail: Send;

    /// Which resource it is.
    const RESOURCE: Resource;

    /// How the listing is being read; a pass is only resumed when this is the same.
    fn scope(&self) -> String;

    /// Rows asked for with each page.
    fn limit(&self) -> usize;

    /// One page of the listing.
    fn list(&self, page: u64) -> impl Future<Output = Result<ListPage, ApiError>> + Send;

    /// Asks for less after the server refused the listing; `false` when nothing is left to drop.
    fn ask_for_less(&mut self, refusal: &Refusal) -> bool;

    /// Asks in the way that an interrupted pass asked, if that is one of ours.
    fn ask_as(&mut self, scope: &str) -> bool;

    /// The detail of one row.
    fn detail(&self, key: &str) -> impl Future<Output = Result<Fetched<Self::Detail>, ApiError>> + Send;

    /// Writes details into the mirror.
    fn write(
        &self,
        tx: &mut PageTx<'_>,
        rows: Vec<RowWrite<Self::Detail>>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// A detail to mirror.
#[derive(Clone, Debug)]
pub struct RowWrite<T> {
    /// The identifier under which it is listed.
    pub key: String,
    /// The detail.
    pub detail: T,
    /// The fingerprint of its listing row.
    pub listing_hash: ContentHash,
    /// The fingerprint of the detail.
    pub content_hash: ContentHash,
    /// Whether the mirror has it already.
    pub op: Op,
}

/// A detail that was read.
#[derive(Clone, Debug)]
pub struct Fetched<T> {
    /// The detail.
    pub detail: T,
    /// Its fingerprint.
    pub content_hash: ContentHash,
    /// What is worth counting about it: fields that could not be read, values that are not known.
    pub remarks: Vec<Text>,
}
