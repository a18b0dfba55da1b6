//! A service beside a sandbox whose seller prints labels in the portal.

use std::{fs, io::Write as _, path::Path, process::Stdio};

use espelho_sandbox::{Control, JournalQuery, Options, Sandbox};
use espelho_tests::{Installation, Kind, installation::STORE, sandbox_of, signals, until};
use sha2::{Digest as _, Sha256};
use tokio::{
    io::AsyncReadExt as _,
    process::{Child, Command},
};

/// The file size limit of a cramped service: less than the largest label, and more than the database.
pub(crate) const ROOM: usize = 18 << 20;

/// The service and its sandbox.
pub(crate) struct Printing {
    sandbox: Sandbox,
    installation: Installation,
    service: Option<Child>,
    number: String,
    is_cramped: bool,
}

impl Printing {
    /// Mirrors a store with the sub-resources of its orders, one of which has a parcel.
    pub(crate) async fn with(kind: Kind, level: &str, more: &str) -> Self {
        Self::of(kind, level, more, false).await
    }

    /// The same with a limit on the size of files.
    pub(crate) async fn cramped(kind: Kind, level: &str, more: &str) -> Self {
        Self::of(kind, level, more, true).await
    }

    async fn of(kind: Kind, level: &str, more: &str, is_cramped: bool) -> Self {
        let sandbox = sandbox_of(Options { orders: 60, products: 5, ..Options::default() }).await;
        let installation = Installation::on(kind).await;
        // SQLite's log is a file too: under the limit, write little.
        let seconds = if is_cramped { 20 } else { 1 };
        installation.write_main(&format!(
            "[log]\nlevel = \"{level}\"\n[schedule]\nreconcile = \"0 0 0 1 1 *\"\nnew_orders = {seconds}\n\
             open_orders = {seconds}\nparts = {seconds}\n"
        ));
        let access = sandbox.stores().remove(0);
        let (username, password) = (&access.username, &access.password);
        installation.write_store_with(STORE, &sandbox.base_url(), username, password, more);
        let number = String::new();
        let mut printing = Self { sandbox, installation, service: None, number, is_cramped };
        printing.start();
        let open = "SELECT s.order_number AS n FROM shipments AS s JOIN orders AS o ON o.store = s.store \
            AND o.order_number = s.order_number WHERE o.status IN ('preparing', 'ready_to_ship') \
            AND s.is_pickup IN (FALSE) AND (SELECT count(*) FROM shipments AS t WHERE t.order_number = s.order_number) = 1";
        let numbers = printing.until(open, |numbers| !numbers.is_empty()).await;
        printing.number = numbers[0].clone();
        let (store, control) = (printing.store(), printing.control());
        for shipment in control.shipments().of_order(&store, &printing.number) {
            assert!(control.shipments().block_labels(&store, &shipment, false));
        }
        printing
    }

    pub(crate) fn control(&self) -> Control {
        self.sandbox.control()
    }

    fn store(&self) -> String {
        self.sandbox.stores().remove(0).key
    }

    pub(crate) fn dir(&self) -> &Path {
        self.installation.dir()
    }

    /// The seller prints the labels in the portal, and another field of the order changes. A minute later the labels
    /// are ready, which no delivery reports.
    pub(crate) fn make_labels(&self) {
        let (store, control) = (self.store(), self.control());
        assert_eq!(control.labels().generate(&store, &self.number), 1);
        let notes = format!("impressa {}", self.downloads());
        assert!(control.orders().set_notes(&store, &self.number, Some(&notes)));
        assert!(control.forward(60));
    }

