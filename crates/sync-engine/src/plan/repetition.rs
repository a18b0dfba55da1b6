//! Decides when a reconciliation that ended early is repeated, without waiting for its schedule.

use std::time::Duration;

use espelho_store::Failure;

use crate::{StoreReport, Trouble};

/// The pause before the first repetition; each further one is twice as long.
const FIRST: Duration = Duration::from_secs(60);
/// No pause is longer: reconciliations run every hour anyway.
const LONGEST: Duration = Duration::from_secs(3_600);

/// The repetitions of reconciliations that ended early, one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repetition {
    /// The last pause, if the last reconciliation ended early.
    pause: Option<Duration>,
}

impl Repetition {
    /// Returns the pause before the next repetition, if the reconciliation that has just ended is repeated.
    pub fn after(&mut self, is_repeated: bool) -> Option<Duration> {
        self.pause = is_repeated.then(|| self.pause.map_or(FIRST, |last| (last * 2).min(LONGEST)));
        self.pause
    }
}

/// Whether a reconciliation lacks something that goes away by itself: an outage, a full disk. A guard, a stop or a
/// refused row stays what it is.
pub fn is_repeated(report: &StoreReport) -> bool {
    let has_failed = report.problems().any(|problem| problem.trouble == Trouble::Failure);
    has_failed || report.resources.iter().flat_map(|resource| &resource.failures).any(is_passing)
}

/// Whether a row failed with an outage: the marketplace did not answer, or was not asked any more.
fn is_passing(failure: &Failure) -> bool {
    let server_error = failure.code.strip_prefix("http_").is_some_and(|status| status.starts_with('5'));
    server_error
        || [
            "unreachable",
            "interrupted",
            "unreadable",
            "not_asked",
            "http_404",
            "http_429",
            "TOO_MANY_REQUESTS",
        ]
        .contains(&failure.code.as_str())
}

#[cfg(test)]
mod tests {
    use espelho_model::{
        StoreKey,
        sync::{Resource, RunState, Target},
        text,
    };

    use super::*;
    use crate::{Problem, ResourceReport};

    /// Returns the pauses after reconciliations that ended early (`x`) or went well (`.`), in minutes.
    fn pauses(ends: &str) -> Vec<Option<u64>> {
        let mut repetition = Repetition::default();
        let minutes = |end| repetition.after(end == 'x').map(|pause| pause.as_secs() / 60);
        ends.chars().map(minutes).collect()
    }

    #[test]
    fn a_reconciliation_that_ends_early_is_repeated_after_a_minute_and_then_less_and_less_often() {
        let doubling = [1, 2, 4, 8, 16, 32, 60, 60].map(Some);
        assert_eq!(pauses("xxxxxxxx"), doubling);
        assert_eq!(pauses("."), [None]);
        assert_eq!(pauses("xx.x"), [Some(1), Some(2), None, Some(1)], "what went well begins anew");
        assert_eq!(pauses(".x.x"), [None, Some(1), None, Some(1)]);
    }

    fn report(state: RunState, trouble: Option<Trouble>, code: Option<&str>) -> StoreReport {
        let mut resource = ResourceReport::new(Target::Listed(Resource::Orders));
        let problem = |trouble| Problem::of(trouble, "x", text!("run-stopped"));
        (resource.state, resource.problem) = (state, trouble.map(problem));
        let (error, hint) = (String::new(), String::new());
        let failure = |code: &str| Failure { key: "1".into(), code: code.into(), error, hint, message: None };
        resource.failures = code.map(failure).into_iter().collect();
        let report = StoreReport::not_begun(StoreKey::new("loja").unwrap(), problem(Trouble::Failure));
        StoreReport { resources: vec![resource], problem: None, state, ..report }
    }

    #[test]
    fn what_goes_away_by_itself_is_repeated_and_what_stays_is_not() {
        use RunState::{Complete, Failed, Partial};
        for (state, trouble, code, expected, why) in [
            (Complete, None, None, false, "it went well"),
            (Partial, Some(Trouble::Failure), None, true, "the marketplace went away"),
            (Failed, Some(Trouble::Failure), None, true, "nothing was read at all"),
            (Partial, Some(Trouble::Guard), None, false, "a person decides"),
            (Partial, Some(Trouble::Stopped), None, false, "it was asked to stop"),
            (Failed, Some(Trouble::Authentication), None, false, "the credential is refused"),
            (Failed, Some(Trouble::Configuration), None, false, "the configuration is wrong"),
            (Failed, Some(Trouble::Held), None, false, "another process has the store"),
            (Partial, None, Some("http_503"), true, "a row met an outage"),
            (Partial, None, Some("unreadable"), true, "a row met a proxy's page"),
            (Partial, None, Some("http_404"), true, "a row met another server"),
            (Partial, None, Some("interrupted"), true, "a row's answer was cut off"),
            (Partial, None, Some("not_asked"), true, "rows were left for another run"),
            (Partial, None, Some("unwritable"), false, "the database refuses its content"),
            (Partial, None, Some("VALIDATION_ERROR"), false, "the marketplace refuses it"),
            (Partial, None, Some("NOT_FOUND"), false, "the marketplace does not have it"),
            (Partial, None, Some("http_403"), false, "the marketplace refuses it"),
        ] {
            assert_eq!(is_repeated(&report(state, trouble, code)), expected, "{why}");
        }
        // A run that could not even be recorded, as on a full disk.
        let problem = Problem::of(Trouble::Failure, "database", text!("run-stopped"));
        let nothing = StoreReport::not_begun(StoreKey::new("loja").unwrap(), problem);
        assert!(is_repeated(&nothing));
    }
}
