//! The report of a run: one JSON object for programs, a few lines for people.

use std::fmt::Write as _;

use espelho_model::{
    sync::RunState,
    text,
    text::{Arg, Locale, Text, words},
};
use espelho_sync_engine::{Problem, ResourceReport, StoreReport};
use rust_decimal::Decimal;
use serde_json::{Map, Value, json};

/// Returns the object of `--resync --json`.
pub(crate) fn as_json(reports: &[StoreReport], locale: Locale) -> Value {
    let state = RunState::of_parts(reports.iter().map(|report| report.state));
    let stores: Vec<Value> = reports.iter().map(|report| store_json(report, locale)).collect();
    json!({ "state": state.as_str(), "stores": stores, "process": crate::usage::now() })
}

/// Returns the object for a run that could not start at all.
pub(crate) fn failure_json(problems: &[Problem], locale: Locale) -> Value {
    let errors: Vec<Value> = problems.iter().map(|problem| problem_json(problem, locale)).collect();
    json!({ "state": "failed", "stores": [], "errors": errors })
}

fn store_json(report: &StoreReport, locale: Locale) -> Value {
    let resources: Map<String, Value> =
        report.resources.iter().map(|r| (r.resource.as_str().to_owned(), resource_json(r, locale))).collect();
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
        object["error"] = problem_json(problem, locale);
    }
    object
}

fn resource_json(report: &ResourceReport, locale: Locale) -> Value {
    let counts = report.counts;
    let mut object = json!({
        "state": report.state.as_str(),
        "seen": counts.seen,
        "changed": counts.changed,
        "gone": counts.gone,
        "failed": counts.failed,
        "pages": report.pages,
        "details": report.details,
        "failures": report.failures,
        "notes": report.notes.iter().map(|note| note.message(locale)).collect::<Vec<_>>(),
        "resumed_at_page": report.resumed_at,
    });
    if let Some(problem) = &report.problem {
        object["error"] = problem_json(problem, locale);
    }
    object
}

/// Returns a problem for programs, with its words in one language.
pub(crate) fn problem_json(problem: &Problem, locale: Locale) -> Value {
    json!({ "code": problem.code, "error": problem.message(locale), "hint": problem.next(locale) })
}

/// Returns the lines for people.
pub(crate) fn as_text(reports: &[StoreReport], locale: Locale) -> String {
    let mut text = String::new();
    for report in reports {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}", store_line(report, locale));
        if let Some(problem) = &report.problem {
            text.push_str(&problem_lines(problem, locale));
        }
        let lines = report.resources.iter().map(|resource| resource_lines(resource, locale));
        lines.for_each(|lines| text.push_str(&lines));
    }
    text
}

fn store_line(report: &StoreReport, locale: Locale) -> String {
    let line = text!(
        "run-report-line",
        store = report.store.as_str(),
        state = words::run_state(report.state.as_str()),
        seconds = tenths(report.seconds),
        requests = report.requests,
        logins = report.logins
    );
    match report.rate_limited {
        0 => line.message(locale),
        n => {
            let limited = text!("run-report-limited", rate_limited = n);
            format!("{}, {}", line.message(locale), limited.message(locale))
        }
    }
}

/// Returns seconds to a tenth, which a reader sees in the notation of the language.
fn tenths(seconds: f64) -> Arg {
    Arg::Quantity(Decimal::new((seconds * 10.0).round() as i64, 1))
}

fn resource_lines(report: &ResourceReport, locale: Locale) -> String {
    let counts = report.counts;
    let columns = text!(
        "run-report-columns",
        seen = counts.seen,
        changed = counts.changed,
        gone = counts.gone,
        failed = counts.failed
    );
    let resource = words::resource(report.resource.as_str()).message(locale);
    let mut text = format!("  {resource:9} {}\n", columns.message(locale));
    let mut line = |said: Text| {
        let _ = writeln!(text, "            {}", said.message(locale));
    };
    if let Some(page) = report.resumed_at {
        line(text!("run-report-resumed", page = page));
    }
    report.notes.iter().for_each(|note| line(text!("run-report-note", note = note.clone())));
    for failure in &report.failures {
        line(text!("run-report-failure", key = &failure.key, error = &failure.error));
        line(text!("run-next-step", next = &failure.hint));
    }
    let hidden = counts.failed.saturating_sub(report.failures.len() as u64);
    if hidden > 0 {
        line(text!("run-report-hidden", hidden = hidden));
    }
    if let Some(problem) = &report.problem {
        text.push_str(&problem_lines(problem, locale));
    }
    text
}

/// Returns a problem in two lines: cause, and next step.
pub(crate) fn problem_lines(problem: &Problem, locale: Locale) -> String {
    let error = text!("run-error", error = problem.message(locale));
    let next = text!("run-next-step", next = problem.next(locale));
    format!("  {}\n  {}\n", error.message(locale), next.message(locale))
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Language;

    use super::*;

    #[test]
    fn a_run_s_seconds_are_written_as_the_reader_writes_them() {
        for (seconds, portuguese, english) in
            [(0.14, "0,1 s", "0.1 s"), (2.0, "2 s", "2 s"), (1_234.56, "1.234,6 s", "1,234.6 s")]
        {
            let text = text!("run-report-line", seconds = tenths(seconds));
            for (language, expected) in [(Language::Portuguese, portuguese), (Language::English, english)] {
                let said = text.message(Locale::of(language));
                assert!(said.contains(expected), "{said}");
            }
        }
    }
}
