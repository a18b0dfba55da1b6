//! A service that mirrors a sandbox's store, on a port that outlives it, and queries of its mirror.

use std::{net::TcpListener, os::fd::OwnedFd, process::Stdio, time::Duration};

use espelho_sandbox::{Control, DeliveryFault, DeliveryRule, Options, Sandbox};
use espelho_tests::{
    Installation, Kind, Mirror,
    installation::STORE,
    sandbox_of, signals,
    truth::{self, Truth},
    until,
};
use tokio::process::{Child, Command};

use crate::receiving;

/// Sweeps so rare that only deliveries can cause what a test waits for.
pub(crate) const RARELY: u32 = 86_400;

/// How long a test waits for what must come: longer than a crowded machine needs, and less than [`until`] allows.
const PATIENCE: Duration = Duration::from_secs(110);

/// The service and its sandbox.
pub(crate) struct Keeping {
    pub(crate) sandbox: Sandbox,
    pub(crate) installation: Installation,
    socket: TcpListener,
    service: Option<Child>,
}

impl Keeping {
    /// Mirrors a store of these orders and products completely. Orders are swept every `sweep_seconds`, and their
    /// sub-resources every second.
    pub(crate) async fn with(kind: Kind, orders: usize, products: usize, sweep_seconds: u32) -> Self {
        let parts = if sweep_seconds == RARELY { RARELY } else { 1 };
        let schedule = format!(
            "new_orders = {sweep_seconds}\nopen_orders = {sweep_seconds}\nproducts = {sweep_seconds}\nparts = {parts}\n"
        );
        Self::scheduled(kind, orders, products, &schedule).await
    }

    /// The same with these lines of `[schedule]` for the sweeps.
    pub(crate) async fn scheduled(kind: Kind, orders: usize, products: usize, schedule: &str) -> Self {
        let options = Options { orders, products, local_webhooks: true, ..Options::default() };
        let schedule = format!("reconcile = \"0 0 0 1 1 *\"\n{schedule}");
        Self::of(sandbox_of(options).await, kind, &schedule, 1_000_000).await
    }

    /// Mirrors the first store of a sandbox completely, with these lines of `[schedule]` and this request budget.
    pub(crate) async fn of(sandbox: Sandbox, kind: Kind, schedule: &str, requests_per_minute: u32) -> Self {
        let main = format!("[log]\nlevel = \"info\"\n[schedule]\n{schedule}");
        Self::of_main(sandbox, kind, &main, requests_per_minute).await
    }

    /// The same with these lines of `espelho.toml`.
    pub(crate) async fn of_main(sandbox: Sandbox, kind: Kind, main: &str, requests_per_minute: u32) -> Self {
        let installation = Installation::on(kind).await;
        installation.write_main(main);
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/webhooks/{STORE}", socket.local_addr().unwrap());
        let access = sandbox.stores().remove(0);
        let webhook = format!("[webhook]\npublic_url = \"{url}\"\n");
        let (username, password) = (&access.username, &access.password);
        installation.write_store_within(
            requests_per_minute,
            STORE,
            &sandbox.base_url(),
            username,
            password,
            &webhook,
        );
        let mut keeping = Self { sandbox, installation, socket, service: None };
        keeping.start();
        keeping.is_mirrored(1).await;
        keeping
    }

    pub(crate) fn control(&self) -> Control {
        self.sandbox.control()
    }

    pub(crate) fn store(&self) -> String {
        self.sandbox.stores().remove(0).key
    }

    /// Starts the service with the socket as systemd does.
    pub(crate) fn start(&mut self) {
        let command = self.installation.command(&["run"]);
        let program = command.as_std().get_program().to_owned();
        let script = "exec 3<&0 0</dev/null; export LISTEN_FDS=1 LISTEN_PID=$$; exec \"$@\"";
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(script).arg("sh").arg(program).args(command.as_std().get_args());
        shell.current_dir(self.installation.dir());
        let log = self.installation.dir().join("log");
        let log = std::fs::File::options().create(true).append(true).open(log).unwrap();
        shell.stdin(OwnedFd::from(self.socket.try_clone().unwrap()));
        shell.stdout(Stdio::null()).stderr(log).kill_on_drop(true);
        self.service = Some(shell.spawn().unwrap());
    }

    /// Ends the service with `kill -9`.
    pub(crate) async fn kill(&mut self) {
        self.service.take().unwrap().kill().await.unwrap();
    }

    /// Stops it as systemd does.
    pub(crate) async fn stop(&mut self) {
        let mut service = self.service.take().unwrap();
        signals::send(service.id().unwrap(), "TERM");
        assert!(service.wait().await.unwrap().success(), "{}", self.log());
        let log = self.log();
        assert!(!log.contains("has panicked") && !log.contains("ERROR"), "{log}");
    }

