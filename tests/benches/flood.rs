//! The webhook receiver of the installed binary under a flood.
//!
//! `cargo bench -p espelho-tests --bench flood -- [--seconds 60] [--rate 5000] [--kills 20] [--stalled 10000]
//! [--connections 128] [--database URL] [--receivers 1] [--erp 0]`. First a flood of signed deliveries at a steady rate; then the same with
//! repeated `kill -9` and restart; then stalled sockets beside real deliveries. Latency counts from the time at which
//! a delivery was due, not from when it could be sent. The database is SQLite in a temporary folder unless
//! `--database` names one, which must be empty. `--receivers N` sends to N processes over one database, and `--erp N`
//! lets an ERP write N levels a second meanwhile, a transaction each (both PostgreSQL only).
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop where it is")]

use std::{
    collections::HashSet,
    fs,
    net::SocketAddr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use hmac::{Hmac, KeyInit as _, Mac as _};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{Instant, sleep_until},
};

mod support;
use support::{Marketplace, Shop, argument};

const SECRET: &str = "whsec_flood";

fn number(name: &str, default: u64) -> u64 {
    argument(name).map_or(default, |text| text.parse().unwrap())
}

fn main() {
    let (seconds, rate) = (number("--seconds", 60), number("--rate", 5_000));
    let (kills, stalled) = (number("--kills", 20), number("--stalled", 10_000));
    let connections = number("--connections", 128);
    let marketplace = Marketplace::start(&["--orders", "50", "--products", "10", "--rate", "off"]);
    let mut service = Service::prepare(&marketplace);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    println!(
        "{:<22} {:>9} {:>8} {:>7} {:>7} {:>7} {:>7} {:>9} {:>9} {:>6} {:>8}",
        "",
        "acked",
        "acked/s",
        "p50 ms",
        "p99 ms",
        "p99.9",
        "max ms",
        "refused",
        "cut off",
        "lost",
        "peak MiB"
    );
    let (receivers, erp_rate) = (number("--receivers", 1), number("--erp", 0));
    // Each has its own folder and port; they share the store and `--database`.
    let mut others: Vec<Service> = (1..receivers).map(|_| Service::prepare(&marketplace)).collect();
    service.start();
    others.iter_mut().for_each(Service::start);
    let all = std::iter::once(&service).chain(&others);
    let addresses: &'static [SocketAddr] = all.map(|one| one.address).collect::<Vec<_>>().leak();
    for address in addresses {
        while runtime.block_on(ask(*address, &mut None, &request("warm-up"))) != Some(200) {
            std::thread::sleep(Duration::from_millis(100));
        }
    }
    let plan = Plan { addresses, rate, connections, seconds };
    let database = service.database.clone();
    let (plain, erp) = runtime.block_on(async {
        tokio::join!(flood(plan, "plain", None), write_as_erp(database, erp_rate, seconds))
    });
    plain.print("flood", &service, runtime.block_on(service.missing(&plain.acked)));
    if erp_rate > 0 {
        println!(
            "  ERP: {} commits, p50 {:.1} ms, p99 {:.1} ms; waits for the notification lock: {} in {} looks",
            erp.commits.len(),
            milliseconds(&erp.commits, 0.5),
            milliseconds(&erp.commits, 0.99),
            erp.waits,
            erp.looks
        );
    }
    others.iter_mut().for_each(Service::kill);
    if kills > 0 {
        let (name, done) = (format!("flood, {kills} kills"), Arc::new(AtomicBool::new(false)));
        let (killed, service_back) = std::thread::scope(|scope| {
            let killing = scope.spawn(|| kill_again_and_again(&mut service, kills, seconds, &done));
            let flooded = runtime.block_on(flood(plan, "killed", Some(Arc::clone(&done))));
            (flooded, killing.join().unwrap())
        });
        killed.print(&name, &service, runtime.block_on(service.missing(&killed.acked)));
        println!("  back after a kill (ms): {service_back:?}");
    }
    if stalled > 0 {
        service.kill();
        service.start();
        runtime.block_on(stall(service.address, stalled, seconds.min(30)));
        println!("{:<22} {:>92}", "  peak MiB", service.peak());
    }
}

/// `espelho run` with a configuration of its own.
struct Service {
    scratch: tempfile::TempDir,
    database: String,
    address: SocketAddr,
    child: Option<Child>,
}

