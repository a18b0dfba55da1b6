//! A copy of a database on its PostgreSQL server, under a name of its own.
//!
//! The server copies a database by itself only while nobody else is connected to it. Else `pg_dump` reads it, and
//! `pg_restore` fills an empty one.

use std::{process::Stdio, sync::Arc, time::Duration};

use espelho_model::Clock;
use percent_encoding::percent_decode_str;
use sqlx::{
    ConnectOptions as _,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::process::Command;

use super::CopyWay;
use crate::{
    CopyObstacle, Error, Store,
    connect::{IN_LINE, address::shown, connect_server, server_options},
    driver::{Database, QueuedPool},
};

const PG_DUMP: &str = "pg_dump";
const PG_RESTORE: &str = "pg_restore";

/// The database: its number and name, and what an empty copy must be like.
pub(crate) const FACTS: &str = "SELECT CAST(oid AS BIGINT), CAST(datname AS TEXT), CAST(pg_encoding_to_char(encoding) AS TEXT), \
    CAST(datcollate AS TEXT), CAST(datctype AS TEXT) FROM pg_database WHERE datname = current_database()";
/// The other sessions of a database.
pub(crate) const SESSIONS: &str = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid() \
    AND backend_type = 'client backend'";
pub(crate) const IS_THERE: &str = "SELECT count(*) FROM pg_database WHERE datname = $1";
/// A statement of ours that still runs would keep the copy from being dropped.
pub(crate) const END_SESSIONS: &str = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
    WHERE datname = $1 AND pid <> pg_backend_pid()";
pub(crate) const SIZE: &str = "SELECT pg_database_size(current_database())";

/// How often the sessions of the database are looked at: the one that has read it before ends a moment after it is closed.
const LOOKS: u32 = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// A copy that is to be made, and removed by [`ServerCopy::remove`].
pub(super) struct ServerCopy {
    url: String,
    options: PgConnectOptions,
    /// One session of the original, which makes and drops the copy.
    session: Database,
    original: String,
    name: String,
    /// Encoding, collation and character type.
    kind: [String; 3],
}

impl ServerCopy {
    /// Drops a copy that a killed rehearsal has left.
    pub(super) async fn begin(url: &str) -> Result<Self, Error> {
        let options = server_options(url)?;
        let failed = |source| Error::Connect { url: shown(url), source };
        let own = options.clone().application_name("espelho migrate --rehearse");
        let pool = PgPoolOptions::new().max_connections(1).connect_with(own).await.map_err(failed)?;
        let session = Database::Postgres(QueuedPool::new(pool, IN_LINE));
        let rows = session.fetch("look at the database", FACTS, Vec::new()).await?;
        let row = rows.first().ok_or_else(|| Error::Missing { url: shown(url) })?;
        let name = format!("espelho_rehearsal_{}", row.int(0)?);
        let (original, kind) = (row.text(1)?, [row.text(2)?, row.text(3)?, row.text(4)?]);
        let copy = Self { url: url.to_owned(), options, session, original, name, kind };
        if copy.count(IS_THERE, &copy.name).await? > 0 {
            if copy.count(SESSIONS, &copy.name).await? > 0 {
                return Err(Error::InUse { path: copy.name });
            }
            copy.drop_copy().await?;
        }
        Ok(copy)
    }

    /// Makes the copy, and opens it without migrating it.
    pub(super) async fn open(&self, clock: &Arc<dyn Clock>) -> Result<(CopyWay, Store), Error> {
        let way = match self.by_template(clock.as_ref()).await? {
            true => CopyWay::Template,
            false => {
                self.by_dump().await?;
                CopyWay::Dump
            }
        };
        let options = self.options.clone().database(&self.name);
        Ok((way, connect_server(&self.url, options, Arc::clone(clock)).await?))
    }

    /// Has the server copy the database; `false` if it does not.
    async fn by_template(&self, clock: &dyn Clock) -> Result<bool, Error> {
        let mut looks = 0;
        while self.count(SESSIONS, &self.original).await? > 0 {
            looks += 1;
            if looks == LOOKS {
                return Ok(false);
            }
            clock.sleep(BETWEEN_LOOKS).await;
        }
        let sql = format!("CREATE DATABASE {} TEMPLATE {}", self.name, quoted(&self.original));
        match self.session.execute_alone("copy the database", sql).await {
            Ok(()) => Ok(true),
            // Somebody has come meanwhile; or the database is another role's.
            Err(error) if ["55006", "42501"].contains(&code(&error).as_str()) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Makes an empty database, and fills it by the server's own programs.
    async fn by_dump(&self) -> Result<(), Error> {
        let [encoding, collation, letters] = &self.kind;
        let sql = format!(
            "CREATE DATABASE {} TEMPLATE template0 ENCODING {} LC_COLLATE {} LC_CTYPE {}",
            self.name,
            literal(encoding),
            literal(collation),
            literal(letters)
        );
        self.session.execute_alone("make a database", sql).await.map_err(|error| {
            match code(&error).as_str() {
                "42501" => self.obstacle(CopyObstacle::Role { role: self.options.get_username().to_owned() }),
                _ => error,
            }
        })?;
        let mut dump = self.program(PG_DUMP, &self.original);
        dump.args(["--format=custom", "--compress=0", "--no-owner", "--no-privileges"])
            .stdout(Stdio::piped());
        let mut dump = dump.spawn().map_err(|_| self.obstacle(CopyObstacle::Programs))?;
        let unread = || self.obstacle(CopyObstacle::Dump { cause: "pipe".to_owned() });
        let read: Stdio = dump.stdout.take().and_then(|read| read.try_into().ok()).ok_or_else(unread)?;
        let mut restore = self.program(PG_RESTORE, &self.name);
        restore
            .args(["--exit-on-error", "--no-owner", "--no-privileges", "--dbname", &self.name])
            .stdin(read);
        let restore = restore.spawn().map_err(|_| self.obstacle(CopyObstacle::Programs))?;
        let (dumped, restored) = tokio::join!(dump.wait_with_output(), restore.wait_with_output());
        for ended in [dumped, restored] {
            let cause = match ended {
                Ok(output) if output.status.success() => continue,
                Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
                Err(error) => error.to_string(),
            };
            return Err(self.obstacle(CopyObstacle::Dump { cause }));
        }
        Ok(())
    }

    /// A program of the server's, connected as we are. The password is not among its arguments, which everybody reads.
    fn program(&self, name: &str, database: &str) -> Command {
        let mut command = Command::new(name);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let host = match self.options.get_socket() {
            Some(socket) => socket.display().to_string(),
            None => self.options.get_host().to_owned(),
        };
        command.env("PGHOST", host).env("PGPORT", self.options.get_port().to_string());
        command.env("PGUSER", self.options.get_username()).env("PGDATABASE", database);
        let url = self.options.to_url_lossy();
        if let Some(password) = url.password() {
            command.env("PGPASSWORD", percent_decode_str(password).decode_utf8_lossy().as_ref());
        }
        for (key, value) in url.query_pairs() {
            let name = match key.as_ref() {
                "sslmode" => "PGSSLMODE",
                "sslrootcert" => "PGSSLROOTCERT",
                "sslcert" => "PGSSLCERT",
                "sslkey" => "PGSSLKEY",
                _ => continue,
            };
            command.env(name, value.as_ref());
        }
        command
    }

    /// Drops the copy, whatever still works on it.
    pub(super) async fn remove(self) -> Result<(), Error> {
        self.count(END_SESSIONS, &self.name).await?;
        let dropped = self.drop_copy().await;
        if let Database::Postgres(line) = &self.session {
            line.close().await;
        }
        dropped
    }

    async fn drop_copy(&self) -> Result<(), Error> {
        let sql = format!("DROP DATABASE IF EXISTS {}", self.name);
        self.session.execute_alone("remove the copy", sql).await
    }

    async fn count(&self, sql: &'static str, database: &str) -> Result<u64, Error> {
        let rows = self.session.fetch("look at the sessions", sql, vec![database.into()]).await?;
        rows.first().map_or(Ok(0), |row| row.count(0))
    }

    fn obstacle(&self, obstacle: CopyObstacle) -> Error {
        Error::NoCopy { url: shown(&self.url), obstacle }
    }
}

/// The size of a database on its server.
pub(super) async fn size(store: &Store) -> Result<u64, Error> {
    let rows = store.database.fetch("measure the database", SIZE, Vec::new()).await?;
    rows.first().map_or(Ok(0), |row| row.count(0))
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The server's code of an error.
fn code(error: &Error) -> String {
    let Error::Statement { source, .. } = error else { return String::new() };
    let code = source.as_database_error().and_then(sqlx::error::DatabaseError::code);
    code.map(std::borrow::Cow::into_owned).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_words_are_quoted_for_statements() {
        assert_eq!(quoted("espelho"), "\"espelho\"");
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
        assert_eq!(literal("C"), "'C'");
        assert_eq!(literal("o'x"), "'o''x'");
    }
}
