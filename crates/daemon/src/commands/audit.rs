//! `espelho audit`: compares mirror and marketplace, and changes neither.

use std::{fmt::Write as _, net::SocketAddr, sync::Arc};

use espelho_model::{
    text,
    text::{Locale, Text, words},
};
use espelho_sync_engine::{Audit, AuditOptions, Problem, ResourceAudit, Silent, Subject, Trouble, audit};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{load, no_signals, reading::named, say};
use crate::{
    cli::{AuditArgs, Cli},
    config::StoreConfig,
    context::{Shared, stop_on_signals},
    exit, handover,
    place::Place,
    report::{self, problem_json},
    telemetry,
};

pub(super) async fn run(cli: &Cli, arguments: &AuditArgs) -> u8 {
    let configuration = match load(cli) {
        Ok(configuration) => configuration,
        Err(code) => return code,
    };
    let keys = match named(&configuration, arguments.store.as_deref()) {
        Ok(keys) => keys,
        Err(problem) => return say(&problem, cli),
    };
    telemetry::start(configuration.installation.log.format, "warn");
    let stop = CancellationToken::new();
    if let Err(error) = stop_on_signals(&stop) {
        eprintln!("espelho: {}", no_signals(&error).message(cli.locale));
        return exit::FAILED;
    }
    if let Err(problem) = Place::to_read(&configuration) {
        return say(&problem, cli);
    }
    let shared = match Shared::open(&configuration, "audit", Arc::new(Silent), stop).await {
        Ok(shared) => shared,
        Err(problem) => return say(&problem, cli),
    };
    let options = AuditOptions { only: arguments.only.clone(), sample: arguments.sample };
    let service = (configuration.installation.http.listen, cli.locale);
    let mut audits = Vec::new();
    for config in configuration.stores.iter().filter(|store| keys.contains(&store.key)) {
        audits.push(of_store(&shared, config, &options, service).await);
    }
    shared.store.close().await;
    match cli.json {
        true => {
            eprint!("{}", as_text(&audits, cli.locale));
            println!("{}", as_json(&audits, cli.locale));
        }
        false => print!("{}", as_text(&audits, cli.locale)),
    }
    exit_code(&audits)
}

async fn of_store(
    shared: &Shared,
    config: &StoreConfig,
    options: &AuditOptions,
    service: (SocketAddr, Locale),
) -> Audit {
    let context = match shared.context(config).await {
        Ok(context) => context,
        Err(problem) if problem.trouble == Trouble::Held => {
            let handed_over = hand_over(shared, config, options, service).await;
            return handed_over.unwrap_or_else(|| Audit::not_begun(config.key.clone(), problem));
        }
        Err(problem) => return Audit::not_begun(config.key.clone(), problem),
    };
    // Each audit samples other rows, so that many audits cover many rows.
    let seed = shared.clock.now().timestamp().unsigned_abs();
    let found = audit(&context, options, seed).await;
    if let Err(error) = context.lease.release().await {
        tracing::warn!(store = %config.key, %error, "lease not released; it ends with the connection");
    }
    found
}

/// Lets the service on this machine compare if it holds the store: only the holder may call the marketplace.
async fn hand_over(
    shared: &Shared,
    config: &StoreConfig,
    options: &AuditOptions,
    (listen, locale): (SocketAddr, Locale),
) -> Option<Audit> {
    tokio::select! {
        audit = handover::ask_for_audit(listen, &config.key, options, &shared.clock, locale) => audit,
        () = shared.stop.cancelled() => Some(Audit::not_begun(config.key.clone(), left())),
    }
}

fn left() -> Problem {
    Problem::of(Trouble::Stopped, "stopped", text!("run-audit-left"))
}

/// Returns the exit code that all stores share, else partial: something differs, or could not be compared.
fn exit_code(audits: &[Audit]) -> u8 {
    let codes: Vec<u8> = audits.iter().map(code_of).collect();
    match codes.first() {
        None => exit::COMPLETE,
        Some(&first) if codes.iter().all(|&code| code == first) => first,
        Some(_) => exit::PARTIAL,
    }
}

