//! `espelho reload`: makes the running service read its configuration again, as `systemctl reload` does, and says what became
//! of it.

use std::{fs, net::SocketAddr, sync::Arc, time::Duration};

use espelho_model::{
    Clock,
    clock::SystemClock,
    text,
    text::{Locale, Text},
};
use espelho_store::Error;
use espelho_sync_engine::{Problem, Trouble};
use rustix::{
    io::Errno,
    process::{Pid, Signal, kill_process},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    load_to_read,
    reading::{attach, is_of_another},
    say,
};
use crate::{
    cli::Cli, config::Configuration, context::webhook_owner, exit, local, reload_state::ReloadState,
    status::ServiceState, unit,
};

/// The wait for the result of the reload, and the pause before each question about it.
const WAIT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(500);

/// The part of `/status` that this command reads: the service's state.
#[derive(Deserialize)]
struct Told {
    service: ServiceState,
}

/// The end of a reload.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Whole,
    /// These parts need a restart.
    Partly(Vec<String>),
    /// For these mistakes; none from a service of an earlier version.
    Refused(Vec<Text>),
    /// The service has not answered in time.
    Unknown,
}

pub(super) async fn run(cli: &Cli) -> u8 {
    // A mistake is shown here, and the service is not asked to read it.
    let configuration = match load_to_read(cli) {
        Ok(configuration) => configuration,
        Err(code) => {
            if !cli.json {
                eprintln!("espelho: {}", text!("run-reload-not-asked").message(cli.locale));
            }
            return code;
        }
    };
    let clock = SystemClock::shared();
    match reload(&configuration, &clock).await {
        Ok(ended) => {
            let left = match ended {
                Ended::Refused(_) => Vec::new(),
                _ => elsewhere(&configuration, &clock).await,
            };
            tell(&ended, &left, cli)
        }
        Err(problem) => say(&problem, cli),
    }
}

/// Returns what the operator must decide about webhooks that the configuration wants at another address than the
/// registered one: the service does not move them by itself.
async fn elsewhere(configuration: &Configuration, clock: &Arc<dyn Clock>) -> Vec<Text> {
    let Ok(store) = attach(configuration, clock).await else { return Vec::new() };
    let mut texts = Vec::new();
    for config in &configuration.stores {
        let Some(webhook) = config.webhook.as_ref().filter(|webhook| webhook.secret.is_none()) else {
            continue;
        };
        let moved = store.inbox().refuse_to_move_webhook(webhook_owner(config), &webhook.public_url).await;
        if let Err(Error::WebhookElsewhere { store, registered, configured }) = moved {
            let store = store.as_str();
            texts.push(text!(
                "alarm-webhook-elsewhere",
                store = store,
                registered = registered,
                configured = configured
            ));
        }
    }
    store.close().await;
    texts
}

/// Makes the service read its configuration again, and waits for the result.
pub(super) async fn reload(configuration: &Configuration, clock: &Arc<dyn Clock>) -> Result<Ended, Problem> {
    let listen = configuration.installation.http.listen;
    let address = listen.to_string();
    let Some(service) = service_on(listen, clock).await else {
        return Err(failed(text!("run-reload-no-service", address = address)));
    };
    let identity = (service.installation.as_deref(), service.file.as_deref());
    if is_of_another(identity, configuration, clock).await {
        return Err(failed(text!("run-reload-other", address = address)));
    }
    // Without a handler the signal would end the process.
    let (Some(before), Some(process)) = (service.reload, service.process) else {
        return Err(failed(text!("run-reload-not-taken", address = address)));
    };
    signal(process)?;
    let answered = async {
        loop {
            clock.sleep(PAUSE).await;
            let now = service_on(listen, clock).await.and_then(|service| service.reload);
            if let Some(ended) = ended(before.requests, now) {
                return ended;
            }
        }
    };
    Ok(tokio::select! {
        ended = answered => ended,
        () = clock.sleep(WAIT) => Ended::Unknown,
    })
}

/// The messages of an error where no service of this installation runs here.
pub(super) const NO_SERVICE: [&str; 2] = ["run-reload-no-service", "run-reload-other"];

/// Returns the problem that the service refuses the configuration.
pub(super) fn refused(mistakes: &[Text]) -> Problem {
    let text = text!("run-reload-refused", count = mistakes.len(), mistakes = mistakes.to_vec());
    Problem::of(Trouble::Configuration, "reload_refused", text)
}

fn failed(text: Text) -> Problem {
    Problem::of(Trouble::Failure, "reload", text)
}

/// Returns the state of the service that answers at the address.
async fn service_on(listen: SocketAddr, clock: &Arc<dyn Clock>) -> Option<ServiceState> {
    let answer = local::request(listen, "GET", "/status", None, clock).await.ok()?;
    let told: Told = serde_json::from_str(&answer.text().await.ok()?).ok()?;
    Some(told.service)
}

