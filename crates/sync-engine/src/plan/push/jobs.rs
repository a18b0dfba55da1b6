//! Which jobs the open work makes: their keys, their urgency, and which of two that exclude each other goes first. Pure.

use std::collections::{BTreeMap, HashMap, HashSet};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{
    ProductId,
    push::{CommandKind, PushState},
};
use espelho_store::{Command, Effect, PriceIntent, StockIntent};
use rust_decimal::Decimal;

use super::job_queue::{self, Rank};

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
    Command(Command),
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
    pub command: Command,
}

/// What one scan has read.
#[derive(Debug, Default)]
pub struct OpenWork {
    /// The open commands, in the order in which they were given.
    pub commands: Vec<OpenCommand>,
    /// The effects that are planned or sent.
    pub effects: Vec<Effect>,
    /// The open levels that no guard holds.
    pub levels: Vec<StockIntent>,
    /// The products with open prices.
    pub prices: Vec<PriceIntent>,
    /// The keys under way.
    pub taken: HashSet<String>,
    /// The effects that are being executed.
    pub acting: HashSet<i64>,
    /// The SKUs of orders that recent commands dispatch.
    pub skus_being_dispatched: HashSet<String>,
}

/// Returns the jobs for all open work that is not under way. No two of them share a key.
pub fn jobs(open: OpenWork) -> Vec<Job> {
    let OpenWork { commands, effects, levels, prices, mut taken, acting, skus_being_dispatched } = open;
    let effects = effects.into_iter().filter(|effect| !acting.contains(&effect.id));
    let (mut jobs, reserved) = settlement_jobs(effects, &commands, &mut taken);
    jobs.extend(commands.into_iter().filter_map(|command| command_job(command, &reserved, &mut taken)));
    jobs.extend(prices.into_iter().filter_map(|desired| price_job(desired, &mut taken)));
    // An ERP that ships goods writes the level that is left and the status `shipped`. If the level were sent first, the
    // marketplace would subtract the goods twice.
    let stays = |level: &StockIntent| {
        level.quantity == Some(Decimal::ZERO)
            || level.state == Some(PushState::Sending)
            || !skus_being_dispatched.contains(level.sku.as_str())
    };
    jobs.extend(level_jobs(levels.into_iter().filter(stays).collect(), &mut taken));
    jobs
}

/// Returns jobs for the effects that no command waits for, and the keys of the others: while an effect of a command is
/// unsettled, no other command works on the same subject.
fn settlement_jobs(
    effects: impl Iterator<Item = Effect>,
    commands: &[OpenCommand],
    taken: &mut HashSet<String>,
) -> (Vec<Job>, HashMap<String, i64>) {
    let (mut jobs, mut reserved) = (Vec::new(), HashMap::new());
    for effect in effects {
        // A command settles its own effects, because the result belongs in its row.
        let owner = effect.command_id.filter(|id| {
            let same = |c: &Command| c.id == *id && effect.fingerprint.as_ref() == Some(&c.fingerprint());
            commands.iter().any(|open| same(&open.command))
        });
        if let Some(id) = owner {
            reserved.insert(effect.key, id);
        } else if try_reserve(taken, &effect.key) {
            let (keys, asked) = (vec![effect.key.clone()], effect.id.to_string());
            jobs.push(Job { keys, asked, rank: Rank::Unsettled, work: Work::Settle(effect) });
        }
    }
    (jobs, reserved)
}

fn command_job(
    open: OpenCommand,
    reserved: &HashMap<String, i64>,
    taken: &mut HashSet<String>,
) -> Option<Job> {
    let OpenCommand { subject, conflicting, sequence, command } = open;
    let is_reserved = |key: &String| reserved.get(key).is_some_and(|id| *id != command.id);
    if is_reserved(&subject) {
        return None;
    }
    let waits = command.state == Some(PushState::Waiting);
    let is_sequence = sequence.is_some();
    let own = sequence.unwrap_or_else(|| subject.clone());
    let is_first = try_reserve(taken, &own);
    let is_free = !is_sequence || waits || try_reserve(taken, &subject);
    let is_ready = is_first
        && is_free
        && conflicting.as_ref().is_none_or(|key| !is_reserved(key) && try_reserve(taken, key));
    is_ready.then(|| {
        let keys = [own, subject].into_iter().chain(conflicting).collect();
        // A retry that a person asks for does not inherit the pause of the earlier attempt.
        let anew = if command.state == Some(PushState::New) { " new" } else { "" };
        let asked = format!("{}{anew}", command.fingerprint());
        Job { keys, asked, rank: Rank::Command, work: Work::Command(command) }
    })
}

fn price_job(desired: PriceIntent, taken: &mut HashSet<String>) -> Option<Job> {
    let key = format!("prices/{}", desired.sku);
    let asked = desired.revision.to_string();
    try_reserve(taken, &key).then(|| Job {
        keys: vec![key],
        asked,
        rank: Rank::Prices,
        work: Work::Prices(desired),
    })
}

