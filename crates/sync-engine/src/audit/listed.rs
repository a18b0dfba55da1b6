//! Compares resources with a paged listing: every row by its listing, some by their details.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use espelho_api_client::{Error as ApiError, ListPage};
use espelho_model::{ContentHash, text};
use espelho_store::{AuditDifference, Known, Op, Subresource};

use super::{Difference, ResourceAudit, choose};
use crate::{
    Error, Problem, StoreContext, Trouble,
    plan::{
        last_page::is_beyond_the_end,
        paging::{Pager, Step},
    },
    pull::{Fetched, Pull, RowWrite},
};

/// Rows looked up in the mirror at once.
const BATCH: usize = 1_000;
/// Differences to check a second time; if there are more, the store is not busy but wrong.
const AGAIN: usize = 200;
/// Batches of keys from which a spot check chooses.
const MOST_BATCHES: usize = 100;

/// Compares `sample` details of mirrored rows with the marketplace. Returns how many were read, and the rows that differ
/// on a second check too. It walks no listing, so it costs the same for every store.
pub(crate) async fn spot<P: Pull>(
    context: &StoreContext,
    pull: P,
    sample: usize,
    seed: u64,
) -> Result<(u64, Vec<(String, Difference)>), Error> {
    let mut comparison = Comparison {
        context,
        pull,
        report: ResourceAudit::begun(P::RESOURCE.into()),
        differences: BTreeMap::new(),
    };
    let (mut keys, mut after) = (Vec::new(), String::new());
    for _ in 0..MOST_BATCHES {
        let live = context.store.mirror().live_keys(&context.key, P::RESOURCE, &after).await;
        let live = live?;
        let Some(last) = live.last() else { break };
        after.clone_from(last);
        keys.extend(live);
    }
    for key in choose(keys.len(), sample, seed).map(|at| keys[at].clone()).collect::<Vec<_>>() {
        comparison.stop_if_asked()?;
        let known = comparison.known(vec![key.clone()]).await?;
        comparison.compare_detail(key, &known).await?;
    }
    comparison.look_again().await?;
    for (key, difference) in &comparison.differences {
        tracing::warn!(store = %context.key, resource = %P::RESOURCE, key, difference = difference.as_str(), "the mirror differs from the marketplace");
    }
    Ok((comparison.report.sampled, comparison.differences.into_iter().collect()))
}

/// Compares all rows by their listing, and by their details a sample of them and those that are in `open`, the earlier
/// differences.
pub(super) async fn compare<P: Pull>(
    context: &StoreContext,
    pull: P,
    open: &[AuditDifference],
    sample: usize,
    seed: u64,
) -> ResourceAudit {
    let mut comparison = Comparison {
        context,
        pull,
        report: ResourceAudit::begun(P::RESOURCE.into()),
        differences: BTreeMap::new(),
    };
    if let Err(problem) = comparison.run(open, sample, seed).await {
        comparison.report.problem = Some(problem.into());
    }
    let mut report = comparison.report;
    report.differing = comparison.differences.len() as u64;
    let unread = comparison.differences.iter().filter(|(_, is)| **is == Difference::Unreadable);
    report.unread = unread.map(|(key, _)| key.clone()).collect();
    report.unreadable = report.unread.len() as u64;
    report.differences = comparison.differences.into_iter().take(ResourceAudit::SHOWN).collect();
    report
}

struct Comparison<'c, P> {
    context: &'c StoreContext,
    pull: P,
    report: ResourceAudit,
    differences: BTreeMap<String, Difference>,
}

