//! `espelho held`, `release`, `retry`, `ignore`: decisions of people about rows that are not done.

use espelho_model::{StoreKey, push::PushState, text, text::Text};
use espelho_store::{EffectState, IntentKind};
use espelho_sync_engine::{Problem, Trouble};
use serde_json::json;

use super::{
    prompt,
    reading::{Reading, named},
    say,
};
use crate::{
    cli::{Cli, DecideArgs, IntentArg},
    exit,
    terminal::shown,
};

/// A decision about rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// Lets a row pass the guards, once.
    Release,
    /// Tries a row again.
    Retry,
    /// Tries an ignored row again.
    BringBack,
    /// Does not try a row any more.
    Ignore,
}

/// A row that a decision concerns.
#[derive(Clone, Debug)]
struct Row {
    store: StoreKey,
    intent: IntentKind,
    key: String,
}

/// The result of a decision.
enum Decided {
    Rows(usize),
    /// Nobody has confirmed the decision for this many rows.
    Unconfirmed(usize),
}

pub(super) async fn held(cli: &Cli) -> u8 {
    let reading = match Reading::open(cli).await {
        Ok(reading) => reading,
        Err(code) => return code,
    };
    let rows = reading.store.releases().held_rows().await;
    reading.store.close().await;
    match rows {
        Ok(rows) if cli.json => {
            println!("{}", json!({ "held": rows }));
        }
        Ok(rows) if rows.is_empty() => println!("{}", text!("wishes-nothing-held").message(cli.locale)),
        Ok(rows) => rows.iter().for_each(|row| {
            let [key, error, hint] = [&row.key, &row.error, &row.hint].map(|text| shown(text));
            let next = text!("wishes-next-step", step = hint).message(cli.locale);
            println!("{} {} {key}\n  {error}\n  {next}", row.store, row.entity);
        }),
        Err(error) => return say(&Problem::from_store(&error), cli),
    }
    exit::COMPLETE
}

pub(super) async fn decide(cli: &Cli, decision: Decision, arguments: &DecideArgs) -> u8 {
    let reading = match Reading::open(cli).await {
        Ok(reading) => reading,
        Err(code) => return code,
    };
    let decided = decide_with(cli, &reading, decision, arguments).await;
    reading.store.close().await;
    match decided {
        Ok(Decided::Rows(count)) => {
            match (cli.json, count) {
                (true, _) => println!("{}", json!({ "state": "complete", "rows": count })),
                (false, 0) => println!("{}", text!("wishes-nothing-to-decide").message(cli.locale)),
                (false, _) => println!("{}", decision.done(count).message(cli.locale)),
            }
            exit::COMPLETE
        }
        Ok(Decided::Unconfirmed(count)) => {
            refuse(cli, &text!("wishes-needs-yes", rows = count), "unconfirmed")
        }
        Err(problem) => say(&problem, cli),
    }
}

fn refuse(cli: &Cli, text: &Text, code: &str) -> u8 {
    let (error, next) = (text.message(cli.locale), text.next(cli.locale).unwrap_or_default());
    eprintln!("✗ {error}\n  {next}");
    if cli.json {
        println!("{}", json!({"state": "failed", "errors": [{"code": code, "error": error, "hint": next}]}));
    }
    exit::CONFIGURATION
}

async fn decide_with(
    cli: &Cli,
    reading: &Reading,
    decision: Decision,
    arguments: &DecideArgs,
) -> Result<Decided, Problem> {
    if let Some(word) = arguments.entity.and_then(IntentArg::quarantined) {
        return retry_set_aside(reading, decision, arguments, word).await;
    }
    let rows = match (arguments.entity.and_then(IntentArg::intent), &arguments.key) {
        (Some(entity), Some(key)) => {
            match named(&reading.configuration, arguments.store.as_deref())?.as_slice() {
                [store] => vec![Row { store: store.clone(), intent: entity, key: key.clone() }],
                _ => return Err(which_store()),
            }
        }
        _ => {
            let rows = all(reading, decision, arguments).await?;
            if decision.asks()
                && !rows.is_empty()
                && !confirmed(cli, reading, decision, arguments, &rows).await?
            {
                return Ok(Decided::Unconfirmed(rows.len()));
            }
            rows
        }
    };
    let (state, lifts) = decision.makes();
    let mut count = 0;
    for Row { store, intent, key } in rows {
        let found = reading.store.releases().decide(&store, intent, &key, state, lifts).await;
        count += usize::from(found?);
    }
    if count == 0 && arguments.key.is_some() {
        return Err(no_such_row());
    }
    Ok(Decided::Rows(count))
}

