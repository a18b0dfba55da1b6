//! The control endpoints of faults.

use std::time::Duration;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{ALWAYS, Fault, FaultRule, Spoil, thousandths};
use crate::{
    answer::Answer,
    call::Call,
    control::endpoint::{ControlEndpoint, body, control, done},
    refusal::{FieldErrors, Refusal},
};

/// The control endpoints of this area.
pub(crate) const ENDPOINTS: &[ControlEndpoint] = &[
    ControlEndpoint::post(
        "faults",
        concat!(
            r#"spoils answers (status, html, too_many, kill_token, page_shift, unknown_enums, "#,
            r#"extra_fields, content_type, truncate_body, reset_before, reset_after, stall, html200, "#,
            r#"raw_json, and spoil, which puts a "value", or none, where the JSON pointer "at" leads, "#,
            r#"such as "/data/stock/*/quantity", about one "key" or all): "#,
            r#"{"route": "GET /api/products", "times": 2, "probability": 1.0, "kind": "html", "code": 503}"#
        ),
        add,
    ),
    ControlEndpoint::delete("faults", "forgets every fault", clear),
];

/// A fault rule as JSON: what `times` and `probability` leave out happens always.
#[derive(Deserialize)]
struct Rule {
    #[serde(default)]
    route: String,
    times: Option<u32>,
    probability: Option<f64>,
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
    Html {
        code: u16,
    },
    TooMany {
        retry_after: u32,
    },
    KillToken,
    PageShift,
    UnknownEnums,
    ExtraFields,
    ContentType {
        content_type: String,
    },
    Spoil {
        at: String,
        #[serde(default, deserialize_with = "given")]
        value: Option<Value>,
        key: Option<String>,
    },
}

/// Tells a null that is given from a value that is left out.
fn given<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

fn json_type() -> String {
    "application/json".to_owned()
}

impl From<Kind> for Fault {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Status { code, body, content_type, headers } => {
                Self::Status { code, body: body.into_bytes(), content_type, headers }
            }
            Kind::TruncateBody => Self::TruncateBody,
            Kind::ResetBefore => Self::ResetBefore,
            Kind::ResetAfter => Self::ResetAfter,
            Kind::Stall { ms } => Self::Stall(Duration::from_millis(ms)),
            Kind::Html200 => Self::Html200,
            Kind::RawJson { json } => Self::RawJson(json),
            Kind::Html { code } => Self::Html(code),
            Kind::TooMany { retry_after } => Self::TooMany(retry_after),
            Kind::KillToken => Self::KillToken,
            Kind::PageShift => Self::PageShift,
            Kind::UnknownEnums => Self::UnknownEnums,
            Kind::ExtraFields => Self::ExtraFields,
            Kind::ContentType { content_type } => Self::ContentType(content_type),
            Kind::Spoil { at, value, key } => Self::Spoil(Spoil { at, value, key }),
        }
    }
}

fn add(call: &Call) -> Result<Answer, Refusal> {
    let Rule { route, times, probability, kind } = body(call)?;
    let of_thousand = probability.map_or(Ok(ALWAYS), thousandths)?;
    // Below 200 a status is no answer yet, and above 599 none at all.
    if let Kind::Status { code, .. } | Kind::Html { code } = &kind
        && !(200..=599).contains(code)
    {
        return Err(Refusal::Invalid(FieldErrors::one("code", "O campo code deve estar entre 200 e 599.")));
    }
    if let Kind::Spoil { at, .. } = &kind
        && !at.starts_with('/')
    {
        return Err(Refusal::Invalid(FieldErrors::one("at", "O campo at deve começar com /.")));
    }
    control(call).faults().add_sometimes(FaultRule { route, times, kind: kind.into() }, of_thousand);
    done(true)
}

fn clear(call: &Call) -> Result<Answer, Refusal> {
    control(call).faults().clear();
    done(true)
}
