//! `espelho pause` and `resume`: what an operator suspends.

use chrono::TimeDelta;
use espelho_model::{
    StoreKey,
    pause::{Pause, PauseScope},
    text,
    text::{Arg, Text},
};
use espelho_store::NewAction;
use espelho_sync_engine::Problem;
use serde_json::{Value, json};

use super::{
    actor, operator,
    reading::{Reading, named},
    say,
};
use crate::{
    actions::on_record,
    cli::{Cli, PauseArg, PauseArgs, ResumeArgs},
    exit,
    pauses::{self, NewPause},
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
    let (stores, by) = (meant(reading, &arguments.store)?, operator());
    let pause = NewPause {
        stores: &stores,
        scope: arguments.only.map_or(PauseScope::All, PauseArg::scope),
        since: reading.clock.now(),
        span: TimeDelta::from_std(arguments.span).unwrap_or(TimeDelta::MAX),
        by: &by,
    };
    let span = format!("{}s", arguments.span.as_secs());
    let lines = stores.iter().map(StoreKey::to_string);
    let action = new_action("pause", arguments.only, Some(&span), &arguments.store, lines);
    on_record(&reading.store, &action, pause.begin(&reading.store)).await?;
    Ok(pause.pauses())
}

/// Returns the record of a pause, or of its end: `lines` name what it is about.
fn new_action(
    act: &str,
    only: Option<PauseArg>,
    span: Option<&str>,
    stores: &[String],
    lines: impl Iterator<Item = String>,
) -> NewAction {
    let only = only.map(|only| only.scope().as_str());
    let store = match stores {
        [store] => store.clone(),
        _ => String::new(),
    };
    NewAction {
        actor: actor(),
        act: act.to_owned(),
        store,
        command: pauses::command_line(act, only, span, stores.iter().map(String::as_str)),
        before: lines.collect::<Vec<_>>().join("\n"),
    }
}

async fn end(reading: &Reading, arguments: &ResumeArgs) -> Result<(u64, Vec<Pause>), Problem> {
    let stores = meant(reading, &arguments.store)?;
    let scopes = arguments.only.map_or(PauseScope::ALL.to_vec(), |only| vec![only.scope()]);
    let (store, clock) = (&reading.store, &reading.clock);
    let ending = pauses::lasting(store, &stores, &scopes, clock.now()).await?;
    let lines = ending.iter().map(pauses::name);
    let action = new_action("resume", arguments.only, None, &arguments.store, lines);
    let (_, ended) = on_record(store, &action, pauses::end(store, &stores, &scopes)).await?;
    let left = pauses::lasting(store, &stores, PauseScope::ALL, clock.now()).await?;
    Ok((ended, left))
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

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::Command;

    #[test]
    fn the_record_of_a_pause_names_a_command_line_that_does_the_same() {
        for (typed, act, store) in [
            ("espelho pause --only push --for 90s --store loja-1", "pause", "loja-1"),
            ("espelho pause --for 90s --store loja-1 --store loja-2", "pause", ""),
            ("espelho resume --only commands --store loja-1", "resume", "loja-1"),
            ("espelho resume", "resume", ""),
        ] {
            let (only, span, stores) = match Cli::try_parse_from(typed.split(' ')).unwrap().command {
                Some(Command::Pause(pause)) => (pause.only, Some("90s"), pause.store),
                Some(Command::Resume(resume)) => (resume.only, None, resume.store),
                other => panic!("{other:?}"),
            };
            let action = new_action(act, only, span, &stores, std::iter::once("loja-1 push".to_owned()));
            assert_eq!((action.command.as_str(), action.store.as_str()), (typed, store));
            assert!(action.actor.starts_with("cli:") && action.before == "loja-1 push", "{action:?}");
        }
    }
}
