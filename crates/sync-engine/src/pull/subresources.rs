//! Reads the sub-resources of orders, which have their own routes, for every mirrored order.

use espelho_api_client::{Client, Error as ApiError};
use espelho_model::{
    OrderNumber,
    sync::{Resource, RunState, Target},
    text::Locale,
};
use espelho_store::{Error as StoreError, Failure, Subresource};

use super::{
    PassOptions,
    abort_rules::{FAILURES_TO_ABORT_PASS, concerns_all, may_concern_all},
    beside::Requests,
};
use crate::{
    Error, Input, Position, Problem, ResourceReport, StoreContext, live::subresources::FetchedSubresource,
    quarantine::Attempt,
};

/// Orders requested at once, and written together.
const AT_ONCE: usize = 16;

/// Returns the sub-resource that a target names; `None` for other targets.
pub(crate) fn subresource_of(target: Target) -> Option<Subresource> {
    match target {
        Target::Shipments => Some(Subresource::Shipments),
        Target::Tracking => Some(Subresource::Tracking),
        Target::Invoices => Some(Subresource::Invoices),
        Target::Events => Some(Subresource::Events),
        Target::Financial => Some(Subresource::Financial),
        Target::Listed(_) | Target::Labels | Target::Campaigns | Target::MediaImages | Target::Profile => {
            None
        }
    }
}

/// Reads a sub-resource of every mirrored order.
pub(crate) async fn read_subresource(
    context: &StoreContext,
    client: &Client,
    target: Target,
    subresource: Subresource,
    options: PassOptions,
) -> ResourceReport {
    context.progress.begin(&context.key, target, 0);
    let mut report = ResourceReport::new(target);
    let ended = walk(context, client, subresource, options, &mut report).await;
    context.progress.end(&context.key, target);
    report.problem = ended.err().map(Problem::from);
    report.state = match (&report.problem, report.counts.failed) {
        (None, 0) => RunState::Complete,
        (Some(_), _) if report.counts.seen == 0 => RunState::Failed,
        _ => RunState::Partial,
    };
    report
}

async fn walk(
    context: &StoreContext,
    client: &Client,
    subresource: Subresource,
    options: PassOptions,
    report: &mut ResourceReport,
) -> Result<(), Error> {
    let (store, key) = (&context.store, &context.key);
    let total = store.mirror().count(key, Resource::Orders).await?;
    let (mut after, mut failing_in_a_row) = (String::new(), 0);
    loop {
        let numbers = store.mirror().live_keys(key, Resource::Orders, &after).await?;
        let Some(last) = numbers.last() else { return Ok(()) };
        after.clone_from(last);
        for some in numbers.chunks(AT_ONCE) {
            if context.stop.is_cancelled() {
                return Err(Problem::stopped().into());
            }
            read_some(context, client, subresource, some, options, &mut failing_in_a_row, report).await?;
            let seen = report.counts.seen;
            let position = Position::new(seen, Some(total.max(seen)), seen, report.details);
            context.progress.advance(key, report.resource, position);
        }
    }
}

async fn read_some(
    context: &StoreContext,
    client: &Client,
    subresource: Subresource,
    numbers: &[String],
    options: PassOptions,
    failing_in_a_row: &mut usize,
    report: &mut ResourceReport,
) -> Result<(), Error> {
    report.counts.seen += numbers.len() as u64;
    if options.dry_run {
        return Ok(());
    }
    let mut asking: Requests<_> =
        numbers.iter().map(|number| read_one(context, client, subresource, number)).collect();
    let mut sides = Vec::new();
    let mut ended = None;
    loop {
        let (number, answer) = tokio::select! {
            biased;
            answer = asking.next() => match answer {
                Some(answer) => answer,
                None => break,
            },
            () = client.memory().shortage(), if !sides.is_empty() => {
                let piece = write(context, subresource, options.deep, std::mem::take(&mut sides));
                report.counts.changed += asking.beside(piece).await?;
                continue;
            }
        };
        report.details += 1;
        match answer {
            Attempt::Ended(Ok(side)) => {
                *failing_in_a_row = 0;
                sides.push((number, side));
            }
            Attempt::Panicked(_) => report.counts.failed += 1,
            Attempt::SetAside(poison) => {
                report.counts.failed += 1;
                let showing = context.show_poison(Input::Order, number.as_str(), &poison);
                asking.beside(showing).await;
            }
            Attempt::Ended(Err(error)) if concerns_all(&error) => ended = Some(Error::from(error)),
            Attempt::Ended(Err(error)) => {
                note(report, &number, &error, context.locale);
                *failing_in_a_row = if may_concern_all(&error) { *failing_in_a_row + 1 } else { 0 };
                if *failing_in_a_row >= FAILURES_TO_ABORT_PASS {
                    ended.get_or_insert(Error::from(error));
                }
            }
        }
    }
    report.counts.changed += write(context, subresource, options.deep, sides).await?;
    ended.map_or(Ok(()), Err)
}

async fn read_one(
    context: &StoreContext,
    client: &Client,
    subresource: Subresource,
    key: &str,
) -> (OrderNumber, Attempt<Result<FetchedSubresource, ApiError>>) {
    let number = OrderNumber::new(key);
    let read = || FetchedSubresource::read(client, &number, subresource);
    let side = match context.attempt_part(Input::Order, key, read()).await {
        // One that panics twice is set aside.
        Attempt::Panicked(_) => context.attempt_part(Input::Order, key, read()).await,
        other => other,
    };
    (number, side)
}

/// Writes what was read, and compares columns too if the pass is deep; returns for how many orders it changed.
async fn write(
    context: &StoreContext,
    subresource: Subresource,
    is_deep: bool,
    sides: Vec<(OrderNumber, FetchedSubresource)>,
) -> Result<u64, StoreError> {
    let mut changed = 0;
    let _writing = context.writing.lock().await;
    let mut known = Vec::new();
    for (number, _) in &sides {
        known.push(context.store.staleness().order_subresources(&context.key, number).await?);
    }
    let mut tx = context.store.begin(&context.lease).await?;
    if is_deep {
        tx.compare_columns();
    }
    let mut noted = Vec::new();
    for ((number, side), known) in sides.into_iter().zip(known) {
        let is_same =
            known.iter().any(|known| known.subresource == subresource && known.content_hash == side.hash);
        noted.push((number.clone(), side.subresource, side.hash));
        let rows = side.write(&mut tx, &number).await?;
        changed += u64::from(!is_same || rows.changed + rows.gone > 0);
    }
    tx.staleness().note_subresources(noted).await?;
    tx.commit().await?;
    Ok(changed)
}

fn note(report: &mut ResourceReport, number: &OrderNumber, error: &ApiError, locale: Locale) {
    report.counts.failed += 1;
    if report.failures.len() < ResourceReport::SHOWN {
        let (key, code) = (number.as_str().to_owned(), error.code());
        let text = error.text();
        let (error, hint) = (text.message(locale), text.next(locale).unwrap_or_default());
        report.failures.push(Failure { key, code, error, hint, message: Some(text) });
    }
}
