//! The command lines that mend what a group of alarms is about. Pure.

use espelho_model::{text, text::Text};

use super::words::encoded;
use crate::acts::quoted;

/// A command line, with what it does.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mend {
    pub(super) does: Text,
    pub(super) command: String,
    /// The page that asks, and does it.
    pub(super) href: Option<String>,
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
}

/// Returns the command lines for a group, what mends first.
pub(super) fn mends(trouble: Trouble<'_>) -> Vec<Mend> {
    let Trouble { code, cause, store, can_retry } = trouble;
    let of_store = store.map(|store| format!(" --store {}", quoted(store))).unwrap_or_default();
    let rows = format!(" --all --code {}{of_store}", quoted(cause));
    let mend = |does: Text, command: String| Mend { does, command: format!("espelho {command}"), href: None };
    let act = |act: &str, cause: &str| {
        let cause = match cause {
            "" => String::new(),
            cause => format!("&causa={}", encoded(cause)),
        };
        let store = store.map(|store| format!("&store={}", encoded(store))).unwrap_or_default();
        Some(format!("/acao?act={act}{cause}{store}"))
    };
    let done_here = |word: &str, mend: Mend| Mend { href: act(word, cause), ..mend };
    let look = || mend(text!("page-mend-look"), format!("errors{rows}"));
    match code {
        "failed" if can_retry => vec![
            done_here("retry", mend(text!("page-mend-retry"), format!("retry{rows}"))),
            done_here("ignore", mend(text!("page-mend-ignore"), format!("ignore{rows}"))),
            look(),
        ],
        "held" if cause == "price_zero" => {
            vec![done_here("ignore", mend(text!("page-mend-ignore"), format!("ignore{rows}"))), look()]
        }
        "unknown_store" => {
            vec![done_here("ignore", mend(text!("page-mend-ignore"), format!("ignore{rows}"))), look()]
        }
        "held" => vec![
            done_here("release", mend(text!("page-mend-release"), format!("release{rows}"))),
            done_here("ignore", mend(text!("page-mend-ignore"), format!("ignore{rows}"))),
            look(),
        ],
        "failed" => vec![look()],
        // Rows in doubt are decided one by one, where they are listed.
        "doubtful" => {
            let store = store.map(|store| format!("&store={}", encoded(store))).unwrap_or_default();
            vec![Mend { href: Some(format!("/fila?state=doubtful{store}")), ..look() }]
        }
        "waiting" => vec![mend(text!("page-mend-look"), format!("errors{of_store}"))],
        "paused" => {
            let resume = mend(text!("page-mend-resume"), format!("resume{of_store}"));
            vec![Mend { href: act("resume", ""), ..resume }]
        }
        "credential_refused" | "token_expires" => {
            vec![mend(text!("page-mend-login"), "doctor --login".into())]
        }
        "webhook_elsewhere" => {
            let move_it =
                store.map(|store| mend(text!("page-mend-move"), format!("webhook move {}", quoted(store))));
            move_it.into_iter().chain([mend(text!("page-mend-doctor"), "doctor".into())]).collect()
        }
        "webhooks_missing"
        | "webhooks_unverified"
        | "not_held"
        | "database_unreachable"
        | "marketplace_unreachable"
        | "foreign_login"
        | "scope_missing" => {
            vec![mend(text!("page-mend-doctor"), "doctor".into())]
        }
        "run_failed" => vec![mend(text!("page-mend-resync"), format!("--resync{of_store}"))],
        "late" => vec![mend(text!("page-mend-status"), format!("status{of_store}"))],
        "service_stopped" => vec![plain(text!("page-mend-start"), "sudo systemctl start espelho")],
        "clock_wrong" => vec![plain(text!("page-mend-clock"), "sudo timedatectl set-ntp true")],
        _ => Vec::new(),
    }
}

fn plain(does: Text, command: &str) -> Mend {
    Mend { does, command: command.to_owned(), href: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_page_can_do_leads_to_its_question() {
        let trouble = Trouble { code: "failed", cause: "x&y", store: Some("a"), can_retry: true };
        let hrefs: Vec<Option<String>> = mends(trouble).into_iter().map(|mend| mend.href).collect();
        let [retry, ignore] =
            ["retry", "ignore"].map(|act| Some(format!("/acao?act={act}&causa=x%26y&store=a")));
        assert_eq!(hrefs, [retry, ignore, None]);
        let trouble = Trouble { code: "doubtful", ..trouble };
        assert_eq!(mends(trouble)[0].href.as_deref(), Some("/fila?state=doubtful&store=a"), "one by one");
        let trouble = Trouble { code: "paused", cause: "push", store: None, can_retry: false };
        assert_eq!(mends(trouble)[0].href.as_deref(), Some("/acao?act=resume"));
    }

    #[test]
    fn each_group_is_mended_by_its_commands_the_remedy_first() {
        for (code, cause, store, can_retry, expected) in [
            (
                "failed",
                "unknown_sku",
                None,
                true,
                &[
                    "espelho retry --all --code unknown_sku",
                    "espelho ignore --all --code unknown_sku",
                    "espelho errors --all --code unknown_sku",
                ][..],
            ),
            (
                "held",
                "price_jump",
                Some("loja-1"),
                false,
                &[
                    "espelho release --all --code price_jump --store loja-1",
                    "espelho ignore --all --code price_jump --store loja-1",
                    "espelho errors --all --code price_jump --store loja-1",
                ],
            ),
            // A row that the mirror could not take is read again by itself.
            ("failed", "http_500", Some("a"), false, &["espelho errors --all --code http_500 --store a"]),
            // Rows in doubt are decided one by one.
            ("doubtful", "unprovable", None, true, &["espelho errors --all --code unprovable"]),
            ("paused", "push", Some("a"), false, &["espelho resume --store a"]),
            ("credential_refused", "", Some("a"), false, &["espelho doctor --login"]),
            ("webhook_elsewhere", "", Some("a"), false, &["espelho webhook move a", "espelho doctor"]),
            ("webhook_elsewhere", "", None, false, &["espelho doctor"]),
            ("deadline", "ship_by", Some("a"), false, &[]),
        ] {
            let trouble = Trouble { code, cause, store, can_retry };
            let commands: Vec<String> = mends(trouble).into_iter().map(|mend| mend.command).collect();
            assert_eq!(commands, expected, "{code}");
        }
    }
}
