//! Pauses: they have an end, last over restarts, and are forgotten a day after it.

use std::time::Duration;

use chrono::TimeDelta;
use espelho_model::{
    Clock as _,
    pause::{Pause, PauseScope},
    push::PushState,
};
use espelho_store::{ActedRow, Event, Happened, IntentKind, NewAction, SeenRow, Subject};

use crate::world::{World, store_key};

const HOUR: Duration = Duration::from_secs(3_600);

fn pause(world: &World, store: &str, scope: PauseScope, hours: i64) -> Pause {
    let since = world.clock.now();
    let until = since + TimeDelta::hours(hours);
    Pause { store: store_key(store), scope, since, until, paused_by: "ana".to_owned() }
}

pub(crate) async fn a_pause_lasts_until_its_end_and_is_forgotten_a_day_later(world: &World) {
    let pauses = [pause(world, "a", PauseScope::Push, 1), pause(world, "b", PauseScope::All, 3)];
    world.store.pauses().begin(&pauses).await.unwrap();
    let again = world.open_again().await.unwrap();
    assert_eq!(again.pauses().recent().await.unwrap(), pauses, "another process sees them");
    world.clock.advance(2 * HOUR);
    let recent = world.store.pauses().recent().await.unwrap();
    let lasting = recent.iter().map(|pause| pause.lasts(world.clock.now()));
    assert_eq!(lasting.collect::<Vec<_>>(), [false, true], "what it kept waiting is not late");
    world.clock.advance(24 * HOUR);
    assert_eq!(world.store.pauses().recent().await.unwrap(), pauses[1..]);
    let more = pause(world, "c", PauseScope::Stock, 1);
    world.store.pauses().begin(std::slice::from_ref(&more)).await.unwrap();
    assert_eq!(world.tables.count("pauses").await, 2, "the first is deleted");
}

pub(crate) async fn a_pause_that_is_given_again_keeps_its_beginning_and_gets_the_new_end(world: &World) {
    let first = pause(world, "a", PauseScope::Pull, 1);
    world.store.pauses().begin(std::slice::from_ref(&first)).await.unwrap();
    world.clock.advance(HOUR / 2);
    let second = Pause { paused_by: "rui".to_owned(), ..pause(world, "a", PauseScope::Pull, 1) };
    world.store.pauses().begin(std::slice::from_ref(&second)).await.unwrap();
    let expected = Pause { since: first.since, ..second };
    assert_eq!(world.store.pauses().recent().await.unwrap(), [expected]);
    world.clock.advance(2 * HOUR);
    let third = pause(world, "a", PauseScope::Pull, 1);
    world.store.pauses().begin(std::slice::from_ref(&third)).await.unwrap();
    assert_eq!(world.store.pauses().recent().await.unwrap(), [third], "the one before was over");
}

pub(crate) async fn a_pause_is_ended_by_its_store_and_scope(world: &World) {
    let scopes = [PauseScope::All, PauseScope::Push, PauseScope::Stock];
    let pauses: Vec<Pause> = scopes.iter().map(|scope| pause(world, "a", *scope, 1)).collect();
    world.store.pauses().begin(&pauses).await.unwrap();
    world.store.pauses().begin(&[pause(world, "b", PauseScope::Push, 1)]).await.unwrap();
    let lasting = async || {
        let now = world.clock.now();
        let recent = world.store.pauses().recent().await.unwrap();
        recent
            .iter()
            .filter(|pause| pause.lasts(now))
            .map(|pause| format!("{} {}", pause.store, pause.scope.as_str()))
            .collect::<Vec<_>>()
    };
    let (a, b) = ([store_key("a")], [store_key("b")]);
    assert_eq!(world.store.pauses().end(&a, &[PauseScope::Push]).await.unwrap(), 1);
    assert_eq!(lasting().await, ["a all", "a stock", "b push"]);
    assert_eq!(world.store.pauses().end(&a, &[PauseScope::Push]).await.unwrap(), 0, "it is over");
    assert_eq!(world.store.pauses().end(&a, PauseScope::ALL).await.unwrap(), 2);
    assert_eq!(world.store.pauses().end(&b, &[PauseScope::Pull]).await.unwrap(), 0);
    assert_eq!(lasting().await, ["b push"]);
}

