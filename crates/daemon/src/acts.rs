//! Acts on the page: what a form asks for, the command line that does the same, what it would concern, and the doing.
//! Each is a decision of [`crate::decisions`], a replay or a pause, as the commands make them.

use chrono::TimeDelta;
use espelho_model::{
    Clock, StoreKey,
    pause::{Pause, PauseScope},
    text,
    text::Text,
};
use espelho_store::{DeliveryName, DeliverySelection, Error, IntentKind, NewAction, Store};
use serde::Deserialize;

use crate::{
    decisions::{self, DecidedRow, Decision, Selection, change},
    replay::replay,
};

/// The rows that a record and a question name.
const NAMED: usize = 50;
/// The longest pause, as on the command line: thirty days.
const LONGEST_MINUTES: i64 = 30 * 24 * 60;

/// The fields of a form, by the names of the command line.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Asked {
    /// `retry`, `release`, `ignore`, `replay`, `pause` or `resume`.
    pub(crate) act: String,
    #[serde(alias = "code")]
    pub(crate) causa: String,
    pub(crate) store: String,
    pub(crate) entity: String,
    pub(crate) key: String,
    pub(crate) event: String,
    pub(crate) delivery: String,
    /// The scope of a pause.
    pub(crate) only: String,
    /// The minutes of a pause.
    pub(crate) minutes: String,
}

/// An act.
#[derive(Clone, Debug, PartialEq)]
enum What {
    Decide { decision: Decision, intent: Option<IntentKind>, key: Option<String>, code: Option<String> },
    Replay(DeliverySelection),
    Pause { scope: PauseScope, minutes: i64 },
    Resume { scopes: Vec<PauseScope> },
}

/// An act that can be done.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Act {
    what: What,
    word: &'static str,
    stores: Vec<StoreKey>,
    /// The store, if the form names one.
    store: Option<StoreKey>,
    /// The command line that does the same.
    pub(crate) command: String,
}

/// The rows that an act would concern.
pub(crate) struct Preview {
    /// The question that comes before it.
    pub(crate) question: Text,
    pub(crate) count: usize,
    /// The first of the rows.
    pub(crate) rows: Vec<String>,
}

impl Act {
    /// Reads what a form asks for; `None` if it makes no sense.
    pub(crate) fn read(asked: &Asked, known: &[StoreKey]) -> Option<Self> {
        let store = match asked.store.as_str() {
            "" => None,
            name => Some(known.iter().find(|key| key.as_str() == name)?.clone()),
        };
        let stores = store.clone().map_or_else(|| known.to_vec(), |store| vec![store]);
        let (word, what) = match asked.act.as_str() {
            "retry" => ("retry", decision(Decision::Retry, asked)?),
            "release" => ("release", decision(Decision::Release, asked)?),
            "ignore" => ("ignore", decision(Decision::Ignore, asked)?),
            "replay" => ("replay", What::Replay(deliveries(asked)?)),
            "pause" => {
                let minutes = asked.minutes.parse().ok().filter(|n| (1..=LONGEST_MINUTES).contains(n))?;
                ("pause", What::Pause { scope: scope(&asked.only)?, minutes })
            }
            "resume" => {
                let all = PauseScope::ALL.to_vec();
                let scopes = if asked.only.is_empty() { all } else { vec![scope(&asked.only)?] };
                ("resume", What::Resume { scopes })
            }
            _ => return None,
        };
        // One row is a row of one store.
        if matches!(&what, What::Decide { key: Some(_), .. }) && store.is_none() {
            return None;
        }
        let command = command(&what, word, store.as_ref(), &asked.only);
        Some(Self { what, word, stores, store, command })
    }

    /// Returns what the act would concern now.
    pub(crate) async fn preview(&self, store: &Store, clock: &dyn Clock) -> Result<Preview, Error> {
        let (count, rows, question) = match &self.what {
            What::Decide { decision, .. } => {
                let rows = self.rows(store).await?;
                let mut names = Vec::new();
                for row in rows.iter().take(NAMED) {
                    names.push(format!("{}{}", named(row), change_of(store, row).await?));
                }
                (rows.len(), names, question(*decision, rows.len()))
            }
            What::Replay(selection) => {
                let found = replay(store, &self.stores, selection, true).await?;
                let count = usize::try_from(found.matching - found.waiting).unwrap_or(usize::MAX);
                let name = |row: &espelho_store::DeliveryRow| {
                    format!("{} {} {}", row.store, row.id, row.event.as_deref().unwrap_or("?"))
                };
                let rows = found.first.iter().filter(|row| row.handled_at.is_some()).map(name).collect();
                (count, rows, text!("page-act-replay", count = count))
            }
            What::Pause { scope, minutes } => {
                let rows: Vec<String> = self.stores.iter().map(ToString::to_string).collect();
                let scope = Text::new(format!("word-pause-{}", scope.as_str()));
                let question = text!("page-act-pause", count = rows.len(), scope = scope, minutes = *minutes);
                (rows.len(), rows, question)
            }
            What::Resume { scopes } => {
                let now = clock.now();
                let recent = store.pauses().recent().await?;
                let ends = |pause: &&Pause| {
                    pause.lasts(now) && self.stores.contains(&pause.store) && scopes.contains(&pause.scope)
                };
                let lasting = recent.iter().filter(ends);
                let rows: Vec<String> =
                    lasting.map(|pause| format!("{} {}", pause.store, pause.scope.as_str())).collect();
                let count = rows.len();
                (count, rows, text!("page-act-resume", count = count))
            }
        };
        let mut rows: Vec<String> = rows;
        rows.truncate(NAMED);
        Ok(Preview { question, count, rows })
    }

