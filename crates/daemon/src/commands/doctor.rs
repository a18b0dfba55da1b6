//! `espelho doctor`: everything that has to work, each with its state and what to do about it.
//!
//! It never ends a running service's token: where a service holds a store, the service is asked; else the token on record is
//! used, and a login is made only where there is none that is good.

mod examined;

use std::sync::Arc;

use espelho_model::{Clock, clock::SystemClock};
use espelho_store::WebhookOwner;
use espelho_sync_engine::{Problem, Silent, StoreContext, Trouble, abilities};
use serde::Serialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{load, reading::attach};
use crate::{
    cli::Cli,
    config::{Configuration, StoreConfig},
    context::Shared,
    exit, local,
    status::{Picture, StorePicture},
    telemetry,
};

/// Below this the disk is nearly full.
const LITTLE: u64 = 1 << 30;
/// Below this it is.
const NOTHING: u64 = 32 << 20;
/// Seconds that clocks may differ.
const SKEW: i64 = 60;

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Green,
    Yellow,
    Red,
}

/// Something that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Finding {
    /// Absent where it concerns all.
    store: Option<String>,
    check: &'static str,
    state: State,
    found: String,
    /// What to do; absent where it is green.
    fix: Option<String>,
    #[serde(skip)]
    is_authentication: bool,
}

pub(super) async fn run(cli: &Cli) -> u8 {
    let configuration = match load(cli) {
        Ok(configuration) => configuration,
        Err(code) => return code,
    };
    telemetry::start(configuration.installation.log.format, "error");
    let clock = SystemClock::shared();
    let stores = configuration.stores.len();
    let mut findings = vec![green("configuration", format!("valid; {stores} stores"))];
    let is_there = database(&configuration, &clock, &mut findings).await;
    let picture = service(&configuration, &clock, &mut findings).await;
    if is_there {
        of_stores(&configuration, picture.as_ref(), &mut findings).await;
    }
    let worst = findings.iter().map(|finding| finding.state).max().unwrap_or(State::Green);
    let text: String = findings.iter().map(Finding::lines).collect();
    match cli.json {
        true => {
            eprint!("{text}");
            println!("{}", json!({ "state": worst, "checks": findings }));
        }
        false => print!("{text}"),
    }
    exit_code(&findings)
}

/// What is yellow works. What is red for the credential alone has a code of its own.
fn exit_code(findings: &[Finding]) -> u8 {
    let red: Vec<_> = findings.iter().filter(|finding| finding.state == State::Red).collect();
    match red.is_empty() {
        true => exit::COMPLETE,
        false if red.iter().all(|finding| finding.is_authentication) => exit::AUTHENTICATION,
        false => exit::FAILED,
    }
}

fn green(check: &'static str, found: impl Into<String>) -> Finding {
    let (store, fix, is_authentication) = (None, None, false);
    Finding { store, check, state: State::Green, found: found.into(), fix, is_authentication }
}

impl Finding {
    fn but(self, state: State, fix: &str) -> Self {
        Self { state, fix: Some(fix.to_owned()), ..self }
    }

    fn of(self, store: &StoreConfig) -> Self {
        Self { store: Some(store.key.to_string()), ..self }
    }

    /// A problem is red, but where another instance holds the store.
    fn problem(check: &'static str, problem: &Problem) -> Self {
        let state = if problem.trouble == Trouble::Held { State::Yellow } else { State::Red };
        let is_authentication = problem.trouble == Trouble::Authentication;
        Self { is_authentication, ..green(check, problem.error.clone()).but(state, &problem.hint) }
    }

    fn lines(&self) -> String {
        let state = match self.state {
            State::Green => "GREEN ",
            State::Yellow => "YELLOW",
            State::Red => "RED   ",
        };
        let whose = self.store.as_ref().map(|store| format!("{store}: ")).unwrap_or_default();
        let fix = self.fix.as_ref();
        let fix = fix.map(|fix| format!("         o que fazer / fix: {fix}\n")).unwrap_or_default();
        format!("{state} {whose}{}: {}\n{fix}", self.check, self.found)
    }
}

