//! Pauses: they have an end, last over restarts, and are forgotten a day after it.

use std::time::Duration;

use chrono::TimeDelta;
use espelho_model::{
    Clock as _,
    pause::{Pause, PauseScope},
};
use espelho_store::NewAction;

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
