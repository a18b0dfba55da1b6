//! What people decide about rows that are held, failed or doubtful; and which guards they have lifted.

use chrono::{DateTime, Utc};
use espelho_model::{StoreKey, push::PushState};

use super::commands::command;
use crate::{
    Error, PageTx, Store,
    driver::{Tx, Value},
};

pub(crate) const RELEASE: &str = "INSERT INTO releases (store, what, key, value, at) VALUES ($1, $2, $3, $4, $5) \
    ON CONFLICT (store, what, key) DO UPDATE SET value = excluded.value, at = excluded.at";
pub(crate) const STOCK_VALUE: &str = "SELECT CAST(quantity AS TEXT) FROM erp_stock \
    WHERE store = $1 AND sku || '/' || location_id = $2";
pub(crate) const PRICE_VALUE: &str = "SELECT COALESCE(CAST(price AS TEXT), '-' || CAST(discount_percent AS TEXT) || ' %') \
    FROM erp_prices WHERE store = $1 AND sku || '/' || min_quantity = $2";
pub(crate) const SPEND: &str = "DELETE FROM releases WHERE store = $1 AND what = $2 AND key = $3";
/// It is wanted anew: what was sent before is not what is asked for now.
pub(crate) const STOCK: &str = "UPDATE erp_stock SET state = $1, updated_at = $2, revision = revision + 1 \
    WHERE store = $3 AND sku || '/' || location_id = $4 AND state IN ('failed', 'held', 'waiting', 'ignored')";
pub(crate) const PRICE: &str = "UPDATE erp_prices SET state = $1, updated_at = $2, revision = revision + 1 \
    WHERE store = $3 AND sku || '/' || min_quantity = $4 AND state IN ('failed', 'held', 'waiting', 'ignored')";
pub(crate) const COMMAND: &str = "UPDATE commands SET state = $1, updated_at = $2, done_at = NULL \
    WHERE store = $3 AND CAST(id AS TEXT) = $4 AND state IN ('failed', 'held', 'doubtful', 'waiting', 'ignored')";
/// A person has found out that what is in doubt did not happen; what was proved not to have happened is not counted any more.
pub(crate) const DECIDED: &str = "UPDATE effects SET state = 'refuted', code = 'retried', settled_at = $1 \
    WHERE store = $2 AND CAST(command_id AS TEXT) = $3 AND state IN ('doubtful', 'refuted')";
pub(crate) const COMMAND_VALUE: &str = "SELECT id, kind, key, CAST(data AS TEXT), state, created_at, error_code FROM commands \
    WHERE store = $1 AND CAST(id AS TEXT) = $2";
pub(crate) const HELD: &str = "SELECT store, 'stock', sku || '/' || location_id, COALESCE(error, ''), COALESCE(hint, '') \
    FROM erp_stock WHERE state = 'held' \
    UNION ALL SELECT store, 'price', sku || '/' || min_quantity, COALESCE(error, ''), COALESCE(hint, '') \
    FROM erp_prices WHERE state = 'held' \
    UNION ALL SELECT store, 'command', CAST(id AS TEXT), COALESCE(error, ''), COALESCE(hint, '') \
    FROM commands WHERE state = 'held' ORDER BY 1, 2, 3";

pub(crate) const TROUBLED: &str = "SELECT store, 'stock', sku || '/' || location_id, state FROM erp_stock \
    WHERE error_code IS NOT NULL AND state IN ('failed', 'held', 'doubtful') \
    UNION ALL SELECT store, 'price', sku || '/' || min_quantity, state FROM erp_prices \
    WHERE error_code IS NOT NULL AND state IN ('failed', 'held', 'doubtful') \
    UNION ALL SELECT store, 'command', CAST(id AS TEXT), state FROM commands \
    WHERE error_code IS NOT NULL AND state IN ('failed', 'held', 'doubtful') ORDER BY 1, 2, 3";

pub(crate) const STOCK_ROW: &str = "SELECT state, CAST(quantity AS TEXT), error, hint, updated_at FROM erp_stock \
    WHERE store = $1 AND sku || '/' || location_id = $2";
pub(crate) const PRICE_ROW: &str = "SELECT state, CAST(price AS TEXT), error, hint, updated_at FROM erp_prices \
    WHERE store = $1 AND sku || '/' || min_quantity = $2";
pub(crate) const COMMAND_ROW: &str = "SELECT state, kind || ' ' || key, error, hint, updated_at FROM commands \
    WHERE store = $1 AND CAST(id AS TEXT) = $2";

/// A table that the ERP writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntentKind {
    /// `erp_stock`; keys are `sku/location_id`.
    Stock,
    /// `erp_prices`; keys are `sku/min_quantity`.
    Price,
    /// `commands`; keys are their numbers.
    Command,
}

impl IntentKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Stock, Self::Price, Self::Command];

    /// What a row asks for, by which a release knows it again.
    async fn value_in(self, tx: &mut Tx, store: &StoreKey, key: &str) -> Result<String, Error> {
        let sql = match self {
            Self::Stock => STOCK_VALUE,
            Self::Price => PRICE_VALUE,
            Self::Command => COMMAND_VALUE,
        };
        let values = vec![store.as_str().into(), key.into()];
        let rows = tx.fetch("read what is released", sql.to_owned(), values).await?;
        if self == Self::Command {
            let command = rows.first().map(command).transpose()?;
            return Ok(command.map(|command| command.fingerprint()).unwrap_or_default());
        }
        Ok(rows.first().map(|row| row.optional_text(0)).transpose()?.flatten().unwrap_or_default())
    }

    /// The word in `v_errors` and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stock => "stock",
            Self::Price => "price",
            Self::Command => "command",
        }
    }
}

