//! The status page: one document in one language, without scripts or anything from elsewhere.

use std::fmt::Write as _;

use espelho_model::{
    text,
    text::{Arg, Locale, Text, words},
};

use super::{
    StatusSnapshot, StoreSnapshot, details,
    text::{proof, verdict},
};
use crate::alarms::ShownAlarm;

const STYLE: &str = include_str!("page.css");
/// The maximum number of alarms and stores listed, the failing ones first.
const LISTED: usize = 50;

/// Seconds until the page refreshes.
pub(crate) const RENEWS: u16 = 10;

/// Returns the page.
pub(crate) fn page(snapshot: &StatusSnapshot, is_paused: bool, locale: Locale) -> String {
    let mut body = String::with_capacity(16 << 10);
    renewal(&mut body, snapshot, is_paused, locale);
    head(&mut body, snapshot, locale);
    snapshot.alarms.iter().take(LISTED).for_each(|alarm| write_alarm(&mut body, alarm, locale));
    let mut stores: Vec<(&str, &StoreSnapshot)> =
        snapshot.stores.iter().map(|store| (snapshot.state_of(store), store)).collect();
    stores.sort_by_key(|(state, _)| ["failing", "warning", "unknown", "ok"].iter().position(|s| s == state));
    stores_table(&mut body, snapshot, &stores, locale);
    // A hub has thousands of stores: each row links to a page of its own.
    if let [(_, store)] = &stores[..] {
        details::write(&mut body, snapshot, store, locale);
    }
    document(&body, &title_of(snapshot, locale), locale)
}

/// Returns the page for an unknown store.
pub(crate) fn unknown(asked: &str, locale: Locale) -> String {
    let (none, all) = (text!("status-unknown-store", store = asked), text!("status-all-stores"));
    let body = format!(
        "<header><h1>espelho</h1></header><p>{} <a href=\"/\">{}</a></p>",
        escape(&none.message(locale)),
        escape(&all.message(locale))
    );
    document(&body, "espelho", locale)
}

/// Says that the page refreshes itself, with the link that stops it, or the reverse.
fn renewal(body: &mut String, snapshot: &StatusSnapshot, is_paused: bool, locale: Locale) {
    let store = match &snapshot.stores[..] {
        [store] => format!("&amp;store={}", escape(&store.store)),
        _ => String::new(),
    };
    let (text, link) = match is_paused {
        true => (text!("renewal-paused"), format!("?{}", store.trim_start_matches("&amp;"))),
        false => (text!("renewal-renews", seconds = RENEWS), format!("?pause=1{store}")),
    };
    let (said, other) = (text.message(locale), text.next(locale).unwrap_or_default());
    // Writing to a String cannot fail.
    let _ =
        write!(body, "<p class=\"renewal\">{} <a href=\"/{link}\">{}</a></p>", escape(&said), escape(&other));
}

fn title_of(snapshot: &StatusSnapshot, locale: Locale) -> String {
    let failing = snapshot.alarms.iter().filter(|alarm| alarm.is_failing()).count();
    let title = match (failing, snapshot.state.as_str()) {
        (0, "ok") => text!("status-page-title-ok"),
        (0, _) => text!("status-page-title-unknown"),
        (failing, _) => text!("status-page-title-failing", count = failing),
    };
    title.message(locale)
}

fn document(body: &str, title: &str, locale: Locale) -> String {
    format!(
        "<!doctype html>\n<html lang=\"{}\"><head><meta charset=\"utf-8\"><title>{}</title>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><style>{STYLE}</style></head>\
         <body><main>{body}</main><footer><a href=\"\">{}</a> · <a href=\"/status\">JSON</a> · \
         <a href=\"/metrics\">metrics</a> · <a href=\"/readyz?verbose\">readyz</a></footer></body></html>\n",
        locale.language.tag(),
        escape(title),
        escape(&text!("status-refresh").message(locale))
    )
}