/// Lets what was set aside be worked on again: one input, or all of a kind.
async fn retry_set_aside(
    reading: &Reading,
    decision: Decision,
    arguments: &DecideArgs,
    word: &str,
) -> Result<Decided, Problem> {
    if decision != Decision::Retry {
        return Err(Problem::of(Trouble::Configuration, "usage", text!("wishes-retry-only")));
    }
    let stores = named(&reading.configuration, arguments.store.as_deref())?;
    let quarantine = reading.store.quarantine();
    let inputs: Vec<(StoreKey, String)> = match (&arguments.key, stores.as_slice()) {
        (Some(key), [store]) => vec![(store.clone(), key.clone())],
        (Some(_), _) => return Err(which_store()),
        (None, _) => {
            let set_aside = quarantine.set_aside().await?;
            let meant =
                set_aside.into_iter().filter(|input| input.work == word && stores.contains(&input.store));
            meant.map(|input| (input.store, input.key)).collect()
        }
    };
    let mut count = 0;
    for (store, key) in inputs {
        count += usize::from(quarantine.retry(&store, word, &key).await?);
    }
    match count == 0 && arguments.key.is_some() {
        true => Err(no_such_row()),
        false => Ok(Decided::Rows(count)),
    }
}

/// Returns the rows that `--all` selects.
async fn all(reading: &Reading, decision: Decision, arguments: &DecideArgs) -> Result<Vec<Row>, Problem> {
    let stores = named(&reading.configuration, arguments.store.as_deref())?;
    let candidates: Vec<(String, IntentKind, String)> = match decision {
        Decision::BringBack => reading.store.intents().ignored_rows().await?,
        _ => {
            // Rows in doubt are decided one by one: a person who says "all" has checked none of them.
            let troubled = reading.store.releases().troubled_rows().await?;
            let meant = troubled.into_iter().filter(|row| decision.means(row.state));
            meant.map(|row| (row.store, row.intent, row.key)).collect()
        }
    };
    let mut rows = Vec::new();
    for (store, intent, key) in candidates {
        let is_meant = arguments.entity.is_none_or(|entity| entity.intent() == Some(intent));
        let Some(store) = stores.iter().find(|known| is_meant && known.as_str() == store) else { continue };
        let row = Row { store: store.clone(), intent, key };
        if decision != Decision::BringBack || !is_in_doubt(reading, &row).await? {
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Whether nothing proves the outcome of a command's calls: a retry would execute them twice.
async fn is_in_doubt(reading: &Reading, row: &Row) -> Result<bool, espelho_store::Error> {
    let (IntentKind::Command, Ok(id)) = (row.intent, row.key.parse()) else { return Ok(false) };
    let effects = reading.store.journal().effects_by_number(&row.store, id).await?;
    Ok(effects.iter().any(|effect| effect.state == EffectState::Doubtful))
}

/// Shows the rows that the decision concerns, and asks for confirmation.
async fn confirmed(
    cli: &Cli,
    reading: &Reading,
    decision: Decision,
    arguments: &DecideArgs,
    rows: &[Row],
) -> Result<bool, Problem> {
    for Row { store, intent, key } in rows {
        let answer = reading.store.intents().answer_of(store, *intent, key).await;
        let error = answer?.and_then(|answer| answer.error);
        eprintln!("{store} {} {}\n  {}", intent.as_str(), shown(key), shown(&error.unwrap_or_default()));
    }
    let question = decision.question(rows.len());
    Ok(arguments.yes || (prompt::is_possible() && prompt::confirms(&question, cli.locale)))
}

fn no_such_row() -> Problem {
    let text = text!("wishes-no-such-row");
    Problem::of(Trouble::Failure, "no_such_row", text)
}

fn which_store() -> Problem {
    Problem::of(Trouble::Configuration, "usage", text!("run-several-stores"))
}

impl Decision {
    /// Whether `--all` selects rows in this state.
    fn means(self, state: PushState) -> bool {
        match self {
            Self::Release => state == PushState::Held,
            Self::Retry => state == PushState::Failed,
            Self::Ignore => matches!(state, PushState::Held | PushState::Failed),
            Self::BringBack => state == PushState::Ignored,
        }
    }

    /// Whether `--all` needs confirmation: for rows that pass the guards, and for rows that are given up.
    fn asks(self) -> bool {
        matches!(self, Self::Release | Self::Ignore)
    }

    /// Returns the new state of the rows, and whether the guards let them pass.
    fn makes(self) -> (PushState, bool) {
        match self {
            Self::Release => (PushState::New, true),
            Self::Retry | Self::BringBack => (PushState::New, false),
            Self::Ignore => (PushState::Ignored, false),
        }
    }

    fn question(self, rows: usize) -> Text {
        match self {
            Self::Release => text!("wishes-decide-release", rows = rows),
            _ => text!("wishes-decide-ignore", rows = rows),
        }
    }

    fn done(self, rows: usize) -> Text {
        match self {
            Self::Release => text!("wishes-released", rows = rows),
            Self::Retry | Self::BringBack => text!("wishes-retried", rows = rows),
            Self::Ignore => text!("wishes-ignored-rows", rows = rows),
        }
    }
}
