//! The Olist data set as the content of the sandbox: 99,441 real orders of 3,095 sellers, with everything that it
//! does not hold (names, stock, invoices) invented from the identifiers.

mod orders;
mod products;
mod stores;
mod table;

use crate::{
    error::Error,
    options::{Olist, OlistSplit},
    store::Store,
};

/// Loads the data set and divides it among stores.
pub(crate) fn stores(source: &Olist, seed: u64) -> Result<Vec<Store>, Error> {
    let data = orders::load(&source.dir)?;
    Ok(match source.split {
        OlistSplit::OneStore => vec![stores::one(data, seed)],
        OlistSplit::PerSeller => stores::per_seller(&data, seed),
    })
}
