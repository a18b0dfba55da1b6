//! Alarms of what comes in: deliveries, values that cannot be read, and counts that differ.

use espelho_store::Subresource;

use super::*;
use crate::plan::unreported_changes::LostDeliveries;

// withstands: F035, F037, F050
#[test]
fn webhooks_that_do_not_come_go_elsewhere_or_cannot_be_verified_are_told() {
    let of_webhook = |webhook: WebhookObservation| of(|store| store.webhook = Some(webhook)).1;
    let silence = Some(WebhookSilence { since: ago(30), missed: 4, address: "https://erp.test/w/a".into() });
    assert_eq!(
        of_webhook(WebhookObservation { silence: silence.clone(), ..WebhookObservation::default() }),
        ["webhooks_missing"]
    );
    let elsewhere =
        Some(OtherAddress { registered: "https://other.test".into(), configured: "https://a.test".into() });
    assert_eq!(
        of_webhook(WebhookObservation {
            silence: silence.clone(),
            elsewhere,
            ..WebhookObservation::default()
        }),
        ["webhook_elsewhere"]
    );
    let lost = Some(LostDeliveries { since: ago(90), unreported: 6, all: 12 });
    let some = WebhookObservation { lost, ..WebhookObservation::default() };
    assert_eq!(
        of(|store| store.webhook = Some(some.clone())),
        (State::Warning, vec!["webhooks_missing"]),
        "others arrive"
    );
    let behind = of(|store| {
        store.webhook = Some(some.clone());
        store.inbox = Some((3, ago(31)));
    });
    assert_eq!(behind.1, [""; 0], "what waits may tell of them");
    let none = WebhookObservation { silence: silence.clone(), ..some.clone() };
    assert_eq!(of(|store| store.webhook = Some(none)), (State::Failing, vec!["webhooks_missing"]));
    assert_eq!(
        of_webhook(WebhookObservation { unverified: 3, ..WebhookObservation::default() }),
        ["webhooks_unverified"]
    );
    assert_eq!(of_webhook(WebhookObservation { unverified: 2, ..WebhookObservation::default() }), [""; 0]);
    for webhook in [WebhookObservation { silence, ..WebhookObservation::default() }, some] {
        let down = of(|store| {
            store.contact = contact(ContactKind::Unreachable, 60);
            store.webhook = Some(webhook);
        });
        assert_eq!(down.1, ["marketplace_unreachable"], "a marketplace that is down delivers nothing");
    }
}

// withstands: F094, F134
#[test]
fn new_orders_that_cannot_be_read_are_told_after_two_minutes_and_the_alarm_does_not_flicker() {
    let new_orders = |has_failed, seconds, every_seconds| {
        of(|store| {
            let sweep = SweepObservation { has_failed, every_seconds, ..store.sweeps[0].clone() };
            store.sweeps = vec![SweepObservation { succeeded_at: Some(ago(seconds)), ..sweep }];
        })
        .1
    };
    for (has_failed, seconds, every_seconds, expected, why) in [
        (true, 120, 60, &[][..], "its next attempt may be under way"),
        (true, 121, 60, &["late"], "its last attempt failed"),
        (true, 121, 3, &["late"], "however often it is made"),
        (true, 600, 300, &[], "a small budget makes it rare"),
        (true, 601, 300, &["late"], "two turns"),
        (false, 300, 60, &[], "it waits for its turn"),
        (false, 301, 60, &["late"], "it missed three turns"),
    ] {
        assert_eq!(new_orders(has_failed, seconds, every_seconds), expected, "{why}");
    }
    let other = of(|store| {
        let sweep = SweepObservation { kind: "products", has_failed: true, ..store.sweeps[0].clone() };
        store.sweeps = vec![SweepObservation { succeeded_at: Some(ago(200)), ..sweep }];
    });
    assert_eq!(other.1, [""; 0], "other sweeps have their own time");
    // Between the attempts the trouble begins anew, and is no alarm for its first seconds.
    for seconds in [0, 14] {
        let failing = of(|store| {
            store.sweeps[0].succeeded_at = Some(ago(400));
            store.contact = contact(ContactKind::Unreachable, seconds);
            store.failing_routes = contact(ContactKind::Errors, seconds);
        });
        assert_eq!(failing, (State::Warning, vec!["late"]), "{seconds}");
    }
}

#[test]
fn deliveries_that_a_pause_keeps_are_not_missing() {
    let silence = Some(WebhookSilence { since: ago(30), missed: 4, address: "https://erp.test/w/a".into() });
    let codes = |scope, ends| {
        of(|store| {
            store.webhook =
                Some(WebhookObservation { silence: silence.clone(), ..WebhookObservation::default() });
            store.pauses = vec![pause(scope, 600, ends)];
        })
        .1
    };
    assert_eq!(codes(PauseScope::Webhooks, 60), ["paused"]);
    assert_eq!(codes(PauseScope::Webhooks, -60), [""; 0]);
    assert_eq!(codes(PauseScope::Webhooks, -600), ["webhooks_missing"]);
    assert_eq!(codes(PauseScope::Push, 60), ["webhooks_missing", "paused"]);
}