/// A row that the ERP has written, with its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntentRow {
    /// Where it is.
    pub state: String,
    /// What it asks for, in short.
    pub intent: Option<String>,
    /// The cause.
    pub error: Option<String>,
    /// The next step.
    pub hint: Option<String>,
    /// When it was written, or last answered.
    pub updated_at: Option<DateTime<Utc>>,
}

/// A row that is not done and will not be by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TroubledRow {
    /// Whose.
    pub store: String,
    /// The table.
    pub intent: IntentKind,
    /// Which row.
    pub key: String,
    /// `Failed`, `Held` or `Doubtful`.
    pub state: PushState,
}

/// A row that a guard holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldRow {
    /// Whose.
    pub store: String,
    /// `stock`, `price` or `command`.
    pub entity: String,
    /// Which row.
    pub key: String,
    /// Why.
    pub error: String,
    /// What to do.
    pub hint: String,
}

impl Store {
    /// A row by its key.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn intent_row(
        &self,
        store: &StoreKey,
        intent: IntentKind,
        key: &str,
    ) -> Result<Option<IntentRow>, Error> {
        let sql = match intent {
            IntentKind::Stock => STOCK_ROW,
            IntentKind::Price => PRICE_ROW,
            IntentKind::Command => COMMAND_ROW,
        };
        let rows =
            self.database.fetch("read a wanted row", sql, vec![store.as_str().into(), key.into()]).await?;
        let read = |row: &crate::driver::Row| {
            Ok(IntentRow {
                state: row.text(0)?,
                intent: row.optional_foreign_text(1)?,
                error: row.optional_text(2)?,
                hint: row.optional_text(3)?,
                updated_at: row.optional_time(4).ok().flatten(),
            })
        };
        rows.first().map(read).transpose()
    }

    /// All rows that are failed, held or in doubt.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn troubled_rows(&self) -> Result<Vec<TroubledRow>, Error> {
        let rows = self.database.fetch("read what is not done", TROUBLED, Vec::new()).await?;
        let mut troubled = Vec::new();
        for row in &rows {
            let word = row.text(1)?;
            let intent = IntentKind::ALL.into_iter().find(|intent| intent.as_str() == word);
            if let (Some(intent), Some(state)) = (intent, PushState::parse(&row.text(3)?)) {
                troubled.push(TroubledRow { store: row.text(0)?, intent, key: row.foreign_text(2)?, state });
            }
        }
        Ok(troubled)
    }

    /// All rows that guards hold.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn held_rows(&self) -> Result<Vec<HeldRow>, Error> {
        let rows = self.database.fetch("read what is held", HELD, Vec::new()).await?;
        let held = |row: &crate::driver::Row| {
            Ok(HeldRow {
                store: row.text(0)?,
                entity: row.text(1)?,
                key: row.foreign_text(2)?,
                error: row.text(3)?,
                hint: row.text(4)?,
            })
        };
        rows.iter().map(held).collect()
    }

    /// Lets a row be looked at anew, or never again; with `lifts_guards` past the guards, once. Whether there was such a row that
    /// is not dealt with.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn decide(
        &self,
        store: &StoreKey,
        intent: IntentKind,
        key: &str,
        state: PushState,
        lifts_guards: bool,
    ) -> Result<bool, Error> {
        let sql = match intent {
            IntentKind::Stock => STOCK,
            IntentKind::Price => PRICE,
            IntentKind::Command => COMMAND,
        };
        let now = self.clock.now();
        if intent == IntentKind::Command && state == PushState::New && !lifts_guards {
            // Not where its row is answered by whoever does it: only what a person has seen is decided.
            let row = self.intent_row(store, intent, key).await?;
            let is_decidable =
                |state: &str| matches!(state, "failed" | "held" | "doubtful" | "waiting" | "ignored");
            if row.is_none_or(|row| !is_decidable(&row.state)) {
                return Ok(false);
            }
            let values = vec![now.into(), store.as_str().into(), key.into()];
            self.inbox.execute("take a person's word", DECIDED, values).await?;
        }
        let mut tx = self.database.begin().await?;
        let values: Vec<Value> = vec![state.as_str().into(), now.into(), store.as_str().into(), key.into()];
        let found = tx.execute("decide about a row", sql, values).await? > 0;
        if found && lifts_guards {
            let value = intent.value_in(&mut tx, store, key).await?;
            let values =
                vec![store.as_str().into(), intent.as_str().into(), key.into(), value.into(), now.into()];
            tx.execute("release a row", RELEASE, values).await?;
        }
        tx.commit().await?;
        Ok(found)
    }
}

impl PageTx<'_> {
    /// What was released has passed: the next time the guards look again.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn spend_release(&mut self, intent: IntentKind, key: &str) -> Result<(), Error> {
        let values = vec![self.store_key().as_str().to_owned().into(), intent.as_str().into(), key.into()];
        self.tx.execute("spend a release", SPEND, values).await.map(drop)
    }
}
