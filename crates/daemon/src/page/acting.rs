//! The pages before an act: the question, and the login.

use askama::Template;
use espelho_model::{text, text::Text};

use super::{
    command::command_words,
    frame::{Fragment, Page, Reader, framed},
    record::{heading, row_words},
    words::{Words, encoded},
};
use crate::{
    acts::{Act, Asked, Preview, PreviewRow},
    terminal::shown,
};

/// The question before an act.
#[derive(Template)]
#[template(path = "confirm.html", whitespace = "minimize")]
struct Confirm {
    heading: String,
    /// Empty if there is nothing to ask about.
    question: String,
    rows: Vec<String>,
    more: Option<String>,
    command: String,
    /// The form's hidden fields; none if this reader may not act.
    fields: Vec<(&'static str, String)>,
    /// Why this reader may not act.
    refusal: Option<String>,
    /// The page to which a login leads, which is this one; `None` if a login would change nothing.
    login: Option<String>,
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

/// Returns the address of the question before an act. Which rows it is about by now, the question finds out itself.
pub(crate) fn question_address(asked: &Asked) -> String {
    if asked.act.is_empty() {
        return "/".to_owned();
    }
    let state = (!asked.state.is_empty()).then(|| ("state", asked.state.clone()));
    let pairs = fields(asked).into_iter().chain(state);
    let pairs: Vec<String> = pairs.map(|(name, value)| format!("{name}={}", encoded(&value))).collect();
    format!("/acao?{}", pairs.join("&"))
}

/// Renders the question before an act, or says why this reader may not do it.
pub(crate) fn confirm(asked: &Asked, act: &Act, preview: &Preview, reader: &Reader) -> Page {
    let words = Words(reader.locale);
    let is_possible = preview.count > 0;
    let login = (is_possible && reader.session.is_none() && reader.can_log_in).then(|| reader.path.clone());
    let (refusal, fields) = match (&reader.session, reader.can_log_in) {
        _ if !is_possible => (Some(words.say(&text!("page-act-nothing"))), Vec::new()),
        (Some(session), _) if session.role.may_act() => {
            let mut fields = fields(asked);
            // The act is done to what this question is about, and to nothing else.
            fields.extend(preview.state.map(|state| ("state", state.as_str().to_owned())));
            fields.extend(preview.seen.map(|seen| ("seen", espelho_model::time::fixed_width(seen))));
            fields.push(("csrf", session.csrf.clone()));
            (None, fields)
        }
        (Some(session), _) => {
            let said = text!("page-act-viewer", name = shown(&session.name));
            (Some(words.say(&said)), Vec::new())
        }
        (None, true) => (Some(words.say(&text!("page-act-login"))), Vec::new()),
        (None, false) => (Some(words.say(&text!("page-act-off"))), Vec::new()),
    };
    let hidden = preview.count.saturating_sub(preview.rows.len());
    let page = Confirm {
        heading: words.say(&heading(&asked.act)),
        question: if preview.count == 0 { String::new() } else { words.say(&preview.question) },
        rows: preview.rows.iter().map(|row| concerned(&asked.act, row, words)).collect(),
        more: (hidden > 0).then(|| words.say(&text!("page-and-more", count = hidden))),
        command: shown(&act.command),
        fields,
        refusal,
        login,
        words,
    };
    let title = format!("{} · espelho", page.heading);
    framed(title, "list", &[Fragment::new("confirm", &page)], false, reader)
}

/// Returns a row that an act would concern, with what it would do.
fn concerned(act: &str, row: &PreviewRow, words: Words) -> String {
    let name = row_words(act, &row.recorded, words);
    match &row.command {
        Some((intent, data)) => format!("{name}: {}", command_words(intent, data, words)),
        None => name,
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
