//! Compares the database with the schema that the migrations make. A tool of the ERP, a restore or a person can drop or
//! disable a trigger, a view or an index; nothing fails then, but the ERP's writes go unseen.
//!
//! `statements` reads a migration, `expected` keeps what all of them leave behind, this file compares and mends.

mod expected;
mod statements;

use std::{collections::HashMap, fmt};

use sqlx::migrate::Migrator;

use crate::{
    Error, Store,
    driver::{Database, Row, Tx},
    migrations::{POSTGRES, SQLITE, SQLITE_INBOX},
};

use self::{
    expected::{Object, expected},
    statements::{Effect, effect},
};

pub use self::statements::ObjectKind;

const SQLITE_OBJECTS: &str = "SELECT type, name, CASE type WHEN 'table' THEN '' ELSE sql END FROM sqlite_schema \
    WHERE sql IS NOT NULL";
/// The third column is a function's body, or `off` for an object that does nothing.
const POSTGRES_OBJECTS: &str = "SELECT CASE relkind WHEN 'i' THEN 'index' WHEN 'v' THEN 'view' ELSE 'table' END, CAST(relname AS TEXT), \
    CASE WHEN i.indisvalid IS FALSE THEN 'off' ELSE '' END \
    FROM pg_class LEFT JOIN pg_index i ON i.indexrelid = pg_class.oid \
    WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind IN ('r', 'p', 'v', 'i') \
    UNION ALL SELECT 'trigger', CAST(tgname AS TEXT), CASE WHEN tgenabled IN ('O', 'A') THEN '' ELSE 'off' END \
    FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid \
    WHERE NOT tgisinternal AND relnamespace = CAST(current_schema() AS regnamespace) \
    UNION ALL SELECT 'function', CAST(proname AS TEXT), prosrc FROM pg_proc \
    WHERE pronamespace = CAST(current_schema() AS regnamespace)";
/// Only one process mends at a time.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended('espelho schema', 0))";

/// A difference between the database and the schema.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SchemaDefect {
    /// The kind of object.
    pub kind: ObjectKind,
    /// Its name.
    pub name: String,
    /// The difference.
    pub difference: Difference,
}

impl fmt::Display for SchemaDefect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", <&str>::from(self.kind), self.name)
    }
}

/// How an object differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// It is not there.
    Missing,
    /// It is there and does nothing: a disabled trigger, an invalid index.
    Disabled,
    /// Its definition is another one.
    Changed,
}

impl Store {
    /// Compares the database with the schema of this version.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn schema_defects(&self) -> Result<Vec<SchemaDefect>, Error> {
        let mut defects = Vec::new();
        for (database, migrator) in self.migrated() {
            let rows = database.fetch("read the schema", objects_of(database), Vec::new()).await?;
            let objects = expected(migrator);
            let found = compare(&objects, &observed(&rows)?);
            defects.extend(found.into_iter().map(|(_, defect)| defect));
        }
        Ok(defects)
    }

    /// Creates or enables whatever differs, except tables: only a backup has their rows. Returns what it mended.
    ///
    /// # Errors
    /// When the database refuses a definition; then nothing is changed.
    pub(crate) async fn mend_schema(&self) -> Result<Vec<SchemaDefect>, Error> {
        if self.schema_defects().await?.is_empty() {
            return Ok(Vec::new());
        }
        let mut mended = Vec::new();
        for (database, migrator) in self.migrated() {
            let mut tx = database.begin().await?;
            tx.execute_on_server("lock the schema", LOCK, Vec::new()).await?;
            // Another process may have mended it meanwhile.
            let rows = tx.fetch("read the schema", objects_of(database).to_owned(), Vec::new()).await?;
            let objects = expected(migrator);
            for (object, defect) in mendable(compare(&objects, &observed(&rows)?)) {
                mend(&mut tx, object, defect.difference).await?;
                mended.push(defect);
            }
            tx.commit().await?;
        }
        Ok(mended)
    }

    /// The databases with their migrations.
    fn migrated(&self) -> Vec<(&Database, &'static Migrator)> {
        match self.file() {
            Some(_) => vec![(&self.database, &*SQLITE), (&self.inbox, &*SQLITE_INBOX)],
            None => vec![(&self.database, &*POSTGRES)],
        }
    }
}

fn objects_of(database: &Database) -> &'static str {
    match database {
        Database::Sqlite { .. } => SQLITE_OBJECTS,
        Database::Postgres(_) => POSTGRES_OBJECTS,
    }
}

/// The objects of a database: their text, by kind and name.
type Observed = HashMap<(String, String), String>;

fn observed(rows: &[Row]) -> Result<Observed, Error> {
    rows.iter().map(|row| Ok(((row.text(0)?, row.text(1)?), row.text(2)?))).collect()
}

fn compare<'o, 's>(expected: &'o [Object<'s>], observed: &Observed) -> Vec<(&'o Object<'s>, SchemaDefect)> {
    let defect = |object: &'o Object<'s>| {
        let key = (<&str>::from(object.kind).to_owned(), object.name.clone());
        let difference = difference(object, observed.get(&key).map(String::as_str))?;
        Some((object, SchemaDefect { kind: object.kind, name: object.name.clone(), difference }))
    };
    expected.iter().filter_map(defect).collect()
}

/// Compares an object with its text in the database: SQLite's is the statement, PostgreSQL's only a function's body.
fn difference(object: &Object<'_>, found: Option<&str>) -> Option<Difference> {
    match found {
        None => Some(Difference::Missing),
        Some("off") => Some(Difference::Disabled),
        Some("") => None,
        Some(text) => (!contains(object.sql, text)).then_some(Difference::Changed),
    }
}

/// Tells whether a statement contains a text, whatever blanks separate the words.
fn contains(statement: &str, text: &str) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    plain(statement).contains(&plain(text))
}

/// Returns what can be mended, in an order that works: a trigger needs its function, and both it and an index their
/// table.
fn mendable<'o, 's>(defects: Vec<(&'o Object<'s>, SchemaDefect)>) -> Vec<(&'o Object<'s>, SchemaDefect)> {
    let (tables, mut rest): (Vec<_>, Vec<_>) =
        defects.into_iter().partition(|(object, _)| object.kind == ObjectKind::Table);
    rest.retain(|(object, _)| !tables.iter().any(|(table, _)| object.table.as_ref() == Some(&table.name)));
    rest.sort_by_key(|(_, defect)| defect.kind);
    rest
}

async fn mend(tx: &mut Tx, object: &Object<'_>, difference: Difference) -> Result<(), Error> {
    let (kind, name) = (<&str>::from(object.kind), object.name.as_str());
    let is_replaced = object.kind == ObjectKind::Function;
    if difference == Difference::Disabled
        && object.kind == ObjectKind::Trigger
        && let Some(table) = &object.table
    {
        return tx.define(format!("ALTER TABLE {table} ENABLE TRIGGER {name}")).await;
    }
    if difference != Difference::Missing && !is_replaced {
        tx.define(format!("DROP {kind} {name}")).await?;
    }
    let sql = match is_replaced {
        true => object.sql.replacen("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", 1),
        false => object.sql.to_owned(),
    };
    tx.define(sql).await?;
    match effect(object.sql) {
        Some(Effect::Define { name: first, .. }) if first != name => {
            tx.define(format!("ALTER {kind} {first} RENAME TO {name}")).await
        }
        _ => Ok(()),
    }
}
