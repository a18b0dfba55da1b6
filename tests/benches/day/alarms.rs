//! Judges which alarms were raised, and which of them had a cause.

use std::{collections::BTreeMap, time::Duration};

use serde_json::Value;
use tokio::time::Instant;

/// How long an alarm may stay after its cause.
const GRACE: Duration = Duration::from_secs(60);
/// Consecutive reads without an answer, apart from a restart, that count as a fault.
const SILENT: u32 = 6;

/// A period in which some alarms are correct.
struct Cause {
    codes: &'static [&'static str],
    from: Instant,
    until: Option<Instant>,
}

/// The alarms of a day.
pub(crate) struct Alarms {
    began: Instant,
    causes: Vec<Cause>,
    silent: u32,
    pub(crate) looks: u64,
    pub(crate) looks_ok: u64,
    pub(crate) unanswered: u64,
    /// Reads that showed an alarm with its cause, by code.
    pub(crate) rightly: BTreeMap<String, u64>,
    /// Reads that showed an alarm without a cause, by code.
    pub(crate) falsely: BTreeMap<String, u64>,
}

impl Alarms {
    pub(crate) fn none() -> Self {
        Self {
            began: Instant::now(),
            causes: Vec::new(),
            silent: 0,
            looks: 0,
            looks_ok: 0,
            unanswered: 0,
            rightly: BTreeMap::new(),
            falsely: BTreeMap::new(),
        }
    }

    /// Begins a cause of these alarms.
    pub(crate) fn cause(&mut self, codes: &'static [&'static str]) {
        self.causes.push(Cause { codes, from: Instant::now(), until: None });
    }

    /// Ends the cause of these alarms.
    pub(crate) fn over(&mut self, codes: &'static [&'static str]) {
        let ended = self.causes.iter_mut().filter(|cause| cause.codes == codes);
        ended.for_each(|cause| cause.until = cause.until.or(Some(Instant::now())));
    }

    /// Judges an answer of `/status`. `deadlines` is the number of orders with a deadline within a day.
    pub(crate) fn judge(&mut self, status: Option<&Value>, deadlines: usize) {
        self.looks += 1;
        self.causes.retain(|cause| cause.until.is_none_or(|until| until.elapsed() <= GRACE));
        let Some(status) = status else {
            self.unanswered += 1;
            self.silent += 1;
            let code = "(no answer)";
            if self.silent >= SILENT && !self.has_cause(code) {
                self.note_false(code, "the pages do not come");
            }
            return;
        };
        self.silent = 0;
        let empty = Vec::new();
        let alarms = status["alarms"].as_array().unwrap_or(&empty);
        let state = status["state"].as_str().unwrap_or_default();
        self.looks_ok += u64::from(state == "ok" && alarms.is_empty());
        if alarms.is_empty() && state != "ok" && !self.has_cause(state) {
            self.note_false(state, "the state, without an alarm");
        }
        for alarm in alarms {
            let code = alarm["code"].as_str().unwrap_or_default();
            match self.has_cause(code) || code == "deadline" && deadlines > 0 {
                true => *self.rightly.entry(code.to_owned()).or_default() += 1,
                false => self.note_false(code, &alarm.to_string()),
            }
        }
    }

    fn has_cause(&self, code: &str) -> bool {
        self.causes.iter().any(|cause| cause.codes.contains(&code))
    }

    fn note_false(&mut self, code: &str, text: &str) {
        let seen = self.falsely.entry(code.to_owned()).or_default();
        *seen += 1;
        if *seen <= 3 {
            let at = self.began.elapsed().as_secs();
            let last = self.causes.last().map(|cause| cause.from.elapsed().as_secs());
            println!(
                "{:02}:{:02}:{:02} FALSE {code}: {text} (last cause {last:?} s ago)",
                at / 3600,
                at / 60 % 60,
                at % 60
            );
        }
    }
}
