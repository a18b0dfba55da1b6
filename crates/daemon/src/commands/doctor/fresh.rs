//! Judges what the service has proved within the last minute by its own work: doctor spends no request on it again. Pure.
//!
//! A proof is of one token: an answer from before that token was obtained, at `since`, proves another one.

use chrono::{DateTime, Utc};
use espelho_sync_engine::plan::alarms::Code;
use serde_json::Value;

use super::marketplace::is_alarmed;

/// Seconds for which the service's own proof stands for one of doctor's.
const FRESH: i64 = 60;
/// Alarms beside which an answer from before them proves nothing.
const DENY: [Code; 6] = [
    Code::CredentialRefused,
    Code::ForeignLogin,
    Code::MarketplaceErrors,
    Code::MarketplaceUnreachable,
    Code::ScopeMissing,
    Code::Throttled,
];

/// The proof that the marketplace accepts a store's token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProvedToken {
    /// The seconds since the answer.
    pub(super) age: u64,
    /// Slots of the budget that were held then.
    pub(super) held: u32,
}

/// Tells whether an answer of a public route, by its status, is one of a marketplace that works. Beside any other, what
/// was answered a moment ago proves nothing.
pub(super) fn works(status: u16) -> bool {
    !matches!(status, 300..=399 | 429 | 500..)
}

/// Returns the service's proof of a store's token, by its answer at `/status`.
pub(super) fn token(
    told: &Value,
    store: &str,
    since: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Option<ProvedToken> {
    let of_store = of_store(told, store)?;
    if is_denied(told, store) {
        return None;
    }
    let age = age(&of_store["answered_at"], since, now)?;
    let held = of_store["budget"]["held"].as_u64().and_then(|held| u32::try_from(held).ok())?;
    Some(ProvedToken { age, held })
}

/// Tells whether the service has just read orders with the token of a store.
pub(super) fn has_read_orders(told: &Value, store: &str, since: DateTime<Utc>, now: DateTime<Utc>) -> bool {
    let sweeps = of_store(told, store).and_then(|of_store| of_store["sweeps"]["rows"].as_array());
    let mut of_orders = sweeps.into_iter().flatten().filter(|sweep| sweep["sweep"] == "new_orders");
    !is_denied(told, store) && of_orders.any(|sweep| age(&sweep["last_success"], since, now).is_some())
}

/// Returns what the service says about a store that it works on.
fn of_store<'t>(told: &'t Value, store: &str) -> Option<&'t Value> {
    let of_store = told["stores"].as_array()?.iter().find(|of_store| of_store["store"] == store)?;
    (of_store["ours"] == true).then_some(of_store)
}

fn is_denied(told: &Value, store: &str) -> bool {
    DENY.into_iter()
        .any(|code| is_alarmed(Some(told), code, |alarm| alarm["store"].is_null() || alarm["store"] == store))
}

/// Returns the seconds since a time; `None` if it is no proof yet, or none any more, or lies ahead.
fn age(at: &Value, since: DateTime<Utc>, now: DateTime<Utc>) -> Option<u64> {
    let at: DateTime<Utc> = at.as_str()?.parse().ok()?;
    let age = (now - at).num_seconds();
    u64::try_from(age).ok().filter(|_| age <= FRESH && at >= since)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use serde_json::json;

    use super::*;

    fn now() -> DateTime<Utc> {
        DateTime::from_timestamp(1_795_000_000, 0).unwrap()
    }

    fn ago(seconds: i64) -> DateTime<Utc> {
        now() - TimeDelta::seconds(seconds)
    }

    fn told(ours: bool, seconds: i64, alarm: Option<(&str, Option<&str>)>) -> Value {
        let at = espelho_model::time::fixed_width(ago(seconds));
        let alarms: Vec<Value> =
            alarm.map(|(code, store)| json!({"code": code, "store": store})).into_iter().collect();
        let sweeps = json!({"rows": [{"sweep": "new_orders", "last_success": at}, 7]});
        let store =
            json!({"store": "a", "ours": ours, "answered_at": at, "budget": {"held": 12}, "sweeps": sweeps});
        json!({"stores": [store], "alarms": alarms})
    }

    #[test]
    fn the_service_proves_a_token_for_a_minute_unless_an_alarm_denies_it() {
        for (ours, seconds, alarm, expected) in [
            (true, 0, None, Some(0)),
            (true, 60, None, Some(60)),
            (true, 61, None, None),
            (true, -5, None, None),
            (false, 5, None, None),
            (true, 5, Some(("late", Some("a"))), Some(5)),
            (true, 5, Some(("credential_refused", Some("a"))), None),
            (true, 5, Some(("credential_refused", Some("b"))), Some(5)),
            (true, 5, Some(("marketplace_unreachable", None)), None),
        ] {
            let told = told(ours, seconds, alarm);
            let proved = token(&told, "a", ago(3_600), now());
            assert_eq!(proved, expected.map(|age| ProvedToken { age, held: 12 }), "{told}");
            assert_eq!(token(&told, "b", ago(3_600), now()), None);
        }
        assert_eq!(token(&json!({}), "a", ago(3_600), now()), None, "a service of another version");
    }

    #[test]
    fn what_an_earlier_token_was_answered_proves_nothing_of_the_one_on_record() {
        let told = told(true, 20, None);
        for (obtained, proves) in [(21, true), (20, true), (19, false)] {
            assert_eq!(token(&told, "a", ago(obtained), now()).is_some(), proves, "{obtained}");
            assert_eq!(has_read_orders(&told, "a", ago(obtained), now()), proves, "{obtained}");
        }
    }

    #[test]
    fn a_marketplace_in_trouble_makes_what_it_answered_before_worthless() {
        for (status, expected) in
            [(200, true), (401, true), (404, true), (301, false), (429, false), (500, false), (503, false)]
        {
            assert_eq!(works(status), expected, "{status}");
        }
    }

    #[test]
    fn orders_that_the_service_read_a_minute_ago_prove_that_they_can_be_read() {
        for (ours, seconds, alarm, expected) in [
            (true, 5, None, true),
            (true, 60, None, true),
            (true, 61, None, false),
            (false, 5, None, false),
            (true, 5, Some(("scope_missing", Some("a"))), false),
        ] {
            let told = told(ours, seconds, alarm);
            assert_eq!(has_read_orders(&told, "a", ago(3_600), now()), expected, "{told}");
        }
        assert!(!has_read_orders(&json!({}), "a", ago(3_600), now()));
    }
}
