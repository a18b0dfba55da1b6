//! Decides whether a listing row has anything that the mirror does not have. Pure.

use serde_json::Value;

/// The fields that a row must have; without them it proves nothing.
const REQUIRED_FIELDS: [&str; 2] = ["status", "updated_at"];

/// Says whether a listing row and the order as it was received agree in every field that both have, the status and the
/// time of the last change among them. A field that only one of them has says nothing.
pub fn is_already_mirrored(row: &str, received: &str) -> bool {
    let (Ok(Value::Object(row)), Ok(Value::Object(received))) =
        (serde_json::from_str::<Value>(row), serde_json::from_str::<Value>(received))
    else {
        return false;
    };
    let tells = |name: &&str| row.get(*name).is_some_and(|v| !v.is_null()) && received.contains_key(*name);
    REQUIRED_FIELDS.iter().all(tells)
        && row.iter().all(|(name, listed)| received.get(name).is_none_or(|had| agrees(listed, had)))
}

/// Says whether two values agree: an object in a listing may have fewer fields; everything else must be equal.
fn agrees(listed: &Value, had: &Value) -> bool {
    match (listed, had) {
        (Value::Object(listed), Value::Object(had)) => {
            listed.iter().all(|(name, value)| had.get(name).is_none_or(|had| agrees(value, had)))
        }
        (Value::Array(listed), Value::Array(had)) => {
            listed.len() == had.len() && listed.iter().zip(had).all(|(one, other)| agrees(one, other))
        }
        // The database may write a number in another form than the received one.
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::is_already_mirrored;

    const HAD: &str = r#"{"order_number":"1","status":"paid","updated_at":"2026-11-20T12:00:00Z","totals":{"order":25.00},
        "customer":{"id":7,"name":"Zoë"},"items":[{"id":1,"sku":"A"}],"notes":null}"#;

    fn check(row: &str, expected: bool) {
        assert_eq!(is_already_mirrored(row, HAD), expected, "{row}");
    }

    #[test]
    fn a_row_that_says_what_is_known_says_nothing_new() {
        check(r#"{"status":"paid","updated_at":"2026-11-20T12:00:00Z"}"#, true);
        check(
            r#"{"status":"paid","updated_at":"2026-11-20T12:00:00Z","totals":{"order":25.0},"customer":{"id":7}}"#,
            true,
        );
        check(r#"{"status":"paid","updated_at":"2026-11-20T12:00:00Z","items_preview":[1,2,3]}"#, true);
        check(r#"{"status":"paid","updated_at":"2026-11-20T12:00:00Z","items":[{"id":1}]}"#, true);
    }

    #[test]
    fn a_row_that_differs_anywhere_or_does_not_tell_enough_is_news() {
        for row in [
            r#"{"status":"preparing","updated_at":"2026-11-20T12:00:00Z"}"#,
            r#"{"status":"paid","updated_at":"2026-11-20T12:00:01Z"}"#,
            r#"{"status":"paid","updated_at":"2026-11-20T12:00:00Z","totals":{"order":25.01}}"#,
            r#"{"status":"paid","updated_at":"2026-11-20T12:00:00Z","customer":{"id":8}}"#,
            r#"{"status":"paid","updated_at":"2026-11-20T12:00:00Z","items":[]}"#,
            r#"{"status":"paid","updated_at":"2026-11-20T12:00:00Z","notes":"novo"}"#,
            r#"{"status":"paid"}"#,
            r#"{"updated_at":"2026-11-20T12:00:00Z"}"#,
            r#"{"status":"paid","updated_at":null}"#,
            "[]",
            "not JSON",
        ] {
            check(row, false);
        }
        assert!(!is_already_mirrored(HAD, "{}"), "what was received does not tell enough");
    }
}
