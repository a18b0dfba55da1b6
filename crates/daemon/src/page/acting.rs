//! The pages of acts: the question that comes before one, the login, and what was done.

use askama::Template;
use espelho_model::{
    text,
    text::{Arg, Text},
};
use espelho_store::Action;

use super::{
    frame::{Fragment, Page, Reader, framed},
    sheet::{Cell, Sheet},
    words::{Words, encoded, store_address},
};
use crate::{
    acts::{Act, Asked, Preview},
    terminal::shown,
};

/// The question before an act.
#[derive(Template)]
#[template(path = "confirm.html", whitespace = "minimize")]
struct Confirm {
    heading: String,
    question: String,
    rows: Vec<String>,
    more: Option<String>,
    command: String,
    /// The form's hidden fields; none if this reader may not act.
    fields: Vec<(&'static str, String)>,
    /// Why this reader may not act, and where to go.
    refusal: Option<(String, Option<(String, String)>)>,
    words: Words,
}

#[derive(Template)]
#[template(path = "login.html", whitespace = "minimize")]
struct Login {
    heading: String,
    wrong: Option<String>,
    next: String,
    is_possible: bool,
    words: Words,
}

#[derive(Template)]
#[template(path = "acts.html", whitespace = "minimize")]
struct Acts {
    heading: String,
    done: Option<String>,
    sheet: Sheet,
    none: String,
}

/// Returns the fields of a form that asks for an act.
fn fields(asked: &Asked) -> Vec<(&'static str, String)> {
    let fields = [
        ("act", &asked.act),
        ("causa", &asked.causa),
        ("store", &asked.store),
        ("entity", &asked.entity),
        ("key", &asked.key),
        ("event", &asked.event),
        ("delivery", &asked.delivery),
        ("only", &asked.only),
        ("minutes", &asked.minutes),
    ];
    fields
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (name, value.clone()))
        .collect()
}

/// Renders the question before an act, or says why this reader may not do it.
pub(crate) fn confirm(asked: &Asked, act: &Act, preview: &Preview, reader: &Reader) -> Page {
    let words = Words(reader.locale);
    let (refusal, fields) = match (&reader.session, reader.can_log_in) {
        _ if preview.count == 0 => (Some((words.say(&text!("page-act-nothing")), None)), Vec::new()),
        (Some(session), _) if session.role.may_act() => {
            let mut fields = fields(asked);
            fields.push(("csrf", session.csrf.clone()));
            (None, fields)
        }
        (Some(session), _) => {
            let said = text!("page-act-viewer", name = shown(&session.name));
            (Some((words.say(&said), None)), Vec::new())
        }
        (None, true) => {
            let login = format!("/entrar?next={}", encoded(&reader.path));
            let link = (words.say(&text!("page-login")), login);
            (Some((words.say(&text!("page-act-login")), Some(link))), Vec::new())
        }
        (None, false) => (Some((words.say(&text!("page-act-off")), None)), Vec::new()),
    };
    let hidden = preview.count.saturating_sub(preview.rows.len());
    let page = Confirm {
        heading: words.say(&heading(&asked.act)),
        question: words.say(&preview.question),
        rows: preview.rows.iter().map(|row| shown(row)).collect(),
        more: (hidden > 0).then(|| words.say(&text!("page-and-more", count = hidden))),
        command: shown(&act.command),
        fields,
        refusal,
        words,
    };
    let title = format!("{} · espelho", page.heading);
    framed(title, "list", &[Fragment::new("confirm", &page)], false, reader)
}

fn heading(act: &str) -> Text {
    match act {
        "retry" => text!("page-mend-retry"),
        "release" => text!("page-mend-release"),
        "ignore" => text!("page-mend-ignore"),
        "replay" => text!("page-mend-replay"),
        "pause" => text!("page-mend-pause"),
        _ => text!("page-mend-resume"),
    }
}

/// Renders the login. `wrong` says why the last try failed.
pub(crate) fn login(next: &str, wrong: Option<&Text>, reader: &Reader) -> Page {
    let words = Words(reader.locale);
    let page = Login {
        heading: words.say(&text!("page-login")),
        wrong: wrong.map(|wrong| words.say(wrong)),
        next: next.to_owned(),
        is_possible: reader.can_log_in,
        words,
    };
    let title = format!("{} · espelho", page.heading);
    framed(title, "list", &[Fragment::new("login", &page)], false, reader)
}

/// Renders what was done, the newest first; `count` is what the reader has just done.
pub(crate) fn acts(actions: &[Action], count: Option<u64>, reader: &Reader) -> Page {
    let words = Words(reader.locale);
    let columns = [
        (text!("page-when"), false),
        (text!("page-who"), false),
        (text!("page-what"), false),
        (text!("status-store"), false),
        (text!("page-count"), true),
        (text!("page-before"), false),
        (text!("page-after"), false),
    ];
    let mut sheet = Sheet::new(&text!("page-acts"), &columns, words.0);
    sheet.rows.extend(actions.iter().map(|action| {
        let store = match action.new.store.as_str() {
            "" => Cell::new(words.say(&text!("status-all-stores"))),
            store => Cell::foreign(store).to(store_address(store)),
        };
        let under_way = || Cell::new(words.say(&text!("page-cut-short"))).toned("warning");
        vec![
            Cell::new(words.0.time(action.at)),
            Cell::foreign(&action.new.actor),
            Cell::new(words.say(&heading(&action.new.act))).with_note(Some(shown(&action.new.command))),
            store,
            Cell::new(action.count.map_or_else(|| "–".to_owned(), |count| words.number(count))),
            Cell::foreign(&cut(&action.new.before)),
            action.after.as_deref().map_or_else(under_way, Cell::foreign),
        ]
    }));
    let page = Acts {
        heading: words.say(&text!("page-acts")),
        done: count.map(|count| words.say(&text!("page-act-done", count = Arg::from(count)))),
        none: words.say(&text!("page-no-acts")),
        sheet,
    };
    let title = format!("{} · espelho", page.heading);
    framed(title, "list", &[Fragment::new("acts", &page)], false, reader)
}

/// Returns the first lines of a record.
fn cut(before: &str) -> String {
    let lines: Vec<&str> = before.lines().take(3).collect();
    let more = before.lines().count().saturating_sub(lines.len());
    let more = if more > 0 { format!(" … +{more}") } else { String::new() };
    format!("{}{more}", lines.join(" · "))
}
