//! A store with its marketplace, its database and its ERP, in the test's own process.

use std::{path::Path, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use espelho_model::{Clock, StoreKey, clock::SystemClock, push::PushState};
use espelho_sandbox::{
    Control, Fault, FaultRule, JournalEntry, JournalQuery, NewOrder, Options as World, Sandbox, Spoil, start,
};
use espelho_store::{IntentKind, Store};
use espelho_sync_engine::{Options, StoreReport, push::PushOptions, reconcile};
use serde_json::Value;
use tokio::{net::TcpListener, sync::Notify, time::Interval};

use super::{
    clock::{SharedClock, TestClock},
    database::{Database, Kind, Tables},
    engine::{Engine, Parts, STORE, push_out},
    threads,
    truth::{Truth, text},
};

/// A test looks this often for what it waits for.
const LOOK: Duration = Duration::from_millis(1);
/// The clock moves no further than this before the test looks again: first a little, and twice as far each time while
/// nothing happens. On a machine under load the engine may be at work though nothing of it is seen.
const STRIDES: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(20)];
/// How long a test waits, in looks at which nothing happens.
const PATIENCE: usize = 100_000;

/// What a test begins with.
pub(crate) struct Setup {
    pub(crate) kind: Kind,
    pub(crate) world: World,
    pub(crate) push: PushOptions,
    /// Requests a minute.
    pub(crate) budget: u32,
    /// Whether label files are fetched.
    pub(crate) labels: bool,
}

/// The store and its surroundings.
pub(crate) struct Rig {
    pub(crate) sandbox: Sandbox,
    /// The marketplace's own contents.
    pub(crate) truth: Truth,
    /// The ERP's tables.
    pub(crate) tables: Tables,
    pub(crate) journal: Tables,
    pub(crate) parts: Parts,
    pub(crate) push: PushOptions,
    /// When the webhook's address was registered.
    pub(crate) address_since: Option<DateTime<Utc>>,
    /// Tells the engine that the ERP has written.
    pub(crate) written: Arc<Notify>,
    engine: Option<Engine>,
    /// `None` on PostgreSQL, where time is the machine's: its session must answer every second.
    clock: Option<Arc<TestClock>>,
    beats: Option<tokio::task::JoinHandle<()>>,
    database: Database,
    dir: tempfile::TempDir,
}

/// How a test looks on.
struct Looks {
    ticks: Interval,
    /// How many looks in a row saw nothing but waiting.
    calm: u32,
    /// How far the clock moves next, and the requests and the readings of the clock when it last moved.
    stride: Duration,
    moved_at: (u64, u64),
}

/// What a person decides about a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Release,
    Retry,
    Ignore,
}

/// A product with stock in one location.
#[derive(Clone, Debug)]
pub(crate) struct Goods {
    pub(crate) id: String,
    pub(crate) sku: String,
    pub(crate) location: String,
    pub(crate) quantity: i64,
}

