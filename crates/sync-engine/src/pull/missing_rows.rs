//! Ends a pass: finds the mirrored rows that its listing missed, marks those as gone that the marketplace denies, and
//! deletes its checkpoints.

use espelho_model::{ContentHash, StoreKey, sync::Resource, text, text::words};
use espelho_store::Failure;

use super::{Pull, pass::Walk};
use crate::{
    Error, Problem, ResourceReport, Trouble,
    plan::{
        gone::{GoneVerdict, judge},
        paging::Pager,
    },
};

impl<P: Pull> Walk<'_, P> {
    /// Ends a pass that reached the last page: marks missing rows gone, and deletes the checkpoints.
    pub(super) async fn finish(&mut self) -> Result<(), Error> {
        let whole = self.reader.pager.is_whole();
        let mut refused = (!whole).then(|| incomplete(self));
        let mut gone = Vec::new();
        if whole && self.reader.options.covers_everything {
            match missing(self).await? {
                Ok(keys) => gone = confirm(self, keys).await?,
                Err(problem) => refused = Some(problem),
            }
        }
        self.writer.counts.gone = gone.len() as u64;
        if !self.reader.options.dry_run {
            end(self, gone).await?;
        }
        self.report.failures = shown_failures(self).await?;
        if !self.reader.options.dry_run {
            // The keys of a million rows take 8 MB, and nobody asks for them any more.
            self.reader.pager = Pager::new(self.reader.pull.limit());
            if let Err(error) = forget_pages(self).await {
                tracing::warn!(store = %self.reader.context.key, %error, "the checkpoints of a pass that has ended could not be deleted; the next pass deletes them");
            }
        }
        refused.map_or(Ok(()), |problem| Err(problem.into()))
    }
}

async fn end<P: Pull>(walk: &Walk<'_, P>, gone: Vec<String>) -> Result<(), espelho_store::Error> {
    let _writing = walk.reader.context.writing.lock().await;
    let mut tx = walk.reader.context.store.begin(&walk.reader.context.lease).await?;
    tx.mirror().mark_gone(P::RESOURCE, gone).await?;
    if walk.reader.pager.is_whole() && walk.reader.options.covers_everything {
        // A row that failed once and is no longer listed needs no repair.
        let unlisted = |key: &&String| !walk.reader.pager.has_seen(ContentHash::of(key.as_bytes()));
        let keys = walk.reader.earlier_failures.iter().filter(unlisted).cloned().collect();
        tx.failures().clear_failures(P::RESOURCE, keys).await?;
    }
    if P::RESOURCE == Resource::Products {
        tx.mirror().review_shared_skus().await?;
    }
    tx.passes().end_pass(P::RESOURCE).await?;
    tx.commit().await
}

/// Deletes the pages of a pass that has ended, in transactions of their own. What a kill leaves, the next pass deletes.
async fn forget_pages<P: Pull>(walk: &Walk<'_, P>) -> Result<(), espelho_store::Error> {
    let context = walk.reader.context;
    loop {
        let _writing = context.writing.lock().await;
        let mut tx = context.store.begin(&context.lease).await?;
        let has_forgotten = tx.passes().forget_pages(P::RESOURCE).await?;
        tx.commit().await?;
        if !has_forgotten {
            return Ok(());
        }
    }
}

/// Returns the mirrored rows that the pass did not see, or a problem if they are too many to believe.
async fn missing<P: Pull>(walk: &Walk<'_, P>) -> Result<Result<Vec<String>, Problem>, Error> {
    let (store, key) = (&walk.reader.context.store, &walk.reader.context.key);
    let mirrored = store.mirror().count(key, P::RESOURCE).await?;
    // Every row that was seen is mirrored or listed as failed, so equal numbers mean that no row is missing.
    if !walk.reader.options.dry_run
        && mirrored <= walk.reader.pager.seen() - walk.writer.counts.failed.min(walk.reader.pager.seen())
    {
        return Ok(Ok(Vec::new()));
    }
    let (guard, accept_gone) = (walk.reader.context.gone_guard, walk.reader.options.accept_gone);
    // More are refused, and then no key is needed: a listing that lost its rows misses every key of the mirror.
    let most = if accept_gone { u64::MAX } else { guard.max_rows };
    let is_unseen = |key: &String| !walk.reader.pager.has_seen(ContentHash::of(key.as_bytes()));
    let (mut keys, mut missing, mut live) = (Vec::new(), 0, 0);
    let mut after = String::new();
    loop {
        let batch = store.mirror().live_keys(key, P::RESOURCE, &after).await?;
        let Some(last) = batch.last() else { break };
        after.clone_from(last);
        live += batch.len() as u64;
        for unseen in batch.into_iter().filter(is_unseen) {
            if missing < most {
                keys.push(unseen);
            }
            missing += 1;
        }
    }
    let listed = walk.reader.pager.seen();
    match judge(guard, missing, live, listed) {
        GoneVerdict::Refuse { limit } if !accept_gone => {
            Ok(Err(too_many::<P>(key, missing, live, listed, limit)))
        }
        _ => Ok(Ok(keys)),
    }
}

fn too_many<P: Pull>(store: &StoreKey, missing: u64, live: u64, listed: u64, limit: u64) -> Problem {
    let resource = P::RESOURCE;
    let text = text!(
        "run-too-many-gone",
        store = store.as_str(),
        missing = missing,
        live = live,
        resource = words::resource(resource.as_str()),
        listed = listed,
        limit = limit
    );
    Problem::of(Trouble::Guard, "too_many_gone", text)
}

fn incomplete<P: Pull>(walk: &Walk<'_, P>) -> Problem {
    let (seen, total, resource) =
        (walk.reader.pager.seen(), walk.reader.pager.total().unwrap_or(0), P::RESOURCE);
    let resource = words::resource(resource.as_str());
    let text = text!("run-incomplete", total = total, resource = resource, seen = seen);
    Problem::of(Trouble::Failure, "incomplete", text)
}

/// Reads each missing row itself: only the marketplace's own 404 proves that it is gone. A row that answers was merely not listed.
async fn confirm<P: Pull>(walk: &mut Walk<'_, P>, keys: Vec<String>) -> Result<Vec<String>, Error> {
    if walk.reader.options.accept_gone || walk.reader.options.dry_run {
        return Ok(keys);
    }
    let (mut gone, mut unlisted, mut unclear) = (Vec::new(), 0_u64, 0_u64);
    for key in keys {
        walk.reader.details += 1;
        match walk.reader.pull.detail(&key).await {
            Ok(_) => unlisted += 1,
            Err(error) if error.is_absent() => gone.push(key),
            Err(error) if error.is_authentication() || error.is_not_ours() => {
                return Err(error.into());
            }
            Err(_) => unclear += 1,
        }
    }
    if unlisted > 0 {
        walk.report.notes.push(text!("run-note-unlisted", rows = unlisted));
    }
    if unclear > 0 {
        walk.report.notes.push(text!("run-note-unclear", rows = unclear));
    }
    Ok(gone)
}

/// Returns the rows of this pass that are not mirrored, whichever run they first failed in.
async fn shown_failures<P: Pull>(walk: &Walk<'_, P>) -> Result<Vec<Failure>, Error> {
    let failures = walk.reader.context.store.mirror().failures(&walk.reader.context.key, P::RESOURCE).await;
    let mut failures = failures?;
    failures.retain(|failure| walk.reader.pager.has_seen(ContentHash::of(failure.key.as_bytes())));
    failures.truncate(ResourceReport::SHOWN);
    Ok(failures)
}
