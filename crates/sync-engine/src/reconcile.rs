//! Reconciles one store, one resource after the other.

use chrono::NaiveDate;
use espelho_api_client::limit::Lane;
use espelho_model::{
    StoreKey,
    sync::{Resource, RunState, Target},
    text,
};
use espelho_store::{Error as StoreError, RunResult};

use crate::{
    Error, Problem, ResourceReport, StoreContext, StoreReport, Trouble,
    labels::{FetchedLabels, fetch_ready},
    plan::{downtime::was_mirrored, first_read::reads_open_first, pauses::Activity, reconciled::passes},
    pull::{
        OrdersPull, PassOptions, ProductsPull, Pull as _, read_in_full, read_subresource, run_pass,
        subresource_of,
    },
};

/// The code of a reconciliation that a pause has kept from beginning.
pub(crate) const PAUSED: &str = "paused";

/// What a reconciliation does.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Only these targets; orders and products when empty.
    pub only: Vec<Target>,
    /// Only orders created since this day; then nothing is marked gone.
    pub since: Option<NaiveDate>,
    /// Restart instead of resuming.
    pub restart: bool,
    /// Read every detail, even if its listing row is unchanged: a listing does not show everything.
    pub deep: bool,
    /// Compare and count, change nothing.
    pub dry_run: bool,
    /// Mark rows gone, however many they are.
    pub accept_gone: bool,
    /// Fetch the label files that are ready, after the resources. A service has a worker for them.
    pub label_files: bool,
    /// The lane of its requests, if not the client's own.
    pub lane: Option<Lane>,
    /// The value of `sync_runs.kind`.
    pub kind: &'static str,
}

/// Reconciles one store and records the run.
pub async fn reconcile(context: &StoreContext, options: &Options) -> StoreReport {
    if context.suspension.is_paused(&context.key, Activity::Pull, &*context.clock) {
        let paused = Problem::of(Trouble::Guard, PAUSED, text!("run-paused", store = context.key.as_str()));
        return StoreReport::not_begun(context.key.clone(), paused);
    }
    let started = context.clock.monotonic();
    let before = context.client.stats();
    let run = match options.dry_run {
        true => Ok(None),
        false => context.store.runs().start_run(&context.lease, options.kind).await.map(Some),
    };
    let run = match run {
        Ok(run) => run,
        Err(error) => return StoreReport::not_begun(context.key.clone(), Problem::from_store(&error)),
    };
    let mut resources = read_resources(context, options).await;
    let problem = match options.label_files {
        true => add_labels(&context.key, &mut resources, Box::pin(fetch_ready(context)).await),
        false => None,
    };
    let stats = context.client.stats();
    let mut report = StoreReport {
        store: context.key.clone(),
        state: RunState::Complete,
        resources,
        requests: stats.requests - before.requests,
        rate_limited: stats.rate_limited - before.rate_limited,
        logins: stats.logins - before.logins,
        seconds: (context.clock.monotonic() - started).as_secs_f64(),
        problem,
    };
    if let Err(error) = context.client.limiter().settle().await {
        report.problem.get_or_insert_with(|| Problem::from_api(&error));
    }
    // The row of the run and the report say the same.
    report.state = state_of(&report);
    if let Some(run) = run {
        let error = report.problems().next().map(|p| p.in_one_line(context.locale));
        let (state, requests, counts) = (report.state.as_str(), report.requests, report.counts());
        let result = RunResult { state, requests, counts, error, passes: passes(&report) };
        if let Err(error) = context.store.runs().finish_run(run, result).await {
            report.problem = Some(Problem::from_store(&error));
        }
    }
    report.state = state_of(&report);
    report
}

/// Returns how a run ended: a problem of the store leaves none complete.
fn state_of(report: &StoreReport) -> RunState {
    match RunState::of_parts(report.resources.iter().map(|resource| resource.state)) {
        RunState::Complete if report.problem.is_some() => RunState::Partial,
        state => state,
    }
}

/// Adds what became of the label files; returns what kept them from being fetched. Where all went well, the report is
/// that of the resources.
fn add_labels(
    store: &StoreKey,
    resources: &mut Vec<ResourceReport>,
    ended: Result<FetchedLabels, Error>,
) -> Option<Problem> {
    let labels = match ended {
        Ok(labels) => labels.into_report(),
        Err(error) => return Some(error.into()),
    };
    let (fetched, failed) = (labels.counts.changed, labels.counts.failed);
    if fetched + failed > 0 {
        tracing::info!(%store, fetched, failed, "fetched label files");
    }
    if failed > 0 {
        resources.push(labels);
    }
    None
}

async fn read_resources(context: &StoreContext, options: &Options) -> Vec<ResourceReport> {
    let mut reports = Vec::new();
    for target in Target::ALL {
        let is_meant = match options.only.is_empty() {
            true => matches!(target, Target::Listed(_)),
            false => options.only.contains(&target),
        };
        if !is_meant {
            continue;
        }
        let report = match target {
            Target::Listed(resource) => read_resource(context, options, resource).await,
            other => Box::pin(read_other(context, options, other)).await,
        };
        let ends_run =
            report.problem.as_ref().is_some_and(|p| p.trouble != Trouble::Guard && concerns_store(p));
        reports.push(report);
        if ends_run {
            break;
        }
    }
    reports
}

/// Says whether the next resource would meet the problem as well.
fn concerns_store(problem: &Problem) -> bool {
    matches!(problem.trouble, Trouble::Authentication | Trouble::Held | Trouble::Stopped)
        || matches!(
            problem.code.as_str(),
            "unreachable" | "database" | "setup" | "login_failed" | "login_limited"
        )
}

