//! The record of what people do (`actions`), on the page and by the command line in the same way.

use espelho_store::{Error, NewAction, Store};

/// Does an act between the beginning and the end of its record: one that is cut short is on record too. The act returns
/// how many rows it changed, and the outcome. Returns the number of the record, and that of the rows.
pub(crate) async fn on_record(
    store: &Store,
    action: &NewAction,
    act: impl Future<Output = Result<(u64, String), Error>>,
) -> Result<(i64, u64), Error> {
    let id = store.actions().begin(action).await?;
    let (count, after) = act.await?;
    store.actions().end(id, &after, count).await?;
    Ok((id, count))
}