    /// Does it, and records it: who, when, and what was so before and after. Returns how many rows it changed.
    pub(crate) async fn perform(&self, store: &Store, clock: &dyn Clock, actor: &str) -> Result<u64, Error> {
        let preview = self.preview(store, clock).await?;
        let more = preview.count.saturating_sub(preview.rows.len());
        let more = (more > 0).then(|| format!("… {more}"));
        let before: Vec<String> = preview.rows.into_iter().chain(more).collect();
        let action = NewAction {
            actor: actor.to_owned(),
            act: self.word.to_owned(),
            store: self.store.as_ref().map(ToString::to_string).unwrap_or_default(),
            command: self.command.clone(),
            before: before.join("\n"),
        };
        let id = store.actions().begin(&action).await?;
        let (count, after) = self.done(store, clock, actor).await?;
        store.actions().end(id, &after, count).await?;
        tracing::info!(actor, command = self.command, rows = count, "an operator acted on the page");
        Ok(count)
    }

    async fn done(&self, store: &Store, clock: &dyn Clock, actor: &str) -> Result<(u64, String), Error> {
        Ok(match &self.what {
            What::Decide { decision, .. } => {
                let rows = self.rows(store).await?;
                let count = decisions::decide(store, *decision, &rows).await?;
                (count as u64, decision.makes().0.as_str().to_owned())
            }
            What::Replay(selection) => {
                (replay(store, &self.stores, selection, false).await?.replayed, "open".to_owned())
            }
            What::Pause { scope, minutes } => {
                let since = clock.now();
                let until = since + TimeDelta::minutes(*minutes);
                let pause = |store: &StoreKey| Pause {
                    store: store.clone(),
                    scope: *scope,
                    since,
                    until,
                    paused_by: actor.to_owned(),
                };
                let pauses: Vec<Pause> = self.stores.iter().map(pause).collect();
                store.pauses().begin(&pauses).await?;
                (pauses.len() as u64, format!("paused until {}", espelho_model::time::fixed_width(until)))
            }
            What::Resume { scopes } => {
                (store.pauses().end(&self.stores, scopes).await?, "resumed".to_owned())
            }
        })
    }

    /// Returns the rows of a decision.
    async fn rows(&self, store: &Store) -> Result<Vec<DecidedRow>, Error> {
        match &self.what {
            What::Decide { intent: Some(intent), key: Some(key), .. } => {
                let row =
                    |of: &StoreKey| DecidedRow { store: of.to_string(), intent: *intent, key: key.clone() };
                Ok(self.stores.iter().map(row).collect())
            }
            What::Decide { decision, intent, code, .. } => {
                let with_unknown_stores = self.store.is_none();
                let (stores, intent, code) = (&self.stores, *intent, code.as_deref());
                let selection = Selection { stores, with_unknown_stores, intent, code };
                decisions::selected(store, *decision, selection).await
            }
            _ => Ok(Vec::new()),
        }
    }
}

/// Returns the question before a decision, to which a button is the answer.
fn question(decision: Decision, rows: usize) -> Text {
    match decision {
        Decision::Release => text!("page-act-release", count = rows),
        Decision::Retry | Decision::BringBack => text!("page-act-retry", count = rows),
        Decision::Ignore => text!("page-act-ignore", count = rows),
    }
}

/// Returns what a level or price changes. A command's words may be about a person, and what is done is recorded: they are
/// left out.
async fn change_of(store: &Store, row: &DecidedRow) -> Result<String, Error> {
    if row.intent == IntentKind::Command {
        return Ok(String::new());
    }
    let row = store.releases().intent_row(&row.store, row.intent, &row.key).await?;
    Ok(row.as_ref().map(change).unwrap_or_default())
}

fn named(row: &DecidedRow) -> String {
    format!("{} {} {}", row.store, row.intent.as_str(), row.key)
}

fn decision(decision: Decision, asked: &Asked) -> Option<What> {
    let some = |word: &str| (!word.is_empty()).then(|| word.to_owned());
    let intent = match asked.entity.as_str() {
        "" => None,
        word => Some(word.parse().ok()?),
    };
    let (key, code) = (some(&asked.key), some(&asked.causa));
    // A form means one row or one cause, never everything.
    let is_meant = (key.is_some() && intent.is_some()) || (key.is_none() && code.is_some());
    is_meant.then_some(What::Decide { decision, intent, key, code })
}

