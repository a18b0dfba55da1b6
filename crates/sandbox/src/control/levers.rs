//! The `/_sandbox/` routes: [`Control`] for programs that are not in this process. No token, no limit.
//!
//! Each area lists its own levers; `GET /_sandbox/` names them all.

use std::sync::Arc;

use serde::{Deserialize, de::DeserializeOwned};

use crate::{
    answer::{Answer, Refusal},
    call::Call,
    control::Control,
    labels, media,
    orders::NewOrder,
    query::FieldErrors,
    route::{Work, identifiers},
};

/// What every control route begins with.
pub(crate) const PREFIX: &str = "/_sandbox/";

/// Something that a test or a person can do behind the API's back, over HTTP.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lever {
    pub(crate) method: &'static str,
    /// The path after [`PREFIX`], with `{…}` for what is named.
    pub(crate) path: &'static str,
    /// What it does and which body it takes, in one sentence.
    pub(crate) says: &'static str,
    pub(crate) work: Work,
}

impl Lever {
    pub(crate) const fn get(path: &'static str, says: &'static str, work: Work) -> Self {
        Self { method: "GET", path, says, work }
    }

    pub(crate) const fn post(path: &'static str, says: &'static str, work: Work) -> Self {
        Self { method: "POST", path, says, work }
    }

    pub(crate) const fn delete(path: &'static str, says: &'static str, work: Work) -> Self {
        Self { method: "DELETE", path, says, work }
    }
}

/// Every lever, by area.
pub(crate) fn all() -> impl Iterator<Item = &'static Lever> {
    [
        LEVERS,
        crate::orders::levers::LEVERS,
        crate::shipments::levers::LEVERS,
        labels::control::LEVERS,
        media::control::LEVERS,
        crate::products::LEVERS,
        crate::listings::LEVERS,
        crate::faults::levers::LEVERS,
        crate::journal::LEVERS,
        crate::auth::control::LEVERS,
        crate::webhooks::levers::LEVERS,
        crate::campaigns::levers::LEVERS,
        crate::price_lists::LEVERS,
    ]
    .into_iter()
    .flatten()
}

/// The levers that belong to no area.
const LEVERS: &[Lever] = &[
    Lever::get("", "this list", list),
    Lever::get("stats", "what the sandbox saw", stats),
    Lever::post("stats/reset", "begins to count anew", reset_stats),
    Lever::post("clock", r#"moves the clock forward: {"seconds": 3600}"#, move_clock),
    Lever::post("orders/{store}", "a buyer places and pays an order", insert),
    Lever::post(
        "orders/{store}/{number}/status",
        r#"moves an order whatever the rules say: {"status": "paid"}"#,
        set_status,
    ),
    Lever::delete("orders/{store}/{number}", "takes an order away without a trace", remove_order),
];

/// Answers a control request; `call` has no identifiers yet.
pub(crate) fn answer(method: &str, path: &str, mut call: Call) -> Answer {
    let path = path.trim_start_matches(PREFIX);
    let found = all().filter(|lever| lever.method == method);
    let found = found.filter_map(|lever| Some((lever, identifiers(lever.path, path)?)));
    let Some((lever, ids)) = found.min_by_key(|(_, ids)| ids.len()) else { return Refusal::NoRoute.into() };
    call.ids = ids.into_iter().map(std::borrow::Cow::into_owned).collect();
    (lever.work)(&call).unwrap_or_else(Answer::from)
}

/// The body of a control request.
pub(crate) fn body<T: DeserializeOwned>(call: &Call) -> Result<T, Refusal> {
    let text = if call.body.is_empty() { b"{}" } else { &call.body[..] };
    serde_json::from_slice(text)
        .map_err(|error| Refusal::Invalid(FieldErrors::one("body", error.to_string())))
}

/// The handle of the sandbox that was called.
pub(crate) fn control(call: &Call) -> Control {
    Control::new(Arc::clone(&call.world))
}

/// 200, or 404 where what was named is not there.
pub(crate) fn done(found: bool) -> Result<Answer, Refusal> {
    if found { Ok(Answer::success(false, crate::json::Json::null)) } else { Err(Refusal::NotFound) }
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
    let levers = all().map(|lever| {
        serde_json::json!({"method": lever.method, "path": format!("{PREFIX}{}", lever.path), "says": lever.says})
    });
    Ok(Answer::value(&levers.collect()))
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
    let number = control(call).place_order(call.id(0), NewOrder::default());
    if number.is_empty() {
        return Err(Refusal::NotFound);
    }
    Ok(Answer::value(&serde_json::json!({"order_number": number})))
}

fn set_status(call: &Call) -> Result<Answer, Refusal> {
    let NewStatus { status } = body(call)?;
    done(control(call).set_order_status(call.id(0), call.id(1), &status))
}

fn remove_order(call: &Call) -> Result<Answer, Refusal> {
    done(control(call).remove_order(call.id(0), call.id(1)))
}
