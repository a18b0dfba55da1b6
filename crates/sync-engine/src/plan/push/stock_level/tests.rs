use std::time::Duration;

use espelho_model::{LocationId, ProductId, Sku};
use espelho_store::EffectState;
use serde_json::json;

use super::{
    super::{
        evidence::write,
        level_history::{
            of_product, sent_to,
            tests::{CONFIRMED, REFUTED, moved, set, set_for, whole},
        },
        tests::{at, effect},
    },
    *,
};

fn level(desired: i64, mirrored: Option<i64>) -> StockIntent {
    StockIntent {
        sku: Sku::new("A"),
        location: LocationId::new("1"),
        written: desired.to_string(),
        quantity: Some(whole(desired)),
        state: Some(PushState::New),
        updated_at: None,
        product: Some(ProductId::new("P")),
        base_unit: Some("un".to_owned()),
        mirrored: mirrored.map(whole),
        reserved: None,
        available: None,
        code: None,
        revision: 3,
    }
}

/// A level that was set before the goods of these commands were dispatched.
fn set_ahead_of(commands: &[i64], target: i64, state: EffectState) -> Effect {
    let ahead_of = commands.to_vec();
    let (product, location, sku) = ("P".to_owned(), "1".to_owned(), "A".to_owned());
    let (revision, desired, target) = (Some(2), None, whole(target));
    let (journal_end, before) = (None, None);
    let evidence =
        LevelEvidence { product, location, sku, target, revision, desired, ahead_of, journal_end, before };
    effect("stock.set", Some(&write(&evidence)), state)
}

/// An open command on an order, given so many seconds after the epoch of these tests.
fn status(id: i64, status: &str, given: i64, state: PushState) -> OpenCommand {
    OpenCommand {
        id,
        kind: "order.status".to_owned(),
        key: format!("P{id}"),
        short_data: Some(json!({"status": status}).to_string()),
        data_bytes: 0,
        is_too_large: false,
        state: Some(state),
        created_at: Some(at(given)),
        code: None,
    }
}

#[test]
fn a_quantity_is_a_number_of_at_most_six_decimals_that_is_not_negative_and_whole_where_the_unit_is() {
    let checked = |written: &str, unit: Option<&str>| {
        let quantity = written.parse().ok();
        validate(&StockIntent { quantity, base_unit: unit.map(str::to_owned), ..level(0, None) })
    };
    let rows = [
        ("0", Some("un"), true),
        ("7", Some("un"), true),
        ("7.0", Some("cx"), true),
        ("1.5", Some("un"), false),
        ("1.5", Some("pc"), false),
        ("1.5", Some("cx"), false),
        ("1.5", Some("pct"), false),
        ("1.5", Some("kg"), true),
        ("1.5", None, true),
        ("0.000001", Some("kg"), true),
        ("0.0000010", Some("kg"), true),
        ("0.0000001", Some("kg"), false),
        ("-1", Some("un"), false),
        ("-0.5", Some("kg"), false),
        ("seven", None, false),
    ];
    for (written, unit, is_fit) in rows {
        let checked = checked(written, unit);
        assert_eq!(checked.is_ok(), is_fit, "{written} {unit:?}");
        if let Err(message) = checked {
            assert_eq!(message.code, "invalid_data", "{written} {unit:?}");
        }
    }
}

#[test]
fn only_a_new_zero_of_a_known_product_that_is_not_zero_yet_empties_a_level() {
    assert!(empties(&level(0, Some(5))));
    assert!(empties(&level(0, None)));
    assert!(empties(&StockIntent { state: Some(PushState::Waiting), ..level(0, Some(5)) }));
    assert!(!empties(&level(0, Some(0))));
    assert!(!empties(&level(1, Some(5))));
    assert!(!empties(&StockIntent { product: None, ..level(0, None) }));
    for state in [PushState::Sending, PushState::Done, PushState::Held, PushState::Failed, PushState::Ignored]
    {
        assert!(!empties(&StockIntent { state: Some(state), ..level(0, Some(5)) }), "{state:?}");
    }
}

