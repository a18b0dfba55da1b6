//! Which actions an order offers next: the tables of "States and transitions", one function for each workflow.

use super::{
    payload::Payload,
    vocabulary::{Status, Workflow},
};
use crate::json::Json;

/// One entry of `next_actions`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Action {
    pub(crate) slug: &'static str,
    pub(crate) target: &'static str,
    label: &'static str,
    /// The schema of `data`.
    pub(crate) takes: Payload,
    /// The status that the order enters; `None` where the action is listed and always refused.
    pub(crate) enters: Option<Status>,
}

const fn to(slug: &'static str, target: &'static str, label: &'static str, enters: Status) -> Action {
    Action { slug, target, label, takes: Payload::Nothing, enters: Some(enters) }
}

const fn with(takes: Payload, action: Action) -> Action {
    Action { takes, ..action }
}

const PREPARING: Action = to("mark-preparing", "preparing", "Em preparação", Status::Preparing);
const READY_TO_SHIP: Action =
    to("mark-ready-to-ship", "ready_to_ship", "Pronto para envio", Status::ReadyToShip);
const SHIPPED: Action = with(Payload::Tracking, to("mark-shipped", "shipped", "Enviado", Status::Shipped));
const DELIVERED: Action = to("mark-delivered", "delivered", "Entregue", Status::Delivered);
const CANCELLED: Action = with(Payload::Reason, to("cancel", "cancelled", "Cancelado", Status::Cancelled));
const READY_FOR_PICKUP: Action =
    to("mark-ready-for-pickup", "ready_for_pickup", "Pronto para retirada", Status::ReadyForPickup);
const PICKED_UP: Action =
    with(Payload::Confirmation, to("mark-picked-up", "picked_up", "Retirado", Status::PickedUp));
const PICKUP_EXPIRED: Action = with(
    Payload::Reason,
    to("mark-pickup-expired", "pickup_expired", "Retirada expirada", Status::PickupExpired),
);
/// Listed while a collective order waits, and refused by the status route: the document calls it noise.
const PAID: Action =
    Action { slug: "mark-paid", target: "paid", label: "Pago", takes: Payload::Nothing, enters: None };
const AVAILABLE: Action = to("mark-available", "available", "Disponível", Status::Paid);
const RESTOCKED: Action = to("mark-restocked", "restocked", "Reposto", Status::Paid);
const PRODUCTION_STARTED: Action = with(
    Payload::Estimate,
    to("start-production", "production_started", "Produção iniciada", Status::ProductionStarted),
);
const AWAITING_MATERIALS: Action = with(
    Payload::Materials,
    to("await-materials", "awaiting_materials", "Aguardando materiais", Status::AwaitingMaterials),
);
const PRODUCTION_IN_PROGRESS: Action =
    to("resume-production", "production_in_progress", "Em produção", Status::ProductionInProgress);
const PRODUCTION_FINISHED: Action =
    to("finish-production", "production_finished", "Produção finalizada", Status::ProductionFinished);

/// The ten actions that the bulk route does. Those that need a word for each single order are left out: the code of a
/// buyer, the reason of an expired pickup, the materials that are missing.
pub(crate) const IN_BULK: [&Action; 10] = [
    &PREPARING,
    &READY_TO_SHIP,
    &SHIPPED,
    &DELIVERED,
    &CANCELLED,
    &READY_FOR_PICKUP,
    &AVAILABLE,
    &RESTOCKED,
    &PRODUCTION_STARTED,
    &PRODUCTION_FINISHED,
];

/// The actions that an order offers the seller next.
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

/// Whether an order of a workflow can go from one status to another.
pub(crate) fn leads(workflow: Workflow, from: Status, to: Status) -> bool {
    next_actions(workflow, from).iter().any(|action| action.enters == Some(to))
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
        json.key("payload_schema").raw(self.takes.schema().unwrap_or("null"));
        json.close_object();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The targets of what is offered.
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
    fn an_action_leads_to_the_status_it_names_but_for_the_three_that_end_in_paid_or_nowhere() {
        for workflow in Workflow::ALL {
            for action in Status::ALL.iter().flat_map(|status| next_actions(*workflow, *status)) {
                let expected = match action.target {
                    "paid" => None,
                    "available" | "restocked" => Some(Status::Paid),
                    target => Status::parse(target),
                };
                assert_eq!(action.enters, expected, "{action:?}");
            }
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
