//! The record of runs.

use std::time::Duration;

use espelho_model::{Clock as _, sync::Counts};
use espelho_store::{Error, RunResult};

use crate::world::{World, minha_loja, store_key};

fn complete() -> RunResult {
    let counts = Counts { seen: 7, changed: 5, gone: 3, failed: 1 };
    let passes = "orders:complete products:complete".to_owned();
    RunResult { state: "complete", requests: 11, counts, error: None, passes }
}

pub(crate) async fn a_run_ends_with_its_figures(world: &World) {
    let lease = world.lease().await;
    let run = world.store.runs().start_run(&lease, "resync").await.unwrap();
    assert_eq!(world.store.runs().last_run_states(&minha_loja()).await.unwrap(), ["running"]);
    world.clock.advance(Duration::from_secs(60));
    world
        .store
        .runs()
        .finish_run(run, RunResult { error: Some("página 3".into()), ..complete() })
        .await
        .unwrap();
    let line = world.tables.all("sync_runs").await.remove(0);
    for (column, value) in [
        ("store", "minha-loja"),
        ("kind", "resync"),
        ("state", "complete"),
        ("started_at", "2026-11-27T06:30:00.123456Z"),
        ("finished_at", "2026-11-27T06:31:00.123456Z"),
        ("requests", "11"),
        ("seen", "7"),
        ("changed", "5"),
        ("gone", "3"),
        ("failed", "1"),
        ("error", "página 3"),
        ("passes", "orders:complete products:complete"),
    ] {
        assert_eq!(line.get(column), Some(value), "{column}");
    }
    world.store.runs().finish_run(run, RunResult { requests: u64::MAX, ..complete() }).await.unwrap();
    let line = world.tables.all("sync_runs").await.remove(0);
    assert_eq!((line.get("requests"), line.get("error")), (Some("9223372036854775807"), None));
}

pub(crate) async fn a_run_that_was_killed_is_interrupted_by_the_next(world: &World) {
    let lease = world.lease().await;
    let done = world.store.runs().start_run(&lease, "resync").await.unwrap();
    world.store.runs().finish_run(done, complete()).await.unwrap();
    let _killed = world.store.runs().start_run(&lease, "resync").await.unwrap();
    world.clock.advance(Duration::from_secs(60));
    let next = world.store.runs().start_run(&lease, "poll").await.unwrap();
    let states = world.store.runs().last_run_states(&minha_loja()).await.unwrap();
    assert_eq!(states, ["running", "interrupted", "complete"]);
    let runs = world.tables.all("sync_runs").await;
    let ended = async |since| {
        let runs = world.store.runs().ended_since(since).await.unwrap();
        runs.into_iter().map(|run| (run.store, run.state)).collect::<Vec<_>>()
    };
    let now = world.clock.now();
    let of = |state: &str| ("minha-loja".to_owned(), state.to_owned());
    assert_eq!(ended(now - chrono::TimeDelta::hours(1)).await, [of("complete"), of("interrupted")]);
    assert_eq!(ended(now).await, [of("interrupted")]);
    assert_eq!(ended(now + chrono::TimeDelta::seconds(1)).await, []);
    let killed = runs.iter().find(|run| run.get("state") == Some("interrupted")).unwrap();
    assert_eq!(killed.get("started_at"), Some("2026-11-27T06:30:00.123456Z"));
    assert_eq!(killed.get("finished_at"), Some("2026-11-27T06:31:00.123456Z"));
    assert_ne!(done, next);
}

pub(crate) async fn runs_of_other_stores_are_left_running(world: &World) {
    let (mine, yours) = (world.lease().await, world.lease_of(&store_key("outra")).await);
    let _running = world.store.runs().start_run(&yours, "resync").await.unwrap();
    let _also = world.store.runs().start_run(&mine, "resync").await.unwrap();
    for store in ["minha-loja", "outra"] {
        assert_eq!(world.store.runs().last_run_states(&store_key(store)).await.unwrap(), ["running"]);
    }
}

pub(crate) async fn only_a_complete_pass_has_all_products_and_only_a_whole_one_has_walked_the_orders(
    world: &World,
) {
    for (passes, has_products, has_orders) in [
        ("", false, false),
        ("orders:cut", false, false),
        ("orders:cut products:cut", false, false),
        ("orders:complete", false, true),
        ("orders:whole", false, true),
        ("orders:whole products:whole", false, true),
        ("products:complete", true, false),
        ("orders:cut products:complete", true, false),
        ("orders:complete products:complete", true, true),
    ] {
        let key = store_key(format!("loja-{}", passes.replace([':', ' '], "-")).trim_end_matches('-'));
        let lease = world.lease_of(&key).await;
        let runs = || world.store.runs();
        let run = runs().start_run(&lease, "resync").await.unwrap();
        assert!(
            !runs().has_all_products(&key).await.unwrap() && !runs().has_walked_orders(&key).await.unwrap()
        );
        let state = if has_products && has_orders { "complete" } else { "partial" };
        let result = RunResult { state, passes: passes.to_owned(), ..complete() };
        runs().finish_run(run, result).await.unwrap();
        assert_eq!(runs().has_all_products(&key).await.unwrap(), has_products, "{passes:?}");
        assert_eq!(runs().has_walked_orders(&key).await.unwrap(), has_orders, "{passes:?}");
        // What was there once is there, whatever becomes of a later run.
        let later = runs().start_run(&lease, "resync").await.unwrap();
        runs()
            .finish_run(later, RunResult { state: "failed", passes: String::new(), ..complete() })
            .await
            .unwrap();
        assert_eq!(runs().has_all_products(&key).await.unwrap(), has_products, "{passes:?}");
    }
}

pub(crate) async fn a_run_under_a_lost_lease_does_not_begin(world: &World) {
    let lease = world.lease().await;
    let _running = world.store.runs().start_run(&lease, "resync").await.unwrap();
    world.tables.execute("UPDATE leases SET fence = fence + 1").await;
    let lost = world.store.runs().start_run(&lease, "resync").await.err();
    assert!(matches!(lost, Some(Error::LeaseLost { .. })), "{lost:?}");
    // The run of the current holder must not become interrupted.
    assert_eq!(world.store.runs().last_run_states(&minha_loja()).await.unwrap(), ["running"]);
}

pub(crate) async fn the_last_twenty_runs_are_told_newest_first(world: &World) {
    let lease = world.lease().await;
    for n in 0..25 {
        let run = world.store.runs().start_run(&lease, "resync").await.unwrap();
        let state = if n == 24 { "failed" } else { "complete" };
        world.store.runs().finish_run(run, RunResult { state, ..complete() }).await.unwrap();
    }
    let states = world.store.runs().last_run_states(&minha_loja()).await.unwrap();
    assert_eq!(states.len(), 20);
    assert_eq!(states[..2], ["failed", "complete"]);
    assert!(world.store.runs().last_run_states(&store_key("outra")).await.unwrap().is_empty());
}
