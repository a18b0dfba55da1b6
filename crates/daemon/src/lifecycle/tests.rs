//! The service in this process, with a clock that can jump forward and can break a lane that reads it.

use std::{
    net::SocketAddr,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use chrono::{DateTime, Utc};
use espelho_model::{
    Clock,
    clock::{Sleep, SystemClock},
    watch,
};
use espelho_sync_engine::Silent;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{config, panics::tests::ALONE};

/// The machine's clock, with two controls.
struct TestClock {
    clock: Arc<dyn Clock>,
    ahead: AtomicU64,
    /// The lane that panics at its next read of the clock.
    breaks: Mutex<Option<&'static str>>,
}

impl TestClock {
    fn new(breaks: Option<&'static str>) -> Arc<Self> {
        Arc::new(Self { clock: SystemClock::shared(), ahead: AtomicU64::new(0), breaks: Mutex::new(breaks) })
    }

    fn ahead(&self) -> Duration {
        let mut breaks = self.breaks.lock().unwrap();
        if breaks.is_some() && *breaks == watch::name() {
            *breaks = None;
            drop(breaks);
            panic!("injected");
        }
        Duration::from_secs(self.ahead.load(Ordering::Relaxed))
    }
}

impl Clock for TestClock {
    fn now(&self) -> DateTime<Utc> {
        self.clock.now() + self.ahead()
    }

    fn monotonic(&self) -> Duration {
        self.clock.monotonic() + self.ahead()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        self.ahead();
        self.clock.sleep(duration)
    }
}

/// A service of one store, whose marketplace accepts connections and never answers.
struct World {
    clock: Arc<TestClock>,
    store: espelho_store::Store,
    stop: CancellationToken,
    pages: SocketAddr,
    webhooks: SocketAddr,
    service: JoinHandle<Result<(), Problem>>,
    asked: tokio::sync::mpsc::UnboundedReceiver<tokio::net::TcpStream>,
    /// Held before the service starts.
    lease: Option<espelho_store::Lease>,
    _dir: tempfile::TempDir,
}

impl World {
    async fn with(clock: Arc<TestClock>, panics: Panics) -> Self {
        Self::held_by(None, clock, panics).await
    }

    /// The same, with the store's lease in other hands.
    async fn held_by(holder: Option<&str>, clock: Arc<TestClock>, panics: Panics) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (tell, asked) = tokio::sync::mpsc::unbounded_channel();
        let marketplace = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}", marketplace.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((connection, _)) = marketplace.accept().await {
                let _ = tell.send(connection);
            }
        });
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("stores")).unwrap();
        let database = dir.path().join("espelho.db");
        let write = |name: &str, text: String| std::fs::write(dir.path().join(name), text).unwrap();
        write("espelho.toml", format!("[database]\nurl = \"sqlite:{}\"\n", database.display()));
        write(
            "stores/loja.toml",
            format!(
                "environment = \"sandbox\"\nbase_url = \"{base_url}\"\n[credentials]\nusername = \"a@b\"\npassword = \"c\"\n\
                 [webhook]\npublic_url = \"http://127.0.0.1:1/webhooks/loja\"\n"
            ),
        );
        let configuration = config::load(dir.path()).unwrap();
        let stop = CancellationToken::new();
        let read_by: Arc<dyn Clock> = Arc::<TestClock>::clone(&clock);
        let shared =
            Shared::open_by(read_by, &configuration, "test", Arc::new(Silent), stop.clone()).await.unwrap();
        let store = shared.store.clone();
        let key = StoreKey::new("loja").unwrap();
        let lease = match holder {
            Some(owner) => Some(store.leases().acquire_now(&key, owner).await.unwrap()),
            None => None,
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let receiver = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (pages, webhooks) = (listener.local_addr().unwrap(), receiver.local_addr().unwrap());
        let outside = Outside { panics, reloads: None };
        let service = Service::new(shared, configuration).run(listener, Some((receiver, None)), outside);
        Self { clock, store, stop, pages, webhooks, service: tokio::spawn(service), asked, lease, _dir: dir }
    }

    async fn livez(&self) -> String {
        self.get("/livez").await
    }

    async fn get(&self, path: &str) -> String {
        let mut connection = tokio::net::TcpStream::connect(self.pages).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        connection.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).await.unwrap();
        answer
    }
}

// withstands: F112
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lane_that_hangs_is_named_and_the_service_is_no_longer_alive() {
    let mut world = World::with(TestClock::new(None), Panics::default()).await;
    // The first login waits for an answer that does not come.
    let connection = world.asked.recv().await.unwrap();
    assert!(world.livez().await.starts_with("HTTP/1.1 200"));
    world.clock.ahead.store(61, Ordering::Relaxed);
    let mut answer = world.livez().await;
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    let hanging = |answer: &str| answer.lines().filter(|line| line.starts_with("[-]")).count();
    // A lane that was at work when the clock jumped makes progress.
    for _ in 0..1_000 {
        if hanging(&answer) > 1 {
            answer = world.livez().await;
        }
    }
    assert_eq!(hanging(&answer), 1, "the others wait, and rightly so: {answer}");
    assert!(answer.contains("[-] store loja: lane "), "{answer}");
    // The login fails, and is tried again: that is progress.
    drop(connection);
    world.asked.recv().await.unwrap();
    assert!(world.livez().await.starts_with("HTTP/1.1 200"));
    world.service.abort();
}

