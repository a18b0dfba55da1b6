//! Messages about alarms: one process tells, each message once by each channel, and nothing is lost over a restart.

use std::time::Duration;

use chrono::TimeDelta;
use espelho_model::{Clock as _, symptom::Symptom};
use espelho_store::{DueNotice, NewNoticeDelivery, Notice, NoticeState, ServiceInstance};

use crate::world::World;

fn notice(world: &World, id: &str) -> Notice {
    Notice {
        id: id.to_owned(),
        code: "late".to_owned(),
        severity: "warning".to_owned(),
        members: r#"[{"code":"late","store":"loja-1","cause":""}]"#.to_owned(),
        quiet_seconds: 5,
        content: r#"{"text":"atrasado"}"#.to_owned(),
        raised_at: world.clock.now(),
        ended_at: None,
    }
}

fn way(world: &World, channel: &str) -> NewNoticeDelivery {
    NewNoticeDelivery {
        channel: channel.to_owned(),
        state: NoticeState::Open,
        attempts: 0,
        due_at: world.clock.now(),
        delivered_at: None,
    }
}

async fn lives(world: &World, instance: &str) {
    let service = ServiceInstance {
        instance: instance.to_owned(),
        process: 4711,
        version: "1.2.3".to_owned(),
        started_at: world.clock.now(),
        state: "ok".to_owned(),
    };
    world.store.alarms().beat(&service, &[]).await.unwrap();
}

async fn due(world: &World) -> Vec<DueNotice> {
    world.store.notices().due().await.unwrap()
}

fn names(due: &[DueNotice]) -> Vec<String> {
    due.iter().map(|due| format!("{} {} {}", due.notice.id, due.channel, due.event)).collect()
}

/// Raises a message by a webhook and by mail, as the process `a`.
async fn raised(world: &World, id: &str) {
    lives(world, "a").await;
    let notices = world.store.notices();
    assert!(notices.own("a", false).await.unwrap());
    let ways = [way(world, "smtp"), way(world, "webhook")];
    assert!(notices.raise(Some("a"), &notice(world, id), &ways).await.unwrap());
}

fn later(world: &World, seconds: i64) -> chrono::DateTime<chrono::Utc> {
    world.clock.now() + TimeDelta::seconds(seconds)
}

pub(crate) async fn one_process_tells_until_its_heartbeat_is_silent(world: &World) {
    let notices = world.store.notices();
    lives(world, "a").await;
    lives(world, "b").await;
    assert!(notices.own("a", false).await.unwrap());
    assert!(!notices.own("b", false).await.unwrap(), "a lives");
    assert!(notices.own("a", false).await.unwrap());
    assert!(!notices.raise(Some("b"), &notice(world, "n1"), &[]).await.unwrap());
    assert_eq!(world.tables.count("notices").await, 0);
    let silent = world.tables.either(
        "strftime('%Y-%m-%dT%H:%M:%f', 'now', '-31 seconds') || '000Z'",
        "now() - interval '31 seconds'",
    );
    world.tables.execute(&format!("UPDATE services SET beat_at = {silent} WHERE instance = 'a'")).await;
    assert!(notices.own("b", false).await.unwrap(), "a is silent");
    assert!(!notices.raise(Some("a"), &notice(world, "n1"), &[]).await.unwrap(), "a tells no more");
    assert!(!notices.end("a", "n1", world.clock.now(), false).await.unwrap());
    // Nobody waits if no other process can be alive.
    lives(world, "b").await;
    assert!(!notices.own("c", false).await.unwrap());
    assert!(notices.own("c", true).await.unwrap());
    assert_eq!(world.store.alarms().live_instances().await.unwrap(), ["a", "b"], "for the alarms 40 s count");
    world.store.alarms().end_service("a").await.unwrap();
    assert_eq!(world.store.alarms().live_instances().await.unwrap(), ["b"]);
}

