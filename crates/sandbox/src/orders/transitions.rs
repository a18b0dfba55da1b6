//! Which actions an order offers next: the tables of "States and transitions", one function for each workflow.

use super::vocabulary::{Status, Workflow};
use crate::json::Json;

/// One entry of `next_actions`.
pub(crate) struct Action {
    slug: &'static str,
    target: &'static str,
    label: &'static str,
    /// JSON Schema of `data`, or `None` where the transition takes no data.
    schema: Option<&'static str>,
}

const REASON: &str = concat!(
    r#"{"type":"object","properties":{"reason":{"type":"string","minLength":10,"maxLength":500}},"#,
    r#""required":["reason"]}"#
);
const TRACKING: &str =
    r#"{"type":"object","properties":{"tracking_code":{"type":"string","maxLength":100}},"required":[]}"#;
const CONFIRMATION: &str = concat!(
    r#"{"type":"object","properties":{"confirmation_code":{"type":"string","maxLength":50}},"#,
    r#""required":["confirmation_code"]}"#
);
const ESTIMATE: &str =
    r#"{"type":"object","properties":{"estimated_days":{"type":"integer","minimum":1}},"required":[]}"#;
const MATERIALS: &str = concat!(
    r#"{"type":"object","properties":{"materials":{"type":"array","items":{"type":"string"}}},"#,
    r#""required":[]}"#
);

const fn to(slug: &'static str, target: &'static str, label: &'static str) -> Action {
    Action { slug, target, label, schema: None }
}

const fn with(schema: &'static str, slug: &'static str, target: &'static str, label: &'static str) -> Action {
    Action { slug, target, label, schema: Some(schema) }
}

const PREPARING: Action = to("mark-preparing", "preparing", "Em preparação");
const READY_TO_SHIP: Action = to("mark-ready-to-ship", "ready_to_ship", "Pronto para envio");
const SHIPPED: Action = with(TRACKING, "mark-shipped", "shipped", "Enviado");
const DELIVERED: Action = to("mark-delivered", "delivered", "Entregue");
const CANCELLED: Action = with(REASON, "cancel", "cancelled", "Cancelado");
const READY_FOR_PICKUP: Action = to("mark-ready-for-pickup", "ready_for_pickup", "Pronto para retirada");
const PICKED_UP: Action = with(CONFIRMATION, "mark-picked-up", "picked_up", "Retirado");
const PICKUP_EXPIRED: Action = with(REASON, "mark-pickup-expired", "pickup_expired", "Retirada expirada");
/// Listed while a collective order waits, and refused by the status route: the document calls it noise.
const PAID: Action = to("mark-paid", "paid", "Pago");
const AVAILABLE: Action = to("mark-available", "available", "Disponível");
const RESTOCKED: Action = to("mark-restocked", "restocked", "Reposto");
const PRODUCTION_STARTED: Action =
    with(ESTIMATE, "start-production", "production_started", "Produção iniciada");
const AWAITING_MATERIALS: Action =
    with(MATERIALS, "await-materials", "awaiting_materials", "Aguardando materiais");
const PRODUCTION_IN_PROGRESS: Action = to("resume-production", "production_in_progress", "Em produção");
const PRODUCTION_FINISHED: Action = to("finish-production", "production_finished", "Produção finalizada");

/// What the seller may do next with an order.
pub(crate) fn next_actions(workflow: Workflow, status: Status) -> &'static [Action] {
    match workflow {
        Workflow::InStorePickup => pickup(status),
        Workflow::Collective => collective(status),
        Workflow::Production => production(status),
        Workflow::PreOrder if status == Status::AwaitingAvailability => &[AVAILABLE],
        Workflow::Backorder if status == Status::AwaitingRestock => &[RESTOCKED],
        Workflow::Standard | Workflow::PreOrder | Workflow::Backorder => standard(status),
    }
}

fn standard(status: Status) -> &'static [Action] {
    match status {
        Status::Paid => &[PREPARING, READY_TO_SHIP, CANCELLED],
        Status::Preparing => &[READY_TO_SHIP, SHIPPED],
        Status::ReadyToShip => &[SHIPPED],
        Status::Shipped => &[DELIVERED],
        _ => &[],
    }
}

