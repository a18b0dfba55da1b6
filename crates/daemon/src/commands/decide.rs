//! `espelho held`, `release`, `retry`, `ignore`: decisions of people about rows that are not done.

use espelho_model::{
    StoreKey,
    next_step::{RowAct, Rows, command_line, quoted},
    program,
    push::PushState,
    text,
    text::Text,
};
use espelho_store::{IntentKind, SeenRow};
use espelho_sync_engine::{Problem, Trouble};
use serde_json::json;

use super::{
    prompt,
    reading::{Reading, named},
    say,
};
use crate::{
    cli::{Cli, DecideArgs, IntentArg},
    decisions::{self, Decision, Selection},
    exit,
    terminal::shown,
};

/// The rows that a question shows: nobody reads more of them.
const MOST_SHOWN: usize = 20;

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
        Ok(rows) if rows.is_empty() => println!("{}", text!("intents-nothing-held").message(cli.locale)),
        Ok(rows) => rows.iter().for_each(|row| {
            let [key, error, hint] = [&row.key, &row.error, &row.hint].map(|text| shown(text));
            let next = text!("intents-next-step", step = hint).message(cli.locale);
            println!("{} {} {key}\n  {error}\n  {next}", row.store, row.entity);
        }),
        Err(error) => return say(&Problem::from_store(&error), cli),
    }
    exit::COMPLETE
}

