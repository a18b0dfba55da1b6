//! A configuration folder, and the real binary that uses it.

use std::{
    fmt, fs,
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader, Lines},
    process::{Child, ChildStdout, Command},
};

use crate::{
    mirror::{Database, Kind, Mirror},
    signals,
};

/// The name of the only store in a test.
pub const STORE: &str = "loja-1";
/// No command of the tests takes this long unless it hangs.
const LONGEST: Duration = Duration::from_secs(150);

/// Returns the binary under test.
///
/// # Panics
/// When it has not been built.
pub fn binary() -> PathBuf {
    // Test executables are in target/PROFILE/deps, whatever the name of the target folder is.
    let here = std::env::current_exe().expect("a test knows where it is");
    let profile = here.parent().and_then(Path::parent).expect("target/PROFILE/deps/TEST");
    let binary = profile.join("espelho");
    assert!(
        binary.exists(),
        "{} is missing: run tests/run, or `cargo build -p espelho-daemon` before the tests",
        binary.display()
    );
    binary
}

/// Returns an address of this machine with a port that was free a moment ago.
///
/// # Panics
/// When there is none.
pub fn free_address() -> std::net::SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("a bound port")
}

/// `DIR/espelho.toml`, `DIR/stores/*.toml` and a separate database. Dropping it removes everything.
pub struct Installation {
    dir: TempDir,
    database: Database,
}

/// The result of a command.
pub struct Outcome {
    /// The exit code.
    pub code: i32,
    /// Its output for programs.
    pub stdout: String,
    /// Its output for people.
    pub stderr: String,
}

/// A running command. Dropping it kills the process.
pub struct Running {
    child: Child,
    stdout: Lines<BufReader<ChildStdout>>,
    stderr: tokio::task::JoinHandle<String>,
}

impl Installation {
    /// Creates an installation without stores, on an empty database.
    pub async fn on(kind: Kind) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(dir.path().join("stores")).expect("a folder for the stores");
        let database = Database::create(kind, dir.path()).await;
        let installation = Self { dir, database };
        installation.write_main("");
        installation
    }

    /// Returns the configuration folder.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Writes `espelho.toml`: the database, a free port for health and metrics, and `more`.
    pub fn write_main(&self, more: &str) {
        let url = self.database.url();
        self.write(
            "espelho.toml",
            &format!("[database]\nurl = \"{url}\"\n[http]\nlisten = \"127.0.0.1:0\"\n{more}"),
        );
    }

    /// Writes `espelho.toml` with a port that was free a moment ago, for tests in which a command contacts the
    /// service; returns the address of the pages.
    pub fn write_main_with_known_port(&self) -> String {
        self.write_main_with_known_port_and("")
    }

    /// The same with further lines.
    pub fn write_main_with_known_port_and(&self, more: &str) -> String {
        let address = free_address().to_string();
        self.write_main_at(&address, more);
        format!("http://{address}")
    }

    /// Writes `espelho.toml` with this address of the pages, and `more`.
    pub fn write_main_at(&self, address: &str, more: &str) {
        let url = self.database.url();
        let main = format!("[database]\nurl = \"{url}\"\n[http]\nlisten = \"{address}\"\n{more}");
        self.write("espelho.toml", &main);
    }

    /// Writes a file of the configuration.
    pub fn write(&self, path: &str, text: &str) {
        // Some files contain secrets, and espelho refuses files that others may read.
        let mut file = fs::File::options();
        let file = file.write(true).create(true).truncate(true).mode(0o600).open(self.dir.path().join(path));
        let mut file = file.expect("a configuration file can be made");
        file.write_all(text.as_bytes()).expect("a configuration file can be written");
    }

    /// Writes `stores/KEY.toml` for a marketplace of the sandbox environment, with a practically unlimited budget.
    pub fn write_store(&self, key: &str, base_url: &str, username: &str, password: &str) {
        self.write_store_with(key, base_url, username, password, "");
    }

    /// The same with further lines.
    pub fn write_store_with(&self, key: &str, base_url: &str, username: &str, password: &str, more: &str) {
        self.write_store_within(1_000_000, key, base_url, username, password, more);
    }

    /// The same with a request budget.
    pub fn write_store_within(
        &self,
        budget: u32,
        key: &str,
        base_url: &str,
        username: &str,
        password: &str,
        more: &str,
    ) {
        let text = format!(
            "environment = \"sandbox\"\nbase_url = \"{base_url}\"\n[credentials]\nusername = \"{username}\"\n\
             password = \"{password}\"\n[limits]\nrequests_per_minute = {budget}\n{more}"
        );
        self.write(&format!("stores/{key}.toml"), &text);
    }

    /// Writes a file for each store of a sandbox.
    pub fn join(&self, sandbox: &espelho_sandbox::Sandbox) {
        for store in sandbox.stores() {
            self.write_store(&store.key, &sandbox.base_url(), &store.username, &store.password);
        }
    }

    /// Creates another folder for the same installation, database included, without stores.
    pub fn beside(&self) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(dir.path().join("stores")).expect("a folder for the stores");
        let installation = Self { dir, database: self.database.borrowed() };
        installation.write_main("");
        installation
    }

    /// Opens the database as the ERP sees it.
    pub async fn mirror(&self) -> Mirror {
        self.database.open().await
    }

    /// Opens the journal of effects, which only espelho should see; tokens and secrets are stored beside it.
    pub async fn journal(&self) -> Mirror {
        self.database.open_journal().await
    }

    /// Builds `espelho --config DIR ARGUMENTS` without starting it.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("ESPELHO_") {
                command.env_remove(name);
            }
        }
        command.arg("--config").arg(self.dir.path()).args(arguments).current_dir(self.dir.path());
        // A bare `espelho` reads the same configuration: the command lines that are printed need not name it.
        command.env("ESPELHO_CONFIG", self.dir.path());
        command.env("TMPDIR", self.dir.path()).env("STATE_DIRECTORY", self.dir.path());
        // No unit of this machine manages the service: next steps name `espelho run`, wherever the tests run.
        command.env("SYSTEMD_UNIT_PATH", self.dir.path()).env_remove("NOTIFY_SOCKET");
        // Messages for people are in English here; rows are in the installation's language, which is Portuguese.
        command.env("LC_ALL", "en_US.UTF-8");
        command
    }

    /// Runs a command with a Portuguese locale.
    pub async fn run_in_portuguese(&self, arguments: &[&str]) -> Outcome {
        let mut command = self.command(arguments);
        command.env("LC_ALL", "pt_BR.UTF-8");
        Running::of(command).end().await
    }

    /// Starts a command.
    pub fn start(&self, arguments: &[&str]) -> Running {
        Running::of(self.command(arguments))
    }

    /// Runs a command to its end.
    pub async fn run(&self, arguments: &[&str]) -> Outcome {
        self.start(arguments).end().await
    }

    /// Runs `espelho --resync --json ARGUMENTS`.
    pub async fn resync(&self, arguments: &[&str]) -> Outcome {
        self.run(&[&["--resync", "--json"], arguments].concat()).await
    }
}

