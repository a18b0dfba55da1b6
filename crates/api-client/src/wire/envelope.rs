//! The success envelope: `{success, message_code, data, meta}` (API document, "Response envelopes").

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::{
    fields::{Field, object},
    members::Members,
};

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
    /// The body says that the call failed: `success: false`, or the error envelope of the document.
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
        if error.is_data() { Self::Shape(without_value(&error.to_string())) } else { Self::Broken(error) }
    }
}

/// Returns what is wrong with a shape, without the value that stands there: `invalid type: string "Ana", expected a map`.
fn without_value(problem: &str) -> String {
    let Some((found, expected)) = problem.rsplit_once(", expected ") else { return problem.to_owned() };
    let kind = found.split(['"', '`']).next().unwrap_or_default().trim_end();
    format!("{kind}, expected {expected}")
}

/// The members of an answer to a write that can contradict its status.
#[derive(Deserialize)]
struct WriteEnvelope {
    #[serde(default = "applied")]
    success: Value,
    #[serde(default)]
    code: Value,
    #[serde(default)]
    errors: Value,
    #[serde(default)]
    error: Value,
}

/// The value of a `success` that the answer does not have.
fn applied() -> Value {
    Value::Bool(true)
}

/// Checks that the body of a 2xx does not contradict it. A write is applied only if its answer is an object
/// without any sign of an error; other answers leave its effect unknown.
pub(crate) fn check_written(body: &[u8]) -> Result<(), BodyError> {
    if body.iter().find(|b| !b.is_ascii_whitespace()) != Some(&b'{') {
        return Err(BodyError::shape("not a JSON object"));
    }
    let answer: WriteEnvelope = serde_json::from_slice(body)?;
    let has_code = answer.code.as_f64().is_some_and(|code| code >= 400.0);
    if answer.success != Value::Bool(true) || has_code || says_something(&answer.errors) {
        return Err(BodyError::Denied);
    }
    if says_something(&answer.error) {
        return Err(BodyError::shape("it has an `error`"));
    }
    Ok(())
}

fn says_something(errors: &Value) -> bool {
    match errors {
        Value::Null => false,
        Value::Bool(is_error) => *is_error,
        Value::Number(_) => true,
        Value::Array(errors) => !errors.is_empty(),
        Value::Object(errors) => !errors.is_empty(),
        Value::String(errors) => !errors.is_empty(),
    }
}

/// The code that an error envelope has beside its words.
#[derive(Deserialize)]
struct Coded {
    #[serde(default)]
    code: Value,
}

