//! Checks whether the marketplace answers at all: doctor itself asks, even beside a service, without token or budget.

use espelho_api_client::{Error, Reachability, probe};
use espelho_model::text;
use espelho_sync_engine::{Problem, plan::alarms::MARKETPLACE_SEVERITY};

use super::{facts::StoreFacts, finding::Finding};

pub(super) async fn look(store: &StoreFacts<'_>) -> Finding {
    let base_url = &store.config.base_url;
    let answered = match store.http() {
        Ok(http) => probe(base_url, &http, &*store.all.clock).await,
        Err(error) => Err(error),
    };
    let finding = judge(&answered, base_url);
    if let Ok(reached) = answered {
        let _ = store.reached.set(reached);
    }
    finding
}

/// Judges the answer. A marketplace that refuses is reachable: other checks judge the token.
fn judge(answered: &Result<Reachability, Error>, base_url: &str) -> Finding {
    let reached = match answered {
        Ok(reached) => reached,
        // Nothing was asked: the machine has no certificates, for one.
        Err(error @ Error::Setup(_)) => return Finding::red(Problem::from_api(error).text),
        Err(error) => {
            let cause = Problem::from_api(error).error;
            return Finding::red(text!("doctor-marketplace-unreachable", address = base_url, cause = cause));
        }
    };
    let milliseconds = u64::try_from(reached.took.as_millis()).unwrap_or(u64::MAX);
    match reached.status {
        status @ 500.. => {
            let found = text!("doctor-marketplace-errors", address = base_url, status = status.to_string());
            Finding::alarming(MARKETPLACE_SEVERITY, found)
        }
        429 => {
            let found = text!("doctor-marketplace-throttled", address = base_url);
            Finding::alarming(MARKETPLACE_SEVERITY, found)
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

    use super::{super::finding::State, *};

    #[test]
    fn a_client_that_cannot_be_set_up_says_so_with_its_own_next_step() {
        let finding = judge(&Err(Error::Setup("No CA certificates".into())), "https://m.example");
        assert_eq!((finding.state, finding.found.id()), (State::Red, "api-setup"));
    }

    #[test]
    fn an_answer_of_the_marketplace_is_green_and_its_faults_are_not() {
        for (status, state) in [
            (200, State::Green),
            (401, State::Green),
            (404, State::Green),
            (301, State::Red),
            // As the alarm `throttled`.
            (429, State::Red),
            (500, State::Red),
            (503, State::Red),
        ] {
            let reached = Reachability { took: Duration::from_millis(20), status, date: None };
            assert_eq!(judge(&Ok(reached), "https://m.example").state, state, "{status}");
        }
        assert_eq!(judge(&Err(Error::Setup("x".into())), "https://m.example").state, State::Red);
    }
}
