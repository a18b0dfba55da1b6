//! What a run says: one JSON object for programs, a few lines for people.

use std::fmt::Write as _;

use espelho_model::sync::RunState;
use espelho_sync_engine::{Problem, ResourceReport, StoreReport};
use serde_json::{Map, Value, json};

/// The object of `--resync --json`.
pub(crate) fn as_json(reports: &[StoreReport]) -> Value {
    let state = RunState::of_parts(reports.iter().map(|report| report.state));
    let stores: Vec<Value> = reports.iter().map(store_json).collect();
    json!({ "state": state.as_str(), "stores": stores, "process": crate::usage::now() })
}

/// The object for a run that could not begin at all.
pub(crate) fn failure_json(problems: &[Problem]) -> Value {
    json!({ "state": "failed", "stores": [], "errors": problems.iter().map(problem_json).collect::<Vec<_>>() })
}

fn store_json(report: &StoreReport) -> Value {
    let resources: Map<String, Value> =
        report.resources.iter().map(|r| (r.resource.as_str().to_owned(), resource_json(r))).collect();
    let mut object = json!({
        "store": report.store.as_str(),
        "state": report.state.as_str(),
        "resources": resources,
        "requests": report.requests,
        "rate_limited": report.rate_limited,
        "logins": report.logins,
        "seconds": (report.seconds * 1000.0).round() / 1000.0,
    });
    if let Some(problem) = report.problems().next() {
        object["error"] = problem_json(problem);
    }
    object
}

fn resource_json(report: &ResourceReport) -> Value {
    let counts = report.counts;
    let failure =
        |f: &espelho_store::Failure| json!({"key": f.key, "code": f.code, "error": f.error, "hint": f.hint});
    let mut object = json!({
        "state": report.state.as_str(),
        "seen": counts.seen,
        "changed": counts.changed,
        "gone": counts.gone,
        "failed": counts.failed,
        "pages": report.pages,
        "details": report.details,
        "failures": report.failures.iter().map(failure).collect::<Vec<_>>(),
        "notes": report.notes,
        "resumed_at_page": report.resumed_at,
    });
    if let Some(problem) = &report.problem {
        object["error"] = problem_json(problem);
    }
    object
}

fn problem_json(problem: &Problem) -> Value {
    json!({ "code": problem.code, "error": problem.error, "hint": problem.hint })
}

/// The lines for people.
pub(crate) fn as_text(reports: &[StoreReport]) -> String {
    let mut text = String::new();
    for report in reports {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}", store_line(report));
        if let Some(problem) = &report.problem {
            text.push_str(&problem_lines(problem));
        }
        report.resources.iter().for_each(|resource| text.push_str(&resource_lines(resource)));
    }
    text
}

fn store_line(report: &StoreReport) -> String {
    let rate_limited = match report.rate_limited {
        0 => String::new(),
        n => format!(", {n} of them refused as too many (429)"),
    };
    let (store, state, seconds, requests) =
        (&report.store, report.state.as_str(), report.seconds, report.requests);
    format!("{store}: {state} in {seconds:.1} s, {requests} requests{rate_limited}, {} logins", report.logins)
}

fn resource_lines(report: &ResourceReport) -> String {
    let counts = report.counts;
    let mut text = format!(
        "  {:9} {:>8} seen {:>8} changed {:>6} gone {:>6} failed\n",
        report.resource.as_str(),
        counts.seen,
        counts.changed,
        counts.gone,
        counts.failed
    );
    if let Some(page) = report.resumed_at {
        let _ = writeln!(text, "            resumed at page {page}");
    }
    for note in &report.notes {
        let _ = writeln!(text, "            note: {note}");
    }
    for failure in &report.failures {
        let _ = writeln!(
            text,
            "            {} failed: {}\n              next step: {}",
            failure.key, failure.error, failure.hint
        );
    }
    let hidden = counts.failed.saturating_sub(report.failures.len() as u64);
    if hidden > 0 {
        let _ = writeln!(text, "            and {hidden} more: SELECT * FROM sync_failures");
    }
    if let Some(problem) = &report.problem {
        text.push_str(&problem_lines(problem));
    }
    text
}

/// A problem in two lines: cause, and next step.
pub(crate) fn problem_lines(problem: &Problem) -> String {
    format!("  error: {}\n  next step: {}\n", problem.error, problem.hint)
}
