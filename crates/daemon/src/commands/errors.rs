//! `espelho errors`: every row that is not mirrored, with its cause and the next step.

use espelho_model::time::fixed_width;
use espelho_store::ErrorRow;
use espelho_sync_engine::Problem;
use serde_json::{Value, json};

use super::{
    reading::{Reading, named},
    say,
};
use crate::{cli::Cli, exit};

/// More rows than anybody reads; the table has them all.
const MOST: u32 = 10_000;

pub(super) async fn run(cli: &Cli, store: Option<&str>) -> u8 {
    let reading = match Reading::open(cli).await {
        Ok(reading) => reading,
        Err(code) => return code,
    };
    let keys = match named(&reading.configuration, store) {
        Ok(keys) => keys,
        Err(problem) => return say(&problem, cli),
    };
    let one = store.and(keys.first());
    let errors = reading.store.errors(one, MOST).await;
    reading.store.close().await;
    match errors {
        Ok(errors) if cli.json => {
            println!("{}", json!({ "errors": errors.iter().map(as_json).collect::<Vec<_>>() }));
        }
        Ok(errors) => show(&errors),
        Err(error) => return say(&Problem::from_store(&error), cli),
    }
    exit::COMPLETE
}

pub(super) fn as_json(row: &ErrorRow) -> Value {
    let ErrorRow { store, entity, key, code, error, hint, at } = row;
    json!({ "store": store, "entity": entity, "key": key, "code": code, "error": error, "hint": hint, "at": fixed_width(*at) })
}

fn show(errors: &[ErrorRow]) {
    if errors.is_empty() {
        println!("nenhum erro / no errors");
    }
    errors.iter().for_each(|row| print!("{}", as_text(row)));
    if errors.len() == MOST as usize {
        println!("… SELECT * FROM v_errors");
    }
}

pub(super) fn as_text(row: &ErrorRow) -> String {
    let ErrorRow { store, entity, key, code, error, hint, at } = row;
    let at = at.format("%d/%m/%Y %H:%M UTC");
    let [key, error, hint] = [key, error, hint].map(|text| shown(text));
    format!(
        "{store} {entity} {key} [{code}] {at}\n  causa / cause: {error}\n  próximo passo / next step: {hint}\n"
    )
}

/// A text of a row as a terminal may be given it: what would move the cursor, or turn the line around, is escaped.
pub(super) fn shown(text: &str) -> String {
    let is_harmful = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut shown = String::new();
    for letter in text.chars() {
        match is_harmful(letter) {
            true => shown.extend(letter.escape_default()),
            false => shown.push(letter),
        }
    }
    shown
}
