//! Decides what the end of a reconciliation means for the live mirror.

use espelho_model::sync::{Resource, RunState};

use crate::{StoreReport, Trouble};

/// Whether the orders were walked to the end; some of them may have failed.
pub fn is_whole(report: &StoreReport) -> bool {
    let orders = report.resources.iter().find(|resource| resource.resource == Resource::Orders.into());
    orders.is_some_and(|orders| orders.state != RunState::Failed && orders.problem.is_none())
}

/// Returns how the passes over orders and products ended, as the run's record has it.
pub fn passes(report: &StoreReport) -> String {
    let listed = Resource::ALL.into_iter().filter_map(|resource| {
        let own = report.resources.iter().find(|own| own.resource == resource.into())?;
        let end = match own.state {
            RunState::Complete => "complete",
            RunState::Partial if own.problem.is_none() => "whole",
            _ => "cut",
        };
        Some(format!("{}:{end}", resource.as_str()))
    });
    listed.collect::<Vec<_>>().join(" ")
}

/// Whether a reconciliation ended early with the contact, so that it resumes as soon as the marketplace answers again.
pub fn is_cut_short(report: &StoreReport, is_contact_lost: bool) -> bool {
    is_contact_lost && report.problems().any(|problem| problem.trouble == Trouble::Failure)
}

#[cfg(test)]
mod tests {
    use espelho_model::{StoreKey, sync::Target, text};

    use super::*;
    use crate::{Problem, ResourceReport};

    fn problem(trouble: Trouble) -> Problem {
        Problem::of(trouble, "x", text!("run-stopped"))
    }

    fn report(target: Target, state: RunState, trouble: Option<Trouble>) -> StoreReport {
        let mut resource = ResourceReport::new(target);
        (resource.state, resource.problem) = (state, trouble.map(problem));
        let key = StoreKey::new("loja").unwrap();
        let report = StoreReport::not_begun(key, problem(Trouble::Failure));
        StoreReport { resources: vec![resource], problem: None, ..report }
    }

    #[test]
    fn orders_that_were_walked_to_the_end_are_whole_even_if_some_of_them_failed() {
        let orders = Target::Listed(Resource::Orders);
        for (target, state, trouble, expected) in [
            (orders, RunState::Complete, None, true),
            (orders, RunState::Partial, None, true),
            (orders, RunState::Failed, None, false),
            (orders, RunState::Partial, Some(Trouble::Failure), false),
            (orders, RunState::Partial, Some(Trouble::Guard), false),
            (Target::Listed(Resource::Products), RunState::Complete, None, false),
        ] {
            assert_eq!(
                is_whole(&report(target, state, trouble)),
                expected,
                "{target:?} {state:?} {trouble:?}"
            );
        }
    }

    #[test]
    fn the_record_of_a_run_says_how_each_pass_ended() {
        use RunState::{Complete, Failed, Partial};
        let (orders, products) = (Target::Listed(Resource::Orders), Target::Listed(Resource::Products));
        for (parts, expected) in [
            (vec![], ""),
            (vec![(orders, Complete, None)], "orders:complete"),
            (vec![(products, Partial, None)], "products:whole"),
            (vec![(Target::Events, Complete, None)], ""),
            (
                vec![(orders, Partial, Some(Trouble::Failure)), (products, Complete, None)],
                "orders:cut products:complete",
            ),
            (
                vec![(orders, Failed, None), (products, Failed, Some(Trouble::Guard))],
                "orders:cut products:cut",
            ),
        ] {
            let resources =
                parts.iter().flat_map(|(target, state, trouble)| report(*target, *state, *trouble).resources);
            let whole = StoreReport { resources: resources.collect(), ..report(orders, Complete, None) };
            assert_eq!(passes(&whole), expected);
        }
    }

    #[test]
    fn a_reconciliation_resumes_only_if_it_failed_and_the_contact_is_lost() {
        let orders = Target::Listed(Resource::Orders);
        for (trouble, is_lost, expected) in [
            (None, true, false),
            (Some(Trouble::Failure), true, true),
            (Some(Trouble::Failure), false, false),
            (Some(Trouble::Guard), true, false),
            (Some(Trouble::Stopped), true, false),
        ] {
            let report = report(orders, RunState::Partial, trouble);
            assert_eq!(is_cut_short(&report, is_lost), expected, "{trouble:?} {is_lost}");
        }
    }
}
