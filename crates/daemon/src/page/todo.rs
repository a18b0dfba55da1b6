//! The list of things to do: the alarms by cause, across stores, with the command lines that mend each group.

use std::collections::BTreeMap;

use askama::Template;
use chrono::{DateTime, Utc};
use espelho_model::{
    next_step::{UNKNOWN_STORE, option_of},
    text,
};
use espelho_store::TroubledRow;

use super::{
    command::command_words,
    command_lines::command_lines,
    listing::thing_address,
    mending::{Line, Trouble, can_retry, cause_address, mends, query_of},
    sentence::{Piece, pieces},
    words::{Words, store_address},
};
use crate::{alarms::ShownAlarm, status::StatusSnapshot, terminal::shown};

/// The groups that are listed; the worst come first.
const GROUPS: usize = 20;
/// The sentences and stores that a group lists.
const LISTED: usize = 8;
/// The rows that the title of a group names.
const NAMED: usize = 3;

/// Alarms of one cause.
struct Group {
    code: String,
    cause: String,
    is_failing: bool,
    /// Absent where the code says all.
    count: Option<String>,
    title: String,
    /// How many stores it hits, where it is one cause for several.
    of_stores: Option<String>,
    /// The page of its rows.
    href: Option<String>,
    /// The first of its rows, each with its page, and how many more there are.
    names: Vec<(String, String)>,
    more_names: Option<String>,
    since: Option<String>,
    sentences: Vec<String>,
    /// The next step; empty if there is none.
    next: Vec<Piece>,
    stores: Vec<(String, String)>,
    more_stores: usize,
    mends: Vec<Line>,
}

#[derive(Template)]
#[template(path = "todo.html", whitespace = "minimize")]
pub(super) struct Todo {
    groups: Vec<Group>,
    more: Option<String>,
    /// Sentences about what is not known.
    unproved: Vec<String>,
    words: Words,
}

/// Groups the alarms of a snapshot. `named` are the first rows in trouble of each cause and state.
pub(super) fn todo(snapshot: &StatusSnapshot, named: &[TroubledRow], words: Words) -> Todo {
    let mut groups: Vec<Vec<&ShownAlarm>> = Vec::new();
    for alarm in &snapshot.alarms {
        match groups.iter_mut().find(|group| group.iter().any(|known| is_same_cause(known, alarm))) {
            Some(group) => group.push(alarm),
            None => groups.push(vec![alarm]),
        }
    }
    // The worst first, then the most frequent; the order of the alarms otherwise.
    groups.sort_by_key(|group| {
        let is_failing = group.iter().any(|alarm| alarm.is_failing());
        (!is_failing, std::cmp::Reverse(count(group)))
    });
    let hidden = groups.len().saturating_sub(GROUPS);
    let more = (hidden > 0).then(|| words.say(&text!("status-more-alarms", count = hidden)));
    let groups = groups.iter().take(GROUPS).map(|group| self::group(group, snapshot, named, words)).collect();
    let unproved = snapshot.unproved.iter().take(LISTED).map(|sentence| shown(sentence)).collect();
    Todo { groups, more, unproved, words }
}

/// Tells whether two alarms are mended together. One marketplace in trouble answers some stores with errors and others not
/// at all.
fn is_same_cause(one: &ShownAlarm, other: &ShownAlarm) -> bool {
    let is_outage =
        |alarm: &ShownAlarm| matches!(alarm.code.as_str(), "marketplace_unreachable" | "marketplace_errors");
    let is_same_code = one.code == other.code && (one.cause == other.cause || !one.is_about_rows());
    is_same_code || (is_outage(one) && is_outage(other) && one.cause == other.cause)
}

/// Tells whether the time of a code is that of its oldest row or order, which its sentences say: beside the alarm it would
/// be read as that of the alarm.
fn says_when(code: &str) -> bool {
    matches!(code, "late" | "deadline")
}

fn count(group: &[&ShownAlarm]) -> u64 {
    group.iter().map(|alarm| alarm.count).sum()
}

