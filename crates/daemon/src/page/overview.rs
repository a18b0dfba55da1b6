//! The first page, and the page of one store: the verdict with its proof, the four numbers, what is to be done, the
//! last hour of each store, pictures, and what is behind the scenes.

use std::collections::BTreeMap;

use askama::Template;
use chrono::{DateTime, Days, TimeDelta, Timelike as _, Utc};
use espelho_model::{
    text,
    text::{Arg, Locale, Text},
};
use espelho_store::{Bounds, Figures};

use super::{
    chart::{self, Bar, Deadlines, Heartbeat},
    details,
    frame::{Fragment, Page, Reader, framed},
    numbers::numbers,
    reading::unread,
    sheet::Sheet,
    todo::todo,
    words::{Words, encoded, store_address},
};
use crate::{
    alarms::{Hour, MINUTES},
    status::{StatusSnapshot, StoreSnapshot, long_queue, open_rows, proof, verdict},
    terminal::shown,
};

/// The stores that are listed, the failing ones first.
const LISTED: usize = 50;
/// The hours of a column of deadlines.
const COLUMN_HOURS: i64 = 3;
/// The seconds that the strip of a store shows.
const HOUR_SECONDS: i64 = 60 * MINUTES as i64;

/// The content of the page.
pub(crate) struct Overview<'o> {
    pub(crate) snapshot: &'o StatusSnapshot,
    /// Absent until they are counted for the first time.
    pub(crate) figures: Option<&'o Figures>,
    pub(crate) hours: &'o BTreeMap<String, Hour>,
    /// True if it is the page of the snapshot's only store.
    pub(crate) is_one_store: bool,
}

/// Returns the instants that divide the deadlines' columns: what is past, then the next day.
pub(crate) fn bounds(now: DateTime<Utc>) -> Bounds {
    std::array::from_fn(|n| now + TimeDelta::hours(COLUMN_HOURS * n as i64))
}

/// Returns the end of the reader's day.
pub(crate) fn end_of_day(now: DateTime<Utc>, locale: Locale) -> DateTime<Utc> {
    let tomorrow = now.with_timezone(&locale.timezone).date_naive().checked_add_days(Days::new(1));
    let midnight =
        tomorrow.and_then(|day| day.and_hms_opt(0, 0, 0)?.and_local_timezone(locale.timezone).earliest());
    // On a day without midnight (a change of the clocks), 24 hours are near enough.
    midnight.map_or(now + TimeDelta::days(1), |midnight| midnight.to_utc())
}

#[derive(Template)]
#[template(path = "verdict.html", whitespace = "minimize")]
struct Verdict {
    state: String,
    sign: &'static str,
    said: String,
    proof: String,
    about: String,
    /// The name of the page's store, and the way back.
    store: Option<(String, String)>,
    /// The act that pauses the page's store, and its address.
    pause: Option<(String, String)>,
}

/// A store with its last hour.
struct StoreRow {
    name: String,
    href: String,
    state: String,
    state_said: String,
    beat: Heartbeat,
    facts: Vec<String>,
}

