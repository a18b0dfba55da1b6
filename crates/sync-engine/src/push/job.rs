//! Jobs: reads the open work and gives each job its rank.

use std::collections::{BTreeMap, HashMap, HashSet};

use chrono::TimeDelta;
use espelho_model::{
    ProductId,
    push::{CommandKind, PushState},
};
use espelho_store::{Command, Effect, PriceIntent, StockIntent};
use rust_decimal::Decimal;

use super::{Pusher, cause::Cause, try_reserve};
use crate::plan::push::job_queue::{self, Rank};

/// How long a level waits for a command that dispatches some of it.
const DISPATCH_GRACE: TimeDelta = TimeDelta::minutes(2);

/// A push job.
pub(crate) type Job = job_queue::Job<Work>;

/// The work of a job.
pub(crate) enum Work {
    /// Settles an effect that no command waits for.
    Settle(Effect),
    /// Sends a level.
    Stock(StockIntent),
    /// Verifies levels that were sent.
    Verify(ProductId, Vec<StockIntent>),
    /// Applies a product's prices.
    Prices(PriceIntent),
    /// Handles a command.
    Command(Command),
}

impl Pusher<'_> {
    /// Returns the jobs for all open intents and effects that are not under way.
    pub(super) async fn jobs(&self) -> Result<Vec<Job>, Cause> {
        let (store, key) = (&self.context.store, &self.context.key);
        self.remember().await?;
        self.recheck_unknown_skus().await?;
        self.follow_policy().await?;
        // Note the busy keys first: work that is under way now may end before its row is read, and the row is then out
        // of date.
        let (mut taken, acting) = {
            let state = self.state();
            (state.jobs.busy_keys(), state.acting.clone())
        };
        // Read commands before effects: when a command ends in between, its effect must not look like an orphan.
        let commands = match self.options.commands {
            true => store.commands().open_commands(key).await?,
            false => Vec::new(),
        };
        let effects = store.journal().open_effects(key).await?;
        let levels = match self.options.stock {
            true => self.apply_guards(store.intents().open_stock(key).await?, &taken).await?,
            false => Vec::new(),
        };
        let prices = match self.options.prices {
            true => store.intents().open_prices(key).await?,
            false => Vec::new(),
        };
        let skus_being_dispatched = self.skus_being_dispatched(&commands).await?;
        let mut jobs = Vec::new();
        // While an effect of a command is unsettled, no other command works on the same subject.
        let mut reserved: HashMap<String, i64> = HashMap::new();
        // Check both then and now: the effect may have been planned in between.
        let is_acting = |id: &i64| acting.contains(id) || self.state().acting.contains(id);
        for effect in effects.into_iter().filter(|effect| !is_acting(&effect.id)) {
            // A command settles its own effects, because the result belongs in its row.
            let is_commands = effect.command_id.is_some_and(|id| {
                let same = |c: &Command| c.id == id && effect.fingerprint == Some(c.fingerprint());
                commands.iter().any(same)
            });
            if is_commands {
                reserved.extend(effect.command_id.map(|id| (effect.key, id)));
            } else if try_reserve(&mut taken, &effect.key) {
                let (keys, asked) = (vec![effect.key.clone()], effect.id.to_string());
                jobs.push(Job { keys, asked, rank: Rank::Unsettled, work: Work::Settle(effect) });
            }
        }
        for command in commands {
            let about = super::commands::key_of(&command);
            if reserved.get(&about).is_some_and(|id| *id != command.id) {
                continue;
            }
            let waits = command.state == Some(PushState::Waiting);
            let is_status = command.kind == CommandKind::OrderStatus.as_str();
            // Other commands of an order may overtake a status that waits; the statuses of one order keep their order.
            let own = if is_status { format!("{about}/status") } else { about.clone() };
            let is_first = try_reserve(&mut taken, &own);
            let is_free = !is_status || waits || try_reserve(&mut taken, &about);
            let touched = super::commands::conflicting_keys(&command);
            let is_reserved = |key: &String| reserved.get(key).is_some_and(|id| *id != command.id);
            let is_ready = is_first
                && is_free
                && touched.as_ref().is_none_or(|key| !is_reserved(key) && try_reserve(&mut taken, key));
            if is_ready {
                let keys = [own, about].into_iter().chain(touched).collect();
                // A retry that a person asks for does not inherit the pause of the earlier attempt.
                let anew = if command.state == Some(PushState::New) { " new" } else { "" };
                let asked = format!("{}{anew}", command.fingerprint());
                jobs.push(Job { keys, asked, rank: Rank::Command, work: Work::Command(command) });
            }
        }
        for desired in prices {
            let key = format!("prices/{}", desired.sku);
            if try_reserve(&mut taken, &key) {
                let asked = desired.revision.to_string();
                jobs.push(Job { keys: vec![key], asked, rank: Rank::Prices, work: Work::Prices(desired) });
            }
        }
        // An ERP that ships goods writes the level that is left and the status `shipped`. If the level were sent first,
        // the marketplace would subtract the goods twice.
        let stays = |level: &StockIntent| {
            level.quantity == Some(Decimal::ZERO)
                || level.state == Some(PushState::Sending)
                || !skus_being_dispatched.contains(level.sku.as_str())
        };
        jobs.extend(level_jobs(levels.into_iter().filter(stays).collect(), &mut taken));
        Ok(jobs)
    }
}

