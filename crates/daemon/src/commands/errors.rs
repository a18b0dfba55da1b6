//! `espelho errors`: rows that failed, are held, in doubt or waiting, by cause, with the next step. Beside them, the problems
//! of `espelho status` that are about no row: a refused login is an error too.

use espelho_model::{
    StoreKey,
    next_step::{RowAct, Rows, command_line},
    text,
    text::{Locale, Text},
};
use espelho_store::{ErrorRow, WaitingRow};
use espelho_sync_engine::Problem;
use serde_json::{Value, json};

use super::{
    reading::{Reading, named},
    say,
    status::standing_alarms,
};
use crate::{
    alarms::ShownAlarm,
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
    /// The failing alarms that are about no row.
    problems: Vec<ShownAlarm>,
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
    let found = look(&reading, one, arguments.code.as_deref(), cli.locale).await;
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
    locale: Locale,
) -> Result<Found, espelho_store::Error> {
    let mut errors = reading.store.history().errors(store, MOST).await?;
    let mut waiting = reading.store.intents().waiting_rows(store).await?;
    errors.retain(|row| code.is_none_or(|code| row.code == code));
    waiting.retain(|row| code.is_none_or(|code| row.code == code));
    let mut problems = standing_alarms(reading, store, locale).await;
    problems.retain(|alarm| is_problem(alarm, store, code));
    Ok(Found { errors, waiting, problems })
}

/// Tells whether an alarm is a failure that no row shows, of a store and a code where they are named.
fn is_problem(alarm: &ShownAlarm, store: Option<&StoreKey>, code: Option<&str>) -> bool {
    let is_of_rows =
        matches!(alarm.code.as_str(), "failed" | "held" | "doubtful" | "waiting" | "unknown_store");
    let of_store = store.zip(alarm.store.as_deref());
    alarm.is_failing()
        && !is_of_rows
        && of_store.is_none_or(|(store, named)| store.as_str() == named)
        && code.is_none_or(|code| alarm.code == code)
}

impl Found {
    fn as_json(&self) -> Value {
        json!({
            "causes": causes::of_errors(&self.errors), "errors": self.errors, "waiting": self.waiting,
            "problems": self.problems,
        })
    }

    /// Says that there are no rows in error, where that is so.
    fn none(&self) -> Option<Text> {
        match (self.errors.is_empty(), self.problems.is_empty()) {
            (true, true) => Some(text!("errors-none")),
            (true, false) => Some(text!("errors-no-rows")),
            (false, _) => None,
        }
    }
}

fn show_causes(found: &Found, reading: &Reading, store: Option<&StoreKey>, locale: Locale) {
    let errors = causes::of_errors(&found.errors);
    found.none().into_iter().for_each(|none| println!("{}", none.message(locale)));
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
    print!("{}", problems(found, locale));
    cut_off(found);
}

fn show_rows(found: &Found, locale: Locale) {
    found.none().into_iter().for_each(|none| println!("{}", none.message(locale)));
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
    print!("{}", problems(found, locale));
    cut_off(found);
}

/// Returns the problems that are about no row, each with its next step.
fn problems(found: &Found, locale: Locale) -> String {
    let line = |alarm: &ShownAlarm| {
        let next = text!("intents-next-step", step = shown(&alarm.next)).message(locale);
        format!("  {} [{}]\n    {next}\n", shown(&alarm.text), alarm.code)
    };
    let lines: String = found.problems.iter().map(line).collect();
    match lines.is_empty() {
        true => lines,
        false => format!("{}\n{lines}", text!("errors-problems-title").message(locale)),
    }
}

fn cut_off(found: &Found) {
    if found.errors.len() == MOST as usize {
        println!("… SELECT * FROM v_errors");
    }
}

/// Returns a row in full: its key as `release`, `retry` and `ignore` take it, its cause and its next step.
pub(super) fn as_text(row: &ErrorRow, locale: Locale) -> String {
    let ErrorRow { store, entity, key, code, error, hint: _, at, kind, subject, message_id: _ } = row;
    let [store, key, error] = [store, key, error].map(|text| shown(text));
    let about = about(kind.as_deref(), subject.as_deref());
    let next = causes::next_step_of(row).message(locale);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::specimen;

    #[test]
    fn a_problem_that_no_row_shows_is_told_beside_the_rows() {
        let refused = ShownAlarm {
            code: "credential_refused".into(),
            next: "espelho doctor --login".into(),
            ..specimen::failing(Some("a"), "A senha foi recusada.")
        };
        let warning = ShownAlarm { severity: "warning".into(), ..refused.clone() };
        let [own, other] = ["a", "b"].map(|key| StoreKey::new(key).unwrap());
        for (alarm, store, code, expected) in [
            (&refused, None, None, true),
            (&refused, Some(&own), None, true),
            (&refused, Some(&other), None, false),
            (&refused, None, Some("credential_refused"), true),
            (&refused, None, Some("unknown_sku"), false),
            (&ShownAlarm { store: None, ..refused.clone() }, Some(&other), None, true),
            (&warning, None, None, false),
            (&specimen::failing(Some("a"), "uma linha"), None, None, false),
        ] {
            assert_eq!(is_problem(alarm, store, code), expected, "{alarm:?} {store:?} {code:?}");
        }
        let found = |problems| Found { errors: Vec::new(), waiting: Vec::new(), problems };
        let locale = Locale::default();
        let none = |found: &Found| found.none().map(|text| text.message(locale));
        assert_eq!(none(&found(Vec::new())).as_deref(), Some("nenhum erro"));
        let found = found(vec![refused]);
        assert_eq!(none(&found).as_deref(), Some("nenhum registro com erro"));
        let told = problems(&found, locale);
        assert!(told.contains("  A senha foi recusada. [credential_refused]\n"), "{told}");
        assert!(told.ends_with("    próximo passo: espelho doctor --login\n"), "{told}");
    }
}
