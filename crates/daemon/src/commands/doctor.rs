//! `espelho doctor`: checks everything that has to work, one check after another, and prints each result at once.
//!
//! `checks` is the list. A check is an `async fn(&Facts) -> Finding` (or of one store's `StoreFacts`), and takes at
//! most five seconds. A pure function beside it judges the observation. `finding` is the result, `printer` shows it.
//!
//! A login ends the previous token, so doctor logs in only if there is no valid token, or if `--login` asks for it.
//! Only the owner of a store calls the marketplace with its token: the service if it runs, else doctor itself under the
//! store's lease.

mod access;
mod backup;
mod budget;
mod checks;
mod clock;
mod credential;
mod database;
mod facts;
mod finding;
mod fresh;
mod labels;
mod lock;
mod marketplace;
mod notices;
mod printer;
mod receiver;
mod scopes;
mod service;
mod throwaway;
mod webhook;

use std::{
    io::{IsTerminal as _, stdout},
    path::Path,
    time::Duration,
};

use espelho_model::{StoreKey, text, text::Text};

use self::{
    checks::{INSTALLATION, STORE, applies, limited},
    facts::{Facts, Mistakes, StoreFacts},
    finding::{Finding, State, exit_code},
    printer::Printer,
};
use super::{report_mistakes, status::show_beside_mistakes};
use crate::{
    cli::{Cli, DoctorArgs},
    config::{self, ConfigError, Configuration},
    exit, telemetry,
};

pub(super) async fn run(cli: &Cli, arguments: &DoctorArgs) -> u8 {
    look(cli, arguments.login, None).await.code
}

/// The result of all checks.
#[derive(Default)]
pub(super) struct Looked {
    /// The exit code.
    pub(super) code: u8,
    /// True if the service of this installation runs here.
    pub(super) is_running: bool,
    /// The stores whose credential the marketplace accepts.
    accepted: Vec<String>,
    /// The refused part of each store's login.
    refused: Vec<(String, Refused)>,
}

impl Looked {
    /// Returns the part that the marketplace refuses of one store's login.
    pub(super) fn refused_of(&self, key: &StoreKey) -> Option<Refused> {
        self.refused.iter().find(|(store, _)| store == key.as_str()).map(|(_, part)| *part)
    }

    /// Tells whether the marketplace accepts the credential of one store.
    pub(super) fn has_accepted(&self, key: &StoreKey) -> bool {
        self.accepted.iter().any(|store| store == key.as_str())
    }
}

/// The part of a login that the marketplace refuses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    Credential,
    /// The address of the webhook.
    Webhook,
}

/// Checks everything; `login` proves the passwords. A login of store `registers` registers its webhook, which otherwise is
/// the service's task.
pub(super) async fn look(cli: &Cli, login: bool, registers: Option<&StoreKey>) -> Looked {
    let folder = config::directory(cli.config.as_deref());
    let ((configuration, left_out), mistakes) = match config::load(&folder) {
        Ok(configuration) => ((configuration, Vec::new()), Vec::new()),
        Err(mut mistakes) => match beside(&folder, &mut mistakes) {
            Some(sound) => (sound, mistakes),
            None => {
                let code = match cli.json {
                    true => report_mistakes(&mistakes, cli),
                    // No check has what it needs, and a service may run all the same.
                    false => show_beside_mistakes(&mistakes, cli, None).await,
                };
                return Looked { code, ..Looked::default() };
            }
        },
    };
    telemetry::start(configuration.installation.log.format, "off");
    let mistakes = Mistakes { found: mistakes, left_out };
    let facts = Facts::new((configuration, mistakes), folder, login, cli.locale.language);
    let facts = facts.registering(registers);
    let is_coloured = !cli.json && stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let mut printer = Printer::new(cli.locale, cli.json, is_coloured);
    let findings = run_checks(&facts, |finding| printer.show(finding)).await;
    let mistakes: Vec<Text> = facts.mistakes.own().map(ConfigError::text).collect();
    let code = if mistakes.is_empty() { exit_code(&findings) } else { exit::CONFIGURATION };
    printer.end(&findings, &mistakes, code);
    let refused = findings.iter().filter(|finding| finding.is_authentication);
    let refused = refused.filter_map(|finding| {
        let part = if finding.is_for_webhook { Refused::Webhook } else { Refused::Credential };
        Some((finding.store.clone()?, part))
    });
    let refused = refused.collect();
    let is_accepted = |finding: &&Finding| finding.check == "credential" && finding.state == State::Green;
    let accepted = findings.iter().filter(is_accepted).filter_map(|finding| finding.store.clone()).collect();
    Looked { code, is_running: facts.status().is_some(), accepted, refused }
}

/// Returns what can be examined beside mistakes, and the keys of the stores that cannot: without secrets all that the
/// service may have, where this user may not read them; else the installation, and the stores whose files have no mistake.
/// It adds the mistakes that only a reading without secrets shows.
fn beside(folder: &Path, mistakes: &mut Vec<ConfigError>) -> Option<(Configuration, Vec<StoreKey>)> {
    if mistakes.iter().all(ConfigError::is_of_another_user) {
        match config::load_without_secrets(folder) {
            Ok(configuration) => return Some((configuration, Vec::new())),
            Err(further) => mistakes.extend(further),
        }
    }
    let is_begun = !mistakes.iter().any(ConfigError::is_none_yet);
    is_begun.then(|| config::load_sound(folder)).flatten()
}

/// Runs every check, and calls `said` with each result.
async fn run_checks(facts: &Facts, mut said: impl FnMut(&Finding)) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut note = |finding: Finding| {
        said(&finding);
        findings.push(finding);
    };
    for mistake in &facts.mistakes.found {
        let finding = match mistake.is_of_another_user() {
            true => Finding::not_seen(mistake.text()),
            false => Finding::red(mistake.text()),
        };
        note(finding.named("configuration", Duration::ZERO));
    }
    for (name, check) in INSTALLATION {
        // Its mistakes have been said.
        if name == "configuration" && facts.mistakes.are_any() {
            continue;
        }
        note(limited(&*facts.clock, facts.delay(), name, check(facts)).await);
    }
    if !facts.login {
        service::alarms(facts).await.into_iter().for_each(&mut note);
    }
    let mut logged_in = Vec::new();
    for config in &facts.configuration.stores {
        let (store, key) = (StoreFacts::new(facts, config), config.key.as_str());
        let mut refused = None;
        let has_webhook = config.webhook.is_some();
        for (name, check) in STORE.into_iter().filter(|(name, _)| applies(name, has_webhook)) {
            let finding = limited(&*facts.clock, facts.delay(), name, check(&store)).await.of(key);
            // The login that follows may give the credential another token.
            if facts.login && name == "credential" && finding.is_authentication {
                refused = Some((check, finding));
                continue;
            }
            let has_logged_in = facts.login && name == "password" && finding.state == State::Green;
            if has_logged_in {
                logged_in.push(key);
            }
            if let Some((check, refusal)) = refused.take() {
                note(match has_logged_in {
                    true => limited(&*facts.clock, facts.delay(), "credential", check(&store)).await.of(key),
                    false => refusal,
                });
            }
            note(finding);
        }
        store.end().await;
    }
    // A login mends what some alarms are about: they are read after it.
    for key in &facts.mistakes.left_out {
        let left_out = Finding::absent(text!("doctor-store-left-out"));
        note(left_out.named("configuration", Duration::ZERO).of(key.as_str()));
    }
    if facts.login {
        service::alarms_after_login(facts, &logged_in).await.into_iter().for_each(&mut note);
    }
    facts.end().await;
    findings
}
