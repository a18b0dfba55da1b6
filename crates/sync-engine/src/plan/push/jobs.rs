//! Which jobs the open work makes: their keys, their urgency, and which of two that exclude each other goes first. Pure.
//!
//! The open work comes in pages, turn by turn, and the queue keeps the most urgent jobs: see [`Scan`].

use std::collections::{BTreeMap, HashMap, HashSet};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{
    ContentHash, ProductId,
    push::{CommandKind, PushState},
};
use espelho_store::{Effect, OpenCommand as CommandRow, PriceIntent, StockIntent};
use rust_decimal::Decimal;

use super::job_queue::{self, JobQueue, KEPT_JOBS, Rank, Source};

/// How long a level waits for a command that dispatches some of it.
const DISPATCH_GRACE: TimeDelta = TimeDelta::minutes(2);

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
    /// The keys of what is urgent in this turn, as numbers.
    urgent: HashSet<i64>,
    /// What each walk has met so far.
    walks: [Met; 3],
    /// The keys of effects that their command settles, and that command.
    reserved: HashMap<String, i64>,
    /// The SKUs of orders that recent commands dispatch.
    skus_being_dispatched: HashSet<String>,
    /// The time at which the commands could not be read: any level of late may be of goods that one of them dispatches.
    commands_locked_at: Option<DateTime<Utc>>,
    /// The levels of the last SKU of a full page: more of them may come.
    rest: Vec<StockIntent>,
}

/// What a walk has met, as numbers that stand for keys.
#[derive(Debug, Default)]
struct Met {
    /// The keys of its jobs, and of commands that wait.
    taken: HashSet<i64>,
    /// The keys of what was under way meanwhile: a row that the walk comes to afterwards may be behind that work's row.
    busy: HashSet<i64>,
}

impl Scan {
    /// Begins a turn while work on some keys is under way.
    pub fn begin_turn(&mut self, busy: HashSet<String>) {
        for walk in &mut self.walks {
            walk.busy.extend(busy.iter().map(|key| number(key)));
        }
        self.busy = busy;
        self.urgent.clear();
        self.reserved.clear();
        self.skus_being_dispatched.clear();
        self.commands_locked_at = None;
    }

