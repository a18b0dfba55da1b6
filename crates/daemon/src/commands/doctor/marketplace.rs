//! Checks whether the marketplace answers at all: doctor itself asks, even beside a service, without token or budget.

use chrono::{DateTime, TimeDelta, Utc};
use espelho_api_client::{Error, Reachability, probe};
use espelho_model::{symptom::host_of, text, text::Arg};
use espelho_sync_engine::{
    Problem,
    plan::alarms::{Code, MARKETPLACE_SEVERITY},
};
use serde_json::Value;

use super::{facts::StoreFacts, finding::Finding};

pub(super) async fn look(store: &StoreFacts<'_>) -> Finding {
    let base_url = &store.config.base_url;
    let answered = match store.http() {
        Ok(http) => probe(base_url, &http, &*store.all.clock).await,
        Err(error) => Err(error),
    };
    let is_throttled = is_throttled(store.all.status(), store.config.key.as_str(), base_url);
    let finding = judge(&answered, base_url, is_throttled, store.all.clock.now());
    if let Ok(reached) = answered {
        let _ = store.reached.set(reached);
    }
    finding
}

/// Tells whether the service says that the marketplace refuses the store's calls (429) for longer than may pass.
pub(super) fn is_throttled(status: Option<&Value>, store: &str, base_url: &str) -> bool {
    is_alarmed(status, Code::Throttled, |alarm| alarm["store"] == store || alarm["cause"] == base_url)
}

/// Tells whether the service has an alarm of a code that a rule fits.
pub(super) fn is_alarmed(status: Option<&Value>, code: Code, fits: impl Fn(&Value) -> bool) -> bool {
    let mut alarms = status.and_then(|told| told["alarms"].as_array()).into_iter().flatten();
    alarms.any(|alarm| alarm["code"] == code.as_str() && fits(alarm))
}

/// Judges the answer. A marketplace that refuses is reachable: other checks judge the token. A single 429 passes; one that
/// lasts is the alarm `throttled`, and has its colour.
fn judge(
    answered: &Result<Reachability, Error>,
    base_url: &str,
    is_throttled: bool,
    now: DateTime<Utc>,
) -> Finding {
    let reached = match answered {
        Ok(reached) => reached,
        // Nothing was asked: the machine has no certificates, for one.
        Err(error @ Error::Setup(_)) => return Finding::red(Problem::from_api(error).text),
        Err(error) => {
            let symptom = error.symptom();
            return Finding::red(text!(
                "doctor-marketplace-unreachable",
                address = base_url,
                cause = symptom.text(),
                fault = symptom.fault(base_url),
                listen = host_of(base_url)
            ));
        }
    };
    let milliseconds = u64::try_from(reached.took.as_millis()).unwrap_or(u64::MAX);
    match reached.status {
        status @ 500.. => {
            let found = text!("doctor-marketplace-errors", address = base_url, status = status.to_string());
            Finding::alarming(MARKETPLACE_SEVERITY, found)
        }
        429 if is_throttled => {
            let found = text!("doctor-marketplace-throttled", address = base_url);
            Finding::alarming(MARKETPLACE_SEVERITY, found)
        }
        429 => {
            let wait = TimeDelta::from_std(reached.wait.unwrap_or_default()).unwrap_or_default();
            let free_at = Arg::TimeOfDay(now + wait);
            Finding::yellow(text!("doctor-marketplace-limited", address = base_url, free_at = free_at))
        }
        status @ 300..=399 => Finding::red(text!(
            "doctor-marketplace-elsewhere",
            address = base_url,
            status = status.to_string()
        )),
        _ => Finding::green(text!("doctor-marketplace", address = base_url, milliseconds = milliseconds)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use espelho_model::text::Locale;
    use serde_json::json;

    use super::{super::finding::State, *};

    const ADDRESS: &str = "https://m.example";

    fn judged(answered: &Result<Reachability, Error>, is_throttled: bool) -> Finding {
        judge(answered, ADDRESS, is_throttled, DateTime::UNIX_EPOCH)
    }

    fn reached(status: u16) -> Result<Reachability, Error> {
        let wait = (status == 429).then(|| Duration::from_secs(41));
        Ok(Reachability { took: Duration::from_millis(20), status, date: None, wait })
    }

    #[test]
    fn a_client_that_cannot_be_set_up_says_so_with_its_own_next_step() {
        let finding = judged(&Err(Error::Setup("No CA certificates".into())), false);
        assert_eq!((finding.state, finding.found.id()), (State::Red, "api-setup"));
    }

    #[test]
    fn an_answer_of_the_marketplace_is_green_and_its_faults_are_not() {
        for (status, state) in [
            (200, State::Green),
            (401, State::Green),
            (404, State::Green),
            (301, State::Red),
            (500, State::Red),
            (503, State::Red),
        ] {
            assert_eq!(judged(&reached(status), false).state, state, "{status}");
        }
        assert_eq!(judged(&Err(Error::Setup("x".into())), false).state, State::Red);
    }

    #[test]
    fn a_single_429_says_until_when_to_wait_and_is_red_only_with_its_alarm() {
        for (is_throttled, state, text) in [
            (false, State::Yellow, "doctor-marketplace-limited"),
            (true, State::Red, "doctor-marketplace-throttled"),
        ] {
            let finding = judged(&reached(429), is_throttled);
            assert_eq!((finding.state, finding.found.id()), (state, text));
        }
        let said = judged(&reached(429), false).found.message(Locale::default());
        assert!(said.contains(":00:41"), "{said}");
    }

    #[test]
    fn the_alarm_of_a_429_is_that_of_the_store_or_of_its_marketplace() {
        let alarm = |code: &str, store: Option<&str>, cause: &str| {
            let alarm = json!({"code": code, "store": store, "cause": cause});
            json!({ "alarms": [alarm] })
        };
        for (told, expected) in [
            (alarm("throttled", Some("a"), "https://other.example"), true),
            (alarm("throttled", None, ADDRESS), true),
            (alarm("throttled", Some("b"), "https://other.example"), false),
            (alarm("late", Some("a"), ADDRESS), false),
            (json!({}), false),
        ] {
            assert_eq!(is_throttled(Some(&told), "a", ADDRESS), expected, "{told}");
        }
        assert!(!is_throttled(None, "a", ADDRESS));
    }
}
