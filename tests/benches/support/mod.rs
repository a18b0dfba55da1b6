//! Shared parts of the benchmarks: the marketplace as a separate process, a configuration, and the binary.
#![allow(dead_code, reason = "each benchmark uses its part")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop where it is")]

pub(crate) mod service;

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::Value;

/// Returns the value after `name` on the command line.
pub(crate) fn argument(name: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != name).nth(1)
}

/// Returns the installed binary (profile `dist`), built once; or the one of `--binary FILE`.
pub(crate) fn espelho() -> PathBuf {
    if let Some(file) = argument("--binary") {
        return PathBuf::from(file);
    }
    static BUILT: std::sync::Once = std::sync::Once::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    BUILT.call_once(|| {
        let mut cargo = Command::new(env!("CARGO"));
        let built = cargo
            .args(["build", "--profile", "dist", "-p", "espelho-daemon", "--quiet"])
            .current_dir(root)
            .status()
            .unwrap();
        assert!(built.success());
    });
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    target.join("dist/espelho")
}

/// `espelho sandbox` on a free port, with its control API. Dropping this value ends it.
pub(crate) struct Marketplace {
    child: Child,
    announcement: Value,
}

impl Marketplace {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(espelho());
        command.args(["sandbox", "--listen", "127.0.0.1:0", "--control", "--json"]).args(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, announcement: serde_json::from_str(&line).unwrap() }
    }

    pub(crate) fn base_url(&self) -> &str {
        self.announcement["base_url"].as_str().unwrap()
    }

    /// Returns name, username and password of every store.
    pub(crate) fn stores(&self) -> impl ExactSizeIterator<Item = [&str; 3]> {
        let all = self.announcement["stores"].as_array().unwrap();
        all.iter().map(|store| ["store", "username", "password"].map(|key| store[key].as_str().unwrap()))
    }

    pub(crate) fn stats(&self) -> Value {
        serde_json::from_str(&self.ask("GET", "/_sandbox/stats")).unwrap()
    }

    pub(crate) fn reset_stats(&self) {
        self.ask("POST", "/_sandbox/stats/reset");
    }

    /// Returns the number of requests to one route.
    pub(crate) fn count(&self, route: &str) -> u64 {
        self.stats()["by_route"][route].as_u64().unwrap_or(0)
    }

    fn ask(&self, method: &str, path: &str) -> String {
        let host = self.base_url().trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    }
}

impl Drop for Marketplace {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A configuration folder with the marketplace's first store.
pub(crate) struct Shop {
    folder: PathBuf,
}

impl Shop {
    pub(crate) fn write(
        folder: &Path,
        marketplace: &Marketplace,
        database: &str,
        requests_per_minute: u32,
    ) -> Self {
        let store = &marketplace.announcement["stores"][0];
        let text = |key: &str| store[key].as_str().unwrap();
        std::fs::create_dir_all(folder.join("stores")).unwrap();
        std::fs::write(folder.join("espelho.toml"), format!("[database]\nurl = \"{database}\"\n")).unwrap();
        let file = format!(
            "environment = \"sandbox\"\nbase_url = \"{}\"\n[credentials]\nusername = \"{}\"\npassword = \"{}\"\n\
             [limits]\nrequests_per_minute = {requests_per_minute}\n",
            marketplace.base_url(),
            text("username"),
            text("password")
        );
        std::fs::write(folder.join("stores").join(format!("{}.toml", text("store"))), file).unwrap();
        Self { folder: folder.to_owned() }
    }

    /// Builds `espelho --resync --json`, ready for more arguments.
    pub(crate) fn resync(&self) -> Command {
        self.resync_with(&espelho())
    }

    /// The same with another binary.
    pub(crate) fn resync_with(&self, binary: &Path) -> Command {
        let mut command = Command::new(binary);
        command.arg("--config").arg(&self.folder).args(["--resync", "--json"]);
        command
    }
}

/// A database: its name, and a URL that is emptied before each use.
pub(crate) struct Database {
    pub(crate) name: &'static str,
    pub(crate) url: String,
    /// The PostgreSQL server; none for SQLite.
    pub(crate) server: Option<String>,
}

/// Returns SQLite, and PostgreSQL if `ESPELHO_TEST_POSTGRES` names a server.
pub(crate) fn databases(scratch: &Path) -> Vec<Database> {
    let file = scratch.join("bench.db");
    let mut all = vec![Database { name: "SQLite", url: format!("sqlite:{}", file.display()), server: None }];
    match std::env::var("ESPELHO_TEST_POSTGRES") {
        Ok(server) => {
            let url = format!("{server}/espelho_bench");
            all.push(Database { name: "PostgreSQL", url, server: Some(server) });
        }
        Err(_) => println!("PostgreSQL is left out: ESPELHO_TEST_POSTGRES names no server"),
    }
    all
}

impl Database {
    /// Removes everything in it.
    pub(crate) fn empty(&self) {
        match &self.server {
            Some(server) => {
                let admin = format!("{server}/postgres");
                let sql =
                    ["DROP DATABASE IF EXISTS espelho_bench WITH (FORCE)", "CREATE DATABASE espelho_bench"];
                for sql in sql {
                    let done = Command::new("psql")
                        .args([&admin, "-qc", sql])
                        .stderr(Stdio::null())
                        .status()
                        .unwrap();
                    assert!(done.success(), "psql could not run {sql}");
                }
            }
            None => {
                let mirror = self.url.trim_start_matches("sqlite:");
                for file in [mirror.to_owned(), format!("{mirror}-inbox")] {
                    for suffix in ["", "-wal", "-shm"] {
                        let _ = std::fs::remove_file(format!("{file}{suffix}"));
                    }
                }
            }
        }
    }
}

/// Reads a file of `/proc/PROCESS`; empty if the process has ended.
pub(crate) fn of_process(process: u32, file: &str) -> String {
    std::fs::read_to_string(format!("/proc/{process}/{file}")).unwrap_or_default()
}

/// Returns a value of `/proc/PROCESS/status` in MiB: `VmRSS` is the current memory, `VmHWM` the peak.
pub(crate) fn memory(process: u32, name: &str) -> f64 {
    let status = of_process(process, "status");
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or_default() / 1_024.0
}

/// Returns the CPU seconds of a process.
pub(crate) fn cpu_seconds(process: u32) -> f64 {
    let stat = of_process(process, "stat");
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).map(|ticks| ticks.parse::<f64>().unwrap()).sum();
    ticks / 100.0
}

/// Queries a SQLite file; columns are joined by `|`.
pub(crate) fn ask_sqlite(file: &str, sql: &'static str) -> String {
    use sqlx::{ConnectOptions as _, Row as _};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(file);
        let mut connection = options.connect().await.unwrap();
        let row = sqlx::query(sql).fetch_one(&mut connection).await.unwrap();
        let count: i64 = row.get(2);
        format!("{}|{}|{count}", row.get::<String, _>(0), row.get::<String, _>(1))
    })
}
