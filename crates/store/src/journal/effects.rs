//! The journal of requests to the marketplace: durable before the first byte leaves, settled by proof.
//!
//! On SQLite the journal is in the inbox's file, whose commits wait for the disk; on PostgreSQL it is in the same
//! database.

use chrono::{DateTime, Utc};
use espelho_model::{
    StoreKey,
    person::{DeliverySubject, Person},
};

use crate::{
    Error, Lease, Prunable,
    driver::{Database, Row, Tx, Value},
    journal::Journal,
    mirror::{erased::ErasedSubjects, protected},
};

pub(crate) const PLAN: &str = "INSERT INTO effects (store, key, kind, command_id, fingerprint, request, evidence, \
    state, \
    planned_at) VALUES ($1, $2, $3, $4, $5, $6, $7, 'planned', $8) RETURNING id";
pub(crate) const SENT: &str =
    "UPDATE effects SET state = 'sent', sent_at = $1 WHERE id = $2 AND state = 'planned'";
pub(crate) const SETTLE: &str = "UPDATE effects SET state = $1, settled_at = $2, code = $3, note = $4, answer = $5 \
    WHERE id = $6 AND state IN ('planned', 'sent')";
pub(crate) const OPEN: &str = "SELECT id, key, kind, command_id, fingerprint, request, evidence, state, planned_at, \
    sent_at, \
    code, note, answer FROM effects WHERE store = $1 AND state IN ('planned', 'sent') ORDER BY id";
pub(crate) const OF_COMMAND: &str = "SELECT id, key, kind, command_id, fingerprint, request, evidence, state, \
    planned_at, \
    sent_at, code, note, answer FROM effects WHERE store = $1 AND command_id = $2 AND fingerprint = $3 ORDER BY id";
pub(crate) const OF_NUMBER: &str = "SELECT id, key, kind, command_id, fingerprint, request, evidence, state, \
    planned_at, \
    sent_at, code, note, answer FROM effects WHERE store = $1 AND command_id = $2 ORDER BY id DESC LIMIT 20";
pub(crate) const OF_KEY: &str = "SELECT id, key, kind, command_id, fingerprint, request, evidence, state, planned_at, \
    sent_at, \
    code, note, answer FROM effects WHERE store = $1 AND key = $2 ORDER BY id DESC LIMIT 200";
pub(crate) const SUBJECT: &str = "SELECT key FROM effects WHERE id = $1";
/// The keys of effects on an order begin with this.
pub(crate) const OF_ORDER: &str = "order/";
pub(crate) const LAST: &str = "SELECT id FROM effects WHERE store = $1 ORDER BY id DESC LIMIT 1";
pub(crate) const AFTER: &str = "SELECT id, key, kind, command_id, fingerprint, request, evidence, state, planned_at, \
    sent_at, \
    code, note, answer FROM effects WHERE store = $1 AND id > $2 ORDER BY id";
pub(crate) const PRUNE: &str = "DELETE FROM effects WHERE settled_at < $1 AND state IN ('confirmed', 'refuted') \
    AND id IN (SELECT id FROM effects WHERE settled_at < $1 AND state IN ('confirmed', 'refuted') ORDER BY id LIMIT \
    1000)";
pub(crate) const PRUNABLE: &str = "SELECT count(*), CAST(COALESCE(sum(octet_length(request) \
    + COALESCE(octet_length(evidence), 0) + COALESCE(octet_length(answer), 0)), 0) AS BIGINT) FROM effects \
    WHERE settled_at < $1 AND state IN ('confirmed', 'refuted')";
/// The effects of one kind since a time, except those known not to have happened.
pub(crate) const SINCE: &str = "SELECT id, key, kind, command_id, fingerprint, request, evidence, state, planned_at, \
    sent_at, \
    code, note, answer FROM effects WHERE store = $1 AND kind = $2 AND planned_at >= $3 AND state NOT IN ('planned', \
    'refuted') ORDER BY id";

/// The state of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum EffectState {
    /// Recorded; nothing has left.
    Planned,
    /// The request may have left; the result is unknown.
    Sent,
    /// It happened.
    Confirmed,
    /// It did not happen.
    Refuted,
    /// No proof either way is possible.
    Doubtful,
}

