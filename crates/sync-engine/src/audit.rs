//! Comparing mirror and marketplace without writing into either: what is listed, and a sample of the details.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use espelho_api_client::{Error as ApiError, ListPage, PageMeta, limit::Lane};
use espelho_model::{ContentHash, StoreKey, sync::Resource};
use espelho_store::Known;

use crate::{
    Problem, StoreContext, Trouble,
    plan::paging::{Pager, Step},
    pull::{OrdersPull, ProductsPull, Pull},
};

/// Rows looked up in the mirror at a time.
const BATCH: usize = 1_000;

/// How mirror and marketplace compare, for one store.
#[derive(Clone, Debug)]
pub struct Audit {
    /// The store.
    pub store: StoreKey,
    /// Each resource.
    pub resources: Vec<ResourceAudit>,
    /// Requests sent.
    pub requests: u64,
    /// Why nothing was begun, if so.
    pub problem: Option<Problem>,
}

/// How one resource compares.
#[derive(Clone, Debug)]
pub struct ResourceAudit {
    /// Which resource.
    pub resource: Resource,
    /// Rows that the marketplace lists.
    pub listed: u64,
    /// How many it says that there are.
    pub total: Option<u64>,
    /// Rows of the mirror that are not gone.
    pub mirrored: u64,
    /// Details that were read.
    pub sampled: u64,
    /// How many rows differ.
    pub differing: u64,
    /// The first [`ResourceAudit::SHOWN`] of them.
    pub differences: Vec<(String, Difference)>,
    /// Why it ended early, if it did.
    pub problem: Option<Problem>,
}

/// In what a row differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// The marketplace lists it, and the mirror does not have it.
    Missing,
    /// The mirror has it, and the marketplace does not list it.
    Surplus,
    /// It is listed otherwise than when it was mirrored.
    Listing,
    /// Its detail is another one.
    Detail,
    /// Its detail could not be read.
    Unreadable,
}

impl Difference {
    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Surplus => "surplus",
            Self::Listing => "listing",
            Self::Detail => "detail",
            Self::Unreadable => "unreadable",
        }
    }
}

impl ResourceAudit {
    /// How many differing rows are named.
    pub const SHOWN: usize = 50;
}

impl Audit {
    /// Whether nothing differs and everything was looked at.
    pub fn is_clean(&self) -> bool {
        self.problem.is_none() && self.resources.iter().all(|r| r.differing == 0 && r.problem.is_none())
    }
}

/// Compares every listed row by key and listing, and `sample` details of each resource by content. `seed` chooses which.
pub async fn audit(context: &StoreContext, sample: usize, seed: u64) -> Audit {
    let before = context.client.stats();
    // Live work goes first, as before a sweep.
    let client = context.client.in_lane(Lane::Poll);
    let parameter = || context.page_parameter.clone();
    let mut resources = Vec::new();
    let orders = OrdersPull::new(client.clone(), None, parameter());
    resources.push(compare(context, orders, sample, seed).await);
    match context.store.location_ids(&context.key).await {
        Ok(known) => {
            let products = ProductsPull::new(client, known, parameter());
            resources.push(compare(context, products, sample, seed).await);
        }
        Err(error) => {
            let mut failed = begun(Resource::Products);
            failed.problem = Some(Problem::from_store(&error));
            resources.push(failed);
        }
    }
    let mut problem = None;
    if let Err(error) = context.client.gate().settle().await {
        problem = Some(Problem::from_api(&error));
    }
    let requests = context.client.stats().requests - before.requests;
    Audit { store: context.key.clone(), resources, requests, problem }
}

fn begun(resource: Resource) -> ResourceAudit {
    ResourceAudit {
        resource,
        listed: 0,
        total: None,
        mirrored: 0,
        sampled: 0,
        differing: 0,
        differences: Vec::new(),
        problem: None,
    }
}

