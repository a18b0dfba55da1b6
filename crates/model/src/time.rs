//! Timestamps in the marketplace's possible forms, and the single form of the mirror.

use chrono::{DateTime, Datelike, FixedOffset, NaiveDate, NaiveDateTime, TimeDelta, TimeZone, Timelike, Utc};
use serde::Serializer;

/// Clocks of machines that share a database may differ by this much; a larger difference is an alarm of its own.
const CLOCKS_DIFFER: TimeDelta = TimeDelta::seconds(60);

/// Tells whether a recorded time lies in the future: the clock was ahead when it was recorded, and has been corrected
/// since. Such a record proves nothing about now.
pub fn is_future(then: DateTime<Utc>, now: DateTime<Utc>) -> bool {
    then - now > CLOCKS_DIFFER
}

/// Returns a recorded time if it does not lie in the future.
pub fn past(then: Option<DateTime<Utc>>, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    then.filter(|then| !is_future(*then, now))
}

/// Reads an ISO 8601 date-time into UTC, at microsecond precision.
///
/// Accepts `T` or a blank between date and time, `Z`, `+00:00`, `-0300` or no offset at all, no fraction or up to
/// nine digits, second 60, and a bare date (its midnight). A text without an offset is read in `naive`; both are
/// assumptions that `docs/ASSUMPTIONS.md` explains.
///
/// Returns `None` for any other form, and outside the years 0 to 9999.
pub fn parse_timestamp(text: &str, naive: FixedOffset) -> Option<DateTime<Utc>> {
    let text = text.trim();
    if text.len() > 40 || !text.is_char_boundary(10.min(text.len())) {
        return None;
    }
    let instant = match DateTime::parse_from_rfc3339(text) {
        Ok(instant) => instant.to_utc(),
        Err(_) => parse_unusual(text, naive)?,
    };
    let micros = without_leap_second(instant);
    (0..=9999).contains(&micros.year()).then_some(micros)
}

/// Reads the forms that RFC 3339 lacks.
fn parse_unusual(text: &str, naive: FixedOffset) -> Option<DateTime<Utc>> {
    for with_offset in ["%Y-%m-%dT%H:%M:%S%.f%z", "%Y-%m-%d %H:%M:%S%.f%z"] {
        if let Ok(instant) = DateTime::parse_from_str(text, with_offset) {
            return Some(instant.to_utc());
        }
    }
    let local = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"]
        .iter()
        .find_map(|form| NaiveDateTime::parse_from_str(text, form).ok())
        .or_else(|| NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0))?;
    // A fixed offset has no gaps or repeated hours, so this is total.
    Some(naive.from_local_datetime(&local).single()?.to_utc())
}

/// Turns second 60 into the next second, because databases do not support it and handle it differently. Drops digits
/// finer than a microsecond.
fn without_leap_second(instant: DateTime<Utc>) -> DateTime<Utc> {
    let whole = instant.with_nanosecond(0).unwrap_or(instant);
    whole + TimeDelta::microseconds(i64::from(instant.nanosecond() / 1000))
}

/// Serializes an instant, or nothing, in the mirror's text form; for `#[serde(serialize_with = …)]`.
///
/// # Errors
/// When the serializer fails.
pub fn serialize_fixed_width<T, S>(instant: &T, serializer: S) -> Result<S::Ok, S::Error>
where
    T: Copy + Into<Option<DateTime<Utc>>>,
    S: Serializer,
{
    match (*instant).into() {
        Some(instant) => serializer.serialize_str(&fixed_width(instant)),
        None => serializer.serialize_none(),
    }
}