/// Says whether a command was given a moment ago and dispatches goods. A command that waits for an invoice may wait for
/// long, and so may a refused one.
pub fn is_recent_dispatch(command: &Command, now: DateTime<Utc>) -> bool {
    let data: Option<serde_json::Value> = serde_json::from_str(&command.data).ok();
    command.kind == CommandKind::OrderStatus.as_str()
        && data.is_some_and(|data| matches!(data["status"].as_str(), Some("shipped" | "picked_up")))
        && command.state != Some(PushState::Waiting)
        && command.created_at.is_some_and(|at| (now - at).abs() < DISPATCH_GRACE)
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

/// Reserves a key. Returns false when the key is already taken.
fn try_reserve(keys: &mut HashSet<String>, key: &str) -> bool {
    keys.insert(key.to_owned())
}

#[cfg(test)]
mod tests {
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
            command: Command {
                id,
                kind: kind.as_str().to_owned(),
                key: key.to_owned(),
                data: String::new(),
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

    /// An open effect, of a command as it is now where one is given.
    fn sent(id: i64, key: &str, of: Option<&OpenCommand>) -> Effect {
        Effect {
            id,
            key: key.to_owned(),
            command_id: of.map(|open| open.command.id),
            fingerprint: of.map(|open| open.command.fingerprint()),
            ..effect("order.notes", None, EffectState::Sent)
        }
    }

    /// The jobs in short, in the order in which they were found.
    fn found(open: OpenWork) -> Vec<String> {
        let name = |job: &Job| match &job.work {
            Work::Settle(effect) => format!("settle {}", effect.id),
            Work::Stock(level) => format!("level {}", level.sku),
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
            (vec![status(1, "A", waiting), notes(2, "A")], &[], &["command 1", "command 2"]),
            (vec![status(1, "A", waiting), status(2, "A", new)], &[], &["command 1"]),
            (
                vec![status(1, "A", waiting), notes(2, "A"), status(3, "A", new)],
                &[],
                &["command 1", "command 2"],
            ),
            (vec![status(1, "A", new)], &["order/A/status"], &[]),
            (vec![update(1, "A"), update(2, "B")], &["prices/A"], &["command 2"]),
        ];
        for (commands, taken, expected) in cases {
            let shown = format!("{commands:?} beside {taken:?}");
            let open = OpenWork { commands, taken: keys(taken), ..OpenWork::default() };
            assert_eq!(found(open), expected, "{shown}");
        }
    }

    #[test]
    fn an_effect_is_settled_by_its_open_command_and_by_nobody_while_it_is_executed() {
        let (one, two) = (notes(1, "A"), notes(2, "A"));
        let find = |commands: &[&OpenCommand], effects: Vec<Effect>, acting: &[i64], taken: &[&str]| {
            found(OpenWork {
                commands: commands.iter().map(|open| (*open).clone()).collect(),
                effects,
                acting: acting.iter().copied().collect(),
                taken: keys(taken),
                ..OpenWork::default()
            })
        };
        let of = |open| vec![sent(9, "order/A", open)];
        assert_eq!(find(&[&one], of(Some(&one)), &[], &[]), ["command 1"], "the command settles it");
        assert_eq!(find(&[], of(Some(&one)), &[], &[]), ["settle 9"], "its command is over");
        assert_eq!(find(&[], of(None), &[], &[]), ["settle 9"]);
        assert_eq!(find(&[], of(None), &[9], &[]), [""; 0], "a worker executes it");
        assert_eq!(find(&[], of(None), &[], &["order/A"]), [""; 0]);
        assert_eq!(find(&[&two, &one], of(Some(&one)), &[], &[]), ["command 1"], "another waits for it");
        assert_eq!(find(&[&two], of(None), &[], &[]), ["settle 9"], "no command beside the settlement");
        let mut changed = one.clone();
        changed.command.data = "{}".to_owned();
        assert_eq!(
            find(&[&changed], of(Some(&one)), &[], &[]),
            ["settle 9"],
            "the command was written again"
        );
        let twice = vec![sent(8, "order/A", None), sent(9, "order/A", None)];
        assert_eq!(find(&[], twice, &[], &[]), ["settle 8"], "one after the other");
    }

    #[test]
    fn prices_and_the_mode_of_a_product_exclude_each_other() {
        let find = |commands: Vec<OpenCommand>, effects: Vec<Effect>, taken: &[&str]| {
            let desired = vec![prices("A"), prices("B")];
            found(OpenWork { commands, effects, prices: desired, taken: keys(taken), ..OpenWork::default() })
        };
        assert_eq!(find(vec![], vec![], &[]), ["prices A", "prices B"]);
        assert_eq!(find(vec![update(1, "A")], vec![], &[]), ["command 1", "prices B"]);
        assert_eq!(find(vec![], vec![], &["prices/B"]), ["prices A"]);
        assert_eq!(find(vec![], vec![sent(9, "prices/A", None)], &[]), ["settle 9", "prices B"]);
        // The step of another command is unsettled: the mode waits for it.
        let mut delete = notes(2, "A");
        delete.subject = "prices/A".to_owned();
        let step = vec![sent(9, "prices/A", Some(&delete))];
        assert_eq!(find(vec![update(1, "A"), delete], step, &[]), ["command 2", "prices B"]);
    }

    #[test]
    fn a_level_waits_for_a_dispatch_of_its_sku_unless_it_goes_to_zero_or_is_verified() {
        let sent = StockIntent { state: Some(PushState::Sending), ..level("a", 1, 1) };
        let find = |levels: Vec<StockIntent>, taken: &[&str]| {
            let skus_being_dispatched = keys(&["a"]);
            found(OpenWork { levels, skus_being_dispatched, taken: keys(taken), ..OpenWork::default() })
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
            command.data = format!("{{\"status\": \"{word}\"}}");
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
