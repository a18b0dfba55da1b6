//! A page between its reading and its writing.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use espelho_api_client::{Error as ApiError, ListedRow};
use espelho_model::sync::Counts;
use espelho_store::{KeptPage, Known};

use super::Fetched;
use crate::{Error, being_read::ReadingGuard, memory_budget::Permit, quarantine::Poison};

/// A page of the listing and what the mirror had of it.
#[derive(Clone)]
pub(super) struct Page {
    pub(super) kept: KeptPage,
    pub(super) known: HashMap<String, Known>,
    /// The rows whose detail is wanted.
    pub(super) rows: Vec<ListedRow>,
}

/// A page with its details, to be written.
pub(super) struct ReadPage<'c, T> {
    pub(super) page: Arc<Page>,
    pub(super) details: Details<T>,
    /// Why no further page is read, if too many rows failed.
    pub(super) aborted: Option<Error>,
    /// Its share of the memory budget, until it is written.
    pub(super) permit: Permit<'c>,
    /// Keeps its rows from being read by a sweep too, until it is written.
    pub(super) reading: ReadingGuard,
}

/// The result of reading details.
pub(super) struct Details<T> {
    pub(super) asked: Vec<Asked<T>>,
    /// Rows left for another run.
    pub(super) unasked: Vec<ListedRow>,
    /// Why the page ended early, if it did: then it is no checkpoint, but the rows that were read are kept.
    pub(super) ended: Option<Error>,
    /// Rows that are written already, because memory was short or others waited for a page.
    pub(super) written: HashSet<String>,
    /// The counts of these rows.
    pub(super) pieces: Counts,
}

/// A row whose detail was requested.
pub(super) struct Asked<T> {
    pub(super) row: ListedRow,
    pub(super) answer: Result<Fetched<T>, Unread>,
}

/// Why a detail was not read.
pub(super) enum Unread {
    /// The marketplace did not answer it.
    Api(ApiError),
    /// The row is set aside.
    SetAside(Poison),
}

impl<T> ReadPage<'_, T> {
    /// Whether the walk ends with this page, wherever the listing ends.
    pub(super) fn is_last(&self) -> bool {
        self.details.ended.is_some() || self.aborted.is_some()
    }
}

impl<T> Details<T> {
    /// Whether a row that was read takes of the memory budget.
    pub(super) fn holds_memory(&self) -> bool {
        self.asked.iter().any(|asked| asked.answer.as_ref().is_ok_and(|read| !read.held.is_empty()))
    }
}

impl<T> Default for Details<T> {
    fn default() -> Self {
        Self {
            asked: Vec::new(),
            unasked: Vec::new(),
            ended: None,
            written: HashSet::new(),
            pieces: Counts::default(),
        }
    }
}
