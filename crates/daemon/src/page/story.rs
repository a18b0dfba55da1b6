//! The page of one thing: an order with everything about it, or a product, command or shipment. One timeline.

use askama::Template;
use chrono::{DateTime, Utc};
use espelho_model::{
    text,
    text::{Arg, Text},
};
use espelho_store::MirroredOrder;

use super::{
    frame::{Fragment, Page, Reader, framed},
    overview::NotFound,
    words::{Words, encoded, store_address},
};
use crate::{
    acts::quoted,
    knowledge::{self, Knowledge, support},
    mirrored_order,
    terminal::shown,
};

/// The content of the page of one thing.
pub(crate) struct Story<'s> {
    pub(crate) knowledge: &'s Knowledge,
    /// The mirrored order, if it is one.
    pub(crate) order: Option<&'s MirroredOrder>,
    /// The files of its labels: label, and whether the file is void.
    pub(crate) labels: &'s [(String, bool)],
    pub(crate) now: DateTime<Utc>,
}

/// An event of the timeline.
struct Moment {
    time: String,
    kind: &'static str,
    sign: &'static str,
    said: String,
    next: Option<String>,
}

/// A sentence on trouble, or on a wait that ends by itself.
struct Concern {
    said: String,
    next: Option<String>,
    is_bad: bool,
}

/// A list beside the timeline.
struct Part {
    title: String,
    lines: Vec<String>,
    none: String,
}

/// A label's file.
struct Label {
    name: String,
    href: String,
    is_void: bool,
}

#[derive(Template)]
#[template(path = "story.html", whitespace = "minimize")]
struct StoryPage {
    heading: String,
    store: String,
    store_href: String,
    status: Option<String>,
    state: String,
    troubles: Vec<Concern>,
    facts: Vec<String>,
    parts: Vec<Part>,
    labels: Vec<Label>,
    moments: Vec<Moment>,
    command: String,
    support: String,
    words: Words,
}

/// Renders the page of one thing.
pub(crate) fn story(seen: &Story<'_>, reader: &Reader) -> Page {
    let (knowledge, words) = (seen.knowledge, Words(reader.locale));
    let name = text!("explain-entity", entity = knowledge.entity.as_str(), key = shown(&knowledge.key));
    let heading = words.say(&name);
    let page = StoryPage {
        store: knowledge.store.to_string(),
        store_href: store_address(knowledge.store.as_str()),
        status: seen
            .order
            .and_then(|found| found.order.text("status"))
            .map(|status| words.order_status(status)),
        state: knowledge::head(knowledge, words.0),
        troubles: troubles(seen, words),
        facts: seen.order.map_or_else(Vec::new, |found| {
            mirrored_order::about(&found.order).iter().map(|fact| words.say(fact)).collect()
        }),
        parts: seen.order.map_or_else(Vec::new, |found| parts(found, words)),
        labels: labels(seen, words),
        moments: knowledge.told().iter().rev().map(|told| moment(told, words)).collect(),
        command: format!(
            "espelho explain {} {} --store {}",
            quoted(&knowledge.entity),
            quoted(&knowledge.key),
            knowledge.store
        ),
        support: support::block(knowledge),
        heading: heading.clone(),
        words,
    };
    let title = format!("{heading} · {} · espelho", knowledge.store);
    framed(title, "story", &[Fragment::new("story", &page)], true, reader)
}

