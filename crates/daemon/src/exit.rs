//! Exit codes (PRODUCT contract 1).

use espelho_model::sync::RunState;
use espelho_sync_engine::{StoreReport, Trouble};

pub(crate) const COMPLETE: u8 = 0;
pub(crate) const FAILED: u8 = 1;
pub(crate) const CONFIGURATION: u8 = 2;
pub(crate) const PARTIAL: u8 = 3;
pub(crate) const AUTHENTICATION: u8 = 4;
pub(crate) const GUARD: u8 = 5;
pub(crate) const HELD: u8 = 6;

/// Returns the exit code of a run over stores: the code that all stores share, else partial.
pub(crate) fn of_run(reports: &[StoreReport]) -> u8 {
    let codes: Vec<u8> = reports.iter().map(of_store).collect();
    match codes.first() {
        None => COMPLETE,
        Some(&first) if codes.iter().all(|&code| code == first) => first,
        Some(_) => PARTIAL,
    }
}

/// Returns the exit code of one store. A cause with its own code takes precedence over "partial" and "failed".
fn of_store(report: &StoreReport) -> u8 {
    let named = report.problems().find_map(|problem| match problem.trouble {
        Trouble::Authentication => Some(AUTHENTICATION),
        Trouble::Guard => Some(GUARD),
        Trouble::Held => Some(HELD),
        Trouble::Configuration => Some(CONFIGURATION),
        Trouble::Failure | Trouble::Stopped => None,
    });
    named.unwrap_or(match report.state {
        RunState::Complete if report.problem.is_none() => COMPLETE,
        RunState::Complete | RunState::Partial => PARTIAL,
        RunState::Failed => FAILED,
    })
}

#[cfg(test)]
mod tests {
    use espelho_model::StoreKey;
    use espelho_sync_engine::Problem;

    use super::*;

    fn report(trouble: Option<Trouble>, state: RunState) -> StoreReport {
        let key = StoreKey::new("a").unwrap();
        let problem = |trouble| Problem::of(trouble, "", espelho_model::text::Text::new("x"));
        let mut report = StoreReport::not_begun(key, problem(Trouble::Failure));
        report.problem = trouble.map(problem);
        report.state = state;
        report
    }

    #[test]
    fn a_shared_cause_speaks_for_itself_and_a_mixture_is_partial() {
        let check = |reports: &[(Option<Trouble>, RunState)], code| {
            let reports: Vec<_> = reports.iter().map(|&(trouble, state)| report(trouble, state)).collect();
            assert_eq!(of_run(&reports), code);
        };
        check(&[], COMPLETE);
        check(&[(None, RunState::Complete)], COMPLETE);
        check(&[(None, RunState::Partial)], PARTIAL);
        check(&[(Some(Trouble::Failure), RunState::Failed)], FAILED);
        check(&[(Some(Trouble::Authentication), RunState::Failed)], AUTHENTICATION);
        check(&[(Some(Trouble::Guard), RunState::Partial)], GUARD);
        check(&[(Some(Trouble::Held), RunState::Failed); 2], HELD);
        check(&[(Some(Trouble::Held), RunState::Failed), (None, RunState::Complete)], PARTIAL);
    }
}
