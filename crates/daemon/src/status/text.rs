//! The snapshot on a terminal: 100 columns, the verdict first, with its proof. Next steps alone may be longer.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use espelho_model::{
    text,
    text::{Arg, Locale, Text, words},
};
use espelho_store::TableState;

use super::{
    StatusSnapshot, StoreSnapshot, WatchedReadings, columns, columns::wrapped, resources, sweeps, wanted,
};
use crate::{alarms::ShownAlarm, terminal::shown};

/// The maximum number of alarms and stores shown one by one, the failing ones first.
const SHOWN: usize = 20;

/// The style of the text: its language, and colours only if a person sees them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextStyle {
    pub colours: bool,
    pub locale: Locale,
}

impl TextStyle {
    fn paint(self, code: &str, text: &str) -> String {
        if self.colours { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn of_state(self, state: &str, text: &str) -> String {
        match state {
            "ok" => self.paint("1;32", text),
            "failing" => self.paint("1;31", text),
            "warning" => self.paint("1;33", text),
            _ => self.paint("1", text),
        }
    }

    fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }

    fn word(self, text: &Text) -> String {
        text.message(self.locale)
    }

    fn span(self, seconds: i64) -> String {
        self.locale.span(seconds)
    }
}

/// Writes the snapshot for people.
pub(crate) fn show(snapshot: &StatusSnapshot, readings: &WatchedReadings, style: TextStyle) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{}", headline(snapshot, style));
    let _ = writeln!(text, "{}", style.faint(&wrapped(&proof(snapshot, style.locale), 2)));
    if let Some(queue) = wanted::long_queue(snapshot) {
        let next = queue.next(style.locale).map(|step| style.word(&text!("status-next", step = step)));
        let next = next.map(|next| format!("; {next}")).unwrap_or_default();
        let _ = writeln!(text, "– {}{next}", wrapped(&style.word(&queue), 2));
    }
    snapshot.unproved.iter().take(SHOWN).for_each(|unproved| {
        let _ = writeln!(text, "– {}", wrapped(unproved, 2));
    });
    readings.lines(snapshot).iter().take(SHOWN).for_each(|reading| {
        let _ = writeln!(text, "– {}", wrapped(&style.word(reading), 2));
    });
    snapshot.alarms.iter().take(SHOWN).for_each(|alarm| write_alarm(&mut text, alarm, style));
    if let Some(hidden) = snapshot.alarms.len().checked_sub(SHOWN).filter(|hidden| *hidden > 0) {
        let _ = writeln!(text, "{}", style.word(&text!("status-more-alarms", count = hidden)));
    }
    stores(&mut text, snapshot, style);
    if let Some(hidden) = snapshot.stores.len().checked_sub(SHOWN).filter(|hidden| *hidden > 0) {
        let _ = writeln!(text, "{}", style.word(&text!("status-more-stores", count = hidden)));
    }
    if let [store] = &snapshot.stores[..] {
        push_table(&mut text, resources::lines(store, snapshot.at, style.locale), style);
        push_table(&mut text, wanted::lines(store, style.locale), style);
        push_table(&mut text, tables(snapshot, store, style.locale), style);
        if let Some(age) = resources::count_age(store, snapshot.at, style.locale) {
            let _ = writeln!(text, "{}", style.faint(&age));
        }
        if let Some(holder) = holder(snapshot, store) {
            let _ = writeln!(text, "{}", wrapped(&style.word(&holder), 2));
        }
        push_table(&mut text, sweeps::lines(store, snapshot.at, style.locale), style);
    }
    text
}

/// Writes a table below an empty line, with faint titles.
fn push_table(text: &mut String, lines: Vec<String>, style: TextStyle) {
    let mut lines = lines.into_iter();
    // Writing to a String cannot fail.
    if let Some(titles) = lines.next() {
        let _ = writeln!(text, "\n{}", style.faint(&titles));
    }
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
}

/// Returns the state in words: `2 problemas, 1 aviso`.
pub(crate) fn verdict(snapshot: &StatusSnapshot, locale: Locale) -> String {
    let failing = snapshot.alarms.iter().filter(|alarm| alarm.is_failing()).count();
    let warnings = snapshot.alarms.len() - failing;
    let problems = (failing > 0).then(|| text!("status-problems", count = failing));
    let warnings = (warnings > 0).then(|| text!("status-warnings", count = warnings));
    let told: Vec<String> = problems.into_iter().chain(warnings).map(|text| text.message(locale)).collect();
    match (told.is_empty(), snapshot.state.as_str()) {
        (false, _) => told.join(", "),
        (true, "ok") => text!("status-ok").message(locale),
        (true, _) => text!("status-unknown").message(locale),
    }
}

