//! The answer on the wire: an HTTP response, or a connection that closes without one.

use hyper::{Response, StatusCode, header::CONTENT_TYPE};

use crate::{answer::Answer, body::Outgoing};

/// The connection is to be closed without an answer.
#[derive(Debug, thiserror::Error)]
#[error("the connection is closed without an answer")]
pub(crate) struct Dropped;

/// The HTTP response of an answer; `cut` breaks its body off half way.
pub(crate) fn respond(answer: Answer, cut: bool) -> Response<Outgoing> {
    let Answer { status, content_type, headers, body } = answer;
    let mut response = Response::new(if cut { Outgoing::cut(body) } else { Outgoing::whole(body) });
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response.headers_mut().extend(headers);
    response
}
