//! `commands`: the ERP's commands.

use chrono::{DateTime, Utc};
use espelho_model::{ContentHash, StoreKey, push::PushState};

use super::Outcome;
use crate::{
    Error, Prunable,
    driver::{Row, Value},
    intents::{Commands, IntentWriter},
};

/// The columns of a command, as [`command`] reads them.
macro_rules! columns {
    () => {
        "id, kind, key, CAST(data AS TEXT) AS data, state, created_at, error_code"
    };
}

pub(crate) const OPEN_BY_ID: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM commands WHERE store = $1 AND id = $2 AND state IN ('new', 'waiting', 'sending')"
);
pub(crate) const BY_KEY: &str =
    concat!("SELECT ", columns!(), " FROM commands WHERE store = $1 AND CAST(id AS TEXT) = $2");
/// Numbers of commands are unique in the database.
pub(crate) const STORE_OF: &str = "SELECT store FROM commands WHERE id = $1";
pub(crate) const ANSWER: &str = "UPDATE commands SET state = $1, error_code = $2, error = $3, hint = $4, said = $14, \
    result = COALESCE($5, result), updated_at = $6, done_at = $7 \
    WHERE store = $8 AND id = $9 AND kind = $10 AND key = $11 AND COALESCE(CAST(data AS TEXT), '') = $12 \
    AND (state = $13 OR state = 'sending')";
/// A command in this state cannot be changed: a trigger refuses it.
pub(crate) const SENDING: &str = "UPDATE commands SET state = 'sending', error_code = NULL, error = NULL, hint = NULL, \
    said = NULL, updated_at = $1 WHERE store = $2 AND id = $3 AND state <> 'sending'";
/// Finds an open command of this kind on this key. SQLite would put the constant in place of a plain `key`
/// everywhere, and miss the index.
pub(crate) const IS_COMING: &str = "SELECT 1 FROM commands WHERE store = $1 AND kind = $2 AND (key = $3) IS TRUE \
    AND substr(key, 1, 100) = substr($3, 1, 100) AND state IN ('new', 'waiting', 'sending') LIMIT 1";

/// An open command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Its number.
    pub id: i64,
    /// Its kind, as the ERP wrote it.
    pub kind: String,
    /// Its subject.
    pub key: String,
    /// Its data, as the ERP wrote it; empty if there is none.
    pub data: String,
    /// The state; `None` for an unknown word.
    pub state: Option<PushState>,
    /// When the ERP wrote it.
    pub created_at: Option<DateTime<Utc>>,
    /// The answer that its row already has.
    pub code: Option<String>,
}

impl Command {
    /// Identifies the command, even if a restored database gives its number to another one.
    pub fn fingerprint(&self) -> String {
        let created = self.created_at.map(|at| at.timestamp_micros()).unwrap_or_default();
        let text = format!("{}\n{}\n{}\n{created}", self.kind, self.key, self.data);
        format!("{:016x}", ContentHash::of(text.as_bytes()).as_i64())
    }
}

macro_rules! old_commands {
    ($head:literal, $tail:literal) => {
        concat!(
            $head,
            " FROM commands WHERE kind IN ('order.status', 'order.notes', 'labels.generate') \
             AND state IN ('done', 'ignored', 'superseded') AND COALESCE(done_at, updated_at, created_at) < $1",
            $tail
        )
    };
}

pub(crate) const PRUNABLE: &str =
    old_commands!("SELECT count(*), CAST(COALESCE(sum(octet_length(CAST(data AS TEXT))), 0) AS BIGINT)", "");
pub(crate) const PRUNE: &str =
    old_commands!("DELETE FROM commands WHERE id IN (SELECT id", " ORDER BY id LIMIT 1000)");