/// Looks at the database as it is; whether there is one.
async fn database(
    configuration: &Configuration,
    clock: &Arc<dyn Clock>,
    findings: &mut Vec<Finding>,
) -> bool {
    let store = match attach(configuration, clock).await {
        Ok(store) => store,
        Err(problem) => {
            findings.push(Finding::problem("database", &problem));
            return false;
        }
    };
    findings.push(green("database", "it answers, and has the schema of this version"));
    if let Some(free) = crate::http::free(&store) {
        let found = green("disk", format!("{} MiB free", free >> 20));
        findings.push(match free {
            ..NOTHING => found.but(State::Red, "make room where the database lies; nothing can be mirrored"),
            NOTHING..LITTLE => {
                found.but(State::Yellow, "make room where the database lies before it is full")
            }
            _ => found,
        });
    }
    for config in &configuration.stores {
        let Some(webhook) = config.webhook.as_ref().filter(|webhook| webhook.secret.is_none()) else {
            continue;
        };
        let owner =
            WebhookOwner { store: &config.key, username: &config.username, base_url: &config.base_url };
        if let Err(error) = store.refuse_to_move_webhook(owner, &webhook.public_url).await {
            let problem = Problem::from_store(&error);
            findings.push(Finding::problem("webhook address", &problem).of(config));
        }
    }
    store.close().await;
    true
}

/// Asks the service on this machine how everything is.
async fn service(
    configuration: &Configuration,
    clock: &Arc<dyn Clock>,
    findings: &mut Vec<Finding>,
) -> Option<Picture> {
    let listen = configuration.installation.http.listen;
    let picture = match local::request(listen, "GET", "/status", None, clock).await {
        Ok(answer) if answer.status == 200 => answer.text().await.ok(),
        _ => None,
    };
    let picture: Option<Picture> = picture.and_then(|text| serde_json::from_str(&text).ok());
    let Some(picture) = picture else {
        let found = green("service", format!("none answers on {listen}"));
        findings.push(found.but(State::Yellow, "systemctl start espelho; see journalctl -u espelho"));
        return None;
    };
    let ready = local::request(listen, "GET", "/readyz", None, clock).await;
    let ready = ready.is_ok_and(|answer| answer.status == 200);
    let found = green("service", format!("version {} answers on {listen}", picture.service.version));
    findings.push(match ready {
        true => found,
        false => found.but(State::Yellow, "it is not ready yet; see espelho status"),
    });
    Some(picture)
}

async fn of_stores(configuration: &Configuration, picture: Option<&Picture>, findings: &mut Vec<Finding>) {
    let mut free = Vec::new();
    for config in &configuration.stores {
        let shown = picture
            .and_then(|picture| picture.stores.iter().find(|store| store.store == config.key.as_str()));
        match (shown, picture) {
            (Some(store), Some(picture)) if store.ours == Some(true) => {
                findings.extend(by_service(store, picture).into_iter().map(|found| found.of(config)));
                let listen = configuration.installation.http.listen;
                let examined = examined::by_service(listen, config, store.unverified).await;
                findings.extend(examined.into_iter().map(|found| found.of(config)));
            }
            _ => free.push(config),
        }
    }
    if free.is_empty() {
        return;
    }
    let shared = Shared::open(configuration, "doctor", Arc::new(Silent), CancellationToken::new()).await;
    match shared {
        Ok(shared) => {
            for config in free {
                findings.extend(by_asking(&shared, config).await.into_iter().map(|found| found.of(config)));
            }
            shared.store.close().await;
        }
        Err(problem) => findings.push(Finding::problem("database", &problem)),
    }
}

/// What the service that holds a store says of it.
fn by_service(store: &StorePicture, picture: &Picture) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.push(match store.token_expires_at {
        Some(end) if end > picture.at => {
            green("credential", format!("the service's token is good until {end}"))
        }
        _ => green("credential", "the service has no token that is good")
            .but(State::Red, "see journalctl -u espelho for why no login succeeds"),
    });
    if let Some(budget) = &store.budget {
        findings.push(rate(budget.per_minute, budget.held));
    }
    let own = picture.alarms.iter().filter(|alarm| alarm.store.as_ref() == Some(&store.store));
    findings.extend(own.map(|alarm| {
        let state = if alarm.is_failing() { State::Red } else { State::Yellow };
        green("status", alarm.text.clone()).but(state, &alarm.next)
    }));
    findings
}

