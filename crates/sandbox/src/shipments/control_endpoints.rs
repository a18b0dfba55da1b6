//! The control endpoints of [`super::control`], over HTTP.

use serde::Deserialize;

use crate::{
    answer::Answer,
    call::Call,
    control::endpoint::{ControlEndpoint, body, control, done},
    refusal::Refusal,
};

/// The control endpoints of this area.
pub(crate) const ENDPOINTS: &[ControlEndpoint] = &[
    ControlEndpoint::get(
        "orders/{store}/{number}/shipments",
        "the identifiers of an order's shipments",
        list,
    ),
    ControlEndpoint::post(
        "shipments/{store}/{shipment}/scan",
        r#"a carrier tells of a shipment: {"status": "in_transit"}, or out_for_delivery, delivered, failed, cancelled"#,
        scan,
    ),
    ControlEndpoint::post(
        "shipments/{store}/{shipment}/driver-done",
        "the platform's driver concludes",
        driver_done,
    ),
    ControlEndpoint::post(
        "shipments/{store}/{shipment}/carrier",
        r#"says who carries a shipment: {"kind": "platform"}, or seller, driver, none"#,
        carrier,
    ),
    ControlEndpoint::post(
        "shipments/{store}/{shipment}/block-labels",
        r#"has the label generation leave a shipment out: {"blocked": true}"#,
        block_labels,
    ),
];

#[derive(Deserialize)]
struct Status {
    status: String,
}

#[derive(Deserialize)]
struct Kind {
    kind: String,
}

#[derive(Deserialize)]
struct Blocked {
    blocked: bool,
}

fn list(call: &Call) -> Result<Answer, Refusal> {
    Ok(Answer::value(&control(call).shipments().of_order(call.id(0), call.id(1)).into()))
}

fn scan(call: &Call) -> Result<Answer, Refusal> {
    let Status { status } = body(call)?;
    done(control(call).shipments().scan(call.id(0), call.id(1), &status))
}

fn driver_done(call: &Call) -> Result<Answer, Refusal> {
    done(control(call).shipments().driver_done(call.id(0), call.id(1)))
}

fn carrier(call: &Call) -> Result<Answer, Refusal> {
    let Kind { kind } = body(call)?;
    done(control(call).shipments().set_carrier(call.id(0), call.id(1), &kind))
}

fn block_labels(call: &Call) -> Result<Answer, Refusal> {
    let Blocked { blocked } = body(call)?;
    done(control(call).shipments().block_labels(call.id(0), call.id(1), blocked))
}
