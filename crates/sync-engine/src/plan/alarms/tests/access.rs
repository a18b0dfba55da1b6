//! The credential, its abilities, its token and the store's owner; and a marketplace out of reach.

use espelho_model::text::Locale;

use super::*;

#[test]
fn access_that_is_missing_is_named_once() {
    assert_eq!(of(|store| store.missing_scopes = vec!["store_products_write".into()]).1, ["scope_missing"]);
    assert_eq!(of(|store| store.owner = Owner::Nobody(Some(Text::new("w")))).1, ["not_held"]);
    let soon = Some(now() + TimeDelta::hours(23));
    assert_eq!(of(|store| store.token_expires_at = soon).1, ["token_expires"]);
    let refused = of(|store| {
        store.token_expires_at = soon;
        store.owner = Owner::Nobody(Some(Text::new("w")));
        let place = "p".into();
        let kind = CredentialKind::Refused;
        store.credential =
            Some(CredentialTrouble { kind, has_token: false, since: ago(1), place, refused_fields: None });
    });
    assert_eq!(refused.1, ["credential_refused"]);
}

#[test]
fn a_login_that_is_refused_for_a_field_names_it_and_blames_no_password() {
    for (refused_fields, expected, said) in [
        (None, "alarm-credential-refused", "senha"),
        (Some("webhook.url"), "alarm-login-refused", "por webhook.url"),
        (Some("none"), "alarm-login-refused", "(422); o espelho"),
    ] {
        let mut store = store("a");
        store.credential = Some(CredentialTrouble {
            kind: CredentialKind::Refused,
            has_token: false,
            since: ago(1),
            place: "p".into(),
            refused_fields: refused_fields.map(Into::into),
        });
        let alarm = decide(&seen(vec![store])).alarms.remove(0);
        assert_eq!((alarm.code, alarm.text.id()), (Code::CredentialRefused, expected));
        let sentence = alarm.text.message(Locale::default());
        assert_eq!(sentence.contains("senha"), refused_fields.is_none(), "{sentence}");
        assert!(sentence.contains(said), "{sentence}");
    }
}

// withstands: F137
#[test]
fn a_password_that_no_login_has_tried_is_no_proved_one_and_a_file_that_is_gone_is_told() {
    let unproved = of(|store| store.is_password_unproved = true);
    assert_eq!(unproved, (State::Unknown, vec![]));
    let verdict = decide(&seen(vec![StoreObservation { is_password_unproved: true, ..store("a") }]));
    assert_eq!(verdict.unproved.iter().map(Text::id).collect::<Vec<_>>(), ["unproved-password"]);
    let elsewhere = of(|store| (store.is_password_unproved, store.owner) = (true, Owner::Elsewhere));
    assert_eq!(elsewhere, (State::Ok, vec![]), "another process tries it");
    let (since, why, place) = (ago(1), Text::new("config-file-empty"), "/etc/espelho/a.password".to_owned());
    let gone = of(|store| store.unreadable_password = Some(UnreadablePassword { since, why, place }));
    assert_eq!(gone, (State::Warning, vec!["password_unreadable"]));
}

