//! The list of things to do: the alarms by cause, across stores, with the command lines that mend each group.

use std::collections::BTreeMap;

use askama::Template;
use chrono::{DateTime, Utc};
use espelho_model::text;

use super::{
    mending::{INTENTS, Mend, Trouble, mends},
    words::{Words, encoded, store_address},
};
use crate::{alarms::ShownAlarm, status::StatusSnapshot, terminal::shown};

/// The groups that are listed; the worst come first.
const GROUPS: usize = 20;
/// The sentences and stores that a group lists.
const LISTED: usize = 8;

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
    since: Option<String>,
    sentences: Vec<String>,
    next: Option<String>,
    stores: Vec<(String, String)>,
    more_stores: usize,
    mends: Vec<Line>,
}

/// A command line of a group.
struct Line {
    does: String,
    command: String,
    href: Option<String>,
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

/// Groups the alarms of a snapshot.
pub(super) fn todo(snapshot: &StatusSnapshot, words: Words) -> Todo {
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
    let groups = groups.iter().take(GROUPS).map(|group| self::group(group, snapshot, words)).collect();
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

fn group(group: &[&ShownAlarm], snapshot: &StatusSnapshot, words: Words) -> Group {
    let first = group[0];
    let mut stores = BTreeMap::<&str, u64>::new();
    for alarm in group {
        alarm.store.iter().for_each(|store| *stores.entry(store).or_default() += alarm.count);
    }
    let only_store = match group {
        [one] => one.store.as_deref(),
        _ => None,
    };
    let can_retry = group.iter().any(|alarm| alarm.is_failing() && wrote_it(snapshot, alarm));
    let row = match group {
        [one] => one.row.as_deref().and_then(|row| row.split_once(' ')),
        _ => None,
    };
    let trouble = Trouble { code: &first.code, cause: &first.cause, store: only_store, can_retry, row };
    let mends = mends(trouble);
    // Buttons that end what guards hold are the next step; whoever reads of a failure wants to know what to correct first.
    let says_it_all = first.code == "held" && mends.iter().any(|mend| mend.is_remedy);
    let line =
        |mend: Mend| Line { does: words.say(&mend.does), command: shown(&mend.command), href: mend.href };
    let since = group.iter().filter_map(|alarm| alarm.since).min().filter(|_| !says_when(&first.code));
    let total = count(group);
    // A marketplace in trouble is one alarm: what it counts are the stores.
    let counts_stores = first.is_about_marketplace();
    Group {
        code: shown(&first.code),
        cause: if first.is_about_rows() { shown(&first.cause) } else { String::new() },
        is_failing: group.iter().any(|alarm| alarm.is_failing()),
        count: (!counts_stores && (total > 1 || first.is_about_rows())).then(|| words.number(total)),
        of_stores: (counts_stores && total > 1).then(|| words.say(&text!("page-of-stores", count = total))),
        title: shown(&words.say(&first.title())),
        href: address(first, only_store),
        since: since.map(|since: DateTime<Utc>| words.say(&text!("status-since", time = since))),
        sentences: group.iter().take(LISTED).map(|alarm| shown(&alarm.text)).collect(),
        next: Some(&first.next).filter(|next| !next.is_empty() && !says_it_all).map(|next| shown(next)),
        stores: stores.keys().take(LISTED).map(|store| (shown(store), store_address(store))).collect(),
        more_stores: stores.len().saturating_sub(LISTED),
        mends: mends.into_iter().map(line).collect(),
    }
}

/// Tells whether rows that the ERP wrote have this cause.
fn wrote_it(snapshot: &StatusSnapshot, alarm: &ShownAlarm) -> bool {
    let stores =
        snapshot.stores.iter().filter(|store| alarm.store.as_ref().is_none_or(|key| *key == store.store));
    stores
        .flat_map(|store| &store.failures)
        .any(|failures| failures.code == alarm.cause && INTENTS.contains(&failures.entity.as_str()))
}

/// Returns the page that shows the rows of a group.
fn address(alarm: &ShownAlarm, store: Option<&str>) -> Option<String> {
    let of_store = store.map(|store| format!("&store={}", encoded(store))).unwrap_or_default();
    match alarm.code.as_str() {
        "failed" | "held" | "doubtful" | "waiting" => {
            Some(format!("/erros?causa={}{of_store}", encoded(&alarm.cause)))
        }
        "unknown_store" => Some("/erros?causa=unknown_store".to_owned()),
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
        todo(&snapshot, Words(Locale::default())).groups
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
        assert_eq!(unknown.mends[1].command, "espelho ignore --all --state failed --code unknown_sku");
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
                    assert!(group.next.is_some() || has_button, "{code} {cause} {severity}");
                }
            }
        }
    }

    #[test]
    fn rows_that_no_button_mends_say_what_to_do_and_lead_to_themselves() {
        let mut oversold = alarm("failed", "oversold", Some("loja-1"), 3);
        (oversold.severity, oversold.next) = ("warning".into(), "Reponha o estoque".into());
        let group = shown_groups(vec![oversold]).remove(0);
        assert_eq!(group.next.as_deref(), Some("Reponha o estoque"));
        assert_eq!(group.mends[0].href.as_deref(), Some("/erros?causa=oversold&store=loja-1"));
        let unknown = shown_groups(vec![alarm("failed", "unknown_sku", Some("loja-1"), 9)]).remove(0);
        assert!(unknown.next.is_some() && unknown.mends[1].command.contains("ignore"), "{:?}", unknown.next);
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
        assert_eq!(group.mends[1].command, "espelho ignore command 7 --store loja-1");
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
