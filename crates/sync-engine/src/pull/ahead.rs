//! The listing of the next page, requested while the last details of a page arrive.

use espelho_api_client::{Class, Error as ApiError, ListPage};
use futures_util::{
    FutureExt as _, TryFutureExt as _,
    future::{BoxFuture, MaybeDone, maybe_done},
};

use super::Pull;
use crate::{Input, StoreContext, memory_budget::Permit, quarantine::Attempt};

/// The end of an attempt to read a page of a listing.
pub(super) type ListAttempt = Attempt<Result<ListPage, ApiError>>;

/// A page of the listing that is requested early.
pub(super) struct Ahead<'c> {
    page: u64,
    permit: Permit<'c>,
    listing: MaybeDone<BoxFuture<'c, ListAttempt>>,
}

impl<'c> Ahead<'c> {
    /// Requests a page, if the memory budget has room for it now: who holds a page must not wait for another.
    pub(super) fn begin<P: Pull + 'c>(context: &'c StoreContext, pull: &P, page: u64) -> Option<Self> {
        let permit = context.memory_budget.page_now()?;
        let pull = pull.clone();
        let listing = async move { list(context, &pull, page).await };
        Some(Self { page, permit, listing: maybe_done(listing.boxed()) })
    }

    pub(super) fn page(&self) -> u64 {
        self.page
    }

    /// Tells whether the page has not arrived yet.
    pub(super) fn is_under_way(&self) -> bool {
        matches!(self.listing, MaybeDone::Future(_))
    }

    /// Waits until the page has arrived.
    pub(super) async fn arrives(&mut self) {
        (&mut self.listing).await;
    }

    /// Waits for the page; returns its share of the memory budget with it. It is `None` after a failure that passes:
    /// the last details may have taken longer than the failure.
    pub(super) async fn take(mut self) -> Option<(Permit<'c>, Option<ListAttempt>)> {
        self.arrives().await;
        let listing = std::pin::Pin::new(&mut self.listing).take_output()?;
        let passes = matches!(&listing, Attempt::Ended(Err(error)) if matches!(error.class(), Class::Transient { .. }));
        Some((self.permit, Some(listing).filter(|_| !passes)))
    }
}

/// Reads a page of the listing, unless it is set aside. A pass needs of its rows the fingerprints and states, and no text.
pub(super) async fn list<P: Pull>(context: &StoreContext, pull: &P, page: u64) -> ListAttempt {
    let listing = pull.list(page).map_ok(|mut listing| {
        listing.rows.iter_mut().for_each(|row| row.text = String::new());
        listing
    });
    context.attempt(Input::Page, &name::<P>(page), listing).await
}

/// Returns the name of a page as an input.
pub(super) fn name<P: Pull>(page: u64) -> String {
    format!("{}-{page}", P::RESOURCE)
}
