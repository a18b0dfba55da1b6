//! Finds why an intent is still under way where its row does not say it: a pause, or an alarm.

use espelho_model::{
    pause::Pause,
    push::PushState,
    text,
    text::{Arg, Locale, Text},
};
use espelho_store::{Answer, Error, IntentKind};
use espelho_sync_engine::plan::{alarms::Code, pauses::Activity};

use super::{
    super::{reading::Reading, status::standing_alarms},
    answer::{Arrival, Became, Delay},
    wait::Written,
};
use crate::{alarms::ShownAlarm, terminal::shown};

/// The alarms that explain why nothing is sent, the nearest cause first.
const EXPLAIN: [Code; 7] = [
    Code::ServiceStopped,
    Code::CredentialRefused,
    Code::ForeignLogin,
    Code::MarketplaceUnreachable,
    Code::MarketplaceErrors,
    Code::Throttled,
    Code::NotHeld,
];

/// The alarms that explain why a test delivery does not arrive.
const EXPLAIN_MISSING: [Code; 1] = [Code::WebhookElsewhere];

/// Returns the known cause of an intent that is still under way, and of a test delivery that does not arrive.
pub(super) async fn find(
    reading: &Reading,
    written: &Written,
    became: &Became,
    locale: Locale,
) -> Result<Option<Delay>, Error> {
    let Written { store, intent, .. } = written;
    let stores = &reading.configuration.stores;
    let address = stores.iter().find(|of| of.key == *store).map(|of| of.base_url.as_str());
    if matches!(became, Became::Tested(Arrival::Missing)) {
        let alarms = standing_alarms(reading, Some(store), locale).await;
        return Ok(of_alarms(&alarms, &EXPLAIN_MISSING, store.as_str(), address));
    }
    if !is_under_way(became) {
        return Ok(None);
    }
    let pauses = reading.store.pauses().recent().await?;
    let now = reading.clock.now();
    let standing = pauses.iter().filter(|pause| pause.store == *store && pause.lasts(now));
    let stopping = standing.filter(|pause| activity(*intent).is_held_by(pause.scope));
    if let Some(pause) = stopping.max_by_key(|pause| pause.until) {
        return Ok(Some(of_pause(pause, locale)));
    }
    let alarms = standing_alarms(reading, Some(store), locale).await;
    Ok(of_alarms(&alarms, &EXPLAIN, store.as_str(), address))
}

/// Returns true if rows are open and none says why. Refused rows have a next step of their own.
fn is_under_way(became: &Became) -> bool {
    match became {
        Became::Row(Answer { state, .. }) => {
            matches!(state, Some(PushState::New | PushState::Sending) | None)
        }
        Became::Rows { open, refused, .. } => *open > 0 && *refused == 0,
        Became::Written | Became::ServiceStopped | Became::Tested(_) => false,
    }
}

/// Returns the activity that sends intents of a kind.
fn activity(intent: IntentKind) -> Activity {
    match intent {
        IntentKind::Stock => Activity::Stock,
        IntentKind::Price => Activity::Prices,
        IntentKind::Command => Activity::Commands,
    }
}

fn of_pause(Pause { store, scope, until, paused_by, .. }: &Pause, locale: Locale) -> Delay {
    let text = text!(
        "alarm-paused",
        store = store.as_str(),
        scope = Text::new(format!("word-pause-{}", scope.as_str())),
        until = Arg::from(*until),
        by = paused_by.as_str()
    );
    let (cause, next) = (text.message(locale), text.next(locale).unwrap_or_default());
    Delay { code: Code::Paused.as_str().to_owned(), cause: shown(&cause), next }
}

