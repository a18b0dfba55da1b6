//! The timelines of orders.

use espelho_model::{OrderNumber, sync::Counts, timeline::OrderEvent};

use super::{
    record::Record,
    table::{Scope, Table},
};
use crate::{Error, mirror::MirrorWriter};

pub(crate) static EVENTS: Table = Table::new(
    "order_events",
    "order_event",
    Scope::InKey("order_number"),
    "id",
    &[
        "type",
        "description",
        "old_status",
        "new_status",
        "author_type",
        "author_name",
        "metadata",
        "created_at",
    ],
);

impl MirrorWriter<'_, '_> {
    /// Mirrors the whole timeline of an order (API document, "Orders": the events route).
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn write_order_events(
        &mut self,
        order: &OrderNumber,
        events: Vec<OrderEvent>,
    ) -> Result<Counts, Error> {
        let records = events.into_iter().map(record).collect();
        self.page.tables().write_whole(&EVENTS, Some(order.as_str()), records).await
    }
}

fn record(event: OrderEvent) -> Record {
    let values = [
        event.event_type.into(),
        event.description.into(),
        event.old_status.into(),
        event.new_status.into(),
        event.author_type.into(),
        event.author_name.into(),
        event.metadata.into(),
        event.created_at.into(),
    ];
    Record::new(event.id, values, event.raw)
}
