//! The credential, its abilities, its token and the store's owner; and a marketplace out of reach.

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
        store.credential = Some(CredentialTrouble { kind: CredentialKind::Refused, since: ago(1), place });
    });
    assert_eq!(refused.1, ["credential_refused"]);
}

// withstands: F082
#[test]
fn another_program_beside_a_token_of_ours_that_works_is_a_warning_and_explains_nothing() {
    let shared = |store: &mut StoreObservation| {
        let (kind, place) = (CredentialKind::Shared, String::new());
        store.credential = Some(CredentialTrouble { kind, since: ago(1), place });
    };
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
