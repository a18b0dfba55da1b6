//! Acts on the page: what a form asks for, the command line that does the same, what it would concern, and the doing.
//! Each is a decision of [`crate::decisions`], a replay or a pause, as the commands make them.

mod deed;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{
    Clock, StoreKey,
    next_step::{Rows, command_line, quoted},
    pause::PauseScope,
    program,
    push::PushState,
    text,
    text::Text,
};
use espelho_store::{DeliveryName, DeliverySelection, Error, IntentKind, NewAction, SeenRow, Store};
use serde::Deserialize;

use crate::{
    actions::on_record,
    decisions::{self, NAMED, Selection, change},
    pauses::{self, NewPause},
    replay::replay,
};

pub(crate) use deed::Deed;

/// The longest pause, as on the command line: thirty days.
const LONGEST_MINUTES: i64 = 30 * 24 * 60;

/// The fields of a form, by the names of the command line.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Asked {
    /// A [`Deed`]'s word, `replay`, `pause` or `resume`.
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
    /// The state of the rows that the question was about.
    pub(crate) state: String,
    /// When the newest of the rows that the question was about was last written or answered.
    pub(crate) seen: String,
}

/// An act.
#[derive(Clone, Debug, PartialEq)]
enum What {
    /// About one row.
    One {
        deed: Deed,
        intent: IntentKind,
        key: String,
    },
    /// About all rows in one state with one cause.
    OfCause {
        deed: Deed,
        state: PushState,
        code: String,
    },
    Replay(DeliverySelection),
    Pause {
        scope: PauseScope,
        minutes: i64,
    },
    Resume {
        scopes: Vec<PauseScope>,
    },
}

/// An act that can be done.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Act {
    what: What,
    word: &'static str,
    stores: Vec<StoreKey>,
    /// The store, if the form names one.
    store: Option<StoreKey>,
    /// The state of the row that was asked about, if the form says it.
    asked_state: Option<PushState>,
    /// When the newest of the rows that were asked about was last written or answered, if the form says it.
    seen: Option<DateTime<Utc>>,
    /// The command line that does the same.
    pub(crate) command: String,
}

/// A row that an act would concern.
pub(crate) struct PreviewRow {
    /// The row's words in the record.
    pub(crate) recorded: String,
    /// A command's kind with its key, and its data: for the question alone. They may be about a person, and what is done is
    /// recorded.
    pub(crate) command: Option<(String, String)>,
}

impl From<String> for PreviewRow {
    fn from(recorded: String) -> Self {
        Self { recorded, command: None }
    }
}

