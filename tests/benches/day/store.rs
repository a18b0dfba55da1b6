//! The store: a marketplace behind a gateway, the service on SQLite, and the ERP's connection.

use std::{fs::File, path::PathBuf, process::Stdio, time::Duration};

use espelho_sandbox::{Control, DeliveryFault, DeliveryRule, Options, Sandbox, start};
use espelho_tests::{
    Gateway, Installation, Kind, Mirror, Surfaces,
    installation::{STORE, free_address},
};
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    net::TcpListener,
    process::{Child, Command},
};

use crate::support;

pub(crate) struct Store {
    pub(crate) sandbox: Sandbox,
    pub(crate) gateway: Gateway,
    pub(crate) surfaces: Surfaces,
    pub(crate) mirror: Mirror,
    installation: Installation,
    service: Option<Child>,
}

impl Store {
    /// Opens the store and starts the service.
    pub(crate) async fn open(seed: u64) -> Self {
        let options = Options { orders: 0, products: 40, seed, ..Options::default() };
        let sandbox = start(TcpListener::bind("127.0.0.1:0").await.unwrap(), options).await.unwrap();
        for kind in [DeliveryFault::Lost, DeliveryFault::Doubled] {
            sandbox.control().webhooks().spoil_deliveries(DeliveryRule {
                event: String::new(),
                times: None,
                of_thousand: 10,
                kind,
            });
        }
        let gateway = Gateway::to(&sandbox.base_url()).await;
        let installation = Installation::on(Kind::Sqlite).await;
        let receiver = free_address();
        let base = installation.write_main_with_known_port_and(&format!(
            "[webhooks]\nlisten = \"{receiver}\"\n[log]\nlevel = \"info\"\n"
        ));
        let access = sandbox.stores().remove(0);
        let webhook = format!("[webhook]\npublic_url = \"http://{receiver}/webhooks/{STORE}\"\n");
        let (username, password) = (&access.username, &access.password);
        installation.write_store_within(300, STORE, &gateway.base_url(), username, password, &webhook);
        let folder = installation.dir().to_owned();
        let commands = move |arguments: &[&str]| command(&folder, arguments);
        let mirror = installation.mirror().await;
        let surfaces = Surfaces::of(&base, None, Box::new(commands));
        let mut store = Self { sandbox, gateway, surfaces, mirror, installation, service: None };
        store.start();
        store
    }

    pub(crate) fn control(&self) -> Control {
        self.sandbox.control()
    }

    pub(crate) fn start(&mut self) {
        let log = File::options().create(true).append(true).open(self.log()).unwrap();
        let mut command = command(self.installation.dir(), &["run"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).kill_on_drop(true);
        self.service = Some(command.spawn().unwrap());
    }

    /// Stops the service as systemd does.
    pub(crate) async fn stop(&mut self) {
        let mut service = self.service.take().unwrap();
        let process = Pid::from_raw(service.id().unwrap().try_into().unwrap()).unwrap();
        kill_process(process, Signal::TERM).unwrap();
        assert!(service.wait().await.unwrap().success(), "the service ends well: {}", self.log().display());
    }

    /// Repeats a statement of the ERP until it succeeds, because the service may be writing.
    pub(crate) async fn write(&self, sql: &str) {
        let mut ticks = tokio::time::interval(Duration::from_secs(1));
        for _ in 0..600 {
            if self.mirror.asked(sql).await.is_some() {
                return;
            }
            ticks.tick().await;
        }
        panic!("it cannot be written: {sql}");
    }

    /// Returns the first column of a query.
    pub(crate) async fn ask(&self, sql: &str) -> Vec<String> {
        let rows = self.mirror.try_ask(sql).await;
        rows.into_iter().flat_map(std::collections::BTreeMap::into_values).collect()
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.installation.dir().join("log")
    }
}

fn command(folder: &std::path::Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(support::espelho());
    command.arg("--config").arg(folder).args(arguments).current_dir(folder);
    command
}