impl Setup {
    pub(crate) fn on(kind: Kind) -> Self {
        let world = World { orders: 0, products: 12, ..World::default() };
        Self { kind, world, push: PushOptions::default(), budget: 60_000, labels: false }
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Starts the marketplace and opens the database; nothing is mirrored yet.
    pub(crate) async fn open(self) -> Rig {
        let dir = folder();
        let machine = SystemClock::shared();
        let clock = (self.kind == Kind::Sqlite).then(|| TestClock::starting_at(machine.now()));
        let shared: Arc<dyn Clock> = match &clock {
            Some(clock) => Arc::new(SharedClock(Arc::clone(clock))),
            None => machine,
        };
        let database = Database::create(self.kind, dir.path()).await;
        let store = Store::open(database.url(), Arc::clone(&shared)).await.unwrap();
        let watched = store.clone();
        let beats = (self.kind == Kind::Postgres)
            .then(|| tokio::spawn(async move { watched.leases().watch_over_leases().await }));
        let now = clock.clone().map(|clock| -> espelho_sandbox::Now { Arc::new(move || clock.wall()) });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let sandbox = start(listener, World { rate: None, now, ..self.world }).await.unwrap();
        let control = sandbox.control();
        let truth = Truth::of(&sandbox, &control, &sandbox.stores().remove(0).key).await;
        let mut parts = Parts::new(store, shared);
        parts.budget = self.budget;
        if self.labels {
            parts.fetch_labels(dir.path());
        }
        let push = PushOptions { files: dir.path().to_path_buf(), ..self.push };
        Rig {
            truth,
            sandbox,
            tables: database.tables().await,
            journal: database.journal().await,
            parts,
            push,
            address_since: Some(DateTime::UNIX_EPOCH),
            written: Arc::default(),
            engine: None,
            clock,
            beats,
            database,
            dir,
        }
    }

    /// The same, with everything mirrored and the ERP's intents carried out from now on.
    pub(crate) async fn start(self) -> Rig {
        let mut rig = self.open().await;
        let report = rig.reconcile(&Options { kind: "manual", ..Options::default() }).await;
        assert!(report.problems().next().is_none(), "{report:?}");
        rig.start().await;
        rig
    }
}

impl Rig {
    /// A small store on which the ERP's intents are carried out.
    pub(crate) async fn on(kind: Kind) -> Self {
        Setup::on(kind).start().await
    }

    pub(crate) fn control(&self) -> Control {
        self.sandbox.control()
    }