#[test]
fn the_mirror_is_trusted_where_nothing_of_ours_lies_after_its_reading() {
    let trusts = |basis, desired, effects: &[Effect]| {
        freshness(basis, &level(7, Some(7)), whole(desired), effects, TimeDelta::seconds(300), at(60))
    };
    let of_late = Freshness::FreshIfReadAfter(at(60 - 300));
    assert_eq!(trusts(Basis::Physical, 7, &[]), of_late);
    assert_eq!(trusts(Basis::Physical, 8, &[]), Freshness::Stale, "the mirror shows something else");
    assert_eq!(
        trusts(Basis::Available, 7, &[]),
        Freshness::Stale,
        "what is reserved changes with every sale"
    );
    assert_eq!(trusts(Basis::Physical, 7, &[set(7, CONFIRMED)]), Freshness::Fresh, "we set it so");
    assert_eq!(trusts(Basis::Physical, 7, &[moved(2, CONFIRMED), set(5, CONFIRMED)]), Freshness::Fresh);
    let after = Freshness::FreshIfReadAfter(at(300));
    assert_eq!(trusts(Basis::Physical, 7, &[set(9, CONFIRMED)]), after);
    assert_eq!(trusts(Basis::Physical, 7, &[set(9, EffectState::Sent)]), after);
    assert_eq!(trusts(Basis::Physical, 7, &[set(9, EffectState::Doubtful)]), after);
    assert_eq!(trusts(Basis::Physical, 7, &[moved(2, CONFIRMED)]), after);
    assert_eq!(trusts(Basis::Physical, 7, &[set(9, REFUTED)]), of_late, "it did not happen");
    let garbled = effect("stock.set", Some("{}"), CONFIRMED);
    assert_eq!(trusts(Basis::Physical, 7, &[garbled]), after, "nobody knows what was set");
}

#[test]
fn a_reading_counts_longer_where_deliveries_tell_of_changes_and_a_zero_less_long() {
    let seconds = |desired, are_reported| max_age(whole(desired), are_reported).num_seconds();
    let (day, hour) = (86_400, 3_600);
    assert_eq!(
        [seconds(0, true), seconds(7, true), seconds(7, false), seconds(0, false)],
        [day, day, hour, 30]
    );
}

#[test]
fn a_zero_that_the_mirror_showed_wrongly_passes_the_guards_first() {
    for (desired, mirrored, there, expected) in [
        (0, Some(0), Some(5), true),
        (0, Some(0), Some(0), false),
        (0, Some(0), None, false),
        (0, Some(5), Some(5), false),
        (0, None, Some(5), false),
        (1, Some(1), Some(5), false),
    ] {
        let [mirrored, there] = [mirrored, there].map(|quantity| quantity.map(whole));
        assert_eq!(
            must_be_guarded(whole(desired), mirrored, there),
            expected,
            "{desired} {mirrored:?} {there:?}"
        );
    }
}

#[test]
fn what_was_set_or_read_long_ago_is_read_again() {
    let trusts = |effects: &[Effect], now| {
        freshness(Basis::Physical, &level(7, Some(7)), whole(7), effects, TimeDelta::seconds(300), at(now))
    };
    assert_eq!(trusts(&[set(7, CONFIRMED)], 299), Freshness::Fresh);
    assert_eq!(trusts(&[set(7, CONFIRMED)], 300), Freshness::FreshIfReadAfter(at(0)));
    assert_eq!(trusts(&[set(9, CONFIRMED)], 3600), Freshness::FreshIfReadAfter(at(3300)));
    let set_back = trusts(&[set(7, CONFIRMED)], -7_200);
    assert_eq!(set_back, Freshness::FreshIfReadAfter(at(-7_500)), "the clock was ahead");
}

#[test]
fn what_is_reserved_is_told_or_follows_from_what_is_available_or_is_unknown() {
    let level = |quantity: Option<i64>, reserved: Option<i64>, available: Option<i64>| StockLevel {
        sku: Sku::new("A"),
        location_id: LocationId::new("1"),
        quantity: quantity.map(whole),
        reserved_quantity: reserved.map(whole),
        available_quantity: available.map(whole),
        raw: espelho_model::RawJson::new("{}"),
    };
    for (quantity, reserved, available, expected) in [
        (Some(9), Some(2), Some(7), Some(2)),
        (Some(9), Some(0), None, Some(0)),
        (None, Some(2), None, Some(2)),
        (Some(9), None, Some(7), Some(2)),
        (Some(9), None, None, None),
        (None, None, Some(7), None),
        (None, None, None, None),
    ] {
        let of = reserved_of(&level(quantity, reserved, available));
        assert_eq!(of, expected.map(whole), "{quantity:?} {reserved:?} {available:?}");
    }
}

#[test]
fn what_is_reserved_is_added_where_the_erp_writes_what_is_available() {
    assert_eq!(target(Basis::Physical, whole(7), Some(whole(2))), whole(7));
    assert_eq!(target(Basis::Available, whole(7), Some(whole(2))), whole(9));
    assert_eq!(target(Basis::Available, whole(7), None), whole(7));
}

