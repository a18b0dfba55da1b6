//! An ERP whose user is in the group of the state directory writes the tables while the service runs, and can open
//! nothing else there.
//!
//! Only root can become another user. Otherwise one user runs everything here, and only the modes are checked.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown},
    path::{Path, PathBuf},
    process::Stdio,
};

use espelho_sandbox::{Options, Sandbox};
use espelho_tests::{
    Installation, Running,
    installation::{STORE, binary},
    pages::{ready, stopped},
    sandbox_of, until,
};
use sqlx::{SqlitePool, sqlite::SqliteConnectOptions};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines},
    process::{Child, ChildStdout, Command},
};

use super::{relative, typed};

/// Passes the state directory to the program of another user.
const STATE: &str = "OF_ANOTHER_USER_STATE";
const GROUP: u32 = 61_010;
const SERVICE: User = User { user: 61_001, group: GROUP };
const ERP: User = User { user: 61_002, group: GROUP };
const STRANGER: User = User { user: 61_003, group: 61_003 };
/// Entries of the state directory that the ERP may not open.
const PRIVATE: [&str; 4] = ["espelho.db-inbox", "labels", "backups", "espelho.db-open.lock"];

#[derive(Clone, Copy)]
struct User {
    user: u32,
    group: u32,
}

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

impl User {
    fn runs(self, command: &mut Command) {
        if is_root() {
            command.uid(self.user).gid(self.group);
        }
    }

    fn owns(self, path: &Path, mode: u32) {
        if is_root() {
            chown(path, Some(self.user), Some(self.group)).unwrap();
        }
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
}

/// An installation as the unit creates it: the state directory belongs to the service and its group, the password to
/// the service alone.
struct Installed {
    installation: Installation,
    base: String,
    sandbox: Sandbox,
}

impl Installed {
    async fn new() -> Self {
        let sandbox = sandbox_of(Options { orders: 4, products: 6, ..Options::default() }).await;
        let installation = relative().await;
        let base = installation.write_main_with_known_port();
        let main = fs::read_to_string(installation.dir().join("espelho.toml")).unwrap();
        let dir = installation.dir().to_owned();
        let relative = main.replace(&format!("sqlite:{}/", dir.display()), "sqlite:");
        installation.write("espelho.toml", &relative);
        let access = sandbox.stores().remove(0);
        installation.write_store(STORE, &sandbox.base_url(), &access.username, "");
        let store = format!("stores/{STORE}.toml");
        let text = fs::read_to_string(dir.join(&store)).unwrap();
        installation.write(&store, &text.replace("password = \"\"", "password_file = \"password\""));
        installation.write("password", &access.password);
        for read_by_all in ["espelho.toml", &store] {
            fs::set_permissions(dir.join(read_by_all), fs::Permissions::from_mode(0o644)).unwrap();
        }
        SERVICE.owns(&dir.join("password"), 0o600);
        SERVICE.owns(&dir.join("state"), 0o2770);
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
        // The build's own files may be in a folder that other users cannot enter.
        for (program, name) in [(binary(), "espelho"), (std::env::current_exe().unwrap(), "erp")] {
            fs::copy(program, dir.join(name)).unwrap();
        }
        Self { installation, base, sandbox }
    }

    fn dir(&self) -> &Path {
        self.installation.dir()
    }

    fn state(&self, name: &str) -> PathBuf {
        self.dir().join("state").join(name)
    }

    fn command(&self, user: User, arguments: &[&str]) -> Command {
        let program = self.dir().join("espelho");
        let mut command = typed(&program, &self.installation, Path::new("/"), arguments);
        user.runs(command.env("STATE_DIRECTORY", self.dir().join("state")));
        command
    }

    async fn service(&self) -> Running {
        let mut service = Running::of(self.command(SERVICE, &["run"]));
        ready(&mut service, &self.base).await;
        service
    }

