//! Sanitizes a restored copy: what it must forget and what it must take over before it is used.
//!
//! The time after the backup is unknown: tokens have expired, budgets were spent, and consumers have read changes
//! that this copy does not have. So it raises its fences, forgets its tokens, restarts every pass, numbers its feed
//! above every number ever given out, and repeats every row in the feed: a consumer may know newer data, and a row
//! that has returned to its old state would otherwise never be told again.

use std::path::Path;

use chrono::{DateTime, Utc};
use espelho_model::text::Locale;
use sqlx::Sqlite;

use super::{
    doubts::{self, Doubted},
    refused,
};
use crate::{
    Error, Store,
    driver::{Database, DirectPool, Tx},
    operations::{erasures, explain},
    ownership::lease::RESTORER,
};

/// More than all leases taken since the backup: each takes one number.
const FENCES: i64 = 1_000_000;

/// In the second file.
const FORGET_TOKENS: &str = "DELETE FROM tokens";
const TAKE_LEASES: &str = "UPDATE leases SET fence = fence + $1, owner = $2";
const AMENDMENTS: &[(&str, &str)] = &[
    ("forget the spent budget", "DELETE FROM rate_blocks"),
    ("forget the checkpoints", "DELETE FROM sync_pages"),
    ("forget the passes", "DELETE FROM sync_passes"),
    ("forget the sweeps", "DELETE FROM sweeps"),
    ("forget what was denied", "DELETE FROM missing"),
    ("forget the signs of life", "DELETE FROM services"),
    ("forget the alarms", "DELETE FROM alarms"),
];
/// What the replaced mirror knows better.
const TAKEN_OVER: &[(&str, &str)] = &[
    (
        "take the leases over",
        "UPDATE leases SET fence = max(fence, COALESCE((SELECT old.fence FROM replaced.leases old \
         WHERE old.store = leases.store), 0) + 1)",
    ),
    (
        "take the spent budget over",
        "INSERT OR REPLACE INTO rate_blocks (store, block, requests, free_at) \
         SELECT store, block, requests, free_at FROM replaced.rate_blocks",
    ),
    (
        "take the logins over",
        "INSERT OR REPLACE INTO logins (store, at, reason) SELECT store, at, reason FROM replaced.logins",
    ),
];
const HIGHEST_REPLACED: &str =
    "SELECT COALESCE(max(seq), 0) FROM replaced.sqlite_sequence WHERE name = 'changes'";
const HIGHEST: &str = "SELECT max(COALESCE((SELECT max(seq) FROM sqlite_sequence WHERE name = 'changes'), 0), \
    COALESCE((SELECT max(seq) FROM consumers), 0))";
const FORGET_NUMBER: &str = "DELETE FROM sqlite_sequence WHERE name = 'changes'";
const NUMBER: &str = "INSERT INTO sqlite_sequence (name, seq) VALUES ('changes', $1)";
/// The result of effects under way at the backup is unknown, although they have been settled since.
const DOUBT: &str = "UPDATE effects SET state = 'doubtful', settled_at = $1, code = 'restored', \
    note = 'a backup was put back while this was under way' WHERE state IN ('planned', 'sent')";
/// Deliveries that the backup does not have, mostly later ones. They are handled, possibly again.
const DELIVERIES: &str = "INSERT INTO webhook_inbox (store, received_at, event, digest, body) \
    SELECT old.store, old.received_at, old.event, old.digest, old.body FROM replaced.webhook_inbox old \
    LEFT JOIN webhook_inbox ours ON ours.store = old.store AND ours.received_at = old.received_at \
    AND ours.digest = old.digest WHERE ours.id IS NULL ORDER BY old.id";
/// The marketplace shows a secret once: no secret is lost, and the latest record of each counts.
const SECRETS: &str = "INSERT OR REPLACE INTO webhook_secrets (store, secret, obtained_at, retired_at) \
    SELECT store, secret, obtained_at, retired_at FROM replaced.webhook_secrets";
/// The replaced journal is newer: its effects replace those of the backup.
const OLDER_EFFECTS: &str = "DELETE FROM effects WHERE EXISTS (SELECT 1 FROM replaced.effects old \
    WHERE old.store = effects.store AND old.planned_at = effects.planned_at AND old.key = effects.key AND old.kind = \
    effects.kind)";
