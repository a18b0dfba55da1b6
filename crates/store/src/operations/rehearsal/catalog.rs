//! The objects of a schema with their definitions, and how two schemas differ. The comparison is pure.

use std::collections::BTreeMap;

use crate::{
    Error,
    driver::{Database, Row},
    schema::ObjectKind,
};

pub(crate) const SQLITE_DEFINITIONS: &str = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL \
    AND name <> '_sqlx_migrations' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
/// The definition of a table is that of its columns and constraints.
pub(crate) const SERVER_DEFINITIONS: &str = "SELECT 'table', CAST(c.relname AS TEXT), \
    COALESCE((SELECT string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) \
        || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END || COALESCE(' ' || pg_get_expr(d.adbin, d.adrelid), ''), \
        ', ' ORDER BY a.attnum) FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), '') \
    || COALESCE((SELECT string_agg(', ' || pg_get_constraintdef(k.oid), '' ORDER BY k.conname) FROM pg_constraint k \
        WHERE k.conrelid = c.oid), '') \
    FROM pg_class c WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind IN ('r', 'p') \
        AND c.relname <> '_sqlx_migrations' \
    UNION ALL SELECT 'view', CAST(relname AS TEXT), pg_get_viewdef(oid) FROM pg_class \
        WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind = 'v' \
    UNION ALL SELECT 'index', CAST(relname AS TEXT), pg_get_indexdef(oid) FROM pg_class \
        WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind = 'i' AND relname <> '_sqlx_migrations_pkey' \
    UNION ALL SELECT 'trigger', CAST(tgname AS TEXT), CAST(tgenabled AS TEXT) || pg_get_triggerdef(t.oid) FROM pg_trigger t \
        JOIN pg_class ON pg_class.oid = tgrelid \
        WHERE NOT tgisinternal AND relnamespace = CAST(current_schema() AS regnamespace) \
    UNION ALL SELECT 'function', CAST(proname AS TEXT), prosrc FROM pg_proc \
        WHERE pronamespace = CAST(current_schema() AS regnamespace)";

/// How a migration changes an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Its definition is another one.
    Changed,
    /// It is gone.
    Dropped,
}

/// An object that a migration changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaChange {
    /// The kind of object.
    pub kind: ObjectKind,
    /// Its name.
    pub name: String,
    /// How it changes.
    pub change: ChangeKind,
}

/// The definitions of all objects of a database.
pub(super) struct Catalog(BTreeMap<(ObjectKind, String), String>);

impl Catalog {
    pub(super) async fn read(database: &Database) -> Result<Self, Error> {
        let sql = match database {
            Database::Sqlite { .. } => SQLITE_DEFINITIONS,
            Database::Postgres(_) => SERVER_DEFINITIONS,
        };
        // Not by the pool of readers: a prepared statement of theirs would see the schema of before.
        let mut tx = database.begin().await?;
        let rows = tx.fetch("read the schema", sql.to_owned(), Vec::new()).await?;
        tx.commit().await?;
        rows.iter().filter_map(|row| object(row).transpose()).collect::<Result<_, _>>().map(Self)
    }

    /// The names of the tables.
    pub(super) fn tables(&self) -> impl Iterator<Item = &str> {
        let tables = self.0.keys().filter(|(kind, _)| *kind == ObjectKind::Table);
        tables.map(|(_, name)| name.as_str())
    }

    pub(super) fn has_table(&self, name: &str) -> bool {
        self.tables().any(|table| table == name)
    }

    /// The changes that lead to another catalog.
    pub(super) fn changes_to(&self, after: &Self) -> Vec<SchemaChange> {
        let of_before = self.0.iter().filter_map(|(object, definition)| match after.0.get(object) {
            None => Some((object, ChangeKind::Dropped)),
            Some(now) if now != definition => Some((object, ChangeKind::Changed)),
            Some(_) => None,
        });
        let new = after.0.keys().filter(|object| !self.0.contains_key(*object));
        let mut all: Vec<_> = of_before.chain(new.map(|object| (object, ChangeKind::Added))).collect();
        all.sort_by_key(|(object, _)| *object);
        let change = |((kind, name), change): (&(ObjectKind, String), ChangeKind)| SchemaChange {
            kind: *kind,
            name: name.clone(),
            change,
        };
        all.into_iter().map(change).collect()
    }
}

/// An object with its definition.
type Object = ((ObjectKind, String), String);

/// Reads an object; `None` for a kind that no migration makes.
fn object(row: &Row) -> Result<Option<Object>, Error> {
    let Ok(kind) = row.text(0)?.parse() else { return Ok(None) };
    Ok(Some(((kind, row.foreign_text(1)?), row.foreign_text(2)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog(objects: &[(ObjectKind, &str, &str)]) -> Catalog {
        let object = |(kind, name, definition): &(ObjectKind, &str, &str)| {
            ((*kind, (*name).to_owned()), (*definition).to_owned())
        };
        Catalog(objects.iter().map(object).collect())
    }

    #[test]
    fn what_is_new_gone_or_another_is_a_change_and_the_rest_is_none() {
        use ObjectKind::{Index, Table, View};
        let before = catalog(&[
            (Table, "a", "x INT"),
            (Table, "b", "x INT"),
            (Table, "c", "x INT"),
            (View, "a", "SELECT 1"),
        ]);
        let after = catalog(&[
            (Table, "a", "x INT"),
            (Table, "b", "x INT, y INT"),
            (View, "a", "SELECT 1"),
            (Index, "i", "ON b (y)"),
        ]);
        let told = |changes: Vec<SchemaChange>| {
            let told = changes.into_iter().map(|change| (change.kind, change.name, change.change));
            told.collect::<Vec<_>>()
        };
        let expected = [
            (Table, "b".to_owned(), ChangeKind::Changed),
            (Table, "c".to_owned(), ChangeKind::Dropped),
            (Index, "i".to_owned(), ChangeKind::Added),
        ];
        assert_eq!(told(before.changes_to(&after)), expected);
        assert_eq!(told(after.changes_to(&after)), []);
        assert!(before.has_table("c") && !after.has_table("c") && !after.has_table("i"));
    }
}
