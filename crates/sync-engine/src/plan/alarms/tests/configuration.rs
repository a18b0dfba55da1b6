//! Alarms of the configuration.

use espelho_model::text;

use super::*;

#[test]
fn a_configuration_that_a_reload_refused_is_a_warning_with_its_first_mistake() {
    for (mistakes, found_in, said_of_others) in [
        (1, FoundIn::Files, ""),
        (2, FoundIn::Files, " (and 1 more mistake)"),
        (3, FoundIn::Files, " (and 2 more mistakes)"),
        (1, FoundIn::UnreadFiles, ""),
        (3, FoundIn::UnreadFiles, " (and 2 more mistakes)"),
    ] {
        let first = Text::new("config-at").with("place", "stores/loja-1.toml:2").with("problem", "x");
        let refused_configuration = Some(RefusedConfiguration { since: ago(5), mistakes, first, found_in });
        let verdict = decide(&Observations { refused_configuration, ..seen(vec![store("a")]) });
        let [alarm] = &verdict.alarms[..] else { panic!("{:?}", verdict.alarms) };
        assert_eq!((alarm.code, alarm.count), (Code::ConfigurationRefused, 1));
        assert_eq!((verdict.state, alarm.since, &alarm.store), (State::Warning, Some(ago(5)), &None));
        let english = Locale::of(Language::English);
        let (said, next) = (alarm.text.message(english), alarm.text.next(english).unwrap());
        assert!(said.ends_with(&format!(": stores/loja-1.toml:2: x{said_of_others}")), "{said}");
        assert!(next.contains("espelho check") && next.contains("reload"), "{next}");
    }
}

// withstands: F154
#[test]
fn a_lock_table_that_is_too_small_leads_to_the_check_that_asks_the_database() {
    let first = text!("run-lock-table", stores = 13_000, found = "64", needed = "260");
    let refused_configuration =
        Some(RefusedConfiguration { since: ago(5), mistakes: 1, first, found_in: FoundIn::Database });
    let verdict = decide(&Observations { refused_configuration, ..seen(vec![store("a")]) });
    for locale in Language::ALL.map(Locale::of) {
        let next = verdict.alarms[0].text.next(locale).unwrap();
        assert!(
            next.contains("max_locks_per_transaction = 260") && next.ends_with("espelho doctor"),
            "{next}"
        );
        assert!(!next.contains("espelho check"), "{next}");
    }
}