fn group(group: &[&ShownAlarm], snapshot: &StatusSnapshot, named: &[TroubledRow], words: Words) -> Group {
    let first = group[0];
    let mut stores = BTreeMap::<&str, u64>::new();
    for alarm in group {
        alarm.store.iter().for_each(|store| *stores.entry(store).or_default() += alarm.count);
    }
    let only_store = match group {
        [one] => one.store.as_deref(),
        _ => None,
    };
    let can_retry = can_retry(group, snapshot, named);
    let row = match group {
        [one] => one.row.as_deref().and_then(|row| row.split_once(' ')),
        _ => None,
    };
    let trouble = Trouble { code: &first.code, cause: &first.cause, store: only_store, can_retry, row };
    let mends = mends(trouble);
    // Buttons that end what guards hold are the next step; whoever reads of a failure wants to know what to correct first.
    let says_it_all = first.code == "held" && mends.iter().any(|mend| mend.is_remedy);
    let mut mends: Vec<Line> = mends.into_iter().map(|mend| mend.line(words)).collect();
    let next = match first.next.is_empty() || says_it_all {
        true => Vec::new(),
        false => next_step(group, &mut mends, words),
    };
    let since = group.iter().filter_map(|alarm| alarm.since).min().filter(|_| !says_when(&first.code));
    let total = count(group);
    // A marketplace in trouble is one alarm: what it counts are the stores.
    let counts_stores = first.is_about_marketplace();
    let names = names(group, row, named, words);
    let more_names = total.saturating_sub(names.len() as u64);
    Group {
        code: shown(&first.code),
        cause: if first.is_about_rows() { shown(&first.cause) } else { String::new() },
        is_failing: group.iter().any(|alarm| alarm.is_failing()),
        count: (!counts_stores && (total > 1 || first.is_about_rows() || first.code == UNKNOWN_STORE))
            .then(|| words.number(total)),
        of_stores: (counts_stores && total > 1).then(|| words.say(&text!("page-of-stores", count = total))),
        title: shown(&words.say(&first.title())),
        href: address(first, only_store),
        more_names: (!names.is_empty() && more_names > 0)
            .then(|| words.say(&text!("page-and-more", count = more_names))),
        names,
        since: since.map(|since: DateTime<Utc>| words.say(&text!("status-since", time = since))),
        sentences: group.iter().take(LISTED).map(|alarm| shown(&alarm.text)).collect(),
        next,
        stores: stores.keys().take(LISTED).map(|store| (shown(store), store_address(store))).collect(),
        more_stores: stores.len().saturating_sub(LISTED),
        mends,
    }
}

/// Returns the next step with its command lines apart. The list below it shows each of these by its button alone.
fn next_step(group: &[&ShownAlarm], mends: &mut Vec<Line>, words: Words) -> Vec<Piece> {
    let first = group[0];
    let commands: Vec<String> = mends.iter().filter_map(|mend| mend.command.clone()).collect();
    let mut next = shown(&first.next);
    if let (Some(store), true) = (&first.store, group.len() > 1) {
        // The step is that of the first store, and the card is about all of them.
        let of_first = shown(&option_of(Some(store)));
        for command in &commands {
            next = next.replace(&format!("{command}{of_first}"), command);
        }
    }
    let commands: Vec<String> = commands.into_iter().chain(command_lines(&next)).collect();
    let pieces = pieces(&words.say(&text!("status-next", step = next)), &commands);
    let is_said = |command: &String| pieces.iter().any(|piece| piece.is_command && piece.text == *command);
    for mend in &mut *mends {
        mend.command = mend.command.take().filter(|command| !is_said(command));
    }
    mends.retain(|mend| mend.command.is_some() || mend.href.is_some());
    pieces
}

/// Returns the names of the first rows of a group, each with its page. Without rows that are read, the only one is known by
/// its alarm.
fn names(
    group: &[&ShownAlarm],
    row: Option<(&str, &str)>,
    named: &[TroubledRow],
    words: Words,
) -> Vec<(String, String)> {
    let (first, total) = (group[0], usize::try_from(count(group)).unwrap_or(usize::MAX));
    // A row that failed says more than one that is done with a note.
    let states: &[&str] = match first.code.as_str() {
        "failed" => &["failed", "done"],
        "held" => &["held"],
        "doubtful" => &["doubtful"],
        "waiting" => &["waiting"],
        _ => &[],
    };
    let is_its_store = |store: &str| group.iter().any(|alarm| alarm.concerns(store));
    let known = row.zip(first.store.as_ref()).map(|((entity, key), store)| TroubledRow {
        store: store.clone(),
        entity: entity.to_owned(),
        key: key.to_owned(),
        ..TroubledRow::default()
    });
    let mut rows: Vec<&TroubledRow> = states
        .iter()
        .flat_map(|state| named.iter().filter(move |row| row.state == *state && row.code == first.cause))
        .filter(|row| is_its_store(&row.store))
        .take(NAMED.min(total))
        .collect();
    if rows.is_empty() && !states.is_empty() {
        rows.extend(&known);
    }
    let name = |row: &&TroubledRow| {
        (thing_name(row, total == 1, words), thing_address(&row.store, &row.entity, &row.key))
    };
    rows.iter().map(name).collect()
}

