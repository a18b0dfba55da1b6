//! `espelho pause` and `resume`: the operator's hand on the brake.

use chrono::TimeDelta;
use espelho_model::{
    StoreKey,
    pause::{Pause, PauseScope},
    text,
    text::{Arg, Text},
};
use espelho_sync_engine::Problem;
use serde_json::{Value, json};

use super::{
    operator,
    reading::{Reading, named},
    say,
};
use crate::{
    cli::{Cli, PauseArg, PauseArgs, ResumeArgs},
    exit,
};

pub(super) async fn pause(cli: &Cli, arguments: &PauseArgs) -> u8 {
    let reading = match Reading::open(cli).await {
        Ok(reading) => reading,
        Err(code) => return code,
    };
    let done = begin(&reading, arguments).await;
    reading.store.close().await;
    match done {
        Ok(pauses) => {
            match cli.json {
                true => println!(
                    "{}",
                    json!({ "state": "complete", "pauses": pauses.iter().map(shown).collect::<Vec<_>>() })
                ),
                false => tell(&pauses, cli),
            }
            exit::COMPLETE
        }
        Err(problem) => say(&problem, cli),
    }
}

pub(super) async fn resume(cli: &Cli, arguments: &ResumeArgs) -> u8 {
    let reading = match Reading::open(cli).await {
        Ok(reading) => reading,
        Err(code) => return code,
    };
    let done = end(&reading, arguments).await;
    reading.store.close().await;
    match done {
        Ok((ended, left)) => {
            match cli.json {
                true => {
                    let left: Vec<Value> = left.iter().map(shown).collect();
                    println!("{}", json!({ "state": "complete", "ended": ended, "pauses": left }));
                }
                false => {
                    println!("{}", text!("run-resumed", count = ended).message(cli.locale));
                    // A narrower resume does not end a wider pause.
                    tell(&left, cli);
                }
            }
            exit::COMPLETE
        }
        Err(problem) => say(&problem, cli),
    }
}

async fn begin(reading: &Reading, arguments: &PauseArgs) -> Result<Vec<Pause>, Problem> {
    let since = reading.clock.now();
    let until = since + TimeDelta::from_std(arguments.span).unwrap_or(TimeDelta::MAX);
    let (scope, by) = (arguments.only.map_or(PauseScope::All, PauseArg::scope), operator());
    let pause = |store: StoreKey| Pause { store, scope, since, until, paused_by: by.clone() };
    let pauses: Vec<Pause> = meant(reading, &arguments.store)?.into_iter().map(pause).collect();
    reading.store.pauses().begin(&pauses).await?;
    Ok(pauses)
}

async fn end(reading: &Reading, arguments: &ResumeArgs) -> Result<(u64, Vec<Pause>), Problem> {
    let stores = meant(reading, &arguments.store)?;
    let scopes = arguments.only.map_or(PauseScope::ALL.to_vec(), |only| vec![only.scope()]);
    let ended = reading.store.pauses().end(&stores, &scopes).await?;
    let now = reading.clock.now();
    let left = reading.store.pauses().recent().await?;
    Ok((ended, left.into_iter().filter(|pause| pause.lasts(now) && stores.contains(&pause.store)).collect()))
}

/// Returns the named stores, or all if none is named.
fn meant(reading: &Reading, asked: &[String]) -> Result<Vec<StoreKey>, Problem> {
    if asked.is_empty() {
        return named(&reading.configuration, None);
    }
    let found = asked.iter().map(|store| named(&reading.configuration, Some(store)));
    Ok(found.collect::<Result<Vec<_>, _>>()?.concat())
}

fn tell(pauses: &[Pause], cli: &Cli) {
    for pause in pauses {
        println!("{}", words(pause).message(cli.locale));
    }
}

/// Returns the sentence of a pause, without its next step.
fn words(pause: &Pause) -> Text {
    let scope = Text::new(format!("word-pause-{}", pause.scope.as_str()));
    text!(
        "run-pause",
        store = pause.store.as_str(),
        scope = scope,
        until = Arg::from(pause.until),
        by = pause.paused_by.as_str()
    )
}

fn shown(pause: &Pause) -> Value {
    json!({
        "store": pause.store.as_str(), "scope": pause.scope.as_str(), "since": pause.since,
        "until": pause.until, "by": pause.paused_by,
    })
}
