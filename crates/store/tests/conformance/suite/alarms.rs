//! Heartbeats and alarms, as every surface reads them.

use chrono::{DateTime, Utc};
use espelho_model::text::{Language, Locale};
use espelho_store::{AlarmRow, ServiceInstance};

use crate::{examples::time, world::World};

fn service(instance: &str) -> ServiceInstance {
    ServiceInstance {
        instance: instance.into(),
        process: 4711,
        version: "1.2.3".into(),
        started_at: time("2026-11-27T06:00:00Z"),
        state: "failing".into(),
    }
}

fn alarm(store: Option<&str>, code: &str, count: u64, since: &str) -> AlarmRow {
    AlarmRow {
        store: store.map(str::to_owned),
        code: code.into(),
        cause: String::new(),
        severity: "warning".into(),
        count,
        since: Some(time(since)),
        text: format!("{code} desde {since}"),
        next: "espelho doctor".into(),
    }
}

type Shown = (Option<String>, String, String, u64, Option<DateTime<Utc>>);

async fn shown(world: &World) -> Vec<Shown> {
    let alarms = world.store.alarms().recorded_alarms().await.unwrap();
    alarms.into_iter().map(|a| (a.store, a.code, a.severity, a.count, a.since)).collect()
}

const EARLY: &str = "2026-11-27T06:00:00Z";
const LATE: &str = "2026-11-27T07:00:00Z";

pub(crate) async fn alarms_of_a_process_that_lives_are_told_once_for_each_cause(world: &World) {
    let of_store = alarm(Some("minha-loja"), "failed", 3, LATE);
    let graver =
        AlarmRow { severity: "failing".into(), since: Some(time(EARLY)), count: 2, ..of_store.clone() };
    let other_cause = AlarmRow { cause: "webhook".into(), ..of_store.clone() };
    let of_all = alarm(None, "disk_full", 1, EARLY);
    world.store.alarms().beat(&service("a"), &[of_store, other_cause, of_all.clone(), of_all]).await.unwrap();
    world.store.alarms().beat(&service("b"), &[graver]).await.unwrap();
    let loja = || Some("minha-loja".to_owned());
    let expected: [Shown; 3] = [
        (loja(), "failed".into(), "failing".into(), 3, Some(time(EARLY))),
        (None, "disk_full".into(), "warning".into(), 1, Some(time(EARLY))),
        (loja(), "failed".into(), "warning".into(), 3, Some(time(LATE))),
    ];
    assert_eq!(shown(world).await, expected);
    let columns = "SELECT code FROM v_alarms WHERE store IS NULL AND severity = 'warning' AND count = 1 AND next <> '' AND text <> ''";
    assert_eq!(world.tables.list(columns).await, ["disk_full"]);
}

async fn falls_silent(world: &World, instance: &str, seconds: u32) {
    let before = world.tables.either(
        format!("strftime('%Y-%m-%dT%H:%M:%f', 'now', '-{seconds} seconds') || '000Z'"),
        format!("now() - interval '{seconds} seconds'"),
    );
    let sql = format!("UPDATE services SET beat_at = {before} WHERE instance = '{instance}'");
    assert_eq!(world.tables.execute(&sql).await, 1);
}

pub(crate) async fn where_no_process_lives_the_service_is_stopped(world: &World) {
    let stopped = |since| (None, "service_stopped".to_owned(), "failing".to_owned(), 1, since);
    assert_eq!(shown(world).await, [stopped(None)]);
    assert_eq!(world.store.alarms().last_beat().await.unwrap(), None);
    world.store.alarms().keep_service_words(Locale::of(Language::English)).await.unwrap();
    world.store.alarms().keep_service_words(Locale::default()).await.unwrap();
    let said = &world.store.alarms().recorded_alarms().await.unwrap()[0];
    assert!(
        said.text.contains("parado") && said.next.starts_with("sudo systemctl enable --now espelho"),
        "{said:?}"
    );
    for instance in ["a", "b"] {
        world.store.alarms().beat(&service(instance), &[alarm(None, "disk_full", 1, EARLY)]).await.unwrap();
    }
    falls_silent(world, "a", 30).await;
    falls_silent(world, "b", 3600).await;
    assert_eq!(shown(world).await.len(), 1, "one lives");
    assert_eq!(shown(world).await[0].1, "disk_full");
    falls_silent(world, "a", 45).await;
    let last = world.store.alarms().last_beat().await.unwrap();
    assert_eq!(shown(world).await, [stopped(last)], "what a dead process said is not told");
    // A clock that was set back does not revive a dead process.
    world
        .tables
        .execute("UPDATE services SET beat_at = '2100-01-01T00:00:00.000000Z' WHERE instance = 'a'")
        .await;
    assert_eq!(shown(world).await[0].1, "service_stopped");
}

pub(crate) async fn a_new_sign_of_life_replaces_the_alarms_of_the_process(world: &World) {
    world
        .store
        .alarms()
        .beat(&service("a"), &[alarm(None, "throttled", 1, EARLY), alarm(None, "late", 7, LATE)])
        .await
        .unwrap();
    falls_silent(world, "a", 50).await;
    let before = world.store.alarms().last_beat().await.unwrap();
    world.store.alarms().beat(&service("a"), &[alarm(None, "late", 9, LATE)]).await.unwrap();
    assert!(world.store.alarms().last_beat().await.unwrap() > before, "the sign of life is renewed");
    let told: Vec<_> = shown(world).await.into_iter().map(|alarm| (alarm.1, alarm.3)).collect();
    assert_eq!(told, [("late".to_owned(), 9)]);
    world.store.alarms().beat(&service("a"), &[]).await.unwrap();
    assert_eq!(shown(world).await, []);
}

pub(crate) async fn a_process_that_stops_takes_its_alarms_along(world: &World) {
    world.store.alarms().beat(&service("a"), &[alarm(None, "late", 1, EARLY)]).await.unwrap();
    world.store.alarms().beat(&service("b"), &[alarm(None, "throttled", 1, EARLY)]).await.unwrap();
    world.store.alarms().end_service("a").await.unwrap();
    assert_eq!(shown(world).await.len(), 1);
    assert_eq!(world.tables.list("SELECT instance FROM services WHERE state = 'stopped'").await, ["a"]);
    assert_eq!(world.tables.list("SELECT code FROM alarms").await, ["throttled"]);
    // A dead process is deleted in the end.
    world
        .tables
        .execute("UPDATE services SET beat_at = '2020-01-01T00:00:00.000000Z' WHERE instance = 'b'")
        .await;
    world.store.alarms().beat(&service("c"), &[]).await.unwrap();
    assert_eq!(
        world.tables.list("SELECT instance FROM services").await,
        ["a", "c"],
        "the stopped one is remembered"
    );
    assert_eq!(world.tables.count("alarms").await, 0);
}