pub(crate) async fn a_message_goes_out_once_by_each_channel_and_so_does_its_end(world: &World) {
    raised(world, "n1").await;
    let notices = world.store.notices();
    let first = due(world).await;
    assert_eq!(names(&first), ["n1 smtp raised", "n1 webhook raised"]);
    assert_eq!(first[0].notice, notice(world, "n1"));
    for due in &first {
        assert!(notices.attempt("a", due, later(world, 60)).await.unwrap());
        assert!(!notices.attempt("a", due, later(world, 60)).await.unwrap(), "it is under way");
        notices.delivered(&due.notice.id, &due.channel, &due.event).await.unwrap();
    }
    assert!(due(world).await.is_empty());
    let ended_at = later(world, 100);
    assert!(notices.end("a", "n1", ended_at, false).await.unwrap());
    assert!(!notices.end("a", "n1", ended_at, false).await.unwrap(), "it is over");
    let last = due(world).await;
    assert_eq!(names(&last), ["n1 smtp ended", "n1 webhook ended"]);
    assert_eq!(last[0].notice.ended_at, Some(ended_at));
    // Raised once more with the same identifier, nothing happens.
    let ways = [way(world, "smtp")];
    notices.raise(Some("a"), &notice(world, "n1"), &ways).await.unwrap();
    assert_eq!(due(world).await.len(), 2);
    let recent = notices.recent(later(world, -1)).await.unwrap();
    assert_eq!(recent.len(), 1);
    assert!(notices.recent(later(world, 1)).await.unwrap().is_empty(), "it is over and old");
}

pub(crate) async fn an_attempt_that_a_kill_cut_short_is_made_again(world: &World) {
    raised(world, "n1").await;
    let notices = world.store.notices();
    let webhook = due(world).await.remove(1);
    assert!(notices.attempt("a", &webhook, later(world, 60)).await.unwrap());
    let again = world.open_again().await.unwrap();
    assert_eq!(names(&again.notices().due().await.unwrap()), ["n1 smtp raised"], "it may still be under way");
    world.clock.advance(Duration::from_secs(60));
    let due = again.notices().due().await.unwrap();
    assert_eq!(names(&due), ["n1 smtp raised", "n1 webhook raised"]);
    assert_eq!((due[0].attempts, due[1].attempts), (0, 1));
}

pub(crate) async fn a_message_that_fails_waits_and_its_end_waits_for_it(world: &World) {
    raised(world, "n1").await;
    let notices = world.store.notices();
    for sent in due(world).await {
        assert!(notices.attempt("a", &sent, later(world, 60)).await.unwrap());
        if sent.channel == "webhook" {
            notices
                .failed(
                    ("n1", "webhook", "raised"),
                    (&Symptom::Status(503), "HTTP 503"),
                    Some(later(world, 5)),
                )
                .await
                .unwrap();
        } else {
            notices.delivered("n1", "smtp", "raised").await.unwrap();
        }
    }
    notices.end("a", "n1", later(world, 1), false).await.unwrap();
    assert_eq!(names(&due(world).await), ["n1 smtp ended"], "who did not hear of it waits for its end");
    world.clock.advance(Duration::from_secs(5));
    let waiting = due(world).await;
    assert_eq!(names(&waiting), ["n1 smtp ended", "n1 webhook raised"]);
    let channels = notices.channels().await.unwrap();
    let shown: Vec<_> = channels
        .iter()
        .map(|row| (row.channel.as_str(), row.delivered_at.is_some(), row.failed_since.is_some()))
        .collect();
    assert_eq!(shown, [("smtp", true, false), ("webhook", false, true)]);
    let failure = (&channels[1].symptom, channels[1].error.as_deref());
    assert_eq!(failure, (&Symptom::Status(503), Some("HTTP 503")));
    let since = channels[1].failed_since;
    assert!(notices.attempt("a", &waiting[1], later(world, 60)).await.unwrap());
    notices.failed(("n1", "webhook", "raised"), (&Symptom::Status(500), "HTTP 500"), None).await.unwrap();
    assert_eq!(names(&due(world).await), ["n1 smtp ended"], "given up, with its end");
    assert_eq!(notices.channels().await.unwrap()[1].failed_since, since, "since the first failure");
}

