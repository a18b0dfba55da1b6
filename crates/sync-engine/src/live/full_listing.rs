//! Listings that are read in full.

use espelho_api_client::{Error as ApiError, RowPage, resources::paging::Paging};
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::plan::last_page::is_last_page;

/// Rows per page.
const PER_PAGE: u32 = 100;
/// The most pages of any of these listings.
const MOST_PAGES: u64 = 500;

/// All rows of a listing.
pub(crate) struct FullListing<T> {
    pub(crate) rows: Vec<T>,
    /// Whether nothing is missing: only then is an absent row gone.
    pub(crate) is_complete: bool,
}

/// Reads a listing from its first page to its last, or until it makes no progress.
pub(crate) async fn read_all_pages<'a, T: PartialEq + Send>(
    stop: &CancellationToken,
    page_of: impl Fn(Paging) -> BoxFuture<'a, Result<RowPage<T>, ApiError>>,
) -> Result<FullListing<T>, ApiError> {
    let mut listing = FullListing { rows: Vec::new(), is_complete: true };
    let mut per_page = Some(PER_PAGE);
    for page in 1..=MOST_PAGES {
        let read = match page_of(Paging { page, per_page }).await {
            // The document names a size for some of these listings only as a default.
            Err(ApiError::Refused { status: 400 | 422, .. }) if page == 1 => {
                per_page = None;
                page_of(Paging { page, per_page }).await?
            }
            answered => answered?,
        };
        listing.is_complete &= read.rows_without_id == 0;
        let rows: Vec<T> = read.rows.into_iter().map(|row| row.value).collect();
        let is_end = is_last_page(page, rows.len(), &read.meta);
        // A server that ignores the page number returns the same rows for ever.
        let is_repeated = rows.first().is_some_and(|first| page > 1 && listing.rows.contains(first));
        listing.rows.extend(rows);
        if is_end || is_repeated || stop.is_cancelled() {
            listing.is_complete &= is_end;
            return Ok(listing);
        }
    }
    listing.is_complete = false;
    Ok(listing)
}
