//! The side of the command: asks the service on this machine, and hands on what it tells.

use std::{net::SocketAddr, sync::Arc};

use espelho_model::{Clock, StoreKey};
use espelho_sync_engine::{
    Audit, AuditOptions, Examination, Options, Position, Problem, Progress, StoreReport, Trouble,
};

use super::{Asked, AskedAudit, AskedExamination, Event};
use crate::local;

/// Has the service on this machine do a run; `None` when none is there that would.
pub(crate) async fn ask(
    listen: SocketAddr,
    store: &StoreKey,
    options: &Options,
    progress: &dyn Progress,
    clock: &Arc<dyn Clock>,
) -> Option<StoreReport> {
    let body = serde_json::to_string(&Asked::new(store, options)).ok()?;
    let answer = local::request(listen, "POST", "/resync", Some(&body), clock).await.ok()?;
    if answer.status != 200 {
        return None;
    }
    eprintln!("{store}: the service that holds the store does the run");
    let mut lines = answer.lines();
    while let Ok(Some(line)) = lines.next_line().await {
        // What a newer service tells beyond this is not for us.
        let Ok(event) = serde_json::from_str(&line) else { continue };
        if let Event::Report { report } = event {
            return Some(report.into_report(store.clone()));
        }
        pass_on(event, store, progress);
    }
    Some(StoreReport::not_begun(store.clone(), cut_off()))
}

/// Has the service on this machine do an audit; `None` when none is there that would.
pub(crate) async fn ask_for_audit(
    listen: SocketAddr,
    store: &StoreKey,
    options: &AuditOptions,
    clock: &Arc<dyn Clock>,
) -> Option<Audit> {
    let body = serde_json::to_string(&AskedAudit::new(store, options)).ok()?;
    let answer = local::request(listen, "POST", "/audit", Some(&body), clock).await.ok()?;
    if answer.status != 200 {
        return None;
    }
    eprintln!("{store}: the service that holds the store does the audit");
    let mut lines = answer.lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if let Ok(Event::Audit { audit }) = serde_json::from_str(&line) {
            return Some(audit.into_audit(store.clone()));
        }
    }
    let problem = Problem {
        error: "the service that does the audit ended before it said how mirror and marketplace compare"
            .into(),
        hint: "see `espelho status`; run again: an audit begins anew".into(),
        ..cut_off()
    };
    Some(Audit::not_begun(store.clone(), problem))
}

/// Has the service on this machine look at a store's token and webhook; `None` when it does not.
pub(crate) async fn ask_to_examine(
    listen: SocketAddr,
    store: &StoreKey,
    clock: &Arc<dyn Clock>,
) -> Option<Examination> {
    let body = serde_json::to_string(&AskedExamination { store: store.to_string() }).ok()?;
    let answer = local::request(listen, "POST", "/examine", Some(&body), clock).await.ok()?;
    let mut lines = answer.lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if let Ok(Event::Examination { examination }) = serde_json::from_str(&line) {
            return Some(*examination);
        }
    }
    None
}

fn pass_on(event: Event, store: &StoreKey, progress: &dyn Progress) {
    match event {
        Event::Begin { resource, resumed } => {
            if let Ok(resource) = resource.parse() {
                progress.begin(store, resource, resumed);
            }
        }
        Event::Advance { resource, done, total, requests_left } => {
            if let Ok(resource) = resource.parse() {
                progress.advance(store, resource, Position { done, total, requests_left });
            }
        }
        Event::End { resource } => {
            if let Ok(resource) = resource.parse() {
                progress.end(store, resource);
            }
        }
        Event::Wait | Event::Report { .. } | Event::Audit { .. } | Event::Examination { .. } => {}
    }
}

fn cut_off() -> Problem {
    Problem {
        trouble: Trouble::Failure,
        code: "handover".into(),
        error: "the service that does the run ended before it said how the run went".into(),
        hint: "see `espelho status`; run again: it resumes where it stopped".into(),
    }
}