impl Service {
    fn prepare(marketplace: &Marketplace) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let file = format!("sqlite:{}", scratch.path().join("flood.db").display());
        let database = argument("--database").unwrap_or(file);
        // What an ERP writes is pushed within the budget of a shop, so that the marketplace does not take the cores.
        let budget = if number("--erp", 0) > 0 { 300 } else { 1_000_000 };
        Shop::write(scratch.path(), marketplace, &database, budget);
        let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let installation = format!(
            "[database]\nurl = \"{database}\"\n[http]\nlisten = \"127.0.0.1:0\"\n[webhooks]\nlisten = \"{address}\"\n"
        );
        fs::write(scratch.path().join("espelho.toml"), installation).unwrap();
        let store = only_file(&scratch.path().join("stores"));
        let text = fs::read_to_string(&store).unwrap();
        let webhook = "\n[webhook]\npublic_url = \"http://127.0.0.1/\"\nsecret_file = \"flood.whsec\"\n";
        fs::rename(&store, scratch.path().join("stores/flood.toml")).unwrap();
        fs::write(scratch.path().join("stores/flood.toml"), text + webhook).unwrap();
        let secret = scratch.path().join("stores/flood.whsec");
        fs::write(&secret, SECRET).unwrap();
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
        Self { scratch, database, address, child: None }
    }

    fn start(&mut self) {
        let mut command = Command::new(support::espelho());
        command.arg("--config").arg(self.scratch.path()).arg("run").env("ESPELHO_LOG", "error");
        self.child = Some(command.stdout(Stdio::null()).spawn().unwrap());
        while std::net::TcpStream::connect(self.address).is_err() {
            assert!(self.child.as_mut().unwrap().try_wait().unwrap().is_none(), "the service has ended");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Returns the peak memory of this process, in MiB.
    fn peak(&self) -> u64 {
        let id = self.child.as_ref().unwrap().id();
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1_024
    }

    /// Returns how many of these are missing from the inbox.
    async fn missing(&self, acked: &HashSet<String>) -> usize {
        use sqlx::Row as _;
        let sql = "SELECT body FROM webhook_inbox";
        let bodies: Vec<Vec<u8>> = match self.database.strip_prefix("sqlite:") {
            Some(file) => {
                use sqlx::ConnectOptions as _;
                let options = sqlx::sqlite::SqliteConnectOptions::new().filename(format!("{file}-inbox"));
                let mut connection = options.connect().await.unwrap();
                sqlx::query(sql)
                    .fetch_all(&mut connection)
                    .await
                    .unwrap()
                    .iter()
                    .map(|row| row.get(0))
                    .collect()
            }
            None => {
                use sqlx::Connection as _;
                let mut connection = sqlx::PgConnection::connect(&self.database).await.unwrap();
                sqlx::query(sql)
                    .fetch_all(&mut connection)
                    .await
                    .unwrap()
                    .iter()
                    .map(|row| row.get(0))
                    .collect()
            }
        };
        let kept: HashSet<&str> = bodies.iter().filter_map(|body| order_number(body)).collect();
        acked.iter().filter(|number| !kept.contains(number.as_str())).count()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if self.child.is_some() {
            self.kill();
        }
    }
}

fn only_file(folder: &Path) -> PathBuf {
    fs::read_dir(folder).unwrap().next().unwrap().unwrap().path()
}

/// Kills the service evenly over the time; returns how long each restart took to listen again, in ms.
fn kill_again_and_again(service: &mut Service, kills: u64, seconds: u64, done: &AtomicBool) -> Vec<u128> {
    let pause = Duration::from_secs(seconds) / u32::try_from(kills + 1).unwrap();
    let mut back = Vec::new();
    for _ in 0..kills {
        std::thread::park_timeout(pause);
        let at = Instant::now();
        service.kill();
        service.start();
        back.push(at.elapsed().as_millis());
    }
    done.store(true, Ordering::SeqCst);
    back
}

#[derive(Clone, Copy)]
struct Plan {
    addresses: &'static [SocketAddr],
    rate: u64,
    connections: u64,
    seconds: u64,
}

#[derive(Default)]
struct Flooded {
    acked: HashSet<String>,
    latencies: Vec<Duration>,
    refused: u64,
    cut_off: u64,
    took: Duration,
}

impl Flooded {
    fn print(&self, what: &str, service: &Service, lost: usize) {
        let at = |share: f64| milliseconds(&self.latencies, share);
        let rate = self.acked.len() as f64 / self.took.as_secs_f64();
        println!(
            "{what:<22} {:>9} {rate:>8.0} {:>7.1} {:>7.1} {:>7.1} {:>7.1} {:>9} {:>9} {lost:>6} {:>8}",
            self.acked.len(),
            at(0.5),
            at(0.99),
            at(0.999),
            at(1.0),
            self.refused,
            self.cut_off,
            service.peak()
        );
    }
}

fn milliseconds(sorted: &[Duration], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * share) as usize).map_or(f64::NAN, |latency| latency.as_secs_f64() * 1_000.0)
}