// withstands: F113
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_in_a_lane_of_the_service_ends_it_with_an_error_that_says_where() {
    let _alone = ALONE.lock().await;
    for lane in ["owner", "receiver"] {
        let world = World::with(TestClock::new(Some(lane)), Panics::listen()).await;
        let _delivery = tokio::net::TcpStream::connect(world.webhooks).await;
        // The marketplace goes away, so that nothing waits for it at the end.
        drop(world.asked);
        let problem = world.service.await.unwrap().unwrap_err();
        assert!(
            problem.error.starts_with("A task of espelho failed: “injected ("),
            "{lane}: {}",
            problem.error
        );
        assert_eq!(problem.trouble, Trouble::Failure);
    }
}

// withstands: F113, F150
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_in_a_lane_of_a_store_is_shown_with_its_place_and_restarts_that_store_alone() {
    let _alone = ALONE.lock().await;
    for lane in ["inbox", "hinted", "swept", "sweep", "reconcile"] {
        let world = World::with(TestClock::new(Some(lane)), Panics::listen()).await;
        // The marketplace goes away, so that nothing waits for it.
        drop(world.asked);
        let shown = async {
            loop {
                let groups = world.store.overview().rows_in_trouble().await.unwrap();
                if let Some(group) = groups.into_iter().find(|group| group.entity == "service") {
                    return group;
                }
                tokio::task::yield_now().await;
            }
        };
        let shown = tokio::time::timeout(Duration::from_secs(20), shown).await;
        let shown = shown.unwrap_or_else(|_| panic!("{lane}: nothing is shown"));
        assert_eq!(
            (shown.code.as_str(), shown.key.contains("lifecycle/tests.rs:")),
            ("panicked", true),
            "{lane}"
        );
        assert!(!shown.error.contains("injected"), "{lane}: no words of the panic: {}", shown.error);
        assert!(!world.service.is_finished(), "{lane}");
        world.stop.cancel();
        world.service.await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_address_of_a_socket_that_is_used_in_place_of_the_configured_one_is_shown() {
    let mut world = World::with(TestClock::new(None), Panics::default()).await;
    // The work on the store has begun: the receiver begins at the same time.
    let _held = world.asked.recv().await.unwrap();
    let _delivery = tokio::net::TcpStream::connect(world.webhooks).await.unwrap();
    let shown = format!("\"webhook_socket\":\"{}\"", world.webhooks);
    let is_shown = async { while !world.get("/status").await.contains(&shown) {} };
    tokio::time::timeout(Duration::from_secs(20), is_shown).await.unwrap();
    world.service.abort();
}

// withstands: F115
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_is_asked_to_stop_ends_well_though_the_marketplace_says_nothing() {
    let mut world = World::with(TestClock::new(None), Panics::default()).await;
    let _held = world.asked.recv().await.unwrap();
    world.stop.cancel();
    world.service.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_waits_for_the_store_that_a_command_holds_and_works_once_it_is_free() {
    let doctor = Some("espelho doctor (process 1 on a)");
    let mut world = World::held_by(doctor, TestClock::new(None), Panics::default()).await;
    assert!(world.livez().await.starts_with("HTTP/1.1 200"));
    assert!(!world.service.is_finished());
    drop(world.lease.take());
    // The work on the store begins with a login.
    let _held = world.asked.recv().await.unwrap();
    world.stop.cancel();
    world.service.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_does_not_wait_for_the_store_that_another_service_holds() {
    let other = Some("espelho run (process 1 on a)");
    let world = World::held_by(other, TestClock::new(None), Panics::default()).await;
    let problem = world.service.await.unwrap().unwrap_err();
    assert!(problem.is_lost(), "{}", problem.error);
}

#[tokio::test]
async fn a_service_that_is_told_to_stop_while_it_takes_its_stores_takes_no_more_of_them() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("stores")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    let url = dir.path().join("espelho.db");
    write("espelho.toml", &format!("[database]\nurl = \"sqlite:{}\"\n", url.display()));
    for n in 0..40 {
        let text = format!(
            "environment = \"sandbox\"\nbase_url = \"http://127.0.0.1:1\"\n[credentials]\nusername = \"a{n}@b\"\n\
             password = \"c\"\n"
        );
        write(&format!("stores/loja-{n}.toml"), &text);
    }
    let configuration = config::load(dir.path()).unwrap();
    let stop = CancellationToken::new();
    let clock: Arc<dyn Clock> = TestClock::new(None);
    let shared =
        Shared::open_by(clock, &configuration, "test", Arc::new(Silent), stop.clone()).await.unwrap();
    let mut stores = Stores::new(&shared, &Arc::default());
    stop.cancel();
    stores.begin(&configuration).await.unwrap();
    stores.ended().await;
    assert!(shared.store.overview().overview(None).await.unwrap().is_empty(), "no store was ever taken");
}

#[test]
fn a_panic_is_the_reason_of_the_end_before_a_stop_that_was_asked_for_and_that_before_what_it_ended() {
    let ended = || End::Ended(text!("run-ended-server"));
    let panicked = || End::Panicked("x".to_owned());
    for (seen, said, is_asked, expected) in [
        (ended(), None, false, ended()),
        (ended(), None, true, End::Asked),
        (End::Disk, None, true, End::Asked),
        (End::Asked, None, true, End::Asked),
        (ended(), Some("x"), false, panicked()),
        (End::Asked, Some("x"), true, panicked()),
    ] {
        let said = said.map(str::to_owned);
        assert_eq!(seen.settled(said.as_ref(), is_asked), expected);
    }
}
