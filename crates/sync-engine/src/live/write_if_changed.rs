//! Writes a row that was read, if it differs from the mirror.

use espelho_model::ContentHash;
use espelho_store::{Error as StoreError, Known, LeaseTx, Op};

use crate::{
    plan::upsert::{RowPlan, plan_row},
    pull::{Fetched, Pull, RowWrite},
};

/// Writes a row that was read, if it differs from the mirror; returns what happened to it. `listed` is the fingerprint of its
/// listing row, if a listing showed it; `unlisted` replaces it where none did ([`plan_row`]).
pub(crate) async fn write_if_changed<P: Pull>(
    tx: &mut LeaseTx<'_>,
    key: &str,
    known: Option<Known>,
    fetched: Fetched<P::Detail>,
    listed: Option<ContentHash>,
    unlisted: Option<ContentHash>,
) -> Result<Option<Op>, StoreError> {
    tx.failures().clear_failures(P::RESOURCE, vec![key.to_owned()]).await?;
    tx.staleness().forget_missing(P::RESOURCE, vec![key.to_owned()]).await?;
    match plan_row(known, fetched.content_hash, listed, unlisted) {
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