async fn compare<P: Pull>(context: &StoreContext, pull: P, sample: usize, seed: u64) -> ResourceAudit {
    let mut comparison =
        Comparison { context, pull, report: begun(P::RESOURCE), differences: BTreeMap::new() };
    if let Err(problem) = comparison.run(sample, seed).await {
        comparison.report.problem = Some(problem);
    }
    let mut report = comparison.report;
    report.differing = comparison.differences.len() as u64;
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
    async fn run(&mut self, sample: usize, seed: u64) -> Result<(), Problem> {
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
        self.look_for_surplus(&listed).await?;
        let alike: Vec<&String> = listed.keys().filter(|key| !self.differences.contains_key(*key)).collect();
        let chosen: Vec<String> = choose(alike.len(), sample, seed).map(|at| alike[at].clone()).collect();
        for key in chosen {
            self.stop_if_asked()?;
            self.compare_detail(key, &known).await?;
        }
        Ok(())
    }

    /// Walks the whole listing: keys with the fingerprints of their rows.
    async fn listing(&mut self) -> Result<BTreeMap<String, ContentHash>, Problem> {
        let mut listed = BTreeMap::new();
        let mut pager = Pager::new(self.pull.limit());
        let mut next = Step::Read(1);
        while let Step::Read(page) = next {
            self.stop_if_asked()?;
            let asked = self.pull.scope();
            let listing = self.list(page).await?;
            if self.pull.scope() != asked {
                // It is asked for otherwise than it was begun with.
                (pager, listed) = (Pager::new(self.pull.limit()), BTreeMap::new());
            }
            let keys: Vec<_> = listing.rows.iter().map(|row| ContentHash::of(row.key.as_bytes())).collect();
            let received = listing.rows.len() + listing.nameless;
            next = pager.after(page, &keys, received, listing.meta).map_err(|stuck| {
                Problem::new(
                    Trouble::Failure,
                    "paging",
                    &stuck,
                    "set assumptions.page_parameter in the store's file",
                )
            })?;
            listed.extend(listing.rows.into_iter().map(|row| (row.key, row.hash)));
        }
        self.report.listed = listed.len() as u64;
        self.report.total = pager.total();
        Ok(listed)
    }

    async fn list(&mut self, page: u64) -> Result<ListPage, Problem> {
        loop {
            let error = match self.pull.list(page).await {
                Ok(listing) => return Ok(listing),
                Err(error) => error,
            };
            match &error {
                ApiError::Refused { status: 404 | 416, .. } if page > 1 => {
                    return Ok(ListPage { rows: Vec::new(), nameless: 0, meta: PageMeta::default() });
                }
                ApiError::Refused { status: 400 | 422, refusal, .. }
                    if page == 1 && self.pull.ask_for_less(refusal) => {}
                _ => return Err(Problem::from_api(&error)),
            }
        }
    }

    async fn known(&self, keys: Vec<String>) -> Result<HashMap<String, Known>, Problem> {
        let mut known = HashMap::with_capacity(keys.len());
        for batch in keys.chunks(BATCH) {
            let found = self.context.store.known(&self.context.key, P::RESOURCE, batch.to_vec()).await;
            known.extend(found.map_err(|e| Problem::from_store(&e))?);
        }
        Ok(known)
    }

    async fn look_for_surplus(&mut self, listed: &BTreeMap<String, ContentHash>) -> Result<(), Problem> {
        let mut after = String::new();
        loop {
            let live = self.context.store.live_keys(&self.context.key, P::RESOURCE, &after).await;
            let live = live.map_err(|e| Problem::from_store(&e))?;
            let Some(last) = live.last() else { return Ok(()) };
            after.clone_from(last);
            self.report.mirrored += live.len() as u64;
            let surplus = live.into_iter().filter(|key| !listed.contains_key(key));
            self.differences.extend(surplus.map(|key| (key, Difference::Surplus)));
        }
    }

    async fn compare_detail(&mut self, key: String, known: &HashMap<String, Known>) -> Result<(), Problem> {
        self.report.sampled += 1;
        match self.pull.detail(&key).await {
            Ok(read) if known.get(&key).is_some_and(|known| known.content_hash == read.content_hash) => {}
            Ok(_) => drop(self.differences.insert(key, Difference::Detail)),
            Err(ApiError::Refused { status: 404 | 410, .. }) => {
                self.differences.insert(key, Difference::Surplus);
            }
            Err(error @ ApiError::Refused { .. }) if !error.is_authentication() => {
                self.differences.insert(key, Difference::Unreadable);
            }
            Err(error) => return Err(Problem::from_api(&error)),
        }
        Ok(())
    }

    fn stop_if_asked(&self) -> Result<(), Problem> {
        match self.context.stop.is_cancelled() {
            false => Ok(()),
            true => Err(Problem {
                trouble: Trouble::Stopped,
                code: "stopped".into(),
                error: "stopped before the end".into(),
                hint: "run again: an audit begins anew".into(),
            }),
        }
    }
}

/// Positions of a sample, spread evenly over `rows`; another seed, others.
fn choose(rows: usize, sample: usize, seed: u64) -> impl Iterator<Item = usize> {
    let sample = sample.min(rows);
    let shift = (seed % rows.max(1) as u64) as usize;
    let chosen: BTreeSet<usize> = (0..sample).map(|at| (at * rows / sample + shift) % rows).collect();
    chosen.into_iter()
}

#[cfg(test)]
mod tests {
    use super::choose;

    #[test]
    fn a_sample_has_its_size_spreads_over_all_rows_and_moves_with_its_seed() {
        let of = |rows, sample, seed| choose(rows, sample, seed).collect::<Vec<_>>();
        assert_eq!(of(10, 5, 0), [0, 2, 4, 6, 8]);
        assert_eq!(of(10, 5, 11), [1, 3, 5, 7, 9]);
        assert_eq!(of(3, 50, 7), [0, 1, 2], "no row twice");
        assert_eq!(of(0, 50, 7), [0_usize; 0]);
        assert_eq!(of(10, 0, 7), [0_usize; 0]);
        for seed in 0..20 {
            assert_eq!(of(7, 3, seed).len(), 3, "seed {seed}");
        }
    }
}
