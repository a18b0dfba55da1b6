//! The rows and bytes that a deletion of old rows would remove from a table.

use std::ops::AddAssign;

use crate::{Error, driver::Row};

/// Rows that are old enough to be deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prunable {
    /// Their number.
    pub rows: u64,
    /// The bytes of their long columns, or of their files.
    pub bytes: u64,
}

impl Prunable {
    /// Reads the only row of a statement that counts rows and bytes.
    pub(crate) fn of(rows: &[Row]) -> Result<Self, Error> {
        let Some(row) = rows.first() else { return Ok(Self::default()) };
        Ok(Self { rows: row.count(0)?, bytes: row.count(1)? })
    }
}

impl AddAssign for Prunable {
    fn add_assign(&mut self, other: Self) {
        self.rows += other.rows;
        self.bytes += other.bytes;
    }
}