/// Sends SIGHUP to the service.
fn signal(process: u32) -> Result<(), Problem> {
    let number = process.to_string();
    if process == std::process::id() || is_of_another_program(process) {
        return Err(failed(text!("run-reload-not-here", process = number)));
    }
    let target = i32::try_from(process).ok().and_then(Pid::from_raw);
    match target.map_or(Err(Errno::SRCH), |target| kill_process(target, Signal::HUP)) {
        Ok(()) => Ok(()),
        Err(Errno::PERM) => Err(failed(match unit::is_installed() {
            true => text!("run-reload-denied", process = number),
            false => text!("run-reload-denied-by-hand", process = number),
        })),
        Err(_) => Err(failed(text!("run-reload-not-here", process = number))),
    }
}

/// Tells whether the process of this number is another program: the service counts processes in a container of its own.
fn is_of_another_program(process: u32) -> bool {
    let name_of = |process: &str| fs::read_to_string(format!("/proc/{process}/comm")).ok();
    match (name_of(&process.to_string()), name_of("self")) {
        (Some(name), Some(own)) => name != own && name.trim_end() != "espelho",
        // No such process, which the signal finds out, or a system without /proc.
        _ => false,
    }
}

/// Returns the end of a reload by what the service says now; `None`: not yet.
fn ended(before: u64, now: Option<ReloadState>) -> Option<Ended> {
    let now = now.filter(|now| now.requests > before)?;
    Some(match (now.is_refused, now.needs_restart.is_empty()) {
        (true, _) => Ended::Refused(now.mistakes),
        (false, true) => Ended::Whole,
        (false, false) => Ended::Partly(now.needs_restart),
    })
}

/// Says how the reload ended, and what is left to decide; returns the exit code.
fn tell(ended: &Ended, left: &[Text], cli: &Cli) -> u8 {
    let (code, state, parts, text) = match ended {
        Ended::Whole => (exit::COMPLETE, "complete", &[][..], text!("run-reloaded")),
        Ended::Partly(parts) => {
            (exit::PARTIAL, "partial", &parts[..], text!("run-reloaded-partly", parts = parts.join(", ")))
        }
        Ended::Unknown => (exit::PARTIAL, "unknown", &[][..], text!("run-reload-unknown")),
        Ended::Refused(mistakes) => {
            return say(&refused(mistakes), cli);
        }
    };
    if cli.json {
        let as_json =
            |text: &Text| json!({ "message": text.message(cli.locale), "next": text.next(cli.locale) });
        let left: Vec<Value> = left.iter().map(as_json).collect();
        println!("{}", json!({ "state": state, "needs_restart": parts, "to_decide": left }));
        return code;
    }
    show(&text, cli.locale);
    left.iter().for_each(|text| show(text, cli.locale));
    code
}

fn show(text: &Text, locale: Locale) {
    println!("{}", text.message(locale));
    if let Some(next) = text.next(locale) {
        println!("  → {next}");
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_reload_ends_with_what_the_service_says_of_this_request() {
        let told = |requests, is_refused, parts: &[&str]| {
            let needs_restart = parts.iter().map(|&part| part.to_owned()).collect();
            let mistakes = if is_refused { vec![Text::new("a")] } else { Vec::new() };
            Some(ReloadState { requests, is_refused, mistakes, needs_restart })
        };
        for (now, expected, why) in [
            (None, None, "no answer"),
            (told(3, true, &[]), None, "an earlier request"),
            (told(4, false, &[]), Some(Ended::Whole), "carried out"),
            (told(4, false, &["language"]), Some(Ended::Partly(vec!["language".into()])), "in part"),
            (told(4, true, &[]), Some(Ended::Refused(vec![Text::new("a")])), "refused"),
            (told(5, false, &[]), Some(Ended::Whole), "somebody else asked as well"),
        ] {
            assert_eq!(ended(3, now), expected, "{why}");
        }
    }

    #[test]
    fn a_service_that_refuses_keeps_what_needs_a_restart() {
        let mut state = ReloadState::default();
        state.carried_out(&["language"]);
        state.refused(&[Text::new("a")]);
        let expected = ReloadState {
            requests: 2,
            is_refused: true,
            mistakes: vec![Text::new("a")],
            needs_restart: vec!["language".into()],
        };
        assert_eq!(state, expected);
        state.carried_out(&[]);
        assert_eq!(state, ReloadState { requests: 3, ..ReloadState::default() });
    }

    #[test]
    fn a_number_that_another_program_has_is_not_signalled() {
        assert!(!is_of_another_program(std::process::id()));
        assert!(!is_of_another_program(u32::MAX), "no process has it");
        // It ends with its input.
        let mut other = Command::new("sh").stdin(Stdio::piped()).spawn().unwrap();
        assert!(is_of_another_program(other.id()));
        drop(other.stdin.take());
        other.wait().unwrap();
    }
}
