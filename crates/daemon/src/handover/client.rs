//! The command's end: asks the service on this machine, and forwards its events.

use std::{net::SocketAddr, sync::Arc};

use espelho_model::{Clock, StoreKey, text, text::Locale};
use espelho_sync_engine::{
    Audit, AuditOptions, Examination, Options, Position, Problem, Progress, Question, StoreReport, Trouble,
};

use super::{Asked, AskedAudit, AskedExamination, Event};
use crate::local;

/// Lets the service on this machine do a run; `None` if no service there does it.
pub(crate) async fn ask(
    listen: SocketAddr,
    store: &StoreKey,
    options: &Options,
    progress: &dyn Progress,
    clock: &Arc<dyn Clock>,
    locale: Locale,
) -> Option<StoreReport> {
    let body = serde_json::to_string(&Asked::new(store, options)).ok()?;
    let answer = local::request(listen, "POST", "/resync", Some(&body), clock).await.ok()?;
    if answer.status != 200 {
        return None;
    }
    eprintln!("{}", text!("run-handed-over", store = store.as_str()).message(locale));
    let mut lines = answer.lines();
    while let Ok(Some(line)) = lines.next_line().await {
        // Unknown events of a newer service are ignored.
        let Ok(event) = serde_json::from_str(&line) else { continue };
        if let Event::Report { report } = event {
            return Some(*report);
        }
        pass_on(event, store, progress);
    }
    Some(StoreReport::not_begun(store.clone(), cut_off()))
}

/// Lets the service on this machine do an audit; `None` if no service there does it.
pub(crate) async fn ask_for_audit(
    listen: SocketAddr,
    store: &StoreKey,
    options: &AuditOptions,
    clock: &Arc<dyn Clock>,
    locale: Locale,
) -> Option<Audit> {
    let body = serde_json::to_string(&AskedAudit::new(store, options)).ok()?;
    let answer = local::request(listen, "POST", "/audit", Some(&body), clock).await.ok()?;
    if answer.status != 200 {
        return None;
    }
    eprintln!("{}", text!("run-audit-handed-over", store = store.as_str()).message(locale));
    let mut lines = answer.lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if let Ok(Event::Audit { audit }) = serde_json::from_str(&line) {
            return Some(*audit);
        }
    }
    let problem = Problem::of(Trouble::Failure, "handover", text!("run-audit-cut-off"));
    Some(Audit::not_begun(store.clone(), problem))
}

/// Asks the service on this machine a question about a store; `None` when it does not answer.
pub(crate) async fn inquire(
    listen: SocketAddr,
    store: &StoreKey,
    question: Question,
    clock: &Arc<dyn Clock>,
) -> Option<Examination> {
    let body = serde_json::to_string(&AskedExamination { store: store.to_string(), question }).ok()?;
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
    Problem::of(Trouble::Failure, "handover", text!("run-cut-off"))
}
