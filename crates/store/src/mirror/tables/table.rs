//! The description of a mirrored table, and the statements derived from it.

use std::{fmt::Write as _, sync::OnceLock};

use crate::{driver::Insert, mirror::protected::REPORT};

/// A mirrored table. Its columns, in this order: store, the scope's column, the id, `content_hash`, `mirrored_at`,
/// the values, `raw`; besides these `gone_at` and the columns of [`Table::voiding`].
pub(crate) struct Table {
    pub(super) name: &'static str,
    /// The name in `changes.entity`.
    pub(super) entity: &'static str,
    pub(super) scope: Scope,
    /// The column that separates scopes.
    pub(super) id: &'static str,
    pub(super) values: &'static [&'static str],
    voided: &'static [&'static str],
    merge: Option<Merge>,
    statements: OnceLock<Statements>,
}

/// Which rows are read together, and go together when absent.
#[derive(Clone, Copy)]
pub(super) enum Scope {
    /// All rows of the store.
    Store,
    /// The rows of a parent; the parent's column is part of the key.
    InKey(&'static str),
    /// The rows of a parent; their ids are unique without it.
    Beside(&'static str),
}

/// How partial data in any order becomes one row.
#[derive(Clone, Copy)]
pub(super) struct Merge {
    /// The column with the data's time; the newer value counts.
    pub(super) as_of: &'static str,
    /// Columns that belong to `status`: a new status sets them too, if only to NULL.
    pub(super) with_status: &'static [&'static str],
}

/// A table's statements, written once.
pub(super) struct Statements {
    pub(super) upsert: Insert,
    /// `SELECT id, content_hash, gone … WHERE store = $1 [AND scope = $2] AND id`
    pub(super) known: &'static str,
    /// `SELECT id … WHERE store = $1 [AND scope = $2] AND gone_at IS NULL`
    pub(super) live: &'static str,
    /// `UPDATE … SET gone_at = $2 WHERE store = $1 AND gone_at IS NULL [AND scope = $3] AND id`
    pub(super) gone: &'static str,
    /// `UPDATE … SET as_of = $3 WHERE store = $1 AND id = $2 AND as_of < $3`, for tables with partial data.
    pub(super) confirm: Option<&'static str>,
}

impl Table {
    pub(super) const fn new(
        name: &'static str,
        entity: &'static str,
        scope: Scope,
        id: &'static str,
        values: &'static [&'static str],
    ) -> Self {
        Self { name, entity, scope, id, values, voided: &[], merge: None, statements: OnceLock::new() }
    }