fn head(body: &mut String, snapshot: &StatusSnapshot, locale: Locale) {
    let word = |text: Text| escape(&text.message(locale));
    let running = snapshot.service.started_at.map_or_else(
        || text!("status-stopped"),
        |started| text!("status-running", span = Arg::Seconds((snapshot.at - started).num_seconds())),
    );
    // Writing to a String cannot fail.
    let _ = write!(
        body,
        "<header><h1>espelho</h1><small>{} · {} · {}</small></header>\
         <p class=\"verdict {}\">{}</p><p class=\"proof\">{}</p>",
        escape(&snapshot.service.version),
        word(running),
        word(text!("status-as-of", time = snapshot.at)),
        snapshot.state,
        escape(&verdict(snapshot, locale)),
        escape(&proof(snapshot, locale))
    );
    for unproved in snapshot.unproved.iter().take(LISTED) {
        let _ = write!(body, "<p class=\"proof\">– {}</p>", escape(unproved));
    }
}

fn write_alarm(body: &mut String, alarm: &ShownAlarm, locale: Locale) {
    let since = alarm.since.map(|since| text!("status-since", time = since).message(locale));
    let _ = write!(
        body,
        "<div class=\"alarm{}\"><p>{} <code>{}</code> <small>{}</small></p>",
        if alarm.is_failing() { "" } else { " note" },
        escape(&alarm.text),
        escape(&alarm.code),
        escape(&since.unwrap_or_default())
    );
    if !alarm.next.is_empty() {
        let next = text!("status-next", step = alarm.next.as_str()).message(locale);
        let _ = write!(body, "<p>{}</p>", escape(&next));
    }
    body.push_str("</div>");
}

pub(super) fn title(body: &mut String, text: &Text, locale: Locale) {
    let _ = write!(body, "<h2>{}</h2>", escape(&text.message(locale)));
}

/// Opens a table with these columns; numbers are right-aligned.
pub(super) fn heads(body: &mut String, columns: &[(Text, bool)], locale: Locale) {
    body.push_str("<div class=\"scroll\" tabindex=\"0\"><table><tr>");
    for (text, number) in columns {
        let class = if *number { " class=\"n\"" } else { "" };
        let _ = write!(body, "<th scope=\"col\"{class}>{}</th>", escape(&text.message(locale)));
    }
    body.push_str("</tr>");
}

fn stores_table(
    body: &mut String,
    snapshot: &StatusSnapshot,
    stores: &[(&str, &StoreSnapshot)],
    locale: Locale,
) {
    title(body, &text!("status-stores"), locale);
    heads(
        body,
        &[
            (text!("status-store"), false),
            (text!("status-state"), false),
            (text!("status-last-run"), false),
            (words::resource("orders"), true),
            (words::resource("products"), true),
            (text!("status-lag"), true),
            (text!("status-inbox"), true),
            (text!("status-token"), true),
            (text!("status-budget"), true),
        ],
        locale,
    );
    stores.iter().take(LISTED).for_each(|(state, store)| store_row(body, snapshot, store, state, locale));
    body.push_str("</table></div>");
    if let Some(hidden) = stores.len().checked_sub(LISTED).filter(|hidden| *hidden > 0) {
        let more = text!("status-more-rows", count = hidden).message(locale);
        let _ = write!(body, "<p><small>{}: <a href=\"/status\">JSON</a></small></p>", escape(&more));
    }
}