pub(crate) async fn a_channel_that_works_again_takes_what_waits(world: &World) {
    raised(world, "n1").await;
    let notices = world.store.notices();
    let webhook = due(world).await.remove(1);
    assert!(notices.attempt("a", &webhook, later(world, 60)).await.unwrap());
    notices
        .failed(("n1", "webhook", "raised"), (&Symptom::Status(503), "HTTP 503"), Some(later(world, 600)))
        .await
        .unwrap();
    notices.record_channel("webhook", Some((&Symptom::Status(502), "HTTP 502"))).await.unwrap();
    assert_eq!(names(&due(world).await), ["n1 smtp raised"]);
    notices.record_channel("webhook", None).await.unwrap();
    assert_eq!(names(&due(world).await), ["n1 smtp raised", "n1 webhook raised"]);
    let webhook = notices.channels().await.unwrap().pop().unwrap();
    assert_eq!((webhook.failed_since, webhook.error, webhook.symptom), (None, None, Symptom::Other));
}

pub(crate) async fn what_was_told_without_a_record_is_recorded_as_it_is(world: &World) {
    let notices = world.store.notices();
    let told = NewNoticeDelivery {
        state: NoticeState::Delivered,
        attempts: 1,
        delivered_at: Some(world.clock.now()),
        ..way(world, "webhook")
    };
    // Nobody tells for all processes: each lost the database by itself.
    assert!(notices.raise(None, &notice(world, "n1"), &[told, way(world, "smtp")]).await.unwrap());
    assert_eq!(names(&due(world).await), ["n1 smtp raised"]);
    lives(world, "a").await;
    assert!(notices.own("a", false).await.unwrap());
    assert!(notices.end("a", "n1", later(world, 1), true).await.unwrap(), "in silence");
    assert_eq!(names(&due(world).await), ["n1 smtp raised"]);
}

pub(crate) async fn a_message_is_forgotten_three_months_after_its_end(world: &World) {
    raised(world, "n1").await;
    raised(world, "n2").await;
    world.store.notices().end("a", "n1", world.clock.now(), false).await.unwrap();
    world.clock.advance(Duration::from_secs(91 * 86_400));
    raised(world, "n3").await;
    assert_eq!(world.tables.list("SELECT id FROM notices ORDER BY id").await, ["n2", "n3"]);
    let left = "SELECT DISTINCT notice FROM notice_deliveries ORDER BY notice";
    assert_eq!(world.tables.list(left).await, ["n2", "n3"]);
}

pub(crate) async fn alarms_of_other_processes_are_read_while_they_live(world: &World) {
    let alarm = |code: &str, store: Option<&str>| espelho_store::AlarmRow {
        store: store.map(str::to_owned),
        code: code.to_owned(),
        cause: "c".to_owned(),
        severity: "failing".to_owned(),
        count: 3,
        since: Some(world.clock.now()),
        text: "t".to_owned(),
        next: "n".to_owned(),
    };
    let service = |instance: &str| ServiceInstance {
        instance: instance.to_owned(),
        process: 1,
        version: "1".to_owned(),
        started_at: world.clock.now(),
        state: "failing".to_owned(),
    };
    let alarms = world.store.alarms();
    alarms.beat(&service("a"), &[alarm("late", Some("loja-1"))]).await.unwrap();
    alarms.beat(&service("b"), &[alarm("disk_full", None), alarm("late", Some("loja-2"))]).await.unwrap();
    let of_b = |alarm| espelho_store::PeerAlarm { instance: "b".to_owned(), alarm };
    assert_eq!(
        alarms.of_others("a").await.unwrap(),
        [of_b(alarm("disk_full", None)), of_b(alarm("late", Some("loja-2")))]
    );
    alarms.end_service("b").await.unwrap();
    assert_eq!(alarms.of_others("a").await.unwrap(), []);
}
