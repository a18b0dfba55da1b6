//! `espelho held`, `release`, `retry`, `ignore`: what people decide about rows that are not done.

use espelho_model::{StoreKey, push::PushState};
use espelho_store::{HeldRow, TroubledRow, Wanted};
use espelho_sync_engine::{Problem, Trouble};
use serde_json::json;

use super::{
    errors::shown,
    reading::{Reading, named},
    say,
};
use crate::{
    cli::{Cli, DecideArgs},
    exit,
};

/// What is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// Past the guards, once.
    Release,
    /// Looked at anew.
    Retry,
    /// Never again.
    Ignore,
}

pub(super) async fn held(cli: &Cli) -> u8 {
    let reading = match Reading::open(cli).await {
        Ok(reading) => reading,
        Err(code) => return code,
    };
    let rows = reading.store.held_rows().await;
    reading.store.close().await;
    match rows {
        Ok(rows) if cli.json => {
            let rows: Vec<_> = rows
                .iter()
                .map(|HeldRow { store, entity, key, error, hint }| {
                    json!({ "store": store, "entity": entity, "key": key, "error": error, "hint": hint })
                })
                .collect();
            println!("{}", json!({ "held": rows }));
        }
        Ok(rows) if rows.is_empty() => println!("nada retido / nothing is held"),
        Ok(rows) => rows.iter().for_each(|row| {
            let [key, error, hint] = [&row.key, &row.error, &row.hint].map(|text| shown(text));
            println!("{} {} {key}", row.store, row.entity);
            println!("  causa / cause: {error}\n  próximo passo / next step: {hint}");
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
    let decided = decide_with(&reading, decision, arguments).await;
    reading.store.close().await;
    match decided {
        Ok(count) => {
            match cli.json {
                true => println!("{}", json!({ "state": "complete", "rows": count })),
                false => println!("{count} {}", decision.done()),
            }
            exit::COMPLETE
        }
        Err(problem) => say(&problem, cli),
    }
}

async fn decide_with(
    reading: &Reading,
    decision: Decision,
    arguments: &DecideArgs,
) -> Result<usize, Problem> {
    let stores = named(&reading.configuration, arguments.store.as_deref())?;
    let of_store = |error| Problem::from_store(&error);
    let rows: Vec<(StoreKey, Wanted, String)> = match (arguments.entity, &arguments.key) {
        (Some(entity), Some(key)) => match stores.as_slice() {
            [store] => vec![(store.clone(), entity.wanted(), key.clone())],
            _ => return Err(which_store()),
        },
        (entity, _) => {
            let troubled = reading.store.troubled_rows().await.map_err(of_store)?;
            // What is in doubt is decided one by one: whoever says "all" has looked at none of it.
            let meant = troubled.into_iter().filter(|row| decision.means(row.state));
            let meant = meant.filter(|row| entity.is_none_or(|entity| entity.wanted() == row.wanted));
            let known = |row: &TroubledRow| stores.iter().find(|store| store.as_str() == row.store).cloned();
            meant.filter_map(|row| Some((known(&row)?, row.wanted, row.key))).collect()
        }
    };
    let (state, lifts) = match decision {
        Decision::Release => (PushState::New, true),
        Decision::Retry => (PushState::New, false),
        Decision::Ignore => (PushState::Ignored, false),
    };
    let mut count = 0;
    for (store, wanted, key) in rows {
        let found = reading.store.decide(&store, wanted, &key, state, lifts).await.map_err(of_store)?;
        count += usize::from(found);
    }
    if count == 0 && arguments.key.is_some() {
        return Err(Problem::worded(
            Trouble::Failure,
            "no_such_row",
            "no row with this key is failed, held or doubtful",
            "espelho errors shows those that are: use entity and key as they stand there",
        ));
    }
    Ok(count)
}

fn which_store() -> Problem {
    Problem::of(Trouble::Configuration, "usage", espelho_model::text!("run-several-stores"))
}

impl Decision {
    /// Whether `--all` means rows in this state.
    fn means(self, state: PushState) -> bool {
        match self {
            Self::Release => state == PushState::Held,
            Self::Retry => state == PushState::Failed,
            Self::Ignore => matches!(state, PushState::Held | PushState::Failed),
        }
    }

    fn done(self) -> &'static str {
        match self {
            Self::Release => "liberado(s) / released",
            Self::Retry => "para tentar de novo / to be tried again",
            Self::Ignore => "ignorado(s) / ignored",
        }
    }
}
