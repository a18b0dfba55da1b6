//! A value to bind on either database.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use espelho_model::{RawJson, time::fixed_width};
use rust_decimal::Decimal;
use sqlx::{
    Arguments as _, Postgres,
    encode::IsNull,
    error::BoxDynError,
    postgres::{PgArgumentBuffer, PgArguments, PgTypeInfo},
    sqlite::SqliteArguments,
    types::Json,
};

use crate::Error;

/// A value to bind. The variant names the type, also of a NULL.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(Option<String>),
    /// A key or a word that many rows of a statement repeat: SQLite takes its clones without a copy. Never data of a
    /// person, which is looked for in the other texts.
    Key(Arc<str>),
    Int(Option<i64>),
    Bool(Option<bool>),
    Decimal(Option<Decimal>),
    Time(Option<DateTime<Utc>>),
    Json(Option<String>),
    Bytes(Vec<u8>),
}

impl Value {
    /// Returns a text that many rows repeat.
    pub(crate) fn key(text: &str) -> Self {
        Self::Key(text.into())
    }
}

macro_rules! values_from {
    ($($from:ty => |$v:ident| $value:expr),+ $(,)?) => {$(
        impl From<$from> for Value {
            fn from($v: $from) -> Self {
                $value
            }
        }
    )+};
}

values_from! {
    String => |v| Self::Text(Some(v)),
    &str => |v| Self::Text(Some(v.to_owned())),
    Option<String> => |v| Self::Text(v),
    i64 => |v| Self::Int(Some(v)),
    Option<i64> => |v| Self::Int(v),
    Option<bool> => |v| Self::Bool(v),
    Option<Decimal> => |v| Self::Decimal(v),
    DateTime<Utc> => |v| Self::Time(Some(v)),
    Option<DateTime<Utc>> => |v| Self::Time(v),
    Vec<u8> => |v| Self::Bytes(v),
    RawJson => |v| Self::Json(Some(v.into_string())),
    Option<RawJson> => |v| Self::Json(v.map(RawJson::into_string)),
}

fn unbindable(source: BoxDynError) -> Error {
    Error::Statement { operation: "bind a value", source: sqlx::Error::Encode(source) }
}

pub(super) fn sqlite_arguments(values: Vec<Value>) -> Result<SqliteArguments, Error> {
    let mut arguments = SqliteArguments::default();
    arguments.reserve(values.len(), 0);
    // All rows of a page have the same time; sharing its text is cheaper than formatting it again.
    let mut last: Option<(DateTime<Utc>, Arc<str>)> = None;
    for value in values {
        match value {
            Value::Text(text) => arguments.add(text),
            Value::Key(text) => arguments.add(text),
            Value::Int(number) => arguments.add(number),
            Value::Bool(truth) => arguments.add(truth),
            Value::Decimal(number) => arguments.add(number.map(|n| n.to_string())),
            Value::Time(None) => arguments.add(None::<String>),
            Value::Time(Some(instant)) => {
                let (_, text) = match last.take() {
                    Some(same) if same.0 == instant => last.insert(same),
                    _ => last.insert((instant, fixed_width(instant).into())),
                };
                arguments.add(Arc::clone(text))
            }
            Value::Json(text) => arguments.add(text),
            Value::Bytes(bytes) => arguments.add(bytes),
        }
        .map_err(unbindable)?;
    }
    Ok(arguments)
}

pub(super) fn postgres_arguments(values: Vec<Value>) -> Result<PgArguments, Error> {
    let mut arguments = PgArguments::default();
    let size = values.iter().map(|v| if let Value::Json(Some(text)) = v { text.len() + 8 } else { 24 }).sum();
    arguments.reserve(values.len(), size);
    for value in values {
        match value {
            Value::Text(text) => arguments.add(text),
            Value::Key(text) => arguments.add(text),
            Value::Int(number) => arguments.add(number),
            Value::Bool(truth) => arguments.add(truth),
            Value::Decimal(number) => arguments.add(number),
            Value::Time(instant) => arguments.add(instant),
            Value::Json(text) => arguments.add(text.map(JsonText)),
            Value::Bytes(bytes) => arguments.add(bytes),
        }
        .map_err(unbindable)?;
    }
    Ok(arguments)
}

/// JSON text sent as `jsonb` without another parse.
struct JsonText(String);

impl sqlx::Type<Postgres> for JsonText {
    fn type_info() -> PgTypeInfo {
        <Json<()> as sqlx::Type<Postgres>>::type_info()
    }
}

impl sqlx::Encode<'_, Postgres> for JsonText {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        // The version byte of jsonb's binary form; the text follows.
        buffer.push(1);
        buffer.extend_from_slice(self.0.as_bytes());
        Ok(IsNull::No)
    }
}