    /// Starts the service.
    pub(crate) fn start(&mut self) {
        let command = self.installation.command(&["run"]);
        let program = command.as_std().get_program().to_owned();
        // A limit raises a signal first, and is an error only if the signal is ignored. Shells count in 512 or 1,024
        // bytes.
        let script =
            "trap '' XFSZ; ulimit -f \"$1\"; [ \"$(ulimit -f)\" = \"$1\" ] || exit 9; shift; exec \"$@\"";
        let blocks = if self.is_cramped { (ROOM / 1024).to_string() } else { "unlimited".to_owned() };
        let mut shell = Command::new("bash");
        shell.arg("-c").arg(script).arg("bash").arg(blocks).arg(program).args(command.as_std().get_args());
        shell.current_dir(self.dir());
        let mut log = fs::File::options().create(true).append(true).open(self.dir().join("log")).unwrap();
        // The log goes through a pipe, so that the limit does not affect it.
        shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = shell.spawn().unwrap();
        let mut stderr = child.stderr.take().unwrap();
        tokio::spawn(async move {
            let mut piece = vec![0; 64 << 10];
            while let Ok(length) = stderr.read(&mut piece).await
                && length > 0
            {
                log.write_all(&piece[..length]).unwrap();
            }
        });
        self.service = Some(child);
    }

    pub(crate) async fn kill(&mut self) {
        self.service.take().unwrap().kill().await.unwrap();
    }

    pub(crate) async fn stop(&mut self) {
        let mut service = self.service.take().unwrap();
        signals::send(service.id().unwrap(), "TERM");
        assert!(service.wait().await.unwrap().success(), "{}", self.log());
        assert!(!self.log().contains("has panicked"), "{}", self.log());
    }

    fn log(&self) -> String {
        fs::read_to_string(self.dir().join("log")).unwrap_or_default()
    }

    /// Returns the number of requests for file addresses so far.
    pub(crate) fn downloads(&self) -> usize {
        let query = JournalQuery { path: Some("/download".into()), ..JournalQuery::default() };
        self.control().journal(&query).len()
    }

    pub(crate) async fn until_downloads(&self, count: usize) {
        until("an address was asked for", async || self.downloads() >= count).await;
    }

    /// Returns everything in the store's folder, hidden files too, with the mirror's file names.
    pub(crate) fn on_disk(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.dir().join("labels/loja-1")) else { return Vec::new() };
        let name = |entry: fs::DirEntry| format!("labels/loja-1/{}", entry.file_name().to_string_lossy());
        let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }

    /// Returns the rows of a query with one text each.
    pub(crate) async fn ask(&self, sql: &str) -> Vec<String> {
        let rows = self.installation.mirror().await.try_ask(sql).await;
        rows.into_iter().flat_map(std::collections::BTreeMap::into_values).collect()
    }

    /// Waits until the rows match.
    pub(crate) async fn until(&self, sql: &str, wanted: impl Fn(&[String]) -> bool) -> Vec<String> {
        let mirror = self.installation.mirror().await;
        let mut rows: Vec<String> = Vec::new();
        let shown = until("the mirror shows it", async || {
            let found = mirror.try_ask(sql).await;
            rows = found.into_iter().flat_map(std::collections::BTreeMap::into_values).collect();
            wanted(&rows)
        });
        if tokio::time::timeout(std::time::Duration::from_secs(100), shown).await.is_err() {
            let log = self.log();
            panic!("{sql}: {rows:?}\n{}", &log[log.len().saturating_sub(20_000)..]);
        }
        rows
    }

    /// Checks that neither logs nor tables nor the database's files contain a text.
    pub(crate) async fn shows_no(&self, text: &str) {
        let log = self.log();
        assert!(
            log.contains("files of labels come from this host") && log.contains("TRACE"),
            "the log says little"
        );
        assert!(!log.contains(text), "{text} in the log");
        let mirror = self.installation.mirror().await;
        for table in [
            "shipments",
            "shipment_labels",
            "label_files",
            "changes",
            "sync_failures",
            "orders",
            "order_parts",
        ] {
            let rows = format!("{:?}", mirror.rows(table).await);
            assert!(!rows.contains(text), "{text} in {table}");
        }
        for entry in fs::read_dir(self.dir()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let bytes = fs::read(&path).unwrap();
                let found = bytes.windows(text.len()).any(|window| window == text.as_bytes());
                assert!(!found, "{text} in {}", path.display());
            }
        }
    }
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
