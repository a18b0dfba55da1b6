//! Which jobs the open work makes: their keys, their urgency, and which of two that exclude each other goes first. Pure.
//!
//! The open work comes in pages, turn by turn, and the queue keeps the most urgent jobs: see [`Scan`].

use std::collections::{BTreeMap, HashMap, HashSet};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{
    ContentHash, LocationId, ProductId, Sku,
    push::{CommandKind, PushState},
};
use espelho_store::{Effect, OpenCommand as CommandRow, PriceIntent, StockIntent};
use rust_decimal::Decimal;

use super::{
    dispatches::takes_off_the_shelf,
    job_queue::{self, JobQueue, KEPT_JOBS, Rank, Source},
};

/// How long a level waits for a command that dispatches some of it. An ERP that writes both does it within this time.
pub const DISPATCH_GRACE: TimeDelta = TimeDelta::minutes(2);

/// A push job.
pub type Job = job_queue::Job<Work>;

/// The work of a job.
#[derive(Debug)]
pub enum Work {
    /// Settles an effect that no command waits for.
    Settle(Effect),
    /// Sends a level.
    Stock(StockIntent),
    /// Verifies levels that were sent.
    Verify(ProductId, Vec<StockIntent>),
    /// Applies a product's prices.
    Prices(PriceIntent),
    /// Handles a command.
    Command(CommandRow),
}

/// An open command with the keys that its kind gives it.
#[derive(Clone, Debug)]
pub struct OpenCommand {
    /// The key of its subject: commands with the same one run one after the other.
    pub subject: String,
    /// A key that it reserves besides.
    pub conflicting: Option<String>,
    /// The key of a sequence that keeps its order even while other commands of the subject overtake one that waits.
    pub sequence: Option<String>,
    /// The row.
    pub command: CommandRow,
}

/// The scan of the open work, turn by turn: what is urgent first, then levels, commands and prices, each a page at a time
/// from where the walk over them has come. No two of its jobs share a key. It remembers the keys of the jobs that its
/// walks have found, and of commands that wait.
///
/// An ERP that ships goods writes the level that is left and the status `shipped`, in one transaction. If the level were
/// sent first, the marketplace would subtract the goods twice. So the latest statuses are read after the levels: a turn
/// that has found the level then finds the command too, and [`Self::finish`] leaves the level to a later walk.
#[derive(Debug, Default)]
pub struct Scan {
    /// The keys under way.
    busy: HashSet<String>,
    /// The keys of what is urgent in this turn, as hashes.
    urgent: HashSet<i64>,
    /// The keys that each walk has met so far.
    walks: [WalkKeys; 3],
    /// The keys of effects that their command settles, and that command.
    reserved: HashMap<String, i64>,
    /// The SKUs of orders that recent commands dispatch.
    skus_being_dispatched: HashSet<String>,
    /// The time at which the commands could not be read: any level of late may be of goods that one of them dispatches.
    commands_locked_at: Option<DateTime<Utc>>,
    /// The levels of the last SKU of a full page: more of them may come.
    rest: Vec<StockIntent>,
}

/// The keys that a walk has met, as hashes.
#[derive(Debug, Default)]
struct WalkKeys {
    /// The keys of its jobs, and of commands that wait.
    taken: HashSet<i64>,
    /// The keys of what was under way meanwhile: a row that the walk comes to afterwards may be behind that work's row.
    busy: HashSet<i64>,
}

impl Scan {
    /// Begins a turn while work on some keys is under way.
    pub fn begin_turn(&mut self, busy: HashSet<String>) {
        for walk in &mut self.walks {
            walk.busy.extend(busy.iter().map(|key| hash_of(key)));
        }
        self.busy = busy;
        self.urgent.clear();
        self.reserved.clear();
        self.skus_being_dispatched.clear();
        self.commands_locked_at = None;
    }

    /// Begins a walk over a source.
    pub fn begin_walk(&mut self, source: Source) {
        let busy = self.busy.iter().map(|key| hash_of(key)).collect();
        if let Some(walk) = self.walk(source) {
            *walk = WalkKeys { busy, ..WalkKeys::default() };
        }
        if source == Source::Levels {
            self.rest.clear();
        }
    }

    /// Says whether work on a key is under way.
    pub fn is_busy(&self, key: &str) -> bool {
        self.busy.contains(key)
    }

    /// Adds an effect that nobody executes. `owner` is the open command that waits for it: it settles its own effects,
    /// because the result belongs in its row. While an effect of a command is unsettled, no other command works on the
    /// same subject.
    pub fn effect(&mut self, effect: Effect, owner: Option<i64>, queue: &mut JobQueue<Work>) {
        if let Some(command) = owner {
            self.reserved.insert(effect.key, command);
        } else if self.try_reserve(Source::Urgent, &effect.key) {
            let (keys, asked) = (vec![effect.key.clone()], effect.id.to_string());
            let job = Job { keys, asked, rank: Rank::Unsettled, work: Work::Settle(effect) };
            queue.offer(Source::Urgent, job);
        }
    }