/// Reads a target without a paged listing: a sub-resource of orders, or a resource that is read in full.
async fn read_other(context: &StoreContext, options: &Options, target: Target) -> ResourceReport {
    let client = options.lane.map_or_else(|| context.client.clone(), |lane| context.client.in_lane(lane));
    match subresource_of(target) {
        Some(part) => read_subresource(context, &client, target, part, pass_options(options, true)).await,
        None => read_in_full(context, &client, target, options.dry_run, options.accept_gone).await,
    }
}

fn pass_options(options: &Options, covers_everything: bool) -> PassOptions {
    PassOptions {
        restart: options.restart,
        deep: options.deep,
        dry_run: options.dry_run,
        covers_everything,
        is_prelude: false,
        accept_gone: options.accept_gone,
        beside_live: options.lane == Some(Lane::Backfill),
    }
}

async fn read_resource(context: &StoreContext, options: &Options, resource: Resource) -> ResourceReport {
    let pass = pass_options(options, resource != Resource::Orders || options.since.is_none());
    let client = options.lane.map_or_else(|| context.client.clone(), |lane| context.client.in_lane(lane));
    let parameter = context.page_parameter.clone();
    match resource {
        Resource::Orders => {
            let all = OrdersPull::new(client.clone(), options.since, parameter.clone());
            Box::pin(read_orders(context, OrdersPull::open(client, parameter), all, pass)).await
        }
        Resource::Products => match context.store.mirror().location_names(&context.key).await {
            Ok(known) => Box::pin(run_pass(context, ProductsPull::new(client, known, parameter), pass)).await,
            Err(error) => failed_report(resource, &error),
        },
    }
}

/// Reads the orders. If the live mirror reads a store for the first time, it reads the open ones before all others:
/// people wait for them, and all orders may take hours. The pass over all orders finds them mirrored, and reads again
/// those that failed.
async fn read_orders(
    context: &StoreContext,
    open: OrdersPull,
    all: OrdersPull,
    pass: PassOptions,
) -> ResourceReport {
    let first = match needs_open_orders_first(context, &open, pass).await {
        Ok(true) => {
            let pass = PassOptions { covers_everything: false, is_prelude: true, ..pass };
            Box::pin(run_pass(context, open, pass)).await
        }
        Ok(false) => return Box::pin(run_pass(context, all, pass)).await,
        Err(error) => return failed_report(Resource::Orders, &error),
    };
    if first.problem.as_ref().is_some_and(concerns_store) {
        return first;
    }
    with_first(first, Box::pin(run_pass(context, all, pass)).await)
}

/// Says whether the open orders are read in a pass of their own before the pass over all orders.
async fn needs_open_orders_first(
    context: &StoreContext,
    open: &OrdersPull,
    pass: PassOptions,
) -> Result<bool, StoreError> {
    if !pass.beside_live || !pass.covers_everything || pass.restart || pass.deep || pass.dry_run {
        return Ok(false);
    }
    let kept = context.store.mirror().pass(&context.key, Resource::Orders).await?;
    let runs = context.store.runs().last_run_states(&context.key).await?;
    let is_kept = kept.map(|kept| open.clone().ask_as(&kept.scope));
    Ok(reads_open_first(is_kept, was_mirrored(&runs)))
}

/// Adds what the pass over the open orders read to the report of the pass over all orders, which has seen them too.
fn with_first(first: ResourceReport, mut all: ResourceReport) -> ResourceReport {
    all.counts.changed += first.counts.changed;
    all.pages += first.pages;
    all.details += first.details;
    all.notes = first.notes.into_iter().chain(all.notes).collect();
    if all.state == RunState::Failed && first.counts.seen > 0 {
        all.state = RunState::Partial;
    }
    all
}

/// Returns the report of a resource of which nothing was read, because the database did not answer.
fn failed_report(resource: Resource, error: &StoreError) -> ResourceReport {
    let mut report = ResourceReport::new(resource);
    (report.state, report.problem) = (RunState::Failed, Some(Problem::from_store(error)));
    report
}

#[cfg(test)]
mod tests {
    use espelho_store::Failure;

    use super::*;

    #[test]
    fn labels_without_their_file_make_a_run_partial_in_its_row_and_in_its_report() {
        let problem = || Problem::of(Trouble::Held, "c", text!("run-left"));
        let fetched = |failed: usize| -> Result<FetchedLabels, Error> {
            let [key, code, error, hint] = ["k", "not_a_label", "e", "h"].map(str::to_owned);
            let failures = vec![Failure { key, code, error, hint, message: None }; failed];
            Ok(FetchedLabels { fetched: 1, failures })
        };
        for (before, ended, state, resources) in [
            (RunState::Complete, fetched(0), RunState::Complete, 1),
            (RunState::Complete, fetched(2), RunState::Partial, 2),
            (RunState::Partial, fetched(0), RunState::Partial, 1),
            (RunState::Failed, fetched(0), RunState::Failed, 1),
            (RunState::Complete, Err(problem().into()), RunState::Partial, 1),
            (RunState::Failed, Err(problem().into()), RunState::Failed, 1),
        ] {
            let key = StoreKey::new("loja-1").unwrap();
            let mut report = StoreReport::not_begun(key.clone(), problem());
            report.resources =
                vec![ResourceReport { state: before, ..ResourceReport::new(Resource::Orders) }];
            report.problem = add_labels(&key, &mut report.resources, ended);
            assert_eq!((state_of(&report), report.resources.len()), (state, resources), "{report:?}");
        }
    }
}