fn store_row(
    body: &mut String,
    snapshot: &StatusSnapshot,
    store: &StoreSnapshot,
    state: &str,
    locale: Locale,
) {
    let word = |text: Text| escape(&text.message(locale));
    let dash = || "-".to_owned();
    let run = store.last_run.as_ref().map(|run| {
        let ended = run.finished_at.unwrap_or(run.started_at);
        let ago = text!("status-ago", span = Arg::Seconds((snapshot.at - ended).num_seconds()));
        let told = format!("{}, {}", word(words::run_state(&run.state)), word(ago));
        // A run writes its numbers at its end.
        let collectors = run.finished_at.map(|_| {
            text!("status-run-figures", seen = run.seen, changed = run.changed, failed = run.failed)
        });
        let collectors = collectors.map(|collectors| format!("<br><small>{}</small>", word(collectors)));
        told + &collectors.unwrap_or_default()
    });
    let budget = store.budget.as_ref().map(|budget| format!("{} / {}", budget.held, budget.per_minute));
    let token = store.token_expires_at.map(|end| locale.span((end - snapshot.at).num_seconds()));
    let key = escape(&store.store);
    let _ = write!(
        body,
        "<tr><td class=\"short\"><b><a href=\"/?store={key}\">{key}</a></b></td>\
         <td class=\"short {state}\">{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
         <td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
        word(Text::new(format!("status-state-{state}"))),
        run.unwrap_or_else(dash),
        local_count(store, "orders"),
        local_count(store, "products"),
        store.lag_seconds.map_or_else(dash, |lag| locale.span(lag)),
        store.inbox.backlog,
        token.unwrap_or_else(dash),
        budget.unwrap_or_else(dash)
    );
}

/// Returns the number of rows in the mirror now.
fn local_count(store: &StoreSnapshot, resource: &str) -> String {
    let row = store.resources.iter().find(|row| row.resource == resource);
    row.map_or_else(|| "-".to_owned(), |row| row.local.to_string())
}

/// Escapes text for an element and for a quoted attribute.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Language;

    use super::*;
    use crate::status::specimen;

    // withstands: F131
    #[test]
    fn whatever_the_marketplace_says_is_shown_as_text() {
        let evil = "<script>alert(\"1\")</script>'&";
        let mut store = specimen::store("loja-1");
        store.holder.as_mut().unwrap().owner = evil.into();
        store.last_run.as_mut().unwrap().state = evil.into();
        let mut snapshot = specimen::snapshot(vec![store]);
        (snapshot.alarms, snapshot.unproved) = (vec![specimen::failing(None, evil)], vec![evil.into()]);
        let page = page(&snapshot, false, Locale::default());
        assert!(!page.contains("<script") && !page.contains("'&<"), "{page}");
        assert!(page.contains("&lt;script&gt;alert(&quot;1&quot;)"));
        assert!(!unknown(evil, Locale::default()).contains("<script"));
    }

    #[test]
    fn nothing_is_fetched_from_elsewhere_and_nothing_moves_under_the_reader() {
        let page = page(&specimen::snapshot(vec![specimen::store("loja-1")]), false, Locale::default());
        for word in ["http://", "https://", "src=", "<link", "@import", "url(", "<script", "http-equiv"] {
            assert!(!page.contains(word), "{word} in\n{page}");
        }
    }

    #[test]
    fn the_page_speaks_one_language_and_its_title_says_the_state() {
        let mut snapshot = specimen::snapshot(vec![specimen::store("loja-1")]);
        let [pt, en] = Language::ALL.map(|language| page(&snapshot, false, Locale::of(language)));
        assert!(pt.contains("lang=\"pt-BR\"") && pt.contains("tudo em dia") && !pt.contains("all is well"));
        assert!(en.contains("lang=\"en\"") && en.contains("all is well") && !en.contains("em dia"));
        snapshot.alarms = vec![specimen::failing(None, "x")];
        assert!(
            page(&snapshot, false, Locale::default()).contains("<title>✗ espelho: 1 com problema</title>")
        );
    }

    #[test]
    fn what_fails_stands_first() {
        let mut snapshot = specimen::snapshot(vec![specimen::store("loja-1"), specimen::store("loja-2")]);
        snapshot.alarms = vec![specimen::failing(Some("loja-2"), "sem resposta")];
        let page = page(&snapshot, false, Locale::default());
        let at = |words: &str| page.find(words).unwrap_or_else(|| panic!("no {words:?} in\n{page}"));
        assert!(at("class=\"alarm\"") < at("<h2>Lojas"));
        assert!(at(">loja-2</a></b></td>") < at(">loja-1</a></b></td>"));
    }
}
