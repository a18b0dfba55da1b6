//! The control endpoints of [`super::control`], over HTTP.

use serde::Deserialize;
use serde_json::json;

use super::{NewOrder, control as orders};
use crate::{
    answer::Answer,
    call::Call,
    control::endpoint::{ControlEndpoint, body, control, done},
    refusal::Refusal,
};

/// The control endpoints of this area.
pub(crate) const ENDPOINTS: &[ControlEndpoint] = &[
    ControlEndpoint::post(
        "orders/{store}/place",
        concat!(
            r#"a buyer places an order: {"workflow": "standard", "channel": "marketplace", "carrier": "seller", "#,
            r#""is_paid": true, "release_after": 86400, "promised_after": 21600, "shipments": 1, "#,
            r#""lines": [["SKU", 2]]}, all optional"#
        ),
        place,
    ),
    ControlEndpoint::post(
        "replica/{store}",
        r#"the routes that read orders show changes so many seconds late, deliveries do not wait: {"seconds": 30}"#,
        lag,
    ),
    ControlEndpoint::post("orders/{store}/{number}/pay", "the payment is confirmed", pay),
    ControlEndpoint::post(
        "orders/{store}/{number}/cancel",
        r#"the platform cancels: {"reason": "Endereço inexistente"}"#,
        cancel,
    ),
    ControlEndpoint::post("orders/{store}/{number}/refund", "the money of a paid order goes back", refund),
    ControlEndpoint::post(
        "orders/{store}/{number}/release",
        "the campaign of a waiting order ends now",
        release,
    ),
    ControlEndpoint::post(
        "orders/{store}/{number}/lines/{line}/stock",
        r#"sets the stock status of a line, counted from 0: {"stock_status": "awaiting_restock"}"#,
        set_line_stock,
    ),
    ControlEndpoint::post(
        "orders/{store}/{number}/invoices",
        r#"issues a fiscal document: {"type": "nfe"}, or content_declaration"#,
        issue,
    ),
    ControlEndpoint::post("orders/{store}/{number}/invoices/replace", "replaces the current NF-e", replace),
    ControlEndpoint::post(
        "orders/{store}/{number}/invoices/reprocess",
        "processes the last document anew",
        reprocess,
    ),
    ControlEndpoint::post(
        "orders/{store}/{number}/invoices/reject",
        "the tax office rejects the last document",
        reject,
    ),
    ControlEndpoint::post(
        "stores/{store}/auto-preparation",
        r#"has paid orders prepared by themselves: {"enabled": true}"#,
        auto_preparation,
    ),
    ControlEndpoint::get(
        "stores/{store}/told",
        "the events of orders and shipments of late, oldest first",
        announced,
    ),
    ControlEndpoint::post(
        "stores/{store}/parent",
        r#"makes a store a sub-store: {"parent": "loja-2"}, or null"#,
        set_parent,
    ),
];

#[derive(Deserialize)]
struct Reason {
    #[serde(default = "default_reason")]
    reason: String,
}

fn default_reason() -> String {
    "Cancelado pela plataforma".to_owned()
}

#[derive(Deserialize)]
struct Stock {
    stock_status: String,
}

#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "type", default = "nfe")]
    kind: String,
}

fn nfe() -> String {
    "nfe".to_owned()
}

#[derive(Deserialize)]
struct Enabled {
    enabled: bool,
}

#[derive(Deserialize)]
struct Parent {
    parent: Option<String>,
}

fn place(call: &Call) -> Result<Answer, Refusal> {
    let number = control(call).orders().place(call.id(0), body::<NewOrder>(call)?);
    if number.is_empty() {
        return Err(Refusal::NotFound);
    }
    Ok(Answer::value(&json!({"order_number": number})))
}

fn pay(call: &Call) -> Result<Answer, Refusal> {
    done(control(call).orders().pay(call.id(0), call.id(1)))
}

fn cancel(call: &Call) -> Result<Answer, Refusal> {
    let Reason { reason } = body(call)?;
    done(control(call).orders().cancel(call.id(0), call.id(1), &reason))
}

fn refund(call: &Call) -> Result<Answer, Refusal> {
    done(control(call).orders().refund(call.id(0), call.id(1)))
}

fn release(call: &Call) -> Result<Answer, Refusal> {
    done(control(call).orders().release(call.id(0), call.id(1)))
}

fn set_line_stock(call: &Call) -> Result<Answer, Refusal> {
    let Stock { stock_status } = body(call)?;
    let line = call.id(2).parse().map_err(|_| Refusal::NotFound)?;
    done(control(call).orders().set_line_stock(call.id(0), call.id(1), line, &stock_status))
}

fn issue(call: &Call) -> Result<Answer, Refusal> {
    let Kind { kind } = body(call)?;
    let id = orders::issue(control(call).orders(), call.id(0), call.id(1), &kind)?;
    Ok(Answer::value(&json!({"invoice_id": id})))
}

fn replace(call: &Call) -> Result<Answer, Refusal> {
    let id = control(call).orders().replace_invoice(call.id(0), call.id(1)).ok_or(Refusal::NotFound)?;
    Ok(Answer::value(&json!({"invoice_id": id})))
}

fn reprocess(call: &Call) -> Result<Answer, Refusal> {
    let id = control(call).orders().reprocess_invoice(call.id(0), call.id(1)).ok_or(Refusal::NotFound)?;
    Ok(Answer::value(&json!({"invoice_id": id})))
}

fn reject(call: &Call) -> Result<Answer, Refusal> {
    done(control(call).orders().reject_invoice(call.id(0), call.id(1)))
}

fn auto_preparation(call: &Call) -> Result<Answer, Refusal> {
    let Enabled { enabled } = body(call)?;
    done(control(call).orders().set_auto_preparation(call.id(0), enabled))
}

fn announced(call: &Call) -> Result<Answer, Refusal> {
    let events = control(call).orders().announced_events(call.id(0)).into_iter();
    Ok(Answer::value(&events.map(|(event, data)| json!({"event": event, "data": data})).collect()))
}

fn set_parent(call: &Call) -> Result<Answer, Refusal> {
    let Parent { parent } = body(call)?;
    done(control(call).orders().set_parent(call.id(0), parent.as_deref()))
}

#[derive(Deserialize)]
struct Behind {
    seconds: u32,
}

fn lag(call: &Call) -> Result<Answer, Refusal> {
    let Behind { seconds } = body(call)?;
    done(control(call).orders().lag(call.id(0), seconds))
}
