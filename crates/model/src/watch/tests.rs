use std::{future::pending, task::Waker};

use super::*;

const MINUTE: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Hands(AtomicU64);

impl Hands {
    fn forward(&self, by: Duration) {
        self.0.fetch_add(by.as_secs(), Ordering::Relaxed);
    }
}

impl Clock for Hands {
    fn now(&self) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + self.monotonic()
    }

    fn monotonic(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::Relaxed))
    }

    fn sleep(&self, _: Duration) -> Sleep {
        Box::pin(pending())
    }
}

fn watch() -> (Arc<Hands>, Arc<Watch>) {
    let hands = Arc::<Hands>::default();
    (Arc::clone(&hands), Watch::over(hands))
}

fn poll<F: Future + ?Sized>(work: &mut Pin<Box<F>>) -> Poll<F::Output> {
    work.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

fn names(watch: &Watch) -> Vec<&'static str> {
    watch.stalled(MINUTE).into_iter().map(|stalled| stalled.lane).collect()
}

/// Starts a lane that does `work`.
fn begun<'w, T: 'w>(
    watch: &Arc<Watch>,
    work: impl Future<Output = T> + 'w,
) -> Pin<Box<dyn Future<Output = T> + 'w>> {
    let mut lane: Pin<Box<dyn Future<Output = T> + 'w>> =
        Box::pin(watch.scope(None, async { lane("work", work).await }));
    assert!(poll(&mut lane).is_pending());
    lane
}

// withstands: F112
#[test]
fn a_lane_that_hangs_is_stalled_after_a_minute_and_named_with_its_store() {
    let (hands, watch) = watch();
    let store = StoreKey::new("loja-1").unwrap();
    let mut work = Box::pin(watch.scope(Some(&store), async { lane("hints", pending::<()>()).await }));
    assert!(poll(&mut work).is_pending());
    hands.forward(MINUTE);
    assert!(watch.stalled(MINUTE).is_empty());
    hands.forward(Duration::from_secs(1));
    let stalled = Duration::from_secs(61);
    assert_eq!(watch.stalled(MINUTE), [Stalled { store: Some(store), lane: "hints", stalled }]);
    // Another task's wake-up polls it again, and it is still stuck.
    assert!(poll(&mut work).is_pending());
    assert_eq!(names(&watch), ["hints"]);
    drop(work);
    assert!(watch.stalled(MINUTE).is_empty(), "what has ended is not watched");
}

// withstands: F087
#[test]
fn a_sleep_is_no_standstill_until_it_should_be_over() {
    let (hands, watch) = watch();
    let clock: Arc<dyn Clock> = Arc::<Watch>::clone(&watch);
    let _work = begun(&watch, async move { clock.sleep(10 * MINUTE).await });
    hands.forward(11 * MINUTE);
    assert_eq!(names(&watch), [""; 0]);
    hands.forward(Duration::from_secs(1));
    assert_eq!(names(&watch), ["work"], "it was not woken");
}

#[test]
fn who_waits_for_a_signal_waits_as_long_as_it_takes_and_no_longer() {
    let (hands, watch) = watch();
    let (send, receive) = tokio::sync::oneshot::channel();
    let mut work = begun(&watch, async {
        let waiting = idle();
        let _ = receive.await;
        drop(waiting);
        pending::<()>().await;
    });
    hands.forward(100 * MINUTE);
    assert_eq!(names(&watch), [""; 0]);
    send.send(()).unwrap();
    assert!(poll(&mut work).is_pending());
    hands.forward(MINUTE);
    assert_eq!(names(&watch), [""; 0], "it has just begun to work");
    hands.forward(MINUTE);
    assert_eq!(names(&watch), ["work"]);
}

#[test]
fn a_sleep_that_is_given_up_excuses_nothing() {
    let (hands, watch) = watch();
    let clock: Arc<dyn Clock> = Arc::<Watch>::clone(&watch);
    let _work = begun(&watch, async move {
        drop(clock.sleep(1_000 * MINUTE));
        pending::<()>().await;
    });
    hands.forward(2 * MINUTE);
    assert_eq!(names(&watch), ["work"]);
}

#[test]
fn whoever_looks_at_the_clock_moves_and_a_neighbour_that_hangs_does_not_by_that() {
    let (hands, watch) = watch();
    let clock: Arc<dyn Clock> = Arc::<Watch>::clone(&watch);
    let looks = lane_that_looks(&clock);
    let mut both = Box::pin(watch.scope(None, async move {
        let (hangs, works) = (lane("hangs", pending::<()>()), lane("works", looks));
        tokio::join!(hangs, works);
    }));
    for _ in 0..3 {
        assert!(poll(&mut both).is_pending());
        hands.forward(MINUTE);
    }
    assert_eq!(names(&watch), ["hangs"]);
    let moved = watch.moved();
    assert_eq!(moved["works"] - moved["hangs"], chrono::TimeDelta::minutes(2));
}

fn lane_that_looks(clock: &Arc<dyn Clock>) -> impl Future<Output = ()> + use<> {
    let clock = Arc::clone(clock);
    std::future::poll_fn(move |_| {
        clock.now();
        Poll::Pending
    })
}

#[test]
fn a_task_of_its_own_moves_the_lane_that_began_it() {
    let (hands, watch) = watch();
    let clock: Arc<dyn Clock> = Arc::<Watch>::clone(&watch);
    let looks = lane_that_looks(&clock);
    let mut work = Box::pin(watch.scope(None, async {
        let mut task = None;
        lane("work", async { task = Some(inherited(looks)) }).await;
        lane("other", std::future::ready(())).await;
        task
    }));
    let Poll::Ready(Some(task)) = poll(&mut work) else { panic!("it waits for nothing") };
    let mut task = Box::pin(task);
    hands.forward(MINUTE);
    assert!(poll(&mut task).is_pending(), "its lane has ended, and nothing is broken by it");
}

#[test]
fn without_a_watch_everything_works_unwatched() {
    let (hands, _) = watch();
    let mut work = Box::pin(lane("work", async {
        let _waiting = idle();
        inherited(async { 7 }).await
    }));
    assert_eq!(poll(&mut work), Poll::Ready(7));
    assert_eq!(hands.monotonic(), Duration::ZERO);
}

#[test]
fn a_line_that_moves_is_no_stall_and_one_that_stands_still_stalls_all_in_it() {
    let (hands, watch) = watch();
    let line = Arc::<Line>::default();
    let in_line = async || {
        let _waiting = line.wait();
        pending::<()>().await;
    };
    // A lane of which other work waits without end, as requests do that nobody polls.
    let _first = begun(&watch, async {
        let _idle = idle();
        in_line().await;
    });
    let _second = begun(&watch, in_line());
    for _ in 0..10 {
        // Nothing watches the task that gets its turn here.
        line.moves();
        hands.forward(MINUTE);
        assert!(watch.stalled(MINUTE).is_empty(), "the line moves");
    }
    hands.forward(Duration::from_secs(1));
    assert_eq!(names(&watch), ["work", "work"]);
    // A lane that joins the line later has not waited for long.
    let late = begun(&watch, in_line());
    assert_eq!(names(&watch), ["work", "work"]);
    drop(late);
    line.moves();
    assert!(watch.stalled(MINUTE).is_empty());
}