#[test]
fn a_level_is_set_only_where_it_differs_and_not_twice_for_one_row() {
    let decided = |there: Option<i64>, effects: &[Effect]| {
        decide(&level(7, None), there.map(whole), whole(7), effects, false, at(10))
    };
    let (set_it, done) = (Action::Set(whole(7)), Action::Answer(Verdict::Done(None)));
    assert_eq!(decided(Some(7), &[]), done);
    assert_eq!(decided(Some(5), &[]), set_it);
    assert_eq!(decided(None, &[]), set_it, "the mirror does not know the level");
    assert_eq!(
        decided(Some(5), &[set(7, CONFIRMED)]),
        Action::Answer(Verdict::Sent),
        "sold since, not answered yet"
    );
    assert_eq!(decided(Some(5), &[set_for(2, 7, CONFIRMED)]), set_it, "the same quantity, written again");
    assert_eq!(decided(Some(5), &[set(9, CONFIRMED)]), set_it, "what was reserved has changed");
    let seconds = |n| Action::Answer(Verdict::RetryAfter(Duration::from_secs(n)));
    let lately = Effect { planned_at: at(9), ..set(7, REFUTED) };
    assert_eq!(decided(Some(5), &[lately]), seconds(1), "the pause after an attempt that failed");
    assert_eq!(decided(Some(5), &[set(7, REFUTED)]), set_it, "the pause is over");
    assert_eq!(
        decided(Some(5), &[Effect { planned_at: at(9), ..set_for(2, 7, REFUTED) }]),
        set_it,
        "of another row"
    );
    assert_eq!(decided(Some(7), &[set(5, REFUTED)]), seconds(30), "another quantity may still land");
    assert_eq!(decided(Some(7), &[set(7, REFUTED)]), done);
    let many: Vec<Effect> = (0..16).map(|_| set(7, REFUTED)).collect();
    let Action::Answer(Verdict::Failed(message)) = decided(Some(5), &many) else { panic!("not given up") };
    assert_eq!(message.code, "gave_up");
}

#[test]
fn a_level_is_ahead_of_the_open_dispatches_that_it_was_written_with_or_after() {
    let open = [
        status(1, "shipped", 0, PushState::Waiting),
        status(2, "preparing", 0, PushState::Waiting),
        status(3, "picked_up", 500, PushState::New),
        status(4, "shipped", 1_000, PushState::New),
    ];
    let written_at = |seconds: i64| StockIntent { updated_at: Some(at(seconds)), ..level(7, Some(9)) };
    let ahead = |level: &StockIntent, effects: &[Effect]| ahead_of(Basis::Physical, level, effects, &open);
    for (written, expected) in [(-121, &[][..]), (-120, &[1]), (0, &[1]), (380, &[1, 3]), (1_000, &[1, 3, 4])]
    {
        assert_eq!(ahead(&written_at(written), &[]), expected, "{written}");
    }
    assert_eq!(ahead_of(Basis::Available, &written_at(0), &[], &open), [0; 0], "what is reserved is in it");
    let waiting = StockIntent { state: Some(PushState::Waiting), ..written_at(1_000) };
    assert_eq!(ahead(&waiting, &[]), [0; 0], "nobody knows when the ERP wrote it");
    assert_eq!(ahead(&level(7, Some(9)), &[]), [0; 0]);
    // Set again after the dispatch of another order: it is ahead of the rest, and of nothing that came later.
    assert_eq!(ahead(&written_at(1_000), &[set_ahead_of(&[1, 9], 7, CONFIRMED)]), [1]);
    assert_eq!(ahead(&written_at(1_000), &[set_ahead_of(&[1, 9], 6, CONFIRMED)]), [1, 3, 4], "another level");
    assert_eq!(ahead(&written_at(1_000), &[set(7, CONFIRMED)]), [1, 3, 4]);
}

