//! Rows in trouble: one alarm for each cause, its next step, and its words.

use super::*;

#[test]
fn rows_are_one_alarm_for_each_cause_however_many_they_are() {
    let found = of(|store| {
        store.rows = vec![
            rows(RowState::Failed, "unknown_sku", 3, 50),
            rows(RowState::Failed, "unknown_sku", 2, 90),
            rows(RowState::Failed, "not_found", 1, 5),
            rows(RowState::Held, "price_jump", 4, 5),
            rows(RowState::Doubtful, "unproved", 1, 5),
        ];
    });
    assert_eq!(found, (State::Failing, vec!["failed", "failed", "doubtful", "held"]));
    let mut store = store("a");
    store.rows = vec![rows(RowState::Noted, "oversold", 3, 50), rows(RowState::Failed, "oversold", 2, 90)];
    let alarm = decide(&seen(vec![store])).alarms.remove(0);
    assert_eq!((alarm.count, alarm.since, alarm.severity), (5, Some(ago(90)), Severity::Failing));
}

#[test]
fn a_row_may_wait_for_an_hour() {
    let waiting = |seconds| of(|store| store.rows = vec![rows(RowState::Waiting, "invoice", 1, seconds)]);
    assert_eq!(waiting(3_599), (State::Ok, vec![]));
    assert_eq!(waiting(3_600), (State::Warning, vec!["waiting"]));
}

#[test]
fn rows_of_a_store_that_nobody_has_are_told() {
    let strangers = Some(rows(RowState::Failed, "unknown_store", 2, 5));
    let seen = Observations { strangers, ..seen(vec![store("a")]) };
    assert_eq!(codes(&seen), (State::Failing, vec!["unknown_store"]));
}

#[test]
fn the_next_step_of_rows_is_the_command_that_mends_these_rows_and_no_others() {
    let next_of = |state, code: &str, count, words: Text| {
        let mut store = store("a");
        store.rows = vec![Rows { words, ..rows(state, code, count, 9_000) }];
        let alarm = decide(&seen(vec![store])).alarms.remove(0);
        alarm.text.next(Locale::of(Language::English)).unwrap()
    };
    let told = || Text::new("push-oversold").with("reserved", 3_u64).with("quantity", 1_u64);
    for (state, code, count, words, expected) in [
        (
            RowState::Held,
            "price_jump",
            1,
            Text::new("w"),
            &["espelho release stock CAN-01/3 --store a", "espelho ignore stock CAN-01/3 --store a"][..],
        ),
        (RowState::Failed, "unknown_location", 1, told(), &["espelho ignore stock CAN-01/3 --store a"]),
        (
            RowState::Held,
            "many_to_zero",
            9,
            Text::new("w"),
            &[
                "espelho errors --all --code many_to_zero --store a",
                "espelho release stock CAN-01/3 --store a",
                "espelho release --all --code many_to_zero --store a",
                "espelho ignore --all --state held --code many_to_zero --store a",
            ],
        ),
        (RowState::Held, "price_zero", 2, Text::new("w"), &["espelho ignore stock CAN-01/3 --store a"]),
        (RowState::Failed, "x y", 2, Text::new("w"), &["espelho errors --all --code 'x y' --store a"]),
        (
            RowState::Noted,
            "oversold",
            2,
            told(),
            &["Restock or cancel orders", "espelho errors --all --code oversold --store a"],
        ),
        (
            RowState::Doubtful,
            "unprovable",
            2,
            Text::new("w"),
            &["espelho retry stock CAN-01/3 --store a", "espelho ignore stock CAN-01/3 --store a"],
        ),
    ] {
        let next = next_of(state, code, count, words);
        for words in expected {
            assert!(next.contains(words), "no {words:?} in {next}");
        }
        let is_unbound = |line: &str| line.contains("--all") && !line.contains("--code");
        assert!(!next.split("espelho ").any(is_unbound), "it would mend other rows too: {next}");
    }
}

#[test]
fn an_alarm_of_a_row_in_doubt_says_what_the_row_says() {
    let row = "command 7 --store a";
    for (words, expected) in [
        (Text::new("push-doubtful").with("row", row), "Confira no portal."),
        (Text::new("push-movement-doubtful").with("row", row), "Conte o estoque."),
    ] {
        for count in [1, 2] {
            let (words, mut store) = (words.clone(), store("a"));
            let of_row = words.next(Locale::default()).unwrap();
            store.rows = vec![Rows { words, ..rows(RowState::Doubtful, "unprovable", count, 5) }];
            let next = decide(&seen(vec![store])).alarms.remove(0).text.next(Locale::default()).unwrap();
            assert!(of_row.starts_with(expected) && next.starts_with(&of_row), "{next}");
            let sees_others = next.contains("espelho errors --all --code unprovable --store a");
            assert_eq!((next == of_row, sees_others), (count == 1, count == 2), "{next}");
        }
    }
}

#[test]
fn an_alarm_about_a_single_row_names_it() {
    for (count, expected) in [(1, Some("stock CAN-01/3")), (2, None)] {
        let mut store = store("a");
        store.rows = vec![rows(RowState::Doubtful, "unprovable", count, 5)];
        let alarm = decide(&seen(vec![store])).alarms.remove(0);
        assert_eq!(alarm.row.as_deref(), expected);
    }
}
