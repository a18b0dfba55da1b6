//! A healthy installation whose components can all be broken: a marketplace behind a gateway, the service, and its
//! surfaces.

use std::{fs, path::PathBuf, process::Stdio};

use espelho_sandbox::{Control, NewOrder, Options, Sandbox};
use espelho_tests::{
    ClockSkew, Gateway, HttpSink, Installation, Kind, Mirror, Surface, Surfaces,
    installation::{STORE, free_address},
    sandbox_of,
    surfaces::Alarm,
    until,
};
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};

/// The path to which messages about alarms are posted.
pub(crate) const ALARMS: &str = "/alarms";
/// The path that is called while everything works.
pub(crate) const ALIVE: &str = "/alive";
/// The path that is called while something fails.
pub(crate) const FAILING: &str = "/failing";

/// The differences of a stage from the default one.
#[derive(Default)]
pub(crate) struct Setting {
    /// Further lines of `espelho.toml`.
    pub(crate) main: String,
    /// Further lines of the store's file.
    pub(crate) store: String,
    /// The address for deliveries; by default the gateway to the service's receiver.
    pub(crate) public_url: Option<String>,
    /// The password in the file; by default the right one.
    pub(crate) password: Option<String>,
    /// Whether the commands and the service use a separate clock.
    pub(crate) has_skewed_clock: bool,
    /// The folder for the database, the labels and other state; SQLite only.
    pub(crate) state: Option<PathBuf>,
    pub(crate) strict_scopes: bool,
    /// Whether the connection to the database server can be cut; PostgreSQL only.
    pub(crate) has_database_gateway: bool,
    /// The request budget; by default practically unlimited.
    pub(crate) requests_per_minute: Option<u32>,
}

pub(crate) struct Stage {
    pub(crate) kind: Kind,
    pub(crate) sandbox: Sandbox,
    pub(crate) gateway: Gateway,
    /// The gateway to the receiver of webhooks.
    pub(crate) webhooks: Gateway,
    /// The gateway to the database server, if the connection can be cut.
    pub(crate) database: Option<Gateway>,
    pub(crate) installation: Installation,
    pub(crate) surfaces: Surfaces,
    pub(crate) skew: Option<ClockSkew>,
    /// The receiver of messages about alarms, and of the sign of life.
    pub(crate) sink: HttpSink,
    state: Option<PathBuf>,
    service: Option<Child>,
}

impl Stage {
    /// Starts the default stage and waits until all is well.
    pub(crate) async fn on(kind: Kind) -> Self {
        Self::with(kind, Setting::default()).await
    }

    /// Starts another stage and waits until all is well.
    pub(crate) async fn with(kind: Kind, setting: Setting) -> Self {
        let mut stage = Self::prepared(kind, setting).await;
        stage.start();
        stage.is_well().await;
        stage
    }

    /// Prepares a stage without starting the service.
    pub(crate) async fn prepared(kind: Kind, setting: Setting) -> Self {
        let options =
            Options { orders: 0, products: 12, strict_scopes: setting.strict_scopes, ..Options::default() };
        let sandbox = sandbox_of(options).await;
        let control = sandbox.control();
        for _ in 0..3 {
            // Orders that need no action.
            let number = control.orders().place(STORE, NewOrder::default());
            assert!(control.orders().set_status(STORE, &number, "delivered"));
        }
        let gateway = Gateway::to(&sandbox.base_url()).await;
        let installation = Installation::on(kind).await;
        let skew = setting.has_skewed_clock.then(|| ClockSkew::of(installation.dir(), 1.0));
        let receiver = free_address();
        let webhooks = Gateway::to(&format!("http://{receiver}")).await;
        let sink = HttpSink::open().await;
        let notices = format!(
            "[notices]\nfrom = \"warning\"\n[notices.webhook]\nurl = \"{}\"\n\
             [notices.ping]\nurl = \"{}\"\nfail_url = \"{}\"\nevery_seconds = 2\n",
            sink.url(ALARMS),
            sink.url(ALIVE),
            sink.url(FAILING),
        );
        let base = installation.write_main_with_known_port_and(&format!(
            "[webhooks]\nlisten = \"{receiver}\"\n[log]\nlevel = \"info\"\n{notices}{}",
            setting.main
        ));
        let mut mirror = Some(installation.mirror().await);
        if let Some(state) = &setting.state {
            let path = installation.dir().join("espelho.toml");
            let before = installation.dir().join("espelho.db").display().to_string();
            let text = fs::read_to_string(path).unwrap();
            let there = state.join("espelho.db").display().to_string();
            installation.write("espelho.toml", &text.replace(&before, &there));
            // A connection of ours would need room on that disk too.
            mirror = None;
        }
        let database = match setting.has_database_gateway {
            true => Some(lead_through_gateway(&installation).await),
            false => None,
        };
        let commands = commands(&installation, &skew, &setting.state);
        let surfaces = Surfaces::of(&base, mirror, commands);
        let state = setting.state.clone();
        let stage = Self {
            kind,
            sandbox,
            gateway,
            webhooks,
            database,
            installation,
            surfaces,
            skew,
            sink,
            state,
            service: None,
        };
        stage.write_store(&setting);
        stage
    }

    /// Writes the store's file, and the password's.
    pub(crate) fn write_store(&self, setting: &Setting) {
        let access = self.sandbox.stores().remove(0);
        self.write_store_as(&access.username, setting);
        self.write_password(setting.password.as_ref().unwrap_or(&access.password));
    }