// withstands: F094
#[test]
fn of_a_listing_that_a_pause_keeps_from_being_read_the_pause_is_told_and_nothing_is_well() {
    for (scope, ends, do_sweeps_read) in [
        (PauseScope::Pull, 60, false),
        (PauseScope::All, 60, false),
        (PauseScope::Pull, -60, true),
        (PauseScope::Push, 60, true),
        (PauseScope::Webhooks, 60, true),
    ] {
        let paused = StoreObservation { pauses: vec![pause(scope, 600, ends)], ..store("a") };
        assert_eq!(paused.do_sweeps_read(now()), do_sweeps_read, "{scope:?} {ends}");
        let expected = if ends > 0 { (State::Warning, vec!["paused"]) } else { (State::Ok, vec![]) };
        assert_eq!(codes(&seen(vec![paused])), expected, "{scope:?} {ends}");
    }
}

// withstands: F070, F078
#[test]
fn values_that_cannot_be_read_are_one_alarm_that_names_their_fields() {
    let of_field = |field: &str, values, seconds| UnreadableValues {
        field: field.into(),
        route: "GET /o/{id}".into(),
        values,
        since: ago(seconds),
    };
    let mut troubled = store("a");
    troubled.unreadable = vec![of_field("totals.shipping", 7, 60), of_field("created_at", 2, 90)];
    let verdict = decide(&seen(vec![troubled]));
    let [alarm] = &verdict.alarms[..] else { panic!("{:?}", verdict.alarms) };
    assert_eq!(
        (verdict.state, alarm.code, alarm.cause.as_str()),
        (State::Warning, Code::UnreadableValues, "")
    );
    assert_eq!((alarm.count, alarm.since), (9, Some(ago(90))));
    for locale in Language::ALL.map(Locale::of) {
        let message = alarm.text.message(locale);
        for part in ["totals.shipping (GET /o/{id}: 7)", "created_at (GET /o/{id}: 2)"] {
            assert!(message.contains(part), "{message}");
        }
    }
}

// withstands: F134
#[test]
fn differences_that_an_audit_found_are_a_warning_for_each_resource_until_they_are_closed() {
    let found = |resource: &str, rows| {
        let (resource, parts) = (resource.into(), Vec::new());
        OpenDifferences { resource, parts, rows, compared: 40, at: ago(9) }
    };
    let differing = || vec![found("orders", 5), found("products", 0), found("campaigns", 1)];
    let verdict = decide(&seen(vec![StoreObservation { differing: differing(), ..store("a") }]));
    let alarms: Vec<_> =
        verdict.alarms.iter().map(|alarm| (alarm.code, &*alarm.cause, alarm.count)).collect();
    let expected = [(Code::MirrorDiffers, "orders", 5), (Code::MirrorDiffers, "campaigns", 1)];
    assert_eq!((verdict.state, &alarms[..]), (State::Warning, &expected[..]));
    for (locale, words) in Language::ALL.map(Locale::of).into_iter().zip(["5 de 40", "5 of the 40"]) {
        let (said, next) = (verdict.alarms[0].text.message(locale), verdict.alarms[0].text.next(locale));
        assert!(said.contains(words), "{said}");
        assert!(
            next.unwrap_or_default().contains("espelho --resync --deep --only orders --store a"),
            "{said}"
        );
    }
    let parts = vec![Subresource::Order, Subresource::Shipments];
    let of_parts = vec![OpenDifferences { parts, ..found("orders", 2) }];
    let verdict = decide(&seen(vec![StoreObservation { differing: of_parts, ..store("a") }]));
    let [alarm] = &verdict.alarms[..] else { panic!("{:?}", verdict.alarms) };
    assert_eq!(alarm.cause, "orders,shipments", "each part is read by its own target");
    for locale in Language::ALL.map(Locale::of) {
        let next = alarm.text.next(locale).unwrap_or_default();
        assert!(next.contains("espelho --resync --deep --only orders,shipments --store a"), "{next}");
    }
    // The database tells, so that it is shown while no service runs, too.
    let silent = Observations { service: ServiceObservation::Silent(None), ..seen(vec![]) };
    let silent =
        Observations { stores: vec![StoreObservation { differing: differing(), ..store("a") }], ..silent };
    assert!(codes(&silent).1.contains(&"mirror_differs"));
    assert_eq!(of(|store| store.differing = vec![found("orders", 0)]), (State::Ok, vec![]));
}

#[test]
fn a_count_that_the_mirror_has_not_reached_is_no_alarm_and_not_ok() {
    let behind = || vec![UnreachedCount { kind: "orders".into(), remote: 500, local: 107, since: ago(900) }];
    let of_store =
        |store: StoreObservation| decide(&seen(vec![StoreObservation { behind: behind(), ..store }]));
    let verdict = of_store(store("a"));
    assert_eq!((verdict.state, verdict.alarms.len(), verdict.unproved.len()), (State::Unknown, 0, 1));
    for language in [Language::Portuguese, Language::English] {
        let shown = verdict.unproved[0].message(Locale { language, ..Locale::default() });
        assert!(shown.contains("500") && shown.contains("107"), "{shown}");
    }
    let elsewhere = StoreObservation { owner: Owner::Elsewhere, ..store("a") };
    assert_eq!(of_store(elsewhere).state, State::Ok, "its owner says how it is");
    let unread = StoreObservation { complete_at: None, ..store("a") };
    assert_eq!(of_store(unread).unproved.len(), 1, "the first reading explains it");
    let troubled = StoreObservation { rows: vec![rows(RowState::Held, "price_jump", 4, 5)], ..store("a") };
    assert_eq!(of_store(troubled).state, State::Warning);
}