#[test]
fn a_level_is_set_again_after_a_dispatch_only_if_it_was_the_last_one_and_is_still_wanted() {
    let ahead = |state| set_ahead_of(&[4, 5], 7, state);
    for (wanted, effects, command, expected) in [
        (Some(7), vec![ahead(CONFIRMED)], 5, true),
        (Some(7), vec![ahead(EffectState::Sent)], 5, true),
        (Some(7), vec![ahead(REFUTED)], 5, false),
        (Some(7), vec![ahead(CONFIRMED)], 6, false),
        (Some(8), vec![ahead(CONFIRMED)], 5, false),
        (None, vec![ahead(CONFIRMED)], 5, false),
        (Some(7), vec![set(7, CONFIRMED), ahead(CONFIRMED)], 5, false),
        (Some(7), vec![set(6, REFUTED), ahead(CONFIRMED)], 5, true),
        (Some(7), vec![moved(2, CONFIRMED), ahead(CONFIRMED)], 5, false),
        (Some(7), vec![], 5, false),
    ] {
        assert_eq!(is_to_set_again(wanted.map(whole), &effects, command), expected, "{wanted:?} {effects:?}");
    }
    // The mirror's level may be older than the dispatch: the marketplace is read.
    let mirrored = level(7, Some(7));
    assert_eq!(
        freshness(Basis::Physical, &mirrored, whole(7), &[ahead(CONFIRMED)], TimeDelta::hours(1), at(0)),
        Freshness::Stale
    );
}

#[test]
fn what_a_dispatch_took_off_is_added_again_and_what_others_did_stays() {
    for (desired, there, dispatched, expected, why) in [
        (97, 94, 3, 97, "taken off twice"),
        (97, 97, 3, 97, "this marketplace takes nothing off"),
        (97, 89, 3, 92, "another order left meanwhile"),
        (97, 77, 3, 80, "somebody counted 80"),
        (0, -3, 3, 0, "the last pieces"),
        (0, 0, 3, 0, "this marketplace has nothing below zero"),
        (0, -5, 3, 0, "no level is below zero"),
    ] {
        assert_eq!(after_dispatch(whole(desired), whole(there), whole(dispatched)), whole(expected), "{why}");
    }
}

#[test]
fn what_was_added_after_a_dispatch_is_not_added_again() {
    let dispatched = |quantity: i64| Dispatches { ahead_of: Vec::new(), dispatched: whole(quantity) };
    let (first, again) = (set_for(2, 7, CONFIRMED), set_for(3, 5, CONFIRMED));
    for (basis, dispatches, there, last, expected, why) in [
        (Basis::Physical, dispatched(0), Some(4), None, 7, "an ordinary level"),
        (Basis::Physical, dispatched(2), Some(4), None, 6, "others took one meanwhile"),
        (Basis::Physical, dispatched(2), Some(4), Some(&first), 6, "that was set for an earlier revision"),
        (Basis::Physical, dispatched(2), Some(5), Some(&again), 5, "it was added: what is there has it"),
        (Basis::Physical, dispatched(2), None, None, 7, "the marketplace shows no such level"),
        (Basis::Available, dispatched(0), Some(4), None, 10, "three are reserved"),
    ] {
        let last = last.and_then(|set| last_set(std::slice::from_ref(set), at(0)));
        let shown = LevelReading { quantity: there.map(whole), reserved: Some(whole(3)) };
        let level = level(7, None);
        let target = target_after_reading(basis, &level, whole(7), shown, &dispatches, last.as_ref());
        assert_eq!(target, whole(expected), "{why}");
    }
}

#[test]
fn only_a_zero_that_the_mirror_does_not_show_goes_without_a_reading() {
    let again = Dispatches { dispatched: whole(1), ..Dispatches::default() };
    let ahead = Dispatches { ahead_of: vec![4], ..Dispatches::default() };
    for (basis, desired, mirrored, dispatches, expected) in [
        (Basis::Physical, 0, Some(5), Dispatches::default(), true),
        (Basis::Physical, 0, None, Dispatches::default(), true),
        (Basis::Physical, 0, Some(0), Dispatches::default(), false),
        (Basis::Physical, 0, Some(5), ahead.clone(), true),
        (Basis::Physical, 0, Some(5), again.clone(), false),
        (Basis::Physical, 1, Some(5), Dispatches::default(), false),
        (Basis::Available, 0, Some(5), Dispatches::default(), false),
    ] {
        assert_eq!(
            is_urgent(basis, whole(desired), mirrored.map(whole), &dispatches),
            expected,
            "{basis:?} {desired} {mirrored:?} {dispatches:?}"
        );
    }
    let on_record = [&Dispatches::default(), &ahead, &again].map(Dispatches::needs_evidence);
    assert_eq!(on_record, [false, true, true]);
}

