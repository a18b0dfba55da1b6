//! `espelho audit`: compares mirror and marketplace, and changes neither.

use std::{fmt::Write as _, sync::Arc};

use espelho_sync_engine::{Audit, Problem, ResourceAudit, Silent, Trouble, audit};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{load, reading::named, say};
use crate::{
    cli::{AuditArgs, Cli},
    config::StoreConfig,
    context::{Shared, stop_on_signals},
    exit, report, telemetry,
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
    let mut audits = Vec::new();
    for config in configuration.stores.iter().filter(|store| keys.contains(&store.key)) {
        audits.push(of_store(&shared, config, arguments).await);
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

async fn of_store(shared: &Shared, config: &StoreConfig, arguments: &AuditArgs) -> Audit {
    let context = match shared.context(config).await {
        Ok(context) => context,
        Err(problem) => {
            let (store, problem) = (config.key.clone(), Some(problem));
            return Audit { store, resources: Vec::new(), requests: 0, problem };
        }
    };
    // Other rows each time, so that many audits see many rows.
    let seed = shared.clock.now().timestamp().unsigned_abs();
    let found = audit(&context, &arguments.only, arguments.sample, seed).await;
    if let Err(error) = context.lease.release().await {
        tracing::warn!(store = %config.key, %error, "the lease ends with the connection");
    }
    found
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
                audit.resources.iter().map(|r| (r.resource.to_string(), resource_json(r))).collect();
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
        "error": resource.problem.as_ref().map(problem_json),
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
        if word(audit) == "different" {
            let _ = writeln!(
                text,
                "  próximo passo / next step: espelho --resync --deep --store {}",
                audit.store
            );
        }
    }
    text
}

fn write_resource(text: &mut String, resource: &ResourceAudit) {
    let ResourceAudit { listed, mirrored, sampled, differing, .. } = resource;
    let _ = writeln!(
        text,
        "  {:9} {listed:>8} listed {mirrored:>8} mirrored {sampled:>6} details read {differing:>6} differ",
        resource.resource.as_str()
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
