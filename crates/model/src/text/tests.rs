use std::collections::{BTreeMap, BTreeSet};

use fluent_syntax::ast::{self, Entry, Expression, InlineExpression, Pattern, PatternElement};

use super::*;

const BOTH: [Locale; 2] = [
    Locale { language: Language::Portuguese, timezone: Tz::America__Sao_Paulo },
    Locale { language: Language::English, timezone: Tz::America__Sao_Paulo },
];

/// Returns every message and attribute of a language, with the arguments that it names.
pub(super) fn messages(language: Language) -> BTreeMap<String, BTreeSet<String>> {
    let mut all = BTreeMap::new();
    for file in catalogue::FILES {
        let parsed = fluent_syntax::parser::parse(catalogue::source(language, file));
        let resource = parsed.unwrap_or_else(|(_, errors)| panic!("{} in {language}: {errors:?}", file.0));
        for entry in resource.body {
            let Entry::Message(message) = entry else { continue };
            let value = message.value.iter().map(|value| (message.id.name.to_owned(), value));
            let attributes = message
                .attributes
                .iter()
                .map(|attribute| (format!("{}.{}", message.id.name, attribute.id.name), &attribute.value));
            for (id, pattern) in value.chain(attributes) {
                let mut names = BTreeSet::new();
                of_pattern(pattern, &mut names);
                assert!(all.insert(id.clone(), names).is_none(), "{id} stands twice in {language}");
            }
        }
    }
    all
}

fn of_pattern(pattern: &Pattern<&str>, names: &mut BTreeSet<String>) {
    for element in &pattern.elements {
        let PatternElement::Placeable { expression } = element else { continue };
        match expression {
            Expression::Inline(inline) => of_inline(inline, names),
            Expression::Select { selector, variants } => {
                of_inline(selector, names);
                variants.iter().for_each(|ast::Variant { value, .. }| of_pattern(value, names));
            }
        }
    }
}

fn of_inline(inline: &InlineExpression<&str>, names: &mut BTreeSet<String>) {
    if let InlineExpression::VariableReference { id } = inline {
        names.insert(id.name.to_owned());
    }
}

#[test]
fn every_message_is_there_in_both_languages_with_the_same_arguments() {
    let [portuguese, english] = Language::ALL.map(messages);
    let ids = |of: &BTreeMap<String, _>| of.keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(ids(&portuguese), ids(&english));
    for (id, names) in &portuguese {
        assert_eq!(names, &english[id], "the arguments of {id}");
    }
}

/// Returns the singular forms of a pattern that do not show the number that they are chosen by.
fn singulars_without_number(pattern: &Pattern<&str>) -> usize {
    let selects = pattern.elements.iter().filter_map(|element| match element {
        PatternElement::Placeable { expression: Expression::Select { selector, variants } } => {
            Some((selector, variants))
        }
        _ => None,
    });
    let count = |(selector, variants): (&InlineExpression<&str>, &Vec<ast::Variant<&str>>)| {
        let mut number = BTreeSet::new();
        of_inline(selector, &mut number);
        let is_singular = |variant: &&ast::Variant<&str>| matches!(&variant.key, ast::VariantKey::Identifier { name } if *name == "one");
        let is_silent = |variant: &&ast::Variant<&str>| {
            let mut shown = BTreeSet::new();
            of_pattern(&variant.value, &mut shown);
            number.is_disjoint(&shown)
        };
        variants.iter().filter(is_singular).filter(is_silent).count()
    };
    selects.map(count).sum()
}

#[test]
fn a_portuguese_singular_shows_its_number_because_zero_has_that_form_too() {
    for file in catalogue::FILES {
        let parsed = fluent_syntax::parser::parse(catalogue::source(Language::Portuguese, file));
        let resource = parsed.unwrap_or_else(|(_, errors)| panic!("{}: {errors:?}", file.0));
        for entry in resource.body {
            let Entry::Message(message) = entry else { continue };
            let patterns = message.value.iter().chain(message.attributes.iter().map(|next| &next.value));
            let silent: usize = patterns.map(singulars_without_number).sum();
            assert_eq!(silent, 0, "{}: write [1], or the number", message.id.name);
        }
    }
    for (id, zero) in [("page-fact-orders", "0 pedidos"), ("status-problems", "0 problemas")] {
        assert_eq!(Text::new(id).with("count", 0_u64).message(BOTH[0]), zero);
    }
}

#[test]
fn a_text_is_rendered_in_one_language_and_names_its_next_step() {
    let text = Text::new("alarm-service-stopped").with("seconds", Arg::Seconds(90));
    let [portuguese, english] = BOTH.map(|locale| (text.message(locale), text.next(locale).unwrap()));
    assert_ne!(portuguese, english);
    assert!(
        portuguese.1.contains("systemctl enable --now espelho")
            && english.1.contains("systemctl enable --now espelho")
    );
}

