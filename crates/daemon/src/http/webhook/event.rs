//! The name of a delivery's event, read after the signature check and only for a column and a label.

use espelho_api_client::webhook::EventName;
use serde::Deserialize;

/// The label of every event that the document does not name, or that was not read.
pub(super) const OTHER: &str = "other";

#[derive(Deserialize)]
struct Envelope {
    event: String,
}

/// Returns the event of a body, as text that fits a column of any database. The body itself is stored as it came.
pub(super) fn name(body: &[u8]) -> Option<String> {
    let Envelope { event } = serde_json::from_slice(body).ok()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | ':' | '*');
    (!event.is_empty() && event.len() <= 64 && event.chars().all(plain)).then_some(event)
}

/// Returns the event's label in metrics: one of the documented events, or one more, so that their number is bounded.
pub(super) fn label(event: Option<&str>) -> &'static str {
    let mut documented = EventName::ALL.iter().map(EventName::as_str);
    event.and_then(|event| documented.find(|documented| *documented == event)).unwrap_or(OTHER)
}

#[cfg(test)]
mod tests {
    use super::*;

    // withstands: F051
    #[test]
    fn the_event_is_read_from_any_envelope_that_has_one() {
        let check =
            |body: &str, expected: Option<&str>| assert_eq!(name(body.as_bytes()).as_deref(), expected);
        check(
            r#"{"event":"order.paid","data":{"store_id":1},"timestamp":"x","webhook_id":"y"}"#,
            Some("order.paid"),
        );
        check(r#"{"new":[1e999,{"a":null}],"event":"order.teleported"}"#, Some("order.teleported"));
        check(r#"{"event":"order.paid","event":"order.cancelled"}"#, None);
        check(r#"{"event":7}"#, None);
        check(r#"{"event":"a\u0000b"}"#, None);
        check(&format!(r#"{{"event":"{}"}}"#, "x".repeat(65)), None);
        check("", None);
        check("[[[[", None);
        assert_eq!(name(b"{\"event\":\"\xff\"}"), None);
    }

    // withstands: F051
    #[test]
    fn a_body_that_is_nested_without_end_has_no_event() {
        let bomb = format!(r#"{{"data":{}"#, "[".repeat(200_000));
        assert_eq!(name(bomb.as_bytes()), None);
        let deep =
            format!(r#"{{"data":{}{},"event":"order.paid"}}"#, "[".repeat(100_000), "]".repeat(100_000));
        // Skipped, not parsed: however deep it is, it costs no stack.
        assert_eq!(name(deep.as_bytes()).as_deref(), Some("order.paid"));
    }

    // withstands: F048
    #[test]
    fn metrics_know_the_documented_events_and_one_more() {
        assert_eq!(EventName::ALL.len(), 24);
        for event in EventName::ALL {
            assert_eq!(label(Some(event.as_str())), event.as_str());
        }
        assert_eq!(label(Some("order.teleported")), OTHER);
        assert_eq!(label(None), OTHER);
    }
}
