//! Statements and a helper that orders and products share.

use std::collections::HashMap;

/// The statements of a mirrored resource; only the key column differs.
pub(crate) struct ResourceStatements {
    /// The name in `changes.entity`.
    pub(crate) entity: &'static str,
    /// `SELECT key, listing_hash, content_hash, gone … WHERE store = $1 AND key`
    pub(crate) known: &'static str,
    /// `SELECT count(*) … WHERE store = $1`
    pub(crate) count: &'static str,
    /// `SELECT key … WHERE store = $1 AND key > $2 AND gone_at IS NULL ORDER BY key LIMIT 1000`
    pub(crate) live: &'static str,
    /// `UPDATE … SET gone_at = $2 WHERE store = $1 AND gone_at IS NULL AND key`
    pub(crate) gone: &'static str,
    /// The same for dependent rows, by their parent's key.
    pub(crate) dependents_gone: &'static [&'static str],
    /// `UPDATE … SET listing_hash = $2 WHERE store = $1 AND key = $3`
    pub(crate) relist: &'static str,
}

/// Of rows with one key, keeps the last: PostgreSQL refuses a statement that touches a row twice.
pub(crate) fn last_of_each<T, K: std::hash::Hash + Eq>(rows: Vec<T>, key_of: impl Fn(&T) -> K) -> Vec<T> {
    let last: HashMap<K, usize> = rows.iter().enumerate().map(|(at, row)| (key_of(row), at)).collect();
    if last.len() == rows.len() {
        return rows;
    }
    rows.into_iter().enumerate().filter(|(at, row)| last[&key_of(row)] == *at).map(|(_, row)| row).collect()
}