    /// All effects were added: what was queued before waits for them too.
    pub fn end_effects(&self, queue: &mut JobQueue<Work>) {
        queue.discard(|job| match &job.work {
            Work::Settle(_) => false,
            work => job.keys.iter().any(|key| {
                let owner = self.reserved.get(key);
                let is_of_another =
                    owner.is_some_and(|owner| matches!(work, Work::Command(command) if command.id != *owner));
                is_of_another || self.urgent.contains(&hash_of(key))
            }),
        });
    }

    /// Adds a page of levels that go to zero, which no guard holds.
    pub fn zeroes(&mut self, page: Vec<StockIntent>, queue: &mut JobQueue<Work>) {
        for level in page.into_iter().filter(|level| level.product.is_some()) {
            self.offer_level(Source::Urgent, level, queue);
        }
    }

    /// Adds an open status that does not wait, and that no open command on the same key is ahead of.
    pub fn status(&mut self, open: OpenCommand, queue: &mut JobQueue<Work>) {
        self.offer_command(Source::Urgent, open, queue);
    }

    /// Adds an open command. They come in the order in which they were given.
    pub fn command(&mut self, open: OpenCommand, queue: &mut JobQueue<Work>) {
        self.offer_command(Source::Commands, open, queue);
    }

    fn offer_command(&mut self, source: Source, open: OpenCommand, queue: &mut JobQueue<Work>) {
        // Once there are enough commands, no later one is kept: its keys say nothing.
        if !queue.wants(source, Rank::Command) {
            return;
        }
        let OpenCommand { subject, conflicting, sequence, command } = open;
        if self.is_reserved(&subject, &command) {
            return;
        }
        let waits = command.state == Some(PushState::Waiting);
        let is_sequence = sequence.is_some();
        let own = sequence.unwrap_or_else(|| subject.clone());
        let is_first = self.try_reserve(source, &own);
        let is_free = !is_sequence || waits || self.try_reserve(source, &subject);
        let is_ready = is_first
            && is_free
            && conflicting
                .as_ref()
                .is_none_or(|key| !self.is_reserved(key, &command) && self.try_reserve(source, key));
        if is_ready {
            let keys = [own, subject].into_iter().chain(conflicting).collect();
            // A retry that a person asks for does not inherit the pause of the earlier attempt.
            let anew = if command.state == Some(PushState::New) { " new" } else { "" };
            let asked = format!("{}{anew}", command.wording());
            let rank = match source {
                _ if waits => Rank::Waiting,
                Source::Urgent => Rank::Status,
                _ => Rank::Command,
            };
            queue.offer(source, Job { keys, asked, rank, work: Work::Command(command) });
        }
    }

    /// Notes a SKU of an order that a recent command dispatches.
    pub fn note_dispatched(&mut self, sku: String) {
        self.skus_being_dispatched.insert(sku);
    }

    /// Notes that the commands cannot all be read: which goods they dispatch is unknown.
    pub fn commands_are_locked(&mut self, now: DateTime<Utc>) {
        self.commands_locked_at = Some(now);
    }

    /// Adds a product with open prices.
    pub fn prices(&mut self, desired: PriceIntent, queue: &mut JobQueue<Work>) {
        let key = format!("prices/{}", desired.sku);
        if queue.wants(Source::Prices, Rank::Prices) && self.try_reserve(Source::Prices, &key) {
            let asked = desired.revision.to_string();
            let job = Job { keys: vec![key], asked, rank: Rank::Prices, work: Work::Prices(desired) };
            queue.offer(Source::Prices, job);
        }
    }

    /// Adds a page of open levels that no guard holds, by SKU. After the last page, `is_last`, nothing is left.
    pub fn levels(&mut self, page: Vec<StockIntent>, is_last: bool, queue: &mut JobQueue<Work>) {
        let mut levels = std::mem::take(&mut self.rest);
        levels.extend(page);
        if !is_last {
            self.rest = last_sku(&mut levels);
        }
        self.offer_levels(levels, queue);
    }

    /// Ends the turn: levels of goods that are being dispatched wait, unless they go to zero or were sent before.
    pub fn finish(&self, queue: &mut JobQueue<Work>) {
        let skus = &self.skus_being_dispatched;
        let is_of_late = |level: &StockIntent| {
            self.commands_locked_at.is_some_and(|now| {
                level.updated_at.is_none_or(|written| (now - written).abs() < DISPATCH_GRACE)
            })
        };
        queue.discard(|job| match &job.work {
            Work::Stock(level) => {
                level.quantity != Some(Decimal::ZERO)
                    && level.state != Some(PushState::Sending)
                    && (skus.contains(level.sku.as_str()) || is_of_late(level))
            }
            _ => false,
        });
    }