pub(crate) async fn a_pause_without_a_time_as_its_end_does_not_lift_the_others(world: &World) {
    let pauses = [pause(world, "b", PauseScope::Push, 1)];
    world.store.pauses().begin(&pauses).await.unwrap();
    let odd = "INSERT INTO pauses (store, scope, since, until, paused_by) \
        VALUES ('a', 'push', '2026-01-01T00:00:00.000000Z', 'infinity', 'erp')";
    world.tables.execute(odd).await;
    assert_eq!(world.store.pauses().recent().await.unwrap(), pauses);
}

pub(crate) async fn an_act_is_on_record_before_it_begins_and_when_it_has_ended(world: &World) {
    let act = |command: &str| NewAction {
        actor: "ana".to_owned(),
        act: "retry".to_owned(),
        store: String::new(),
        command: command.to_owned(),
        before: "a stock A/1 failed\n".to_owned(),
    };
    let actions = world.store.actions();
    let first = actions.begin(&act("espelho retry --all")).await.unwrap();
    let second = actions.begin(&act("espelho retry --all --code x")).await.unwrap();
    actions.end(first, "new", 3).await.unwrap();
    let recent = actions.recent(10).await.unwrap();
    assert_eq!(recent.iter().map(|action| action.id).collect::<Vec<_>>(), [second, first]);
    assert_eq!((&recent[1].after, recent[1].count), (&Some("new".to_owned()), Some(3)));
    assert_eq!((&recent[0].after, &recent[0].new), (&None, &act("espelho retry --all --code x")));
    assert_eq!((recent[0].at, actions.recent(1).await.unwrap().len()), (world.clock.now(), 1));
}

pub(crate) async fn a_decision_on_record_is_told_with_who_made_it(world: &World) {
    let key = store_key("a");
    let held_at = world.clock.now();
    world.clock.advance(HOUR);
    let actions = world.store.actions();
    let row = |sku: &str| SeenRow {
        store: "a".to_owned(),
        intent: IntentKind::Price,
        key: format!("{sku}/1"),
        state: PushState::Held,
        code: "price_jump".to_owned(),
        updated_at: Some(held_at),
    };
    let line = |sku: &str| ActedRow::new(&row(sku), ": 70.9 → 0.99").line();
    for (actor, act, store, before, count) in [
        ("cli:root", "ignore", "a", line("A"), Some(1)),
        // Of another SKU, of another store, of nothing, and an act on something else.
        ("cli:root", "release", "a", line("A/B"), Some(1)),
        ("cli:root", "release", "b", line("A").replace("a price", "b price"), Some(1)),
        ("ana", "release", "", line("A"), Some(0)),
        ("ana", "pause", "", "a price A/1".to_owned(), Some(1)),
        // Under way, or cut short.
        ("ana", "bring_back", "", "a stock B/1\na price A/1\n… 20".to_owned(), None),
    ] {
        let [actor, act, store] = [actor, act, store].map(str::to_owned);
        let id =
            actions.begin(&NewAction { actor, act, store, command: String::new(), before }).await.unwrap();
        if let Some(count) = count {
            actions.end(id, "x", count).await.unwrap();
        }
    }
    let (at, intent) = (world.clock.now(), IntentKind::Price);
    let was = |key: &str| Happened::Was {
        intent,
        key: key.to_owned(),
        state: PushState::Held,
        code: "price_jump".to_owned(),
    };
    let decided = |key: &str, act: &str, actor: &str| {
        let [key, act, actor] = [key, act, actor].map(str::to_owned);
        Event { at, what: Happened::Decided { intent, key, act, actor } }
    };
    let changed = "A/1: 70.9 → 0.99";
    let subject = Subject::Product { sku: "A".to_owned(), id: None };
    let told = world.store.history().story(&key, &subject).await.unwrap();
    assert_eq!(
        told,
        [
            Event { at: held_at, what: was(changed) },
            decided(changed, "ignore", "cli:root"),
            decided("A/1", "bring_back", "ana"),
        ]
    );
}