#[test]
fn every_command_for_the_unit_has_a_plain_one() {
    for file in catalogue::FILES {
        for line in Language::ALL.into_iter().flat_map(|language| catalogue::source(language, file).lines()) {
            let plain = crate::program::without_unit(line);
            let is_plain = !plain.contains("sudo systemctl") || plain.contains("systemctl edit espelho");
            assert!(is_plain, "{}: {plain}", file.0);
        }
    }
}

#[test]
fn an_unknown_message_is_shown_by_its_identifier() {
    let text = Text::new("there-is-none");
    assert_eq!(
        (text.message(BOTH[0]), text.next(BOTH[0]), text.is_known()),
        ("there-is-none".into(), None, false)
    );
}

#[test]
fn a_text_survives_the_database() {
    let text = Text::new("x").with("n", 3_u64).with("sku", "CAN-01").with("why", Text::new("y"));
    let kept = serde_json::to_string(&text).unwrap();
    assert_eq!(serde_json::from_str::<Text>(&kept).unwrap(), text);
}

#[test]
fn numbers_and_times_are_written_as_people_write_them() {
    let [pt, en] = BOTH;
    let amount = |text: &str| text.parse::<Decimal>().unwrap();
    for (exact, portuguese, english) in [
        ("1234.56", "R$ 1.234,56", "R$ 1,234.56"),
        ("0.5", "R$ 0,50", "R$ 0.50"),
        ("1234567", "R$ 1.234.567,00", "R$ 1,234,567.00"),
        ("-999", "R$ -999,00", "R$ -999.00"),
        ("12.345", "R$ 12,345", "R$ 12.345"),
    ] {
        assert_eq!((pt.money(amount(exact)), en.money(amount(exact))), (portuguese.into(), english.into()));
    }
    assert_eq!((pt.quantity(amount("47.000")), en.number(99_441)), ("47".into(), "99,441".into()));
    for (count, portuguese, english) in [
        (999_i64, "e mais 999", "and 999 more"),
        (2_938, "e mais 2.938", "and 2,938 more"),
        (1_000_000, "e mais 1.000.000", "and 1,000,000 more"),
    ] {
        let said = BOTH.map(|locale| Text::new("run-audit-more").with("more", count).message(locale));
        assert_eq!(said, [portuguese, english], "{count}");
    }
    // A number that people type as it is shown stays plain.
    let session = Text::new("alarm-database-busy-session").with("session", 12_345_i64);
    assert!(BOTH.iter().all(|locale| session.next(*locale).is_some_and(|next| next.contains("(12345)"))));
    let at = DateTime::parse_from_rfc3339("2026-01-31T02:05:00Z").unwrap().to_utc();
    assert_eq!((pt.time(at), en.time(at)), ("30/01/2026 23:05".into(), "2026-01-30 23:05".into()));
    for (ended, words) in [("09", "23:05:09"), ("09.001", "23:05:10"), ("59.999", "23:06:00")] {
        let at = DateTime::parse_from_rfc3339(&format!("2026-01-31T02:05:{ended}Z")).unwrap().to_utc();
        for locale in BOTH {
            let said = Text::new("doctor-login-limited").with("free_at", Arg::TimeOfDay(at)).message(locale);
            assert!(said.contains(words), "{ended}: {said}");
        }
    }
    for (seconds, words) in [(-5, "0 s"), (119, "119 s"), (120, "2 min"), (7_200, "2 h"), (172_800, "2 d")] {
        assert_eq!(pt.span(seconds), words);
    }
}

#[test]
fn a_count_has_thousands_separators_and_still_selects_its_plural() {
    for (count, portuguese, english) in [
        (1, "1 problema", "1 problem"),
        (999, "999 problemas", "999 problems"),
        (2_938, "2.938 problemas", "2,938 problems"),
    ] {
        let said = BOTH.map(|locale| Text::new("status-problems").with("count", count).message(locale));
        assert_eq!(said, [portuguese, english]);
    }
    let inner = Text::new("status-problems").with("count", 1_000_000);
    let outer = Text::new("words-other").with("word", inner);
    assert_eq!(outer.message(BOTH[0]), "1.000.000 problemas");
}

#[test]
fn tags_and_posix_locales_name_a_language() {
    for (tag, language) in [
        ("pt-BR", Some(Language::Portuguese)),
        ("pt_BR.UTF-8", Some(Language::Portuguese)),
        ("en_US.UTF-8", Some(Language::English)),
        ("EN", Some(Language::English)),
        ("C", None),
        ("de_DE", None),
        ("", None),
    ] {
        assert_eq!(Language::parse(tag), language, "{tag}");
    }
}