/// The rows that an act would concern.
pub(crate) struct Preview {
    /// The question that comes before it.
    pub(crate) question: Text,
    pub(crate) count: usize,
    /// The first of the rows.
    pub(crate) rows: Vec<PreviewRow>,
    /// The state of the rows of the ERP.
    pub(crate) state: Option<PushState>,
    /// When the newest of them was last written or answered; `None` if the act is about no rows of the ERP.
    pub(crate) seen: Option<DateTime<Utc>>,
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
            word => {
                let deed = Deed::parse(word)?;
                (deed.word(), decided(deed, asked)?)
            }
        };
        // One row is a row of one store.
        if matches!(&what, What::One { .. }) && store.is_none() {
            return None;
        }
        let command = command(&what, word, store.as_ref(), &asked.only);
        let (asked_state, seen) = (asked.state.parse().ok(), asked.seen.parse().ok());
        Some(Self { what, word, stores, store, asked_state, seen, command })
    }

    /// Returns what the act would concern now.
    pub(crate) async fn preview(&self, store: &Store, clock: &dyn Clock) -> Result<Preview, Error> {
        let rows = self.rows(store).await?;
        self.preview_of(&rows, store, clock).await
    }

    async fn preview_of(
        &self,
        concerned: &[SeenRow],
        store: &Store,
        clock: &dyn Clock,
    ) -> Result<Preview, Error> {
        let state = self.state_of(concerned);
        let newest = concerned.iter().filter_map(|row| row.updated_at).max();
        let seen = (!concerned.is_empty()).then(|| newest.unwrap_or_else(|| clock.now()));
        let (count, rows, question) = match &self.what {
            What::One { deed, .. } | What::OfCause { deed, .. } => {
                // A command that was in doubt when it was ended is brought back like any other.
                let may_have_happened = state == Some(PushState::Doubtful)
                    || *deed == Deed::BringBack
                        && concerned.iter().any(|row| row.intent == IntentKind::Command);
                let mut rows = Vec::new();
                for row in concerned.iter().take(NAMED) {
                    rows.push(preview_row(store, row).await?);
                }
                (concerned.len(), rows, deed.question(concerned.len(), may_have_happened))
            }
            What::Replay(selection) => {
                let found = replay(store, &self.stores, selection, true).await?;
                let count = usize::try_from(found.matching - found.waiting).unwrap_or(usize::MAX);
                let name = |row: &espelho_store::DeliveryRow| {
                    format!("{} {} {}", row.store, row.id, row.event.as_deref().unwrap_or("?"))
                };
                let handled = found.first.iter().filter(|row| row.handled_at.is_some());
                (
                    count,
                    handled.map(|row| name(row).into()).collect(),
                    text!("page-act-replay", count = count),
                )
            }
            What::Pause { scope, minutes } => {
                let rows: Vec<PreviewRow> = self.stores.iter().map(|key| key.to_string().into()).collect();
                let scope = Text::new(format!("word-pause-{}", scope.as_str()));
                let question = text!("page-act-pause", count = rows.len(), scope = scope, minutes = *minutes);
                (rows.len(), rows, question)
            }
            What::Resume { scopes } => {
                let lasting = pauses::lasting(store, &self.stores, scopes, clock.now()).await?;
                let rows: Vec<PreviewRow> = lasting.iter().map(|pause| pauses::name(pause).into()).collect();
                let count = rows.len();
                (count, rows, text!("page-act-resume", count = count))
            }
        };
        let mut rows: Vec<PreviewRow> = rows;
        rows.truncate(NAMED);
        Ok(Preview { question, count, rows, state, seen })
    }

    /// Does it, and records it: who, when, and what was so before and after. Returns the number of the record;
    /// `None` if the rows are no longer those that the question was about.
    pub(crate) async fn perform(
        &self,
        store: &Store,
        clock: &dyn Clock,
        actor: &str,
    ) -> Result<Option<i64>, Error> {
        let Some(concerned) = self.as_asked(self.rows(store).await?) else { return Ok(None) };
        let before = match &self.what {
            What::One { .. } | What::OfCause { .. } => decisions::recorded(store, &concerned).await?,
            What::Replay(_) | What::Pause { .. } | What::Resume { .. } => {
                let preview = self.preview_of(&concerned, store, clock).await?;
                let more = preview.count.saturating_sub(preview.rows.len());
                let more = (more > 0).then(|| format!("… {more}"));
                let lines = preview.rows.into_iter().map(|row| row.recorded).chain(more);
                lines.collect::<Vec<_>>().join("\n")
            }
        };
        let action = NewAction {
            actor: actor.to_owned(),
            act: self.word.to_owned(),
            store: self.store.as_ref().map(ToString::to_string).unwrap_or_default(),
            command: self.command.clone(),
            before,
        };
        let (id, count) = on_record(store, &action, self.done(&concerned, store, clock, actor)).await?;
        tracing::info!(actor, command = self.command, rows = count, "an operator acted on the page");
        Ok(Some(id))
    }

    /// Returns those of the rows that the question was about; `None` if it is to be asked anew: the row is another by now,
    /// or none of a cause is as it was. Rows that came or changed since are left alone. A deed that fits one state alone
    /// says itself which state was asked about.
    fn as_asked(&self, mut rows: Vec<SeenRow>) -> Option<Vec<SeenRow>> {
        if rows.is_empty() {
            return Some(rows);
        }
        match &self.what {
            What::One { deed, .. } => {
                let is_same_state = match self.asked_state {
                    Some(asked) => self.state_of(&rows) == Some(asked),
                    None => matches!(deed, Deed::Release | Deed::Happened | Deed::BringBack),
                };
                let is_unchanged =
                    self.seen.is_none_or(|seen| rows.iter().all(|row| row.updated_at <= Some(seen)));
                (is_same_state && is_unchanged).then_some(rows)
            }
            What::OfCause { .. } => {
                rows.retain(|row| self.seen.is_some_and(|seen| row.updated_at <= Some(seen)));
                (!rows.is_empty()).then_some(rows)
            }
            What::Replay(_) | What::Pause { .. } | What::Resume { .. } => Some(rows),
        }
    }

    /// Returns the state of the rows of the ERP that the act is about.
    fn state_of(&self, rows: &[SeenRow]) -> Option<PushState> {
        match &self.what {
            What::One { .. } => rows.first().map(|row| row.state),
            What::OfCause { state, .. } => Some(*state),
            What::Replay(_) | What::Pause { .. } | What::Resume { .. } => None,
        }
    }

    async fn done(
        &self,
        rows: &[SeenRow],
        store: &Store,
        clock: &dyn Clock,
        actor: &str,
    ) -> Result<(u64, String), Error> {
        Ok(match &self.what {
            What::One { deed, .. } | What::OfCause { deed, .. } => {
                decisions::decide(store, deed.decision(), rows).await?
            }
            What::Replay(selection) => {
                (replay(store, &self.stores, selection, false).await?.replayed, "open".to_owned())
            }
            What::Pause { scope, minutes } => {
                let (scope, span) = (*scope, TimeDelta::minutes(*minutes));
                let pause = NewPause { stores: &self.stores, scope, since: clock.now(), span, by: actor };
                pause.begin(store).await?
            }
            What::Resume { scopes } => pauses::end(store, &self.stores, scopes).await?,
        })
    }

    /// Returns the rows of a decision as they are now; none for other acts.
    async fn rows(&self, store: &Store) -> Result<Vec<SeenRow>, Error> {
        match &self.what {
            What::One { deed, intent, key } => {
                let mut rows = Vec::new();
                // One row is a row of one store.
                for of in &self.stores {
                    let row = store.releases().seen_row(of.as_str(), *intent, key).await?;
                    rows.extend(row.filter(|row| deed.fits(row.state)));
                }
                Ok(rows)
            }
            What::OfCause { deed, state, code } => {
                let (stores, with_unknown_stores) = (&self.stores[..], self.store.is_none());
                let (code, state) = (Some(code.as_str()), Some(*state));
                let selection = Selection { stores, with_unknown_stores, intent: None, code, state };
                decisions::selected(store, deed.decision(), selection).await
            }
            _ => Ok(Vec::new()),
        }
    }
}

