//! Text of the data: folded for searching, dates to and from Brasília's wall clock.

use chrono::{DateTime, NaiveDate, NaiveDateTime};

/// Brasília's offset in seconds. Fixed: daylight saving time ended in 2019, and a fixed offset keeps every date
/// readable.
pub(crate) const OFFSET: i64 = -3 * 3600;

const DAY: i64 = 86_400;

/// Lower case without the accents of Portuguese, so that a search for `joao` finds `João`.
pub(crate) fn fold(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).map(plain).collect()
}

fn plain(c: char) -> char {
    match c {
        'á' | 'à' | 'â' | 'ã' | 'ä' => 'a',
        'é' | 'è' | 'ê' | 'ë' => 'e',
        'í' | 'ì' | 'î' | 'ï' => 'i',
        'ó' | 'ò' | 'ô' | 'õ' | 'ö' => 'o',
        'ú' | 'ù' | 'û' | 'ü' => 'u',
        'ç' => 'c',
        'ñ' => 'n',
        other => other,
    }
}

/// The first second of a calendar day `2026-01-31` of Brasília.
pub(crate) fn day_start(text: &str) -> Option<i64> {
    if text.len() != 10 {
        return None;
    }
    let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
    Some(date.and_hms_opt(0, 0, 0)?.and_utc().timestamp() - OFFSET)
}

/// Whether a text is a calendar day `2026-01-31`, written in exactly this way.
pub(crate) fn is_date(text: &str) -> bool {
    let written = |date: NaiveDate| date.format("%Y-%m-%d").to_string();
    NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok_and(|date| written(date) == text)
}

/// The first second of Brasília's day that holds the instant.
pub(crate) fn day_of(seconds: i64) -> i64 {
    (seconds + OFFSET).div_euclid(DAY) * DAY - OFFSET
}

/// A wall-clock time `2018-07-24 20:41:37` of Brasília as seconds since 1970.
pub(crate) fn wall_clock(text: &str) -> Option<i64> {
    let local = NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S").ok()?;
    Some(local.and_utc().timestamp() - OFFSET)
}

/// An ISO 8601 instant as seconds since 1970.
pub(crate) fn instant(text: &str) -> Option<i64> {
    DateTime::parse_from_rfc3339(text).ok().map(|at| at.timestamp())
}

/// Appends `2026-01-31T20:15:00-03:00`. Hand-written because every row has two of them.
pub(crate) fn push_time(buf: &mut Vec<u8>, seconds: i64) {
    let local = seconds + OFFSET;
    let (year, month, day) = civil(local.div_euclid(DAY));
    let rest = local.rem_euclid(DAY);
    let mut text = *b"0000-00-00T00:00:00-03:00";
    pair(&mut text, 0, year / 100);
    pair(&mut text, 2, year % 100);
    pair(&mut text, 5, month);
    pair(&mut text, 8, day);
    pair(&mut text, 11, rest / 3600);
    pair(&mut text, 14, rest / 60 % 60);
    pair(&mut text, 17, rest % 60);
    buf.extend_from_slice(&text);
}

fn pair(text: &mut [u8], at: usize, value: i64) {
    text[at] = b'0' + (value / 10) as u8;
    text[at + 1] = b'0' + (value % 10) as u8;
}

/// Days since 1970 as year, month and day (the Gregorian calendar counted in eras of 400 years from a first of March).
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// An instant, in seconds since 1970, as ISO 8601 text at the offset of Brasília.
pub(crate) fn iso(seconds: i64) -> String {
    let mut buf = Vec::new();
    push_time(&mut buf, seconds);
    String::from_utf8(buf).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_chrono_reads_them_over_a_century() {
        for step in 0..4000_i64 {
            let seconds = step * 800_003;
            let mut buf = Vec::new();
            push_time(&mut buf, seconds);
            assert_eq!(instant(std::str::from_utf8(&buf).unwrap()), Some(seconds));
        }
    }

    #[test]
    fn a_day_begins_at_midnight_in_brasilia() {
        assert_eq!(day_start("2026-01-31"), instant("2026-01-31T00:00:00-03:00"));
        assert_eq!(day_of(instant("2026-01-31T23:59:59-03:00").unwrap()), day_start("2026-01-31").unwrap());
        assert_eq!(day_start("2026-1-31"), None);
        assert_eq!(day_start("2026-02-30"), None);
    }

    #[test]
    fn searching_ignores_case_and_accents() {
        assert_eq!(fold("JOÃO Conceição"), "joao conceicao");
    }
}