impl Running {
    /// Starts a command built by [`Installation::command`].
    ///
    /// # Panics
    /// When there is no such binary.
    pub fn of(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().expect("the binary starts");
        let stdout = child.stdout.take().expect("stdout is piped");
        let stderr = child.stderr.take().expect("stderr is piped");
        // Read continuously, so that a verbose process never waits for its reader.
        let stderr = tokio::spawn(all_of(stderr));
        Self { child, stdout: BufReader::new(stdout).lines(), stderr }
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.child.id().expect("the process has not been waited for")
    }

    /// Returns the next line on stdout, if there is one.
    pub async fn line(&mut self) -> Option<String> {
        tokio::time::timeout(LONGEST, self.stdout.next_line()).await.expect("a line in time").expect("a line")
    }

    /// Returns whether it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child can be asked").is_some()
    }

    /// Ends it with `kill -9`, and waits until it is gone.
    pub async fn kill(mut self) {
        // It fails only if the process has ended already.
        let _ = self.child.kill().await;
    }

    /// Asks it to end, as systemd does.
    pub async fn terminate(&self) {
        signals::send(self.id(), "TERM");
    }

    /// Sends a signal, to stop it like Ctrl-Z or to continue it.
    ///
    /// # Panics
    /// When the signal cannot be sent.
    pub async fn signal(&self, signal: &str) {
        signals::send(self.id(), signal);
    }

    /// Waits for its end.
    pub async fn end(self) -> Outcome {
        let Self { mut child, stdout, stderr } = self;
        let ended = async {
            let stdout = all_of(stdout.into_inner()).await;
            let stderr = stderr.await.expect("stderr is read");
            (child.wait().await.expect("a child can be waited for"), stdout, stderr)
        };
        let (status, stdout, stderr) =
            tokio::time::timeout(LONGEST, ended).await.expect("the command ends in time");
        Outcome::of(status, stdout, stderr)
    }
}

async fn all_of(mut pipe: impl AsyncRead + Unpin) -> String {
    let mut bytes = Vec::new();
    pipe.read_to_end(&mut bytes).await.expect("a pipe can be read");
    String::from_utf8(bytes).expect("espelho writes UTF-8")
}

impl Outcome {
    fn of(status: ExitStatus, stdout: String, stderr: String) -> Self {
        // A signal has no exit code; no test expects one from a run that ends by itself.
        let outcome = Self { code: status.code().unwrap_or(-1), stdout, stderr };
        for secret in ["sk_live_", "whsec_", crate::shop::PASSWORD] {
            assert!(
                !outcome.stdout.contains(secret) && !outcome.stderr.contains(secret),
                "a secret:\n{outcome}"
            );
        }
        // At `trace` the log has statements with the word.
        assert!(!outcome.stderr.contains("panicked at"), "{outcome}");
        outcome
    }

    /// Checks the exit code.
    ///
    /// # Panics
    /// When it differs.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "the exit code\n{self}");
        self
    }

    /// Checks that the output for people contains these words.
    ///
    /// # Panics
    /// When it does not.
    #[track_caller]
    pub fn says(self, words: &str) -> Self {
        assert!(self.stderr.contains(words), "no {words:?} in\n{self}");
        self
    }

    /// Returns the object on stdout.
    ///
    /// # Panics
    /// When there is anything but one JSON object.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in\n{self}"))
    }

    /// Returns the report of the only store.
    ///
    /// # Panics
    /// When there is none.
    #[track_caller]
    pub fn store(&self) -> Value {
        let store = self.json()["stores"][0].clone();
        assert!(store.is_object(), "no store in\n{self}");
        store
    }

    /// Returns the report of a resource of the only store.
    ///
    /// # Panics
    /// When there is none.
    #[track_caller]
    pub fn resource(&self, resource: &str) -> Value {
        let report = self.store()["resources"][resource].clone();
        assert!(report.is_object(), "no {resource} in\n{self}");
        report
    }

    /// Returns a count of a resource of the only store.
    ///
    /// # Panics
    /// When there is none.
    #[track_caller]
    pub fn count(&self, resource: &str, name: &str) -> u64 {
        let count = self.resource(resource)[name].as_u64();
        count.unwrap_or_else(|| panic!("no {resource}.{name} in\n{self}"))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit code {}\nstdout:\n{}\nstderr:\n{}", self.code, self.stdout, self.stderr)
    }
}
