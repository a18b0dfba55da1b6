//! The status page: one document without scripts or anything from elsewhere. A header has it fetched again every ten
//! seconds ([`REFRESH`]), until its reader pauses it.

use std::{collections::HashSet, fmt::Write as _};

use espelho_model::{text, text::Locale};

use super::{
    Alarm, Health, Picture, StorePicture, details,
    words::{ago, count, span, state},
};

const STYLE: &str = include_str!("page.css");
/// Seconds between two fetches.
pub(crate) const REFRESH: u32 = 10;
const FAILING: &str = "falha<br><span class=\"en\" lang=\"en\">failing</span>";
const OK: &str = "em dia<br><span class=\"en\" lang=\"en\">ok</span>";
/// Alarms and stores that are listed at all, the failing ones first.
const LISTED: usize = 50;

/// How the page is looked at.
#[derive(Clone, Copy, Default)]
pub(crate) struct View<'v> {
    /// One store alone.
    pub store: Option<&'v str>,
    /// Whether it stays as it is.
    pub is_paused: bool,
    /// Its language.
    pub locale: Locale,
}

/// The page.
pub(crate) fn page(picture: &Picture, view: View<'_>) -> String {
    let mut body = String::with_capacity(16 << 10);
    head(&mut body, picture);
    picture.alarms.iter().take(LISTED).for_each(|alarm| write_alarm(&mut body, alarm));
    let failing: HashSet<&str> = picture
        .alarms
        .iter()
        .filter(|alarm| alarm.failing)
        .filter_map(|alarm| alarm.store.as_deref())
        .collect();
    let mut stores: Vec<(bool, &StorePicture)> =
        picture.stores.iter().map(|store| (failing.contains(store.store.as_str()), store)).collect();
    stores.sort_by_key(|(failing, _)| !failing);
    stores_table(&mut body, picture, &stores);
    // A hub has thousands: each leads to a page of its own.
    if let [(_, store)] = &stores[..] {
        details::write(&mut body, picture, store);
    }
    document(&body, view)
}

/// The page of a service whose database does not answer.
pub(crate) fn unavailable(error: &str, hint: &str) -> String {
    let alarm = Alarm {
        store: None,
        code: "database".into(),
        failing: true,
        pt: "o banco de dados não responde".into(),
        en: "the database does not answer".into(),
        cause: Some(error.into()),
        hint: hint.into(),
    };
    let mut body = String::from("<header><h1>espelho</h1></header>");
    write_alarm(&mut body, &alarm);
    document(&body, View::default())
}

/// The page for a store that there is not.
pub(crate) fn unknown(asked: &str) -> String {
    let body = format!(
        "<header><h1>espelho</h1></header><p>Não há loja <b>{0}</b>. <span class=\"en\" lang=\"en\">There is no store \
         {0}.</span> <a href=\"/\">Todas as lojas / all stores</a></p>",
        escape(asked)
    );
    document(&body, View::default())
}

fn document(body: &str, view: View<'_>) -> String {
    format!(
        "<!doctype html>\n<html lang=\"pt-BR\"><head><meta charset=\"utf-8\"><title>espelho</title>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><style>{STYLE}</style></head><body>\
         <main><p class=\"renewal\">{}</p>{body}</main><footer><a href=\"/status\">JSON</a> · \
         <a href=\"/metrics\">metrics</a> · <a href=\"/readyz?verbose\">readyz</a></footer></body></html>\n",
        renewal(view)
    )
}

/// Whether the page renews itself, and the way to the other: whoever reads it slowly, or by ear, stops it first.
fn renewal(view: View<'_>) -> String {
    let store = view.store.map(|store| format!("store={}", escape(store)));
    let address = |pause: Option<&str>| {
        let parts: Vec<&str> = [store.as_deref(), pause].into_iter().flatten().collect();
        format!("/?{}", parts.join("&amp;"))
    };
    let (text, address) = match view.is_paused {
        false => (text!("renewal-renews", seconds = REFRESH), address(Some("pause=1"))),
        true => (text!("renewal-paused"), address(None)),
    };
    let link = text.next(view.locale).unwrap_or_default();
    format!("{} <a href=\"{address}\">{}</a>", escape(&text.message(view.locale)), escape(&link))
}

