//! The command lines that mend what a group of alarms is about; those for rows are by the one rule of
//! [`espelho_model::next_step`]. Pure.

use espelho_model::{
    next_step::{self, RowAct, Rows, command_line, quoted},
    program,
    push::PushState,
    text,
    text::Text,
};
use espelho_store::TroubledRow;

use super::words::{Words, encoded, store_address};
use crate::{acts::Deed, alarms::ShownAlarm, status::StatusSnapshot, terminal::shown};

/// Starts the service and the port of its webhooks, now and with the machine, and shows what may keep it from starting.
const START: &str = "sudo systemctl enable --now espelho espelho.socket; journalctl -u espelho -n 20";

/// Makes a backup as the timer does, and proves it.
const BACK_UP: &str = "sudo systemctl start espelho-backup";

/// A command line, with what it does.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mend {
    /// The words of a button, or those that lead to a command line.
    pub(super) does: Text,
    pub(super) command: String,
    /// The page that asks and does it, or shows it; `None` where only the command line does it.
    pub(super) href: Option<String>,
    /// True if it ends what the group is about.
    pub(super) is_remedy: bool,
}

/// A command line, or a button that does the same, in the words of a page.
pub(super) struct Line {
    pub(super) does: String,
    /// Absent where a sentence beside it has the command line.
    pub(super) command: Option<String>,
    pub(super) href: Option<String>,
}

impl Mend {
    pub(super) fn line(self, words: Words) -> Line {
        Line { does: words.say(&self.does), command: Some(shown(&self.command)), href: self.href }
    }
}

/// The facts that the command lines of a group depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trouble<'t> {
    pub(super) code: &'t str,
    /// The cause within the code.
    pub(super) cause: &'t str,
    /// The store, if it is only one.
    pub(super) store: Option<&'t str>,
    /// True if rows that the ERP wrote have failed: they can be tried again.
    pub(super) can_retry: bool,
    /// The table and the key of the row, if it is only one.
    pub(super) row: Option<(&'t str, &'t str)>,
}

/// Tells whether rows that the ERP wrote have failed for the cause of a group. `named` are the first rows in trouble of each
/// cause and state.
pub(super) fn can_retry(group: &[&ShownAlarm], snapshot: &StatusSnapshot, named: &[TroubledRow]) -> bool {
    group.iter().filter(|alarm| alarm.is_failing()).any(|alarm| {
        match alarm.cause == next_step::PRICE_ZERO {
            // Most prices of zero are in the mirror alone, under the names of rows that the ERP could write.
            true => named.iter().any(|row| {
                row.state == PushState::Failed.as_str()
                    && row.code == alarm.cause
                    && next_step::is_intent(&row.entity)
                    && alarm.concerns(&row.store)
            }),
            false => snapshot
                .stores
                .iter()
                .filter(|store| alarm.concerns(&store.store))
                .flat_map(|store| &store.failures)
                .any(|failures| failures.code == alarm.cause && next_step::is_intent(&failures.entity)),
        }
    })
}

