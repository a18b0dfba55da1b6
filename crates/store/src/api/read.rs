//! Reads pages of a table.

use super::{
    Api,
    catalogue::ApiTable,
    select::{Comparison, Filter, FilterValue, Position, RowQuery, page, position_after},
};
use crate::{ColumnKind, Error, MirroredRow, WholeRow};

/// The most rows of a table that are shown with their parent; more are read page by page.
const MOST_CHILDREN: u32 = 1_000;

/// A page of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowPage {
    /// The rows, in the order of the key.
    pub rows: Vec<MirroredRow>,
    /// The begin of the next page; `None` after the last row.
    pub next: Option<Position>,
}

impl Api<'_> {
    /// Reads a page of a table. It gives up where the ERP keeps a table locked, or after half a minute.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn rows(self, table: &ApiTable, query: &RowQuery) -> Result<RowPage, Error> {
        let (sql, values) = page(table, query);
        let read = self.database.fetch_bounded("read rows for a program", sql, values).await?;
        let columns = table.shown(query.with_raw);
        let limit = query.limit as usize;
        let rows = read.iter().take(limit).map(|row| MirroredRow::read(&columns, row));
        let rows = rows.collect::<Result<Vec<_>, Error>>()?;
        let next = (read.len() > limit && limit > 0).then(|| {
            let keys = rows.iter().map(|row| key_of(table, row)).collect();
            position_after(&query.after, keys)
        });
        Ok(RowPage { rows, next })
    }

    /// Reads the first row of a query, with the rows that belong to it; `None` if there is none.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn whole_row(self, table: &ApiTable, query: &RowQuery) -> Result<Option<WholeRow>, Error> {
        let Some(row) = self.rows(table, query).await?.rows.into_iter().next() else { return Ok(None) };
        let parts = table.key.iter().filter_map(|part| row.text(part.column).map(str::to_owned));
        let parts: Vec<String> = parts.collect();
        let mut children = Vec::new();
        if let [store, id] = &parts[..] {
            for (child, column) in &table.children {
                let Some(child) = ApiTable::named(child) else { continue };
                let of = |column, text: &String| Filter {
                    column,
                    comparison: Comparison::Eq,
                    value: FilterValue::Text(text.clone()),
                };
                let query = RowQuery {
                    filters: vec![of("store", store), of(column, id)],
                    limit: MOST_CHILDREN,
                    with_raw: query.with_raw,
                    ..RowQuery::default()
                };
                children.push((child.name, self.rows(child, &query).await?.rows));
            }
        }
        Ok(Some(WholeRow { row, children }))
    }
}

/// Returns the key of a row; `None` if a program wrote one that is no text or no whole number.
fn key_of(table: &ApiTable, row: &MirroredRow) -> Option<Vec<FilterValue>> {
    let value = |part: &super::catalogue::KeyPart| match part.kind {
        ColumnKind::Integer => {
            let number = row.number(part.column).filter(|number| number.fract().is_zero())?;
            i64::try_from(number).ok().map(FilterValue::Integer)
        }
        _ => match row.text(part.column) {
            // Bytes that are no text are read with this letter in them.
            Some(text) => (!text.contains('\u{fffd}')).then(|| FilterValue::Text(text.to_owned())),
            None => part.is_optional.then(|| FilterValue::Text(String::new())),
        },
    };
    table.key.iter().map(value).collect()
}