fn head(body: &mut String, picture: &Picture) {
    let failing = picture.alarms.iter().filter(|alarm| alarm.failing).count() as u64;
    let (class, pt, en) = match picture.state {
        Health::Ok => ("ok", "Tudo em dia".to_owned(), "All is well".to_owned()),
        Health::Failing => {
            ("failing", count(failing, "problema", "problemas"), count(failing, "problem", "problems"))
        }
    };
    let running = picture.service.started_at.map_or(0, |started| (picture.at - started).num_seconds());
    // Writing to a String cannot fail.
    let _ = write!(
        body,
        "<header><h1>espelho</h1><small>{} · em execução há {} <span lang=\"en\">/ running</span> · {} UTC</small></header>\
         <p class=\"verdict {class}\">{} <span class=\"en\" lang=\"en\">{}</span></p>",
        escape(&picture.service.version),
        span(running),
        picture.at.format("%d/%m/%Y %H:%M:%S"),
        escape(&pt),
        escape(&en)
    );
}

fn write_alarm(body: &mut String, alarm: &Alarm) {
    let store = alarm.store.as_ref().map(|store| format!("<b>{}</b>: ", escape(store))).unwrap_or_default();
    let _ = write!(
        body,
        "<div class=\"alarm{}\"><p>{store}{} <span class=\"en\" lang=\"en\">{}</span> <code>{}</code></p>",
        if alarm.failing { "" } else { " note" },
        escape(&alarm.pt),
        escape(&alarm.en),
        escape(&alarm.code)
    );
    if let Some(cause) = &alarm.cause {
        let _ = write!(body, "<p><small>causa / cause:</small> {}</p>", escape(cause));
    }
    let _ = write!(body, "<p><small>próximo passo / next step:</small> {}</p></div>", escape(&alarm.hint));
}

pub(super) fn heads(body: &mut String, columns: &[(&str, &str, bool)]) {
    // A table that is wider than the screen is moved by the keyboard too.
    body.push_str("<div class=\"scroll\" tabindex=\"0\"><table><tr>");
    for (pt, en, number) in columns {
        let class = if *number { " class=\"n\"" } else { "" };
        let _ = write!(body, "<th{class}>{pt}<br><span class=\"en\" lang=\"en\">{en}</span></th>");
    }
    body.push_str("</tr>");
}

fn stores_table(body: &mut String, picture: &Picture, stores: &[(bool, &StorePicture)]) {
    body.push_str("<h2>Lojas <span class=\"en\" lang=\"en\">Stores</span></h2>");
    heads(
        body,
        &[
            ("Loja", "Store", false),
            ("Estado", "State", false),
            ("Última sincronização", "Last run", false),
            ("Pedidos aqui / lá", "Orders here / there", true),
            ("Produtos aqui / lá", "Products here / there", true),
            ("Atraso", "Lag", true),
            ("Fila", "Inbox", true),
            ("Token vence em", "Token ends in", true),
            ("Limite usado", "Budget used", true),
        ],
    );
    for (failing, store) in stores.iter().take(LISTED) {
        store_row(body, picture, store, *failing);
    }
    body.push_str("</table></div>");
    let hidden = stores.len().saturating_sub(LISTED);
    if hidden > 0 {
        let _ = write!(
            body,
            "<p><small>e mais {hidden} / and {hidden} more: <a href=\"/status\">JSON</a></small></p>"
        );
    }
}

