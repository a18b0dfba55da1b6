//! The messages of both languages, parsed once.

use std::{borrow::Cow, collections::BTreeMap, sync::LazyLock};

use fluent_bundle::{
    FluentArgs, FluentResource, FluentValue,
    concurrent::FluentBundle,
    types::{FluentNumber, FluentNumberOptions},
};

use super::{Arg, Language, Locale, format};
use crate::program;

type Bundle = FluentBundle<FluentResource>;

/// Declares the files of the catalogue, once for both languages.
macro_rules! files {
    ($($area:literal),+ $(,)?) => {
        /// Area, Portuguese source, English source.
        pub(super) const FILES: &[(&str, &str, &str)] = &[$((
            $area,
            include_str!(concat!("../../texts/pt-BR/", $area, ".ftl")),
            include_str!(concat!("../../texts/en/", $area, ".ftl")),
        )),+];
    };
}

files![
    "alarms",
    "api",
    "check",
    "config",
    "copies",
    "database",
    "demo",
    "doctor",
    "engine",
    "errors",
    "explain",
    "files",
    "forget",
    "get",
    "help",
    "http",
    "init",
    "intents",
    "notices",
    "page",
    "place",
    "ports",
    "progress",
    "prune",
    "push",
    "rehearsal",
    "renewal",
    "run",
    "sandbox",
    "service",
    "status",
    "store",
    "symptom",
    "token",
    "value",
    "words"
];

static PORTUGUESE: LazyLock<Bundle> = LazyLock::new(|| bundle(Language::Portuguese));
static ENGLISH: LazyLock<Bundle> = LazyLock::new(|| bundle(Language::English));

/// Arguments whose numbers are names or are typed somewhere as they are shown: they have no thousands separators.
const PLAIN: [&str; 13] = [
    "column", "first", "found", "id", "least", "line", "most", "newest", "process", "rate", "seq", "session",
    "wanted",
];

pub(super) fn source(
    language: Language,
    (_, portuguese, english): &(&str, &'static str, &'static str),
) -> &'static str {
    match language {
        Language::Portuguese => portuguese,
        Language::English => english,
    }
}

fn bundle(language: Language) -> Bundle {
    // Both tags are well-formed.
    let mut bundle = Bundle::new_concurrent(language.tag().parse().into_iter().collect());
    // Isolation marks around arguments are for texts that mix directions; a terminal shows them as garbage.
    bundle.set_use_isolating(false);
    bundle.set_transform(Some(program::called));
    match language {
        Language::Portuguese => bundle.set_formatter(Some(portuguese_number)),
        Language::English => bundle.set_formatter(Some(english_number)),
    }
    for file in FILES {
        // A test checks that every file parses and that no identifier is repeated.
        let resource =
            FluentResource::try_new(source(language, file).to_owned()).unwrap_or_else(|(parsed, _)| parsed);
        bundle.add_resource_overriding(resource);
    }
    bundle
}

fn of(language: Language) -> &'static Bundle {
    match language {
        Language::Portuguese => &PORTUGUESE,
        Language::English => &ENGLISH,
    }
}

pub(super) fn has(id: &str) -> bool {
    of(Language::Portuguese).has_message(id)
}

/// Renders a message, or one of its attributes; `None` if it does not exist.
pub(super) fn render(
    id: &str,
    attribute: Option<&str>,
    args: &BTreeMap<Cow<'static, str>, Arg>,
    locale: Locale,
) -> Option<String> {
    let bundle = of(locale.language);
    let message = bundle.get_message(id)?;
    let pattern = match attribute {
        None => message.value()?,
        Some(attribute) => message.get_attribute(attribute)?.value(),
    };
    let values: FluentArgs<'_> =
        args.iter().map(|(name, arg)| (name.as_ref(), value(name, arg, locale))).collect();
    // A missing argument is shown by its name: a text with a gap is better than none.
    let mut errors = Vec::new();
    Some(bundle.format_pattern(pattern, Some(&values), &mut errors).into_owned())
}

fn portuguese_number<M>(value: &FluentValue<'_>, _: &M) -> Option<String> {
    number_in(Language::Portuguese, value)
}

fn english_number<M>(value: &FluentValue<'_>, _: &M) -> Option<String> {
    number_in(Language::English, value)
}

/// Returns a number with the thousands separators of a language; `None` for what Fluent shows by itself.
fn number_in(language: Language, value: &FluentValue<'_>) -> Option<String> {
    match value {
        FluentValue::Number(number) if number.options.use_grouping => {
            Some(format::grouped(&number.as_string(), language))
        }
        _ => None,
    }
}

fn value<'a>(name: &str, arg: &'a Arg, locale: Locale) -> FluentValue<'a> {
    match arg {
        Arg::Number(number) if PLAIN.contains(&name) => {
            let options = FluentNumberOptions { use_grouping: false, ..FluentNumberOptions::default() };
            FluentNumber { options, ..FluentNumber::from(*number) }.into()
        }
        Arg::Number(number) => FluentValue::from(*number),
        Arg::Word(word) => FluentValue::from(word.as_str()),
        Arg::Money(amount) => FluentValue::from(format::money(*amount, locale.language)),
        Arg::Quantity(quantity) => FluentValue::from(format::quantity(*quantity, locale.language)),
        Arg::Time(time) => FluentValue::from(format::local(*time, locale)),
        Arg::TimeOfDay(time) => FluentValue::from(format::time_of_day(*time, locale)),
        Arg::Seconds(seconds) => FluentValue::from(format::span(*seconds)),
        Arg::Text(text) => FluentValue::from(text.message(locale)),
        Arg::Next(text) => FluentValue::from(text.next(locale).unwrap_or_default()),
        Arg::List(texts) => {
            let all: Vec<String> = texts.iter().map(|text| text.message(locale)).collect();
            FluentValue::from(all.join(", "))
        }
    }
}
