//! Builds the text of statements over many rows or keys, and checks the number of arguments. Pure.

use super::Value;
use crate::Error;

/// A statement that inserts or changes any number of rows: `head VALUES ($1, …), (…) tail`.
pub(crate) struct Insert {
    pub(crate) operation: &'static str,
    /// `INSERT INTO table (columns)`, or `UPDATE table SET … FROM (`
    pub(crate) head: &'static str,
    pub(crate) columns: usize,
    /// `ON CONFLICT …`, or nothing; after an update `) AS v WHERE …`.
    pub(crate) tail: &'static str,
}

/// The form of placeholders in a multi-row statement. SQLite treats `$1` as a name and finds each of thousands of
/// names by a linear search: half of a run's CPU, measured.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Places {
    /// `?`
    Unnamed,
    /// `$1`
    Numbered,
}

/// Sizes of multi-row statements: few, because each size is a prepared statement of its own. Fewer rows than the
/// smallest size go in one statement, because each statement costs a hand-over to the database's thread or server.
const BATCHES: [usize; 4] = [100, 50, 20, 10];

impl Insert {
    /// The statement for `rows` rows.
    ///
    /// SQLite saves every page before a statement of several rows changes it, to undo the statement if a row is
    /// refused: a quarter of a run's CPU, measured. We undo the transaction instead, or return to a savepoint, so
    /// `OR FAIL` turns that off. (With `ON CONFLICT … DO UPDATE` it has no effect.)
    pub(crate) fn sql(&self, rows: usize, places: Places) -> String {
        use std::fmt::Write as _;
        let mut sql = String::with_capacity(self.head.len() + self.tail.len() + rows * self.columns * 7 + 8);
        match (places, self.head.strip_prefix("INSERT")) {
            (Places::Unnamed, Some(rest)) if self.tail.is_empty() => {
                sql.push_str("INSERT OR FAIL");
                sql.push_str(rest);
            }
            _ => sql.push_str(self.head),
        }
        sql.push_str(" VALUES ");
        for row in 0..rows {
            sql.push_str(if row == 0 { "(" } else { ", (" });
            for column in 1..=self.columns {
                sql.push_str(if column == 1 { "" } else { ", " });
                // Writing to a String cannot fail.
                let _ = match places {
                    Places::Unnamed => sql.write_char('?'),
                    Places::Numbered => write!(sql, "${}", row * self.columns + column),
                };
            }
            sql.push(')');
        }
        sql.push(' ');
        sql.push_str(self.tail);
        sql
    }
}

pub(super) fn batch_of(left: usize) -> usize {
    BATCHES.into_iter().find(|&batch| batch <= left).unwrap_or(left)
}

pub(super) fn in_lists(
    head: &str,
    first: &[Value],
    keys: Vec<impl Into<Value>>,
) -> Vec<(String, Vec<Value>)> {
    let mut statements = Vec::new();
    let mut keys = keys.into_iter().peekable();
    while keys.peek().is_some() {
        let batch = batch_of(keys.len());
        let places: Vec<String> = (1..=batch).map(|n| format!("${}", first.len() + n)).collect();
        let values = first.iter().cloned().chain(keys.by_ref().take(batch).map(Into::into)).collect();
        statements.push((format!("{head} IN ({})", places.join(", ")), values));
    }
    statements
}

/// sqlx silently binds a missing argument as NULL on SQLite, so this compares the numbers first.
pub(super) fn check_arity(sql: &str, given: usize) -> Result<(), Error> {
    let expected = placeholders(sql);
    if expected == given { Ok(()) } else { Err(Error::Arity { expected, given, sql: sql.to_owned() }) }
}

/// The highest `$n` of a statement.
pub(crate) fn placeholders(sql: &str) -> usize {
    let numbers = sql.split('$').skip(1).filter_map(|rest| {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..digits].parse::<usize>().ok()
    });
    numbers.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_and_its_arguments_must_fit() {
        assert_eq!(placeholders("SELECT $1, $2, $12 WHERE x = $2"), 12);
        assert_eq!(placeholders("SELECT 1"), 0);
        assert!(check_arity("SELECT $1", 1).is_ok());
        assert!(matches!(check_arity("SELECT $1, $2", 1), Err(Error::Arity { expected: 2, given: 1, .. })));
    }

    #[test]
    fn a_multi_row_insert_numbers_its_places_through() {
        let insert = Insert {
            operation: "",
            head: "INSERT INTO t (a, b)",
            columns: 2,
            tail: "ON CONFLICT DO NOTHING",
        };
        assert_eq!(
            insert.sql(2, Places::Numbered),
            "INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4) ON CONFLICT DO NOTHING"
        );
        assert_eq!(
            insert.sql(2, Places::Unnamed),
            "INSERT INTO t (a, b) VALUES (?, ?), (?, ?) ON CONFLICT DO NOTHING"
        );
        let plain = Insert { tail: "", ..insert };
        assert_eq!(plain.sql(1, Places::Unnamed), "INSERT OR FAIL INTO t (a, b) VALUES (?, ?) ");
        assert_eq!(plain.sql(1, Places::Numbered), "INSERT INTO t (a, b) VALUES ($1, $2) ");
    }

    #[test]
    fn a_list_of_keys_is_split_into_few_statement_sizes() {
        let keys: Vec<String> = (0..137).map(|n| n.to_string()).collect();
        let statements = in_lists("DELETE FROM t WHERE s = $1 AND k", &[Value::from("s")], keys);
        let sizes: Vec<usize> = statements.iter().map(|(_, values)| values.len() - 1).collect();
        assert_eq!(sizes, [100, 20, 10, 7]);
        assert!(statements[3].0.ends_with("AND k IN ($2, $3, $4, $5, $6, $7, $8)"));
    }
}