fn rate(per_minute: u32, held: u32) -> Finding {
    let found = green(
        "rate budget",
        format!("{} of {per_minute} requests are free", per_minute.saturating_sub(held)),
    );
    match held * 10 > per_minute * 9 {
        true => found.but(State::Yellow, "wait a minute; if it stays so, see who else uses this credential"),
        false => found,
    }
}

/// Asks the marketplace about a store that nobody holds.
async fn by_asking(shared: &Shared, config: &StoreConfig) -> Vec<Finding> {
    let context = match shared.context(config).await {
        Ok(context) => context,
        Err(problem) => return vec![Finding::problem("lease", &problem)],
    };
    let findings = ask(&context, config).await;
    if let Err(error) = context.client.gate().settle().await {
        tracing::warn!(store = %config.key, %error, "the budget is not written down");
    }
    if let Err(error) = context.lease.release().await {
        tracing::warn!(store = %config.key, %error, "the lease ends with the connection");
    }
    findings
}

async fn ask(context: &StoreContext, config: &StoreConfig) -> Vec<Finding> {
    let mut findings = Vec::new();
    match context.client.session().await {
        Ok(read) => {
            let name = read.value.name.unwrap_or_default();
            findings.push(green("credential", format!("the marketplace takes it; the store is {name:?}")));
        }
        // Whoever is told that there is no such thing, or not for them, was let in.
        Err(espelho_api_client::Error::Refused { status: status @ (403 | 404), .. }) => {
            let found = format!("the marketplace takes it, and does not say whose it is ({status})");
            let fix = "see in the seller portal that the credential is this store's";
            findings.push(green("credential", found).but(State::Yellow, fix));
        }
        Err(error) => {
            let problem = Problem::from_api(&error);
            findings.push(Finding::problem("credential", &problem));
            if problem.trouble == Trouble::Authentication {
                return findings;
            }
        }
    }
    let seen = abilities(&context.client, &context.page_parameter).await;
    findings.extend(seen.iter().map(examined::scope));
    if let Some(ahead) = context.client.tally().counted().ahead_seconds {
        let found = green("clock", format!("the marketplace's is {ahead} s ahead of this machine's"));
        findings.push(match ahead.abs() > SKEW {
            true => found.but(State::Yellow, "set this machine's clock: timedatectl set-ntp true"),
            false => found,
        });
    }
    findings.push(rate(config.requests_per_minute.get(), context.client.gate().held()));
    findings.push(match &config.webhook {
        None => green("webhook", "none is configured: the store is kept in step by polling"),
        Some(webhook) => {
            green("webhook", format!("{} is not tested while no service listens", webhook.public_url))
                .but(State::Yellow, "start the service")
        }
    });
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn red(is_authentication: bool) -> Finding {
        Finding { is_authentication, ..green("x", "").but(State::Red, "mend it") }
    }

    #[test]
    fn only_what_is_red_fails_and_a_refused_credential_has_its_own_code() {
        assert_eq!(exit_code(&[green("x", ""), green("y", "").but(State::Yellow, "look")]), exit::COMPLETE);
        assert_eq!(exit_code(&[red(true), green("y", "")]), exit::AUTHENTICATION);
        assert_eq!(exit_code(&[red(true), red(false)]), exit::FAILED);
    }

    #[test]
    fn a_budget_that_is_nearly_spent_is_yellow() {
        assert_eq!(rate(300, 270).state, State::Green);
        assert_eq!(rate(300, 271).state, State::Yellow);
    }

    #[test]
    fn whatever_is_not_green_says_what_to_do() {
        assert_eq!(red(false).lines(), "RED    x: \n         o que fazer / fix: mend it\n");
        assert_eq!(green("clock", "fine").lines(), "GREEN  clock: fine\n");
    }
}
