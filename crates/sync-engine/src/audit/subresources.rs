//! Compares the sub-resources of orders.

use std::collections::BTreeSet;

use espelho_api_client::limit::Lane;
use espelho_model::{OrderNumber, sync::Resource};
use espelho_store::{AuditDifference, Subresource};

use super::{Difference, ResourceAudit, choose};
use crate::{Error, StoreContext, live::subresources::FetchedSubresource};

/// Compares the sub-resources of some orders that were read before, each by its fingerprint. A difference is reported
/// under `ORDER/SUBRESOURCE`. A sub-resource that was never read is late, not different. Those that are in `open`, the
/// earlier differences, are compared in any case.
pub(super) async fn compare(
    context: &StoreContext,
    report: &mut ResourceAudit,
    open: &[AuditDifference],
    sample: usize,
    seed: u64,
) -> Result<(), Error> {
    let orders = context.store.mirror().live_keys(&context.key, Resource::Orders, "").await;
    let orders = orders?;
    let sampled: BTreeSet<&str> = choose(orders.len(), sample, seed).map(|at| orders[at].as_str()).collect();
    let of_parts = open.iter().filter(|of| of.part != Subresource::Order.as_str());
    let mut again: BTreeSet<(&str, &str)> = of_parts.map(|of| (of.key.as_str(), of.part.as_str())).collect();
    let numbers: BTreeSet<&str> =
        sampled.iter().copied().chain(again.iter().map(|(order, _)| *order)).collect();
    for order in numbers {
        let number = OrderNumber::new(order);
        let known = context.store.staleness().order_subresources(&context.key, &number).await;
        for known in known? {
            if known.subresource == Subresource::Order || context.stop.is_cancelled() {
                continue;
            }
            let is_open = again.remove(&(order, known.subresource.as_str()));
            if !is_open && !sampled.contains(order) {
                continue;
            }
            report.sampled += 1;
            if let Some(difference) = differs_twice(context, &number, known.subresource).await? {
                report.differing += 1;
                if report.differences.len() < ResourceAudit::SHOWN {
                    report.differences.push((format!("{number}/{}", known.subresource.as_str()), difference));
                }
            }
        }
    }
    report.unread.extend(again.into_iter().map(|(order, part)| format!("{order}/{part}")));
    Ok(())
}

async fn differs_twice(
    context: &StoreContext,
    number: &OrderNumber,
    subresource: Subresource,
) -> Result<Option<Difference>, Error> {
    let client = context.client.in_lane(Lane::Poll);
    let mut difference = Difference::Detail;
    for _ in 0..2 {
        let side = FetchedSubresource::read(&client, number, subresource).await?;
        let known = context.store.staleness().order_subresources(&context.key, number).await;
        let known = known?;
        if known.iter().any(|known| known.subresource == subresource && known.content_hash == side.hash) {
            // Dropped, not committed: an audit changes nothing.
            let mut tx = context.store.begin(&context.lease).await?;
            tx.compare_columns();
            let rows = side.write(&mut tx, number).await?;
            if rows.changed + rows.gone == 0 {
                return Ok(None);
            }
            difference = Difference::Edited;
        }
    }
    Ok(Some(difference))
}