/// Returns the command lines for a group, what mends first.
pub(super) fn mends(trouble: Trouble<'_>) -> Vec<Mend> {
    let Trouble { code, cause, store, can_retry, .. } = trouble;
    if let Some(mends) = of_row(trouble) {
        return mends;
    }
    let of_store = next_step::option_of(store);
    match code {
        "failed" if can_retry => of_rows(trouble, Some(PushState::Failed)),
        "unknown_store" => {
            of_rows(Trouble { cause: next_step::UNKNOWN_STORE, ..trouble }, Some(PushState::Failed))
        }
        "held" => of_rows(trouble, Some(PushState::Held)),
        // A row that the mirror could not take is read again by itself.
        "failed" | "waiting" => of_rows(trouble, None),
        // Rows in doubt are decided one by one, where they are listed.
        "doubtful" => {
            let href = Some(format!("/fila?state=doubtful{}", query_of(store)));
            vec![Mend { href, ..look(cause, store) }]
        }
        "paused" => {
            let resume = ours(text!("page-mend-resume"), &format!("resume{of_store}"));
            let href = Some(format!("/acao?act=resume{}", query_of(store)));
            vec![Mend { href, is_remedy: true, ..resume }]
        }
        "credential_refused" | "foreign_login" | "token_expires" => {
            vec![ours(text!("page-mend-login"), "doctor --login")]
        }
        "webhook_elsewhere" => {
            let move_it =
                store.map(|store| ours(text!("page-mend-move"), &format!("webhook move {}", quoted(store))));
            move_it.into_iter().chain([ours(text!("page-mend-doctor"), "doctor")]).collect()
        }
        "webhooks_unverified" => {
            vec![ours(text!("page-mend-webhook-test"), &format!("webhook test --wait=20{of_store}"))]
        }
        "webhooks_missing"
        | "not_held"
        | "database_unreachable"
        | "marketplace_unreachable"
        | "scope_missing" => {
            vec![ours(text!("page-mend-doctor"), "doctor")]
        }
        // Its cause names what is to be read again.
        "mirror_differs" => {
            let resync = format!("--resync --deep --only {}{of_store}", quoted(cause));
            vec![
                ours(text!("page-mend-doctor"), &format!("audit{of_store}")),
                ours(text!("page-mend-resync"), &resync),
            ]
        }
        "run_failed" => vec![ours(text!("page-mend-resync"), &format!("--resync{of_store}"))],
        "late" => {
            let status = ours(text!("page-mend-status"), &format!("status{of_store}"));
            vec![match store {
                Some(store) => {
                    Mend { does: text!("page-mend-store"), href: Some(store_address(store)), ..status }
                }
                None => status,
            }]
        }
        "service_stopped" => {
            vec![plain(text!("page-mend-start"), &program::called(START))]
        }
        "configuration_refused" => vec![
            ours(text!("page-mend-check"), "check"),
            plain(text!("page-mend-reload"), &program::called("sudo espelho reload")),
        ],
        "backup_failed" => vec![plain(text!("page-mend-backup"), &program::called(BACK_UP))],
        "clock_wrong" => vec![plain(text!("page-mend-clock"), "sudo timedatectl set-ntp true")],
        _ => Vec::new(),
    }
}

/// Returns the acts that mend a single row that the ERP wrote, and the list that shows it; none where there are more.
fn of_row(Trouble { code, cause, store, can_retry, row }: Trouble<'_>) -> Option<Vec<Mend>> {
    let ((entity, key), store) = (row.filter(|(entity, _)| next_step::is_intent(entity))?, store?);
    let state = match code {
        "failed" if can_retry => PushState::Failed,
        "held" => PushState::Held,
        "doubtful" => PushState::Doubtful,
        _ => return None,
    };
    let rows = Rows::One { entity, key };
    let acts = next_step::acts(state, cause, Some(entity));
    let mend = |act: &RowAct| {
        let deed = Deed::of(*act, state)?;
        let (key, of_store) = (encoded(key), query_of(Some(store)));
        Some(Mend {
            does: deed.name(),
            command: command_line(*act, rows, Some(store)),
            href: Some(format!("/acao?act={}&entity={entity}&key={key}{of_store}", deed.word())),
            is_remedy: true,
        })
    };
    let look = Mend {
        does: text!("page-mend-look-one"),
        command: command_line(RowAct::Look, rows, Some(store)),
        ..look(cause, Some(store))
    };
    Some(with_look(acts, acts.iter().filter_map(mend).collect(), look))
}

/// Adds the list of the rows: last, but before an act that only gives them up.
fn with_look(acts: &[RowAct], mut mends: Vec<Mend>, look: Mend) -> Vec<Mend> {
    let at = if acts == [RowAct::Ignore] { 0 } else { mends.len() };
    mends.insert(at, look);
    mends
}

/// Returns the acts that mend rows of one cause in a state, and the list of these rows.
fn of_rows(Trouble { cause, store, .. }: Trouble<'_>, state: Option<PushState>) -> Vec<Mend> {
    let acts = state.map(|state| next_step::acts(state, cause, None)).unwrap_or_default();
    let mend = |act: &RowAct| {
        let state = state?;
        let deed = Deed::of(*act, state)?;
        let (act_word, cause_word, of_store) = (deed.word(), encoded(cause), query_of(store));
        Some(Mend {
            does: deed.name(),
            command: command_line(*act, Rows::OfGroup(state, cause), store),
            href: Some(format!("/acao?act={act_word}&state={state}&causa={cause_word}{of_store}")),
            is_remedy: true,
        })
    };
    with_look(acts, acts.iter().filter_map(mend).collect(), look(cause, store))
}