/// Decides about the rows that the arguments name: about one, or about all, in one state if the decision fits several.
pub(super) async fn decide(
    cli: &Cli,
    decision: Decision,
    arguments: &DecideArgs,
    state: Option<PushState>,
) -> u8 {
    let reading = match Reading::open(cli).await {
        Ok(reading) => reading,
        Err(code) => return code,
    };
    let decided = decide_with(cli, &reading, decision, arguments, state).await;
    reading.store.close().await;
    match decided {
        Ok(Decided::Rows(count)) => {
            match (cli.json, count) {
                (true, _) => println!("{}", json!({ "state": "complete", "rows": count })),
                (false, 0) => println!("{}", text!("intents-nothing-to-decide").message(cli.locale)),
                (false, _) => println!(
                    "{}",
                    decision.done(count, &way_back(arguments), arguments.all).message(cli.locale)
                ),
            }
            exit::COMPLETE
        }
        Ok(Decided::Unconfirmed(count)) => {
            refuse(cli, &text!("intents-needs-yes", rows = count), "unconfirmed")
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

/// Returns the command line that brings back the rows that the arguments name.
fn way_back(arguments: &DecideArgs) -> String {
    let DecideArgs { key, code, store, .. } = arguments;
    let intent = arguments.entity.and_then(IntentArg::intent).map(IntentKind::as_str);
    if let (Some(entity), Some(key)) = (intent, key) {
        return command_line(RowAct::Retry, Rows::One { entity, key }, store.as_deref());
    }
    let table = intent.map(|entity| format!(" {entity}")).unwrap_or_default();
    let option = |name: &str, value: &Option<String>| {
        value.as_ref().map(|value| format!(" --{name} {}", quoted(value))).unwrap_or_default()
    };
    let (code, store) = (option("code", code), option("store", store));
    format!("{} retry{table} --all --ignored{code}{store}", program::call())
}

async fn decide_with(
    cli: &Cli,
    reading: &Reading,
    decision: Decision,
    arguments: &DecideArgs,
    state: Option<PushState>,
) -> Result<Decided, Problem> {
    if let Some(word) = arguments.entity.and_then(IntentArg::quarantined) {
        return retry_set_aside(reading, decision, arguments, word).await;
    }
    let stores = stores_on_rows(reading, arguments.store.as_deref()).await?;
    let intent = arguments.entity.and_then(IntentArg::intent);
    let rows = match (intent, &arguments.key, stores.as_slice()) {
        (Some(intent), Some(key), [store]) => {
            let row = reading.store.releases().seen_row(store.as_str(), intent, key).await?;
            let row = row.ok_or_else(no_such_row)?;
            if decision == Decision::Release && decisions::is_unreleasable(&row) {
                return Err(Problem::of(Trouble::Guard, "price_zero", text!("push-price-zero")));
            }
            vec![row]
        }
        (Some(_), Some(_), _) => return Err(which_store()),
        _ => {
            let with_unknown_stores = arguments.store.is_none();
            let code = arguments.code.as_deref();
            let selection = Selection { stores: &stores, with_unknown_stores, intent, code, state };
            let rows = decisions::selected(&reading.store, decision, selection).await?;
            if decision.asks()
                && !rows.is_empty()
                && !confirmed(cli, reading, decision, arguments, &rows).await?
            {
                return Ok(Decided::Unconfirmed(rows.len()));
            }
            rows
        }
    };
    let count = decisions::decide(&reading.store, decision, &rows).await?;
    if count == 0 && arguments.key.is_some() {
        return Err(no_such_row());
    }
    Ok(Decided::Rows(count))
}

/// Returns the named store, or all if none is named. A name that no configuration has counts if rows of the ERP have it.
async fn stores_on_rows(reading: &Reading, asked: Option<&str>) -> Result<Vec<StoreKey>, Problem> {
    let problem = match named(&reading.configuration, asked) {
        Ok(stores) => return Ok(stores),
        Err(problem) => problem,
    };
    let Some(Ok(asked)) = asked.map(StoreKey::new) else { return Err(problem) };
    let troubled = reading.store.releases().troubled_rows().await?;
    let ignored = reading.store.releases().ignored_rows().await?;
    match troubled.iter().chain(&ignored).any(|row| row.store == asked.as_str()) {
        true => Ok(vec![asked]),
        false => Err(problem),
    }
}

/// Lets what was set aside be worked on again: one input, or all of a kind.
async fn retry_set_aside(
    reading: &Reading,
    decision: Decision,
    arguments: &DecideArgs,
    word: &str,
) -> Result<Decided, Problem> {
    if decision != Decision::Retry {
        return Err(Problem::of(Trouble::Configuration, "usage", text!("intents-retry-only")));
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

/// Shows the rows that the decision concerns, and asks for confirmation.
async fn confirmed(
    cli: &Cli,
    reading: &Reading,
    decision: Decision,
    arguments: &DecideArgs,
    rows: &[SeenRow],
) -> Result<bool, Problem> {
    for SeenRow { store, intent, key, .. } in rows.iter().take(MOST_SHOWN) {
        let row = reading.store.releases().intent_row(store, *intent, key).await?;
        let store = shown(store);
        let change = row.as_ref().map(decisions::change).unwrap_or_default();
        let change = decisions::change_in_words(intent.as_str(), &change, cli.locale);
        eprintln!("{store} {} {}{change}", intent.as_str(), shown(key));
        if let Some(error) = row.and_then(|row| row.error) {
            eprintln!("  {}", shown(&error));
        }
    }
    if let Some(more @ 1..) = rows.len().checked_sub(MOST_SHOWN) {
        eprintln!("{}", text!("intents-decide-more", rows = more).message(cli.locale));
    }
    let question = decision.question(rows.len());
    Ok(arguments.yes || (prompt::is_possible() && prompt::confirms(&question, cli.locale)))
}

fn no_such_row() -> Problem {
    let text = text!("intents-no-such-row");
    Problem::of(Trouble::Failure, "no_such_row", text)
}

fn which_store() -> Problem {
    Problem::of(Trouble::Configuration, "usage", text!("run-several-stores"))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::Command;

    #[test]
    fn the_way_back_takes_the_rows_that_were_named_and_is_a_command_line() {
        let read = |line: &str| match Cli::try_parse_from(line.split(' ')).unwrap().command {
            Some(Command::Ignore(ignore)) => ignore.decide,
            Some(Command::Retry(retry)) => retry.decide,
            _ => panic!("{line}"),
        };
        for (line, expected) in [
            ("espelho ignore stock CAN-01/1 --store loja-1", "espelho retry stock CAN-01/1 --store loja-1"),
            ("espelho ignore --all --state failed", "espelho retry --all --ignored"),
            ("espelho ignore stock --all --state failed", "espelho retry stock --all --ignored"),
            (
                "espelho ignore price --all --state held --code price_jump --store loja-1",
                "espelho retry price --all --ignored --code price_jump --store loja-1",
            ),
        ] {
            let back = way_back(&read(line));
            assert_eq!(back, expected);
            read(&back);
        }
    }
}
