//! Splits the text of a migration into its statements, and names the object that each defines or drops.

/// A kind of object in a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum ObjectKind {
    /// A table. Only a backup has its rows, so nothing creates a missing one again.
    Table,
    /// A function of PostgreSQL.
    Function,
    /// A view.
    View,
    /// A trigger.
    Trigger,
    /// An index.
    Index,
}

/// The effect of a statement on the schema's objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect<'s> {
    Define { kind: ObjectKind, name: &'s str, table: Option<&'s str> },
    Drop { kind: ObjectKind, name: &'s str },
    Rename { kind: ObjectKind, from: &'s str, to: &'s str },
}

/// Splits a migration into its statements, without the semicolons and the comments before them.
pub(super) fn statements(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = without_comments(text);
    while !rest.is_empty() {
        let end = end_of_statement(rest);
        found.push(rest[..end].trim_end());
        rest = without_comments(rest.get(end + 1..).unwrap_or_default());
    }
    found
}

/// Removes blanks and comment lines from the beginning.
fn without_comments(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        let Some(comment) = text.strip_prefix("--") else { return text };
        text = comment.split_once('\n').map_or("", |(_, rest)| rest);
    }
}

/// The position of the semicolon that ends the first statement, or the end of the text.
fn end_of_statement(text: &str) -> usize {
    // The body of a trigger of SQLite has statements of its own.
    let mut first = words(text);
    if (first.next(), first.next()) == (Some("CREATE"), Some("TRIGGER"))
        && let Some(end) = text.find("\nEND;")
        && end < text.find("EXECUTE FUNCTION").unwrap_or(text.len())
    {
        return end + "\nEND".len();
    }
    let mut at = 0;
    while let Some(found) = text[at..].find([';', '\'', '-', '$']) {
        let rest = &text[at + found..];
        let close = match rest.as_bytes() {
            [b';', ..] => return at + found,
            [b'\'', ..] => rest[1..].find('\'').map(|end| end + 2),
            [b'-', b'-', ..] => rest.find('\n'),
            [b'$', b'$', ..] => rest[2..].find("$$").map(|end| end + 4),
            _ => Some(1),
        };
        let Some(close) = close else { return text.len() };
        at += found + close;
    }
    text.len()
}

/// The words at the beginning of a statement; parentheses and commas separate words too.
fn words(statement: &str) -> impl Iterator<Item = &str> {
    statement.split([' ', '\n', '(', ',']).filter(|word| !word.is_empty())
}

/// The effect of a statement; `None` for one that leaves the objects as they are.
pub(super) fn effect(statement: &str) -> Option<Effect<'_>> {
    let mut words = words(statement).filter(|word| {
        !matches!(*word, "OR" | "REPLACE" | "UNIQUE" | "IF" | "NOT" | "EXISTS" | "CONCURRENTLY")
    });
    let (verb, kind) = (words.next()?, kind(words.next()?)?);
    let name = words.next()?;
    match verb {
        "CREATE" => {
            let table = match kind {
                ObjectKind::Trigger | ObjectKind::Index => words.skip_while(|word| *word != "ON").nth(1),
                _ => None,
            };
            Some(Effect::Define { kind, name, table })
        }
        "DROP" => Some(Effect::Drop { kind, name }),
        "ALTER" => match (words.next()?, words.next()?, words.next()?) {
            ("RENAME", "TO", to) => Some(Effect::Rename { kind, from: name, to }),
            _ => None,
        },
        _ => None,
    }
}

fn kind(word: &str) -> Option<ObjectKind> {
    Some(match word {
        "TABLE" => ObjectKind::Table,
        "FUNCTION" => ObjectKind::Function,
        "VIEW" => ObjectKind::View,
        "TRIGGER" => ObjectKind::Trigger,
        "INDEX" => ObjectKind::Index,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_migration_is_split_at_the_ends_of_its_statements_only() {
        for (text, expected) in [
            ("", vec![]),
            ("-- Only a comment; with a semicolon.\n", vec![]),
            ("SELECT 1; SELECT 2", vec!["SELECT 1", "SELECT 2"]),
            ("SELECT ';--'; SELECT 'it''s;';", vec!["SELECT ';--'", "SELECT 'it''s;'"]),
            ("SELECT 1 -- one; only\n, 2;", vec!["SELECT 1 -- one; only\n, 2"]),
            (
                "CREATE FUNCTION f() AS $$\nA; B;\n$$; SELECT $1 - 2",
                vec!["CREATE FUNCTION f() AS $$\nA; B;\n$$", "SELECT $1 - 2"],
            ),
            (
                "CREATE TRIGGER t AFTER INSERT ON x\nBEGIN\n  A;\n  B;\nEND;\nSELECT 1",
                vec!["CREATE TRIGGER t AFTER INSERT ON x\nBEGIN\n  A;\n  B;\nEND", "SELECT 1"],
            ),
            (
                "CREATE TRIGGER t ON x EXECUTE FUNCTION f(); CREATE TRIGGER u AFTER INSERT ON x\nBEGIN\nA;\nEND;",
                vec![
                    "CREATE TRIGGER t ON x EXECUTE FUNCTION f()",
                    "CREATE TRIGGER u AFTER INSERT ON x\nBEGIN\nA;\nEND",
                ],
            ),
        ] {
            assert_eq!(statements(text), expected, "{text}");
        }
    }

    #[test]
    fn a_statement_names_the_object_that_it_defines_drops_or_renames() {
        let define = |kind, name, table| Some(Effect::Define { kind, name, table });
        for (statement, expected) in [
            ("CREATE TABLE IF NOT EXISTS a(b INT)", define(ObjectKind::Table, "a", None)),
            ("CREATE UNIQUE INDEX i\n  ON a (b)", define(ObjectKind::Index, "i", Some("a"))),
            ("CREATE OR REPLACE VIEW v AS SELECT 1", define(ObjectKind::View, "v", None)),
            ("CREATE OR REPLACE FUNCTION f() RETURNS trigger", define(ObjectKind::Function, "f", None)),
            ("CREATE TRIGGER t AFTER UPDATE OF b ON a", define(ObjectKind::Trigger, "t", Some("a"))),
            ("DROP VIEW IF EXISTS v", Some(Effect::Drop { kind: ObjectKind::View, name: "v" })),
            (
                "ALTER INDEX i RENAME TO j",
                Some(Effect::Rename { kind: ObjectKind::Index, from: "i", to: "j" }),
            ),
            ("ALTER TABLE a ADD COLUMN c INT", None),
            ("INSERT INTO a VALUES (1)", None),
        ] {
            assert_eq!(effect(statement), expected, "{statement}");
        }
    }
}