/// Formats the mirror's text form: always 27 characters, UTC, so that text order is time order. It is written digit
/// by digit, because every row has several.
///
/// Years outside 0 to 9999 have no such form; [`parse_timestamp`] rejects them.
pub fn fixed_width(instant: DateTime<Utc>) -> String {
    let instant = without_leap_second(instant);
    let (date, time) = (instant.date_naive(), instant.time());
    let mut text = *b"0000-00-00T00:00:00.000000Z";
    let mut put = |at: std::ops::Range<usize>, number: u32| {
        let mut rest = number;
        for digit in text[at].iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
    };
    put(0..4, date.year().clamp(0, 9999).unsigned_abs());
    put(5..7, date.month());
    put(8..10, date.day());
    put(11..13, time.hour());
    put(14..16, time.minute());
    put(17..19, time.second());
    put(20..26, time.nanosecond() / 1000);
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn brasilia() -> FixedOffset {
        FixedOffset::west_opt(3 * 3600).unwrap()
    }

    // withstands: F079
    #[test]
    fn every_documented_and_likely_form_reads_to_the_same_instant() {
        for text in [
            "2017-10-02T13:56:33Z",
            "2017-10-02T13:56:33.000000Z",
            "2017-10-02T10:56:33-03:00",
            "2017-10-02T10:56:33-0300",
            "2017-10-02 10:56:33-03:00",
            "2017-10-02 10:56:33",
            "2017-10-02T10:56:33",
            "2017-10-02T10:56:33.000",
        ] {
            let instant = parse_timestamp(text, brasilia()).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(fixed_width(instant), "2017-10-02T13:56:33.000000Z", "{text}");
        }
    }

    // withstands: F080
    #[test]
    fn a_midnight_that_local_clocks_skip_is_still_an_instant() {
        // In São Paulo 2018-11-04 began at 01:00; a fixed offset has no such gap.
        let instant = parse_timestamp("2018-11-04", brasilia()).unwrap();
        assert_eq!(fixed_width(instant), "2018-11-04T03:00:00.000000Z");
    }

    // withstands: F079
    #[test]
    fn a_leap_second_is_read_and_nonsense_is_not() {
        let leap = parse_timestamp("2016-12-31T23:59:60Z", brasilia()).unwrap();
        assert_eq!(fixed_width(leap), "2017-01-01T00:00:00.000000Z");
        for bad in ["", "ontem", "2017-13-01T00:00:00Z", "0000-00-00 00:00:00", "2017-02-30", "ççççççççççç"]
        {
            assert_eq!(parse_timestamp(bad, brasilia()), None, "{bad}");
        }
    }

    // withstands: F087
    #[test]
    fn a_time_in_the_future_is_no_record_of_the_past_and_clocks_may_differ_a_little() {
        let now = DateTime::from_timestamp(1_795_000_000, 0).unwrap();
        for (ahead, expected) in
            [(-86_400, true), (0, true), (5, true), (60, true), (61, false), (7_200, false)]
        {
            let then = now + TimeDelta::seconds(ahead);
            assert_eq!(past(Some(then), now), expected.then_some(then), "{ahead} s");
            assert_eq!(is_future(then, now), !expected, "{ahead} s");
        }
        assert_eq!(past(None, now), None);
    }

    proptest! {
        // withstands: F080
        #[test]
        fn every_local_midnight_of_any_zone_is_one_instant_and_comes_back(day in 0_i32..15_000, hours in -12_i32..=14) {
            // From 2000 on, including every past or future day on which some zone skips midnight.
            let day = NaiveDate::from_ymd_opt(2000, 1, 1).unwrap() + TimeDelta::days(day.into());
            let zone = FixedOffset::east_opt(hours * 3_600).unwrap();
            let instant = parse_timestamp(&day.to_string(), zone).unwrap();
            prop_assert_eq!(instant.with_timezone(&zone).naive_local(), day.and_hms_opt(0, 0, 0).unwrap());
        }

        #[test]
        fn text_order_is_time_order(a in 0i64..4_000_000_000_000_000, b in 0i64..4_000_000_000_000_000) {
            let [ta, tb] = [a, b].map(|micros| DateTime::from_timestamp_micros(micros).unwrap());
            let [sa, sb] = [fixed_width(ta), fixed_width(tb)];
            prop_assert_eq!(sa.len(), 27);
            prop_assert_eq!(&sa, &ta.to_rfc3339_opts(chrono::SecondsFormat::Micros, true));
            prop_assert_eq!(sa.cmp(&sb), ta.cmp(&tb));
            prop_assert_eq!(parse_timestamp(&sa, brasilia()), Some(ta));
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "\\PC{0,40}") {
            let _ = parse_timestamp(&text, brasilia());
        }
    }
}