    /// Adds columns that only espelho fills, and that every write of the row clears.
    pub(super) const fn voiding(mut self, columns: &'static [&'static str]) -> Self {
        self.voided = columns;
        self
    }

    /// Makes it a table with partial data.
    pub(super) const fn merging(mut self, merge: Merge) -> Self {
        self.merge = Some(merge);
        self
    }

    pub(super) fn statements(&'static self) -> &'static Statements {
        self.statements.get_or_init(|| Statements {
            upsert: self.upsert(),
            known: self.known().leak(),
            live: self.live().leak(),
            gone: self.gone().leak(),
            confirm: self.merge.map(|merge| &*self.confirm(merge).leak()),
        })
    }

    /// All statements, for the test that prepares them: complete ones, those that end in a list of keys, and the
    /// insert.
    pub(crate) fn to_prepare(&'static self) -> (Vec<&'static str>, [&'static str; 2], &'static Insert) {
        let statements = self.statements();
        let alone = [statements.live].into_iter().chain(statements.confirm).collect();
        (alone, [statements.known, statements.gone], &statements.upsert)
    }

    /// The name under which a person is read in its rows; `None` for a table about no person.
    pub(super) fn personal(&self) -> Option<&'static str> {
        match self.scope {
            Scope::InKey("order_number") | Scope::Beside("order_number") => Some(""),
            Scope::Beside("conversation_id") => Some(REPORT),
            Scope::Store if ["conversations", "occurrences"].contains(&self.name) => Some(REPORT),
            _ => None,
        }
    }

    /// True if another policy for people's data writes its rows again. Where that voids a file, it would be fetched
    /// again; and data that comes in parts is compared by the database.
    pub(super) fn is_marked(&self) -> bool {
        self.personal().is_some() && self.voided.is_empty() && self.merge.is_none()
    }

    /// The table's name.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// The name in the change feed, the table, and its key columns there.
    pub(crate) fn explained(&self) -> (&'static str, &'static str, Vec<&'static str>) {
        let key = match self.scope {
            Scope::Store => vec![self.id],
            Scope::InKey(column) | Scope::Beside(column) => vec![column, self.id],
        };
        (self.entity, self.name, key)
    }

    /// The columns of a record, in its order.
    fn columns(&self) -> Vec<&'static str> {
        let scope = match self.scope {
            Scope::Store => None,
            Scope::InKey(column) | Scope::Beside(column) => Some(column),
        };
        let before = ["store"].into_iter().chain(scope).chain([self.id, "content_hash", "mirrored_at"]);
        before.chain(self.values.iter().copied()).chain(["raw"]).collect()
    }

    fn key(&self) -> Vec<&'static str> {
        match self.scope {
            Scope::InKey(column) => vec!["store", column, self.id],
            Scope::Store | Scope::Beside(_) => vec!["store", self.id],
        }
    }

    fn upsert(&self) -> Insert {
        let (columns, key) = (self.columns(), self.key());
        let count = columns.len();
        let rest: Vec<&str> = columns.iter().copied().filter(|column| !key.contains(column)).collect();
        let set = match self.merge {
            None => self.overwritten(&rest),
            Some(merge) => self.merged(merge, &rest),
        };
        Insert {
            operation: "mirror rows",
            head: format!("INSERT INTO {} ({})", self.name, columns.join(", ")).leak(),
            columns: count,
            tail: format!("ON CONFLICT ({}) DO UPDATE SET gone_at = NULL, {set}", key.join(", ")).leak(),
        }
    }

    fn overwritten(&self, columns: &[&str]) -> String {
        let given = columns.iter().map(|column| format!("{column} = excluded.{column}"));
        let voided = self.voided.iter().map(|column| format!("{column} = NULL"));
        given.chain(voided).collect::<Vec<_>>().join(", ")
    }

    /// Takes the newer value of each column, the older one where the newer is NULL, and touches the row only if its
    /// data changes.
    fn merged(&self, merge: Merge, columns: &[&str]) -> String {
        let (mut set, mut differs) = (String::new(), format!("{}.gone_at IS NOT NULL", self.name));
        for column in columns {
            let merged = self.merged_column(merge, column);
            // Writing to a String cannot fail.
            let _ = write!(set, "{}{column} = {merged}", if set.is_empty() { "" } else { ", " });
            let is_told = *column != merge.as_of && self.values.contains(column);
            if is_told {
                let _ = write!(differs, " OR {}.{column} IS DISTINCT FROM {merged}", self.name);
            }
        }
        format!("{set} WHERE {differs}")
    }

    fn merged_column(&self, merge: Merge, column: &str) -> String {
        let (name, as_of) = (self.name, merge.as_of);
        let is_newer = format!("excluded.{as_of} >= {name}.{as_of}");
        if column == "mirrored_at" {
            return "excluded.mirrored_at".to_owned();
        }
        if [as_of, "raw", "content_hash"].contains(&column) {
            return format!("CASE WHEN {is_newer} THEN excluded.{column} ELSE {name}.{column} END");
        }
        if merge.with_status.contains(&column) {
            return format!(
                "CASE WHEN excluded.status IS NULL THEN {name}.{column} \
                 WHEN {is_newer} OR {name}.status IS NULL THEN excluded.{column} ELSE {name}.{column} END"
            );
        }
        format!(
            "CASE WHEN {is_newer} THEN COALESCE(excluded.{column}, {name}.{column}) \
             ELSE COALESCE({name}.{column}, excluded.{column}) END"
        )
    }

    fn known(&self) -> String {
        let (id, name) = (self.id, self.name);
        let within = self.within_key(2);
        format!(
            "SELECT {id}, content_hash, gone_at IS NOT NULL FROM {name} WHERE store = $1{within} AND {id}"
        )
    }

    fn live(&self) -> String {
        let within = match self.scope {
            Scope::Store => String::new(),
            Scope::InKey(column) | Scope::Beside(column) => format!(" AND {column} = $2"),
        };
        format!("SELECT {} FROM {} WHERE store = $1{within} AND gone_at IS NULL", self.id, self.name)
    }

    fn gone(&self) -> String {
        let within = self.within_key(3);
        format!(
            "UPDATE {} SET gone_at = $2 WHERE store = $1 AND gone_at IS NULL{within} AND {}",
            self.name, self.id
        )
    }

    fn confirm(&self, merge: Merge) -> String {
        let (name, id, as_of) = (self.name, self.id, merge.as_of);
        format!("UPDATE {name} SET {as_of} = $3 WHERE store = $1 AND {id} = $2 AND {as_of} < $3")
    }

    fn within_key(&self, place: usize) -> String {
        match self.scope {
            Scope::InKey(column) => format!(" AND {column} = ${place}"),
            Scope::Store | Scope::Beside(_) => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Places;

    static PARTS: Table =
        Table::new("parts", "part", Scope::InKey("parent"), "id", &["name"]).voiding(&["file"]);
    static TOLD: Table = Table::new("told", "tale", Scope::Store, "id", &["status", "why", "seen_at"])
        .merging(Merge { as_of: "seen_at", with_status: &["why"] });

    #[test]
    fn a_table_within_a_parent_is_keyed_and_asked_for_by_both() {
        let statements = PARTS.statements();
        assert_eq!(
            statements.upsert.sql(1, Places::Unnamed),
            "INSERT INTO parts (store, parent, id, content_hash, mirrored_at, name, raw) VALUES (?, ?, ?, ?, ?, ?, ?) \
             ON CONFLICT (store, parent, id) DO UPDATE SET gone_at = NULL, content_hash = excluded.content_hash, \
             mirrored_at = excluded.mirrored_at, name = excluded.name, raw = excluded.raw, file = NULL"
        );
        assert_eq!(
            statements.known,
            "SELECT id, content_hash, gone_at IS NOT NULL FROM parts WHERE store = $1 AND parent = $2 AND id"
        );
        assert_eq!(
            statements.gone,
            "UPDATE parts SET gone_at = $2 WHERE store = $1 AND gone_at IS NULL AND parent = $3 AND id"
        );
    }

    #[test]
    fn what_is_told_in_parts_never_loses_what_was_said_and_is_touched_only_by_news() {
        let sql = TOLD.statements().upsert.sql(1, Places::Unnamed);
        let (set, differs) = sql.split_once(" WHERE ").unwrap_or_else(|| panic!("{sql}"));
        assert!(set.contains(
            "status = CASE WHEN excluded.seen_at >= told.seen_at THEN COALESCE(excluded.status, told.status) \
             ELSE COALESCE(told.status, excluded.status) END"
        ));
        assert!(set.contains("why = CASE WHEN excluded.status IS NULL THEN told.why"));
        assert!(differs.starts_with("told.gone_at IS NOT NULL OR told.status IS DISTINCT FROM CASE"));
        for silent in ["told.seen_at IS DISTINCT", "told.raw IS DISTINCT", "told.mirrored_at IS DISTINCT"] {
            assert!(!differs.contains(silent), "{silent}");
        }
    }

    #[test]
    fn statements_are_written_once() {
        assert!(std::ptr::eq(PARTS.statements().known, PARTS.statements().known));
    }
}