impl<P: Pull> Comparison<'_, P> {
    async fn run(&mut self, open: &[AuditDifference], sample: usize, seed: u64) -> Result<(), Error> {
        let listed = self.listing().await?;
        let known = self.known(listed.keys().cloned().collect()).await?;
        for (key, listing) in &listed {
            let difference = match known.get(key) {
                Some(known) if !known.gone && known.listing_hash == *listing => continue,
                Some(known) if !known.gone => Difference::Listing,
                _ => Difference::Missing,
            };
            self.differences.insert(key.clone(), difference);
        }
        self.find_surplus(&listed).await?;
        let alike: Vec<&String> = listed.keys().filter(|key| !self.differences.contains_key(*key)).collect();
        for key in to_read(&alike, open, sample, seed) {
            self.stop_if_asked()?;
            self.compare_detail(key, &known).await?;
        }
        self.look_again().await
    }

    /// Walks the whole listing; returns the keys with the fingerprints of their rows.
    async fn listing(&mut self) -> Result<BTreeMap<String, ContentHash>, Error> {
        let mut listed = BTreeMap::new();
        let mut pager = Pager::new(self.pull.limit());
        let mut next = Step::Read(1);
        while let Step::Read(page) = next {
            self.stop_if_asked()?;
            let asked = self.pull.scope();
            let listing = self.list(page).await?;
            if self.pull.scope() != asked {
                // The request was simplified: the walk restarts.
                (pager, listed) = (Pager::new(self.pull.limit()), BTreeMap::new());
            }
            let keys: Vec<_> = listing.rows.iter().map(|row| ContentHash::of(row.key.as_bytes())).collect();
            let received = listing.rows.len() + listing.rows_without_id;
            next = pager
                .after(page, &keys, received, listing.meta)
                .map_err(|stuck| Problem::new(Trouble::Failure, "paging", &stuck, stuck.text()))?;
            listed.extend(listing.rows.into_iter().map(|row| (row.key, row.hash)));
        }
        self.report.listed = listed.len() as u64;
        self.report.total = pager.total();
        Ok(listed)
    }

    async fn list(&mut self, page: u64) -> Result<ListPage, Error> {
        loop {
            let error = match self.pull.list(page).await {
                Ok(listing) => return Ok(listing),
                Err(error) => error,
            };
            match &error {
                error if is_beyond_the_end(page, error) => {
                    return Ok(ListPage::default());
                }
                ApiError::Refused { status: 400 | 422, refusal, .. }
                    if page == 1 && self.pull.simplify(refusal) => {}
                _ => return Err(error.into()),
            }
        }
    }

    async fn known(&self, keys: Vec<String>) -> Result<HashMap<String, Known>, Error> {
        let mut known = HashMap::with_capacity(keys.len());
        for batch in keys.chunks(BATCH) {
            let found =
                self.context.store.mirror().known(&self.context.key, P::RESOURCE, batch.to_vec()).await;
            known.extend(found?);
        }
        Ok(known)
    }

    async fn find_surplus(&mut self, listed: &BTreeMap<String, ContentHash>) -> Result<(), Error> {
        let mut after = String::new();
        loop {
            let live = self.context.store.mirror().live_keys(&self.context.key, P::RESOURCE, &after).await;
            let live = live?;
            let Some(last) = live.last() else { return Ok(()) };
            after.clone_from(last);
            self.report.mirrored += live.len() as u64;
            let surplus = live.into_iter().filter(|key| !listed.contains_key(key));
            self.differences.extend(surplus.map(|key| (key, Difference::Surplus)));
        }
    }

    async fn compare_detail(&mut self, key: String, known: &HashMap<String, Known>) -> Result<(), Error> {
        self.report.sampled += 1;
        match self.pull.detail(&key).await {
            Ok(read) if known.get(&key).is_some_and(|known| known.content_hash == read.content_hash) => {
                if self.is_edited(&key, read).await? {
                    self.differences.insert(key, Difference::Edited);
                }
            }
            Ok(_) => drop(self.differences.insert(key, Difference::Detail)),
            Err(error) if error.is_absent() => {
                self.differences.insert(key, Difference::Surplus);
            }
            Err(error @ ApiError::Refused { .. }) if !error.is_authentication() => {
                self.differences.insert(key, Difference::Unreadable);
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Checks the differences a second time: on a busy store, most rows have only changed between the two reads.
    async fn look_again(&mut self) -> Result<(), Error> {
        let differing: Vec<_> =
            self.differences.iter().take(AGAIN).map(|(key, was)| (key.clone(), *was)).collect();
        for (key, was) in differing {
            self.stop_if_asked()?;
            match self.confirm(&key, was).await? {
                Some(is) => self.differences.insert(key, is),
                None => self.differences.remove(&key),
            };
        }
        Ok(())
    }

    /// Returns how a row still differs, if it does.
    async fn confirm(&self, key: &str, was: Difference) -> Result<Option<Difference>, Error> {
        let read = self.pull.detail(key).await;
        // After the marketplace: a row that was mirrored meanwhile is not older than what was read.
        let known = self.known(vec![key.to_owned()]).await?;
        let known = known.get(key).filter(|known| !known.gone);
        match (read, known) {
            (Ok(_), None) => Ok(Some(Difference::Missing)),
            (Ok(read), Some(known)) if known.content_hash == read.content_hash => {
                Ok(self.is_edited(key, read).await?.then_some(Difference::Edited))
            }
            (Ok(_), Some(_)) if was == Difference::Listing => Ok(Some(was)),
            (Ok(_), Some(_)) => Ok(Some(Difference::Detail)),
            (Err(error), None) if error.is_absent() => Ok(None),
            (Err(error), Some(_)) if error.is_absent() => Ok(Some(Difference::Surplus)),
            (Err(error @ ApiError::Refused { .. }), _) if !error.is_authentication() => {
                Ok(Some(Difference::Unreadable))
            }
            (Err(error), _) => Err(error.into()),
        }
    }

    /// Tells whether somebody has edited the columns of a row in the mirror.
    async fn is_edited(&self, key: &str, read: Fetched<P::Detail>) -> Result<bool, Error> {
        let row = RowWrite {
            key: key.to_owned(),
            detail: read.detail,
            listing_hash: read.content_hash,
            content_hash: read.content_hash,
            op: Op::Update,
        };
        // Dropped, not committed: an audit changes nothing.
        let mut tx = self.context.store.begin(&self.context.lease).await?;
        Ok(P::edited(&mut tx, &[row]).await?.contains(key))
    }

    fn stop_if_asked(&self) -> Result<(), Error> {
        match self.context.stop.is_cancelled() {
            false => Ok(()),
            true => Err(Problem::of(Trouble::Stopped, "stopped", text!("run-audit-stopped")).into()),
        }
    }
}

/// Returns the rows to read in detail, of those whose listing is as mirrored: a sample, and those that are in `open`. A row
/// that neither side lists has no detail to compare.
fn to_read(alike: &[&String], open: &[AuditDifference], sample: usize, seed: u64) -> BTreeSet<String> {
    let is_row = |of: &&AuditDifference| of.part.is_empty() || of.part == Subresource::Order.as_str();
    let open: BTreeSet<&str> = open.iter().filter(is_row).map(|of| of.key.as_str()).collect();
    let again = alike.iter().filter(|key| open.contains(key.as_str())).map(|key| (*key).clone());
    choose(alike.len(), sample, seed).map(|at| alike[at].clone()).chain(again).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // withstands: F134
    #[test]
    fn an_audit_reads_its_sample_and_the_rows_that_an_earlier_one_found_to_differ() {
        let keys = ["A", "B", "C", "D"].map(str::to_owned);
        let alike: Vec<&String> = keys.iter().collect();
        let open = |key: &str, part: &str| AuditDifference {
            resource: "orders".to_owned(),
            key: key.to_owned(),
            part: part.to_owned(),
            is_edited: false,
        };
        for (sample, open, expected, why) in [
            (2, vec![], &["A", "C"][..], "a sample"),
            (2, vec![open("D", "order"), open("A", "order")], &["A", "C", "D"], "each once"),
            (0, vec![open("B", "")], &["B"], "a resource without parts"),
            (0, vec![open("B", "shipments")], &[], "its shipments are compared apart"),
            (0, vec![open("Z", "order")], &[], "no side lists it, or its listing tells already"),
        ] {
            let read: Vec<String> = to_read(&alike, &open, sample, 0).into_iter().collect();
            assert_eq!(read, expected, "{why}");
        }
    }
}
