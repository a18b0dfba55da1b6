//! Spans of what is done for an order, joined to one trace (docs/OPERATIONS.md, "Traces").
//!
//! A span belongs to the trace of its order, whichever process or task made it. How a span joins a trace, only the
//! program that exports them knows ([`join_by`]); without one no span exists.

use std::sync::OnceLock;

use espelho_model::{StoreKey, sync::Resource};
use espelho_store::OpenCommand;
use tracing::{Span, field::Empty};

use crate::plan::refresh_request::{Entity, RefreshRequest, Urgency};

/// The target of all spans: logs leave it out, and an exporter takes nothing else.
pub const TARGET: &str = espelho_api_client::TRACE_TARGET;

/// Joins a span to the trace of a store's order.
pub type Join = fn(&Span, &StoreKey, &str);

static JOIN: OnceLock<Join> = OnceLock::new();

/// From now on, spans of orders are joined to the traces of their orders. The first call counts.
pub fn join_by(join: Join) {
    let _ = JOIN.set(join);
}

/// The span of a reading that a delivery or a sweep asked for.
pub(crate) fn reading(store: &StoreKey, entity: &Entity, request: &RefreshRequest) -> Span {
    let (resource, key) = entity.row();
    let asked_by = match request.urgency {
        Urgency::Hinted => "delivery",
        Urgency::Found | Urgency::Swept => "sweep",
    };
    let span = read(store, resource, key, asked_by);
    span.record("deliveries", request.ids.len());
    if let Some(at) = request.reported_at.filter(|_| !span.is_disabled()) {
        span.record("reported_at", at.to_rfc3339());
    }
    span
}

/// The span of a reading within a complete pass.
pub(crate) fn reading_in_pass(store: &StoreKey, resource: Resource, key: &str) -> Span {
    read(store, resource, key, "pass")
}

fn read(store: &StoreKey, resource: Resource, key: &str, asked_by: &str) -> Span {
    let span = tracing::info_span!(
        target: TARGET,
        "read",
        store = store.as_str(),
        resource = resource.as_str(),
        key,
        asked_by,
        deliveries = Empty,
        reported_at = Empty
    );
    match resource {
        Resource::Orders => joined(span, store, key),
        Resource::Products => span,
    }
}

/// The span of an attempt to carry out a command.
pub(crate) fn command(store: &StoreKey, command: &OpenCommand) -> Span {
    let span = tracing::info_span!(
        target: TARGET,
        "command",
        store = store.as_str(),
        key = command.key,
        command = command.id,
        kind = command.kind,
        outcome = Empty
    );
    match is_of_order(&command.kind) {
        true => joined(span, store, &command.key),
        false => span,
    }
}

/// True for the kinds of commands whose key is an order number.
fn is_of_order(kind: &str) -> bool {
    kind.starts_with("order.") || kind == "labels.generate"
}

fn joined(span: Span, store: &StoreKey, number: &str) -> Span {
    if let Some(join) = JOIN.get().filter(|_| !span.is_disabled()) {
        join(&span, store, number);
    }
    span
}

#[cfg(test)]
mod tests {
    use espelho_model::push::CommandKind;

    use super::*;

    #[test]
    fn the_kinds_whose_key_is_an_order_are_of_an_order() {
        let of_orders = CommandKind::ALL.iter().map(|kind| kind.as_str()).filter(|kind| is_of_order(kind));
        assert_eq!(of_orders.collect::<Vec<_>>(), ["order.status", "order.notes", "labels.generate"]);
    }
}
