//! One message, as JSON for programs and as text for people.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use espelho_model::{
    symptom::Symptom,
    text,
    text::{Arg, Locale, Text},
};
use serde::Serialize;

use super::Content;

/// The result of sending: the other side's answer, or the reason for which the message did not go out.
pub(crate) type Sent = Result<String, Unsent>;

/// The reason for which a message did not go out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unsent {
    /// Its kind, for people.
    pub(crate) symptom: Symptom,
    /// The words of a library, of the other side or of a program, for logs and programs.
    pub(crate) detail: String,
}

impl Unsent {
    /// Returns the reason with its kind.
    pub(crate) fn new(symptom: Symptom, detail: impl Into<String>) -> Self {
        Self { symptom, detail: detail.into() }
    }
}

/// A message. Its JSON is what webhooks and programs get (docs/NOTICES.md).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Message {
    /// Unique for each message; the same if it is sent again.
    pub id: String,
    /// The same for the message and its end.
    pub notice: String,
    /// `raised`, `ended` or `test`.
    pub event: &'static str,
    pub code: String,
    /// `warning` or `failing`.
    pub severity: String,
    /// The store, if it is one.
    pub store: Option<String>,
    /// The first twenty.
    pub stores: Vec<String>,
    pub stores_count: u64,
    pub count: u64,
    pub since: Option<DateTime<Utc>>,
    pub raised_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
    /// One line.
    pub title: String,
    pub text: String,
    pub next: String,
    pub host: String,
    pub version: &'static str,
    pub language: &'static str,
}

/// The facts of a message, apart from its content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About<'n> {
    pub notice: &'n str,
    pub code: &'n str,
    pub severity: &'n str,
    pub raised_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
    pub host: &'n str,
}

impl Message {
    /// Returns the message that something is wrong.
    pub(crate) fn raised(about: About<'_>, content: &Content, locale: Locale) -> Self {
        let title = match about.severity {
            "failing" => text!("notice-title-failing", what = content.title.as_str()),
            _ => text!("notice-title-warning", what = content.title.as_str()),
        };
        Self::of("raised", About { ended_at: None, ..about }, content, &title, locale)
    }

    /// Returns the message that it is over.
    pub(crate) fn ended(about: About<'_>, content: &Content, locale: Locale) -> Self {
        let title = text!("notice-title-ended", what = content.title.as_str());
        let ended_at = about.ended_at.unwrap_or(about.raised_at);
        let began = content.since.unwrap_or(about.raised_at).min(ended_at);
        let span = Arg::Seconds((ended_at - began).num_seconds());
        let said = text!("notice-ended", at = ended_at, span = span, text = content.text.as_str());
        let content = Content { text: said.message(locale), next: String::new(), ..content.clone() };
        Self::of("ended", about, &content, &title, locale)
    }

    /// Returns a message that tries a channel.
    pub(crate) fn test(channel: &str, id: &str, host: &str, at: DateTime<Utc>, locale: Locale) -> Self {
        let said = text!("notice-test", channel = channel, host = host);
        let content = Content {
            text: said.message(locale),
            next: said.next(locale).unwrap_or_default(),
            ..Content::default()
        };
        let about =
            About { notice: id, code: "test", severity: "warning", raised_at: at, ended_at: None, host };
        Self::of("test", about, &content, &text!("notice-title-test"), locale)
    }

    fn of(event: &'static str, about: About<'_>, content: &Content, title: &Text, locale: Locale) -> Self {
        let only = match (content.stores_count, &content.stores[..]) {
            (1, [store]) => Some(store.clone()),
            _ => None,
        };
        Self {
            id: format!("{}.{event}", about.notice),
            notice: about.notice.to_owned(),
            event,
            code: about.code.to_owned(),
            severity: about.severity.to_owned(),
            store: only,
            stores: content.stores.clone(),
            stores_count: content.stores_count,
            count: content.count,
            since: content.since,
            raised_at: about.raised_at,
            ended_at: about.ended_at,
            title: one_line(&title.message(locale)),
            text: content.text.clone(),
            next: content.next.clone(),
            host: about.host.to_owned(),
            version: env!("CARGO_PKG_VERSION"),
            language: locale.language.tag(),
        }
    }

