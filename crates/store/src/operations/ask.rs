//! Questions in SQL, answered as text: they show a newcomer the mirror.

use crate::Error;
use crate::operations::Diagnostics;

/// An answer: rows of text.
pub type Table = Vec<Vec<String>>;

impl Diagnostics<'_> {
    /// Runs a fixed query with `columns` text columns, outside any transaction. On SQLite it uses a read-only
    /// connection.
    ///
    /// # Errors
    /// When the database refuses it, or a column is not text.
    pub async fn ask(self, sql: &'static str, columns: usize) -> Result<Table, Error> {
        let rows = self.database.fetch("answer a question", sql, Vec::new()).await?;
        let cell = |row: &crate::driver::Row, at| row.optional_text(at).map(Option::unwrap_or_default);
        rows.iter().map(|row| (0..columns).map(|at| cell(row, at)).collect()).collect()
    }
}
