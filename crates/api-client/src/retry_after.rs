//! `Retry-After`, in both of its forms (API document, "Errors": seconds; RFC 9110 also allows a date).

use std::time::Duration;

use chrono::{DateTime, Utc};

/// The wait after a 429 without a usable `Retry-After`: the length of the server's window.
const DEFAULT_WAIT: Duration = Duration::from_secs(60);
/// The longest accepted wait: a server's typing error must not block a store.
const LONGEST: Duration = Duration::from_secs(300);

/// Returns how long to wait after a 429, between 1 and 300 seconds.
pub(crate) fn after_429(header: Option<&str>, now: DateTime<Utc>) -> Duration {
    header.and_then(|value| parse(value, now)).unwrap_or(DEFAULT_WAIT).clamp(Duration::from_secs(1), LONGEST)
}

/// Reads the wait in a header; `None` if it is unreadable. A date in the past means no wait.
pub(crate) fn parse(value: &str, now: DateTime<Utc>) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        if seconds.is_nan() {
            return None;
        }
        return Some(Duration::from_secs_f64(seconds.clamp(0.0, 1e9)));
    }
    let at: DateTime<Utc> = httpdate::parse_http_date(value).ok()?.into();
    Some((at - now).to_std().unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    // withstands: F091
    #[test]
    fn both_forms_are_read_and_clamped() {
        let now = "2026-11-20T12:00:00Z".parse::<DateTime<Utc>>().unwrap();
        let check = |header: Option<&str>, seconds: u64| {
            assert_eq!(after_429(header, now), Duration::from_secs(seconds), "{header:?}");
        };
        check(Some("7"), 7);
        check(Some(" 30 "), 30);
        check(Some("0"), 1);
        check(Some("-5"), 1);
        check(Some("1000000000"), 300);
        check(Some("NaN"), 60);
        check(Some("inf"), 300);
        check(Some("Fri, 20 Nov 2026 12:00:42 GMT"), 42);
        check(Some("Fri, 20 Nov 2020 12:00:00 GMT"), 1);
        check(Some("logo mais"), 60);
        check(None, 60);
    }
}