impl Commands<'_> {
    /// The commands that [`Commands::prune_commands`] would delete, with the bytes of their data.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn prunable_commands(self, before: DateTime<Utc>) -> Result<Prunable, Error> {
        Prunable::of(&self.database.fetch_erp("count old commands", PRUNABLE, vec![before.into()]).await?)
    }

    /// Deletes commands about orders that were over before `before`; returns their number. Failed, held and doubtful
    /// ones stay, and so do those about goods, which have no data of a person.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn prune_commands(self, before: DateTime<Utc>) -> Result<u64, Error> {
        self.database.execute_in_batches("prune the commands", PRUNE, &[before.into()]).await
    }

    /// The store of a command, as its row names it; `None` for a number that no command has.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn store_of(self, id: i64) -> Result<Option<String>, Error> {
        let rows = self.database.fetch_erp("read the store of a command", STORE_OF, vec![id.into()]).await?;
        rows.first().map(|row| row.foreign_text("store")).transpose()
    }

    /// Whether an open command of this kind exists for a key.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn is_commanded(
        self,
        store: &StoreKey,
        kind: &'static str,
        about: &str,
    ) -> Result<bool, Error> {
        let values = vec![store.as_str().into(), kind.into(), about.into()];
        Ok(!self.database.fetch_erp("look for a command", IS_COMING, values).await?.is_empty())
    }

    /// Whether a command is unchanged since it was read, and still open.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn is_command_open(self, store: &StoreKey, id: i64, fingerprint: &str) -> Result<bool, Error> {
        let values = vec![store.as_str().into(), id.into()];
        let rows = self.database.fetch_erp("look whether a command is open", OPEN_BY_ID, values).await?;
        Ok(rows.first().map(command).transpose()?.is_some_and(|now| now.fingerprint() == fingerprint))
    }
}

impl IntentWriter<'_, '_> {
    /// Marks a command as being sent, after which the ERP cannot change it. Returns false, and marks nothing, where it
    /// is not open any more or was changed since it was read.
    ///
    /// # Errors
    /// When the database does not answer, or the ERP has the row locked.
    pub async fn begin_sending(&mut self, id: i64, fingerprint: &str) -> Result<bool, Error> {
        let store = self.page.store_key().as_str().to_owned();
        let values = vec![store.as_str().into(), id.into()];
        let rows = self.page.tx.fetch_for_update("read a command", OPEN_BY_ID, values).await?;
        let is_same =
            rows.first().map(command).transpose()?.is_some_and(|now| now.fingerprint() == fingerprint);
        if is_same {
            let values: Vec<Value> = vec![self.page.at().into(), store.into(), id.into()];
            self.page.tx.execute("mark a command as being sent", SENDING, values).await?;
        }
        Ok(is_same)
    }

    /// Answers a command, unless the ERP or a person has changed it since; returns whether it was still open.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn answer_command(&mut self, command: &Command, outcome: &Outcome) -> Result<bool, Error> {
        let Outcome { state, code, error, hint, result, .. } = outcome.clone();
        let at = self.page.at();
        let is_over = !matches!(state, PushState::New | PushState::Waiting | PushState::Sending);
        let values: Vec<Value> = vec![
            state.as_str().into(),
            code.into(),
            error.into(),
            hint.into(),
            Value::Json(result),
            at.into(),
            is_over.then_some(at).into(),
            self.page.store_key().as_str().to_owned().into(),
            command.id.into(),
            command.kind.as_str().into(),
            command.key.as_str().into(),
            command.data.as_str().into(),
            command.state.map_or("", PushState::as_str).into(),
            outcome.message_as_json().into(),
        ];
        Ok(self.page.tx.execute("answer a command", ANSWER, values).await? > 0)
    }
}

pub(crate) fn command(row: &Row) -> Result<Command, Error> {
    Ok(Command {
        id: row.int("id")?,
        kind: row.foreign_text("kind")?,
        key: row.foreign_text("key")?,
        data: row.foreign_text("data")?,
        state: row.foreign_text("state")?.parse().ok(),
        // An ERP may write an unreadable time.
        created_at: row.optional_time("created_at").ok().flatten(),
        code: row.optional_foreign_text("error_code")?,
    })
}