    /// Returns owner, group and mode.
    fn modes(&self, names: &[&str]) -> Vec<(u32, u32, u32)> {
        let of = |name: &&str| {
            let file = fs::metadata(self.state(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
            (file.uid(), file.gid(), file.mode() & 0o7777)
        };
        names.iter().map(of).collect()
    }

    fn has(&self, names: &[&str], user: User, mode: u32) {
        for (name, (owner, group, found)) in names.iter().zip(self.modes(names)) {
            assert_eq!(found, mode, "{name} has mode {found:o}");
            if is_root() {
                assert_eq!((owner, group), (user.user, GROUP), "{name}");
            }
        }
    }
}

/// The ERP's program, running as its user.
struct Erp {
    child: Child,
    said: Lines<BufReader<ChildStdout>>,
}

impl Erp {
    fn start(installed: &Installed, user: User) -> Self {
        let mut command = Command::new(installed.dir().join("erp"));
        command.args(["--exact", "group::a_program_of_another_user", "--nocapture"]).current_dir("/");
        user.runs(command.env(STATE, installed.dir().join("state")));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, said }
    }

    /// Returns its next message, which is one line with the prefix `erp:`.
    async fn says(&mut self) -> String {
        let saying = async {
            loop {
                let line = self.said.next_line().await.unwrap().expect("the ERP has ended");
                // The test harness may have begun the line.
                if let Some((_, said)) = line.split_once("erp: ") {
                    return said.to_owned();
                }
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(120), saying)
            .await
            .expect("the ERP says something")
    }

    /// Makes it close the database.
    async fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().await.unwrap().success());
    }
}

/// Runs as the program of another user; alone it does nothing. It writes a level, reports which files beside the
/// tables it may open, waits for the result of the level, and keeps the database open until its input ends.
#[tokio::test]
async fn a_program_of_another_user() {
    let Some(state) = std::env::var_os(STATE).map(PathBuf::from) else { return };
    let options = SqliteConnectOptions::new().filename(state.join("espelho.db"));
    let pool = match SqlitePool::connect_with(options).await {
        Ok(pool) => pool,
        Err(error) => return println!("erp: refused: {error}"),
    };
    let level = "INSERT INTO erp_stock (store, sku, location_id, quantity) \
        SELECT store, sku, location_id, 7 FROM product_stock WHERE gone_at IS NULL LIMIT 1 \
        ON CONFLICT DO UPDATE SET quantity = erp_stock.quantity + 1";
    sqlx::query(level).execute(&pool).await.unwrap();
    println!("erp: written");
    let mut opened = Vec::new();
    for name in PRIVATE {
        let path = state.join(name);
        let can = if path.is_dir() { fs::read_dir(&path).is_ok() } else { fs::File::open(&path).is_ok() };
        opened.extend(can.then_some(name));
    }
    println!("erp: opened {opened:?}");
    let answered = "SELECT count(*) FROM erp_stock WHERE state = 'done'";
    until("the level is carried out", async || {
        sqlx::query_scalar::<_, i64>(answered).fetch_one(&pool).await.unwrap() == 1
    })
    .await;
    println!("erp: done");
    let waiting = std::thread::spawn(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
    waiting.join().unwrap().unwrap();
    pool.close().await;
}

const SHARED: [&str; 3] = ["espelho.db", "espelho.db-wal", "espelho.db-shm"];
const SECRET: [&str; 3] = ["espelho.db-inbox", "espelho.db-inbox-wal", "espelho.db-inbox-shm"];

// withstands: F127, F139
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_erp_in_the_group_writes_while_the_service_runs_and_sees_no_secret() {
    let installed = Installed::new().await;
    Running::of(installed.command(SERVICE, &["--resync"])).end().await.expect(0);
    Running::of(installed.command(SERVICE, &["backup"])).end().await.expect(0);
    fs::create_dir_all(installed.state("labels")).unwrap();
    SERVICE.owns(&installed.state("labels"), 0o700);
    let service = installed.service().await;
    let mut erp = Erp::start(&installed, ERP);
    assert_eq!(erp.says().await, "written");
    let opened = erp.says().await;
    if is_root() {
        assert_eq!(opened, "opened []");
    }
    assert_eq!(erp.says().await, "done");
    installed.has(&SHARED, SERVICE, 0o660);
    installed.has(&SECRET, SERVICE, 0o600);
    // The state needs no password.
    let status = Running::of(installed.command(ERP, &["status", "--json"])).end().await;
    assert!(matches!(status.code, 0 | 3), "{status}");
    assert_eq!(status.json()["stores"][0]["store"], STORE);
    for name in ["backups", "labels"] {
        let mode = installed.modes(&[name])[0].2;
        assert_eq!(mode & 0o007, 0, "{name} has mode {mode:o}");
        assert!(!is_root() || mode & 0o070 == 0, "{name} has mode {mode:o}");
    }
    // None of the ERP's files contains the marketplace's token.
    let inbox = fs::read(installed.state("espelho.db-inbox-wal")).unwrap();
    let with_inbox = [inbox, fs::read(installed.state("espelho.db-inbox")).unwrap()].concat();
    let token = token_in(&with_inbox);
    for name in SHARED {
        let bytes = fs::read(installed.state(name)).unwrap();
        assert!(!contains(&bytes, &token), "{name} has the token");
    }
    erp.end().await;
    stopped(service).await;
    drop(installed.sandbox);
}

/// Returns the token in the bytes of a file.
fn token_in(bytes: &[u8]) -> Vec<u8> {
    let start = bytes.windows(8).position(|found| found == b"sk_live_").expect("a token");
    let token = bytes[start..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_');
    token.copied().collect()
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|found| found == wanted)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_the_erp_has_begun_is_the_services_too() {
    let installed = Installed::new().await;
    Running::of(installed.command(SERVICE, &["--resync"])).end().await.expect(0);
    assert!(!installed.state("espelho.db-wal").exists(), "whoever closes last takes the log away");
    let mut erp = Erp::start(&installed, ERP);
    assert_eq!(erp.says().await, "written");
    installed.has(&SHARED[1..], ERP, 0o660);
    let service = installed.service().await;
    erp.says().await;
    assert_eq!(erp.says().await, "done");
    stopped(service).await;
    // Another service continues with the log that the ERP owns.
    installed.has(&SHARED[1..], ERP, 0o660);
    let service = installed.service().await;
    stopped(service).await;
    erp.end().await;
    Running::of(installed.command(SERVICE, &["--resync"])).end().await.expect(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doctor_tells_another_user_what_the_service_says_and_blames_no_database() {
    if !is_root() {
        return;
    }
    let installed = Installed::new().await;
    let service = installed.service().await;
    for (user, file) in [(ERP, "espelho.db-inbox"), (STRANGER, "espelho.db")] {
        let told = Running::of(installed.command(user, &["doctor", "--json"])).end().await.expect(3).json();
        let findings = told["findings"].as_array().expect("a list");
        let of = |check: &str| findings.iter().find(|finding| finding["check"] == check).expect("a finding");
        for check in ["lock", "credential", "scopes", "rate_budget"] {
            assert_eq!(of(check)["state"], "green", "the service answers: {}", of(check));
        }
        for check in ["database", "database_write", "database_schema", "disk", "labels"] {
            let finding = of(check);
            let found = finding["found"].as_str().unwrap_or_default();
            assert_eq!(finding["state"], "unknown", "{finding}");
            assert!(found.contains("este usuário não pode"), "{finding}");
        }
        let (found, fix) = (&of("database")["found"], &of("database")["fix"]);
        assert!(found.as_str().is_some_and(|found| found.ends_with(&format!("state/{file}"))), "{found}");
        let step = format!("sudo -u '#{}' espelho", SERVICE.user);
        assert!(
            fix.as_str().is_some_and(|fix| fix.starts_with(&step) && fix.ends_with("doctor --json")),
            "{fix}"
        );
    }
    service.terminate().await;
    service.end().await.expect(0);
    let told = Running::of(installed.command(ERP, &["doctor", "--json"])).end().await.json();
    let findings = told["findings"].as_array().expect("a list");
    let of_store = |finding: &&serde_json::Value| {
        ["lock", "credential", "password", "scopes", "rate_budget"]
            .iter()
            .any(|check| finding["check"] == *check)
    };
    let unseen: Vec<_> = findings.iter().filter(of_store).collect();
    assert_eq!(unseen.len(), 5);
    for finding in unseen {
        assert!(
            finding["found"].as_str().is_some_and(|found| found.contains("este usuário não pode")),
            "{finding}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_not_open_the_database_is_told_so() {
    if !is_root() {
        return;
    }
    let installed = Installed::new().await;
    Running::of(installed.command(SERVICE, &["--resync"])).end().await.expect(0);
    let mut stranger = Erp::start(&installed, STRANGER);
    assert!(stranger.says().await.starts_with("refused"));
    // Everyone may read the configuration, but not the database.
    let store = installed.dir().join(format!("stores/{STORE}.toml"));
    let password = fs::read_to_string(installed.dir().join("password")).unwrap();
    let text = fs::read_to_string(&store).unwrap();
    let inline = format!("password = \"{password}\"");
    fs::write(&store, text.replace("password_file = \"password\"", &inline)).unwrap();
    for (user, file) in [(STRANGER, "espelho.db"), (ERP, "espelho.db-inbox")] {
        for arguments in [&["errors"][..], &["migrate"], &["--resync"]] {
            let refused = Running::of(installed.command(user, arguments)).end().await.expect(1);
            refused.says("não pode").says(&format!("state/{file}.")).says(&format!(
                "sudo -u '#{}' espelho --config {} {}",
                SERVICE.user,
                installed.dir().display(),
                arguments[0]
            ));
        }
    }
    // Root leaves no file that the service could not open.
    let root = User { user: 0, group: 0 };
    for arguments in [&["--resync"][..], &["backup"]] {
        Running::of(installed.command(root, arguments)).end().await.expect(0);
    }
    Running::of(installed.command(SERVICE, &["--resync"])).end().await.expect(0);
    let owners =
        fs::read_dir(installed.dir().join("state")).unwrap().map(|entry| entry.unwrap().metadata().unwrap());
    assert!(owners.into_iter().all(|file| file.uid() == SERVICE.user));
}
