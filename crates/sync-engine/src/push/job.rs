//! What is to be done next, the most urgent first.

use std::collections::{BTreeMap, HashSet};

use espelho_model::{
    ProductId,
    push::{CommandKind, PushState},
};
use espelho_store::{Command, Effect, WantedPrices, WantedStock};
use rust_decimal::Decimal;

use super::{Pusher, distinct, verdict::Cause};

/// How urgent something is; less is sooner. What lowers availability goes ahead of what raises it, because what is sold
/// and not there cannot be taken back; evidence of what is already sent goes last, and before it everything that is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// What was under way when the last owner ended.
    Unsettled,
    /// A level that goes to zero.
    Empties,
    /// A level that falls.
    Lowers,
    /// Commands, in the order in which they were given.
    Command,
    /// Prices.
    Prices,
    /// A level that rises, or that the mirror does not know.
    Raises,
    /// What was sent and is looked at.
    Verify,
}

/// Something to do. No two with the same key are under way at once.
pub(crate) struct Job {
    pub(crate) key: String,
    pub(crate) rank: Rank,
    pub(crate) work: Work,
}

/// What to do.
pub(crate) enum Work {
    /// Finds out what became of an effect that nobody waits for.
    Settle(Effect),
    /// Sends a level.
    Stock(WantedStock),
    /// Looks at levels that were sent.
    Verify(ProductId, Vec<WantedStock>),
    /// Brings a product's prices about.
    Prices(WantedPrices),
    /// Does what a command asks for.
    Command(Command),
}

impl Pusher<'_> {
    /// Everything that is wanted, the most urgent first.
    pub(super) async fn jobs(&self) -> Result<Vec<Job>, Cause> {
        let (store, key) = (&self.context.store, &self.context.key);
        self.look_again_at_unknown_skus().await?;
        self.follow_policy().await?;
        let effects = store.open_effects(key).await?;
        let commands = match self.options.commands {
            true => store.open_commands(key).await?,
            false => Vec::new(),
        };
        let levels = match self.options.stock {
            true => self.guarded(store.open_stock(key).await?).await?,
            false => Vec::new(),
        };
        let prices = match self.options.prices {
            true => store.open_prices(key).await?,
            false => Vec::new(),
        };
        let mut taken = HashSet::new();
        let mut jobs = Vec::new();
        for effect in effects {
            // A command settles its own: what comes of it belongs into its row.
            let is_commands = effect.command_id.is_some_and(|id| {
                let same = |c: &Command| c.id == id && effect.fingerprint == Some(c.fingerprint());
                commands.iter().any(same)
            });
            if !is_commands && distinct(&mut taken, &effect.key) {
                jobs.push(Job { key: effect.key.clone(), rank: Rank::Unsettled, work: Work::Settle(effect) });
            }
        }
        let cancelled: HashSet<String> =
            commands.iter().filter(|c| cancels(c)).map(|c| c.key.clone()).collect();
        for command in commands {
            let key = super::commands::key_of(&command);
            let waits = command.state == Some(PushState::Waiting);
            let is_status = command.kind == CommandKind::OrderStatus.as_str();
            if waits && is_status && cancelled.contains(&command.key) && !cancels(&command) {
                self.supersede(&command).await?;
                continue;
            }
            // What waits is passed by what is about something else; the statuses of an order keep their order.
            let key = if is_status { format!("{key}/status") } else { key };
            let is_first = distinct(&mut taken, &key);
            let is_free = !is_status || waits || distinct(&mut taken, &super::commands::key_of(&command));
            if is_first && is_free {
                jobs.push(Job { key, rank: Rank::Command, work: Work::Command(command) });
            }
        }
        for wanted in prices {
            let key = format!("prices/{}", wanted.sku);
            if distinct(&mut taken, &key) {
                jobs.push(Job { key, rank: Rank::Prices, work: Work::Prices(wanted) });
            }
        }
        jobs.extend(level_jobs(levels, &mut taken));
        // Stable: commands stay in the order in which they were given.
        jobs.sort_by_key(|job| job.rank);
        Ok(jobs)
    }
}

/// Whether a command takes an order back.
fn cancels(command: &Command) -> bool {
    let data: serde_json::Value = serde_json::from_str(&command.data).unwrap_or_default();
    command.kind == CommandKind::OrderStatus.as_str() && data["status"] == "cancelled"
}

fn level_jobs(levels: Vec<WantedStock>, taken: &mut HashSet<String>) -> Vec<Job> {
    let mut jobs = Vec::new();
    let mut sent: BTreeMap<ProductId, Vec<WantedStock>> = BTreeMap::new();
    for level in levels {
        let key = key_of_level(&level);
        if !distinct(taken, &key) {
            continue;
        }
        match (&level.product, level.state) {
            (Some(product), Some(PushState::Sending)) => {
                sent.entry(product.clone()).or_default().push(level);
            }
            _ => jobs.push(Job { key, rank: rank(&level), work: Work::Stock(level) }),
        }
    }
    jobs.extend(sent.into_iter().map(|(product, levels)| Job {
        key: format!("verify/{product}"),
        rank: Rank::Verify,
        work: Work::Verify(product, levels),
    }));
    jobs
}

/// What a level is about: one SKU at one location.
pub(crate) fn key_of_level(level: &WantedStock) -> String {
    format!("stock/{}/{}", level.sku, level.location)
}

fn rank(level: &WantedStock) -> Rank {
    let (Some(wanted), Some(mirrored)) = (level.quantity, level.mirrored) else { return Rank::Raises };
    match wanted < mirrored {
        true if wanted <= Decimal::ZERO => Rank::Empties,
        true => Rank::Lowers,
        false => Rank::Raises,
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::{LocationId, Sku};

    use super::*;

    fn level(sku: &str, wanted: i64, mirrored: i64) -> WantedStock {
        WantedStock {
            sku: Sku::new(sku),
            location: LocationId::new("1"),
            written: wanted.to_string(),
            quantity: Some(Decimal::from(wanted)),
            state: Some(PushState::New),
            updated_at: None,
            product: Some(ProductId::new(format!("P-{sku}"))),
            base_unit: None,
            mirrored: Some(Decimal::from(mirrored)),
            reserved: None,
            available: None,
            code: None,
        }
    }

    #[test]
    fn what_empties_goes_first_then_what_lowers_and_evidence_goes_last() {
        let sent = WantedStock { state: Some(PushState::Sending), ..level("d", 3, 3) };
        let levels = vec![level("a", 9, 3), level("b", 2, 3), level("c", 0, 3), sent];
        let mut jobs = level_jobs(levels, &mut HashSet::new());
        jobs.sort_by_key(|job| job.rank);
        let keys: Vec<&str> = jobs.iter().map(|job| job.key.as_str()).collect();
        assert_eq!(keys, ["stock/c/1", "stock/b/1", "stock/a/1", "verify/P-d"]);
    }

    #[test]
    fn levels_of_one_product_are_looked_at_together() {
        let sent = |location: &str| WantedStock {
            state: Some(PushState::Sending),
            location: LocationId::new(location),
            ..level("a", 1, 1)
        };
        let jobs = level_jobs(vec![sent("1"), sent("2")], &mut HashSet::new());
        let [Job { work: Work::Verify(_, rows), .. }] = jobs.as_slice() else { panic!("{}", jobs.len()) };
        assert_eq!(rows.len(), 2);
    }
}
