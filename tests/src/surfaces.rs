//! Reads every surface that shows the state of an installation: the command line, the service's pages, the metrics,
//! the database.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    time::Duration,
};

use serde_json::Value;
use tokio::process::Command;

use crate::{Mirror, Running};

/// The codes of alarms.
pub const CODES: [&str; 35] = [
    "service_stopped",
    "marketplace_unreachable",
    "marketplace_errors",
    "throttled",
    "unreadable_values",
    "mirror_differs",
    "credential_refused",
    "foreign_login",
    "scope_missing",
    "webhooks_missing",
    "webhook_elsewhere",
    "webhooks_unverified",
    "not_held",
    "run_failed",
    "password_unreadable",
    "token_expires",
    "disk_full",
    "database_busy",
    "database_unreachable",
    "database_read_only",
    "schema_changed",
    "database_replaced",
    "clock_wrong",
    "configuration_refused",
    "unknown_store",
    "failed",
    "held",
    "doubtful",
    "waiting",
    "late",
    "deadline",
    "fiscal_gate",
    "paused",
    "notice_failed",
    "backup_failed",
];

/// The time limit for a page of the service.
const LONGEST: Duration = Duration::from_secs(20);

/// A surface that shows alarms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Surface {
    /// `/status`
    Http,
    /// `/`
    Page,
    /// `/readyz?verbose`
    Ready,
    /// `/metrics`
    Metrics,
    /// The view `v_alarms`.
    View,
    /// `espelho status --json`
    Status,
    /// `espelho doctor`
    Doctor,
}

impl Surface {
    /// All surfaces, the cheap ones first.
    pub const ALL: [Self; 7] =
        [Self::Http, Self::Page, Self::Ready, Self::Metrics, Self::View, Self::Status, Self::Doctor];
    /// The surfaces of the service itself.
    pub const OF_SERVICE: [Self; 4] = [Self::Http, Self::Page, Self::Ready, Self::Metrics];
}

/// Builds the command `espelho ARGUMENTS` of an installation.
pub type Commands = Box<dyn Fn(&[&str]) -> Command + Send + Sync>;

/// The surfaces of an installation.
pub struct Surfaces {
    base: String,
    mirror: Option<Mirror>,
    commands: Commands,
    http: reqwest::Client,
}

/// The contents of one surface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// The codes of its alarms.
    pub codes: BTreeSet<String>,
    /// Its text, for a failing test.
    pub text: String,
}

/// An alarm, as `/status` and `espelho status --json` write it.
#[derive(Clone, Debug)]
pub struct Alarm(pub Value);

impl Alarm {
    /// Returns a text member; empty if it is absent.
    pub fn text(&self, name: &str) -> &str {
        self.0[name].as_str().unwrap_or_default()
    }

    /// Returns the commands in its next step, without the program's name.
    pub fn commands(&self) -> Vec<Vec<String>> {
        commands_in(self.text("next"))
    }
}

/// Returns the commands `espelho …` in a text for people.
pub fn commands_in(text: &str) -> Vec<Vec<String>> {
    let ends = |c: char| matches!(c, ';' | '`' | ',' | '\n' | ')' | '»' | '"' | ':' | '(');
    let commands = text.split("espelho ").skip(1).map(|rest| rest.split(ends).next().unwrap_or_default());
    let words =
        commands.map(|command| command.split_whitespace().map(|w| w.trim_end_matches('.').to_owned()));
    let joins = |word: &String| matches!(word.as_str(), "ou" | "or" | "e" | "and" | "&&");
    let commands = words.map(|words| words.take_while(|word| !joins(word)).collect());
    commands.filter(|words: &Vec<String>| !words.is_empty()).collect()
}

impl Surfaces {
    /// Creates the surfaces of an installation whose service has its pages at `base`. Without a `mirror` the view is
    /// not read.
    ///
    /// # Panics
    /// When the HTTP client cannot be created.
    pub fn of(base: &str, mirror: Option<Mirror>, commands: Commands) -> Self {
        // Another test of this process may have installed it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().timeout(LONGEST).build().expect("a client");
        Self { base: base.to_owned(), mirror, commands, http }
    }

    /// Reads a surface; `None` if it does not answer.
    pub async fn read(&self, surface: Surface) -> Option<Shown> {
        match surface {
            Surface::Http => {
                let text = self.page("/status").await?.1;
                Some(Shown { codes: codes_of_json(&serde_json::from_str(&text).ok()?), text })
            }
            Surface::Page => {
                self.page("/").await.map(|(_, text)| Shown { codes: codes_in_text(&text), text })
            }
            Surface::Ready => {
                let (_, text) = self.page("/readyz?verbose").await?;
                Some(Shown { codes: codes_in_text(&text), text })
            }
            Surface::Metrics => {
                let (_, text) = self.page("/metrics").await?;
                let lines = text.lines().filter(|line| line.starts_with("espelho_alarm"));
                let text = lines.collect::<Vec<_>>().join("\n");
                Some(Shown { codes: codes_of_metrics(&text), text })
            }
            Surface::View => self.view().await,
            Surface::Status => {
                let (_, status) = self.status().await;
                status.map(|status| Shown { codes: codes_of_json(&status), text: status.to_string() })
            }
            Surface::Doctor => {
                let ended = Running::of((self.commands)(&["doctor"])).end().await;
                let text = format!("{}\n{}", ended.stdout, ended.stderr);
                Some(Shown { codes: codes_in_text(&text), text })
            }
        }
    }

