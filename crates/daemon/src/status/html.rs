//! The status page: one document in one language, without scripts or anything from elsewhere.
//!
//! The templates are in `crates/daemon/templates`; askama checks them at compile time and escapes what they show.

use askama::Template;
use chrono::{DateTime, Utc};
use espelho_model::{
    sync::Counts,
    text,
    text::{Arg, Locale, Text, words},
};

use super::{
    StatusSnapshot, StoreSnapshot,
    text::{proof, verdict},
};
use crate::alarms::ShownAlarm;

/// The maximum number of alarms and stores listed, the failing ones first.
const LISTED: usize = 50;

/// Seconds until the page refreshes.
pub(crate) const RENEWS: u16 = 10;

/// Returns the page.
pub(crate) fn page(snapshot: &StatusSnapshot, is_paused: bool, locale: Locale) -> String {
    let mut stores: Vec<(&str, &StoreSnapshot)> =
        snapshot.stores.iter().map(|store| (snapshot.state_of(store), store)).collect();
    stores.sort_by_key(|(state, _)| ["failing", "warning", "unknown", "ok"].iter().position(|s| s == state));
    // A hub has thousands of stores: each row links to a page of its own.
    let only_store = match &snapshot.stores[..] {
        [store] => Some(store),
        _ => None,
    };
    let (title, renewal) = (title_of(snapshot).message(locale), Renewal::new(only_store, is_paused, locale));
    rendered(&StatusPage { snapshot, stores, only_store, title, renewal, words: Words(locale) })
}

/// Returns the page for an unknown store.
pub(crate) fn unknown(asked: &str, locale: Locale) -> String {
    let said = text!("status-unknown-store", store = asked).message(locale);
    rendered(&UnknownStorePage { title: "espelho", said, words: Words(locale) })
}

fn rendered(page: &impl Template) -> String {
    // Writing to a String cannot fail.
    page.render().unwrap_or_else(|error| error.to_string())
}

fn title_of(snapshot: &StatusSnapshot) -> Text {
    let failing = snapshot.alarms.iter().filter(|alarm| alarm.is_failing()).count();
    match (failing, snapshot.state.as_str()) {
        (0, "ok") => text!("status-page-title-ok"),
        (0, _) => text!("status-page-title-unknown"),
        (failing, _) => text!("status-page-title-failing", count = failing),
    }
}

/// Says that the page refreshes itself, with the link that stops it, or the reverse.
struct Renewal {
    said: String,
    link: String,
    other: String,
}

impl Renewal {
    fn new(only_store: Option<&StoreSnapshot>, is_paused: bool, locale: Locale) -> Self {
        let store = only_store.map(|store| format!("store={}", store.store));
        let pause = (!is_paused).then(|| "pause=1".to_owned());
        let text = match is_paused {
            true => text!("renewal-paused"),
            false => text!("renewal-renews", seconds = RENEWS),
        };
        Self {
            said: text.message(locale),
            link: format!("?{}", pause.into_iter().chain(store).collect::<Vec<_>>().join("&")),
            other: text.next(locale).unwrap_or_default(),
        }
    }
}

/// The words of one language, for the templates.
pub(super) struct Words(pub(super) Locale);

impl Words {
    fn tag(&self) -> &'static str {
        self.0.language.tag()
    }

    fn say(&self, text: &Text) -> String {
        text.message(self.0)
    }

    fn state(&self, state: &str) -> String {
        self.say(&Text::new(format!("status-state-{state}")))
    }

    fn resource(&self, resource: &str) -> String {
        self.say(&words::resource(resource))
    }

    fn entity(&self, entity: &str) -> String {
        self.say(&words::entity(entity))
    }

    fn lane(&self, lane: &str) -> String {
        self.say(&words::lane(lane))
    }

    fn sweep(&self, sweep: &str) -> String {
        self.say(&words::sweep(sweep))
    }

    fn every(&self, seconds: &u64) -> String {
        self.0.span(i64::try_from(*seconds).unwrap_or(i64::MAX))
    }

    fn span(&self, seconds: &Option<i64>) -> String {
        seconds.map_or_else(|| "-".to_owned(), |seconds| self.0.span(seconds))
    }
}

