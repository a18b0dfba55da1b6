//! The page of one thing: an order with everything about it, or a product, command or shipment. One timeline.

use askama::Template;
use chrono::{DateTime, Utc};
use espelho_model::{
    next_step::{RowAct, Rows, command_line},
    text,
    text::{Arg, Text},
};
use espelho_store::{MirroredLevel, MirroredOrder, MirroredProduct, QueuedRow};
use rust_decimal::Decimal;

use super::{
    frame::{Fragment, Page, Reader, framed},
    listing::intents,
    overview::NotFound,
    sentence::{Piece, marked},
    sheet::Sheet,
    words::{Words, encoded, store_address},
};
use crate::{
    knowledge::{self, Knowledge, support},
    mirrored_order,
    terminal::shown,
};

/// The content of the page of one thing.
pub(crate) struct Story<'s> {
    pub(crate) knowledge: &'s Knowledge,
    /// The mirrored order, if it is one.
    pub(crate) order: Option<&'s MirroredOrder>,
    /// The mirrored product, if it is one.
    pub(crate) product: Option<&'s MirroredProduct>,
    /// The ERP's rows about it that a person can decide about.
    pub(crate) rows: &'s [QueuedRow],
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
    next: Vec<Piece>,
}

/// A sentence on trouble, or on a wait that ends by itself.
struct Concern {
    said: String,
    next: Vec<Piece>,
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
    /// The rows to decide about; none if there are no such rows.
    acts: Option<Sheet>,
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
            .map(|status| words.order_status(status))
            .or_else(|| seen.product.map(|product| shown(&product.name)).filter(|name| !name.is_empty())),
        state: knowledge::head(knowledge, words.0),
        troubles: troubles(seen, words),
        acts: (!seen.rows.is_empty()).then(|| intents(seen.rows, &text!("page-to-decide"), words)),
        facts: seen.order.map_or_else(Vec::new, |found| {
            mirrored_order::about(&found.order).iter().map(|fact| words.say(fact)).collect()
        }),
        parts: match (seen.order, seen.product) {
            (Some(order), _) => parts(order, words),
            (None, Some(product)) => product_parts(product, words),
            (None, None) => Vec::new(),
        },
        labels: labels(seen, words),
        moments: knowledge.told().iter().rev().map(|told| moment(told, words)).collect(),
        command: command_line(
            RowAct::Look,
            Rows::One { entity: &knowledge.entity, key: &knowledge.key },
            Some(knowledge.store.as_str()),
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
    let waits = |said: &Text| Concern { said: words.say(said), next: Vec::new(), is_bad: false };
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
        let next = match row.hint.is_empty() {
            true => Vec::new(),
            false => marked(&words.say(&text!("status-next", step = shown(&row.hint)))),
        };
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

/// Returns what a product costs and how many there are.
fn product_parts(product: &MirroredProduct, words: Words) -> Vec<Part> {
    let unknown = || "–".to_owned();
    let money = |price: Option<Decimal>| price.map_or_else(unknown, |price| words.0.money(price));
    let quantity = |of: Option<Decimal>| of.map_or_else(unknown, |of| words.0.quantity(of));
    let say = |text: Text| words.say(&text);
    let sale =
        product.is_for_sale.map(|is| if is { text!("page-for-sale") } else { text!("page-not-for-sale") });
    let price = text!("page-product-price", price = money(product.price), unit = shown(&product.unit));
    let tier = |(from, price): &(i64, Option<Decimal>)| {
        say(text!("page-product-tier", from = *from, price = money(*price)))
    };
    let level = |level: &MirroredLevel| {
        let name = if level.name.is_empty() { &level.location } else { &level.name };
        say(text!(
            "page-product-level",
            location = shown(name),
            quantity = quantity(level.quantity),
            reserved = quantity(level.reserved),
            available = quantity(level.available)
        ))
    };
    let part =
        |title: Text, lines: Vec<String>| Part { title: say(title), lines, none: say(text!("get-none")) };
    let prices = [price].into_iter().chain(sale).map(say).chain(product.tiers.iter().map(tier));
    vec![
        part(text!("page-product-prices"), prices.collect()),
        part(text!("page-product-stock"), product.levels.iter().map(level).collect()),
    ]
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
        "was" | "decided" => "✎",
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
        next: told.hint.as_ref().map_or_else(Vec::new, |hint| {
            marked(&words.say(&text!("intents-next-step", step = shown(hint))))
        }),
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

/// Renders the answer to an address with the character NUL.
pub(crate) fn with_nul(reader: &Reader) -> Page {
    let words = Words(reader.locale);
    let links = vec![(words.say(&text!("page-menu-now")), "/".to_owned())];
    not_found(&text!("page-nul"), &text!("page-nul-next"), links, reader)
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