    /// Reads all surfaces that answer.
    pub async fn read_all(&self) -> BTreeMap<Surface, Shown> {
        let mut all = BTreeMap::new();
        for surface in Surface::ALL {
            if let Some(shown) = self.read(surface).await {
                all.insert(surface, shown);
            }
        }
        all
    }

    /// Runs `espelho status --json`; returns its exit code and its object.
    pub async fn status(&self) -> (i32, Option<Value>) {
        let ended = Running::of((self.commands)(&["status", "--json"])).end().await;
        (ended.code, serde_json::from_str(&ended.stdout).ok())
    }

    /// Returns an alarm of the service, as `/status` writes it; from the command line if no service answers.
    pub async fn alarm(&self, code: &str) -> Option<Alarm> {
        let status = match self.page("/status").await {
            Some((_, text)) => serde_json::from_str(&text).ok()?,
            None => self.status().await.1?,
        };
        let alarms = status["alarms"].as_array()?;
        alarms.iter().find(|alarm| alarm["code"] == code).cloned().map(Alarm)
    }

    /// Reads a page of the service: status and text.
    pub async fn page(&self, path: &str) -> Option<(u16, String)> {
        let request = self.http.get(format!("{}{path}", self.base));
        #[expect(clippy::disallowed_methods, reason = "this is no call of the marketplace's API")]
        let response = request.send().await.ok()?;
        Some((response.status().as_u16(), response.text().await.ok()?))
    }

    async fn view(&self) -> Option<Shown> {
        let rows = self.mirror.as_ref()?.asked("SELECT DISTINCT code FROM v_alarms").await?;
        let codes: BTreeSet<String> = rows.into_iter().filter_map(|mut row| row.remove("code")).collect();
        Some(Shown { text: format!("{codes:?}"), codes })
    }
}

impl fmt::Debug for Surfaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Surfaces").field(&self.base).finish()
    }
}

fn codes_of_json(status: &Value) -> BTreeSet<String> {
    let alarms = status["alarms"].as_array().into_iter().flatten();
    alarms.filter_map(|alarm| alarm["code"].as_str().map(str::to_owned)).collect()
}

/// Returns the codes whose gauge is 1 or more.
fn codes_of_metrics(text: &str) -> BTreeSet<String> {
    let of = |line: &str| {
        let (labels, value) = line.strip_prefix("espelho_alarm{")?.rsplit_once("} ")?;
        let code = labels.split("code=\"").nth(1)?.split('"').next()?;
        (value.trim().parse::<f64>().ok()? >= 1.0).then(|| code.to_owned())
    };
    text.lines().filter_map(of).collect()
}

/// Returns the codes that a text for people names as such.
///
/// Most codes never occur as ordinary words. The plain English ones count only between marks (`<code>late</code>`,
/// `"late"`, `(late)`, `[late]`), after the word alarm, or as the first word of a line after its sign.
fn codes_in_text(text: &str) -> BTreeSet<String> {
    CODES.into_iter().filter(|code| text.lines().any(|line| names(line, code))).map(str::to_owned).collect()
}

fn names(line: &str, code: &str) -> bool {
    let within = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    line.match_indices(code).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + code.len()..]);
        let (left, right) = (before.chars().next_back(), after.chars().next());
        if left.is_some_and(within) || right.is_some_and(within) {
            return false;
        }
        let is_marked =
            left.is_some_and(|c| "<>([\"`=".contains(c)) && right.is_some_and(|c| "<)]\"`".contains(c));
        let is_first = !before.chars().any(char::is_alphanumeric) && !before.is_empty();
        code.contains('_')
            || is_marked
            || is_first
            || before.ends_with("alarm ")
            || before.ends_with("alarm: ")
    })
}

#[cfg(test)]
mod tests {
    use super::{codes_in_text, codes_of_metrics, commands_in};

    #[test]
    fn codes_are_told_from_ordinary_words() {
        for (text, expected) in [
            ("<p>…</p> <code>late</code>", &["late"][..]),
            ("[-] failed: 2 rows of erp_stock", &["failed"]),
            ("✗ disk_full  o disco está cheio", &["disk_full"]),
            ("<div class=\"failed-rows\">late: 2 failed, 1 held</div>", &[]),
            ("translated, failed, not-held", &[]),
            ("(held) e [doubtful]", &["doubtful", "held"]),
            ("[!] alarm throttled loja-1: failed", &["throttled"]),
            ("webhooks_missing_total 3", &[]),
        ] {
            assert_eq!(codes_in_text(text).into_iter().collect::<Vec<_>>(), expected, "{text}");
        }
    }

    #[test]
    fn an_alarm_of_zero_rows_is_none() {
        let text =
            "espelho_alarm{store=\"loja-1\",code=\"held\"} 2\nespelho_alarm{store=\"\",code=\"late\"} 0";
        assert_eq!(codes_of_metrics(text).into_iter().collect::<Vec<_>>(), ["held"]);
    }

    #[test]
    fn commands_are_found_in_the_next_step() {
        let text = "veja `espelho held`; depois espelho release price A-1/1 ou espelho pause.";
        assert_eq!(commands_in(text), [vec!["held"], vec!["release", "price", "A-1/1"], vec!["pause"]]);
        assert!(commands_in("corrija a senha").is_empty());
    }
}