    /// Returns the JSON.
    pub(crate) fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the text of a mail.
    pub(crate) fn body(&self, locale: Locale) -> String {
        let mut body = format!("{}\n", self.text);
        if !self.next.is_empty() {
            let _ = writeln!(body, "\n{}", text!("notice-next", next = self.next.as_str()).message(locale));
        }
        body.push('\n');
        if let Some(since) = self.since {
            let _ = writeln!(body, "{}", text!("notice-since", since = since).message(locale));
        }
        if !self.stores.is_empty() {
            let (named, more) = (self.stores.join(", "), self.stores_count - self.stores.len() as u64);
            let stores = match more {
                0 => text!("notice-stores", stores = named),
                more => text!("notice-stores-more", stores = named, more = more),
            };
            let _ = writeln!(body, "{}", stores.message(locale));
        }
        let sender = text!("notice-sender", host = self.host.as_str(), code = self.code.as_str());
        let _ = writeln!(body, "{}", sender.message(locale));
        body
    }
}

/// Returns a text as one line: it becomes a header.
fn one_line(text: &str) -> String {
    text.split(char::is_control).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_795_000_000 + second, 0).unwrap()
    }

    fn content() -> Content {
        Content {
            title: "loja-1: senha recusada".to_owned(),
            stores: vec!["loja-1".to_owned()],
            stores_count: 1,
            count: 1,
            since: Some(at(0)),
            text: "O marketplace recusa a senha.".to_owned(),
            next: "corrija a senha".to_owned(),
        }
    }

    fn about(severity: &str) -> About<'_> {
        About {
            notice: "n1",
            code: "credential_refused",
            severity,
            raised_at: at(20),
            ended_at: Some(at(7_200)),
            host: "erp-01",
        }
    }

    #[test]
    fn a_message_says_what_since_when_and_what_to_do_and_its_end_how_long_it_was() {
        let locale = Locale::default();
        let raised = Message::raised(about("failing"), &content(), locale);
        assert_eq!(raised.title, "[espelho] FALHA: loja-1: senha recusada");
        assert_eq!((raised.id.as_str(), raised.event, raised.ended_at), ("n1.raised", "raised", None));
        assert_eq!(raised.store.as_deref(), Some("loja-1"));
        let body = raised.body(locale);
        for words in ["O marketplace recusa a senha.", "corrija a senha", "loja-1", "erp-01", "18/11/2026"] {
            assert!(body.contains(words), "{words}: {body}");
        }
        let warning = Message::raised(about("warning"), &content(), locale);
        assert!(warning.title.starts_with("[espelho] AVISO: "), "{}", warning.title);
        let ended = Message::ended(about("failing"), &content(), locale);
        assert_eq!((ended.id.as_str(), ended.ended_at), ("n1.ended", Some(at(7_200))));
        assert!(ended.title.starts_with("[espelho] RESOLVIDO: ") && ended.text.contains("2 h"), "{ended:?}");
        assert!(ended.text.contains("recusa a senha") && ended.next.is_empty());
    }

    #[test]
    fn the_json_has_the_documented_keys() {
        let json: serde_json::Value =
            serde_json::from_str(&Message::raised(about("failing"), &content(), Locale::default()).json())
                .unwrap();
        let documented = include_str!("../../../../docs/NOTICES.md");
        for key in json.as_object().unwrap().keys() {
            assert!(documented.contains(&format!("| `{key}` |")), "docs/NOTICES.md says nothing of {key}");
        }
        assert_eq!(json["ended_at"], serde_json::Value::Null);
    }

    #[test]
    fn a_title_stays_one_line() {
        let odd = Content { title: "a\r\nBcc: x@y.test".to_owned(), ..content() };
        let title = Message::raised(about("failing"), &odd, Locale::default()).title;
        assert!(!title.contains(['\r', '\n']), "{title:?}");
    }
}
