//! Writes a row that was read, if it differs from the mirror.

use espelho_model::ContentHash;
use espelho_store::{Error as StoreError, Known, LeaseTx, Op};

use crate::{
    plan::row::{RowPlan, plan_row},
    pull::{Fetched, Pull, RowWrite},
};

/// Writes a row that was read, if it differs from the mirror; returns what happened to it. The last argument has the
/// fingerprint of its listing row, if a listing showed it, and what replaces it if none did.
pub(crate) async fn put<P: Pull>(
    tx: &mut LeaseTx<'_>,
    key: &str,
    known: Option<Known>,
    fetched: Fetched<P::Detail>,
    (listing_hash, unlisted): (Option<ContentHash>, Option<ContentHash>),
) -> Result<Option<Op>, StoreError> {
    tx.failures().clear_failures(P::RESOURCE, vec![key.to_owned()]).await?;
    tx.staleness().forget_missing(P::RESOURCE, vec![key.to_owned()]).await?;
    match plan_row(known, fetched.content_hash, listing_hash, unlisted) {
        RowPlan::Keep => Ok(None),
        RowPlan::Relist(hash) => tx.mirror().relist(P::RESOURCE, key, hash).await.map(|()| None),
        RowPlan::Write { op, listing_hash } => {
            let content_hash = fetched.content_hash;
            let write =
                RowWrite { key: key.to_owned(), detail: fetched.detail, listing_hash, content_hash, op };
            P::write(tx, vec![write]).await.map(|()| Some(op))
        }
    }
}
