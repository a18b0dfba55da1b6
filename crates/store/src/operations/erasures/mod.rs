//! Erasures of people (`espelho forget`): finds what is on record of a person, blanks it, and remembers that without
//! the person.
//!
//! The erasure is remembered first. From then on every writer leaves the person out (`mirror::erased`), so nothing
//! comes back behind the blanking, which goes through the orders in short transactions while the service works.
//! `model::person` decides what of a row is a person's. [`person_search`] finds the orders, [`blanking`] blanks the rows,
//! [`everyone`] does so for all people of a store.

mod blanking;
mod everyone;
mod person_search;

use std::{collections::BTreeMap, path::Path, time::Duration};

use chrono::{DateTime, Utc};
use espelho_model::{Clock, StoreKey, person::Person, time::serialize_fixed_width};
use serde::Serialize;
use sqlx::{Connection as _, Row as _, SqliteConnection, sqlite::SqliteConnectOptions};

use self::{blanking::Mode, person_search::strong};
use crate::{
    DatabaseTrouble, Error, Store,
    driver::{Database, Insert, Value},
    mirror::{
        changes::CHANNEL,
        erased::{KEY, MAKE_KEY, REMEMBER, random_key},
        page::LOCK_TIMEOUT,
    },
    operations::Erasures,
};

pub(crate) use blanking::{
    BLANK_COMMAND, BLANK_DELIVERY, BLANK_EFFECT, BLANK_OCCURRENCE, COMMANDS, CONVERSATIONS, DELIVERIES,
    DROP_FAILURE, EFFECTS, FAILURES, LABELS, LEAVE_COMMAND, OCCURRENCES, VOID_LABELS, reads, updates,
};
pub(crate) use everyone::{ALL_FILES, ALL_ORDERS, FORGET_ALL_FILES, ORDERS, REMEMBER_EVERYONE};
pub use person_search::FoundPerson;
pub(crate) use person_search::{BY_CUSTOMER, BY_NUMBER, BY_TEXT, KNOWN};

pub(crate) const PERSON: Insert = Insert {
    operation: "remember an erased person",
    head: "INSERT INTO erased_people (store, identifier, at)",
    columns: 3,
    tail: "ON CONFLICT (store, identifier) DO UPDATE SET at = excluded.at",
};
pub(crate) const RECORD: &str = "INSERT INTO erasures (store, at, erased_by, counts) VALUES ($1, $2, $3, $4)";
/// Writers that have looked for erasures hold a weaker lock until they commit.
pub(crate) const WAIT_FOR_WRITERS: &str = "LOCK TABLE erased_orders IN ACCESS EXCLUSIVE MODE";
pub(crate) const FILES: &str = "SELECT file FROM label_files WHERE store = $1 AND order_number";
pub(crate) const FORGET_FILES: &str = "DELETE FROM label_files WHERE store = $1 AND order_number";
pub(crate) const ERASED: &str = "SELECT store, order_number FROM erased_orders ORDER BY store, order_number";

/// Tries to wait for writers, and the pause in between.
const TURNS: u32 = 100;
const BETWEEN_TURNS: Duration = Duration::from_millis(200);
/// Bytes up to which a file is compacted: that takes the file's only writer for seconds.
const MOST_COMPACTED: i64 = 256 << 20;
/// How often the log is emptied when readers are in the way, and the pause in between.
const CHECKPOINTS: u32 = 20;
const BETWEEN_CHECKPOINTS: Duration = Duration::from_millis(250);

/// The rows that an erasure concerns, by table.
pub type ErasureCounts = BTreeMap<String, u64>;

/// The record of an erasure, without the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Erasure {
    /// The store.
    pub store: StoreKey,
    /// When.
    #[serde(serialize_with = "serialize_fixed_width")]
    pub at: Option<DateTime<Utc>>,
    /// The operating system's user who ran it.
    pub erased_by: String,
    /// The rows that were blanked, by table.
    pub counts: ErasureCounts,
    /// Commands about the orders that are not carried out yet, and keep their data until then.
    pub open_commands: u64,
}

