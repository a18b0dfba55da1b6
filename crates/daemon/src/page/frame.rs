//! The frame of every page: title, icon, menu, search, and the fragments between.

use askama::Template;
use espelho_model::{text, text::Locale};

use super::{
    assets::{self, SCRIPT, STYLE},
    rendered,
    words::Words,
};
use crate::sessions::Session;

/// Seconds until a page refreshes where no script does it.
const REFRESHES: u16 = 20;
/// Seconds until the script asks for the page again.
const RENEWS: u16 = 5;

/// The reader of a page, and what was asked.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    pub(crate) locale: Locale,
    /// The page's path with its query.
    pub(crate) path: String,
    /// True if the page stays as it is, instead of refreshing.
    pub(crate) is_paused: bool,
    /// The session of an operator who has logged in.
    pub(crate) session: Option<Session>,
    /// True if the installation has operators.
    pub(crate) can_log_in: bool,
}

/// A finished page.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) html: String,
    /// Changes with anything that the page shows.
    pub(crate) etag: String,
}

/// A part of a page that the script replaces by itself.
pub(super) struct Fragment {
    id: &'static str,
    html: String,
    etag: String,
}

impl Fragment {
    pub(super) fn new(id: &'static str, template: &impl Template) -> Self {
        let html = rendered(template);
        let etag = assets::digest(&html);
        Self { id, html, etag }
    }
}

/// An entry of the menu.
struct Entry {
    label: String,
    href: &'static str,
    is_here: bool,
}

#[derive(Template)]
#[template(path = "frame.html", whitespace = "minimize")]
struct Frame<'f> {
    title: String,
    icon: String,
    /// The icon while the service gives no answer.
    unknown_icon: String,
    fragments: &'f [Fragment],
    menu: Vec<Entry>,
    reader: &'f Reader,
    /// Absent: the page does not refresh.
    renewal: Option<Renewal>,
    words: Words,
    style: &'static str,
    script: &'static str,
}

/// How the page refreshes, and the link to the contrary.
struct Renewal {
    said: String,
    other: String,
    href: String,
    refreshes: u16,
    renews: u16,
}

/// Puts fragments into the frame. `state` chooses the tab's icon; a live page refreshes.
pub(super) fn framed(
    title: String,
    state: &str,
    fragments: &[Fragment],
    is_live: bool,
    reader: &Reader,
) -> Page {
    let frame = Frame {
        title,
        icon: assets::icon(state),
        unknown_icon: assets::icon("unknown"),
        fragments,
        menu: menu(reader),
        reader,
        renewal: is_live.then(|| Renewal::new(reader)),
        words: Words(reader.locale),
        style: &STYLE.name,
        script: &SCRIPT.name,
    };
    let html = rendered(&frame);
    let etag = format!("\"{}\"", assets::digest(&html));
    Page { html, etag }
}

fn menu(reader: &Reader) -> Vec<Entry> {
    let path = reader.path.split('?').next().unwrap_or_default();
    let entries = [
        ("/", text!("page-menu-now")),
        ("/pedidos", text!("page-orders")),
        ("/erros", text!("page-errors")),
        ("/fila", text!("page-queue")),
        ("/webhooks", text!("page-webhooks")),
        ("/acoes", text!("page-acts")),
    ];
    entries
        .into_iter()
        .map(|(href, label)| Entry {
            label: label.message(reader.locale),
            href,
            is_here: path == href || (href != "/" && path.starts_with(&format!("{href}/"))),
        })
        .collect()
}

impl Renewal {
    fn new(reader: &Reader) -> Self {
        let text = match reader.is_paused {
            true => text!("renewal-paused"),
            false => text!("renewal-renews", seconds = RENEWS),
        };
        let (path, query) = reader.path.split_once('?').unwrap_or((&reader.path, ""));
        let kept = query.split('&').filter(|pair| !pair.is_empty() && !pair.starts_with("pause"));
        let pause = (!reader.is_paused).then_some("pause=1");
        let query: Vec<&str> = pause.into_iter().chain(kept).collect();
        let href = if query.is_empty() { path.to_owned() } else { format!("{path}?{}", query.join("&")) };
        Self {
            said: text.message(reader.locale),
            other: text.next(reader.locale).unwrap_or_default(),
            href,
            refreshes: REFRESHES,
            renews: RENEWS,
        }
    }
}
