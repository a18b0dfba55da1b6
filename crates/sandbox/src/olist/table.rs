//! One table: a gzipped CSV file read record by record.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use csv::StringRecord;
use flate2::read::MultiGzDecoder;

use crate::error::Error;

/// A record, which knows where it stands.
pub(super) struct Record<'a> {
    path: &'a Path,
    number: usize,
    fields: &'a StringRecord,
}

impl Record<'_> {
    /// The text of a column; absent columns read as empty.
    pub(super) fn text(&self, column: usize) -> &str {
        self.fields.get(column).unwrap_or_default()
    }

    /// A column read by `parse`.
    pub(super) fn value<T>(
        &self,
        column: usize,
        name: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, Error> {
        parse(self.text(column)).ok_or_else(|| self.bad(name))
    }

    /// The error for a column that cannot be read.
    pub(super) fn bad(&self, column: &'static str) -> Error {
        Error::BadValue { path: self.path.to_owned(), record: self.number, column }
    }
}

/// Reads `DIR/NAME.csv.gz`, handing each record over.
pub(super) fn read(
    dir: &Path,
    name: &str,
    mut each: impl FnMut(&Record<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let path: PathBuf = dir.join(format!("{name}.csv.gz"));
    let file = File::open(&path).map_err(|source| Error::OpenTable { path: path.clone(), source })?;
    let mut reader = csv::Reader::from_reader(MultiGzDecoder::new(file));
    let mut fields = StringRecord::new();
    let mut number = 0;
    loop {
        let more = reader
            .read_record(&mut fields)
            .map_err(|source| Error::ReadTable { path: path.clone(), source })?;
        if !more {
            return Ok(());
        }
        number += 1;
        each(&Record { path: &path, number, fields: &fields })?;
    }
}
