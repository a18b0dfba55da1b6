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
        (vec![status(1, "A", waiting), notes(2, "A"), status(3, "A", new)], &[], &["command 2", "command 1"]),
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
    let written = |seconds: i64, level: StockIntent| StockIntent { updated_at: Some(at(seconds)), ..level };
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
    assert!(is_dispatch("shipped", PushState::New, 0) && is_dispatch("picked_up", PushState::Sending, 119));
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
    // The work on the subject of 2 ended meanwhile, and its row may wait before that.
    next_turn(&mut queue, &mut scan, &[], |queue, scan| {
        [notes(2, "B"), notes(3, "A"), notes(4, "C")].into_iter().for_each(|one| scan.command(one, queue));
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
    [notes(1, "A"), notes(2, "B"), notes(3, "C")].into_iter().for_each(|one| scan.command(one, &mut queue));
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
