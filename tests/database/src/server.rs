//! Databases on the PostgreSQL server that `tests/run` starts.

use std::{
    hash::{BuildHasher as _, RandomState},
    str::FromStr as _,
};

use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection, postgres::PgConnectOptions};

/// The number of the lock under which a template is made.
const MAKING: i64 = 7_391;

/// A database on the server, dropped with this value, also by a panic.
pub struct ServerDatabase {
    name: String,
}

impl ServerDatabase {
    /// Creates a database without a table.
    pub async fn empty() -> Self {
        // The server admits no connection to template0, so tests do not wait for each other.
        Self::create("template0").await
    }

    /// Creates a copy of `template`, which is made first if it is missing.
    pub(crate) async fn copy_of(template: &str, migrate: &impl AsyncFn(String)) -> Self {
        let mut admin = server().connect().await.unwrap();
        execute(&mut admin, format!("SELECT pg_advisory_lock({MAKING})")).await;
        let exists = format!("SELECT 1 FROM pg_database WHERE datname = '{template}'");
        if sqlx::query(AssertSqlSafe(exists)).fetch_optional(&mut admin).await.unwrap().is_none() {
            let making = format!("{template}_making");
            execute(&mut admin, format!("DROP DATABASE IF EXISTS {making} WITH (FORCE)")).await;
            execute(&mut admin, format!("CREATE DATABASE {making} TEMPLATE template0")).await;
            migrate(address(&making)).await;
            execute(&mut admin, format!("ALTER DATABASE {making} RENAME TO {template}")).await;
        }
        // The lock ends with the connection. No test connects to a template, so copies need none.
        admin.close().await.unwrap();
        Self::create(template).await
    }

    async fn create(template: &str) -> Self {
        let name = format!("espelho_test_{:016x}", RandomState::new().hash_one(template));
        run_on(&server(), format!("CREATE DATABASE {name} TEMPLATE {template}")).await;
        Self { name }
    }

    /// Its address, as a configuration has it.
    pub fn url(&self) -> String {
        address(&self.name)
    }
}

impl Drop for ServerDatabase {
    fn drop(&mut self) {
        let sql = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        let drop_it = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(run_on(&server(), sql));
        };
        // Drop may run on a runtime's thread, which must not block; a separate thread may.
        let done = std::thread::scope(|scope| scope.spawn(drop_it).join());
        if done.is_err() {
            // It goes with the server that `tests/run` started.
            eprintln!("{} was not dropped", self.name);
        }
    }
}

/// The server that `tests/run` starts.
pub fn server() -> PgConnectOptions {
    PgConnectOptions::from_str(&address("postgres")).unwrap()
}

/// Runs a statement in a connection of its own.
pub async fn run_on(server: &PgConnectOptions, sql: String) {
    let mut connection = server.connect().await.unwrap();
    execute(&mut connection, sql).await;
    connection.close().await.unwrap();
}

async fn execute(connection: &mut PgConnection, sql: String) {
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await.unwrap();
}

/// The absence of a server is a failure: otherwise half of the tests would silently be skipped.
fn address(database: &str) -> String {
    let Ok(server) = std::env::var("ESPELHO_TEST_POSTGRES") else {
        panic!(
            "ESPELHO_TEST_POSTGRES names no PostgreSQL server: run tests/run, which starts one for the tests"
        );
    };
    format!("{server}/{database}")
}
