//! Alarms of the configuration.

use super::*;

#[test]
fn a_configuration_that_a_reload_refused_is_a_warning_with_its_first_mistake() {
    for (mistakes, said_of_others) in [(1, ""), (2, " (and 1 more mistake)"), (3, " (and 2 more mistakes)")] {
        let first = Text::new("config-at").with("place", "stores/loja-1.toml:2").with("problem", "x");
        let refused_configuration = Some(RefusedConfiguration { since: ago(5), mistakes, first });
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