    fn offer_levels(&mut self, levels: Vec<StockIntent>, queue: &mut JobQueue<Work>) {
        let mut sent: BTreeMap<ProductId, Vec<StockIntent>> = BTreeMap::new();
        for level in levels {
            match &level.product {
                Some(product) if level.state == Some(PushState::Sending) => {
                    let key = key_of_level(&level);
                    if queue.wants(Source::Levels, Rank::Verify) && self.try_reserve(Source::Levels, &key) {
                        sent.entry(product.clone()).or_default().push(level);
                    }
                }
                _ => self.offer_level(Source::Levels, level, queue),
            }
        }
        for (product, levels) in sent {
            let own = format!("verify/{product}");
            if self.try_reserve(Source::Levels, &own) {
                let keys = std::iter::once(own).chain(levels.iter().map(key_of_level)).collect();
                let asked =
                    levels.iter().map(|level| level.revision.to_string()).collect::<Vec<_>>().join(" ");
                let work = Work::Verify(product, levels);
                queue.offer(Source::Levels, Job { keys, asked, rank: Rank::Verify, work });
            }
        }
    }

    fn offer_level(&mut self, source: Source, level: StockIntent, queue: &mut JobQueue<Work>) {
        let (rank, key) = (rank(&level), key_of_level(&level));
        if queue.wants(source, rank) && self.try_reserve(source, &key) {
            let asked = level.revision.to_string();
            queue.offer(source, Job { keys: vec![key], asked, rank, work: Work::Stock(level) });
        }
    }

    fn is_reserved(&self, key: &str, command: &CommandRow) -> bool {
        self.reserved.get(key).is_some_and(|id| *id != command.id)
    }

    /// Reserves a key. Returns false when the key is already taken: by work under way, by what is urgent, or by a walk.
    /// Urgent work takes the key from a walk.
    fn try_reserve(&mut self, source: Source, key: &str) -> bool {
        let hash = hash_of(key);
        if self.busy.contains(key) || self.urgent.contains(&hash) {
            return false;
        }
        let is_taken = self.walks.iter().any(|walk| walk.taken.contains(&hash));
        match self.walk(source) {
            None => self.urgent.insert(hash),
            Some(walk) => !is_taken && !walk.busy.contains(&hash) && walk.taken.insert(hash),
        }
    }

    /// Returns the keys that the walk over a source has met.
    fn walk(&mut self, source: Source) -> Option<&mut WalkKeys> {
        match source {
            Source::Urgent => None,
            Source::Levels => Some(&mut self.walks[0]),
            Source::Commands => Some(&mut self.walks[1]),
            Source::Prices => Some(&mut self.walks[2]),
        }
    }
}

fn hash_of(key: &str) -> i64 {
    ContentHash::of(key.as_bytes()).as_i64()
}

/// Takes the levels of the last SKU off a page, unless they are as many as a queue holds.
fn last_sku(levels: &mut Vec<StockIntent>) -> Vec<StockIntent> {
    let first = levels.last().and_then(|last| levels.iter().position(|level| level.sku == last.sku));
    first.filter(|at| levels.len() - at < KEPT_JOBS).map(|at| levels.split_off(at)).unwrap_or_default()
}

/// Says whether a level of a known product goes to zero and was not sent yet.
pub fn goes_to_zero(level: &StockIntent) -> bool {
    level.product.is_some()
        && level.state != Some(PushState::Sending)
        && level.quantity == Some(Decimal::ZERO)
}

/// Says whether a command was given a moment ago.
pub fn is_recent_status(command: &CommandRow, now: DateTime<Utc>) -> bool {
    command.created_at.is_some_and(|at| (now - at).abs() < DISPATCH_GRACE)
}

/// Says whether a command was given a moment ago and dispatches goods. A command that waits for an invoice may wait for
/// long, and so may a refused one.
pub fn is_recent_dispatch(command: &CommandRow, now: DateTime<Utc>) -> bool {
    command.state != Some(PushState::Waiting) && is_recent_status(command, now) && dispatches_goods(command)
}

/// Says whether a command dispatches an order's goods. One with long data may.
pub fn dispatches_goods(command: &CommandRow) -> bool {
    let dispatches = || {
        let Some(data) = &command.short_data else { return true };
        let data: Option<serde_json::Value> = serde_json::from_str(data).ok();
        data.is_some_and(|data| data["status"].as_str().is_some_and(takes_off_the_shelf))
    };
    command.kind == CommandKind::OrderStatus.as_str() && dispatches()
}

/// Returns the key of a level: one SKU at one location.
pub fn key_of_level(level: &StockIntent) -> String {
    key_of(&level.sku, &level.location)
}

/// Returns the key of the level of a SKU at a location.
pub fn key_of(sku: &Sku, location: &LocationId) -> String {
    format!("stock/{sku}/{location}")
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
mod tests;