/// Returns the status that an error envelope tells in a 2xx, where it says that the trouble may pass: 408, 429 or 5xx.
pub(crate) fn passing_status(body: &[u8]) -> Option<u16> {
    let Coded { code } = serde_json::from_slice(body).ok()?;
    let code = code.as_u64().or_else(|| code.as_str()?.trim().parse().ok())?;
    u16::try_from(code).ok().filter(|code| matches!(*code, 408 | 429 | 500..=599))
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

/// Reads the payload of an answer, an object, and returns it with its text. In the usual shape no byte is read twice.
pub(crate) fn object_payload<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<(T, &'a str), BodyError> {
    if let Some(read) =
        std::str::from_utf8(body).ok().and_then(|text| object_in_envelope(text).ok().flatten())
    {
        return Ok(read);
    }
    let payload = payload(body)?.get();
    Ok((object(payload)?, payload))
}

/// Reads the object `data` of a successful answer; nothing where the answer has another shape, whatever that is.
fn object_in_envelope<'a, T: Deserialize<'a>>(
    text: &'a str,
) -> Result<Option<(T, &'a str)>, serde_json::Error> {
    let Some(mut members) = Members::of(text) else { return Ok(None) };
    let (mut data, mut is_usual) = (None, true);
    while let Some(name) = members.name()? {
        match &*name {
            "data" if data.is_none() && members.rest().starts_with('{') => {
                data = Some(members.value_and_text()?);
            }
            "success" => is_usual &= members.value::<bool>()?,
            "data" => is_usual = false,
            _ => drop(members.value::<&RawValue>()?),
        }
        if !is_usual {
            return Ok(None);
        }
    }
    Ok(data.filter(|_| members.rest().trim_ascii_start().is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    shape! { Thing { id, meta } }

    /// Reads an object in both ways.
    fn both(body: &str) -> [Result<(Option<String>, String), String>; 2] {
        let shown =
            |(thing, text): (Thing<'_>, &str)| (thing.id.map(|id| id.get().to_owned()), text.to_owned());
        let problem = |error: BodyError| format!("{error:?}");
        let slowly = payload(body.as_bytes()).and_then(|payload| Ok((object(payload.get())?, payload.get())));
        [object_payload(body.as_bytes()).map(shown).map_err(problem), slowly.map(shown).map_err(problem)]
    }

    // withstands: F133
    #[test]
    fn what_is_wrong_with_a_shape_is_told_without_the_value_that_stands_there() {
        for (problem, expected) in [
            (
                "invalid type: string \"Ana, expected Lima\", expected a map at line 1 column 9",
                "invalid type: string, expected a map at line 1 column 9",
            ),
            (
                "invalid type: integer `52998224725`, expected a string",
                "invalid type: integer, expected a string",
            ),
            ("unknown variant `Ana`, expected `a` or `b`", "unknown variant, expected `a` or `b`"),
            ("missing field `token`", "missing field `token`"),
            ("asked for order 1, was given 2", "asked for order 1, was given 2"),
        ] {
            assert_eq!(without_value(problem), expected);
        }
    }

    // withstands: F008
    #[test]
    fn a_write_is_applied_only_if_its_answer_is_an_object_without_a_sign_of_an_error() {
        let applied = [
            "{}",
            r#" {"success":true}"#,
            r#"{"success":true,"message_code":"SUCCESS","data":null}"#,
            r#"{"success":true,"code":200,"message_code":"OK","data":[],"errors":[],"meta":[]}"#,
            r#"{"success":true,"code":399,"errors":{},"error":null,"data":{}}"#,
            r#"{"success":true,"code":"500","errors":"","data":"ok"}"#,
            r#"{"success":true,"error":{},"data":[]}"#,
            r#"{"success":true,"errors":null,"data":{"success":false,"code":500,"errors":["no"],"error":1}}"#,
            r#"{"order_number":"1","status":"paid"}"#,
            r#"{"data":[{"id":1}]}"#,
        ];
        for body in applied {
            let checked = check_written(body.as_bytes());
            assert!(checked.is_ok(), "{body}: {checked:?}");
        }
        let denied = [
            r#"{"code":422,"message_code":"VALIDATION_ERROR","errors":["no"],"data":[]}"#,
            r#"{"success":true,"code":500,"message_code":"INTERNAL_ERROR","errors":["boom"]}"#,
            r#"{"success":null,"errors":{"quantity":["no"]}}"#,
            r#"{"success":null}"#,
            r#"{"success":false}"#,
            r#"{"success":"true"}"#,
            r#"{"success":1}"#,
            r#"{"code":400}"#,
            r#"{"code":422.0}"#,
            r#"{"success":true,"errors":["no"]}"#,
            r#"{"success":true,"errors":{"fiscal":["no"]}}"#,
            r#"{"success":true,"errors":"no"}"#,
        ];
        for body in denied {
            let checked = check_written(body.as_bytes());
            assert!(matches!(checked, Err(BodyError::Denied)), "{body}: {checked:?}");
        }
        let other =
            [r#"{"error":"maintenance"}"#, r#"{"success":true,"error":{"code":1}}"#, "[]", "[{}]", " [1", ""];
        for body in other {
            let checked = check_written(body.as_bytes());
            assert!(matches!(checked, Err(BodyError::Shape(_))), "{body}: {checked:?}");
        }
        for body in ["{", r#"{"success":true,"da"#, r#"{"success":true} x"#] {
            let checked = check_written(body.as_bytes());
            assert!(matches!(checked, Err(BodyError::Broken(_))), "{body}: {checked:?}");
        }
    }

    #[test]
    fn a_denial_with_a_2xx_tells_a_status_only_where_its_trouble_may_pass() {
        for (body, expected) in [
            (r#"{"success":false,"code":500,"message_code":"ERROR"}"#, Some(500)),
            (r#"{"success":false,"code":"503"}"#, Some(503)),
            (r#"{"success":false,"code":429}"#, Some(429)),
            (r#"{"success":false,"code":408}"#, Some(408)),
            (r#"{"success":false,"code":401}"#, None),
            (r#"{"success":false,"code":404,"message_code":"NOT_FOUND"}"#, None),
            (r#"{"success":false,"code":422}"#, None),
            (r#"{"success":false,"code":200}"#, None),
            (r#"{"success":false,"code":70000}"#, None),
            (r#"{"success":false,"code":[500]}"#, None),
            (r#"{"success":false}"#, None),
        ] {
            assert_eq!(passing_status(body.as_bytes()), expected, "{body}");
        }
    }

    #[test]
    fn an_object_is_read_in_one_pass_as_in_two() {
        let whole = r#"{"success":true,"message_code":"SUCCESS","data":{"id":7,"more":[{"id":1}]},"meta":{"data":1}}"#;
        let [fast, slow] = both(whole);
        assert_eq!(fast, Ok((Some("7".to_owned()), r#"{"id":7,"more":[{"id":1}]}"#.to_owned())));
        assert_eq!(fast, slow);
        for body in [
            r#" { "data" : { "id" : "x" } , "success" : true } "#,
            r#"{"data":{"id":1}}"#,
            r#"{"success":null,"data":{"id":1}}"#,
            r#"{"success":false,"data":{"id":1}}"#,
            r#"{"data":{"id":1},"success":false}"#,
            r#"{"success":"yes","data":{"id":1}}"#,
            r#"{"id":1,"success":true}"#,
            r#"{"id":1,"data":null}"#,
            r#"{"data":[1]}"#,
            r#"{"data":{"id":1},"data":{"id":2}}"#,
            r#"{"data":{"id":1,"id":2}}"#,
            r#"{"data":{"id":1}} x"#,
            r#"{"data":{"id":1},}"#,
            r#"{"d\u0061ta":{"id":1}}"#,
            "[1]",
            "",
            "7",
        ] {
            let [fast, slow] = both(body);
            assert_eq!(fast, slow, "{body}");
        }
        for cut in 0..whole.len() {
            let [fast, slow] = both(&whole[..cut]);
            assert_eq!(fast, slow, "{}", &whole[..cut]);
        }
    }
}