    /// Begins a walk over a source.
    pub fn begin_walk(&mut self, source: Source) {
        let busy = self.busy.iter().map(|key| number(key)).collect();
        if let Some(walk) = self.walk(source) {
            *walk = Met { busy, ..Met::default() };
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
                is_of_another || self.urgent.contains(&number(key))
            }),
        });
    }

    /// Adds a page of levels that go to zero, which no guard holds.
    pub fn zeroes(&mut self, page: Vec<StockIntent>, queue: &mut JobQueue<Work>) {
        for level in page.into_iter().filter(|level| level.product.is_some()) {
            self.level_job(Source::Urgent, level, queue);
        }
    }

    /// Adds an open status that does not wait, and that no open command on the same key is ahead of.
    pub fn status(&mut self, open: OpenCommand, queue: &mut JobQueue<Work>) {
        self.command_job(Source::Urgent, open, queue);
    }

    /// Adds an open command. They come in the order in which they were given.
    pub fn command(&mut self, open: OpenCommand, queue: &mut JobQueue<Work>) {
        self.command_job(Source::Commands, open, queue);
    }

    fn command_job(&mut self, source: Source, open: OpenCommand, queue: &mut JobQueue<Work>) {
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
        self.level_jobs(levels, queue);
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

    fn level_jobs(&mut self, levels: Vec<StockIntent>, queue: &mut JobQueue<Work>) {
        let mut sent: BTreeMap<ProductId, Vec<StockIntent>> = BTreeMap::new();
        for level in levels {
            match &level.product {
                Some(product) if level.state == Some(PushState::Sending) => {
                    let key = key_of_level(&level);
                    if queue.wants(Source::Levels, Rank::Verify) && self.try_reserve(Source::Levels, &key) {
                        sent.entry(product.clone()).or_default().push(level);
                    }
                }
                _ => self.level_job(Source::Levels, level, queue),
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

    fn level_job(&mut self, source: Source, level: StockIntent, queue: &mut JobQueue<Work>) {
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
    /// What is urgent takes it from a walk.
    fn try_reserve(&mut self, source: Source, key: &str) -> bool {
        let number = number(key);
        if self.busy.contains(key) || self.urgent.contains(&number) {
            return false;
        }
        let is_taken = self.walks.iter().any(|walk| walk.taken.contains(&number));
        match self.walk(source) {
            None => self.urgent.insert(number),
            Some(walk) => !is_taken && !walk.busy.contains(&number) && walk.taken.insert(number),
        }
    }

    /// What the walk over a source has met.
    fn walk(&mut self, source: Source) -> Option<&mut Met> {
        match source {
            Source::Urgent => None,
            Source::Levels => Some(&mut self.walks[0]),
            Source::Commands => Some(&mut self.walks[1]),
            Source::Prices => Some(&mut self.walks[2]),
        }
    }
}

fn number(key: &str) -> i64 {
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
/// long, and so may a refused one. One with long data may dispatch something.
pub fn is_recent_dispatch(command: &CommandRow, now: DateTime<Utc>) -> bool {
    let dispatches = || {
        let Some(data) = &command.short_data else { return true };
        let data: Option<serde_json::Value> = serde_json::from_str(data).ok();
        data.is_some_and(|data| matches!(data["status"].as_str(), Some("shipped" | "picked_up")))
    };
    command.kind == CommandKind::OrderStatus.as_str()
        && command.state != Some(PushState::Waiting)
        && is_recent_status(command, now)
        && dispatches()
}

/// Returns the key of a level: one SKU at one location.
pub fn key_of_level(level: &StockIntent) -> String {
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
    use std::time::Duration;

    use espelho_model::{LocationId, Sku};
    use espelho_store::EffectState;

    use super::{
        super::tests::{at, effect},
        *,
    };

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

    fn command(id: i64, kind: CommandKind, key: &str, state: PushState) -> OpenCommand {
        let (is_status, is_update) = (kind == CommandKind::OrderStatus, kind == CommandKind::ProductUpdate);
        let area = if is_update { "product" } else { "order" };
        OpenCommand {
            subject: format!("{area}/{key}"),
            conflicting: is_update.then(|| format!("prices/{key}")),
            sequence: is_status.then(|| format!("order/{key}/status")),
            command: CommandRow {
                id,
                kind: kind.as_str().to_owned(),
                key: key.to_owned(),
                short_data: Some(String::new()),
                data_bytes: 0,
                is_too_large: false,
                state: Some(state),
                created_at: Some(at(0)),
                code: None,
            },
        }
    }

    fn status(id: i64, key: &str, state: PushState) -> OpenCommand {
        command(id, CommandKind::OrderStatus, key, state)
    }

    fn notes(id: i64, key: &str) -> OpenCommand {
        command(id, CommandKind::OrderNotes, key, PushState::New)
    }

    fn update(id: i64, sku: &str) -> OpenCommand {
        command(id, CommandKind::ProductUpdate, sku, PushState::New)
    }

    fn prices(sku: &str) -> PriceIntent {
        PriceIntent { sku: Sku::new(sku), product: Some(ProductId::new("P")), revision: 3 }
    }

    /// An open effect.
    fn sent(id: i64, key: &str) -> Effect {
        Effect { id, key: key.to_owned(), ..effect("order.notes", None, EffectState::Sent) }
    }

    /// The open work of a case.
    #[derive(Default)]
    struct OpenWork {
        commands: Vec<OpenCommand>,
        /// Each with its command, if that is open.
        effects: Vec<(Effect, Option<i64>)>,
        prices: Vec<PriceIntent>,
        levels: Vec<StockIntent>,
        busy: HashSet<String>,
        skus_being_dispatched: HashSet<String>,
        /// Levels of a page; 0 for all in one.
        page: usize,
    }

    /// Begins a turn of new walks.
    fn begun(busy: HashSet<String>) -> (JobQueue<Work>, Scan) {
        let (mut queue, mut scan) = (JobQueue::default(), Scan::default());
        queue.begin_turn(SECOND);
        scan.begin_turn(busy);
        for source in [Source::Levels, Source::Commands, Source::Prices] {
            queue.begin_walk(source);
            scan.begin_walk(source);
        }
        (queue, scan)
    }

    fn jobs(open: OpenWork) -> Vec<Job> {
        let OpenWork { commands, effects, prices, levels, busy, skus_being_dispatched, page } = open;
        let (mut queue, mut scan) = begun(busy);
        effects.into_iter().for_each(|(effect, owner)| scan.effect(effect, owner, &mut queue));
        scan.end_effects(&mut queue);
        let page = if page == 0 { usize::MAX } else { page };
        levels.chunks(page.min(levels.len().max(1))).for_each(|page| {
            scan.levels(page.to_vec(), false, &mut queue);
        });
        scan.levels(Vec::new(), true, &mut queue);
        commands.into_iter().for_each(|command| scan.command(command, &mut queue));
        skus_being_dispatched.into_iter().for_each(|sku| scan.note_dispatched(sku));
        prices.into_iter().for_each(|desired| scan.prices(desired, &mut queue));
        scan.finish(&mut queue);
        queue.end_turn(SECOND, SECOND, false);
        std::iter::from_fn(|| {
            let job = queue.take(SECOND)?;
            queue.release(&job.keys);
            Some(job)
        })
        .collect()
    }

    const SECOND: Duration = Duration::from_secs(1);

    /// The jobs in short, the most urgent first.
    fn found(open: OpenWork) -> Vec<String> {
        let name = |job: &Job| match &job.work {
            Work::Settle(effect) => format!("settle {}", effect.id),
            Work::Stock(level) => format!("level {}", level.sku),
            Work::Verify(product, rows) if rows.len() > 1 => format!("verify {product} x{}", rows.len()),
            Work::Verify(product, _) => format!("verify {product}"),
            Work::Prices(desired) => format!("prices {}", desired.sku),
            Work::Command(command) => format!("command {}", command.id),
        };
        jobs(open).iter().map(name).collect()
    }

    fn keys(keys: &[&str]) -> HashSet<String> {
        keys.iter().map(|key| (*key).to_owned()).collect()
    }

    #[test]
    fn commands_of_one_subject_go_one_after_the_other_and_a_waiting_status_lets_others_overtake() {
        let (new, waiting) = (PushState::New, PushState::Waiting);
        let cases: Vec<(Vec<OpenCommand>, &[&str], &[&str])> = vec![
            (vec![notes(1, "A"), notes(2, "A"), notes(3, "B")], &[], &["command 1", "command 3"]),
            (vec![notes(1, "A"), notes(2, "B")], &["order/A"], &["command 2"]),
            (vec![status(1, "A", new), notes(2, "A")], &[], &["command 1"]),
            (vec![notes(1, "A"), status(2, "A", new)], &[], &["command 1"]),
            (vec![status(1, "A", waiting), notes(2, "A")], &[], &["command 2", "command 1"]),
            (vec![status(1, "A", waiting), status(2, "A", new)], &[], &["command 1"]),
            (
                vec![status(1, "A", waiting), notes(2, "A"), status(3, "A", new)],
                &[],
                &["command 2", "command 1"],
            ),
            (vec![status(1, "A", new)], &["order/A/status"], &[]),
            (vec![update(1, "A"), update(2, "B")], &["prices/A"], &["command 2"]),
        ];
        for (commands, taken, expected) in cases {
            let shown = format!("{commands:?} beside {taken:?}");
            let open = OpenWork { commands, busy: keys(taken), ..OpenWork::default() };
            assert_eq!(found(open), expected, "{shown}");
        }
    }

    #[test]
    fn a_level_is_as_urgent_as_the_sale_that_it_prevents() {
        assert_eq!(rank(&level("A", 0, 5)), Rank::Empties);
        assert_eq!(rank(&level("A", -1, 5)), Rank::Empties);
        assert_eq!(rank(&level("A", 4, 5)), Rank::Lowers);
        assert_eq!((rank(&level("A", 5, 5)), rank(&level("A", 6, 5))), (Rank::Raises, Rank::Raises));
        assert_eq!(rank(&StockIntent { mirrored: None, ..level("A", 0, 5) }), Rank::Raises);
        assert_eq!(rank(&StockIntent { product: None, ..level("A", 0, 5) }), Rank::Unknown);
    }

    #[test]
    fn the_levels_of_the_last_sku_of_a_page_wait_for_the_next_page_unless_they_fill_a_queue() {
        let split = |last: usize| {
            let mut levels = vec![level("A", 1, 0), level("B", 1, 0)];
            levels.extend((0..last).map(|_| level("C", 1, 0)));
            let rest = last_sku(&mut levels);
            (levels.len(), rest.len())
        };
        assert_eq!(split(1), (2, 1));
        assert_eq!(split(KEPT_JOBS - 1), (2, KEPT_JOBS - 1));
        assert_eq!(split(KEPT_JOBS), (2 + KEPT_JOBS, 0));
        assert_eq!(last_sku(&mut Vec::new()).len(), 0);
    }

    #[test]
    fn a_key_is_busy_while_work_on_it_is_under_way() {
        let (_, scan) = begun(keys(&["stock/A/1"]));
        assert!(scan.is_busy("stock/A/1") && !scan.is_busy("stock/A/2"));
    }

    #[test]
    fn an_effect_is_settled_by_its_open_command_and_otherwise_by_itself() {
        let (one, two) = (notes(1, "A"), notes(2, "A"));
        let find = |commands: &[&OpenCommand], effects: Vec<(Effect, Option<i64>)>, busy: &[&str]| {
            found(OpenWork {
                commands: commands.iter().map(|open| (*open).clone()).collect(),
                effects,
                busy: keys(busy),
                ..OpenWork::default()
            })
        };
        let of = |owner| vec![(sent(9, "order/A"), owner)];
        assert_eq!(find(&[&one], of(Some(1)), &[]), ["command 1"], "the command settles it");
        assert_eq!(find(&[], of(None), &[]), ["settle 9"]);
        assert_eq!(find(&[], of(None), &["order/A"]), [""; 0]);
        assert_eq!(find(&[&two, &one], of(Some(1)), &[]), ["command 1"], "another waits for it");
        assert_eq!(find(&[&two], of(None), &[]), ["settle 9"], "no command beside the settlement");
        let twice = vec![(sent(8, "order/A"), None), (sent(9, "order/A"), None)];
        assert_eq!(find(&[], twice, &[]), ["settle 8"], "one after the other");
    }

    #[test]
    fn prices_and_the_mode_of_a_product_exclude_each_other() {
        let find = |commands: Vec<OpenCommand>, effects: Vec<(Effect, Option<i64>)>, taken: &[&str]| {
            let desired = vec![prices("A"), prices("B")];
            found(OpenWork { commands, effects, prices: desired, busy: keys(taken), ..OpenWork::default() })
        };
        assert_eq!(find(vec![], vec![], &[]), ["prices A", "prices B"]);
        assert_eq!(find(vec![update(1, "A")], vec![], &[]), ["command 1", "prices B"]);
        assert_eq!(find(vec![], vec![], &["prices/B"]), ["prices A"]);
        assert_eq!(find(vec![], vec![(sent(9, "prices/A"), None)], &[]), ["settle 9", "prices B"]);
        // The step of another command is unsettled: the mode waits for it.
        let mut delete = notes(2, "A");
        delete.subject = "prices/A".to_owned();
        let step = vec![(sent(9, "prices/A"), Some(2))];
        assert_eq!(find(vec![update(1, "A"), delete], step, &[]), ["command 2", "prices B"]);
    }

    #[test]
    fn a_level_of_late_waits_while_the_commands_are_locked_unless_it_goes_to_zero_or_is_verified() {
        let written =
            |seconds: i64, level: StockIntent| StockIntent { updated_at: Some(at(seconds)), ..level };
        let sent = StockIntent { state: Some(PushState::Sending), ..level("sent", 1, 1) };
        let levels = vec![
            written(0, level("old", 2, 3)),
            written(150, level("of late", 2, 3)),
            written(150, level("zero", 0, 3)),
            written(150, sent),
            level("of no time", 2, 3),
        ];
        let (mut queue, mut scan) = begun(HashSet::new());
        scan.levels(levels, true, &mut queue);
        scan.commands_are_locked(at(200));
        scan.finish(&mut queue);
        queue.end_turn(SECOND, SECOND, false);
        let kept: Vec<String> =
            std::iter::from_fn(|| queue.take(SECOND)).map(|job| job.key().to_owned()).collect();
        assert_eq!(kept, ["stock/zero/1", "stock/old/1", "verify/P-sent"]);
    }

    #[test]
    fn a_level_waits_for_a_dispatch_of_its_sku_unless_it_goes_to_zero_or_is_verified() {
        let sent = StockIntent { state: Some(PushState::Sending), ..level("a", 1, 1) };
        let find = |levels: Vec<StockIntent>, taken: &[&str]| {
            let skus_being_dispatched = keys(&["a"]);
            found(OpenWork { levels, skus_being_dispatched, busy: keys(taken), ..OpenWork::default() })
        };
        assert_eq!(find(vec![level("a", 2, 3), level("b", 2, 3)], &[]), ["level b"]);
        assert_eq!(find(vec![level("a", 0, 3)], &[]), ["level a"], "nobody may buy what is not there");
        assert_eq!(find(vec![sent], &[]), ["verify P-a"]);
        assert_eq!(find(vec![level("b", 2, 3), level("c", 2, 3)], &["stock/b/1"]), ["level c"]);
    }

    #[test]
    fn a_retry_that_a_person_asks_for_does_not_inherit_a_pause() {
        let asked = |state| {
            let open = OpenWork { commands: vec![status(1, "A", state)], ..OpenWork::default() };
            jobs(open).pop().map(|job| job.asked).unwrap_or_default()
        };
        assert_ne!(asked(PushState::New), asked(PushState::Waiting));
        assert_eq!(asked(PushState::Sending), asked(PushState::Waiting));
    }

    #[test]
    fn a_status_dispatches_for_two_minutes_after_it_was_given_and_not_while_it_waits() {
        let is_dispatch = |word: &str, state: PushState, seconds: i64| {
            let mut command = status(1, "A", state).command;
            command.short_data = Some(format!("{{\"status\": \"{word}\"}}"));
            is_recent_dispatch(&command, at(seconds))
        };
        assert!(
            is_dispatch("shipped", PushState::New, 0) && is_dispatch("picked_up", PushState::Sending, 119)
        );
        assert!(is_dispatch("shipped", PushState::New, -119), "another machine's clock");
        assert!(!is_dispatch("shipped", PushState::New, 120));
        assert!(!is_dispatch("shipped", PushState::Waiting, 0));
        assert!(!is_dispatch("preparing", PushState::New, 0));
        assert!(!is_recent_dispatch(&notes(1, "A").command, at(0)));
        let long = CommandRow { short_data: None, ..status(1, "A", PushState::New).command };
        assert!(is_recent_dispatch(&long, at(0)), "long data is not read, and may dispatch something");
    }

    #[test]
    fn what_empties_goes_first_then_what_lowers_and_evidence_goes_last() {
        let sent = StockIntent { state: Some(PushState::Sending), ..level("d", 3, 3) };
        let levels = vec![level("a", 9, 3), level("b", 2, 3), level("c", 0, 3), sent];
        let open = OpenWork { levels, ..OpenWork::default() };
        assert_eq!(found(open), ["level c", "level b", "level a", "verify P-d"]);
    }

    #[test]
    fn levels_of_one_product_are_looked_at_together_though_a_page_ends_between_them() {
        let sent = |sku: &str, location: usize| StockIntent {
            state: Some(PushState::Sending),
            location: LocationId::new(location.to_string()),
            ..level(sku, 1, 1)
        };
        for page in 1..=6 {
            let levels = [("a", 2), ("b", 1), ("c", 3)];
            let levels = levels.iter().flat_map(|(sku, n)| (1..=*n).map(|at| sent(sku, at))).collect();
            let open = OpenWork { levels, page, ..OpenWork::default() };
            assert_eq!(found(open), ["verify P-a x2", "verify P-b", "verify P-c x3"], "pages of {page}");
        }
    }

    #[test]
    fn a_waiting_command_is_looked_at_after_new_ones_and_still_keeps_its_place_before_those_of_its_subject() {
        let waiting = |mut open: OpenCommand| {
            open.command.state = Some(PushState::Waiting);
            open
        };
        let commands = vec![waiting(notes(1, "A")), notes(2, "A"), notes(3, "B"), update(4, "C")];
        let open = OpenWork { commands, prices: vec![prices("A")], ..OpenWork::default() };
        assert_eq!(found(open), ["command 3", "command 4", "prices A", "command 1"]);
    }

    /// A turn in which the walks go on.
    fn next_turn(
        queue: &mut JobQueue<Work>,
        scan: &mut Scan,
        busy: &[&str],
        find: impl FnOnce(&mut JobQueue<Work>, &mut Scan),
    ) {
        queue.begin_turn(SECOND);
        scan.begin_turn(keys(busy));
        find(queue, scan);
        scan.finish(queue);
        queue.end_turn(SECOND, SECOND, true);
    }

    fn queued(queue: &mut JobQueue<Work>) -> Vec<String> {
        let all = std::iter::from_fn(|| queue.take(SECOND));
        all.map(|job| format!("{:?} {}", job.rank, job.key())).collect()
    }

    #[test]
    fn what_is_urgent_takes_its_key_from_a_walk_and_goes_first_in_each_turn() {
        let (mut queue, mut scan) = begun(HashSet::new());
        scan.levels(vec![level("a", 9, 3), level("b", 9, 3)], false, &mut queue);
        scan.levels(vec![level("c", 9, 3)], false, &mut queue);
        queue.end_turn(SECOND, SECOND, true);
        next_turn(&mut queue, &mut scan, &[], |queue, scan| {
            scan.zeroes(vec![level("a", 0, 3), StockIntent { product: None, ..level("x", 0, 3) }], queue);
            scan.status(status(7, "A", PushState::New), queue);
            // The walk comes to the same rows.
            scan.command(status(7, "A", PushState::New), queue);
            scan.command(notes(8, "A"), queue);
        });
        assert_eq!(queued(&mut queue), ["Empties stock/a/1", "Status order/A/status", "Raises stock/b/1"]);
    }

    #[test]
    fn a_walk_keeps_the_order_of_a_subject_over_its_turns() {
        let (mut queue, mut scan) = begun(keys(&["order/B"]));
        let paused = OpenCommand {
            command: CommandRow { state: Some(PushState::Waiting), ..notes(1, "A").command },
            ..notes(1, "A")
        };
        let asked = paused.command.wording();
        queue.done("order/A", &asked, SECOND, SECOND * 60);
        scan.command(paused, &mut queue);
        queue.end_turn(SECOND, SECOND, true);
        // What was under way on the subject of 2 ended meanwhile, and its row may wait before that.
        next_turn(&mut queue, &mut scan, &[], |queue, scan| {
            [notes(2, "B"), notes(3, "A"), notes(4, "C")]
                .into_iter()
                .for_each(|one| scan.command(one, queue));
        });
        assert_eq!(queued(&mut queue), ["Command order/C"]);
    }

    #[test]
    fn what_was_under_way_holds_no_row_of_a_walk_that_begins_after_it() {
        let (mut queue, mut scan) = begun(keys(&["stock/a/1"]));
        queue.end_turn(SECOND, SECOND, false);
        next_turn(&mut queue, &mut scan, &[], |queue, scan| {
            // The walk over prices goes on.
            queue.begin_walk(Source::Levels);
            scan.begin_walk(Source::Levels);
            scan.levels(vec![level("a", 2, 3)], true, queue);
        });
        assert_eq!(queued(&mut queue), ["Lowers stock/a/1"]);
    }

    #[test]
    fn an_unsettled_effect_holds_what_was_queued_before_it() {
        let (mut queue, mut scan) = begun(HashSet::new());
        [notes(1, "A"), notes(2, "B"), notes(3, "C")]
            .into_iter()
            .for_each(|one| scan.command(one, &mut queue));
        queue.end_turn(SECOND, SECOND, true);
        queue.done("order/A", "9", SECOND, SECOND * 60);
        next_turn(&mut queue, &mut scan, &[], |queue, scan| {
            scan.effect(sent(9, "order/A"), None, queue);
            scan.effect(sent(10, "order/B"), Some(5), queue);
            scan.effect(sent(11, "order/C"), Some(3), queue);
            scan.end_effects(queue);
        });
        assert_eq!(queued(&mut queue), ["Command order/C"]);
    }

    #[test]
    fn a_dispatch_holds_levels_that_an_earlier_turn_has_queued() {
        let (mut queue, mut scan) = begun(HashSet::new());
        scan.levels(vec![level("a", 2, 3), level("b", 2, 3)], true, &mut queue);
        queue.end_turn(SECOND, SECOND, true);
        next_turn(&mut queue, &mut scan, &[], |_, scan| scan.note_dispatched("a".to_owned()));
        assert_eq!(queued(&mut queue), ["Lowers stock/b/1"]);
    }

    #[test]
    fn of_a_hundred_thousand_rows_a_scan_remembers_what_the_queue_keeps() {
        let (mut queue, mut scan) = begun(HashSet::new());
        for id in 0..50_000 {
            scan.command(notes(id, &id.to_string()), &mut queue);
        }
        for page in 0..100 {
            let levels = (0..500).map(|n| level(&format!("{page:03}-{n:03}"), 9, 3)).collect();
            scan.levels(levels, page == 99, &mut queue);
        }
        let taken: usize = scan.walks.iter().map(|walk| walk.taken.len()).sum();
        assert!(taken <= 4 * KEPT_JOBS, "{taken}");
        scan.levels(vec![level("z", 0, 3)], true, &mut queue);
        queue.end_turn(SECOND, SECOND, false);
        assert_eq!(queue.take(SECOND).unwrap().key(), "stock/z/1", "the most urgent may come last");
    }
}
