//! The `/_sandbox/` routes: [`crate::Control`] for programs that are not in this process. No token, no limit.
//!
//! Each area lists its own control endpoints; `GET /_sandbox/` names them all.

use serde::Deserialize;

use super::endpoint::{ControlEndpoint, PREFIX, body, control, done};
use crate::{
    answer::Answer,
    call::Call,
    labels, media,
    orders::NewOrder,
    refusal::{FieldErrors, Refusal},
    route::identifiers,
};

/// Every control endpoint, by area.
pub(crate) fn all() -> impl Iterator<Item = &'static ControlEndpoint> {
    [
        ENDPOINTS,
        crate::orders::control_endpoints::ENDPOINTS,
        crate::shipments::control_endpoints::ENDPOINTS,
        labels::control::ENDPOINTS,
        media::control::ENDPOINTS,
        crate::products::ENDPOINTS,
        crate::listings::ENDPOINTS,
        crate::faults::control_endpoints::ENDPOINTS,
        crate::journal::control::ENDPOINTS,
        crate::auth::control::ENDPOINTS,
        crate::webhooks::control_endpoints::ENDPOINTS,
        crate::campaigns::control_endpoints::ENDPOINTS,
        crate::price_lists::control_endpoints::ENDPOINTS,
    ]
    .into_iter()
    .flatten()
}

/// The control endpoints that belong to no area.
const ENDPOINTS: &[ControlEndpoint] = &[
    ControlEndpoint::get("", "this list", list),
    ControlEndpoint::get("stats", "what the sandbox saw", stats),
    ControlEndpoint::post("stats/reset", "begins to count anew", reset_stats),
    ControlEndpoint::post("clock", r#"moves the clock forward: {"seconds": 3600}"#, move_clock),
    ControlEndpoint::post("orders/{store}", "a buyer places and pays an order", insert),
    ControlEndpoint::post(
        "orders/{store}/{number}/status",
        r#"moves an order whatever the rules say: {"status": "paid"}"#,
        set_status,
    ),
    ControlEndpoint::delete("orders/{store}/{number}", "takes an order away without a trace", remove_order),
];

/// Answers a control request; `call` has no identifiers yet.
pub(crate) fn answer(method: &str, path: &str, mut call: Call) -> Answer {
    let path = path.trim_start_matches(PREFIX);
    let found = all().filter(|endpoint| endpoint.method == method);
    let found = found.filter_map(|endpoint| Some((endpoint, identifiers(endpoint.path, path)?)));
    let Some((endpoint, ids)) = found.min_by_key(|(_, ids)| ids.len()) else {
        return Refusal::NoRoute.into();
    };
    call.ids = ids.into_iter().map(std::borrow::Cow::into_owned).collect();
    (endpoint.work)(&call).unwrap_or_else(Answer::from)
}

#[derive(Deserialize)]
struct NewStatus {
    status: String,
}

#[derive(Deserialize)]
struct Forward {
    seconds: u32,
}

fn list(_: &Call) -> Result<Answer, Refusal> {
    let endpoints = all().map(|endpoint| {
        serde_json::json!({
            "method": endpoint.method,
            "path": format!("{PREFIX}{}", endpoint.path),
            "says": endpoint.description,
        })
    });
    Ok(Answer::value(&endpoints.collect()))
}

fn stats(call: &Call) -> Result<Answer, Refusal> {
    Ok(Answer::json(200, serde_json::to_vec(&control(call).stats()).unwrap_or_default()))
}

fn reset_stats(call: &Call) -> Result<Answer, Refusal> {
    control(call).reset_stats();
    done(true)
}

fn move_clock(call: &Call) -> Result<Answer, Refusal> {
    if control(call).forward(body::<Forward>(call)?.seconds) {
        return done(true);
    }
    Err(Refusal::Invalid(FieldErrors::one("seconds", "O relógio não passa do ano 9989.")))
}

fn insert(call: &Call) -> Result<Answer, Refusal> {
    let number = control(call).orders().place(call.id(0), NewOrder::default());
    if number.is_empty() {
        return Err(Refusal::NotFound);
    }
    Ok(Answer::value(&serde_json::json!({"order_number": number})))
}

fn set_status(call: &Call) -> Result<Answer, Refusal> {
    let NewStatus { status } = body(call)?;
    done(control(call).orders().set_status(call.id(0), call.id(1), &status))
}

fn remove_order(call: &Call) -> Result<Answer, Refusal> {
    done(control(call).orders().remove(call.id(0), call.id(1)))
}