    /// The store's name at the marketplace.
    pub(crate) fn key(&self) -> String {
        self.sandbox.stores().remove(0).key
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Spoils answers of a route.
    pub(crate) fn fault(&self, route: &str, times: impl Into<Option<u32>>, kind: Fault) {
        self.control().faults().add(FaultRule { route: route.into(), times: times.into(), kind });
    }

    /// Lets answers of a route lie about one order, product or other key: another value in one place, or no field.
    pub(crate) fn lie(&self, route: &str, at: &str, value: Option<Value>, key: &str) {
        self.fault(route, None, Fault::Spoil(Spoil { at: at.into(), value, key: Some(key.into()) }));
    }

    /// Reconciles once, beside no engine.
    pub(crate) async fn reconcile(&self, options: &Options) -> StoreReport {
        let context = self.parts.context(&self.sandbox).await;
        self.done(reconcile(&context, options)).await
    }

    /// Reads the marketplace into the mirror while the engine rests.
    pub(crate) async fn mirror_again(&mut self) {
        let was_running = self.engine.is_some();
        if was_running {
            self.stop().await;
        }
        self.reconcile(&Options { deep: true, kind: "manual", ..Options::default() }).await;
        if was_running {
            self.start().await;
        }
    }

    /// Starts to carry out the ERP's intents.
    pub(crate) async fn start(&mut self) {
        let context = self.parts.context(&self.sandbox).await;
        let written = Arc::clone(&self.written);
        self.engine = Some(Engine::pushing(context, self.push.clone(), written));
    }

    /// Starts another engine.
    pub(crate) fn run(&mut self, engine: Engine) {
        assert!(self.engine.replace(engine).is_none(), "one engine at a time");
    }

    /// Starts an engine that is dropped at the await point after so many readings of the clock.
    pub(crate) async fn start_mortal(&mut self, readings: u64) {
        let context = self.parts.context(&self.sandbox).await;
        let work = push_out(context, self.push.clone(), Arc::clone(&self.written));
        let clock = Arc::clone(self.clock.as_ref().expect("time is the test's on SQLite only"));
        self.engine = Some(Engine::mortal(clock, readings, work));
    }

    /// Waits until the engine is dead, or until a condition holds; returns whether it is dead.
    pub(crate) async fn dies_before(&mut self, mut condition: impl AsyncFnMut(&Self) -> bool) -> bool {
        let mut looks = Looks::new();
        loop {
            if self.engine.as_ref().is_some_and(Engine::is_finished) {
                self.engine = None;
                return true;
            }
            if condition(self).await {
                return false;
            }
            self.look(&mut looks).await;
        }
    }

    /// Drops the engine wherever it waits.
    pub(crate) async fn kill(&mut self) {
        self.engine.take().unwrap().kill().await;
    }

    /// Asks the engine to end, and waits until it has.
    pub(crate) async fn stop(&mut self) {
        let engine = self.engine.take().unwrap();
        engine.ask_to_stop();
        let problem = self.done(engine.ended()).await;
        assert!(problem.is_none(), "{problem:?}");
    }

    /// Waits for work of the test's own, while time passes.
    pub(crate) async fn done<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        let mut looks = Looks::new();
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = self.look(&mut looks) => (),
            }
        }
    }

    /// Waits for a moment. Where nothing happens but waiting, the clock moves to what is due next: no request is under
    /// way, nobody reads the clock, and no thread of a database is or was at work.
    async fn look(&self, looks: &mut Looks) {
        if self.is_calm(looks).await {
            self.move_on(looks);
        }
    }

    async fn is_calm(&self, looks: &mut Looks) -> bool {
        let before = self.activity();
        looks.ticks.tick().await;
        self.control().forward(0);
        // The turns are counted after the threads were seen to wait: a thread that ran meanwhile has had one.
        let all_wait = self.clock.is_none() || threads::all_wait();
        let now = self.activity();
        let is_still = all_wait && now == before && now.0 == 0;
        looks.calm = if is_still { looks.calm + 1 } else { 0 };
        let is_calm = looks.calm > 1;
        if is_calm {
            looks.calm = 0;
        }
        is_calm
    }

    /// Requests under way, requests so far, readings of the clock, turns of the databases' threads.
    fn activity(&self) -> (u64, u64, u64, u64) {
        let stats = self.sandbox.stats();
        let answered: u64 = stats.by_status.values().sum();
        let readings = self.clock.as_ref().map_or(0, |clock| clock.readings());
        let turns = self.clock.as_ref().map_or(0, |_| threads::turns());
        (stats.requests.saturating_sub(answered), stats.requests, readings, turns)
    }

    fn move_on(&self, looks: &mut Looks) {
        let Some(clock) = &self.clock else { return };
        let (_, requests, readings, _) = self.activity();
        let [first, longest] = STRIDES;
        let is_idle = looks.moved_at == (requests, readings);
        looks.stride = if is_idle { (looks.stride * 2).min(longest) } else { first };
        looks.moved_at = (requests, readings);
        clock.move_on(looks.stride);
    }

    /// Waits until a condition holds, while time passes.
    pub(crate) async fn until(&self, what: &str, mut condition: impl AsyncFnMut() -> bool) {
        let mut looks = Looks::new();
        for _ in 0..PATIENCE {
            if condition().await {
                return;
            }
            let has_ended = self.engine.as_ref().is_some_and(Engine::is_finished);
            assert!(!has_ended, "the engine ended before {what}");
            self.look(&mut looks).await;
        }
        panic!("it did not come to pass that {what}; {}", self.open_work().await);
    }

    /// Says what the ERP's rows wait for.
    async fn open_work(&self) -> String {
        let commands = "SELECT id || ' ' || kind || ' ' || state || ' ' || COALESCE(error, '') AS c FROM commands \
            WHERE state <> 'done' OR id >= (SELECT max(id) FROM commands)";
        let errors = "SELECT entity || ' ' || code || ' ' || error AS e FROM v_errors";
        format!("open commands: {:?}; errors: {:?}", self.ask(commands).await, self.ask(errors).await)
    }

    /// Lets time pass, in which the engine does what becomes due.
    pub(crate) async fn pass(&self, duration: Duration) {
        let clock = self.clock.as_ref().expect("time is the test's on SQLite only");
        let (end, mut looks) = (clock.elapsed() + duration, Looks::new());
        loop {
            while !self.is_calm(&mut looks).await {}
            if clock.elapsed() >= end {
                return;
            }
            clock.move_towards(end);
        }
    }

    /// Lets time pass at once: whoever waits, wakes after it.
    pub(crate) fn leap(&self, duration: Duration) {
        self.clock.as_ref().expect("time is the test's on SQLite only").leap(duration);
    }

    /// Returns how much time has passed since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.parts.clock.monotonic()
    }

    /// Returns the first column of a query.
    pub(crate) async fn ask(&self, sql: &str) -> Vec<String> {
        self.tables.ask(sql).await
    }

    /// Opens another connection of the ERP.
    pub(crate) async fn second_connection(&self) -> Tables {
        self.database.tables().await
    }

    /// Writes as the ERP does, and tells the engine.
    pub(crate) async fn write(&self, sql: &str) {
        self.tables.execute(sql).await;
        self.written.notify_one();
    }

    /// Waits until the rows of a query match.
    pub(crate) async fn shown(&self, sql: &str, wanted: impl Fn(&[String]) -> bool) -> Vec<String> {
        let (mut rows, mut looks) = (Vec::new(), Looks::new());
        for _ in 0..PATIENCE {
            rows = self.ask(sql).await;
            if wanted(&rows) {
                return rows;
            }
            let has_ended = self.engine.as_ref().is_some_and(Engine::is_finished);
            assert!(!has_ended, "the engine ended; {sql}: {rows:?}");
            self.look(&mut looks).await;
        }
        panic!("{sql}: {rows:?}; {}", self.open_work().await);
    }

    /// Decides about a row as a person does: releases it past the guards, or opens it again, or ignores it.
    pub(crate) async fn decide(&self, kind: IntentKind, key: &str, decision: Decision) {
        let state = if decision == Decision::Ignore { PushState::Ignored } else { PushState::New };
        let store = StoreKey::new(STORE).unwrap();
        let lifts_guards = decision == Decision::Release;
        let releases = self.parts.store.releases();
        let row = releases.seen_row(store.as_str(), kind, key).await.unwrap();
        let row = row.unwrap_or_else(|| panic!("there is no row {key}"));
        let found = releases.decide(&row, state, lifts_guards).await.unwrap();
        assert!(found, "there is no row {key} to decide about");
        self.written.notify_one();
    }

    pub(crate) async fn set_stock(&self, goods: &Goods, quantity: &str) {
        let Goods { sku, location, .. } = goods;
        self.write(&format!(
            "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('{STORE}', '{sku}', '{location}', {quantity}) \
             ON CONFLICT (store, sku, location_id) DO UPDATE SET quantity = excluded.quantity"
        ))
        .await;
    }

    pub(crate) async fn set_price(&self, sku: &str, min_quantity: u32, price: &str) {
        self.write(&format!(
            "INSERT INTO erp_prices (store, sku, min_quantity, price) VALUES ('{STORE}', '{sku}', {min_quantity}, {price}) \
             ON CONFLICT (store, sku, min_quantity) DO UPDATE SET price = excluded.price"
        ))
        .await;
    }

    /// Writes a command; returns its number.
    pub(crate) async fn give(&self, kind: &str, key: &str, data: &Value) -> i64 {
        let data = data.to_string().replace('\'', "''");
        self.write(&format!(
            "INSERT INTO commands (store, kind, key, data) VALUES ('{STORE}', '{kind}', '{key}', '{data}')"
        ))
        .await;
        self.ask("SELECT CAST(max(id) AS TEXT) AS id FROM commands").await[0].parse().unwrap()
    }

    /// Waits until a command's state matches; returns state, code, error and hint.
    pub(crate) async fn outcome(&self, id: i64, wanted: impl Fn(&str) -> bool) -> [String; 4] {
        let sql = format!(
            "SELECT state || '|' || COALESCE(error_code, '') || '|' || COALESCE(error, '') || '|' || COALESCE(hint, '') \
             FROM commands WHERE id = {id}"
        );
        let is_there =
            |rows: &[String]| rows.first().is_some_and(|row| wanted(row.split('|').next().unwrap()));
        let row = self.shown(&sql, is_there).await.remove(0);
        let mut words = row.splitn(4, '|').map(str::to_owned);
        std::array::from_fn(|_| words.next().unwrap())
    }

    /// Writes a command and waits until it is over.
    pub(crate) async fn command(&self, kind: &str, key: &str, data: &Value) -> [String; 4] {
        let id = self.give(kind, key, data).await;
        self.outcome(id, |state| !["new", "waiting", "sending"].contains(&state)).await
    }

    /// Places a paid order for one unit of a product.
    pub(crate) fn sell(&self, workflow: &str, sku: &str) -> String {
        let order = NewOrder { lines: vec![(sku.to_owned(), 1)], ..NewOrder::of(workflow) };
        self.control().orders().place(&self.key(), order)
    }

    /// Returns products with stock in one location, in whole units.
    pub(crate) async fn goods(&self) -> Vec<Goods> {
        let sql = "SELECT p.id || '|' || p.sku || '|' || s.location_id || '|' || CAST(s.quantity AS TEXT) AS g FROM products p \
            JOIN product_stock s ON s.store = p.store AND s.sku = p.sku WHERE p.gone_at IS NULL AND p.base_unit IN ('un', 'pc', 'cx') \
            AND CAST(s.quantity AS NUMERIC) >= 5 ORDER BY p.sku";
        let goods = |row: &String| {
            let [id, sku, location, quantity] = row.split('|').collect::<Vec<_>>()[..] else {
                panic!("{row}")
            };
            let quantity = quantity.parse::<f64>().unwrap() as i64;
            Goods { id: id.into(), sku: sku.into(), location: location.into(), quantity }
        };
        self.ask(sql).await.iter().map(goods).collect()
    }

    /// Returns the stock of a location, as the marketplace reports it.
    pub(crate) async fn stock_of(&self, goods: &Goods) -> i64 {
        let stock = self.truth.data(&format!("/api/products/{}/stock", goods.id)).await;
        let rows = stock["stocks"].as_array().unwrap();
        let is_there = |row: &&Value| {
            [&row["location_stock"]["location_id"], &row["location_stock"], &row["location_id"]]
                .iter()
                .any(|place| text(place) == goods.location)
        };
        rows.iter().find(is_there).unwrap_or(&rows[0])["quantity"].as_f64().unwrap() as i64
    }

    /// Returns the engine's requests to paths that contain `part`, without reads and logins.
    pub(crate) fn writes(&self, part: &str) -> Vec<JournalEntry> {
        let is_write =
            |entry: &JournalEntry| entry.method != "GET" && !entry.path.contains("/integration/auth");
        self.requests(part).into_iter().filter(is_write).collect()
    }

    /// Returns all requests to paths that contain `part`.
    pub(crate) fn requests(&self, part: &str) -> Vec<JournalEntry> {
        self.control().journal(&JournalQuery { path: Some(part.to_owned()), ..JournalQuery::default() })
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        if let Some(beats) = self.beats.take() {
            beats.abort();
        }
    }
}

/// A folder in memory where there is one: what survives on a disk is shown end to end.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

impl Looks {
    fn new() -> Self {
        let mut ticks = tokio::time::interval(LOOK);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        Self { ticks, calm: 0, stride: STRIDES[0], moved_at: (0, 0) }
    }
}

/// The answer is lost, and the work is done.
pub(crate) fn cut_after() -> Fault {
    Fault::ResetAfter
}

/// The answer is lost, and nothing is done.
pub(crate) fn cut_before() -> Fault {
    Fault::ResetBefore
}

/// A refusal of the API, with the code that its document gives the status.
pub(crate) fn refused_with(code: u16, message_code: &str) -> Fault {
    let body = serde_json::json!({
        "success": false, "code": code, "message_code": message_code, "description": "recusado",
        "data": [], "errors": [], "meta": [],
    });
    Fault::Status {
        code,
        body: body.to_string().into_bytes(),
        content_type: "application/json".into(),
        headers: Vec::new(),
    }
}