    /// Returns the address of the service's pages.
    fn pages(&self) -> std::net::SocketAddr {
        let process = self.service.as_ref().and_then(Child::id).unwrap();
        let webhooks = self.socket.local_addr().unwrap();
        receiving::listening_at(process).into_iter().find(|address| *address != webhooks).unwrap()
    }

    /// Writes the addresses of the service's pages and receiver into the configuration, for commands that contact it.
    pub(crate) fn know_pages(&self) {
        let path = self.installation.dir().join("espelho.toml");
        let text = std::fs::read_to_string(path).unwrap();
        let text = text.replace("127.0.0.1:0", &self.pages().to_string());
        let webhooks = self.socket.local_addr().unwrap();
        self.installation.write("espelho.toml", &format!("{text}[webhooks]\nlisten = \"{webhooks}\"\n"));
    }

    /// Returns what the service shows under a path.
    pub(crate) async fn page(&self, path: &str) -> String {
        truth::get(&format!("http://{}{path}", self.pages())).await.1
    }

    pub(crate) async fn metrics(&self) -> String {
        let health = self.pages();
        truth::get(&format!("http://{health}/metrics")).await.1
    }

    /// Waits until the metrics have a line. A metric is counted after its change is in the mirror.
    pub(crate) async fn counts(&self, line: &str) {
        until("the metrics count it", async || self.metrics().await.contains(line)).await;
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.installation.dir().join("log")).unwrap_or_default()
    }

    pub(crate) async fn is_mirrored(&self, times: usize) {
        let mirror = self.mirror().await;
        until("the store is mirrored", async || {
            let sql = "SELECT 'x' AS x FROM sync_runs WHERE state = 'complete'";
            mirror.try_ask(sql).await.len() == times
        })
        .await;
    }

    pub(crate) async fn mirror(&self) -> Mirror {
        self.installation.mirror().await
    }

    /// Returns rows of one text each.
    pub(crate) async fn ask(&self, sql: &str) -> Vec<String> {
        let rows = self.mirror().await.ask(sql).await;
        rows.into_iter().flat_map(std::collections::BTreeMap::into_values).collect()
    }

    /// Waits until a query returns exactly these rows of one text each.
    pub(crate) async fn shows(&self, sql: &str, expected: &[&str]) {
        let mirror = self.mirror().await;
        let mut found = Vec::new();
        let shown = until("the mirror shows it", async || {
            found =
                mirror.ask(sql).await.into_iter().flat_map(std::collections::BTreeMap::into_values).collect();
            found == expected
        });
        if tokio::time::timeout(PATIENCE, shown).await.is_err() {
            let odd: Vec<_> = found.iter().filter(|row| !expected.contains(&row.as_str())).collect();
            let missing: Vec<_> = expected.iter().filter(|row| !found.iter().any(|f| f == *row)).collect();
            panic!("{sql}: {odd:?} in place of {missing:?}\n{}", self.log());
        }
    }

    /// Waits until an order has a status.
    pub(crate) async fn order_is(&self, number: &str, status: &str) {
        self.shows(&format!("SELECT status FROM orders WHERE order_number = '{number}'"), &[status]).await;
    }

    /// Spoils deliveries of some events.
    pub(crate) fn spoil(&self, event: &str, of_thousand: u32, kind: DeliveryFault) {
        let rule = DeliveryRule { event: event.to_owned(), times: None, of_thousand, kind };
        self.control().webhooks().spoil_deliveries(rule);
    }

    /// Delivers a body, signed with the secret from the login.
    pub(crate) async fn deliver(&self, body: &str) -> u16 {
        let inbox = receiving::with_inbox(&self.installation).await;
        let secrets = inbox.ask("SELECT secret FROM webhook_secrets WHERE retired_at IS NULL").await;
        let delivery = receiving::signed_with(&secrets[0]["secret"], body);
        let address = self.socket.local_addr().unwrap();
        receiving::ask(address, delivery.as_bytes()).await.unwrap().0
    }

    /// Waits until every delivery in the inbox is handled.
    pub(crate) async fn inbox_is_handled(&self) {
        let mirror = receiving::with_inbox(&self.installation).await;
        let mut open = Vec::new();
        let handled = until("every delivery is handled", async || {
            open = mirror.ask("SELECT event FROM webhook_inbox WHERE handled_at IS NULL").await;
            open.is_empty()
        });
        if tokio::time::timeout(PATIENCE, handled).await.is_err() {
            panic!("{open:?} are not handled\n{}", self.log());
        }
    }

    /// Returns the marketplace's contents. Reading them ends the service's token, so the service is stopped first.
    pub(crate) async fn truth(&mut self) -> Truth {
        self.stop().await;
        Truth::of(&self.sandbox).await
    }
}
