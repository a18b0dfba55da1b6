//! The list of checks, in the order of their output: each may use the observations of earlier checks.

use std::time::Duration;

use espelho_model::{Clock, text};
use futures_util::future::BoxFuture;

use super::{
    backup, budget, clock, credential, database,
    facts::{Facts, StoreFacts},
    finding::{Finding, SkipReason},
    labels, lock, marketplace, notices, receiver, scopes, service, webhook,
};

/// The time limit of a check.
const LONGEST: Duration = Duration::from_secs(5);

/// A check of the installation, by its stable name.
type Check = (&'static str, for<'f> fn(&'f Facts) -> BoxFuture<'f, Finding>);
/// A check of one store.
type StoreCheck = (&'static str, for<'f> fn(&'f StoreFacts<'_>) -> BoxFuture<'f, Finding>);

/// The checks of the installation, which all stores share.
pub(super) const INSTALLATION: [Check; 8] = [
    ("configuration", |facts| Box::pin(database::configuration(facts))),
    ("database", |facts| Box::pin(database::look(facts))),
    ("database_write", |facts| Box::pin(database::write(facts))),
    ("database_schema", |facts| Box::pin(database::schema(facts))),
    ("disk", |facts| Box::pin(database::disk(facts))),
    ("backup", |facts| Box::pin(backup::look(facts))),
    ("service", |facts| Box::pin(service::look(facts))),
    ("notices", |facts| Box::pin(notices::look(facts))),
];

/// The checks of each store.
pub(super) const STORE: [StoreCheck; 11] = [
    ("marketplace", |store| Box::pin(marketplace::look(store))),
    ("clock", |store| Box::pin(clock::look(store))),
    ("lock", |store| Box::pin(lock::look(store))),
    ("credential", |store| Box::pin(credential::look(store))),
    ("password", |store| Box::pin(credential::password(store))),
    ("scopes", |store| Box::pin(scopes::look(store))),
    ("rate_budget", |store| Box::pin(budget::look(store))),
    ("webhook_address", |store| Box::pin(webhook::address(store))),
    ("receiver", |store| Box::pin(receiver::look(store))),
    ("webhook", |store| Box::pin(webhook::look(store))),
    ("labels", |store| Box::pin(labels::look(store))),
];

/// Tells if a check of a store is shown. A store without a webhook gets one line about it.
pub(super) fn applies(name: &str, has_webhook: bool) -> bool {
    has_webhook || !["webhook_address", "receiver"].contains(&name)
}

/// Runs a check with its five-second limit, and notes its duration. `delay` is the known reason of one that takes longer.
pub(super) async fn limited(
    clock: &dyn Clock,
    delay: Option<SkipReason>,
    name: &'static str,
    check: impl Future<Output = Finding>,
) -> Finding {
    let begun = clock.monotonic();
    let finding = tokio::select! {
        biased;
        finding = check => finding,
        () = clock.sleep(LONGEST) => {
            let slow = || Finding::not_seen(text!("doctor-too-slow", seconds = LONGEST.as_secs()));
            delay.map_or_else(slow, Finding::skipped)
        }
    };
    let took = clock.monotonic().saturating_sub(begun);
    finding.named(name, took)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use espelho_model::clock::SystemClock;

    use super::{super::finding::State, *};

    #[test]
    fn every_check_has_a_name_of_its_own_that_people_can_read() {
        let names = INSTALLATION.iter().map(|(name, _)| name).chain(STORE.iter().map(|(name, _)| name));
        let names: Vec<&str> = names.copied().collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        for name in names {
            assert!(Finding::label_of(name).is_known(), "{name}");
        }
    }

    #[test]
    fn a_missing_webhook_is_said_once() {
        let said = |has_webhook: bool| {
            let names = STORE
                .iter()
                .map(|(name, _)| *name)
                .filter(|name| name.contains("webhook") || *name == "receiver");
            names.filter(|name| applies(name, has_webhook)).collect::<Vec<_>>()
        };
        assert_eq!(said(true), ["webhook_address", "receiver", "webhook"]);
        assert_eq!(said(false), ["webhook"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_check_that_never_ends_is_not_seen_and_never_green() {
        let clock = SystemClock::shared();
        for delay in [None, Some(SkipReason::Busy)] {
            let finding = limited(&*clock, delay, "clock", std::future::pending()).await;
            assert_eq!((finding.state, finding.is_open, finding.skipped), (State::Unknown, true, delay));
        }
    }
}