fn code_of(audit: &Audit) -> u8 {
    let mut problems = problems(audit);
    match problems.next() {
        None if audit.is_clean() => exit::COMPLETE,
        None => exit::PARTIAL,
        Some(problem) => match problem.trouble {
            Trouble::Held => exit::HELD,
            Trouble::Authentication => exit::AUTHENTICATION,
            Trouble::Configuration => exit::CONFIGURATION,
            Trouble::Guard | Trouble::Failure | Trouble::Stopped => exit::FAILED,
        },
    }
}

fn problems(audit: &Audit) -> impl Iterator<Item = &Problem> {
    audit.problem.iter().chain(audit.resources.iter().filter_map(|resource| resource.problem.as_ref()))
}

fn word(audit: &Audit) -> &'static str {
    match (problems(audit).next(), audit.is_clean()) {
        (Some(_), _) => "failed",
        (None, true) => "equal",
        (None, false) => "different",
    }
}

fn as_json(audits: &[Audit], locale: Locale) -> Value {
    let clean = audits.iter().all(Audit::is_clean);
    let stores: Vec<Value> = audits
        .iter()
        .map(|audit| {
            let resources: Map<String, Value> =
                audit.resources.iter().map(|r| (r.subject.to_string(), resource_json(r, locale))).collect();
            let error = audit.problem.as_ref().map(|problem| problem_json(problem, locale));
            json!({
                "store": audit.store.as_str(), "state": word(audit), "resources": resources,
                "requests": audit.requests, "error": error,
            })
        })
        .collect();
    json!({ "state": if clean { "complete" } else { "partial" }, "stores": stores })
}

fn resource_json(resource: &ResourceAudit, locale: Locale) -> Value {
    let named = resource.differences.iter();
    let differences: Vec<Value> =
        named.map(|(key, difference)| json!({ "key": key, "difference": difference })).collect();
    json!({
        "listed": resource.listed, "total": resource.total, "mirrored": resource.mirrored,
        "sampled": resource.sampled, "differing": resource.differing, "differences": differences,
        "error": resource.problem.as_ref().map(|problem| problem_json(problem, locale)),
        "note": resource.note.as_ref().map(|note| note.message(locale)),
    })
}

fn as_text(audits: &[Audit], locale: Locale) -> String {
    let mut text = String::new();
    for audit in audits {
        let (store, requests) = (audit.store.as_str(), audit.requests);
        let state = match word(audit) {
            "equal" => text!("run-audit-equal", store = store, requests = requests),
            "different" => text!("run-audit-different", store = store, requests = requests),
            _ => text!("run-audit-partial", store = store, requests = requests),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}", state.message(locale));
        audit.problem.iter().for_each(|problem| text.push_str(&report::problem_lines(problem, locale)));
        audit.resources.iter().for_each(|resource| write_resource(&mut text, resource, locale));
        for step in next_steps(audit) {
            let _ = writeln!(text, "  {}", step.message(locale));
        }
    }
    text
}

/// Returns the next steps for differences: a run reads orders and products; the service reads everything else.
fn next_steps(audit: &Audit) -> Vec<Text> {
    let differs = |by_runs: bool| {
        let is_of_runs = |subject| matches!(subject, Subject::Orders | Subject::Products);
        audit.resources.iter().any(|r| r.differing > 0 && is_of_runs(r.subject) == by_runs)
    };
    let resync = differs(true).then(|| text!("run-audit-next-resync", store = audit.store.as_str()));
    resync.into_iter().chain(differs(false).then(|| text!("run-audit-next-sweep"))).collect()
}

fn write_resource(text: &mut String, resource: &ResourceAudit, locale: Locale) {
    let name = words::resource(resource.subject.as_str()).message(locale);
    if let Some(note) = &resource.note {
        let _ = writeln!(text, "  {name:16} {}", note.message(locale));
        return;
    }
    let columns = text!(
        "run-audit-columns",
        listed = resource.listed,
        mirrored = resource.mirrored,
        sampled = resource.sampled,
        differing = resource.differing
    );
    let _ = writeln!(text, "  {name:16} {}", columns.message(locale));
    for (key, difference) in &resource.differences {
        let _ = writeln!(text, "            {key}: {}", difference.text().message(locale));
    }
    let hidden = resource.differing.saturating_sub(resource.differences.len() as u64);
    if hidden > 0 {
        let _ = writeln!(text, "            {}", text!("run-audit-more", more = hidden).message(locale));
    }
    resource.problem.iter().for_each(|problem| text.push_str(&report::problem_lines(problem, locale)));
}