/// Returns the list of the rows of a cause.
fn look(cause: &str, store: Option<&str>) -> Mend {
    Mend {
        does: text!("page-mend-look"),
        command: command_line(RowAct::Look, Rows::OfCause(cause), store),
        href: Some(cause_address(cause, store)),
        is_remedy: false,
    }
}

/// Returns the address of the list of the rows of a cause.
pub(super) fn cause_address(cause: &str, store: Option<&str>) -> String {
    format!("/erros?causa={}{}", encoded(cause), query_of(store))
}

/// Returns the part of an address that limits a list to a store.
pub(super) fn query_of(store: Option<&str>) -> String {
    store.map(|store| format!("&store={}", encoded(store))).unwrap_or_default()
}

fn ours(does: Text, command: &str) -> Mend {
    Mend { does, command: format!("{} {command}", program::call()), href: None, is_remedy: false }
}

fn plain(does: Text, command: &str) -> Mend {
    Mend { does, command: command.to_owned(), href: None, is_remedy: false }
}

#[cfg(test)]
mod tests {
    use espelho_model::text::{Language, Locale};
    use espelho_store::FailureGroup;

    use super::*;
    use crate::status::specimen;

    // withstands: F013
    #[test]
    fn prices_of_zero_are_tried_again_where_a_row_of_the_erp_failed_and_the_mirrors_alone_are_not() {
        let mut store = specimen::store("loja-1");
        let failures = |code: &str| FailureGroup {
            entity: "price".to_owned(),
            code: code.to_owned(),
            rows: 2,
            error: "e".to_owned(),
            hint: "h".to_owned(),
        };
        store.failures = vec![failures("price_zero"), failures("gave_up")];
        let snapshot = specimen::snapshot(vec![store]);
        let of = |cause: &str, store| ShownAlarm {
            code: "failed".to_owned(),
            cause: cause.to_owned(),
            ..specimen::failing(store, "x")
        };
        let row = |store: &str, state: &str, code: &str| TroubledRow {
            store: store.to_owned(),
            entity: "price".to_owned(),
            state: state.to_owned(),
            code: code.to_owned(),
            ..TroubledRow::default()
        };
        let (all, one) = (None, Some("loja-1"));
        for (cause, store, named, expected, why) in [
            ("price_zero", one, vec![], false, "the mirror shows zero, and no row of the ERP failed"),
            ("price_zero", one, vec![row("loja-1", "failed", "price_zero")], true, "one failed"),
            ("price_zero", all, vec![row("loja-2", "failed", "price_zero")], true, "in any store"),
            ("price_zero", one, vec![row("loja-2", "failed", "price_zero")], false, "in another store"),
            ("price_zero", one, vec![row("loja-1", "held", "price_zero")], false, "a guard holds it"),
            ("price_zero", one, vec![row("loja-1", "failed", "gave_up")], false, "for another cause"),
            ("gave_up", one, vec![], true, "only rows of the ERP have this cause"),
            ("http_500", one, vec![], false, "a row that the mirror could not take"),
        ] {
            assert_eq!(can_retry(&[&of(cause, store)], &snapshot, &named), expected, "{cause}: {why}");
        }
    }

    #[test]
    fn what_the_page_can_do_leads_to_its_question() {
        let trouble = Trouble { code: "failed", cause: "x&y", store: Some("a"), can_retry: true, row: None };
        let hrefs: Vec<Option<String>> = mends(trouble).into_iter().map(|mend| mend.href).collect();
        let [retry, ignore] =
            ["retry", "ignore"].map(|act| Some(format!("/acao?act={act}&state=failed&causa=x%26y&store=a")));
        assert_eq!(hrefs, [retry, ignore, Some("/erros?causa=x%26y&store=a".to_owned())]);
        let trouble = Trouble { code: "doubtful", ..trouble };
        assert_eq!(mends(trouble)[0].href.as_deref(), Some("/fila?state=doubtful&store=a"), "one by one");
        let trouble = Trouble { code: "paused", cause: "push", store: None, can_retry: false, row: None };
        assert_eq!(mends(trouble)[0].href.as_deref(), Some("/acao?act=resume"));
    }