/// Returns the evidence for the state, with its age.
pub(crate) fn proof(snapshot: &StatusSnapshot, locale: Locale) -> String {
    let age = |then: DateTime<Utc>| Arg::Seconds((snapshot.at - then).num_seconds());
    let proof = snapshot.proof;
    let proofs = [
        proof.marketplace_at.map(|then| text!("status-proof-marketplace", span = age(then))),
        proof.database_at.map(|then| text!("status-proof-database", span = age(then))),
        proof.webhook_at.map(|then| text!("status-proof-webhook", span = age(then))),
    ];
    let told: Vec<String> = proofs.into_iter().flatten().map(|text| text.message(locale)).collect();
    if told.is_empty() { text!("status-no-proof").message(locale) } else { told.join(" · ") }
}

fn headline(snapshot: &StatusSnapshot, style: TextStyle) -> String {
    let verdict = style.of_state(&snapshot.state, &verdict(snapshot, style.locale));
    let service = match snapshot.service.started_at {
        Some(started) => {
            text!("status-running", span = Arg::Seconds((snapshot.at - started).num_seconds()))
        }
        None => text!("status-stopped"),
    };
    format!("espelho {} · {} · {verdict}", snapshot.service.version, style.word(&service))
}

fn write_alarm(text: &mut String, alarm: &ShownAlarm, style: TextStyle) {
    let mark = if alarm.is_failing() { "✗" } else { "!" };
    let since = alarm.since.map(|since| text!("status-since", time = since).message(style.locale));
    let since = since.map(|since| format!(", {since}")).unwrap_or_default();
    // An ERP may have written any text as the name of a store.
    let told = format!("{} [{}{since}]", shown(&alarm.text), alarm.code);
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{} {}", style.of_state(&alarm.severity, mark), wrapped(&told, 2));
    if !alarm.next.is_empty() {
        // The terminal breaks what is too long for it: a command with a line break of ours cannot be pasted.
        let next = style.word(&text!("status-next", step = shown(&alarm.next)));
        let _ = writeln!(text, "    {next}");
    }
}

/// Writes the table of the stores, the failing ones first.
fn stores(text: &mut String, snapshot: &StatusSnapshot, style: TextStyle) {
    let is_ok = |store: &&StoreSnapshot| snapshot.shown_state_of(store) == "ok";
    let well = snapshot.stores.iter().filter(is_ok);
    let ordered = snapshot.stores.iter().filter(|store| !is_ok(store)).chain(well);
    let shown: Vec<&StoreSnapshot> = ordered.take(SHOWN).collect();
    let heads = ["store", "state", "last-run", "lag", "inbox", "token", "budget", "waiting-requests"];
    let columns = heads.map(|head| (Text::new(format!("status-{head}")), false));
    let rows = shown.iter().map(|store| store_cells(snapshot, store, style)).collect();
    let mut lines = columns::cut_lines(&columns, rows, style.locale);
    for (line, store) in lines.iter_mut().skip(1).zip(shown) {
        let state = snapshot.state_of(store);
        if state == "failing" {
            *line = style.of_state(state, line);
        }
    }
    push_table(text, lines, style);
}

fn store_cells(snapshot: &StatusSnapshot, store: &StoreSnapshot, style: TextStyle) -> Vec<String> {
    let dash = || "-".to_owned();
    let run = store.last_run.as_ref().map(|run| {
        let ended = run.finished_at.unwrap_or(run.started_at);
        let age = style.span((snapshot.at - ended).num_seconds());
        format!("{} {age}", style.word(&words::run_state(&run.state)))
    });
    let token = match snapshot.refuses_token_of(store) {
        true => Some(style.word(&text!("status-token-refused"))),
        false => store.token_expires_at.map(|end| style.span((end - snapshot.at).num_seconds())),
    };
    let budget = store.budget.as_ref().map(|budget| format!("{}/{}", budget.held, budget.per_minute));
    vec![
        store.store.clone(),
        style.word(&Text::new(format!("status-state-{}", snapshot.shown_state_of(store)))),
        run.unwrap_or_else(dash),
        store.lag_seconds.map_or_else(dash, |lag| style.span(lag)),
        style.locale.number(store.inbox.backlog),
        token.unwrap_or_else(dash),
        budget.unwrap_or_else(dash),
        queue(store, style.locale),
    ]
}

