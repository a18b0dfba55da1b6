//! Whether a listing row says anything that the mirror does not have. Pure.

use serde_json::Value;

/// What a row must tell, or nothing can be concluded from it.
const TELLING: [&str; 2] = ["status", "updated_at"];

/// Whether everything that a listing row shares with the order as it was received is the same in both, status and time of
/// the last change among it. What only one of them has says nothing.
pub fn says_nothing_new(row: &str, received: &str) -> bool {
    let (Ok(Value::Object(row)), Ok(Value::Object(received))) =
        (serde_json::from_str::<Value>(row), serde_json::from_str::<Value>(received))
    else {
        return false;
    };
    let tells = |name: &&str| row.get(*name).is_some_and(|v| !v.is_null()) && received.contains_key(*name);
    TELLING.iter().all(tells)
        && row.iter().all(|(name, listed)| received.get(name).is_none_or(|had| agrees(listed, had)))
}

/// An object in a listing may have fewer fields; everything else is the same or is not.
fn agrees(listed: &Value, had: &Value) -> bool {
    match (listed, had) {
        (Value::Object(listed), Value::Object(had)) => {
            listed.iter().all(|(name, value)| had.get(name).is_none_or(|had| agrees(value, had)))
        }
        (Value::Array(listed), Value::Array(had)) => {
            listed.len() == had.len() && listed.iter().zip(had).all(|(one, other)| agrees(one, other))
        }
        // The database may write a number differently from how it came.
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::says_nothing_new;

    const HAD: &str = r#"{"order_number":"1","status":"paid","updated_at":"2026-11-20T12:00:00Z","totals":{"order":25.00},
        "customer":{"id":7,"name":"Zoë"},"items":[{"id":1,"sku":"A"}],"notes":null}"#;

    fn check(row: &str, expected: bool) {
        assert_eq!(says_nothing_new(row, HAD), expected, "{row}");
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
        assert!(!says_nothing_new(HAD, "{}"), "what was received does not tell enough");
    }
}
