//! The erasure of all people of a store: a seller who leaves, or who must not keep what is old.

use espelho_model::StoreKey;
use futures_util::future::try_join_all;

use super::{
    Erasure, FoundPerson, WAIT_FOR_WRITERS,
    blanking::{Counts, Mode},
    overwrite_deleted,
};
use crate::{
    Error,
    driver::{Database, Row, Value},
    mirror::{
        erased::{EVERYONE, REMEMBER, make_key},
        page::LOCK_TIMEOUT,
    },
    operations::Erasures,
};

pub(crate) const REMEMBER_EVERYONE: &str = "INSERT INTO erased_people (store, identifier, at) VALUES ($1, $2, $3) \
    ON CONFLICT (store, identifier) DO UPDATE SET at = excluded.at";
pub(crate) const ALL_ORDERS: &str = "SELECT order_number, customer_id, customer_name, CAST(raw AS TEXT) FROM orders \
    WHERE store = $1 AND order_number > $2 ORDER BY order_number LIMIT $3";
pub(crate) const ORDERS: &str = "SELECT count(*) FROM orders WHERE store = $1";
pub(crate) const ALL_FILES: &str = "SELECT file FROM label_files WHERE store = $1";
pub(crate) const FORGET_ALL_FILES: &str = "DELETE FROM label_files WHERE store = $1";
/// Orders that are remembered together.
const PAGE: i64 = 512;

impl Erasures<'_> {
    /// Remembers that everybody in a store is erased, blanks all of them, and records that. `progress` hears how many
    /// orders are done. Label files are the caller's to remove.
    ///
    /// # Errors
    /// When the database does not answer. What is blanked until then stays so, and no later reading brings it back.
    pub async fn erase_everyone(
        self,
        store: &StoreKey,
        by: &str,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Erasure, Error> {
        self.remember_everyone(store).await?;
        for database in [self.database, self.inbox] {
            overwrite_deleted(database).await?;
        }
        let (mut counts, mut done, mut after) = (Counts::default(), 0, String::new());
        loop {
            let values = vec![store.as_str().into(), after.as_str().into(), PAGE.into()];
            let rows = self.database.fetch("read the orders of a store", ALL_ORDERS, values).await?;
            let Some(last) = rows.last() else { break };
            after = last.text(0)?;
            let numbers = rows.iter().map(|row| row.text(0)).collect::<Result<Vec<_>, _>>()?;
            self.remember_orders(store, &numbers).await?;
            for some in rows.chunks(self.orders_at_once() * self.transactions_at_once()) {
                let parts = some.chunks(self.orders_at_once()).map(|rows| self.blank_people_of(store, rows));
                try_join_all(parts).await?.into_iter().for_each(|part| counts.extend(part));
            }
            done += rows.len() as u64;
            progress(done);
        }
        let everyone = FoundPerson { is_everyone: true, ..FoundPerson::default() };
        let mut others = Counts::default();
        self.blank_others(store, &everyone, &Default::default(), &mut others, Mode::Erase).await?;
        counts.extend(others);
        self.record(store, by, counts.rows, counts.open_commands).await
    }

    /// A server works on one part while the people of another are taken out here; a file has one writer.
    fn transactions_at_once(self) -> usize {
        match self.database {
            Database::Sqlite { .. } => 1,
            Database::Postgres(_) => 2,
        }
    }

    async fn blank_people_of(self, store: &StoreKey, orders: &[Row]) -> Result<Counts, Error> {
        let mut found = FoundPerson { is_everyone: true, ..FoundPerson::default() };
        for row in orders {
            found.learn_of_one(row)?;
        }
        Ok(self.blank_orders(store, &found, Mode::Erase).await?.0)
    }

    /// The number of a store's orders.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn count_orders(self, store: &StoreKey) -> Result<u64, Error> {
        let rows = self.database.fetch("count orders", ORDERS, vec![store.as_str().into()]).await?;
        rows.first().map_or(Ok(0), |row| row.count(0))
    }

    /// All label files of a store.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn all_label_files(self, store: &StoreKey) -> Result<Vec<String>, Error> {
        let rows =
            self.database.fetch("read files of labels", ALL_FILES, vec![store.as_str().into()]).await?;
        rows.iter().map(|row| row.text(0)).collect()
    }

    /// Deletes the records of all label files of a store, after the files.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn forget_all_label_files(self, store: &StoreKey) -> Result<u64, Error> {
        let values = vec![store.as_str().into()];
        self.database.execute("forget files of labels", FORGET_ALL_FILES, values).await
    }

    async fn remember_everyone(self, store: &StoreKey) -> Result<(), Error> {
        make_key(self.database).await?;
        let values = vec![store.as_str().into(), EVERYONE.into(), self.clock.now().into()];
        self.database.execute("remember that everyone is erased", REMEMBER_EVERYONE, values).await.map(drop)
    }

    /// Waits for the writers that have looked for erasures already: they blank nothing that they write.
    async fn remember_orders(self, store: &StoreKey, numbers: &[String]) -> Result<(), Error> {
        self.in_turns(async || {
            let mut tx = self.database.begin().await?;
            tx.execute_on_server("bound the wait for locks", LOCK_TIMEOUT, Vec::new()).await?;
            tx.execute_on_server("wait for writers", WAIT_FOR_WRITERS, Vec::new()).await?;
            let values = numbers
                .iter()
                .flat_map(|number| -> [Value; 2] { [store.as_str().into(), number.as_str().into()] });
            tx.insert(&REMEMBER, values.collect()).await?;
            tx.commit().await
        })
        .await
    }
}