/// Returns the open rows of the ERP, and the waiting requests by lane; what there is none of is left out.
fn queue(store: &StoreSnapshot, locale: Locale) -> String {
    let open = wanted::open_rows(store);
    let rows = (open > 0).then(|| text!("status-queue-rows", count = open).message(locale));
    let lanes = store.budget.iter().flat_map(|budget| &budget.waiting).filter(|(_, n)| **n > 0);
    let lanes =
        lanes.map(|(lane, n)| format!("{} {}", words::lane(lane).message(locale), locale.number(*n as u64)));
    let queued: Vec<String> = rows.into_iter().chain(lanes).collect();
    match (queued.is_empty(), &store.budget) {
        (false, _) => queued.join(" "),
        (true, Some(_)) => "0".to_owned(),
        (true, None) => "-".to_owned(),
    }
}

/// Returns in words who holds the store.
pub(crate) fn holder(snapshot: &StatusSnapshot, store: &StoreSnapshot) -> Option<Text> {
    let holder = store.holder.as_ref()?;
    let (owner, span) = (process(&holder.owner), Arg::Seconds((snapshot.at - holder.since).num_seconds()));
    Some(match holder.held {
        Some(true) => text!("status-holder-held", owner = owner, span = span),
        Some(false) => text!("status-holder-free", owner = owner, span = span),
        None => text!("status-holder-unknown", owner = owner, span = span),
    })
}

/// Returns the recorded name of a process in words: `espelho run (process 7 on HOST)`.
pub(crate) fn process(owner: &str) -> Text {
    let named = owner.strip_suffix(')').and_then(|owner| {
        let (program, place) = owner.rsplit_once(" (process ")?;
        let (id, machine) = place.split_once(" on ")?;
        Some(text!("status-process", program = program, id = id, machine = machine))
    });
    named.unwrap_or_else(|| text!("words-other", word = owner))
}

