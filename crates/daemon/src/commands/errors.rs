//! `espelho errors`: rows that failed, are held, in doubt or waiting, by cause, with the next step.

use espelho_model::{
    StoreKey,
    next_step::{RowAct, Rows, command_line},
    text,
    text::Locale,
};
use espelho_store::{ErrorRow, WaitingRow};
use espelho_sync_engine::Problem;
use serde_json::{Value, json};

use super::{
    reading::{Reading, named},
    say,
};
use crate::{
    causes,
    cli::{Cli, ErrorsArgs},
    exit,
    terminal::shown,
};

/// More rows than anybody reads; the table has all of them.
const MOST: u32 = 10_000;

/// The rows to show.
struct Found {
    errors: Vec<ErrorRow>,
    waiting: Vec<WaitingRow>,
}

pub(super) async fn run(cli: &Cli, arguments: &ErrorsArgs) -> u8 {
    let reading = match Reading::open(cli).await {
        Ok(reading) => reading,
        Err(code) => return code,
    };
    let keys = match named(&reading.configuration, arguments.store.as_deref()) {
        Ok(keys) => keys,
        Err(problem) => return say(&problem, cli),
    };
    let one = arguments.store.as_ref().and(keys.first());
    let found = look(&reading, one, arguments.code.as_deref()).await;
    reading.store.close().await;
    match found {
        Ok(found) if cli.json => println!("{}", found.as_json()),
        Ok(found) if arguments.all => show_rows(&found, cli.locale),
        Ok(found) => show_causes(&found, &reading, one, cli.locale),
        Err(error) => return say(&Problem::from_store(&error), cli),
    }
    exit::COMPLETE
}

async fn look(
    reading: &Reading,
    store: Option<&StoreKey>,
    code: Option<&str>,
) -> Result<Found, espelho_store::Error> {
    let mut errors = reading.store.history().errors(store, MOST).await?;
    let mut waiting = reading.store.intents().waiting_rows(store).await?;
    errors.retain(|row| code.is_none_or(|code| row.code == code));
    waiting.retain(|row| code.is_none_or(|code| row.code == code));
    Ok(Found { errors, waiting })
}

impl Found {
    fn as_json(&self) -> Value {
        json!({ "causes": causes::of_errors(&self.errors), "errors": self.errors, "waiting": self.waiting })
    }
}

fn show_causes(found: &Found, reading: &Reading, store: Option<&StoreKey>, locale: Locale) {
    let errors = causes::of_errors(&found.errors);
    if errors.is_empty() {
        println!("{}", text!("errors-none").message(locale));
    }
    for cause in &errors {
        println!("{}", cause.line(locale));
        println!("  {}", cause.next_step().message(locale));
        if cause.count > 1 {
            let see = command_line(RowAct::Look, Rows::OfCause(&cause.code), store.map(StoreKey::as_str));
            println!("  {}", text!("errors-each", see_all = see).message(locale));
        }
    }
    if !found.waiting.is_empty() {
        println!("{}", text!("errors-waiting-title").message(locale));
        for cause in causes::of_waiting(&found.waiting) {
            println!("  {}", cause.waiting_line(locale, reading.clock.now()));
        }
    }
    cut_off(found);
}

fn show_rows(found: &Found, locale: Locale) {
    if found.errors.is_empty() {
        println!("{}", text!("errors-none").message(locale));
    }
    found.errors.iter().for_each(|row| print!("{}", as_text(row, locale)));
    if !found.waiting.is_empty() {
        println!("{}", text!("errors-waiting-title").message(locale));
    }
    for row in &found.waiting {
        let WaitingRow { store, entity, key, code, reason, since, kind, subject } = row;
        let at = since.map(|since| locale.time(since)).unwrap_or_default();
        let about = about(Some(kind.as_str()), Some(subject.as_str()));
        let store = shown(store);
        println!("  {store} {entity} {}{about} [{code}] {at}\n    {}", shown(key), shown(reason));
    }
    cut_off(found);
}

fn cut_off(found: &Found) {
    if found.errors.len() == MOST as usize {
        println!("… SELECT * FROM v_errors");
    }
}

/// Returns a row in full: its key as `release`, `retry` and `ignore` take it, its cause and its next step.
pub(super) fn as_text(row: &ErrorRow, locale: Locale) -> String {
    let ErrorRow { store, entity, key, code, error, hint, at, kind, subject, message_id: _ } = row;
    let [store, key, error, hint] = [store, key, error, hint].map(|text| shown(text));
    let about = about(kind.as_deref(), subject.as_deref());
    let next = text!("wishes-next-step", step = hint).message(locale);
    let at = at.map(|at| locale.time(at)).unwrap_or_default();
    format!("{store} {entity} {key}{about} [{code}] {at}\n  {error}\n  {next}\n")
}

/// Returns a command's kind and subject, in parentheses.
fn about(kind: Option<&str>, subject: Option<&str>) -> String {
    let words: Vec<String> =
        [kind, subject].into_iter().flatten().filter(|word| !word.is_empty()).map(shown).collect();
    match words.is_empty() {
        true => String::new(),
        false => format!(" ({})", words.join(" ")),
    }
}