#[test]
fn a_level_is_there_and_is_set_once_for_the_journal_where_a_dispatch_is_ahead_of_it() {
    let next = |effects: &[Effect], needs_evidence| {
        decide(&level(7, Some(7)), Some(whole(7)), whole(7), effects, needs_evidence, at(10))
    };
    assert_eq!(next(&[], false), Action::Answer(Verdict::Done(None)));
    assert_eq!(next(&[], true), Action::Set(whole(7)));
    assert_eq!(next(&[set_for(2, 7, CONFIRMED)], true), Action::Set(whole(7)), "that was another row");
    assert_eq!(next(&[set(7, CONFIRMED)], true), Action::Answer(Verdict::Done(None)), "it is on record");
}

#[test]
fn only_a_later_row_of_the_same_level_went_ahead_of_a_dispatch() {
    let effects = [set_ahead_of(&[4, 5], 7, CONFIRMED)];
    assert_eq!(went_ahead_of(&level(7, None), &effects), [4, 5]);
    let same_row = StockIntent { revision: 2, ..level(7, None) };
    assert_eq!(went_ahead_of(&same_row, &effects), [0; 0]);
    assert_eq!(went_ahead_of(&level(8, None), &effects), [0; 0]);
    assert_eq!(went_ahead_of(&level(7, None), &[set(7, CONFIRMED)]), [0; 0]);
    // It was set to what was left, and the row asks for more.
    let (product, location, sku) = ("P".to_owned(), "1".to_owned(), "A".to_owned());
    let (target, revision, desired) = (whole(5), Some(2), Some(whole(7)));
    let evidence = LevelEvidence {
        product,
        location,
        sku,
        target,
        revision,
        desired,
        ahead_of: vec![4],
        journal_end: Some(9),
        before: None,
    };
    let effects = [effect("stock.set", Some(&write(&evidence)), CONFIRMED)];
    assert_eq!(went_ahead_of(&level(7, None), &effects), [4]);
    assert_eq!(went_ahead_of(&level(5, None), &effects), [0; 0]);
    assert_eq!(last_set(&effects, at(0)).map(|set| (set.target, set.journal_end)), Some((whole(5), 9)));
}

#[test]
fn a_basis_is_the_word_of_the_configuration() {
    assert_eq!((Basis::Physical.as_str(), Basis::Available.as_str()), ("physical", "available"));
}

#[test]
fn what_was_set_at_another_product_of_the_sku_says_nothing_of_this_one() {
    let set_at = |product: &str, state| {
        let evidence = json!({"product": product, "location": "1", "sku": "A", "target": "7", "wish": 3});
        effect("stock.set", Some(&evidence.to_string()), state)
    };
    for (effects, expected) in [
        (vec![set_at("P", CONFIRMED)], Some("P")),
        (vec![set_at("O", REFUTED), set_at("P", EffectState::Sent)], Some("P")),
        (vec![moved(2, CONFIRMED), set_at("P", CONFIRMED), set_at("O", CONFIRMED)], Some("P")),
        (vec![set_at("O", REFUTED)], None),
        (vec![], None),
    ] {
        assert_eq!(sent_to(&effects, 3), expected.map(ProductId::new), "{effects:?}");
        assert_eq!(sent_to(&effects, 4), None, "for an earlier revision");
    }
    let (product, now) = (ProductId::new("P"), at(60));
    let decided = |effects: Vec<Effect>| {
        decide(&level(7, Some(5)), Some(whole(5)), whole(7), &of_product(effects, &product), false, now)
    };
    assert_eq!(decided(vec![set_at("P", CONFIRMED)]), Action::Answer(Verdict::Sent));
    assert_eq!(decided(vec![set_at("O", CONFIRMED)]), Action::Set(whole(7)));
    let unreadable = || effect("stock.set", None, CONFIRMED);
    assert_eq!(of_product(vec![unreadable(), moved(2, CONFIRMED)], &product).len(), 2);
    assert_eq!(of_product(vec![unreadable(), moved(2, CONFIRMED)], &ProductId::new("O")).len(), 1);
}

#[test]
fn a_level_that_shows_as_asked_is_set_where_the_reading_may_be_from_before_our_last_change() {
    let there =
        json!({"product": "P", "location": "1", "sku": "A", "target": "62", "wish": 1, "there": "50"});
    let changed = effect("stock.set", Some(&there.to_string()), EffectState::Confirmed);
    for (effects, seconds, expected) in [
        (vec![], 6, Action::Answer(Verdict::Done(None))),
        (vec![changed.clone()], 6, Action::Set(whole(50))),
        (vec![changed], 121, Action::Answer(Verdict::Done(None))),
    ] {
        let decided = decide(&level(50, None), Some(whole(50)), whole(50), &effects, false, at(seconds));
        assert_eq!(decided, expected, "{seconds}");
    }
}