const EFFECTS: &str = "INSERT INTO effects (store, key, kind, command_id, fingerprint, request, evidence, state, \
    planned_at, \
    sent_at, settled_at, code, note, answer) SELECT store, key, kind, command_id, fingerprint, request, evidence, \
    state, \
    planned_at, sent_at, settled_at, code, note, answer FROM replaced.effects ORDER BY id";
/// An inbox of an earlier version has no such table.
const ADDRESSES: &str = "INSERT OR REPLACE INTO webhook_addresses (store, username, base_url, url, registered_at) \
    SELECT store, username, base_url, url, registered_at FROM replaced.webhook_addresses";

/// The replaced mirror knows every erasure that the backup knows. A mirror of an earlier version has no such tables.
const ERASURES: &[&str] = &[
    "INSERT OR REPLACE INTO erasure_keys (id, secret) SELECT id, secret FROM replaced.erasure_keys",
    "INSERT OR REPLACE INTO erased_orders (store, order_number) \
     SELECT store, order_number FROM replaced.erased_orders",
    "INSERT OR REPLACE INTO erased_people (store, identifier, at) \
     SELECT store, identifier, at FROM replaced.erased_people",
    "INSERT OR REPLACE INTO erasures (id, store, at, erased_by, counts) \
     SELECT id, store, at, erased_by, counts FROM replaced.erasures",
];

/// What was taken over from a replaced mirror.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replaced {
    /// Whether its leases, budgets and logins were readable.
    pub mirror_read: bool,
    /// Whether its inbox was readable.
    pub inbox_read: bool,
    /// Deliveries that the backup did not have.
    pub deliveries: u64,
}

/// The replaced files, if they exist.
#[derive(Clone, Copy)]
pub(super) struct Old<'o> {
    pub(super) mirror: Option<&'o Path>,
    pub(super) inbox: Option<&'o Path>,
}

/// Sanitizes a copy; returns the number above which its feed continues.
pub(super) async fn sanitize(copy: &Store, old: Old<'_>, locale: Locale) -> Result<(Replaced, i64), Error> {
    let mut replaced = Replaced::default();
    let now = copy.clock.now();
    copy.inbox.execute("doubt what was under way", DOUBT, vec![now.into()]).await?;
    copy.inbox.execute("forget the tokens", FORGET_TOKENS, Vec::new()).await?;
    copy.database.execute("take the leases", TAKE_LEASES, vec![FENCES.into(), RESTORER.into()]).await?;
    for (operation, sql) in AMENDMENTS {
        copy.database.execute(operation, sql, Vec::new()).await?;
    }
    let mut highest = 0;
    let mut journal_read = false;
    if let Some(inbox) = old.inbox {
        match take_deliveries(&copy.inbox, inbox).await {
            Ok((deliveries, journal)) => {
                (replaced.inbox_read, replaced.deliveries, journal_read) = (true, deliveries, journal);
            }
            Err(error) => tracing::warn!(%error, "the inbox that is replaced cannot be read"),
        }
    }
    let mut doubted = Doubted::All;
    if let Some(mirror) = old.mirror {
        match take_over(&copy.database, mirror).await {
            Ok(reached) => (replaced.mirror_read, highest) = (true, reached),
            Err(error) => tracing::warn!(%error, "the mirror that is replaced cannot be read"),
        }
        if replaced.mirror_read && journal_read {
            match doubt_changed(&copy.database, mirror, locale, now).await {
                Ok(()) => doubted = Doubted::Changed,
                Err(error) => {
                    tracing::warn!(%error, "the open rows of the mirror that is replaced cannot be read");
                }
            }
        }
    }
    if doubted == Doubted::All {
        doubts::open_rows(&copy.database, doubted, locale, now).await?;
    }
    erasures::erase_again(copy).await?;
    let feed_from = tell_anew(&copy.database, highest, now).await?;
    Ok((replaced, feed_from))
}

/// Attaches another file to the writer's connection, the only one of its pool.
async fn attach(database: &Database, file: &Path) -> Result<(), Error> {
    let attached = sqlx::query("ATTACH DATABASE ? AS replaced").bind(file.display().to_string());
    attached.execute(&*writer(database)?).await.map(drop).map_err(refused("open the file that is replaced"))
}

