//! The `/_sandbox/` routes: [`Control`] for programs that are not in this process. No token, no limit.

use std::{sync::Arc, time::Duration};

use hyper::{Request, body::Incoming};
use percent_encoding::percent_decode_str;
use serde::Deserialize;

use crate::{
    answer::{Answer, Refusal},
    body,
    control::Control,
    faults::{Fault, FaultRule},
    world::World,
};

/// What every control route begins with.
pub(crate) const PREFIX: &str = "/_sandbox/";

/// A fault rule as JSON: `{"route": "...", "times": 2, "kind": "status", "code": 503, "body": "..."}`.
#[derive(Deserialize)]
struct Rule {
    #[serde(default)]
    route: String,
    times: Option<u32>,
    #[serde(flatten)]
    kind: Kind,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Kind {
    Status {
        code: u16,
        #[serde(default)]
        body: String,
        #[serde(default = "json_type")]
        content_type: String,
        #[serde(default)]
        headers: Vec<(String, String)>,
    },
    TruncateBody,
    ResetBefore,
    ResetAfter,
    Stall {
        ms: u64,
    },
    Html200,
    RawJson {
        json: String,
    },
}

fn json_type() -> String {
    "application/json".to_owned()
}

impl From<Rule> for FaultRule {
    fn from(Rule { route, times, kind }: Rule) -> Self {
        let kind = match kind {
            Kind::Status { code, body, content_type, headers } => {
                Fault::Status { code, body: body.into_bytes(), content_type, headers }
            }
            Kind::TruncateBody => Fault::TruncateBody,
            Kind::ResetBefore => Fault::ResetBefore,
            Kind::ResetAfter => Fault::ResetAfter,
            Kind::Stall { ms } => Fault::Stall(Duration::from_millis(ms)),
            Kind::Html200 => Fault::Html200,
            Kind::RawJson { json } => Fault::RawJson(json),
        };
        Self { route, times, kind }
    }
}

#[derive(Deserialize)]
struct NewStatus {
    status: String,
}

/// Answers a control request.
pub(crate) async fn answer(world: &Arc<World>, request: Request<Incoming>) -> Answer {
    let control = Control::new(Arc::clone(world));
    let method = request.method().as_str().to_owned();
    let path = request.uri().path().trim_start_matches(PREFIX).to_owned();
    let Ok(body) = body::read(request.into_body()).await else { return Refusal::TooLarge.into() };
    let parts: Vec<_> = path.split('/').map(|part| percent_decode_str(part).decode_utf8_lossy()).collect();
    let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
    match (&*method, parts.as_slice()) {
        ("GET", ["stats"]) => stats(&control),
        ("POST", ["stats", "reset"]) => {
            control.reset_stats();
            done(true)
        }
        ("POST", ["faults"]) => add_fault(&control, &body),
        ("DELETE", ["faults"]) => {
            control.clear_faults();
            done(true)
        }
        ("POST", ["orders", store]) => insert(&control, store),
        ("POST", ["orders", store, number, "status"]) => set_status(&control, store, number, &body),
        ("DELETE", ["orders", store, number]) => done(control.remove_order(store, number)),
        ("POST", ["tokens", store, "kill"]) => done(control.kill_token(store)),
        _ => Refusal::NoRoute.into(),
    }
}

fn stats(control: &Control) -> Answer {
    Answer::json(200, serde_json::to_vec(&control.stats()).unwrap_or_default())
}

fn done(found: bool) -> Answer {
    if found { Answer::success(false, crate::json::Json::null) } else { Refusal::NotFound.into() }
}

fn add_fault(control: &Control, body: &[u8]) -> Answer {
    match serde_json::from_slice::<Rule>(body) {
        Ok(rule) => {
            control.fault(rule.into());
            done(true)
        }
        Err(error) => Refusal::Invalid(vec![("kind", error.to_string())]).into(),
    }
}

fn insert(control: &Control, store: &str) -> Answer {
    let number = control.insert_order(store);
    if number.is_empty() {
        return Refusal::NotFound.into();
    }
    Answer::success(false, |json| {
        json.open_object();
        json.key("order_number").text(&number);
        json.close_object();
    })
}

fn set_status(control: &Control, store: &str, number: &str, body: &[u8]) -> Answer {
    match serde_json::from_slice::<NewStatus>(body) {
        Ok(NewStatus { status }) => done(control.set_order_status(store, number, &status)),
        Err(error) => Refusal::Invalid(vec![("status", error.to_string())]).into(),
    }
}
