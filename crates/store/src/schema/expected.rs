//! The objects that the migrations leave behind, with the statement that defines each.

use sqlx::migrate::Migrator;

use super::statements::{Effect, ObjectKind, effect, statements};

/// An object of the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Object<'s> {
    pub(super) kind: ObjectKind,
    pub(super) name: String,
    /// The table of a trigger or an index.
    pub(super) table: Option<String>,
    /// The statement that defines it.
    pub(super) sql: &'s str,
}

/// Returns the objects after all migrations, in the order of their definitions.
pub(super) fn expected(migrator: &Migrator) -> Vec<Object<'_>> {
    let mut objects = Vec::new();
    for statement in migrator.iter().flat_map(|migration| statements(migration.sql.as_str())) {
        if let Some(effect) = effect(statement) {
            apply(&mut objects, effect, statement);
        }
    }
    objects
}

fn apply<'s>(objects: &mut Vec<Object<'s>>, effect: Effect<'_>, sql: &'s str) {
    match effect {
        // It ends with the migration's session.
        Effect::Define { name, .. } if name.starts_with("pg_temp.") => {}
        Effect::Define { kind, name, table } => {
            // Of an object that is replaced, the last definition counts.
            objects.retain(|object| (object.kind, object.name.as_str()) != (kind, name));
            objects.push(Object { kind, name: name.to_owned(), table: table.map(str::to_owned), sql });
        }
        Effect::Drop { kind, name } => objects.retain(|object| {
            let goes_along = kind == ObjectKind::Table && object.table.as_deref() == Some(name);
            !goes_along && (object.kind, object.name.as_str()) != (kind, name)
        }),
        Effect::Rename { kind, from, to } => {
            for object in objects {
                if (object.kind, object.name.as_str()) == (kind, from) {
                    to.clone_into(&mut object.name);
                }
                if kind == ObjectKind::Table && object.table.as_deref() == Some(from) {
                    object.table = Some(to.to_owned());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_dropped_is_not_expected_and_what_was_renamed_has_its_new_name() {
        let mut objects = Vec::new();
        for sql in [
            "CREATE TABLE a (b INT)",
            "CREATE INDEX i ON a (b)",
            "CREATE INDEX j ON a (b)",
            "CREATE VIEW v AS SELECT 1",
            "CREATE OR REPLACE VIEW v AS SELECT 2",
            "DROP INDEX i",
            "CREATE TABLE old (b INT)",
            "CREATE INDEX k ON old (b)",
            "DROP TABLE old",
            "ALTER TABLE a RENAME TO c",
            "ALTER INDEX j RENAME TO l",
        ] {
            apply(&mut objects, effect(sql).unwrap(), sql);
        }
        let seen = objects.iter().map(|o| (o.name.as_str(), o.table.as_deref(), o.sql)).collect::<Vec<_>>();
        let expected = [
            ("c", None, "CREATE TABLE a (b INT)"),
            ("l", Some("c"), "CREATE INDEX j ON a (b)"),
            ("v", None, "CREATE OR REPLACE VIEW v AS SELECT 2"),
        ];
        assert_eq!(seen, expected);
    }
}
