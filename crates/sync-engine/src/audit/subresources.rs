//! Compares the sub-resources of orders.

use espelho_api_client::limit::Lane;
use espelho_model::{OrderNumber, sync::Resource};
use espelho_store::Subresource;

use super::{Difference, ResourceAudit, choose};
use crate::{Error, StoreContext, live::subresources::FetchedSubresource};

/// Compares the sub-resources of some orders that were read before, each by its fingerprint. A difference is reported
/// under `ORDER/SUBRESOURCE`. A sub-resource that was never read is late, not different.
pub(super) async fn compare(
    context: &StoreContext,
    report: &mut ResourceAudit,
    sample: usize,
    seed: u64,
) -> Result<(), Error> {
    let orders = context.store.mirror().live_keys(&context.key, Resource::Orders, "").await;
    let orders = orders?;
    for at in choose(orders.len(), sample, seed).collect::<Vec<_>>() {
        let number = OrderNumber::new(orders[at].as_str());
        let known = context.store.staleness().order_subresources(&context.key, &number).await;
        for known in known? {
            if known.subresource == Subresource::Order || context.stop.is_cancelled() {
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