/// Returns the alarm of the first of these codes that concerns a store. `address` is its marketplace's.
fn of_alarms(alarms: &[ShownAlarm], codes: &[Code], store: &str, address: Option<&str>) -> Option<Delay> {
    let concerns = |alarm: &ShownAlarm, code: Code| match &alarm.store {
        Some(named) => named == store,
        // An alarm of several stores may be of another marketplace.
        None => !code.is_about_marketplace() || Some(alarm.cause.as_str()) == address,
    };
    // A warning is about a credential whose token works: it sends.
    let explains = |alarm: &&ShownAlarm, code: Code| {
        let is_credential = matches!(code, Code::CredentialRefused | Code::ForeignLogin);
        alarm.code == code.as_str() && concerns(alarm, code) && (alarm.is_failing() || !is_credential)
    };
    let of_code = |code: &Code| alarms.iter().find(|alarm| explains(alarm, *code));
    let alarm = codes.iter().find_map(of_code)?;
    Some(Delay { code: alarm.code.clone(), cause: shown(&alarm.text), next: shown(&alarm.next) })
}

#[cfg(test)]
mod tests {
    use espelho_model::{StoreKey, pause::PauseScope};

    use super::*;
    use crate::status::specimen;

    #[test]
    fn a_pause_says_until_when_it_lasts_and_how_it_ends() {
        let (since, until) = (specimen::at(0), specimen::at(60));
        let (store, scope) = (StoreKey::new("loja-1").unwrap(), PauseScope::Push);
        let pause = Pause { store, scope, since, until, paused_by: "ana".into() };
        let delay = of_pause(&pause, Locale::default());
        assert!(
            delay.cause.starts_with("loja-1 está em pausa (") && delay.cause.contains("por ana"),
            "{delay:?}"
        );
        assert_eq!((delay.code.as_str(), delay.next.as_str()), ("paused", "espelho resume --store loja-1"));
    }

    #[test]
    fn an_alarm_of_the_store_or_of_its_marketplace_is_the_cause() {
        let alarm = |code: &str, store: Option<&str>, cause: &str| ShownAlarm {
            code: code.into(),
            cause: cause.into(),
            ..specimen::failing(store, "causa")
        };
        assert!(of_alarms(&[alarm("webhook_elsewhere", Some("a"), "")], &EXPLAIN, "a", None).is_none());
        let elsewhere = of_alarms(&[alarm("webhook_elsewhere", Some("a"), "")], &EXPLAIN_MISSING, "a", None);
        assert_eq!(elsewhere.map(|delay| delay.code).as_deref(), Some("webhook_elsewhere"));
        let unreachable = |store, cause| alarm("marketplace_unreachable", store, cause);
        for (alarms, expected) in [
            (vec![], None),
            (vec![alarm("late", Some("a"), "")], None),
            (vec![unreachable(Some("a"), "http://m")], Some("marketplace_unreachable")),
            (vec![unreachable(Some("b"), "http://m")], None),
            (vec![unreachable(None, "http://m")], Some("marketplace_unreachable")),
            (vec![unreachable(None, "http://n")], None),
            (
                vec![unreachable(Some("a"), "http://m"), alarm("credential_refused", Some("a"), "")],
                Some("credential_refused"),
            ),
            (vec![alarm("service_stopped", None, "")], Some("service_stopped")),
        ] {
            let found = of_alarms(&alarms, &EXPLAIN, "a", Some("http://m"));
            assert_eq!(found.as_ref().map(|delay| delay.code.as_str()), expected, "{alarms:?}");
            assert!(found.is_none_or(
                |delay| (delay.cause.as_str(), delay.next.as_str()) == ("causa", "espelho errors")
            ));
        }
    }

    #[test]
    fn only_what_is_still_open_without_a_word_of_its_row_is_explained() {
        let row =
            |state| Became::Row(Answer { state, code: None, error: None, hint: None, updated_at: None });
        let rows = |open, refused| Became::Rows { done: 1, open, refused };
        for (became, expected) in [
            (row(Some(PushState::New)), true),
            (row(Some(PushState::Sending)), true),
            (row(Some(PushState::Waiting)), false),
            (row(Some(PushState::Done)), false),
            (rows(1, 0), true),
            (rows(0, 0), false),
            (rows(1, 1), false),
            (Became::Written, false),
            (Became::ServiceStopped, false),
        ] {
            assert_eq!(is_under_way(&became), expected, "{became:?}");
        }
    }
}