fn deliveries(asked: &Asked) -> Option<DeliverySelection> {
    let name = match asked.delivery.as_str() {
        "" => None,
        word => Some(DeliveryName::parse(word)?),
    };
    let event = (!asked.event.is_empty()).then(|| asked.event.clone());
    Some(DeliverySelection { name, since: None, event })
}

fn scope(word: &str) -> Option<PauseScope> {
    if word.is_empty() { Some(PauseScope::All) } else { word.parse().ok() }
}

/// Returns the command line that does the same.
fn command(what: &What, word: &str, store: Option<&StoreKey>, only: &str) -> String {
    let mut words: Vec<String> = vec!["espelho".to_owned()];
    let mut add = |more: &[&str]| words.extend(more.iter().map(|word| quoted(word)));
    match what {
        What::Decide { intent, key, code, .. } => {
            add(&[word]);
            intent.iter().for_each(|intent| add(&[intent.as_str()]));
            match key {
                Some(key) => add(&[key]),
                None => add(&["--all"]),
            }
            code.iter().for_each(|code| add(&["--code", code]));
        }
        What::Replay(DeliverySelection { name, event, .. }) => {
            add(&["webhook", "replay"]);
            match name {
                Some(DeliveryName::Id(id)) => add(&[&id.to_string()]),
                Some(DeliveryName::Digest(digest)) => add(&[digest]),
                None => add(&["--all"]),
            }
            event.iter().for_each(|event| add(&["--event", event]));
        }
        What::Pause { minutes, .. } => {
            add(&[word]);
            if !only.is_empty() {
                add(&["--only", only]);
            }
            add(&["--for", &format!("{minutes}m")]);
        }
        What::Resume { .. } => {
            add(&[word]);
            if !only.is_empty() {
                add(&["--only", only]);
            }
        }
    }
    store.iter().for_each(|store| add(&["--store", store.as_str()]));
    words.join(" ")
}

/// Returns a word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:@%+=,".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        // A control character has no place in a line that somebody copies into a terminal.
        false => {
            let word: String = word.chars().filter(|letter| !letter.is_control()).collect();
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(asked: &Asked) -> Option<String> {
        let known = ["loja-1", "loja-2"].map(|key| StoreKey::new(key).unwrap());
        Act::read(asked, &known).map(|act| act.command)
    }

    fn asked(pairs: &str) -> Asked {
        let mut asked = Asked::default();
        for (name, value) in pairs.split('&').filter_map(|pair| pair.split_once('=')) {
            let field = match name {
                "act" => &mut asked.act,
                "causa" => &mut asked.causa,
                "store" => &mut asked.store,
                "entity" => &mut asked.entity,
                "key" => &mut asked.key,
                "event" => &mut asked.event,
                "delivery" => &mut asked.delivery,
                "only" => &mut asked.only,
                "minutes" => &mut asked.minutes,
                other => panic!("{other}"),
            };
            value.clone_into(field);
        }
        asked
    }

    #[test]
    fn an_act_is_a_command_line_and_what_makes_no_sense_is_none() {
        for (form, expected) in [
            ("act=retry&causa=unknown_sku", Some("espelho retry --all --code unknown_sku")),
            ("act=release&causa=x&store=loja-1", Some("espelho release --all --code x --store loja-1")),
            (
                "act=ignore&entity=stock&key=A b/1&store=loja-1",
                Some("espelho ignore stock 'A b/1' --store loja-1"),
            ),
            ("act=replay&event=order.paid", Some("espelho webhook replay --all --event order.paid")),
            ("act=replay&delivery=7&store=loja-1", Some("espelho webhook replay 7 --store loja-1")),
            ("act=pause&minutes=60&store=loja-1", Some("espelho pause --for 60m --store loja-1")),
            ("act=resume&only=push", Some("espelho resume --only push")),
            ("act=retry", None),
            ("act=retry&entity=stock&key=A/1", None),
            ("act=retry&causa=x&store=loja-9", None),
            ("act=retry&entity=order&key=1&store=loja-1", None),
            ("act=pause&minutes=0", None),
            ("act=pause&minutes=999999999", None),
            ("act=pause&minutes=5&only=everything", None),
            ("act=replay&delivery=-1", None),
            ("act=forget&causa=x", None),
        ] {
            assert_eq!(read(&asked(form)).as_deref(), expected, "{form}");
        }
    }

    #[test]
    fn a_word_of_any_letters_is_one_word_of_a_command() {
        for (word, expected) in [
            ("unknown_sku", "unknown_sku"),
            ("CAN-01/1", "CAN-01/1"),
            ("", "''"),
            ("--all", "--all"),
            ("a b; rm -rf /", "'a b; rm -rf /'"),
            ("it's\n", "'it'\\''s'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