/// Sends deliveries at a steady rate over kept connections, until the time is over, or until `until` is set if that
/// is later.
async fn flood(plan: Plan, name: &'static str, until: Option<Arc<AtomicBool>>) -> Flooded {
    let began = Instant::now() + Duration::from_millis(100);
    let tasks = (0..plan.connections).map(|n| tokio::spawn(deliver(plan, name, n, began, until.clone())));
    let mut all = Flooded::default();
    for task in tasks.collect::<Vec<_>>() {
        let one = task.await.unwrap();
        all.acked.extend(one.acked);
        all.latencies.extend(one.latencies);
        all.refused += one.refused;
        all.cut_off += one.cut_off;
    }
    all.took = began.elapsed();
    all.latencies.sort();
    all
}

async fn deliver(
    plan: Plan,
    name: &str,
    connection: u64,
    began: Instant,
    until: Option<Arc<AtomicBool>>,
) -> Flooded {
    let mut flooded = Flooded::default();
    let mut talk = None;
    let over = |due: Duration| {
        due >= Duration::from_secs(plan.seconds)
            && until.as_ref().is_none_or(|done| done.load(Ordering::SeqCst))
    };
    for turn in 0.. {
        let due = Duration::from_secs_f64((turn * plan.connections + connection) as f64 / plan.rate as f64);
        if over(due) {
            break;
        }
        sleep_until(began + due).await;
        let number = format!("{name}-{connection}-{turn}");
        let address = plan.addresses[connection as usize % plan.addresses.len()];
        match ask(address, &mut talk, &request(&number)).await {
            Some(200) => {
                flooded.latencies.push((began + due).elapsed());
                flooded.acked.insert(number);
            }
            Some(_) => flooded.refused += 1,
            None => flooded.cut_off += 1,
        }
    }
    flooded
}

/// Sends on the kept connection or a new one; returns the status of the answer, if there is one.
async fn ask(address: SocketAddr, talk: &mut Option<TcpStream>, request: &[u8]) -> Option<u16> {
    let mut socket = match talk.take() {
        Some(socket) => socket,
        None => TcpStream::connect(address).await.ok()?,
    };
    socket.set_nodelay(true).ok()?;
    socket.write_all(request).await.ok()?;
    let (mut answer, mut length) = ([0; 1_024], 0);
    while !answer[..length].ends_with(b"\r\n\r\n") {
        match socket.read(&mut answer[length..]).await {
            Ok(more) if more > 0 => length += more,
            _ => return None,
        }
    }
    let status = std::str::from_utf8(&answer[9..12]).ok()?.parse().ok()?;
    *talk = Some(socket);
    Some(status)
}

fn request(number: &str) -> Vec<u8> {
    let body = format!(
        "{{\"event\":\"order.status_changed\",\"data\":{{\"store_id\":1,\"order_number\":\"{number}\",\"old_status\":\"paid\",\
         \"new_status\":\"preparing\",\"padding\":\"{}\"}},\"timestamp\":\"2026-11-27T07:00:00Z\",\
         \"webhook_id\":\"5b0d1b1e-9d2c-4a63-b1ff-3d5a8f1f7c11\"}}",
        "x".repeat(350)
    );
    let mac = Hmac::<sha2::Sha256>::new_from_slice(SECRET.as_bytes()).unwrap().chain_update(&body);
    let signature: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "POST /webhooks/flood HTTP/1.1\r\nHost: erp.example\r\nContent-Type: application/json\r\n\
         User-Agent: Marketplace-API-Webhook/1.0\r\nX-Webhook-Signature: sha256={signature}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn order_number(body: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(body).ok()?;
    text.split_once("\"order_number\":\"")?.1.split('"').next()
}

const ERP_SESSIONS: u64 = 4;
const UPSERT: &str = "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('flood', $1, '1', $2) \
    ON CONFLICT (store, sku, location_id) DO UPDATE SET quantity = excluded.quantity";
/// Sessions that wait for the lock that transactions with notifications hold until they are durable.
const WAITS: &str = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'object' AND classid = 1262 AND objid = 0";

/// What the ERP saw.
#[derive(Default)]
struct Written {
    commits: Vec<Duration>,
    looks: u64,
    waits: u64,
}