async fn detach(database: &Database) -> Result<(), Error> {
    let detached = sqlx::query("DETACH DATABASE replaced").execute(&*writer(database)?).await;
    detached.map(drop).map_err(refused("close the file that is replaced"))
}

fn writer(database: &Database) -> Result<DirectPool<'_, Sqlite>, Error> {
    match database {
        Database::Sqlite { write, .. } => Ok(write.pool()),
        Database::Postgres(_) => {
            Err(Error::Address { url: String::new(), why: "a backup is put back into files only".into() })
        }
    }
}

/// Takes over all or nothing; returns the highest number of the feed.
async fn take_over(database: &Database, mirror: &Path) -> Result<i64, Error> {
    attach(database, mirror).await?;
    let taken = async {
        let mut tx = database.begin().await?;
        for (operation, sql) in TAKEN_OVER {
            tx.execute(operation, sql, Vec::new()).await?;
        }
        let highest = number(&mut tx, HIGHEST_REPLACED).await?;
        tx.commit().await?;
        Ok(highest)
    };
    let taken = taken.await;
    for sql in ERASURES {
        if let Err(error) = database.execute("take erasures over", sql, Vec::new()).await {
            tracing::warn!(%error, "the erasures of the mirror that is replaced are not known");
        }
    }
    detach(database).await?;
    taken
}

/// Doubts the rows that are not open in the replaced mirror as they are here.
async fn doubt_changed(
    database: &Database,
    mirror: &Path,
    locale: Locale,
    now: DateTime<Utc>,
) -> Result<(), Error> {
    attach(database, mirror).await?;
    let doubted = doubts::open_rows(database, Doubted::Changed, locale, now).await;
    detach(database).await?;
    doubted
}

/// Takes over deliveries with secrets, and the journal, each whole or not at all; returns the number of deliveries, and
/// whether the journal was readable.
async fn take_deliveries(database: &Database, inbox: &Path) -> Result<(u64, bool), Error> {
    attach(database, inbox).await?;
    let deliveries = async {
        let mut tx = database.begin().await?;
        let deliveries = tx.execute("take deliveries over", DELIVERIES, Vec::new()).await?;
        tx.execute("take webhook secrets over", SECRETS, Vec::new()).await?;
        tx.commit().await?;
        Ok(deliveries)
    };
    let deliveries = deliveries.await;
    let journal = async {
        let mut tx = database.begin().await?;
        tx.execute("leave older effects out", OLDER_EFFECTS, Vec::new()).await?;
        tx.execute("take the journal over", EFFECTS, Vec::new()).await?;
        tx.commit().await
    };
    let journal: Result<(), Error> = journal.await;
    if let Err(error) = &journal {
        tracing::warn!(%error, "what was done since the backup is not known");
    }
    if let Err(error) = database.execute("take webhook addresses over", ADDRESSES, Vec::new()).await {
        tracing::warn!(%error, "the addresses of webhooks are not known");
    }
    detach(database).await?;
    deliveries.map(|deliveries| (deliveries, journal.is_ok()))
}

async fn tell_anew(database: &Database, highest: i64, now: DateTime<Utc>) -> Result<i64, Error> {
    let mut tx = database.begin().await?;
    let known = number(&mut tx, HIGHEST).await?.max(highest);
    // The end of an unreadable mirror's feed is unknown. One row takes more than a microsecond, so numbers from the
    // microseconds since 1970 on were never given out, not even after an earlier restore. They stay below 2^53 until
    // 2255, so JavaScript can hold them.
    let from = (known + 1).max(now.timestamp_micros());
    tx.execute("number the change feed", FORGET_NUMBER, Vec::new()).await?;
    tx.execute("number the change feed", NUMBER, vec![from.into()]).await?;
    for sql in explain::RETELLINGS.iter() {
        tx.execute("tell everything once more", sql, vec![now.into()]).await?;
    }
    tx.commit().await?;
    Ok(from)
}

async fn number(tx: &mut Tx, sql: &str) -> Result<i64, Error> {
    let rows = tx.fetch("read the feed's highest number", sql.to_owned(), Vec::new()).await?;
    rows.first().map_or(Ok(0), |row| row.int(0))
}
