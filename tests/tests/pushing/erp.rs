//! An ERP beside a service and a sandbox: it writes tables with plain SQL, and reads the results.

use std::path::Path;

use espelho_sandbox::{Control, JournalEntry, JournalQuery, NewOrder, Options, Sandbox};
use espelho_tests::{
    Installation, Kind, Mirror, Running, installation::STORE, sandbox_of, truth::Reader, until,
};
use serde_json::Value;
use sqlx::AssertSqlSafe;

/// The ERP and its environment.
pub(crate) struct Erp {
    pub(crate) sandbox: Sandbox,
    pub(crate) installation: Installation,
    pub(crate) mirror: Mirror,
    /// The marketplace's own contents, read with a separate login.
    pub(crate) truth: Reader,
    service: Option<Running>,
}

/// A product of the sandbox.
#[derive(Clone, Debug)]
pub(crate) struct Goods {
    pub(crate) id: String,
    pub(crate) sku: String,
    pub(crate) location: String,
    pub(crate) quantity: i64,
}

impl Erp {
    /// Mirrors a store and keeps its service running.
    pub(crate) async fn with(kind: Kind, more: &str) -> Self {
        Self::of(kind, Options { orders: 8, products: 12, ..Options::default() }, more).await
    }

    pub(crate) async fn of(kind: Kind, options: Options, more: &str) -> Self {
        let sandbox = sandbox_of(options).await;
        let installation = Installation::on(kind).await;
        installation.write_main(
            "[log]\nlevel = \"info\"\n[schedule]\nreconcile = \"0 0 0 1 1 *\"\nnew_orders = 1\nopen_orders = 1\nparts = 1\n",
        );
        let access = sandbox.stores().remove(0);
        installation.write_store_with(STORE, &sandbox.base_url(), &access.username, &access.password, more);
        let other = sandbox.control().credentials().create(&access.key).unwrap();
        let truth = Reader::log_in_with(&sandbox, &other).await;
        let service = Some(installation.start(&["run"]));
        let mirror = installation.mirror().await;
        let erp = Self { sandbox, installation, mirror, truth, service };
        erp.until("SELECT state AS s FROM sync_runs", |states| states.contains(&"complete".to_owned())).await;
        erp
    }

    pub(crate) fn control(&self) -> Control {
        self.sandbox.control()
    }

    pub(crate) fn key(&self) -> String {
        self.sandbox.stores().remove(0).key
    }

    pub(crate) fn dir(&self) -> &Path {
        self.installation.dir()
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
        let rows = self.ask(sql).await;
        rows.iter()
            .map(|row| {
                let [id, sku, location, quantity] = row.split('|').collect::<Vec<_>>()[..] else {
                    panic!("{row}")
                };
                Goods {
                    id: id.to_owned(),
                    sku: sku.to_owned(),
                    location: location.to_owned(),
                    quantity: quantity.parse::<f64>().unwrap() as i64,
                }
            })
            .collect()
    }

    pub(crate) async fn set_stock(&self, goods: &Goods, quantity: &str) {
        let Goods { sku, location, .. } = goods;
        let sql = format!(
            "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('{STORE}', '{sku}', '{location}', {quantity}) \
             ON CONFLICT (store, sku, location_id) DO UPDATE SET quantity = excluded.quantity"
        );
        self.mirror.execute(&sql).await;
    }

    pub(crate) async fn set_price(&self, sku: &str, min_quantity: u32, price: &str) {
        let sql = format!(
            "INSERT INTO erp_prices (store, sku, min_quantity, price) VALUES ('{STORE}', '{sku}', {min_quantity}, {price}) \
             ON CONFLICT (store, sku, min_quantity) DO UPDATE SET price = excluded.price"
        );
        self.mirror.execute(&sql).await;
    }

    /// Writes a command and waits until it is over; returns state, code, error and hint.
    pub(crate) async fn command(&self, kind: &str, key: &str, data: &Value) -> [String; 4] {
        let id = self.give(kind, key, data).await;
        self.outcome(id, |state| !["new", "waiting", "sending"].contains(&state)).await
    }

