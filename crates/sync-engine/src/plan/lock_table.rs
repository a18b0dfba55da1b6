//! Decides whether PostgreSQL's lock table is large enough for the stores, each of which takes a lock there.

use espelho_store::LockTable;

/// The locks of the table for each store. All sessions of the server share the table, and those of the ERP fail too
/// where it is full: half of it is theirs.
const LOCKS_PER_STORE: u64 = 2;

/// Returns the `max_locks_per_transaction` that so many stores need, if the server has less.
pub fn missing_locks(table: LockTable, stores: u64) -> Option<u64> {
    // The server makes this many places for each of its sessions and prepared transactions.
    let sessions = table.connections.saturating_add(table.prepared_transactions).max(1);
    let needed = stores.saturating_mul(LOCKS_PER_STORE).div_ceil(sessions);
    (needed > table.locks_per_transaction).then_some(needed)
}

#[cfg(test)]
mod tests {
    use super::*;

    // withstands: F154
    #[test]
    fn stores_take_half_of_the_lock_table_and_beyond_it_the_setting_that_is_needed_is_named() {
        for (locks_per_transaction, connections, prepared_transactions, stores, missing) in [
            // The defaults: 6,400 locks.
            (64, 100, 0, 0, None),
            (64, 100, 0, 1, None),
            (64, 100, 0, 3_200, None),
            (64, 100, 0, 3_201, Some(65)),
            (64, 100, 0, 13_000, Some(260)),
            (260, 100, 0, 13_000, None),
            (259, 100, 0, 13_000, Some(260)),
            // More sessions make the table larger, and so do prepared transactions.
            (64, 500, 0, 13_000, None),
            (64, 100, 400, 13_000, None),
            (64, 100, 100, 13_000, Some(130)),
            // A server that says nothing sensible has no table.
            (0, 0, 0, 1, Some(2)),
            (64, 100, 0, u64::MAX, Some(u64::MAX.div_ceil(100))),
        ] {
            let table = LockTable { locks_per_transaction, connections, prepared_transactions };
            assert_eq!(missing_locks(table, stores), missing, "{stores} stores, {table:?}");
        }
    }
}