#[test]
fn a_refused_write_proves_a_missing_ability_for_a_minute_and_while_its_row_stands() {
    let refused = |seconds, rows: Vec<Rows>| {
        of(|store| {
            let scopes = vec!["store_products_write".to_owned()];
            store.refused_writes = Some(RefusedWrites { scopes, last: ago(seconds) });
            store.rows = rows;
        })
        .1
    };
    let in_state =
        |state, code: &str, example: &str| vec![Rows { example: example.into(), ..rows(state, code, 1, 5) }];
    let row = |code: &str, example: &str| in_state(RowState::Failed, code, example);
    for (seconds, rows, expected, why) in [
        (59, vec![], &["scope_missing"][..], "its row may not be written yet"),
        (60, vec![], &[], "the row was deleted"),
        (-7_200, vec![], &[], "the clock was set back"),
        (9_000, row("FORBIDDEN", "stock CAN-01/3"), &["scope_missing"], "the row says so"),
        (9_000, row("http_403", "command 7"), &["scope_missing"], "the row says so"),
        (9_000, row("FORBIDDEN", "order N-1"), &["failed"], "a reading"),
        (9_000, row("unknown_sku", "stock CAN-01/3"), &["failed"], "another cause"),
        (9_000, in_state(RowState::Held, "FORBIDDEN", "price A/1"), &["scope_missing"], "it is open"),
        (9_000, in_state(RowState::Doubtful, "FORBIDDEN", "command 7"), &["scope_missing"], "it is open"),
        (9_000, in_state(RowState::Noted, "FORBIDDEN", "command 7"), &["failed"], "it is done"),
        (9_000, in_state(RowState::Waiting, "FORBIDDEN", "command 7"), &[], "it goes by itself"),
    ] {
        assert_eq!(refused(seconds, rows), expected, "{seconds}: {why}");
    }
    let mut store = StoreObservation { missing_scopes: vec!["b".into(), "a".into()], ..store("a") };
    let next = |store: &StoreObservation| decide(&seen(vec![store.clone()])).alarms.remove(0).text;
    let read = next(&store);
    store.refused_writes = Some(RefusedWrites { scopes: vec!["a".into(), "c".into()], last: ago(90) });
    store.rows = row("FORBIDDEN", "stock CAN-01/3");
    let both = next(&store);
    for locale in Language::ALL.map(Locale::of) {
        assert!(read.message(locale).contains(": a, b."), "{}", read.message(locale));
        assert!(both.message(locale).contains(": a, b, c."), "{}", both.message(locale));
        let retry = "espelho retry --all --code FORBIDDEN --store a";
        let says_retry = [&read, &both].map(|text| text.next(locale).unwrap_or_default().contains(retry));
        assert_eq!(says_retry, [false, true]);
    }
    store.rows.extend(row("http_403", "command 7"));
    let all = next(&store);
    for locale in Language::ALL.map(Locale::of) {
        let next = all.next(locale).unwrap_or_default();
        let retry =
            "espelho retry --all --code FORBIDDEN --store a; espelho retry --all --code http_403 --store a";
        assert!(next.contains(retry), "{next}");
    }
}

// withstands: F082
#[test]
fn a_credential_beside_a_token_of_ours_that_works_is_a_warning_and_explains_nothing() {
    let shared = |store: &mut StoreObservation| {
        let (kind, place) = (CredentialKind::Foreign, String::new());
        store.credential =
            Some(CredentialTrouble { kind, has_token: true, since: ago(1), place, refused_fields: None });
    };
    let refused = of(|store| {
        shared(store);
        store.credential.iter_mut().for_each(|trouble| trouble.kind = CredentialKind::Refused);
        store.token_expires_at = Some(now() + TimeDelta::hours(23));
        // The alarm says it.
        store.is_password_unproved = true;
    });
    assert_eq!(refused, (State::Failing, vec!["token_expires", "credential_refused"]));
    let with = |change: fn(&mut StoreObservation)| {
        of(|store| {
            shared(store);
            change(store);
        })
    };
    assert_eq!(with(|_| ()), (State::Warning, vec!["foreign_login"]));
    let late = with(|store| store.sweeps[0].succeeded_at = Some(ago(9_000)));
    assert_eq!(late, (State::Warning, vec!["foreign_login", "late"]));
    let idle = with(|store| store.owner = Owner::Nobody(Some(Text::new("w"))));
    assert_eq!(idle, (State::Failing, vec!["not_held", "foreign_login"]));
    let old = with(|store| store.token_expires_at = Some(now() + TimeDelta::hours(23)));
    assert_eq!(old, (State::Failing, vec!["token_expires", "foreign_login"]));
}

#[test]
fn the_next_step_of_a_marketplace_out_of_reach_tells_its_fault_from_our_networks() {
    for (symptom, said) in [
        (Symptom::ConnectionRefused, "não é a internet daqui: a máquina em https://m recusa a conexão"),
        (Symptom::NameUnknown, "o problema é a internet ou o DNS daqui; se abrir, confira base_url"),
        (Symptom::NoTrust, "não é a internet daqui: https://m responde, mas sem um TLS"),
        (Symptom::TimedOut, "se não abrir, o problema é a internet daqui; se abrir, é o marketplace"),
    ] {
        let trouble = contact(ContactKind::Unreachable, 60);
        let trouble = trouble.map(|trouble| ContactTrouble { symptom: symptom.clone(), ..trouble });
        let down = StoreObservation { base_url: "https://m".into(), contact: trouble, ..store("a") };
        let next = decide(&seen(vec![down])).alarms.remove(0).text.next(Locale::default()).unwrap();
        assert!(next.contains(said), "{symptom:?}: {next}");
    }
}
