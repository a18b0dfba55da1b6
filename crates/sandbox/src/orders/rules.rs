//! The moves that the status route accepts, and its refusals ("States and transitions", "Errors").

use serde_json::Value;

use super::{
    Order,
    engine::Step,
    entry::Author,
    transitions::{self, Action},
    vocabulary::Status,
};
use crate::{
    refusal::FieldErrors,
    shipments::{self, Shipments},
};

/// The longest part of an unknown status that an error repeats.
const REPEATED: usize = 60;

/// The move that a seller asks for by naming a target status.
pub(super) fn step_to(
    shipments: &mut Shipments,
    order: &Order,
    target: &str,
    data: Option<&Value>,
) -> Result<Step, FieldErrors> {
    let offered = transitions::next_actions(order.workflow, order.status);
    match offered.iter().find(|action| action.target == target) {
        Some(action) => step_by(shipments, order, action, data),
        None => Err(impossible(order, target)),
    }
}

/// The move that an action stands for, if the order offers it and nothing bars it.
pub(super) fn step_by(
    shipments: &mut Shipments,
    order: &Order,
    action: &Action,
    data: Option<&Value>,
) -> Result<Step, FieldErrors> {
    let offered = transitions::next_actions(order.workflow, order.status);
    let is_offered = offered.iter().any(|other| other.slug == action.slug);
    let Some(to) = action.enters.filter(|_| is_offered) else { return Err(impossible(order, action.target)) };
    let data = action.takes.read(data)?;
    if matches!(to, Status::ReadyToShip | Status::Shipped) && !order.is_invoiced() {
        return Err(FieldErrors::one("fiscal", NOT_INVOICED));
    }
    if to == Status::Delivered && !shipments::none_bars_the_seller(shipments, order) {
        return Err(FieldErrors::one("status", NOT_YOURS));
    }
    Ok(Step { data, ..Step::new(to, Author::Seller) })
}

const NOT_INVOICED: &str = "Emita a NF-e ou a declaração de conteúdo antes de enviar o pedido.";
const NOT_YOURS: &str =
    "A entrega deste pedido é confirmada pela transportadora ou pelo entregador da plataforma.";

fn impossible(order: &Order, target: &str) -> FieldErrors {
    let target: String = target.chars().take(REPEATED).collect();
    FieldErrors::one("status", format!("Transição impossível de {} para {target}.", order.status.wire()))
}