/// Writes levels as an ERP does, a row and a transaction each.
async fn write_as_erp(database: String, rate: u64, seconds: u64) -> Written {
    use sqlx::Connection as _;
    let mut written = Written::default();
    if rate == 0 {
        return written;
    }
    let began = Instant::now() + Duration::from_millis(100);
    let looking = tokio::spawn(count_waits(database.clone(), began + Duration::from_secs(seconds)));
    let session = |session: u64| {
        let database = database.clone();
        tokio::spawn(async move {
            let mut connection = sqlx::PgConnection::connect(&database).await.unwrap();
            let mut commits = Vec::new();
            for row in (session..rate * seconds).step_by(ERP_SESSIONS as usize) {
                let due = began + Duration::from_secs_f64(row as f64 / rate as f64);
                sleep_until(due).await;
                let query = sqlx::query(UPSERT).bind(format!("ERP-{}", row % 5_000)).bind((row % 97) as i64);
                query.execute(&mut connection).await.unwrap();
                commits.push(due.elapsed());
            }
            commits
        })
    };
    for ended in (0..ERP_SESSIONS).map(session).collect::<Vec<_>>() {
        written.commits.extend(ended.await.unwrap());
    }
    written.commits.sort();
    (written.looks, written.waits) = looking.await.unwrap();
    written
}

async fn count_waits(database: String, until: Instant) -> (u64, u64) {
    use sqlx::{Connection as _, Row as _};
    let mut connection = sqlx::PgConnection::connect(&database).await.unwrap();
    let (mut looks, mut waits) = (0, 0);
    while Instant::now() < until {
        let row = sqlx::query(WAITS).fetch_one(&mut connection).await.unwrap();
        waits += row.get::<i64, _>(0) as u64;
        looks += 1;
        sleep_until(Instant::now() + Duration::from_millis(20)).await;
    }
    (looks, waits)
}

/// Opens sockets that send nothing, half a head or half a body, beside deliveries at 200 a second, every second one
/// on its own connection.
async fn stall(address: SocketAddr, sockets: u64, seconds: u64) {
    let began = Instant::now();
    let stalled: Vec<_> = (0..sockets).map(|n| tokio::spawn(stalled(address, n, began))).collect();
    let plan = Plan { addresses: Box::leak(Box::new([address])), rate: 100, connections: 10, seconds };
    let (kept, fresh) = tokio::join!(flood(plan, "kept", None), fresh(address, seconds));
    let mut closed = Vec::new();
    for task in stalled {
        closed.push(task.await.unwrap());
    }
    closed.sort();
    println!(
        "{sockets} stalled sockets: the last closed {:.1} s after it was opened (half of them within {:.1} s)",
        milliseconds(&closed, 1.0) / 1_000.0,
        milliseconds(&closed, 0.5) / 1_000.0
    );
    for (what, flooded) in [("  kept connections", kept), ("  fresh connections", fresh)] {
        let at = |share: f64| milliseconds(&flooded.latencies, share);
        let Flooded { acked, refused, cut_off, .. } = &flooded;
        println!(
            "{what:<22} {:>9} {:>8} {:>7.1} {:>7.1} {:>7.1} {:>7.1} {refused:>9} {cut_off:>9}",
            acked.len(),
            "",
            at(0.5),
            at(0.99),
            at(0.999),
            at(1.0)
        );
    }
}

/// Opens one stalled socket; returns how long it stayed open.
async fn stalled(address: SocketAddr, n: u64, began: Instant) -> Duration {
    let whole = request("stalled");
    let said = match n % 3 {
        0 => 0,
        1 => 60,
        _ => whole.len() - 100,
    };
    // All within two seconds, as many as a single sender opens.
    sleep_until(began + Duration::from_micros(n * 200)).await;
    let Ok(mut socket) = TcpStream::connect(address).await else { return Duration::ZERO };
    let opened = Instant::now();
    let _ = socket.write_all(&whole[..said]).await;
    let mut rest = Vec::new();
    let _ = socket.read_to_end(&mut rest).await;
    opened.elapsed()
}

async fn fresh(address: SocketAddr, seconds: u64) -> Flooded {
    let (began, mut all) = (Instant::now(), Flooded::default());
    let deliveries: Vec<_> = (0..seconds * 100)
        .map(|n| {
            tokio::spawn(async move {
                let due = began + Duration::from_millis(n * 10);
                sleep_until(due).await;
                let number = format!("fresh-{n}");
                let status = ask(address, &mut None, &request(&number)).await;
                (status, due.elapsed(), number)
            })
        })
        .collect();
    for delivery in deliveries {
        match delivery.await.unwrap() {
            (Some(200), latency, number) => {
                all.latencies.push(latency);
                all.acked.insert(number);
            }
            (Some(_), ..) => all.refused += 1,
            (None, ..) => all.cut_off += 1,
        }
    }
    all.latencies.sort();
    all
}