impl EffectState {
    /// The word in the table.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// An effect before its request.
#[derive(Clone, Debug)]
pub struct NewEffect {
    /// Its subject, as `stock/SKU/LOCATION` or `order/NUMBER`; no two effects on one key are under way together.
    pub key: String,
    /// Its kind, as `stock.set` or `order.status`.
    pub kind: &'static str,
    /// The number of the command behind it, with the command's fingerprint; `None` for levels and prices.
    pub command: Option<(i64, String)>,
    /// Method, path and body: `POST /api/products/P1/stock {"location_id":7,"quantity":10}`.
    pub request: String,
    /// The evidence by which a reading tells later if it happened: a JSON object with the version `v`, the value that
    /// was asked for, and the value before.
    pub evidence: Option<String>,
}

/// A recorded effect: a row of `effects`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// Its number; effects are numbered in the order of their planning.
    pub id: i64,
    /// Its subject: see [`NewEffect::key`].
    pub key: String,
    /// Its kind, as `stock.set` or `order.status`.
    pub kind: String,
    /// The number of the command behind it; `None` for levels and prices.
    pub command_id: Option<i64>,
    /// The fingerprint that the command had when the effect was planned.
    pub fingerprint: Option<String>,
    /// Method, path and body.
    pub request: String,
    /// The evidence by which a reading tells if it happened, as JSON: see [`NewEffect::evidence`].
    pub evidence: Option<String>,
    /// Its state.
    pub state: EffectState,
    /// When it was planned.
    pub planned_at: DateTime<Utc>,
    /// When it was noted as sent, just before its request; `None` while nothing has left.
    pub sent_at: Option<DateTime<Utc>>,
    /// A short stable code of the error, or of another reason why it did not happen, if there is one.
    pub code: Option<String>,
    /// The way its result is known; of a doubtful effect a message of the catalogue, as JSON.
    pub note: Option<String>,
    /// The marketplace's answer, as far as erasures and the policy for people's data let it be kept.
    pub answer: Option<String>,
}

/// The result of an effect.
#[derive(Clone, Debug)]
pub struct EffectOutcome {
    /// `Confirmed`, `Refuted` or `Doubtful`.
    pub state: EffectState,
    /// A short stable code of the error, if there was one.
    pub code: Option<String>,
    /// The way the result is known; of a doubtful effect a message of the catalogue, as JSON.
    pub note: Option<String>,
    /// The marketplace's answer.
    pub answer: Option<String>,
}

