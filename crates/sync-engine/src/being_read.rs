//! The rows that a pass is reading and has not written yet. A sweep that lists such a row as the pass did leaves it to
//! the pass.

use std::{collections::HashMap, sync::Arc};

use espelho_api_client::ListedRow;
use espelho_model::{ContentHash, sync::Resource};
use parking_lot::Mutex;

type Rows = Mutex<HashMap<(Resource, String), ContentHash>>;

/// The rows of one store that passes are reading.
#[derive(Clone, Default)]
pub struct BeingRead(Arc<Rows>);

/// Keeps the rows of one page listed as being read until it is dropped.
pub(crate) struct ReadingGuard {
    rows: Arc<Rows>,
    keys: Vec<(Resource, String)>,
}

impl BeingRead {
    /// Notes that the details of these rows are requested, as they were listed.
    pub(crate) fn begin(&self, resource: Resource, listed: &[ListedRow]) -> ReadingGuard {
        let keys: Vec<_> = listed.iter().map(|row| (resource, row.key.clone())).collect();
        self.0.lock().extend(keys.iter().cloned().zip(listed.iter().map(|row| row.hash)));
        ReadingGuard { rows: Arc::clone(&self.0), keys }
    }

    /// Tells whether a row is being read as it is listed here. A row that is listed differently has changed since.
    pub(crate) fn has(&self, resource: Resource, row: &ListedRow) -> bool {
        self.0.lock().get(&(resource, row.key.clone())) == Some(&row.hash)
    }
}

impl Drop for ReadingGuard {
    fn drop(&mut self) {
        let mut rows = self.rows.lock();
        for row in &self.keys {
            rows.remove(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use espelho_api_client::RowState;

    #[test]
    fn a_row_is_being_read_as_it_was_listed_until_its_page_is_dropped() {
        let row = |key: &str, hash| ListedRow {
            key: key.into(),
            hash: ContentHash::from_i64(hash),
            text: String::new(),
            state: RowState::default(),
        };
        let being_read = BeingRead::default();
        let first = being_read.begin(Resource::Orders, &[row("1", 10), row("2", 20)]);
        let second = being_read.begin(Resource::Orders, &[row("3", 30)]);
        let orders = |key, hash| being_read.has(Resource::Orders, &row(key, hash));
        assert!(orders("1", 10) && orders("2", 20) && orders("3", 30));
        assert!(!orders("1", 11), "it has changed since");
        assert!(!being_read.has(Resource::Products, &row("1", 10)));
        drop(first);
        assert!(!orders("1", 10) && orders("3", 30));
        drop(second);
        assert!(!orders("3", 30));
    }
}