fn tables(snapshot: &StatusSnapshot, store: &StoreSnapshot, locale: Locale) -> Vec<String> {
    let row = |table: &TableState| {
        let changed = table.last_mirrored.map(|then| locale.span((snapshot.at - then).num_seconds()));
        let changed = changed.unwrap_or_else(|| "-".to_owned());
        vec![table.table.clone(), locale.number(table.live), locale.number(table.gone), changed]
    };
    let columns = [
        (text!("status-table"), false),
        (text!("status-live"), true),
        (text!("status-gone"), true),
        (text!("status-changed"), false),
    ];
    columns::lines(&columns, store.tables.iter().map(row).collect(), locale)
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Language;

    use super::*;
    use crate::status::specimen;

    const COLOURS: [bool; 2] = [false, true];

    fn show(snapshot: &StatusSnapshot, style: TextStyle) -> String {
        super::show(snapshot, &WatchedReadings::default(), style)
    }

    fn style(colours: bool) -> TextStyle {
        TextStyle { colours, locale: Locale::default() }
    }

    fn failing(store: &str, text: &str) -> StatusSnapshot {
        let mut snapshot = specimen::snapshot(vec![specimen::store("loja-1"), specimen::store("loja-2")]);
        snapshot.state = "failing".into();
        snapshot.alarms = vec![specimen::failing(Some(store), text)];
        snapshot
    }

    #[test]
    fn everything_fits_into_100_columns() {
        let mut store = specimen::store("uma-loja-com-um-nome-muito-comprido-mesmo");
        let lanes = ["backfill", "interactive", "poll", "push", "refresh"];
        store.budget.as_mut().unwrap().waiting = lanes.map(|lane| (lane.to_owned(), 1_000)).into();
        let mut snapshot = specimen::snapshot(vec![store]);
        snapshot.alarms =
            vec![specimen::failing(None, &format!("{} {}", "palavra ".repeat(40), "é".repeat(300)))];
        for language in Language::ALL {
            let text = show(&snapshot, TextStyle { colours: false, locale: Locale::of(language) });
            for line in text.lines() {
                assert!(line.chars().count() <= 100, "{} columns: {line}", line.chars().count());
            }
        }
    }

    #[test]
    fn the_queue_holds_the_rows_of_the_erp_beside_the_requests_and_long_waits_are_said_first() {
        let idle = specimen::store("loja-1");
        let offline = StoreSnapshot { budget: None, ..idle.clone() };
        let waiting = |store: &StoreSnapshot| StoreSnapshot {
            wanted: vec![wanted::tests::rows(0, 0, 0)],
            ..store.clone()
        };
        for (store, expected) in [
            (&idle, "leituras periódicas 3"),
            (&offline, "-"),
            (&waiting(&idle), "linhas do ERP 3 leituras periódicas 3"),
            (&waiting(&offline), "linhas do ERP 3"),
        ] {
            assert_eq!(queue(store, Locale::default()), expected);
        }
        let mut long = waiting(&idle);
        long.wanted[0].oldest_open_seconds = Some(720);
        let text = show(&specimen::snapshot(vec![long]), style(false));
        let said =
            text.find("– 3 linhas do ERP esperam, a mais antiga há 12 min; próximo passo: espelho plan");
        assert!(said.is_some() && said < text.find("Loja "), "{text}");
    }

    #[test]
    fn what_is_wrong_comes_before_the_table_with_its_next_step() {
        let text = show(&failing("loja-2", "sem resposta"), style(false));
        let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("no {words:?} in\n{text}"));
        assert!(at("1 problema") < at("marketplace respondeu há"));
        assert!(at("✗ sem resposta [failed, desde") < at("próximo passo: espelho errors"));
        assert!(at("próximo passo") < at("Loja ") && at("\nloja-2") < at("\nloja-1"));
    }

    #[test]
    fn a_next_step_is_one_line_however_long_its_command_is() {
        let mut snapshot = failing("loja-2", &"palavra ".repeat(40));
        let command =
            "espelho --config /srv/uma/pasta/de/configuração/bem comprida errors --all --code unknown_store";
        for next in [format!("veja o que falhou: {command}"), format!("{command}; {command}")] {
            snapshot.alarms[0].next = next.clone();
            let text = show(&snapshot, style(false));
            assert!(text.lines().any(|line| line == format!("    próximo passo: {next}")), "{text}");
        }
    }

    #[test]
    fn colours_are_for_terminals_and_words_of_one_language() {
        let snapshot = specimen::snapshot(vec![specimen::store("loja-1")]);
        let [plain, painted] = COLOURS.map(|colours| show(&snapshot, style(colours)));
        assert!(!plain.contains('\x1b') && painted.contains("\x1b[1;32mtudo em dia"));
        let english = show(&snapshot, TextStyle { colours: false, locale: Locale::of(Language::English) });
        assert!(english.contains("all is well") && !english.contains("em dia"), "{english}");
    }

    #[test]
    fn the_holder_of_a_store_is_named_in_the_readers_language() {
        let said = |owner: &str| Language::ALL.map(|language| process(owner).message(Locale::of(language)));
        for (owner, expected) in [
            (
                "espelho run (process 7 on a)",
                ["espelho run (processo 7 em a)", "espelho run (process 7 on a)"],
            ),
            ("somebody else", ["somebody else", "somebody else"]),
        ] {
            assert_eq!(said(owner), expected);
        }
    }

    #[test]
    fn what_has_no_proof_is_not_called_well() {
        let mut snapshot = specimen::snapshot(vec![specimen::store("loja-1")]);
        (snapshot.state, snapshot.unproved) =
            ("unknown".into(), vec!["O marketplace não respondeu há pouco.".into()]);
        let text = show(&snapshot, style(false));
        assert!(text.contains("sem prova recente") && !text.contains("tudo em dia"), "{text}");
        assert!(text.contains("– O marketplace não respondeu"), "{text}");
    }

    #[test]
    fn of_many_stores_the_failing_ones_are_shown_first_and_the_rest_is_counted() {
        let mut snapshot =
            specimen::snapshot((0..3_000).map(|n| specimen::store(&format!("loja-{n:04}"))).collect());
        snapshot.alarms = vec![specimen::failing(Some("loja-2999"), "x")];
        let text = show(&snapshot, style(false));
        assert!(text.contains("\nloja-2999") && text.contains("e mais 2.980 lojas"), "{text}");
        snapshot.alarms = (0..3_000).map(|n| specimen::failing(Some(&format!("loja-{n:04}")), "x")).collect();
        let text = show(&snapshot, style(false));
        assert!(text.contains("3.000 problemas") && text.contains("e mais 2.980 avisos"), "{text}");
        assert!(text.lines().count() < 100, "{text}");
    }

    #[test]
    fn how_far_a_first_reading_is_stands_before_the_tables() {
        let mut store = specimen::store("loja-1");
        let read = espelho_store::ReadSoFar { resource: "orders".into(), seen: 1_200, total: Some(5_000) };
        (store.first_reading_ended, store.reading) = (false, vec![read]);
        let text = show(&specimen::snapshot(vec![store]), style(false));
        let at = text.find("– loja-1, primeira leitura, pedidos: 1.200 de 5.000 linhas (24 %)");
        assert!(at.is_some() && at < text.find("Loja "), "{text}");
    }
}