/// Returns what waits, what is missing and what failed.
fn troubles(seen: &Story<'_>, words: Words) -> Vec<Concern> {
    let waits = |said: &Text| Concern { said: words.say(said), next: None, is_bad: false };
    let knowledge = seen.knowledge;
    let missing = knowledge.missing.iter().map(|missing| {
        let said = text!("page-missing", since = missing.since, count = missing.confirmations);
        waits(&said)
    });
    let waiting = knowledge.waiting.iter().map(|row| {
        let age = Arg::Seconds(row.since.map_or(0, |since| (seen.now - since).num_seconds()));
        let (reason, code) = (shown(&row.reason), row.code.as_str());
        waits(&text!("explain-waiting", age = age, reason = reason, code = code))
    });
    let errors = knowledge.errors.iter().map(|row| {
        let said = text!("explain-failed", error = shown(&row.error), code = row.code.as_str());
        let next = Some(shown(&row.hint)).filter(|hint| !hint.is_empty());
        Concern { said: words.say(&said), next, is_bad: true }
    });
    missing.chain(waiting).chain(errors).collect()
}

fn parts(found: &MirroredOrder, words: Words) -> Vec<Part> {
    let part = |section: mirrored_order::Section| Part {
        title: words.say(&section.title),
        lines: section.lines.iter().map(|line| words.say(line)).collect(),
        none: words.say(&text!("get-none")),
    };
    mirrored_order::sections(found).into_iter().map(part).collect()
}

fn labels(seen: &Story<'_>, words: Words) -> Vec<Label> {
    let order = encoded(&seen.knowledge.key);
    let label = |(label, is_void): &(String, bool)| Label {
        name: words.say(&text!("page-label", label = shown(label))),
        href: format!(
            "/pedidos/{order}/etiquetas/{}?store={}",
            encoded(label),
            encoded(seen.knowledge.store.as_str())
        ),
        is_void: *is_void,
    };
    seen.labels.iter().map(label).collect()
}

fn moment(told: &knowledge::Told, words: Words) -> Moment {
    let sign = match told.kind {
        "placed" | "moved" => "●",
        "delivered" => "↓",
        "mirrored" => "◇",
        "commanded" | "answered" => "↑",
        "called" => "→",
        "invoiced" | "replaced" => "§",
        "shipped" | "labelled" | "filed" => "▣",
        "taken" => "✓",
        _ => "✗",
    };
    Moment {
        time: words.0.time(told.at),
        kind: told.kind,
        sign,
        said: shown(&words.say(&told.text)),
        next: told.hint.as_ref().map(|hint| words.say(&text!("wishes-next-step", step = shown(hint)))),
    }
}

/// Renders the page about a thing that nothing is known of, with what is written much the same.
pub(crate) fn unknown_thing(asked: &str, reader: &Reader) -> Page {
    let words = Words(reader.locale);
    let search = format!("/busca?q={}", encoded(asked));
    not_found(
        &text!("page-unknown-thing", asked = shown(asked)),
        &text!("page-unknown-thing-next"),
        vec![(words.say(&text!("page-search")), search)],
        reader,
    )
}

/// Renders the page about a number that several stores have.
pub(crate) fn which_store(number: &str, stores: &[(String, String)], reader: &Reader) -> Page {
    let said = text!("page-several-stores", number = shown(number));
    not_found(&said, &text!("page-several-stores-next"), stores.to_vec(), reader)
}

/// Renders the page of an address that leads nowhere.
pub(crate) fn no_such_page(reader: &Reader) -> Page {
    let words = Words(reader.locale);
    let links = vec![(words.say(&text!("page-menu-now")), "/".to_owned())];
    not_found(&text!("page-not-found"), &text!("page-not-found-next"), links, reader)
}

/// Renders the page that is shown while the database does not answer.
pub(crate) fn unavailable(reader: &Reader) -> Page {
    let words = Words(reader.locale);
    let links = vec![(words.say(&text!("page-menu-now")), "/".to_owned())];
    not_found(&text!("page-unavailable"), &text!("page-unavailable-next"), links, reader)
}

fn not_found(said: &Text, next: &Text, links: Vec<(String, String)>, reader: &Reader) -> Page {
    let words = Words(reader.locale);
    let page = NotFound { said: words.say(said), next: words.say(next), links };
    let title = format!("{} · espelho", words.say(said));
    framed(title, "unknown", &[Fragment::new("missing", &page)], false, reader)
}
