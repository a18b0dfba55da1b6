//! One control endpoint: what a test or a person can do behind the API's back, over HTTP.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::{answer::Answer, call::Call, control::Control, refusal::Refusal, request_body, route::Work};

/// The beginning of every control path.
pub(crate) const PREFIX: &str = "/_sandbox/";

/// Something that a test or a person can do behind the API's back, over HTTP.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ControlEndpoint {
    pub(crate) method: &'static str,
    /// The path after [`PREFIX`], with `{…}` for what is named.
    pub(crate) path: &'static str,
    /// Its effect and its body, in one sentence.
    pub(crate) description: &'static str,
    pub(crate) work: Work,
}

impl ControlEndpoint {
    pub(crate) const fn get(path: &'static str, description: &'static str, work: Work) -> Self {
        Self { method: "GET", path, description, work }
    }

    pub(crate) const fn post(path: &'static str, description: &'static str, work: Work) -> Self {
        Self { method: "POST", path, description, work }
    }

    pub(crate) const fn delete(path: &'static str, description: &'static str, work: Work) -> Self {
        Self { method: "DELETE", path, description, work }
    }
}

/// The body of a control request.
pub(crate) fn body<T: DeserializeOwned>(call: &Call) -> Result<T, Refusal> {
    request_body::parsed(&call.body)
}

/// The handle of the sandbox that was called.
pub(crate) fn control(call: &Call) -> Control {
    Control::new(Arc::clone(&call.world))
}

/// 200, or 404 where what was named is not there.
pub(crate) fn done(found: bool) -> Result<Answer, Refusal> {
    if found { Ok(Answer::success(false, crate::json::Json::null)) } else { Err(Refusal::NotFound) }
}