impl Pusher<'_> {
    /// Returns the SKUs of orders that recent commands dispatch. A command that waits for an invoice may wait for long,
    /// and so may a refused one.
    async fn skus_being_dispatched(&self, commands: &[Command]) -> Result<HashSet<String>, Cause> {
        let (store, key, now) = (&self.context.store, &self.context.key, self.context.clock.now());
        let is_young = |command: &&Command| {
            command.state != Some(PushState::Waiting)
                && command.created_at.is_some_and(|at| (now - at).abs() < DISPATCH_GRACE)
        };
        let mut skus = HashSet::new();
        for command in commands.iter().filter(|command| is_dispatch(command)).filter(is_young) {
            skus.extend(store.lookups().skus_of_order(key, &command.key).await?);
        }
        Ok(skus)
    }
}

fn is_dispatch(command: &Command) -> bool {
    let data: Option<serde_json::Value> = serde_json::from_str(&command.data).ok();
    command.kind == CommandKind::OrderStatus.as_str()
        && data.is_some_and(|data| matches!(data["status"].as_str(), Some("shipped" | "picked_up")))
}

fn level_jobs(levels: Vec<StockIntent>, taken: &mut HashSet<String>) -> Vec<Job> {
    let mut jobs = Vec::new();
    let mut sent: BTreeMap<ProductId, Vec<StockIntent>> = BTreeMap::new();
    for level in levels {
        let key = key_of_level(&level);
        if !try_reserve(taken, &key) {
            continue;
        }
        match (&level.product, level.state) {
            (Some(product), Some(PushState::Sending)) => {
                sent.entry(product.clone()).or_default().push(level);
            }
            _ => {
                let (rank, asked) = (rank(&level), level.revision.to_string());
                jobs.push(Job { keys: vec![key], asked, rank, work: Work::Stock(level) });
            }
        }
    }
    for (product, levels) in sent {
        let own = format!("verify/{product}");
        if try_reserve(taken, &own) {
            let keys = std::iter::once(own).chain(levels.iter().map(key_of_level)).collect();
            let asked = levels.iter().map(|level| level.revision.to_string()).collect::<Vec<_>>().join(" ");
            jobs.push(Job { keys, asked, rank: Rank::Verify, work: Work::Verify(product, levels) });
        }
    }
    jobs
}

/// Returns the key of a level: one SKU at one location.
pub(crate) fn key_of_level(level: &StockIntent) -> String {
    format!("stock/{}/{}", level.sku, level.location)
}

fn rank(level: &StockIntent) -> Rank {
    if level.product.is_none() {
        return Rank::Unknown;
    }
    let (Some(desired), Some(mirrored)) = (level.quantity, level.mirrored) else { return Rank::Raises };
    match desired < mirrored {
        true if desired <= Decimal::ZERO => Rank::Empties,
        true => Rank::Lowers,
        false => Rank::Raises,
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::{LocationId, Sku};

    use super::*;

    fn level(sku: &str, desired: i64, mirrored: i64) -> StockIntent {
        StockIntent {
            sku: Sku::new(sku),
            location: LocationId::new("1"),
            written: desired.to_string(),
            quantity: Some(Decimal::from(desired)),
            state: Some(PushState::New),
            updated_at: None,
            product: Some(ProductId::new(format!("P-{sku}"))),
            base_unit: None,
            mirrored: Some(Decimal::from(mirrored)),
            reserved: None,
            available: None,
            code: None,
            revision: 1,
        }
    }

    #[test]
    fn what_empties_goes_first_then_what_lowers_and_evidence_goes_last() {
        let sent = StockIntent { state: Some(PushState::Sending), ..level("d", 3, 3) };
        let levels = vec![level("a", 9, 3), level("b", 2, 3), level("c", 0, 3), sent];
        let mut jobs = level_jobs(levels, &mut HashSet::new());
        jobs.sort_by_key(|job| job.rank);
        let keys: Vec<&str> = jobs.iter().map(Job::key).collect();
        assert_eq!(keys, ["stock/c/1", "stock/b/1", "stock/a/1", "verify/P-d"]);
    }

    #[test]
    fn levels_of_one_product_are_looked_at_together() {
        let sent = |location: &str| StockIntent {
            state: Some(PushState::Sending),
            location: LocationId::new(location),
            ..level("a", 1, 1)
        };
        let jobs = level_jobs(vec![sent("1"), sent("2")], &mut HashSet::new());
        let [Job { work: Work::Verify(_, rows), .. }] = jobs.as_slice() else { panic!("{}", jobs.len()) };
        assert_eq!(rows.len(), 2);
    }
}
