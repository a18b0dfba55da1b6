//! The control endpoints of campaigns.

use serde::Deserialize;
use serde_json::json;

use super::NewCampaign;
use crate::{
    answer::Answer,
    call::Call,
    control::endpoint::{ControlEndpoint, body, control, done},
    refusal::{FieldErrors, Refusal},
};

/// The control endpoints of this area.
pub(crate) const ENDPOINTS: &[ControlEndpoint] = &[
    ControlEndpoint::post(
        "campaigns",
        concat!(
            r#"makes a campaign, times in seconds from now: {"name": "Relâmpago", "type": "standard", "#,
            r#""status": "active", "starts_in": 0, "ends_in": 86400, "opt_in_closes_in": 3600, "#,
            r#""discount": {"type": "percentage", "value": "10"}}"#
        ),
        add,
    ),
    ControlEndpoint::post("campaigns/{id}/status", r#"moves a campaign: {"status": "finished"}"#, status),
    ControlEndpoint::post(
        "campaigns/{id}/deadline",
        r#"sets until when listings may join, null for ever: {"seconds": 3600}"#,
        deadline,
    ),
];

fn add(call: &Call) -> Result<Answer, Refusal> {
    let id = control(call).campaigns().create(&body::<NewCampaign>(call)?);
    let error = || Refusal::Invalid(FieldErrors::one("body", "O tipo, o status ou o desconto é inválido."));
    Ok(Answer::value(&json!({"id": id.ok_or_else(error)?})).with_status(201))
}

#[derive(Deserialize)]
struct NewStatus {
    status: String,
}

fn status(call: &Call) -> Result<Answer, Refusal> {
    let NewStatus { status } = body(call)?;
    done(control(call).campaigns().set_status(id(call)?, &status))
}

#[derive(Deserialize)]
struct Deadline {
    seconds: Option<i64>,
}

fn deadline(call: &Call) -> Result<Answer, Refusal> {
    let Deadline { seconds } = body(call)?;
    done(control(call).campaigns().set_deadline(id(call)?, seconds))
}

fn id(call: &Call) -> Result<u64, Refusal> {
    call.id(0).parse().map_err(|_| Refusal::NotFound)
}