impl Erasures<'_> {
    /// Counts what [`Erasures::erase`] would blank.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn count(self, store: &StoreKey, found: &FoundPerson) -> Result<(ErasureCounts, u64), Error> {
        self.blank(store, found, Mode::Count).await
    }

    /// Remembers the erasure, blanks the person everywhere, and records that. The files of labels are the caller's to
    /// remove ([`Erasures::label_files`]).
    ///
    /// # Errors
    /// When the database does not answer. What is blanked until then stays so, and no later reading brings it back.
    pub async fn erase(self, store: &StoreKey, found: &mut FoundPerson, by: &str) -> Result<Erasure, Error> {
        loop {
            self.remember(store, found).await?;
            // A writer may have brought an order of the person since the search.
            let known = found.orders.len();
            let identifiers = strong(&found.person);
            self.follow(store, identifiers, found).await?;
            if found.orders.len() == known {
                break;
            }
        }
        for database in [self.database, self.inbox] {
            overwrite_deleted(database).await?;
        }
        let (counts, open_commands) = self.blank(store, found, Mode::Erase).await?;
        self.record(store, by, counts, open_commands).await
    }

    async fn record(
        self,
        store: &StoreKey,
        by: &str,
        counts: ErasureCounts,
        open_commands: u64,
    ) -> Result<Erasure, Error> {
        let at = self.clock.now();
        let json = serde_json::to_string(&counts).unwrap_or_default();
        let values = vec![store.as_str().into(), at.into(), by.into(), json.into()];
        self.database.execute("record an erasure", RECORD, values).await?;
        self.notifications.note(CHANNEL, [store.clone()]);
        Ok(Erasure { store: store.clone(), at: Some(at), erased_by: by.to_owned(), counts, open_commands })
    }

    /// The label files of orders.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn label_files(self, store: &StoreKey, found: &FoundPerson) -> Result<Vec<String>, Error> {
        let (first, orders) = ([store.as_str().into()], found.orders.iter().cloned().collect());
        let rows = self.database.fetch_in("read files of labels", FILES, &first, orders).await?;
        rows.iter().map(|row| row.text(0)).collect()
    }

    /// Deletes the records of label files, after the files.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn forget_label_files(self, store: &StoreKey, found: &FoundPerson) -> Result<u64, Error> {
        let first = [store.as_str().into()];
        let mut tx = self.database.begin().await?;
        let orders: Vec<String> = found.orders.iter().cloned().collect();
        let deleted = tx.execute_in("forget files of labels", FORGET_FILES, &first, orders).await?;
        tx.commit().await?;
        Ok(deleted)
    }

    /// Leaves nothing of deleted rows in SQLite's files: compacts those up to 256 MiB, and empties their logs. Returns
    /// whether all of them are compact; PostgreSQL's autovacuum does that by itself.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn compact(self) -> Result<bool, Error> {
        let mut is_compact = true;
        for database in [self.database, self.inbox] {
            is_compact &= compact(database, &**self.clock).await?;
        }
        Ok(is_compact)
    }

    /// Waits for the writers in short turns: whoever looks for erasures meanwhile waits behind this lock.
    async fn remember(self, store: &StoreKey, found: &FoundPerson) -> Result<(), Error> {
        self.in_turns(async || self.remember_now(store, found).await).await
    }

    /// Repeats what a lock kept from being done.
    async fn in_turns(self, work: impl AsyncFn() -> Result<(), Error>) -> Result<(), Error> {
        let mut turns = 1..TURNS;
        loop {
            match work().await {
                Err(error) if error.trouble() == DatabaseTrouble::Busy && turns.next().is_some() => {
                    self.clock.sleep(BETWEEN_TURNS).await;
                }
                done => return done,
            }
        }
    }

    async fn remember_now(self, store: &StoreKey, found: &FoundPerson) -> Result<(), Error> {
        let mut tx = self.database.begin().await?;
        tx.execute_on_server("bound the wait for locks", LOCK_TIMEOUT, Vec::new()).await?;
        tx.execute_on_server("wait for writers", WAIT_FOR_WRITERS, Vec::new()).await?;
        tx.execute("make the key of erasures", MAKE_KEY, vec![random_key()?.into()]).await?;
        let rows = tx.fetch("read the key of erasures", KEY.to_owned(), Vec::new()).await?;
        let key = rows.first().map_or(Ok(String::new()), |row| row.text(0))?;
        let (store, at) = (store.as_str(), self.clock.now());
        // An address that nobody typed may be another person's too.
        let known = found.person.identifiers().iter();
        let known = known.filter(|known| known.is_of_one_person() || found.asked.contains(known));
        let prints = known.map(|known| known.fingerprint(&key));
        let values = prints.flat_map(|print| -> [Value; 3] { [store.into(), print.into(), at.into()] });
        tx.insert(&PERSON, values.collect()).await?;
        let values = found.orders.iter().flat_map(|number| [store.into(), number.as_str().into()]);
        tx.insert(&REMEMBER, values.collect()).await?;
        tx.commit().await
    }
}