/// Returns what people call a row: an order's number, a SKU with its place or its tier, what a command is about. A row that
/// stands alone also says what it is.
fn thing_name(row: &TroubledRow, is_only: bool, words: Words) -> String {
    match (row.entity.as_str(), is_only) {
        ("command", true) if !row.kind.is_empty() => {
            command_words(&format!("{} {}", row.kind, row.subject), "null", words)
        }
        ("command", false) if !row.subject.is_empty() => shown(&row.subject),
        ("stock" | "price" | "order" | "product", false) => shown(&row.key),
        _ => shown(&format!("{} {}", words.entity(&row.entity), row.key)),
    }
}

/// Returns the page that shows the rows of a group.
fn address(alarm: &ShownAlarm, store: Option<&str>) -> Option<String> {
    let of_store = query_of(store);
    match alarm.code.as_str() {
        "failed" | "held" | "doubtful" | "waiting" => Some(cause_address(&alarm.cause, store)),
        UNKNOWN_STORE => Some(cause_address(UNKNOWN_STORE, None)),
        "deadline" if alarm.cause == "ship_by" => Some(format!("/pedidos?list=dispatch{of_store}")),
        "deadline" | "fiscal_gate" => Some(format!("/pedidos?list=invoice{of_store}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::text::{Locale, Text};
    use espelho_store::FailureGroup;
    use espelho_sync_engine::plan::alarms::Code;

    use super::*;
    use crate::status::specimen;

    fn alarm(code: &str, cause: &str, store: Option<&str>, count: u64) -> ShownAlarm {
        let text = format!("{code} em {}", store.unwrap_or("todas"));
        ShownAlarm { code: code.into(), cause: cause.into(), count, ..specimen::failing(store, &text) }
    }

    fn shown_groups(alarms: Vec<ShownAlarm>) -> Vec<Group> {
        named_groups(alarms, &[])
    }

    fn named_groups(alarms: Vec<ShownAlarm>, named: &[TroubledRow]) -> Vec<Group> {
        let mut store = specimen::store("loja-1");
        store.failures = vec![FailureGroup {
            entity: "stock".into(),
            code: "unknown_sku".into(),
            rows: 2,
            error: "e".into(),
            hint: "h".into(),
        }];
        let mut snapshot = specimen::snapshot(vec![store, specimen::store("loja-2")]);
        snapshot.alarms = alarms;
        todo(&snapshot, named, Words(Locale::default())).groups
    }

    #[test]
    fn one_cause_is_one_group_across_stores_with_the_count_first() {
        let groups = shown_groups(vec![
            alarm("failed", "unknown_sku", Some("loja-2"), 3),
            alarm("failed", "http_500", Some("loja-1"), 40),
            alarm("failed", "unknown_sku", Some("loja-1"), 9),
        ]);
        assert_eq!(groups.len(), 2);
        assert_eq!((groups[0].cause.as_str(), groups[0].count.as_deref()), ("http_500", Some("40")));
        let unknown = &groups[1];
        assert_eq!((unknown.title.as_str(), unknown.count.as_deref()), ("SKU desconhecido", Some("12")));
        assert_eq!(
            unknown.stores.iter().map(|(store, _)| store.as_str()).collect::<Vec<_>>(),
            ["loja-1", "loja-2"]
        );
        let ignore = "espelho ignore --all --state failed --code unknown_sku";
        assert_eq!(unknown.mends[1].command.as_deref(), Some(ignore));
        assert_eq!(groups[0].mends.len(), 1, "nothing that the ERP wrote has this cause");
    }

    #[test]
    fn a_code_that_names_a_place_as_its_cause_is_one_group() {
        let groups = shown_groups(vec![
            alarm("marketplace_unreachable", "http://a", None, 1),
            alarm("marketplace_unreachable", "http://b", None, 1),
        ]);
        assert_eq!(
            (groups.len(), groups[0].of_stores.as_deref(), groups[0].sentences.len()),
            (1, Some("(2 lojas)"), 2)
        );
    }

    #[test]
    fn one_outage_is_one_group_whatever_it_answers_and_however_many_stores_each_alarm_is_about() {
        let groups = shown_groups(vec![
            alarm("marketplace_unreachable", "http://a", None, 49),
            alarm("marketplace_unreachable", "http://a", Some("loja-2"), 1),
            alarm("marketplace_errors", "http://a", Some("loja-1"), 1),
            alarm("throttled", "http://a", Some("loja-1"), 1),
        ]);
        let shown: Vec<_> =
            groups.iter().map(|group| (group.code.as_str(), group.of_stores.as_deref())).collect();
        assert_eq!(shown, [("marketplace_unreachable", Some("(51 lojas)")), ("throttled", None)]);
        assert!(groups.iter().all(|group| group.count.is_none()), "one cause is told once");
        assert_eq!((groups[0].sentences.len(), groups[0].stores.len()), (3, 2));
    }

    /// Returns the next steps that alarms of a code have, in the words of the catalogue: one for each of its texts.
    fn next_steps(code: Code, cause: &str) -> Vec<String> {
        let word = code.as_str().replace('_', "-");
        let ids = match code {
            Code::ServiceStopped => vec!["service-stopped", "service-never-started"],
            Code::DatabaseBusy => vec!["database-busy", "database-busy-session", "database-busy-unnamed"],
            Code::ClockWrong => vec!["clock-behind", "clock-ahead"],
            Code::MarketplaceErrors => vec!["marketplace-errors", "marketplace-routes-fail"],
            Code::ConfigurationRefused => vec!["configuration-refused", "configuration-unusable"],
            Code::Failed => vec!["failed", "noted"],
            Code::Held if cause == "price_zero" => vec!["held-zero"],
            Code::Late => vec!["late-inbox", "late-rows", "late-sweep", "late-complete"],
            Code::Deadline => vec!["deadline-near", "deadline-past"],
            Code::Paused => vec!["paused", "paused-stores"],
            _ => vec![word.as_str()],
        };
        let next = |id: &str| {
            let text = Text::new(format!("alarm-{id}"));
            assert!(text.is_known(), "{id}");
            text.next(Locale::default()).unwrap_or_default()
        };
        ids.into_iter().map(next).collect()
    }

    #[test]
    fn every_card_ends_in_a_button_that_mends_its_rows_or_in_a_next_step() {
        for code in Code::ALL {
            for cause in ["", "unknown_sku", "price_zero", "oversold", "ship_by"] {
                let steps = next_steps(*code, cause);
                let each = ["failing", "warning"]
                    .into_iter()
                    .flat_map(|severity| steps.iter().map(move |next| (severity, next)));
                for (severity, next) in each {
                    let mut alarm = alarm(code.as_str(), cause, Some("loja-1"), 2);
                    (alarm.severity, alarm.next) = (severity.into(), next.clone());
                    let groups = shown_groups(vec![alarm]);
                    let group = &groups[0];
                    let has_button = group
                        .mends
                        .iter()
                        .any(|mend| mend.href.as_ref().is_some_and(|href| href.starts_with("/acao")));
                    assert!(!group.next.is_empty() || has_button, "{code} {cause} {severity}");
                }
            }
        }
    }

    #[test]
    fn rows_that_no_button_mends_say_what_to_do_and_lead_to_themselves() {
        let mut oversold = alarm("failed", "oversold", Some("loja-1"), 3);
        (oversold.severity, oversold.next) = ("warning".into(), "Reponha o estoque".into());
        let group = shown_groups(vec![oversold]).remove(0);
        assert_eq!(said(&group.next), "próximo passo: Reponha o estoque");
        assert_eq!(group.mends[0].href.as_deref(), Some("/erros?causa=oversold&store=loja-1"));
        let unknown = shown_groups(vec![alarm("failed", "unknown_sku", Some("loja-1"), 9)]).remove(0);
        let ignores = |line: &Line| line.command.as_ref().is_some_and(|command| command.contains("ignore"));
        assert!(!unknown.next.is_empty() && ignores(&unknown.mends[1]), "{:?}", unknown.next);
    }

    #[test]
    fn a_single_row_has_its_own_acts_and_leads_to_their_questions() {
        let mut doubtful = alarm("doubtful", "unprovable", Some("loja-1"), 1);
        doubtful.row = Some("command 7".into());
        let group = shown_groups(vec![doubtful]).remove(0);
        let acts: Vec<_> =
            group.mends.iter().map(|mend| (mend.does.as_str(), mend.href.as_deref().unwrap())).collect();
        let question = |act: &str| format!("/acao?act={act}&entity=command&key=7&store=loja-1");
        assert_eq!(
            acts,
            [
                ("Tentar de novo", question("retry").as_str()),
                ("Aconteceu: encerrar", question("happened").as_str()),
                ("Ver o registro", "/erros?causa=unprovable&store=loja-1"),
            ]
        );
        assert_eq!(group.mends[1].command.as_deref(), Some("espelho ignore command 7 --store loja-1"));
    }

    fn said(next: &[Piece]) -> String {
        next.iter().map(|piece| piece.text.as_str()).collect()
    }

    #[test]
    fn a_command_line_stands_once_in_a_card() {
        let mut doubtful = alarm("doubtful", "unprovable", Some("loja-1"), 1);
        doubtful.row = Some("command 7".into());
        doubtful.next =
            "se não teve efeito: espelho retry command 7 --store loja-1; se teve: espelho ignore \
            command 7 --store loja-1"
                .into();
        let mut login = alarm("credential_refused", "", Some("loja-1"), 1);
        login.next = "Para testar: espelho doctor --login".into();
        for (alarm, commands, buttons) in [
            (
                doubtful,
                &["espelho retry command 7 --store loja-1", "espelho ignore command 7 --store loja-1"][..],
                &[
                    ("Tentar de novo", None),
                    ("Aconteceu: encerrar", None),
                    ("Ver o registro", Some("espelho explain command 7 --store loja-1")),
                ][..],
            ),
            (login, &["espelho doctor --login"], &[]),
        ] {
            let group = shown_groups(vec![alarm]).remove(0);
            let marked: Vec<&str> =
                group.next.iter().filter(|piece| piece.is_command).map(|piece| piece.text.as_str()).collect();
            assert_eq!(marked, commands);
            let lines: Vec<_> =
                group.mends.iter().map(|line| (line.does.as_str(), line.command.as_deref())).collect();
            assert_eq!(lines, buttons);
        }
    }

    #[test]
    fn the_step_of_a_card_about_several_stores_is_for_all_of_them() {
        let each = ["loja-1", "loja-2"].map(|store| {
            let mut alarm = alarm("failed", "unknown_sku", Some(store), 2);
            alarm.next =
                format!("Corrija (detalhes: espelho errors --all --code unknown_sku --store {store})");
            alarm
        });
        let group = shown_groups(each.to_vec()).remove(0);
        assert_eq!(
            said(&group.next),
            "próximo passo: Corrija (detalhes: espelho errors --all --code unknown_sku)"
        );
        let look = group.mends.iter().find(|line| line.does == "Ver um por um").unwrap();
        assert_eq!((look.command.as_deref(), look.href.is_some()), (None, true));
    }

    #[test]
    fn differences_are_a_card_for_what_is_to_be_read_again_with_the_steps_for_its_stores() {
        let differs = |targets: &str, store: &str| {
            let mut alarm = alarm("mirror_differs", targets, Some(store), 2);
            alarm.next = format!(
                "veja: espelho audit --store {store}; leia: espelho --resync --deep --only {targets} --store {store}"
            );
            alarm
        };
        let alarms = [("orders,shipments", "loja-1"), ("products", "loja-1"), ("orders,shipments", "loja-2")];
        let groups = shown_groups(alarms.map(|(targets, store)| differs(targets, store)).to_vec());
        for (targets, steps) in [
            (
                "orders,shipments",
                "veja: espelho audit; leia: espelho --resync --deep --only orders,shipments",
            ),
            (
                "products",
                "veja: espelho audit --store loja-1; leia: espelho --resync --deep --only products --store loja-1",
            ),
        ] {
            let group = groups.iter().find(|group| group.cause == targets).unwrap();
            assert_eq!(said(&group.next), format!("próximo passo: {steps}"));
            assert!(group.mends.is_empty(), "the step says both");
        }
        assert_eq!(groups.len(), 2);
    }

    #[test]
    fn the_title_of_a_card_names_the_cause_and_its_first_rows() {
        let row = |entity: &str, key: &str, state: &str, code: &str, command: [&str; 2]| TroubledRow {
            store: "loja-1".into(),
            entity: entity.into(),
            key: key.into(),
            state: state.into(),
            code: code.into(),
            kind: command[0].into(),
            subject: command[1].into(),
        };
        let named = [
            row("stock", "CAN-01/1", "failed", "unknown_sku", ["", ""]),
            row("price", "CAN-02/10", "failed", "unknown_sku", ["", ""]),
            row("command", "9", "failed", "unknown_sku", ["stock.adjust", "CAN-03"]),
            row("command", "5", "failed", "NOT_FOUND", ["order.status", "000100"]),
            row("price", "CAN-01/1", "held", "price_jump", ["", ""]),
            row("command", "6", "done", "SELLER_SAYS_NO", ["order.status", "000200"]),
        ];
        let known = |code: &str, cause: &str, row: &str| {
            let mut known = alarm(code, cause, Some("loja-1"), 1);
            known.row = Some(row.to_owned());
            known
        };
        for (alarm, title, names, more) in [
            (
                alarm("failed", "unknown_sku", Some("loja-1"), 7),
                "SKU desconhecido",
                &["CAN-01/1", "CAN-02/10", "CAN-03"][..],
                Some("e mais 4"),
            ),
            (
                known("failed", "NOT_FOUND", "command 5"),
                "não existe no marketplace",
                &["mudar a situação do pedido 000100"],
                None,
            ),
            (
                known("held", "price_jump", "price CAN-01/1"),
                "preço muda demais de uma vez",
                &["preço CAN-01/1"],
                None,
            ),
            (
                known("failed", "SELLER_SAYS_NO", "command 6"),
                "recusado pelo marketplace",
                &["mudar a situação do pedido 000200"],
                None,
            ),
            // Before rows are read: what the alarm knows.
            (
                known("failed", "http_500", "order 000300"),
                "o marketplace respondeu 500",
                &["pedido 000300"],
                None,
            ),
            (alarm("failed", "unknown_sku", Some("loja-2"), 7), "SKU desconhecido", &[], None),
            (known("waiting", "waiting_invoice", "command 8"), "espera NF-e", &["comando 8"], None),
        ] {
            let group = named_groups(vec![alarm], &named).remove(0);
            let shown: Vec<&str> = group.names.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(
                (group.title.as_str(), shown.as_slice(), group.more_names.as_deref()),
                (title, names, more)
            );
        }
        let stranger = shown_groups(vec![alarm("unknown_store", "unknown_store", None, 1)]).remove(0);
        assert_eq!((stranger.count.as_deref(), stranger.title.as_str()), (Some("1"), "loja desconhecida"));
        let group = named_groups(vec![alarm("failed", "unknown_sku", None, 3)], &named).remove(0);
        let pages: Vec<&str> = group.names.iter().map(|(_, href)| href.as_str()).collect();
        assert_eq!(
            pages,
            [
                "/historia/product/CAN-01?store=loja-1",
                "/historia/product/CAN-02?store=loja-1",
                "/historia/command/9?store=loja-1"
            ]
        );
    }

    #[test]
    fn a_card_tells_since_when_unless_the_time_is_that_of_a_row() {
        for (code, has_since) in [
            ("late", false),
            ("deadline", false),
            ("failed", true),
            ("held", true),
            ("service_stopped", true),
            ("marketplace_unreachable", true),
            ("marketplace_errors", true),
            ("throttled", true),
        ] {
            let group = shown_groups(vec![alarm(code, "x", Some("loja-1"), 1)]).remove(0);
            assert_eq!(group.since.is_some(), has_since, "{code}");
        }
    }

    #[test]
    fn what_fails_comes_before_what_needs_attention() {
        let mut warning = alarm("held", "price_jump", Some("loja-1"), 100);
        warning.severity = "warning".into();
        let groups = shown_groups(vec![warning, alarm("failed", "x", Some("loja-1"), 1)]);
        assert_eq!(groups.iter().map(|group| group.code.as_str()).collect::<Vec<_>>(), ["failed", "held"]);
    }
}