fn store_row(body: &mut String, picture: &Picture, store: &StorePicture, failing: bool) {
    let run = store.last_run.as_ref().map_or_else(
        || "-".to_owned(),
        |run| {
            let when = ago(picture.at, run.finished_at.unwrap_or(run.started_at));
            let shown = format!("{}, {when}", escape(state(&run.state)));
            // The figures are written down in the end.
            match run.finished_at {
                None => shown,
                Some(_) => format!(
                    "{shown}<br><small>{} vistos / seen, {} mudados / changed, {} falhas / failed</small>",
                    run.seen, run.changed, run.failed
                ),
            }
        },
    );
    let (key, dash) = (escape(&store.store), || "-".to_owned());
    let budget = store.budget.as_ref().map(|budget| format!("{} / {}", budget.held, budget.per_minute));
    let token = store.token_expires_at.map(|end| span((end - picture.at).num_seconds()));
    let waiting = store.budget.as_ref().map(|budget| {
        let lanes =
            budget.waiting.iter().filter(|(_, n)| **n > 0).map(|(lane, n)| format!("{} {n}", escape(lane)));
        lanes.collect::<Vec<_>>().join(", ")
    });
    let _ = write!(
        body,
        "<tr><td class=\"short\"><b><a href=\"/?store={key}\">{key}</a></b></td><td class=\"short {}\">{}</td><td>{run}</td>\
         <td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
         <td class=\"n\">{}</td><td class=\"n\">{}{}</td></tr>",
        if failing { "failing" } else { "ok" },
        if failing { FAILING } else { OK },
        both_counts(store, "orders"),
        both_counts(store, "products"),
        store.lag_seconds.map_or_else(dash, span),
        store.inbox.backlog,
        token.unwrap_or_else(dash),
        budget.unwrap_or_else(dash),
        waiting
            .filter(|waiting| !waiting.is_empty())
            .map(|waiting| format!("<br><small>à espera / waiting: {waiting}</small>"))
            .unwrap_or_default()
    );
}

/// Rows here and there, of what was counted there.
fn both_counts(store: &StorePicture, resource: &str) -> String {
    let Some(row) = store.resources.iter().find(|row| row.resource == resource) else {
        return "-".to_owned();
    };
    let remote = row.remote.map_or_else(|| "-".to_owned(), |remote| remote.to_string());
    format!("{} / {remote}", row.local)
}

/// Text that is safe in an element and in a quoted attribute.
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
    use super::*;
    use crate::status::{Failures, specimen};

    // withstands: F131
    #[test]
    fn whatever_the_marketplace_says_is_shown_as_text() {
        let evil = "<script>alert(\"1\")</script>'&";
        let mut store = specimen::store("loja-1");
        store.problem = Some(format!("{evil}; {evil}"));
        store.holder.as_mut().unwrap().owner = evil.into();
        store.last_run.as_mut().unwrap().state = evil.into();
        store.failures = vec![Failures {
            entity: evil.into(),
            code: evil.into(),
            rows: 1,
            error: evil.into(),
            hint: evil.into(),
        }];
        let page = page(&specimen::picture(vec![store]), View::default());
        assert!(!page.contains("<script") && !page.contains("'&<"), "{page}");
        assert!(page.contains("&lt;script&gt;alert(&quot;1&quot;)"));
        assert!(!unavailable(evil, evil).contains("<script"));
    }

    #[test]
    fn nothing_is_fetched_from_elsewhere() {
        let page = page(&specimen::picture(vec![specimen::store("loja-1")]), View::default());
        for word in ["http://", "https://", "src=", "<link", "@import", "url(", "<script"] {
            assert!(!page.contains(word), "{word} in\n{page}");
        }
        assert!(!page.contains("http-equiv"), "who reads by ear is not thrown back to the start");
    }

    #[test]
    fn the_page_is_paused_where_it_is_and_goes_on_there() {
        for (store, is_paused, link) in [
            (None, false, "href=\"/?pause=1\">Pausar"),
            (Some("loja-1"), false, "href=\"/?store=loja-1&amp;pause=1\">Pausar"),
            (None, true, "href=\"/?\">Continuar"),
            (Some("loja-1"), true, "href=\"/?store=loja-1\">Continuar"),
        ] {
            let page = document("", View { store, is_paused, locale: Locale::default() });
            assert!(page.contains(link), "{link} in\n{page}");
        }
    }

    #[test]
    fn what_fails_stands_first() {
        let mut second = specimen::store("loja-2");
        second.problem = Some("no answer; wait".into());
        let page = page(&specimen::picture(vec![specimen::store("loja-1"), second]), View::default());
        let at = |words: &str| page.find(words).unwrap_or_else(|| panic!("no {words:?} in\n{page}"));
        assert!(at("class=\"alarm\"") < at("<h2>Lojas"));
        assert!(at(">loja-2</a></b></td>") < at(">loja-1</a></b></td>"));
    }
}