/// Has SQLite overwrite what this connection deletes.
async fn overwrite_deleted(database: &Database) -> Result<(), Error> {
    let Database::Sqlite { write, .. } = database else { return Ok(()) };
    let set = sqlx::raw_sql("PRAGMA secure_delete = ON").execute(&*write.pool()).await;
    set.map(drop).map_err(|source| Error::statement("overwrite what is deleted", source))
}

async fn compact(database: &Database, clock: &dyn Clock) -> Result<bool, Error> {
    let Database::Sqlite { write, .. } = database else { return Ok(true) };
    let failed = |source| Error::statement("compact the database", source);
    let size = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
    let rows = database.fetch("measure the database", size, Vec::new()).await?;
    let size = rows.first().map_or(Ok(0), |row| row.int(0))?;
    let is_small = size <= MOST_COMPACTED;
    if is_small {
        for sql in ["PRAGMA temp_store = FILE", "VACUUM"] {
            sqlx::raw_sql(sql).execute(&*write.pool()).await.map_err(failed)?;
        }
    }
    // Cutting the log off locks writers out, also while it waits for a reader: the log is copied before, and the wait is short.
    for sql in ["PRAGMA wal_checkpoint(PASSIVE)", "PRAGMA busy_timeout = 250"] {
        sqlx::raw_sql(sql).execute(&*write.pool()).await.map_err(failed)?;
    }
    for _ in 0..CHECKPOINTS {
        let row = sqlx::raw_sql("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(&*write.pool()).await;
        if row.map_err(failed)?.get::<i64, _>(0) == 0 {
            return Ok(is_small);
        }
        clock.sleep(BETWEEN_CHECKPOINTS).await;
    }
    Ok(false)
}

/// Tells whether the copy of a mirror (`espelho backup`) still has one of the orders with the person; `None` if it
/// cannot be read.
pub async fn copy_has_person(folder: &Path, store: &StoreKey, found: &FoundPerson) -> Option<bool> {
    let options =
        SqliteConnectOptions::new().filename(folder.join("espelho.db")).read_only(true).immutable(true);
    let mut copy = SqliteConnection::connect_with(&options).await.ok()?;
    let mut has = false;
    for number in &found.orders {
        let sql = "SELECT raw, customer_id, customer_name FROM orders WHERE store = ? AND order_number = ?";
        let row = sqlx::query(sql).bind(store.as_str()).bind(number).fetch_optional(&mut copy).await.ok()?;
        let Some(row) = row else { continue };
        let [raw, id, name] = [0, 1, 2].map(|at| row.try_get::<Option<String>, _>(at).ok().flatten());
        has |= id.is_some() || name.is_some();
        has |= raw.is_some_and(|raw| Person::of(&raw).is_in("", &raw));
    }
    Some(has)
}

/// Blanks the orders that are remembered as erased once more: a backup from before the erasure was put back.
pub(crate) async fn erase_again(copy: &Store) -> Result<(), Error> {
    let mut by_store: BTreeMap<String, FoundPerson> = BTreeMap::new();
    let erasures = copy.erasures();
    for row in copy.database.fetch("read erased orders", ERASED, Vec::new()).await? {
        let (store, number) = (row.text(0)?, row.text(1)?);
        let Ok(key) = StoreKey::new(&store) else { continue };
        let found = by_store.entry(store).or_default();
        found.orders.insert(number.clone());
        for order in erasures.orders(BY_NUMBER, &key, &number).await? {
            found.learn(&order)?;
        }
    }
    for (store, found) in by_store {
        let Ok(key) = StoreKey::new(&store) else { continue };
        erasures.blank(&key, &found, Mode::Erase).await?;
    }
    Ok(())
}
