//! Reads PostgreSQL's `timestamptz`. The server accepts `infinity` and years that no calendar of this program has, and
//! any program may write them; sqlx panics on them, which would end the service.

use chrono::{DateTime, Datelike as _, TimeDelta, Utc};
use sqlx::{
    Decode, Postgres, Type, ValueRef as _,
    error::BoxDynError,
    postgres::{PgTypeInfo, PgValueFormat, PgValueRef},
};

/// Seconds from 1970 to 2000, where PostgreSQL counts from.
const EPOCH_OF_SERVER: i64 = 946_684_800;
/// The years that the mirror's text form has, on both databases.
const YEARS: std::ops::RangeInclusive<i32> = 0..=9999;

/// A time as the server sent it, if it is one that the mirror can hold.
pub(super) struct Instant(pub(super) DateTime<Utc>);

impl Type<Postgres> for Instant {
    fn type_info() -> PgTypeInfo {
        <DateTime<Utc> as Type<Postgres>>::type_info()
    }

    fn compatible(ty: &PgTypeInfo) -> bool {
        <DateTime<Utc> as Type<Postgres>>::compatible(ty)
    }
}

impl<'r> Decode<'r, Postgres> for Instant {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        if value.is_null() {
            return Err("there is no time".into());
        }
        let read = match value.format() {
            PgValueFormat::Binary => of_micros(<i64 as Decode<Postgres>>::decode(value)?),
            PgValueFormat::Text => Some(<DateTime<Utc> as Decode<Postgres>>::decode(value)?),
        };
        let read = read.filter(|instant| YEARS.contains(&instant.year()));
        read.map(Self).ok_or_else(|| "the time is infinite, or outside the years 0 to 9999".into())
    }
}

/// Returns the time of a number of microseconds since 2000; `None` for the numbers that stand for infinity.
fn of_micros(micros: i64) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp(EPOCH_OF_SERVER, 0)?.checked_add_signed(TimeDelta::microseconds(micros))
}

#[cfg(test)]
mod tests {
    use super::of_micros;

    #[test]
    fn no_number_of_a_server_is_too_large_to_be_judged() {
        let year = |micros: i64| of_micros(micros).map(|at| at.format("%Y-%m-%dT%H:%M:%S%.6f").to_string());
        for (micros, expected) in [
            (0, Some("2000-01-01T00:00:00.000000")),
            (-1, Some("1999-12-31T23:59:59.999999")),
            (i64::MAX, None),
            (i64::MIN, None),
        ] {
            assert_eq!(year(micros).as_deref(), expected, "{micros}");
        }
    }
}