    /// Writes a command; returns its number.
    pub(crate) async fn give(&self, kind: &str, key: &str, data: &Value) -> i64 {
        let data = data.to_string().replace('\'', "''");
        let sql = format!(
            "INSERT INTO commands (store, kind, key, data) VALUES ('{STORE}', '{kind}', '{key}', '{data}')"
        );
        self.mirror.execute(&sql).await;
        let rows = self.ask("SELECT CAST(max(id) AS TEXT) AS id FROM commands").await;
        rows[0].parse().unwrap()
    }

    /// Waits until a command's state matches.
    pub(crate) async fn outcome(&self, id: i64, wanted: impl Fn(&str) -> bool) -> [String; 4] {
        let columns = ["state", "COALESCE(error_code, '')", "COALESCE(error, '')", "COALESCE(hint, '')"];
        let sql = format!("SELECT {} AS o FROM commands WHERE id = {id}", columns.join(" || '|' || "));
        let rows = self
            .until(&sql, |rows| rows.first().is_some_and(|row| wanted(row.split('|').next().unwrap())))
            .await;
        let words: Vec<&str> = rows[0].splitn(4, '|').collect();
        [words[0].to_owned(), words[1].to_owned(), words[2].to_owned(), words[3].to_owned()]
    }

    /// Returns the stock of a location, as the marketplace reports it.
    pub(crate) async fn stock_of(&self, goods: &Goods) -> i64 {
        let stock = self.truth.data(&format!("/api/products/{}/stock", goods.id)).await;
        let rows = stock["stocks"].as_array().unwrap();
        let own = rows
            .iter()
            .find(|row| {
                espelho_tests::truth::text(&row["location_stock"]["location_id"]) == goods.location
                    || espelho_tests::truth::text(&row["location_stock"]) == goods.location
                    || espelho_tests::truth::text(&row["location_id"]) == goods.location
            })
            .unwrap_or(&rows[0]);
        own["quantity"].as_f64().unwrap() as i64
    }

    /// Returns the peak of the service's resident memory, in KiB.
    pub(crate) fn peak_memory(&self) -> u64 {
        let process = self.service.as_ref().map(Running::id).unwrap();
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Returns the service's requests to paths that contain `part`, without reads and logins.
    pub(crate) fn writes(&self, part: &str) -> Vec<JournalEntry> {
        let query = JournalQuery { path: Some(part.to_owned()), ..JournalQuery::default() };
        let entries = self.control().journal(&query);
        entries
            .into_iter()
            .filter(|entry| entry.method != "GET" && !entry.path.contains("/integration/auth"))
            .collect()
    }

    /// Returns the first column of a query, as text.
    pub(crate) async fn ask(&self, sql: &str) -> Vec<String> {
        let rows = self.mirror.try_ask(sql).await;
        rows.into_iter().flat_map(std::collections::BTreeMap::into_values).collect()
    }

    /// Waits until the rows of a query match.
    pub(crate) async fn until(&self, sql: &str, wanted: impl Fn(&[String]) -> bool) -> Vec<String> {
        let mut rows = Vec::new();
        let shown = until("the tables show it", async || {
            rows = self.ask(sql).await;
            wanted(&rows)
        });
        if tokio::time::timeout(std::time::Duration::from_secs(90), shown).await.is_err() {
            panic!(
                "{sql}: {rows:?}; errors: {:?}",
                self.ask("SELECT entity || ' ' || key || ' ' || code || ' ' || error AS e FROM v_errors")
                    .await
            );
        }
        rows
    }

    /// Runs statements in one transaction, and ends it with `end`.
    pub(crate) async fn transaction(&self, statements: &[String], end: &str) {
        let sql = format!("BEGIN; {}; {end};", statements.join("; "));
        let done = match &self.mirror {
            Mirror::Sqlite(pool) => sqlx::raw_sql(AssertSqlSafe(sql)).execute(pool).await.map(drop),
            Mirror::Postgres(pool) => sqlx::raw_sql(AssertSqlSafe(sql)).execute(pool).await.map(drop),
        };
        done.unwrap();
    }

    pub(crate) fn start(&mut self) {
        self.service = Some(self.installation.start(&["run"]));
    }

    /// Kills the service with `kill -9`.
    pub(crate) async fn kill(&mut self) {
        self.service.take().unwrap().kill().await;
    }

    pub(crate) async fn stop(&mut self) {
        let service = self.service.take().unwrap();
        service.terminate().await;
        let outcome = service.end().await.expect(0);
        assert!(!outcome.stderr.contains("panicked"), "{}", outcome.stderr);
    }
}