    /// The same for another credential of the store.
    pub(crate) fn write_store_as(&self, username: &str, setting: &Setting) {
        let own = format!("{}/webhooks/{STORE}", self.webhooks.base_url());
        let text = format!(
            "environment = \"sandbox\"\nbase_url = \"{}\"\n[credentials]\nusername = \"{username}\"\n\
             password_file = \"{STORE}.password\"\n[limits]\nrequests_per_minute = {}\n\
             [webhook]\npublic_url = \"{}\"\n{}",
            self.gateway.base_url(),
            setting.requests_per_minute.unwrap_or(1_000_000),
            setting.public_url.as_ref().unwrap_or(&own),
            setting.store
        );
        self.installation.write(&format!("stores/{STORE}.toml"), &text);
    }

    /// Writes the password's file, which no other user may read.
    pub(crate) fn write_password(&self, password: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let file = format!("stores/{STORE}.password");
        self.installation.write(&file, password);
        let path = self.installation.dir().join(file);
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }

    pub(crate) fn start(&mut self) {
        let mut command = commands(&self.installation, &self.skew, &self.state)(&["run"]);
        let log = fs::File::options().create(true).append(true).open(self.log_path()).unwrap();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).kill_on_drop(true);
        self.service = Some(command.spawn().unwrap());
    }

    /// Ends the service with `kill -9`.
    pub(crate) async fn kill(&mut self) {
        self.service.take().unwrap().kill().await.unwrap();
    }

    /// Makes the service read its configuration again, as `systemctl reload` does.
    pub(crate) fn reload(&self) {
        let process = self.service.as_ref().and_then(Child::id).unwrap();
        let process = Pid::from_raw(process.try_into().unwrap()).unwrap();
        kill_process(process, Signal::HUP).unwrap();
    }

    pub(crate) fn control(&self) -> Control {
        self.sandbox.control()
    }

    pub(crate) async fn mirror(&self) -> Mirror {
        self.installation.mirror().await
    }

    /// Runs `espelho ARGUMENTS` as the operator does, and checks that it succeeds.
    pub(crate) async fn types(&self, arguments: &[&str]) -> String {
        let command = commands(&self.installation, &self.skew, &self.state)(arguments);
        let ended = espelho_tests::Running::of(command).end().await;
        assert_eq!(ended.code, 0, "espelho {arguments:?}: {ended}");
        format!("{}\n{}", ended.stdout, ended.stderr)
    }

    /// Runs the command of this name that an alarm's next step prints.
    pub(crate) async fn types_printed(&self, alarm: &Alarm, name: &str) {
        let printed = alarm.commands();
        let command = printed.iter().find(|words| words[0] == name);
        let command = command.unwrap_or_else(|| panic!("espelho {name} is printed: {alarm:?}"));
        self.types(&command.iter().map(String::as_str).collect::<Vec<_>>()).await;
    }

    /// Waits until `espelho status` exits with 0, and no surface reports anything.
    pub(crate) async fn is_well(&self) {
        let mut last = String::new();
        let well = until("all is well", async || {
            let (code, status) = self.surfaces.status().await;
            let is_ok = status.as_ref().is_some_and(|status| status["state"] == "ok");
            last = status.map(|status| status.to_string()).unwrap_or_default();
            if code != 0 || !is_ok {
                return false;
            }
            let shown = self.surfaces.read_all().await;
            last = format!(
                "{:?}",
                shown.iter().map(|(surface, shown)| (surface, &shown.codes)).collect::<Vec<_>>()
            );
            shown.values().all(|shown| shown.codes.is_empty())
        });
        if tokio::time::timeout(std::time::Duration::from_secs(110), well).await.is_err() {
            let log = fs::read_to_string(self.log_path()).unwrap_or_default();
            let end: Vec<&str> = log.lines().rev().take(10).collect();
            panic!("all should be well: {last}\n{end:#?}");
        }
    }

    /// Returns the surfaces that do not answer while the service is stopped.
    pub(crate) fn without_service() -> Vec<Surface> {
        Surface::OF_SERVICE.to_vec()
    }

    fn log_path(&self) -> PathBuf {
        self.installation.dir().join("log")
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = fs::read_to_string(self.log_path()).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            eprintln!(
                "the end of the service's log:\n{}",
                lines[lines.len().saturating_sub(40)..].join("\n")
            );
        }
    }
}

/// Makes the service reach its database server through a gateway.
async fn lead_through_gateway(installation: &Installation) -> Gateway {
    let server = std::env::var("ESPELHO_TEST_POSTGRES").unwrap();
    let address = server.rsplit_once('@').map_or(server.as_str(), |(_, address)| address);
    let gateway = Gateway::to(address).await;
    let text = fs::read_to_string(installation.dir().join("espelho.toml")).unwrap();
    let there = gateway.base_url();
    installation.write("espelho.toml", &text.replace(address, there.trim_start_matches("http://")));
    gateway
}

/// Returns the function that builds the commands of this stage.
fn commands(
    installation: &Installation,
    skew: &Option<ClockSkew>,
    state: &Option<PathBuf>,
) -> espelho_tests::surfaces::Commands {
    let template = installation.command(&[]);
    let template = template.as_std();
    let program = template.get_program().to_owned();
    let arguments: Vec<_> = template.get_args().map(ToOwned::to_owned).collect();
    let mut environment: Vec<_> =
        template.get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
    for (name, value) in skew.iter().flat_map(ClockSkew::environment) {
        environment.push((name.into(), Some(value.into())));
    }
    if let Some(state) = state {
        environment.push(("STATE_DIRECTORY".into(), Some(state.into())));
    }
    let folder = installation.dir().to_owned();
    Box::new(move |more| {
        let mut command = Command::new(&program);
        command.args(&arguments).args(more).current_dir(&folder);
        for (name, value) in &environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    })
}
