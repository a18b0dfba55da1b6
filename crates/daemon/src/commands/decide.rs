//! `espelho held`, `release`, `retry`, `ignore`: decisions of people about rows that are not done.

use espelho_model::{
    StoreKey,
    next_step::{RowAct, Rows, command_line, quoted},
    program,
    push::PushState,
    text,
    text::{Locale, Text, words as catalogue},
};
use espelho_store::{Error, ErrorRow, Happened, IntentKind, NewAction, SeenRow};
use espelho_sync_engine::{Problem, Trouble};
use serde_json::{Value, json};

use super::{
    actor, prompt,
    reading::{Reading, named, store_of_command},
    say,
};
use crate::{
    actions,
    acts::Deed,
    causes::{self, Cause},
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

pub(super) async fn held(cli: &Cli, store: Option<&str>) -> u8 {
    let reading = match Reading::open(cli).await {
        Ok(reading) => reading,
        Err(code) => return code,
    };
    let keys = match named(&reading.configuration, store) {
        Ok(keys) => keys,
        Err(problem) => return say(&problem, cli),
    };
    let one = store.and(keys.first());
    let rows = reading.store.releases().held_rows(one).await;
    reading.store.close().await;
    match rows {
        Ok(rows) if cli.json => {
            println!("{}", json!({ "held": rows.iter().map(as_json).collect::<Vec<_>>() }));
        }
        Ok(rows) if rows.is_empty() => println!("{}", text!("intents-nothing-held").message(cli.locale)),
        Ok(rows) => {
            let causes = causes::of_errors(&rows);
            causes.iter().for_each(|cause| print!("{}", held_lines(cause, store, cli.locale)));
        }
        Err(error) => return say(&Problem::from_store(&error), cli),
    }
    exit::COMPLETE
}

fn as_json(row: &ErrorRow) -> Value {
    let ErrorRow { store, entity, key, code, error, hint, .. } = row;
    json!({ "store": store, "entity": entity, "key": key, "code": code, "error": error, "hint": hint })
}

/// Returns what a guard holds for one cause, in a store or in all, with what to do about it.
fn held_lines(cause: &Cause, store: Option<&str>, locale: Locale) -> String {
    let lines = format!("{}\n  {}\n", cause.line(locale), cause.next_step().message(locale));
    match cause.count {
        0 | 1 => lines,
        _ => {
            let see = command_line(RowAct::Look, Rows::OfCause(&cause.code), store);
            format!("{lines}  {}\n", text!("errors-each", see_all = see).message(locale))
        }
    }
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
    line(Decision::BringBack, arguments, None, arguments.store.as_deref())
}

/// Returns the command line of a decision about the rows that the arguments name.
fn line(decision: Decision, arguments: &DecideArgs, state: Option<PushState>, store: Option<&str>) -> String {
    let act = decision.row_act();
    let DecideArgs { key, code, .. } = arguments;
    let intent = arguments.entity.and_then(IntentArg::intent).map(IntentKind::as_str);
    if let (Some(entity), Some(key)) = (intent, key) {
        return command_line(act, Rows::One { entity, key }, store);
    }
    let verb = act.verb();
    let table = intent.map(|entity| format!(" {entity}")).unwrap_or_default();
    let ignored = if decision == Decision::BringBack { " --ignored" } else { "" };
    let option = |name: &str, value: Option<&str>| {
        value.map(|value| format!(" --{name} {}", quoted(value))).unwrap_or_default()
    };
    let state = option("state", state.map(PushState::as_str));
    let (code, store) = (option("code", code.as_deref()), option("store", store));
    format!("{} {verb}{table} --all{ignored}{state}{code}{store}", program::call())
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
    let (intent, asked) = (arguments.entity.and_then(IntentArg::intent), arguments.store.as_deref());
    let of_command = match (intent, &arguments.key) {
        (Some(IntentKind::Command), Some(key)) => store_of_command(&reading.store, key, asked).await?,
        _ => None,
    };
    let stores = match of_command {
        Some(store) => vec![store],
        None => stores_on_rows(reading, asked).await?,
    };
    let rows = match (intent, &arguments.key, stores.as_slice()) {
        (Some(intent), Some(key), [store]) => {
            let row = reading.store.releases().seen_row(store.as_str(), intent, key).await?;
            let row = row.ok_or_else(no_such_row)?;
            if decision == Decision::Release && decisions::is_unreleasable(&row) {
                return Err(Problem::of(Trouble::Guard, "price_zero", text!("push-price-zero")));
            }
            if decision == Decision::Release && row.state == PushState::Ignored {
                let refused = refused_release(reading, store, &row).await?;
                return Err(Problem::of(Trouble::Guard, "ignored", refused));
            }
            if !decision.fits(&row) {
                return Err(Problem::of(Trouble::Failure, "not_decidable", not_decidable(&row)));
            }
            vec![row]
        }
        (Some(IntentKind::Command), Some(_), _) => return Err(no_such_row()),
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
    let count = on_record(reading, decision, arguments, state, &rows).await?;
    if count == 0 && arguments.key.is_some() {
        return Err(no_such_row());
    }
    Ok(Decided::Rows(count))
}

/// Makes a decision about rows, and records it: before it begins, and when it has ended, as the page does.
async fn on_record(
    reading: &Reading,
    decision: Decision,
    arguments: &DecideArgs,
    state: Option<PushState>,
    rows: &[SeenRow],
) -> Result<usize, Error> {
    if rows.is_empty() {
        return Ok(0);
    }
    let store = match (&arguments.key, rows) {
        (Some(_), [row]) => Some(row.store.as_str()),
        _ => arguments.store.as_deref(),
    };
    let state_of_one = match rows {
        [row] => Some(row.state),
        _ => None,
    };
    let action = NewAction {
        actor: actor(),
        act: Deed::on_record(decision, state_of_one).word().to_owned(),
        store: store.unwrap_or_default().to_owned(),
        command: line(decision, arguments, state, store),
        before: decisions::recorded(&reading.store, rows).await?,
    };
    let deciding = decisions::decide(&reading.store, decision, rows);
    let (_, count) = actions::on_record(&reading.store, &action, deciding).await?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

/// Returns why an ignored row is not released: somebody has said no to it. By whom and when, where that is on record.
async fn refused_release(reading: &Reading, store: &StoreKey, row: &SeenRow) -> Result<Text, Error> {
    let (entity, key) = (row.intent.as_str(), row.key.as_str());
    let decided = reading.store.history().decisions_on(store, &[row.name()]).await?;
    let given_up = decided.into_iter().rev().find_map(|event| match event.what {
        Happened::Decided { act, actor, .. }
            if matches!(Deed::parse(&act), Some(Deed::Ignore | Deed::Happened)) =>
        {
            Some((actor, event.at))
        }
        _ => None,
    });
    let back = command_line(RowAct::Retry, Rows::One { entity, key }, Some(store.as_str()));
    Ok(match given_up {
        Some((actor, at)) => text!("intents-release-ignored-by", actor = shown(&actor), at = at, back = back),
        None => text!("intents-release-ignored", back = back),
    })
}

/// Returns why nothing is decided about a row in its state.
fn not_decidable(row: &SeenRow) -> Text {
    let (entity, key) = (row.intent.as_str(), row.key.as_str());
    let line = |act| command_line(act, Rows::One { entity, key }, Some(row.store.as_str()));
    let state = catalogue::push_state(row.state.as_str());
    match row.state {
        PushState::New => text!("intents-in-the-queue", state = state, ignore = line(RowAct::Ignore)),
        _ => text!("intents-not-decidable", state = state, see = line(RowAct::Look)),
    }
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
    use espelho_model::text::Language;

    use super::*;
    use crate::cli::{Command, EndedStateArg};

    fn seen(state: PushState) -> SeenRow {
        SeenRow {
            store: "loja-1".into(),
            intent: IntentKind::Command,
            key: "8".into(),
            state,
            code: "x".into(),
            updated_at: None,
        }
    }

    #[test]
    fn a_row_that_is_not_decided_about_says_why_and_what_there_is_to_do() {
        use PushState::{Done, New, Sending};
        for (state, step) in [
            (New, "espelho ignore command 8 --store loja-1"),
            (Sending, "espelho explain command 8 --store loja-1"),
            (Done, "espelho explain command 8 --store loja-1"),
        ] {
            let text = not_decidable(&seen(state));
            for locale in Language::ALL.map(Locale::of) {
                let next = text.next(locale).unwrap_or_default();
                assert!(next.contains(step) && !text.message(locale).contains("{$"), "{state}: {next}");
            }
        }
    }

    #[test]
    fn what_is_held_names_the_list_of_the_store_that_is_named() {
        let row = |store: &str| ErrorRow {
            store: store.into(),
            entity: "price".into(),
            key: "CAN-01/1".into(),
            code: "price_jump".into(),
            error: "e".into(),
            hint: "h".into(),
            at: None,
            kind: None,
            subject: Some("CAN-01".into()),
            message_id: None,
        };
        let cause = causes::of_errors(&[row("loja-2"), row("loja-2")]).remove(0);
        let lines = held_lines(&cause, Some("loja-2"), Locale::default());
        assert!(lines.contains("espelho errors --all --code price_jump --store loja-2"), "{lines}");
    }

    #[test]
    fn a_record_names_the_command_line_that_was_typed() {
        for typed in [
            "espelho release price CAN-01/1 --store loja-1",
            "espelho release --all",
            "espelho retry stock --all --ignored --code x",
            "espelho ignore --all --state held --code many_to_zero --store loja-1",
        ] {
            let (decision, arguments, state) = match Cli::try_parse_from(typed.split(' ')).unwrap().command {
                Some(Command::Ignore(ignore)) => {
                    (Decision::Ignore, ignore.decide, ignore.state.map(EndedStateArg::state))
                }
                Some(Command::Retry(retry)) => (Decision::BringBack, retry.decide, None),
                Some(Command::Release(decide)) => (Decision::Release, decide, None),
                other => panic!("{other:?}"),
            };
            assert_eq!(line(decision, &arguments, state, arguments.store.as_deref()), typed);
        }
    }

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
