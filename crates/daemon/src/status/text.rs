//! The picture on a terminal: 100 columns, what is wrong first.

use std::fmt::Write as _;

use super::{
    Alarm, Health, Picture, StorePicture, resources, sweeps, wanted,
    words::{ago, count, since, span, state},
};

/// Columns that the text fits into.
const WIDTH: usize = 100;
/// Alarms and stores that are shown one by one, the failing ones first.
const SHOWN: usize = 20;

/// How to write: colours only where somebody sees them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub colours: bool,
}

impl Look {
    fn paint(self, code: &str, text: &str) -> String {
        if self.colours { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn red(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    fn green(self, text: &str) -> String {
        self.paint("1;32", text)
    }

    fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }
}

/// Writes the picture for people.
pub(crate) fn show(picture: &Picture, look: Look) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{}", headline(picture, look));
    for alarm in picture.alarms.iter().take(SHOWN) {
        write_alarm(&mut text, alarm, look);
    }
    more(&mut text, picture.alarms.len().saturating_sub(SHOWN), "avisos", "alarms");
    text.push('\n');
    text.push_str(
        &look.faint(&line(["LOJA", "ESTADO", "ÚLTIMA", "ATRASO", "FILA", "TOKEN", "LIMITE", "ESPERA"])),
    );
    text.push_str(
        &look.faint(&line(["STORE", "STATE", "LAST RUN", "LAG", "INBOX", "TOKEN", "BUDGET", "WAITING"])),
    );
    let failing = |store: &&StorePicture| is_failing(picture, store);
    let well = picture.stores.iter().filter(|store| !failing(store));
    let ordered = picture.stores.iter().filter(failing).chain(well);
    for store in ordered.take(SHOWN) {
        text.push_str(&store_line(picture, store, look));
    }
    more(&mut text, picture.stores.len().saturating_sub(SHOWN), "lojas", "stores");
    if let [store] = &picture.stores[..] {
        text.push_str(&resources::text(store, picture.at));
        text.push_str(&wanted::text(store));
        text.push_str(&tables(picture, store, look));
        text.push_str(&sweeps::text(store, picture.at));
    }
    text
}

/// Says what is left out.
fn more(text: &mut String, hidden: usize, pt: &str, en: &str) {
    if hidden > 0 {
        let _ = writeln!(text, "… e mais {hidden} {pt} / and {hidden} more {en} (--store KEY, --json)");
    }
}

fn headline(picture: &Picture, look: Look) -> String {
    let failing = picture.alarms.iter().filter(|alarm| alarm.failing).count() as u64;
    let verdict = match picture.state {
        Health::Ok => look.green("tudo em dia / all is well"),
        Health::Failing => look.red(&format!(
            "{} / {}",
            count(failing, "problema", "problemas"),
            count(failing, "problem", "problems")
        )),
    };
    let service = match picture.service.started_at {
        Some(started) => format!("em execução / running, {}", span((picture.at - started).num_seconds())),
        None => "parado / stopped".to_owned(),
    };
    format!("espelho {} · {service} · {verdict}", picture.service.version)
}

fn write_alarm(text: &mut String, alarm: &Alarm, look: Look) {
    let mark = if alarm.failing { look.red("✗") } else { look.faint("·") };
    let whose = alarm.store.as_ref().map(|store| format!("{store}: ")).unwrap_or_default();
    let first = format!("{whose}{} / {} [{}]", alarm.pt, alarm.en, alarm.code);
    let _ = writeln!(text, "{mark} {}", wrapped(&first, 2));
    if let Some(cause) = &alarm.cause {
        let _ = writeln!(text, "    {}", wrapped(&format!("causa / cause: {cause}"), 6));
    }
    let _ = writeln!(text, "    {}", wrapped(&format!("próximo passo / next step: {}", alarm.hint), 6));
}

fn is_failing(picture: &Picture, store: &StorePicture) -> bool {
    picture.alarms.iter().any(|alarm| alarm.failing && alarm.store.as_ref() == Some(&store.store))
}

fn line(columns: [&str; 8]) -> String {
    let [store, state, run, lag, inbox, token, budget, waiting] = columns;
    let store = cut(store, 20);
    let text =
        format!("{store:<20} {state:<6} {run:<20} {lag:<7} {inbox:<6} {token:<7} {budget:<10} {waiting}");
    format!("{}\n", text.trim_end())
}

fn store_line(picture: &Picture, store: &StorePicture, look: Look) -> String {
    let failing = is_failing(picture, store);
    let run = store.last_run.as_ref().map_or_else(
        || "-".to_owned(),
        |run| {
            let short = state(&run.state).split(" / ").next().unwrap_or_default();
            format!("{short} {}", since(picture.at, Some(run.finished_at.unwrap_or(run.started_at))))
        },
    );
    let lag = store.lag_seconds.map_or_else(|| "-".to_owned(), span);
    let token = store.token_expires_at.map(|end| span((end - picture.at).num_seconds()));
    let budget = store.budget.as_ref().map(|budget| format!("{}/{}", budget.held, budget.per_minute));
    let dash = || "-".to_owned();
    let text = line([
        &store.store,
        if failing { "FALHA" } else { "ok" },
        &run,
        &lag,
        &store.inbox.backlog.to_string(),
        &token.unwrap_or_else(dash),
        &budget.unwrap_or_else(dash),
        &waiting(store),
    ]);
    if failing { format!("{}\n", look.red(text.trim_end())) } else { text }
}

/// Requests that wait, by lane; lanes without any are left out.
fn waiting(store: &StorePicture) -> String {
    let Some(budget) = &store.budget else { return "-".to_owned() };
    let lanes = budget.waiting.iter().filter(|(_, n)| **n > 0).map(|(lane, n)| format!("{lane} {n}"));
    let lanes = lanes.collect::<Vec<_>>().join(" ");
    if lanes.is_empty() { "0".to_owned() } else { cut(&lanes, 17) }
}

fn tables(picture: &Picture, store: &StorePicture, look: Look) -> String {
    let mut text = String::from("\n");
    let heads = format!(
        "{:<24} {:>12} {:>15}  {}",
        "TABELA / TABLE", "VIVOS / LIVE", "AUSENTES / GONE", "MUDOU / CHANGED"
    );
    let _ = writeln!(text, "{}", look.faint(&heads));
    for table in &store.tables {
        let changed = table.last_mirrored.map_or_else(|| "-".to_owned(), |then| ago(picture.at, then));
        let _ = writeln!(text, "{:<24} {:>12} {:>15}  {changed}", table.table, table.live, table.gone);
    }
    if let Some(holder) = &store.holder {
        let held = match holder.held {
            Some(true) => "com / held by",
            Some(false) => "livre; antes com / free; last held by",
            None => "última com / last held by",
        };
        let _ = writeln!(
            text,
            "{}",
            wrapped(&format!("{held}: {}, {}", holder.owner, ago(picture.at, holder.since)), 2)
        );
    }
    text
}

fn cut(text: &str, width: usize) -> String {
    match text.chars().count() > width {
        true => text.chars().take(width - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// Breaks a text between words; further lines are indented.
pub(super) fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = vec![String::new()];
    let room = WIDTH - indent - 2;
    // An address may be longer than a line.
    let words = text.split_whitespace().flat_map(|word| pieces(word, room));
    for word in words {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line > 0 && line + 1 + word.chars().count() > room {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&word);
        }
    }
    lines.join(&format!("\n{}", " ".repeat(indent)))
}

fn pieces(word: &str, room: usize) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    letters.chunks(room).map(|piece| piece.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::{Failures, specimen};

    const PLAIN: Look = Look { colours: false };

    #[test]
    fn everything_fits_into_100_columns() {
        let mut store = specimen::store("uma-loja-com-um-nome-muito-comprido-mesmo");
        store.problem = Some("a very long cause indeed ".repeat(20));
        store.failures = vec![Failures {
            entity: "order".into(),
            code: "http_500".into(),
            rows: 123_456,
            error: "the marketplace answered something that takes long to tell ".repeat(5),
            hint: format!("wait {}", "é".repeat(300)),
        }];
        let lanes = ["backfill", "interactive", "poll", "push", "refresh"];
        store.budget.as_mut().unwrap().waiting = lanes.map(|lane| (lane.to_owned(), 1_000)).into();
        let text = show(&specimen::picture(vec![store]), PLAIN);
        for line in text.lines() {
            assert!(line.chars().count() <= WIDTH, "{} columns: {line}", line.chars().count());
        }
        assert!(text.contains("FALHA") && text.contains("http_500"), "{text}");
    }

    #[test]
    fn what_is_wrong_comes_before_the_table_with_cause_and_next_step() {
        let mut store = specimen::store("loja-1");
        store.problem = Some("no answer; wait a little".into());
        let text = show(&specimen::picture(vec![store, specimen::store("loja-2")]), PLAIN);
        let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("no {words:?} in\n{text}"));
        assert!(at("1 problema / 1 problem") < at("causa / cause: no answer"));
        assert!(at("causa / cause: no answer") < at("próximo passo / next step: wait a little"));
        assert!(at("next step") < at("STORE") && at("STORE") < at("FALHA"));
    }

    #[test]
    fn colours_are_for_terminals() {
        let picture = specimen::picture(vec![specimen::store("loja-1")]);
        assert!(!show(&picture, PLAIN).contains('\x1b'));
        assert!(show(&picture, Look { colours: true }).contains("\x1b[1;32mtudo em dia"));
    }

    #[test]
    fn of_many_stores_the_failing_ones_are_shown_first_and_the_rest_is_counted() {
        let mut stores: Vec<_> = (0..3_000).map(|n| specimen::store(&format!("loja-{n:04}"))).collect();
        stores[2_999].last_run.as_mut().unwrap().state = "failed".into();
        let text = show(&specimen::picture(stores.clone()), PLAIN);
        assert!(text.contains("\nloja-2999") && text.contains("e mais 2980 lojas"), "{text}");
        stores.iter_mut().for_each(|store| store.problem = Some("no answer; wait".into()));
        let text = show(&specimen::picture(stores), PLAIN);
        assert!(text.contains("3000 problemas") && text.contains("e mais 2980 avisos"), "{text}");
        assert!(text.lines().count() < 100, "{text}");
    }
}
