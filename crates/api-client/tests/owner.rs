//! Without the store's lease, nothing is sent, not even a login.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod support;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use chrono::TimeDelta;
use espelho_api_client::{Class, Error, error::BoxedError, limit::BoxFuture, owner::Owner};
use espelho_model::{Clock as _, OrderNumber};
use support::bench;

/// An owner whose state the test sets.
struct Told(AtomicBool);

impl Owner for Told {
    fn confirm(&self) -> BoxFuture<'_, Result<(), BoxedError>> {
        let is_ours = self.0.load(Ordering::SeqCst);
        Box::pin(async move { if is_ours { Ok(()) } else { Err("somebody else has it".into()) } })
    }

    fn ended(&self) -> BoxFuture<'_, BoxedError> {
        Box::pin(std::future::pending())
    }

    fn closing(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn a_store_that_is_not_ours_is_neither_logged_in_to_nor_called() {
    let bench = bench(Vec::new()).await;
    let owner = Arc::new(Told(AtomicBool::new(false)));
    let client = bench.client.clone().owned_by(Arc::<Told>::clone(&owner));
    let error = client.orders().get(&OrderNumber::new("1")).await.unwrap_err();
    assert!(error.is_not_ours() && error.was_never_sent(), "{error}");
    assert_eq!((error.class(), error.code().as_str()), (Class::Permanent, "held"));
    assert_eq!((bench.script.logins.lock().unwrap().len(), bench.sent()), (0, 0));

    owner.0.store(true, Ordering::SeqCst);
    client.orders().get(&OrderNumber::new("1")).await.unwrap();
    owner.0.store(false, Ordering::SeqCst);
    let error = client.orders().get(&OrderNumber::new("1")).await.unwrap_err();
    assert!(matches!(error, Error::NotOurs { sent: false, .. }), "{error}");
    assert_eq!((bench.script.logins.lock().unwrap().len(), bench.sent()), (1, 1));
}

/// An owner that loses the lease while a call is in flight.
struct Losing;

impl Owner for Losing {
    fn confirm(&self) -> BoxFuture<'_, Result<(), BoxedError>> {
        Box::pin(async { Ok(()) })
    }

    fn ended(&self) -> BoxFuture<'_, BoxedError> {
        Box::pin(async { "somebody else has it".into() })
    }

    fn closing(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn a_call_under_way_is_not_waited_for_once_the_store_is_lost() {
    let bench = bench(Vec::new()).await;
    let client = bench.client.clone().owned_by(Arc::new(Losing));
    let error = client.orders().get(&OrderNumber::new("1")).await.unwrap_err();
    assert!(error.is_not_ours() && !error.was_never_sent(), "{error}");
}

/// An owner that is about to release the lease.
struct Closing;

impl Owner for Closing {
    fn confirm(&self) -> BoxFuture<'_, Result<(), BoxedError>> {
        Box::pin(async { Ok(()) })
    }

    fn ended(&self) -> BoxFuture<'_, BoxedError> {
        Box::pin(std::future::pending())
    }

    fn closing(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

#[tokio::test]
async fn a_store_that_is_given_back_makes_the_calls_that_have_a_slot_and_gives_up_those_that_wait_for_one() {
    let bench = bench(Vec::new()).await;
    let client = bench.client.clone().owned_by(Arc::new(Closing));
    client.orders().get(&OrderNumber::new("1")).await.unwrap();
    let sent = bench.sent();
    client.limiter().pause(std::time::Duration::from_secs(60));
    bench.clock.stands_still.store(true, Ordering::SeqCst);
    let error = client.orders().get(&OrderNumber::new("1")).await.unwrap_err();
    assert!(error.is_stopped() && error.is_not_ours() && error.was_never_sent(), "{error}");
    assert_eq!((error.class(), error.code().as_str()), (Class::Permanent, "stopped"));
    assert_eq!(bench.sent(), sent);
}

#[tokio::test]
async fn a_login_that_waits_for_its_limit_is_given_up_when_the_work_stops() {
    let bench = bench(Vec::new()).await;
    let client = bench.client.clone().owned_by(Arc::new(Closing));
    let now = bench.clock.now();
    let attempts = (0..5).map(|n| (now - TimeDelta::seconds(n), "renewal".to_owned()));
    bench.memory.logins.lock().unwrap().extend(attempts);
    bench.clock.stands_still.store(true, Ordering::SeqCst);
    let error = client.orders().get(&OrderNumber::new("1")).await.unwrap_err();
    assert!(error.is_stopped() && error.was_never_sent(), "{error}");
    assert_eq!((bench.script.logins.lock().unwrap().len(), bench.sent()), (0, 0));
}
