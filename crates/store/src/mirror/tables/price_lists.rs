//! Price lists.

use espelho_model::{price_list::PriceList, sync::Counts};

use super::{
    record::Record,
    table::{Scope, Table},
};
use crate::{Error, mirror::MirrorWriter};

pub(crate) static PRICE_LISTS: Table =
    Table::new("price_lists", "price_list", Scope::Store, "id", &["name", "mode", "position", "is_active"]);

impl MirrorWriter<'_, '_> {
    /// Mirrors price lists (API document, "Price list").
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn write_price_lists(&mut self, lists: Vec<PriceList>) -> Result<Counts, Error> {
        let records = lists.into_iter().map(record).collect();
        self.page.tables().write_rows(&PRICE_LISTS, None, records).await
    }
}

fn record(list: PriceList) -> Record {
    let values = [list.name.into(), list.mode.into(), list.position.into(), list.is_active.into()];
    Record::new(list.id.into_string(), values, list.raw)
}
