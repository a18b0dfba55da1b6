//! Comparing mirror and marketplace without writing into either: what is listed, and a sample of the details.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use espelho_api_client::{Client, Error as ApiError, ListPage, PageMeta, limit::Lane};
use espelho_model::{ContentHash, OrderNumber, StoreKey, sync::Resource};
use espelho_store::{Known, Part};

use crate::{
    Problem, StoreContext, Trouble,
    live::sides::Side,
    plan::paging::{Pager, Step},
    pull::{OrdersPull, ProductsPull, Pull},
};

/// Rows looked up in the mirror at a time.
const BATCH: usize = 1_000;
/// Differences that are looked at a second time; when there are more, the store is not busy but wrong.
const AGAIN: usize = 200;
/// Batches of keys from which a spot check chooses.
const MOST_BATCHES: usize = 100;

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

/// Reads `sample` details of what is mirrored and looks whether they are as the mirror has them; how many were read, and how
/// many differ on a second look too. No listing is walked through, so that it costs the same for every store.
pub(crate) async fn spot<P: Pull>(
    context: &StoreContext,
    pull: P,
    sample: usize,
    seed: u64,
) -> Result<(u64, u64), Problem> {
    let mut comparison =
        Comparison { context, pull, report: begun(P::RESOURCE), differences: BTreeMap::new() };
    let (mut keys, mut after) = (Vec::new(), String::new());
    for _ in 0..MOST_BATCHES {
        let live = context.store.live_keys(&context.key, P::RESOURCE, &after).await;
        let live = live.map_err(|e| Problem::from_store(&e))?;
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
    Ok((comparison.report.sampled, comparison.differences.len() as u64))
}

/// Compares every listed row by key and listing, and `sample` details of each resource by content; of a fifth as many orders
/// the sides too. `seed` chooses which. `only` these resources, or all where it is empty.
pub async fn audit(context: &StoreContext, only: &[Resource], sample: usize, seed: u64) -> Audit {
    let wants = |resource| only.is_empty() || only.contains(&resource);
    let before = context.client.stats();
    // Live work goes first, as before a sweep.
    let client = context.client.in_lane(Lane::Poll);
    let parameter = || context.page_parameter.clone();
    let mut resources = Vec::new();
    if wants(Resource::Orders) {
        let orders = OrdersPull::new(client.clone(), None, parameter());
        let mut report = compare(context, orders, sample, seed).await;
        if report.problem.is_none() {
            report.problem = compare_sides(context, &mut report, sample / 5, seed).await.err();
        }
        resources.push(report);
    }
    if wants(Resource::Products) {
        resources.push(compare_products(context, client, sample, seed).await);
    }
    let mut problem = None;
    if let Err(error) = context.client.gate().settle().await {
        problem = Some(Problem::from_api(&error));
    }
    let requests = context.client.stats().requests - before.requests;
    Audit { store: context.key.clone(), resources, requests, problem }
}

async fn compare_products(context: &StoreContext, client: Client, sample: usize, seed: u64) -> ResourceAudit {
    match context.store.location_ids(&context.key).await {
        Ok(known) => {
            let products = ProductsPull::new(client, known, context.page_parameter.clone());
            compare(context, products, sample, seed).await
        }
        Err(error) => {
            ResourceAudit { problem: Some(Problem::from_store(&error)), ..begun(Resource::Products) }
        }
    }
}

/// Compares the sides of some orders that were read before, each by its fingerprint; what differs is told under
/// `ORDER/SIDE`. A side that was never read is late, and no difference.
async fn compare_sides(
    context: &StoreContext,
    report: &mut ResourceAudit,
    sample: usize,
    seed: u64,
) -> Result<(), Problem> {
    let orders = context.store.live_keys(&context.key, Resource::Orders, "").await;
    let orders = orders.map_err(|e| Problem::from_store(&e))?;
    for at in choose(orders.len(), sample, seed).collect::<Vec<_>>() {
        let number = OrderNumber::new(orders[at].as_str());
        let known = context.store.order_parts(&context.key, &number).await;
        for known in known.map_err(|e| Problem::from_store(&e))? {
            if known.part == Part::Order || context.stop.is_cancelled() {
                continue;
            }
            report.sampled += 1;
            if differs_twice(context, &number, known.part).await? {
                report.differing += 1;
                if report.differences.len() < ResourceAudit::SHOWN {
                    report
                        .differences
                        .push((format!("{number}/{}", known.part.as_str()), Difference::Detail));
                }
            }
        }
    }
    Ok(())
}

async fn differs_twice(context: &StoreContext, number: &OrderNumber, part: Part) -> Result<bool, Problem> {
    let client = context.client.in_lane(Lane::Poll);
    for _ in 0..2 {
        let side = Side::read(&client, number, part).await.map_err(|e| Problem::from_api(&e))?;
        let known = context.store.order_parts(&context.key, number).await;
        let known = known.map_err(|e| Problem::from_store(&e))?;
        if known.iter().any(|known| known.part == part && known.content_hash == side.hash) {
            return Ok(false);
        }
    }
    Ok(true)
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
        self.look_again().await
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

    /// Looks a second time at what differs: on a busy store most of it has only changed between the two readings.
    async fn look_again(&mut self) -> Result<(), Problem> {
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

    /// In what a row still differs, if it does.
    async fn confirm(&self, key: &str, was: Difference) -> Result<Option<Difference>, Problem> {
        let read = self.pull.detail(key).await;
        // After the marketplace: what was mirrored meanwhile is not older than what was read.
        let known = self.known(vec![key.to_owned()]).await?;
        let known = known.get(key).filter(|known| !known.gone);
        match (read, known) {
            (Ok(_), None) => Ok(Some(Difference::Missing)),
            (Ok(read), Some(known)) if known.content_hash == read.content_hash => Ok(None),
            (Ok(_), Some(_)) if was == Difference::Listing => Ok(Some(was)),
            (Ok(_), Some(_)) => Ok(Some(Difference::Detail)),
            (Err(ApiError::Refused { status: 404 | 410, .. }), None) => Ok(None),
            (Err(ApiError::Refused { status: 404 | 410, .. }), Some(_)) => Ok(Some(Difference::Surplus)),
            (Err(error @ ApiError::Refused { .. }), _) if !error.is_authentication() => {
                Ok(Some(Difference::Unreadable))
            }
            (Err(error), _) => Err(Problem::from_api(&error)),
        }
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