#[derive(Template)]
#[template(path = "unknown_store.html", whitespace = "minimize")]
struct UnknownStorePage<'p> {
    title: &'p str,
    said: String,
    words: Words,
}

#[derive(Template)]
#[template(path = "status.html", whitespace = "minimize")]
pub(super) struct StatusPage<'p> {
    pub(super) snapshot: &'p StatusSnapshot,
    /// The stores with their states, the failing ones first.
    stores: Vec<(&'p str, &'p StoreSnapshot)>,
    /// The store that is shown in full, because it is the only one.
    only_store: Option<&'p StoreSnapshot>,
    title: String,
    renewal: Renewal,
    pub(super) words: Words,
}

impl StatusPage<'_> {
    fn running(&self) -> String {
        let running = self.snapshot.service.started_at.map_or_else(
            || text!("status-stopped"),
            |started| {
                text!("status-running", span = Arg::Seconds((self.snapshot.at - started).num_seconds()))
            },
        );
        self.words.say(&running)
    }

    fn as_of(&self) -> String {
        self.words.say(&text!("status-as-of", time = self.snapshot.at))
    }

    fn verdict(&self) -> String {
        verdict(self.snapshot, self.words.0)
    }

    fn proof(&self) -> String {
        proof(self.snapshot, self.words.0)
    }

    fn raised(&self, alarm: &ShownAlarm) -> String {
        alarm.since.map(|since| self.words.say(&text!("status-since", time = since))).unwrap_or_default()
    }

    fn next_step(&self, alarm: &ShownAlarm) -> String {
        self.words.say(&text!("status-next", step = alarm.next.as_str()))
    }

    /// Returns the state of the last run and its age.
    fn last_run(&self, store: &StoreSnapshot) -> String {
        let Some(run) = &store.last_run else { return "-".to_owned() };
        let ended = run.finished_at.unwrap_or(run.started_at);
        let ago = text!("status-ago", span = Arg::Seconds((self.snapshot.at - ended).num_seconds()));
        format!("{}, {}", self.words.say(&words::run_state(&run.state)), self.words.say(&ago))
    }

    /// Returns the numbers of the last run, which it writes at its end.
    fn run_figures(&self, store: &StoreSnapshot) -> Option<String> {
        let run = store.last_run.as_ref().filter(|run| run.finished_at.is_some())?;
        let Counts { seen, changed, failed, .. } = run.counts;
        Some(self.words.say(&text!("status-run-figures", seen = seen, changed = changed, failed = failed)))
    }

    /// Returns the number of rows in the mirror now.
    fn local_count(&self, store: &StoreSnapshot, resource: &str) -> String {
        let row = store.resources.iter().find(|row| row.resource == resource);
        row.map_or_else(|| "-".to_owned(), |row| row.local.to_string())
    }

    fn budget(&self, store: &StoreSnapshot) -> String {
        let budget = store.budget.as_ref().map(|budget| format!("{} / {}", budget.held, budget.per_minute));
        budget.unwrap_or_else(|| "-".to_owned())
    }

    /// Returns how many stores are not listed.
    fn more_rows(&self) -> Option<String> {
        let hidden = self.stores.len().checked_sub(LISTED).filter(|hidden| *hidden > 0)?;
        Some(self.words.say(&text!("status-more-rows", count = hidden)))
    }

    /// Returns the time since then.
    pub(super) fn since(&self, then: &Option<DateTime<Utc>>) -> String {
        self.words.span(&then.map(|then| (self.snapshot.at - then).num_seconds()))
    }

    /// Returns the time until then.
    fn until(&self, then: &Option<DateTime<Utc>>) -> String {
        self.words.span(&then.map(|then| (then - self.snapshot.at).num_seconds()))
    }
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
        assert!(page.contains("&#60;script&#62;alert(&#34;1&#34;)"));
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