/// Returns a row of the ERP with what a level or price changes, or what a command asks for.
async fn preview_row(store: &Store, row: &SeenRow) -> Result<PreviewRow, Error> {
    let found = store.releases().intent_row(&row.store, row.intent, &row.key).await?;
    Ok(match row.intent {
        IntentKind::Command => {
            let command = found.and_then(|row| Some((row.intent?, row.data.unwrap_or_default())));
            PreviewRow { recorded: row.name(), command }
        }
        IntentKind::Stock | IntentKind::Price => {
            format!("{}{}", row.name(), found.as_ref().map(change).unwrap_or_default()).into()
        }
    })
}

/// Reads which rows a form means: one row or one cause, never everything. Rows in doubt are decided one by one.
fn decided(deed: Deed, asked: &Asked) -> Option<What> {
    match (asked.entity.as_str(), asked.key.as_str(), asked.causa.as_str()) {
        ("", "", code) if !code.is_empty() => {
            Some(What::OfCause { deed, state: state_of_group(deed, &asked.state)?, code: code.to_owned() })
        }
        (entity, key, _) if !key.is_empty() => {
            Some(What::One { deed, intent: entity.parse().ok()?, key: key.to_owned() })
        }
        _ => None,
    }
}

/// Returns the state of the rows that a deed concerns together. Where it fits several, the form says which of the lists
/// was shown.
fn state_of_group(deed: Deed, asked: &str) -> Option<PushState> {
    match deed {
        Deed::Retry => Some(PushState::Failed),
        Deed::Release => Some(PushState::Held),
        Deed::BringBack => Some(PushState::Ignored),
        Deed::Ignore => asked.parse().ok().filter(|state| deed.fits(*state)),
        // One by one.
        Deed::Happened => None,
    }
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
    let of_store = store.map(StoreKey::as_str);
    let only = Some(only).filter(|only| !only.is_empty());
    let mut words: Vec<String> = vec![program::call().to_owned()];
    let mut add = |more: &[&str]| words.extend(more.iter().map(|word| quoted(word)));
    match what {
        What::One { deed, intent, key } => {
            return command_line(deed.row_act(), Rows::One { entity: intent.as_str(), key }, of_store);
        }
        What::OfCause { deed, state, code } => {
            let line = command_line(deed.row_act(), Rows::OfGroup(*state, code), of_store);
            return if *deed == Deed::BringBack { format!("{line} --ignored") } else { line };
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
            return pauses::command_line(word, only, Some(&format!("{minutes}m")), of_store);
        }
        What::Resume { .. } => return pauses::command_line(word, only, None, of_store),
    }
    store.iter().for_each(|store| add(&["--store", store.as_str()]));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

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
                "state" => &mut asked.state,
                "seen" => &mut asked.seen,
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
            (
                "act=happened&entity=command&key=8&store=loja-1",
                Some("espelho ignore command 8 --store loja-1"),
            ),
            (
                "act=bring_back&entity=stock&key=A/1&store=loja-1",
                Some("espelho retry stock A/1 --store loja-1"),
            ),
            ("act=bring_back&causa=x", Some("espelho retry --all --code x --ignored")),
            ("act=ignore&causa=x&state=held", Some("espelho ignore --all --state held --code x")),
            ("act=ignore&causa=x&state=failed", Some("espelho ignore --all --state failed --code x")),
            // Which of the two lists was shown is not known.
            ("act=ignore&causa=x", None),
            ("act=ignore&causa=x&state=doubtful", None),
            ("act=happened&causa=x", None),
            ("act=retry&causa=x&entity=stock", None),
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

    const SEEN: &str = "2026-05-01T10:00:00Z";

    /// Rows in a state, each as old as said: seconds after the question.
    fn rows(state: PushState, ages: &[i64]) -> Vec<SeenRow> {
        let seen: DateTime<Utc> = SEEN.parse().unwrap();
        let row = |(number, age): (usize, &i64)| SeenRow {
            store: "loja-1".into(),
            intent: IntentKind::Command,
            key: (8 + number).to_string(),
            state,
            code: "x".into(),
            updated_at: Some(seen + TimeDelta::seconds(*age)),
        };
        ages.iter().enumerate().map(row).collect()
    }

    #[test]
    fn an_act_is_done_to_the_rows_that_were_asked_about_and_to_no_others() {
        use PushState::{Doubtful, Failed, Held, Ignored};
        const ONE: &str = "entity=command&key=8&store=loja-1";
        let known = [StoreKey::new("loja-1").unwrap()];
        for (form, state, ages, expected) in [
            (format!("act=retry&{ONE}&state=failed&seen={SEEN}"), Failed, &[0][..], Some(1)),
            (format!("act=retry&{ONE}&state=failed&seen={SEEN}"), Failed, &[1], None),
            (format!("act=retry&{ONE}&state=failed&seen={SEEN}"), Doubtful, &[0], None),
            (format!("act=retry&{ONE}&state=doubtful&seen={SEEN}"), Doubtful, &[-9], Some(1)),
            (format!("act=retry&{ONE}"), Failed, &[0], None),
            (format!("act=ignore&{ONE}&state=held"), Failed, &[0], None),
            (format!("act=release&{ONE}"), Held, &[0], Some(1)),
            (format!("act=release&{ONE}&seen={SEEN}"), Held, &[1], None),
            (format!("act=happened&{ONE}"), Doubtful, &[0], Some(1)),
            (format!("act=bring_back&{ONE}"), Ignored, &[0], Some(1)),
            // Nothing is left to be done.
            (format!("act=retry&{ONE}&state=failed&seen={SEEN}"), Failed, &[], Some(0)),
            (format!("act=release&causa=x&seen={SEEN}"), Held, &[0, -5], Some(2)),
            // Rows that came or changed since the question are left alone.
            (format!("act=release&causa=x&seen={SEEN}"), Held, &[0, -5, 1], Some(2)),
            (format!("act=release&causa=x&seen={SEEN}"), Held, &[1, 2], None),
            ("act=release&causa=x".to_owned(), Held, &[0], None),
            ("act=release&causa=x&seen=soon".to_owned(), Held, &[0], None),
        ] {
            let act = Act::read(&asked(&form), &known).unwrap();
            let done = act.as_asked(rows(state, ages)).map(|rows| rows.len());
            assert_eq!(done, expected, "{form} {ages:?}");
        }
    }

    #[test]
    fn a_row_without_a_time_is_as_old_as_any() {
        let act = Act::read(&asked(&format!("act=retry&causa=x&seen={SEEN}")), &[]).unwrap();
        let mut rows = rows(PushState::Failed, &[0]);
        rows[0].updated_at = None;
        assert_eq!(act.as_asked(rows).map(|rows| rows.len()), Some(1));
    }

    #[test]
    fn every_command_line_that_is_shown_is_one_that_the_command_line_takes() {
        for form in [
            "act=retry&causa=unknown_sku",
            "act=release&causa=x&store=loja-1",
            "act=happened&entity=command&key=8&store=loja-1",
            "act=bring_back&causa=x",
            "act=ignore&causa=x&state=held&store=loja-1",
            "act=bring_back&entity=stock&key=A/1&store=loja-1",
            "act=release&entity=stock&key=-10/1&store=loja-1",
            "act=replay&event=order.paid",
            "act=pause&minutes=60&store=loja-1",
            "act=resume&only=push",
        ] {
            let line = read(&asked(form)).unwrap();
            let parsed = crate::cli::Cli::try_parse_from(line.split(' '));
            assert!(parsed.is_ok(), "{line}: {parsed:?}");
        }
    }
}
