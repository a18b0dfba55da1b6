//! The success envelope: `{success, message_code, data, meta}` (API document, "Response envelopes").

use serde::Deserialize;
use serde_json::value::RawValue;

use super::fields::Field;

/// The envelope with unread members.
#[derive(Deserialize)]
pub(crate) struct Envelope<'a> {
    #[serde(default)]
    pub(crate) success: Option<bool>,
    #[serde(borrow, default)]
    pub(crate) data: Field<'a>,
    #[serde(borrow, default)]
    pub(crate) meta: Field<'a>,
}

/// Why a 2xx body is not an answer.
#[derive(Debug)]
pub(crate) enum BodyError {
    /// The body is not JSON, or is cut off: a transport fault, which may pass.
    Broken(serde_json::Error),
    /// The body is JSON of a shape that the document does not describe; a repetition would return it again.
    Shape(String),
    /// The body has `success: false`.
    Denied,
}

impl BodyError {
    /// Creates [`BodyError::Shape`].
    pub(crate) fn shape(problem: impl std::fmt::Display) -> Self {
        Self::Shape(problem.to_string())
    }
}

impl From<serde_json::Error> for BodyError {
    fn from(error: serde_json::Error) -> Self {
        if error.is_data() { Self::Shape(error.to_string()) } else { Self::Broken(error) }
    }
}

/// Returns the payload of an answer: `data`, or the whole body if a route answers without an envelope.
pub(crate) fn payload(body: &[u8]) -> Result<&RawValue, BodyError> {
    if body.iter().find(|b| !b.is_ascii_whitespace()) != Some(&b'{') {
        return Ok(serde_json::from_slice(body)?);
    }
    let envelope: Envelope<'_> = serde_json::from_slice(body)?;
    match (envelope.success, envelope.data) {
        (Some(false), _) => Err(BodyError::Denied),
        (_, Some(data)) => Ok(data),
        (_, None) => Ok(serde_json::from_slice(body)?),
    }
}