#[derive(Template)]
#[template(path = "stores.html", whitespace = "minimize")]
struct Stores {
    title: String,
    rows: Vec<StoreRow>,
    /// The time axis of all hours: their beginning, their middle, and now.
    axis: [String; 3],
    legend: [(&'static str, String); 5],
    more: Option<String>,
}

#[derive(Template)]
#[template(path = "charts.html", whitespace = "minimize")]
struct Charts {
    statuses: Vec<Bar>,
    statuses_title: String,
    none: String,
    deadlines: Option<Deadlines>,
    lanes: Vec<Bar>,
    lanes_title: String,
    budget: Option<Budget>,
}

/// The requests of this minute.
struct Budget {
    said: String,
    width: u64,
}

#[derive(Template)]
#[template(path = "more.html", whitespace = "minimize")]
struct More {
    title: String,
    sheets: Vec<Sheet>,
    lines: Vec<String>,
}

#[derive(Template)]
#[template(path = "not_found.html", whitespace = "minimize")]
pub(super) struct NotFound {
    pub(super) said: String,
    pub(super) next: String,
    pub(super) links: Vec<(String, String)>,
}

/// Renders the first page, or the page of one store.
pub(crate) fn overview(seen: &Overview<'_>, reader: &Reader) -> Page {
    let (snapshot, words) = (seen.snapshot, Words(reader.locale));
    let state = match (&snapshot.stores[..], seen.is_one_store) {
        ([store], true) => snapshot.state_of(store),
        _ => &snapshot.state,
    };
    let only_store = snapshot.stores.first().filter(|_| seen.is_one_store).map(|store| store.store.as_str());
    let named = seen.figures.map(|figures| &figures.first_in_trouble[..]).unwrap_or_default();
    let fragments = [
        Fragment::new("verdict", &verdict_of(seen, state, words)),
        Fragment::new("numbers", &numbers(snapshot, seen.figures, only_store, words)),
        Fragment::new("todo", &todo(snapshot, named, words)),
        Fragment::new("stores", &stores(seen, words)),
        Fragment::new("charts", &charts(seen, words)),
        Fragment::new("more", &more(seen, words)),
    ];
    framed(title(seen, words), state, &fragments, true, reader)
}

/// Renders the page about a store that nobody has configured.
pub(crate) fn unknown_store(asked: &str, reader: &Reader) -> Page {
    let words = Words(reader.locale);
    let page = NotFound {
        said: words.say(&text!("status-unknown-store", store = shown(asked))),
        next: words.say(&text!("page-unknown-store-next")),
        links: vec![(words.say(&text!("status-all-stores")), "/".to_owned())],
    };
    let fragments = [Fragment::new("missing", &page)];
    framed(words.say(&text!("page-not-found")), "unknown", &fragments, false, reader)
}

/// Returns the verdict in words; a single alarm is named, and so are rows of the ERP that have waited for long.
fn headline(snapshot: &StatusSnapshot, words: Words) -> String {
    let verdict = verdict(snapshot, words.0);
    let verdict = match &snapshot.alarms[..] {
        [alarm] => format!("{verdict}: {}", shown(&words.say(&alarm.title()))),
        _ => verdict,
    };
    match long_queue(snapshot) {
        Some(queue) => format!("{verdict} · {}", words.say(&queue)),
        None => verdict,
    }
}

fn title(seen: &Overview<'_>, words: Words) -> String {
    let failing = seen.snapshot.alarms.iter().filter(|alarm| alarm.is_failing()).count();
    let warnings = seen.snapshot.alarms.len() - failing;
    let title = match (failing, warnings, seen.snapshot.state.as_str()) {
        (0, 0, "ok") => text!("status-page-title-ok"),
        (0, 0, _) => text!("status-page-title-unknown"),
        (0, warnings, _) => text!("page-title-warnings", count = warnings),
        (failing, _, _) => text!("status-page-title-failing", count = failing),
    };
    match (&seen.snapshot.stores[..], seen.is_one_store) {
        ([store], true) => format!("{} · {}", words.say(&title), shown(&store.store)),
        _ => words.say(&title),
    }
}

/// Returns the sign of a state: nobody has to see its colour.
fn sign(state: &str) -> &'static str {
    match state {
        "ok" => "✓",
        "failing" => "✗",
        "warning" => "!",
        _ => "?",
    }
}

fn verdict_of(seen: &Overview<'_>, state: &str, words: Words) -> Verdict {
    let (snapshot, locale) = (seen.snapshot, words.0);
    let running = snapshot.service.started_at.map_or_else(
        || text!("status-stopped"),
        |started| text!("status-running", span = Arg::Seconds((snapshot.at - started).num_seconds())),
    );
    let as_of = text!("status-as-of", time = snapshot.at);
    let about =
        format!("{} · {} · espelho {}", words.say(&as_of), words.say(&running), snapshot.service.version);
    let store = match (&snapshot.stores[..], seen.is_one_store) {
        ([store], true) => Some((shown(&store.store), words.say(&text!("status-all-stores")))),
        _ => None,
    };
    let pause = snapshot.stores.first().filter(|_| seen.is_one_store).map(|store| {
        let href = format!("/acao?act=pause&minutes=60&store={}", encoded(&store.store));
        (words.say(&text!("page-mend-pause")), href)
    });
    Verdict {
        pause,
        state: state.to_owned(),
        sign: sign(state),
        said: headline(snapshot, words),
        proof: proof(snapshot, locale),
        about,
        store,
    }
}

fn stores(seen: &Overview<'_>, words: Words) -> Stores {
    let snapshot = seen.snapshot;
    let mut stores: Vec<(&str, &StoreSnapshot)> =
        snapshot.stores.iter().map(|store| (snapshot.state_of(store), store)).collect();
    stores.sort_by_key(|(state, _)| ["failing", "warning", "unknown", "ok"].iter().position(|s| s == state));
    let hidden = stores.len().saturating_sub(LISTED);
    let row = |(state, store): &(&str, &StoreSnapshot)| StoreRow {
        name: shown(&store.store),
        href: store_address(&store.store),
        state: (*state).to_owned(),
        state_said: format!("{} {}", sign(state), words.state(state)),
        beat: chart::heartbeat(
            &shown(&store.store),
            seen.hours.get(&store.store).unwrap_or(&[None; MINUTES]),
            words,
        ),
        facts: facts(store, words),
    };
    Stores {
        title: words.say(&text!("page-hour")),
        rows: stores.iter().take(LISTED).map(row).collect(),
        axis: [words.ago(HOUR_SECONDS), words.ago(HOUR_SECONDS / 2), words.say(&text!("page-axis-now"))],
        legend: [
            ("b-ok", Text::new("page-key-proved")),
            ("b-warning", Text::new("page-key-warned")),
            ("b-failing", Text::new("page-key-failed")),
            ("b-unknown", Text::new("page-key-unproved")),
            ("b-none", Text::new("page-key-not-running")),
        ]
        .map(|(class, text)| (class, words.say(&text))),
        more: (hidden > 0).then(|| words.say(&text!("status-more-rows", count = hidden))),
    }
}

/// Returns what a store's row says beside its hour.
fn facts(store: &StoreSnapshot, words: Words) -> Vec<String> {
    let orders = store.resources.iter().find(|row| row.resource == "orders");
    let open = Some(open_rows(store)).filter(|open| *open > 0);
    let facts = [
        store.lag_seconds.map(|seconds| text!("page-fact-read", span = Arg::Seconds(seconds))),
        orders.map(|row| text!("page-fact-orders", count = row.local)),
        open.map(|open| text!("page-fact-open", count = open)),
        Some(text!("page-backlog", count = store.inbox.backlog)),
    ];
    facts.into_iter().flatten().map(|fact| words.say(&fact)).collect()
}

fn charts(seen: &Overview<'_>, words: Words) -> Charts {
    let statuses = seen.figures.map(|figures| &figures.by_status[..]).unwrap_or_default();
    let address = |status: &str| (!status.is_empty()).then(|| format!("/pedidos?status={}", encoded(status)));
    let status = |(status, orders): &(String, u64)| (words.order_status(status), address(status), *orders);
    let (mut held, mut per_minute) = (0_u64, 0_u64);
    let mut waiting = BTreeMap::<&str, u64>::new();
    for budget in seen.snapshot.stores.iter().filter_map(|store| store.budget.as_ref()) {
        (held, per_minute) = (held + u64::from(budget.held), per_minute + u64::from(budget.per_minute));
        for (lane, requests) in &budget.waiting {
            *waiting.entry(lane).or_default() += *requests as u64;
        }
    }
    let budget = (per_minute > 0).then(|| Budget {
        said: words.say(&text!(
            "status-budget-line",
            held = held,
            per_minute = per_minute,
            free = per_minute.saturating_sub(held)
        )),
        width: (held * 100).div_ceil(per_minute).min(100),
    });
    // No deadline of an order is known before orders are.
    let unread = unread(&seen.snapshot.stores);
    let figures = seen.figures.filter(|figures| unread.is_none() || !figures.by_status.is_empty());
    // Without any deadline an empty picture would say that something is overdue.
    let has_deadlines =
        |figures: &&Figures| figures.by_hour.iter().any(|(_, counts)| counts.iter().any(|count| *count > 0));
    let labels: Vec<String> = bounds(seen.snapshot.at)[1..].iter().map(|at| hour(*at, words.0)).collect();
    Charts {
        statuses: chart::bars(statuses.iter().map(status), words),
        statuses_title: words.say(&text!("page-statuses")),
        none: words.say(&unread.unwrap_or_else(|| text!("page-none"))),
        deadlines: figures.filter(has_deadlines).map(|figures| chart::deadlines(figures, &labels, words)),
        lanes: chart::bars(
            waiting.into_iter().map(|(lane, requests)| (words.lane(lane), None, requests)),
            words,
        ),
        lanes_title: words.say(&text!("page-lanes")),
        budget,
    }
}

/// Returns the hour of the day, as the label of a column.
fn hour(at: DateTime<Utc>, locale: Locale) -> String {
    let local = at.with_timezone(&locale.timezone);
    format!("{}h{:02}", local.hour(), local.minute())
}

fn more(seen: &Overview<'_>, words: Words) -> More {
    let (sheets, lines) = details::behind_the_scenes(seen.snapshot, words);
    More { title: words.say(&Text::new("page-behind")), sheets, lines }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::{specimen, wanted_specimen};

    #[test]
    fn open_rows_of_the_erp_are_a_fact_of_their_store_and_long_waits_part_of_the_verdict() {
        let words = Words(Locale::default());
        let mut store = specimen::store("loja-1");
        store.wanted = vec![wanted_specimen(0, 0, 0)];
        assert!(facts(&store, words).contains(&"3 linhas do ERP por enviar".to_owned()));
        assert_eq!(headline(&specimen::snapshot(vec![store.clone()]), words), "tudo em dia");
        store.wanted[0].oldest_open_seconds = Some(720);
        let said = headline(&specimen::snapshot(vec![store]), words);
        assert_eq!(said, "tudo em dia · 3 linhas do ERP esperam, a mais antiga há 12 min");
        assert_eq!(facts(&specimen::store("loja-1"), words).len(), 2, "nothing is open");
    }

    #[test]
    fn a_day_ends_at_the_readers_midnight() {
        let at = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
        let locale = Locale::default();
        assert_eq!(end_of_day(at("2026-11-27T02:59:59Z"), locale), at("2026-11-27T03:00:00Z"));
        assert_eq!(end_of_day(at("2026-11-27T03:00:00Z"), locale), at("2026-11-28T03:00:00Z"));
    }

    #[test]
    fn the_columns_of_deadlines_are_nine_and_end_a_day_later() {
        let now = DateTime::UNIX_EPOCH;
        let bounds = bounds(now);
        assert_eq!((bounds[0], bounds[8]), (now, now + TimeDelta::days(1)));
    }
}
