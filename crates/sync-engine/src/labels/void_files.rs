//! Removes the files of labels that have changed or are gone.

use chrono::{DateTime, Utc};
use espelho_store::{Error, LabelFolder, Lease, Store};

/// Files removed at once.
const AT_ONCE: u32 = 500;

/// Removes files that became void before `before`, some hundred at once; returns whether there may be more.
///
/// # Errors
/// When the database does not answer, or another process has taken the store.
pub async fn remove_void_files(
    store: &Store,
    lease: &Lease,
    folder: &LabelFolder,
    before: DateTime<Utc>,
) -> Result<bool, Error> {
    let key = lease.store();
    let void = store.label_files().label_files_void_before(key, before, AT_ONCE).await?;
    if void.is_empty() {
        return Ok(false);
    }
    // A file without a record is an orphan that the next start removes; a record without a file would be wrong.
    let mut tx = store.begin(lease).await?;
    tx.label_files().forget_label_files(void.clone()).await?;
    tx.commit().await?;
    if let Err(error) = folder.remove(key, &void).await {
        tracing::warn!(store = %key, %error, "void label files cannot be removed");
    }
    Ok(void.len() == AT_ONCE as usize)
}