/// `picked_up` moves on to `delivered` by itself, so it offers nothing.
fn pickup(status: Status) -> &'static [Action] {
    match status {
        Status::Paid => &[PREPARING, CANCELLED],
        Status::Preparing => &[READY_FOR_PICKUP],
        Status::ReadyForPickup => &[PICKED_UP, PICKUP_EXPIRED],
        Status::PickupExpired => &[CANCELLED],
        _ => &[],
    }
}

/// A paid collective order is moved by a background job only.
fn collective(status: Status) -> &'static [Action] {
    match status {
        Status::Paid => &[],
        Status::AwaitingCampaign => &[PREPARING, CANCELLED, PAID],
        other => standard(other),
    }
}

/// The document does not show the moves between the production statuses; these are the plausible ones.
fn production(status: Status) -> &'static [Action] {
    match status {
        Status::Paid => &[PRODUCTION_STARTED, CANCELLED],
        Status::ProductionStarted => &[AWAITING_MATERIALS, PRODUCTION_IN_PROGRESS],
        Status::AwaitingMaterials => &[PRODUCTION_IN_PROGRESS],
        Status::ProductionInProgress => &[AWAITING_MATERIALS, PRODUCTION_FINISHED],
        Status::ProductionFinished => &[PREPARING],
        other => standard(other),
    }
}

/// The statuses that an order of a workflow passes through.
pub(crate) fn statuses(workflow: Workflow) -> Vec<Status> {
    use Status::{
        AwaitingAvailability, AwaitingCampaign, AwaitingMaterials, AwaitingRestock, Cancelled, Completed,
        Delivered, Paid, PaymentExpired, PickedUp, PickupExpired, Preparing, ProductionFinished,
        ProductionInProgress, ProductionStarted, ReadyForPickup, ReadyToShip, Shipped, WaitingPayment,
    };
    let special: &[Status] = match workflow {
        Workflow::Standard | Workflow::InStorePickup => &[],
        Workflow::Production => {
            &[ProductionStarted, AwaitingMaterials, ProductionInProgress, ProductionFinished]
        }
        Workflow::PreOrder => &[AwaitingAvailability],
        Workflow::Backorder => &[AwaitingRestock],
        Workflow::Collective => &[AwaitingCampaign],
    };
    let track: &[Status] = match workflow {
        Workflow::InStorePickup => &[Preparing, ReadyForPickup, PickedUp, PickupExpired],
        _ => &[Preparing, ReadyToShip, Shipped],
    };
    let ends = &[Delivered, Completed, Cancelled, PaymentExpired];
    [&[WaitingPayment, Paid], special, track, ends].concat()
}

impl Action {
    pub(crate) fn write(&self, json: &mut Json) {
        json.open_object();
        json.key("action").raw_text(self.slug);
        json.key("target_status").raw_text(self.target);
        json.key("label").raw_text(self.label);
        json.key("payload_schema").raw(self.schema.unwrap_or("null"));
        json.close_object();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(workflow: Workflow, status: Status) -> Vec<&'static str> {
        next_actions(workflow, status).iter().map(|action| action.target).collect()
    }

    #[test]
    fn terminal_statuses_offer_nothing_in_any_workflow() {
        for workflow in Workflow::ALL {
            for status in [Status::Delivered, Status::Cancelled, Status::Completed, Status::PaymentExpired] {
                assert!(targets(*workflow, status).is_empty(), "{workflow:?} {status:?}");
            }
        }
    }

    #[test]
    fn cancelling_is_offered_only_before_preparing_and_after_an_expired_pickup() {
        for workflow in Workflow::ALL {
            for status in Status::ALL {
                let offered = targets(*workflow, *status).contains(&"cancelled");
                let documented = match status {
                    Status::Paid => *workflow != Workflow::Collective,
                    Status::AwaitingCampaign => *workflow == Workflow::Collective,
                    Status::PickupExpired => *workflow == Workflow::InStorePickup,
                    _ => false,
                };
                assert_eq!(offered, documented, "{workflow:?} {status:?}");
            }
        }
    }

    #[test]
    fn every_schema_is_json() {
        for schema in [REASON, TRACKING, CONFIRMATION, ESTIMATE, MATERIALS] {
            serde_json::from_str::<serde_json::Value>(schema).unwrap();
        }
    }

    #[test]
    fn a_label_is_the_label_of_the_target_status() {
        for workflow in Workflow::ALL {
            for action in Status::ALL.iter().flat_map(|status| next_actions(*workflow, *status)) {
                if let Some(status) = Status::parse(action.target) {
                    assert_eq!(action.label, status.label());
                }
            }
        }
    }
}
