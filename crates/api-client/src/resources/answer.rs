//! Answers to writes, and to listings of whole rows.

use chrono::FixedOffset;
use espelho_model::RawJson;
use serde_json::value::RawValue;

use super::Read;
use crate::{
    ApiRequest, Error,
    requests::Requests,
    wire::{
        envelope::BodyError,
        fields::FieldReader,
        rows::{self, RowPage},
    },
};

/// The answer to a write. The document shows few of them, so no field of its payload is required. A write that
/// is answered with 2xx and without a sign of an error has happened, whatever the payload; treating it as failed
/// would invite a second one.
#[derive(Clone, Debug, PartialEq)]
pub struct Written<T> {
    /// The object that was created or changed, if the answer contains it.
    pub value: Option<T>,
    /// Fields whose form is not understood.
    pub unreadable: Vec<&'static str>,
    /// The answer's payload as received.
    pub raw: RawJson,
}

/// Reads the payload of a write with `read`, which may find nothing.
pub(crate) fn read_written<T>(
    payload: &str,
    naive: FixedOffset,
    read: impl Fn(&mut FieldReader, &str) -> Option<T>,
) -> Written<T> {
    let mut fields = FieldReader::new(naive);
    let value = read(&mut fields, payload);
    Written { value, unreadable: fields.into_unreadable(), raw: RawJson::new(payload) }
}

/// Reads a single object with `read`, which must find it.
pub(crate) fn read_single<T>(
    payload: &str,
    naive: FixedOffset,
    read: impl Fn(&mut FieldReader, &str) -> Result<T, BodyError>,
) -> Result<Read<T>, BodyError> {
    let mut fields = FieldReader::new(naive);
    let value = read(&mut fields, payload)?;
    Ok(Read { value, unreadable: fields.into_unreadable() })
}

impl Requests<'_> {
    /// Sends the request and returns the payload unread, because the document does not show its fields.
    pub(crate) async fn fetch_raw(self, request: &ApiRequest) -> Result<RawJson, Error> {
        self.read_with(request, |payload| Ok(RawJson::new(payload))).await
    }

    /// Sends a write whose answer may contain what was written.
    pub(crate) async fn write_as<T>(
        self,
        request: &ApiRequest,
        read: impl Fn(&mut FieldReader, &str) -> Option<T>,
    ) -> Result<Written<T>, Error> {
        self.read_with(request, |payload| Ok(read_written(payload, self.naive_offset(), &read))).await
    }

    /// Sends a read of a single object.
    pub(crate) async fn read_as<T>(
        self,
        request: &ApiRequest,
        read: impl Fn(&mut FieldReader, &str) -> Result<T, BodyError>,
    ) -> Result<Read<T>, Error> {
        self.read_object(request, |payload| read_single(payload, self.naive_offset(), &read)).await
    }

    /// Sends a read of a listing whose rows are whole objects.
    pub(crate) async fn fetch_rows<T>(
        self,
        request: &ApiRequest,
        read_row: impl Fn(&mut FieldReader, &RawValue) -> Option<T>,
    ) -> Result<RowPage<T>, Error> {
        let page = self.send(request, |body| rows::parse(body, self.naive_offset(), &read_row)).await?;
        self.note_unreadable(request, page.rows.iter().flat_map(|row| row.unreadable.iter().copied()));
        Ok(page)
    }
}

/// Keeps a field unread, because the document does not show its form.
pub(crate) fn raw(field: Option<&RawValue>) -> Option<RawJson> {
    field.map(|raw| RawJson::new(raw.get()))
}

/// Returns the payload, or the object wrapped in it (`inner`) if the payload lacks its `own` identifier.
pub(crate) fn unwrapped<'a>(
    payload: &'a str,
    own: Option<&RawValue>,
    inner: Option<&'a RawValue>,
) -> &'a str {
    match (own, inner) {
        (None, Some(inner)) if inner.get().starts_with('{') => inner.get(),
        _ => payload,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_was_answered_is_never_called_failed_for_its_words() {
        for payload in ["{}", "[]", "\"ok\"", "null", r#"{"id":{"x":1}}"#] {
            let written = read_written(payload, FixedOffset::east_opt(0).unwrap(), |_, _| None::<()>);
            assert_eq!((written.value, written.raw.as_str()), (None, payload));
        }
    }
}
