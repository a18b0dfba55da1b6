//! Inputs whose work ended in a panic, or with the process: how often, and which of them are set aside.

use chrono::{DateTime, Utc};
use espelho_model::StoreKey;

use crate::{
    Error,
    driver::{Row, Value},
    mirror::failures::Failure,
    operations::Quarantine,
};

/// The code of rows that are set aside, in `sync_failures` too.
pub const POISONED: &str = "poisoned";
/// The code of parts of the service that were started again.
pub const PANICKED: &str = "panicked";
pub(crate) const OF_STORE: &str = "SELECT store, work, key, attempts, place, set_aside_at FROM quarantine \
    WHERE store = $1 ORDER BY work, key";
pub(crate) const ALL: &str = "SELECT store, work, key, attempts, place, set_aside_at FROM quarantine \
    WHERE set_aside_at IS NOT NULL ORDER BY store, work, key";
pub(crate) const FIND: &str = "SELECT store, work, key, attempts, place, set_aside_at FROM quarantine \
    WHERE store = $1 AND work = $2 AND key = $3";
pub(crate) const PUT: &str = "INSERT INTO quarantine (store, work, key, attempts, place, at, set_aside_at) \
    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (store, work, key) DO UPDATE SET attempts = excluded.attempts, \
    place = COALESCE(excluded.place, quarantine.place), at = excluded.at, set_aside_at = excluded.set_aside_at";
pub(crate) const REMOVE: &str = "DELETE FROM quarantine WHERE store = $1 AND work = $2 AND key = $3";
pub(crate) const FAILURE: &str = "INSERT INTO sync_failures (store, resource, key, code, error, hint, said, at) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (store, resource, key) DO UPDATE SET code = excluded.code, \
    error = excluded.error, hint = excluded.hint, said = excluded.said, at = excluded.at";
pub(crate) const REMOVE_FAILURE: &str =
    "DELETE FROM sync_failures WHERE store = $1 AND resource = $2 AND key = $3 AND code = $4";
pub(crate) const REMOVE_FAILURES: &str =
    "DELETE FROM sync_failures WHERE store = $1 AND resource = $2 AND code = $3";
/// On SQLite in the second file.
pub(crate) const REOPEN: &str = "UPDATE webhook_inbox SET handled_at = NULL \
    WHERE store = $1 AND substr(digest, 1, 32) = $2 AND handled_at IS NOT NULL";

/// An input whose work ended in a panic, or with the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quarantined {
    /// Its store.
    pub store: StoreKey,
    /// The kind of work.
    pub work: String,
    /// Its key there.
    pub key: String,
    /// How many attempts ended so.
    pub attempts: u32,
    /// The place of the last panic in the code, as `file:line`; `None` where the process ended without a word.
    pub place: Option<String>,
    /// True once it is set aside.
    pub is_set_aside: bool,
}

impl Quarantine<'_> {
    /// The inputs of a store.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn of_store(self, store: &StoreKey) -> Result<Vec<Quarantined>, Error> {
        let values = vec![store.as_str().into()];
        let rows = self.database.fetch("read the quarantine", OF_STORE, values).await?;
        Ok(rows.iter().map(quarantined).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// The inputs of all stores that are set aside.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn set_aside(self) -> Result<Vec<Quarantined>, Error> {
        let rows = self.database.fetch("read the quarantine", ALL, Vec::new()).await?;
        Ok(rows.iter().map(quarantined).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// An input, if it is on record.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn find(self, store: &StoreKey, work: &str, key: &str) -> Result<Option<Quarantined>, Error> {
        let rows = self.database.fetch("read the quarantine", FIND, named(store, work, key)).await?;
        Ok(rows.first().map(quarantined).transpose()?.flatten())
    }

    /// Records how often the work on an input ended in a panic or with the process, and whether it is set aside.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn put(self, entry: &Quarantined) -> Result<(), Error> {
        let now = self.clock.now();
        let mut values = named(&entry.store, &entry.work, &entry.key);
        values.extend([
            i64::from(entry.attempts).into(),
            entry.place.clone().into(),
            now.into(),
            entry.is_set_aside.then_some(now).into(),
        ]);
        self.database.execute("count an attempt", PUT, values).await.map(drop)
    }

    /// Forgets an input: its work ended well, or its row says that it is set aside. Returns whether it was on record.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn remove(self, store: &StoreKey, work: &str, key: &str) -> Result<bool, Error> {
        let values = named(store, work, key);
        Ok(self.database.execute("forget attempts", REMOVE, values).await? > 0)
    }

    /// Shows in `sync_failures` why an input is set aside, or that a part of the service was started again.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn show(self, store: &StoreKey, resource: &str, failure: &Failure) -> Result<(), Error> {
        let message = failure.message.as_ref().and_then(|message| serde_json::to_string(message).ok());
        let mut values = named(store, resource, &failure.key);
        values.extend([&failure.code, &failure.error, &failure.hint].map(|text| text.as_str().into()));
        values.extend([message.into(), self.clock.now().into()]);
        self.database.execute("note what is set aside", FAILURE, values).await.map(drop)
    }

    /// Forgets a row of `sync_failures` that has this code.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn hide(self, store: &StoreKey, resource: &str, key: &str, code: &str) -> Result<bool, Error> {
        let mut values = named(store, resource, key);
        values.push(code.into());
        Ok(self.database.execute("forget what was set aside", REMOVE_FAILURE, values).await? > 0)
    }

    /// Forgets all rows of `sync_failures` of a store's resource that have this code.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn hide_all(self, store: &StoreKey, resource: &str, code: &str) -> Result<(), Error> {
        let values = vec![store.as_str().into(), resource.into(), code.into()];
        self.database.execute("forget what was set aside", REMOVE_FAILURES, values).await.map(drop)
    }

    /// Lets an input be worked on again, on a person's word. Returns whether it was set aside.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn retry(self, store: &StoreKey, work: &str, key: &str) -> Result<bool, Error> {
        let mut found = false;
        if work == "webhooks" {
            let values: Vec<Value> = vec![store.as_str().into(), key.into()];
            found |= self.inbox.execute("reopen a delivery", REOPEN, values).await? > 0;
        }
        found |= self.remove(store, work, key).await?;
        found |= self.hide(store, work, key, POISONED).await?;
        found |= self.hide(store, work, key, PANICKED).await?;
        Ok(found)
    }
}

fn named(store: &StoreKey, work: &str, key: &str) -> Vec<Value> {
    vec![store.as_str().into(), work.into(), key.into()]
}

/// Reads a row; `None` where the store's name is none.
fn quarantined(row: &Row) -> Result<Option<Quarantined>, Error> {
    let Ok(store) = StoreKey::new(&row.text("store")?) else { return Ok(None) };
    let set_aside_at: Option<DateTime<Utc>> = row.optional_time("set_aside_at")?;
    Ok(Some(Quarantined {
        store,
        work: row.text("work")?,
        key: row.text("key")?,
        attempts: u32::try_from(row.int("attempts")?).unwrap_or(u32::MAX),
        place: row.optional_text("place")?,
        is_set_aside: set_aside_at.is_some(),
    }))
}
