//! `espelho doctor`: checks everything that has to work, one check after another, and prints each result at once.
//!
//! `checks` is the list. A check is an `async fn(&Facts) -> Finding` (or of one store's `StoreFacts`), and takes at
//! most five seconds. A pure function beside it judges the observation. `finding` is the result, `printer` shows it.
//!
//! A login ends the previous token, so doctor logs in only if there is no valid token, or if `--login` asks for it.
//! Only the owner of a store calls the marketplace with its token: the service if it runs, else doctor itself under the
//! store's lease.

mod access;
mod budget;
mod checks;
mod clock;
mod credential;
mod database;
mod facts;
mod finding;
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

use std::io::{IsTerminal as _, stdout};

use self::{
    checks::{INSTALLATION, STORE, limited},
    facts::{Facts, StoreFacts},
    finding::{Finding, exit_code},
    printer::Printer,
};
use super::load;
use crate::{
    cli::{Cli, DoctorArgs},
    config, telemetry,
};

pub(super) async fn run(cli: &Cli, arguments: &DoctorArgs) -> u8 {
    let configuration = match load(cli) {
        Ok(configuration) => configuration,
        Err(code) => return code,
    };
    telemetry::start(configuration.installation.log.format, "off");
    let folder = config::directory(cli.config.as_deref());
    let facts = Facts::new(configuration, folder, arguments.login, cli.locale.language);
    let is_coloured = !cli.json && stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let mut printer = Printer::new(cli.locale, cli.json, is_coloured);
    let findings = run_checks(&facts, |finding| printer.show(finding)).await;
    printer.end(&findings);
    exit_code(&findings)
}

/// Runs every check, and calls `said` with each result.
async fn run_checks(facts: &Facts, mut said: impl FnMut(&Finding)) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut note = |finding: Finding| {
        said(&finding);
        findings.push(finding);
    };
    for (name, check) in INSTALLATION {
        note(limited(&*facts.clock, name, check(facts)).await);
    }
    let alarms = match (facts.status(), facts.store()) {
        (None, Some(store)) => service::recorded_alarms(facts, store).await,
        (told, _) => service::alarms_told(told),
    };
    alarms.into_iter().for_each(&mut note);
    for config in &facts.configuration.stores {
        let store = StoreFacts::new(facts, config);
        for (name, check) in STORE {
            note(limited(&*facts.clock, name, check(&store)).await.of(config.key.as_str()));
        }
        store.end().await;
    }
    facts.end().await;
    findings
}