    #[test]
    fn what_only_the_command_line_does_is_a_label_before_it_and_what_a_page_does_is_a_button() {
        for code in espelho_sync_engine::plan::alarms::Code::ALL {
            for (store, can_retry) in [(None, false), (Some("a"), false), (None, true), (Some("a"), true)] {
                let trouble = Trouble { code: code.as_str(), cause: "x", store, can_retry, row: None };
                for mend in mends(trouble) {
                    for locale in Language::ALL.map(Locale::of) {
                        let label = mend.does.message(locale);
                        assert_eq!(label.ends_with(':'), mend.href.is_none(), "{code}: {label}");
                    }
                }
            }
        }
        let late = Trouble { code: "late", cause: "", store: Some("a"), can_retry: false, row: None };
        assert_eq!(mends(late)[0].href.as_deref(), Some("/lojas/a"), "the store has a page");
    }

    #[test]
    fn each_group_is_mended_by_its_commands_the_remedy_first() {
        for (code, cause, store, can_retry, expected) in [
            (
                "failed",
                "gave_up",
                None,
                true,
                &[
                    "espelho retry --all --code gave_up",
                    "espelho ignore --all --state failed --code gave_up",
                    "espelho errors --all --code gave_up",
                ][..],
            ),
            // Trying the same again ends the same: somebody has to see the rows first.
            (
                "failed",
                "unknown_sku",
                None,
                true,
                &[
                    "espelho errors --all --code unknown_sku",
                    "espelho ignore --all --state failed --code unknown_sku",
                ],
            ),
            (
                "held",
                "price_jump",
                Some("loja-1"),
                false,
                &[
                    "espelho release --all --code price_jump --store loja-1",
                    "espelho ignore --all --state held --code price_jump --store loja-1",
                    "espelho errors --all --code price_jump --store loja-1",
                ],
            ),
            // A row that the mirror could not take is read again by itself.
            ("failed", "http_500", Some("a"), false, &["espelho errors --all --code http_500 --store a"]),
            // A price of zero that is in the mirror alone is ended by a new price; a row that failed can be decided.
            ("failed", "price_zero", None, false, &["espelho errors --all --code price_zero"]),
            (
                "failed",
                "price_zero",
                None,
                true,
                &[
                    "espelho retry --all --code price_zero",
                    "espelho ignore --all --state failed --code price_zero",
                    "espelho errors --all --code price_zero",
                ],
            ),
            (
                "mirror_differs",
                "orders,shipments",
                Some("a"),
                false,
                &["espelho audit --store a", "espelho --resync --deep --only orders,shipments --store a"],
            ),
            // Rows in doubt are decided one by one.
            ("doubtful", "unprovable", None, true, &["espelho errors --all --code unprovable"]),
            ("paused", "push", Some("a"), false, &["espelho resume --store a"]),
            ("credential_refused", "", Some("a"), false, &["espelho doctor --login"]),
            ("foreign_login", "", Some("a"), false, &["espelho doctor --login"]),
            ("webhook_elsewhere", "", Some("a"), false, &["espelho webhook move a", "espelho doctor"]),
            ("webhook_elsewhere", "", None, false, &["espelho doctor"]),
            ("deadline", "ship_by", Some("a"), false, &[]),
            (
                "held",
                "price_zero",
                None,
                false,
                &[
                    "espelho errors --all --code price_zero",
                    "espelho ignore --all --state held --code price_zero",
                ],
            ),
            (
                "unknown_store",
                "unknown_store",
                None,
                true,
                &[
                    "espelho errors --all --code unknown_store",
                    "espelho ignore --all --state failed --code unknown_store",
                ],
            ),
            ("webhooks_unverified", "", Some("a"), false, &["espelho webhook test --wait=20 --store a"]),
        ] {
            let trouble = Trouble { code, cause, store, can_retry, row: None };
            let commands: Vec<String> = mends(trouble).into_iter().map(|mend| mend.command).collect();
            assert_eq!(commands, expected, "{code}");
        }
    }
}