impl Journal<'_> {
    /// Records an effect as planned and returns its number; durable when this returns.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when another instance has taken the store; when the database does not answer.
    pub async fn plan_effect(self, lease: &Lease, effect: NewEffect) -> Result<i64, Error> {
        let NewEffect { key, kind, command, request, evidence } = effect;
        let (command_id, fingerprint) = command.unzip();
        let values: Vec<Value> = vec![
            lease.store().as_str().into(),
            key.into(),
            kind.into(),
            command_id.into(),
            fingerprint.into(),
            request.into(),
            evidence.into(),
            self.clock.now().into(),
        ];
        let mut tx = self.begin_journal(lease).await?;
        let rows = tx.fetch("plan an effect", PLAN.to_owned(), values).await?;
        let id = rows.first().map_or(Ok(0), |row| row.int(0))?;
        tx.commit().await?;
        Ok(id)
    }

    /// Records that the request leaves now; durable when this returns.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when another instance has taken the store, or the effect is no longer planned; when the
    /// database does not answer.
    pub async fn note_sent(self, lease: &Lease, id: i64) -> Result<(), Error> {
        let mut tx = self.begin_journal(lease).await?;
        let noted =
            tx.execute("note an effect as sent", SENT, vec![self.clock.now().into(), id.into()]).await?;
        if noted != 1 {
            return Err(Error::LeaseLost { store: lease.store().clone() });
        }
        tx.commit().await
    }

    /// Records the result of an effect. One that is settled already stays as it is.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when another instance has taken the store; when the database does not answer.
    pub async fn settle_effect(self, lease: &Lease, id: i64, settled: EffectOutcome) -> Result<(), Error> {
        let EffectOutcome { state, code, note, answer } = settled;
        let mut tx = self.begin_journal(lease).await?;
        let answer = match answer {
            Some(answer) => Some(self.protected(&mut tx, lease.store(), id, answer).await?),
            None => None,
        };
        let values: Vec<Value> = vec![
            state.as_str().into(),
            self.clock.now().into(),
            code.into(),
            note.into(),
            answer.into(),
            id.into(),
        ];
        tx.execute("settle an effect", SETTLE, values).await?;
        tx.commit().await
    }

    /// Returns an answer about an order as the policy for people's data lets it be kept, and without a person who was
    /// erased.
    async fn protected(
        self,
        tx: &mut Tx,
        store: &StoreKey,
        id: i64,
        answer: String,
    ) -> Result<String, Error> {
        let rows = tx.fetch("read an effect's subject", SUBJECT.to_owned(), vec![id.into()]).await?;
        let subject = rows.first().map(|row| row.text(0)).transpose()?.unwrap_or_default();
        let Some(order) = subject.strip_prefix(OF_ORDER).map(str::to_owned) else { return Ok(answer) };
        let subject = DeliverySubject { order: Some(order.clone()), conversation: None };
        let erased = ErasedSubjects::among(self.database, tx, store, vec![order], Vec::new()).await?;
        let answer = if erased.has(&subject) { Person::of(&answer).redact("", &answer) } else { answer };
        Ok(protected::answer(self.privacy, answer))
    }

    /// Unsettled effects, in the order of their planning.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn open_effects(self, store: &StoreKey) -> Result<Vec<Effect>, Error> {
        let rows = self.inbox.fetch("read open effects", OPEN, vec![store.as_str().into()]).await?;
        rows.iter().map(effect).collect()
    }

    /// All effects of a command with this fingerprint, in the order of their planning.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn effects_of_command(
        self,
        store: &StoreKey,
        command: i64,
        fingerprint: &str,
    ) -> Result<Vec<Effect>, Error> {
        let values = vec![store.as_str().into(), command.into(), fingerprint.into()];
        let rows = self.inbox.fetch("read a command's effects", OF_COMMAND, values).await?;
        rows.iter().map(effect).collect()
    }

    /// The last 20 effects of a command's number, newest first, whatever the command asked for at that time.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn effects_by_number(self, store: &StoreKey, command: i64) -> Result<Vec<Effect>, Error> {
        let values = vec![store.as_str().into(), command.into()];
        let rows = self.inbox.fetch("read a command's effects", OF_NUMBER, values).await?;
        rows.iter().map(effect).collect()
    }

    /// The effects of a store planned after another effect, in the order of their planning.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn effects_after(self, store: &StoreKey, id: i64) -> Result<Vec<Effect>, Error> {
        let rows =
            self.inbox.fetch("read later effects", AFTER, vec![store.as_str().into(), id.into()]).await?;
        rows.iter().map(effect).collect()
    }

    /// The last 200 effects on a key, newest first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn effects_on(self, store: &StoreKey, key: &str) -> Result<Vec<Effect>, Error> {
        let values = vec![store.as_str().into(), key.into()];
        let rows = self.inbox.fetch("read effects", OF_KEY, values).await?;
        rows.iter().map(effect).collect()
    }

    /// The effects of one kind since a time that may have happened.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn effects_since(
        self,
        store: &StoreKey,
        kind: &'static str,
        since: DateTime<Utc>,
    ) -> Result<Vec<Effect>, Error> {
        let values = vec![store.as_str().into(), kind.into(), since.into()];
        let rows = self.inbox.fetch("read what was asked for lately", SINCE, values).await?;
        rows.iter().map(effect).collect()
    }

    /// Returns the end of a store's journal: the number of its last effect, 0 if there is none. An effect that is planned
    /// later has a higher number.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn end(self, store: &StoreKey) -> Result<i64, Error> {
        let rows = self.inbox.fetch("find the last effect", LAST, vec![store.as_str().into()]).await?;
        rows.first().map_or(Ok(0), |row| row.int("id"))
    }

    /// The effects that [`Journal::prune_effects`] would delete, with the bytes of requests, evidence and answers.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn prunable_effects(self, before: DateTime<Utc>) -> Result<Prunable, Error> {
        Prunable::of(&self.inbox.fetch("count old effects", PRUNABLE, vec![before.into()]).await?)
    }

    /// Deletes effects that were confirmed or refuted before `before`; returns their number. Doubtful effects stay.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn prune_effects(self, before: DateTime<Utc>) -> Result<u64, Error> {
        self.inbox.execute_in_batches("prune the journal", PRUNE, &[before.into()]).await
    }

    /// Begins a write to the journal. PostgreSQL checks the lease in the same transaction; beside SQLite the lock
    /// file excludes every other process.
    async fn begin_journal(self, lease: &Lease) -> Result<Tx, Error> {
        let mut tx = self.inbox.begin().await?;
        if matches!(self.inbox, Database::Postgres(_)) {
            lease.check(self.clock.now(), &mut tx).await?;
        }
        Ok(tx)
    }
}

pub(crate) fn effect(row: &Row) -> Result<Effect, Error> {
    let word = row.text("state")?;
    let corrupt = |_| Error::Corrupt { column: 7, why: format!("{word:?} is no state") };
    Ok(Effect {
        id: row.int("id")?,
        key: row.text("key")?,
        kind: row.text("kind")?,
        command_id: row.optional_int("command_id")?,
        fingerprint: row.optional_text("fingerprint")?,
        request: row.text("request")?,
        evidence: row.optional_text("evidence")?,
        state: word.parse().map_err(corrupt)?,
        planned_at: row.time("planned_at")?,
        sent_at: row.optional_time("sent_at")?,
        code: row.optional_text("code")?,
        note: row.optional_text("note")?,
        answer: row.optional_text("answer")?,
    })
}
