//! `espelho audit`: compares mirror and marketplace, and changes neither.

use std::{fmt::Write as _, net::SocketAddr, sync::Arc};

use espelho_sync_engine::{Audit, AuditOptions, Problem, ResourceAudit, Silent, Subject, Trouble, audit};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{load, reading::named, say};
use crate::{
    cli::{AuditArgs, Cli},
    config::StoreConfig,
    context::{Shared, stop_on_signals},
    exit, handover, report, telemetry,
};

pub(super) async fn run(cli: &Cli, arguments: &AuditArgs) -> u8 {
    let configuration = match load(cli) {
        Ok(configuration) => configuration,
        Err(code) => return code,
    };
    let keys = match named(&configuration, arguments.store.as_deref()) {
        Ok(keys) => keys,
        Err(problem) => return say(&problem, cli.json),
    };
    telemetry::start(configuration.installation.log.format, "warn");
    let stop = CancellationToken::new();
    if let Err(error) = stop_on_signals(&stop) {
        eprintln!("espelho: {error:#}");
        return exit::FAILED;
    }
    let shared = match Shared::open(&configuration, "audit", Arc::new(Silent), stop).await {
        Ok(shared) => shared,
        Err(problem) => return say(&problem, cli.json),
    };
    let options = AuditOptions { only: arguments.only.clone(), sample: arguments.sample };
    let listen = configuration.installation.http.listen;
    let mut audits = Vec::new();
    for config in configuration.stores.iter().filter(|store| keys.contains(&store.key)) {
        audits.push(of_store(&shared, config, &options, listen).await);
    }
    shared.store.close().await;
    match cli.json {
        true => {
            eprint!("{}", as_text(&audits));
            println!("{}", as_json(&audits));
        }
        false => print!("{}", as_text(&audits)),
    }
    exit_code(&audits)
}

async fn of_store(
    shared: &Shared,
    config: &StoreConfig,
    options: &AuditOptions,
    listen: SocketAddr,
) -> Audit {
    let context = match shared.context(config).await {
        Ok(context) => context,
        Err(problem) if problem.trouble == Trouble::Held => {
            let handed_over = hand_over(shared, config, options, listen).await;
            return handed_over.unwrap_or_else(|| Audit::not_begun(config.key.clone(), problem));
        }
        Err(problem) => return Audit::not_begun(config.key.clone(), problem),
    };
    // Other rows each time, so that many audits see many rows.
    let seed = shared.clock.now().timestamp().unsigned_abs();
    let found = audit(&context, options, seed).await;
    if let Err(error) = context.lease.release().await {
        tracing::warn!(store = %config.key, %error, "the lease ends with the connection");
    }
    found
}

/// Has the service on this machine compare, if it is the one that holds the store: only it may call the marketplace.
async fn hand_over(
    shared: &Shared,
    config: &StoreConfig,
    options: &AuditOptions,
    listen: SocketAddr,
) -> Option<Audit> {
    tokio::select! {
        audit = handover::ask_for_audit(listen, &config.key, options, &shared.clock) => audit,
        () = shared.stop.cancelled() => Some(Audit::not_begun(config.key.clone(), left())),
    }
}

fn left() -> Problem {
    Problem {
        trouble: Trouble::Stopped,
        code: "stopped".into(),
        error: "stopped waiting; the service that holds the store goes on with the audit".into(),
        hint: "see what it found: espelho status".into(),
    }
}

/// What all stores share speaks for itself; else something differs, or could not be looked at.
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

fn as_json(audits: &[Audit]) -> Value {
    let clean = audits.iter().all(Audit::is_clean);
    let stores: Vec<Value> = audits
        .iter()
        .map(|audit| {
            let resources: Map<String, Value> =
                audit.resources.iter().map(|r| (r.subject.to_string(), resource_json(r))).collect();
            let error = audit.problem.as_ref().map(problem_json);
            json!({
                "store": audit.store.as_str(), "state": word(audit), "resources": resources,
                "requests": audit.requests, "error": error,
            })
        })
        .collect();
    json!({ "state": if clean { "complete" } else { "partial" }, "stores": stores })
}

fn resource_json(resource: &ResourceAudit) -> Value {
    let named = resource.differences.iter();
    let differences: Vec<Value> =
        named.map(|(key, difference)| json!({ "key": key, "difference": difference.as_str() })).collect();
    json!({
        "listed": resource.listed, "total": resource.total, "mirrored": resource.mirrored,
        "sampled": resource.sampled, "differing": resource.differing, "differences": differences,
        "error": resource.problem.as_ref().map(problem_json), "note": resource.note,
    })
}

fn problem_json(problem: &Problem) -> Value {
    json!({ "code": problem.code, "error": problem.error, "hint": problem.hint })
}

fn as_text(audits: &[Audit]) -> String {
    let mut text = String::new();
    for audit in audits {
        // Writing to a String cannot fail.
        let state = match word(audit) {
            "equal" => "igual ao marketplace / equal to the marketplace",
            "different" => "difere do marketplace / differs from the marketplace",
            _ => "não pôde ser comparada por inteiro / could not be compared in full",
        };
        let _ = writeln!(text, "{}: {state}, {} requests", audit.store, audit.requests);
        audit.problem.iter().for_each(|problem| text.push_str(&report::problem_lines(problem)));
        audit.resources.iter().for_each(|resource| write_resource(&mut text, resource));
        write_next_steps(&mut text, audit);
    }
    text
}

/// What to do about what differs: a run reads orders and products, everything else is the service's.
fn write_next_steps(text: &mut String, audit: &Audit) {
    let differs = |by_runs: bool| {
        let is_of_runs = |subject| matches!(subject, Subject::Orders | Subject::Products);
        audit.resources.iter().any(|r| r.differing > 0 && is_of_runs(r.subject) == by_runs)
    };
    if differs(true) {
        let _ =
            writeln!(text, "  próximo passo / next step: espelho --resync --deep --store {}", audit.store);
    }
    if differs(false) {
        text.push_str("  o serviço lê o resto de novo na próxima leitura / the service reads the rest again with its next sweep\n");
    }
}

fn write_resource(text: &mut String, resource: &ResourceAudit) {
    let ResourceAudit { listed, mirrored, sampled, differing, .. } = resource;
    if let Some(note) = &resource.note {
        let _ = writeln!(text, "  {:12} {note}", resource.subject.as_str());
        return;
    }
    let _ = writeln!(
        text,
        "  {:12} {listed:>8} listed {mirrored:>8} mirrored {sampled:>6} details read {differing:>6} differ",
        resource.subject.as_str()
    );
    for (key, difference) in &resource.differences {
        let _ = writeln!(text, "            {key}: {}", difference.as_str());
    }
    let hidden = differing.saturating_sub(resource.differences.len() as u64);
    if hidden > 0 {
        let _ = writeln!(text, "            and {hidden} more");
    }
    resource.problem.iter().for_each(|problem| text.push_str(&report::problem_lines(problem)));
}
