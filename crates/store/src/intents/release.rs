//! Decisions of people about held, failed and doubtful rows; releases past the guards.

use std::collections::{BTreeSet, HashMap, HashSet};

use chrono::{DateTime, Utc};
use espelho_model::{
    StoreKey,
    push::PushState,
    text::Text,
    time::{fixed_width, serialize_fixed_width},
};
use serde::Serialize;

use super::{
    answers::answered,
    commands::{BY_KEY, command},
    prices::SHOWN,
};
use crate::{
    Error, ErrorRow,
    driver::{Row, Tx, Value},
    intents::{IntentWriter, Releases, kind::IntentKind},
    words::{all_words, message_id, words},
};

pub(crate) const RELEASE: &str = "INSERT INTO releases (store, what, key, value, at) VALUES ($1, $2, $3, $4, $5) \
    ON CONFLICT (store, what, key) DO UPDATE SET value = excluded.value, at = excluded.at";
pub(crate) const STOCK_VALUE: &str = "SELECT CAST(quantity AS TEXT) AS value FROM erp_stock \
    WHERE store = $1 AND sku || '/' || location_id = $2";
/// The same text as [`TierIntent::value`](super::prices::TierIntent::value).
pub(crate) const PRICE_VALUE: &str = "SELECT COALESCE(CAST(price AS TEXT) || \
    COALESCE(' -' || CAST(discount_percent AS TEXT) || ' %', ''), \
    '-' || CAST(discount_percent AS TEXT) || ' %') AS value, CAST(said AS TEXT) AS said \
    FROM erp_prices WHERE store = $1 AND sku || '/' || min_quantity = $2";
pub(crate) const SPEND: &str = "DELETE FROM releases WHERE store = $1 AND what = $2 AND key = $3";
/// Raises the revision: the row is a new intent, which requests sent earlier do not answer. An ignored row keeps its cause
/// and no next step: that of the guard would let pass what a person has refused.
pub(crate) const STOCK: &str = "UPDATE erp_stock SET state = $1, updated_at = $2, \
    hint = CASE WHEN $1 = 'ignored' THEN NULL ELSE hint END, \
    revision = CASE WHEN revision < 4611686018427387904 THEN revision + 1 ELSE 1 END \
    WHERE store = $3 AND sku || '/' || location_id = $4 AND state = $5 AND (updated_at <= $6 OR $6 IS NULL OR updated_at IS NULL)";
pub(crate) const PRICE: &str = "UPDATE erp_prices SET state = $1, updated_at = $2, \
    hint = CASE WHEN $1 = 'ignored' THEN NULL ELSE hint END, \
    revision = CASE WHEN revision < 4611686018427387904 THEN revision + 1 ELSE 1 END \
    WHERE store = $3 AND sku || '/' || min_quantity = $4 AND state = $5 AND (updated_at <= $6 OR $6 IS NULL OR updated_at IS NULL)";
pub(crate) const COMMAND: &str = "UPDATE commands SET state = $1, updated_at = $2, done_at = NULL, \
    hint = CASE WHEN $1 = 'ignored' THEN NULL ELSE hint END \
    WHERE store = $3 AND CAST(id AS TEXT) = $4 AND state = $5 AND (updated_at <= $6 OR $6 IS NULL OR updated_at IS NULL)";
/// Refutes doubtful effects on a person's word; effects refuted before stop counting too.
pub(crate) const DECIDED: &str = "UPDATE effects SET state = 'refuted', code = 'retried', settled_at = $1 \
    WHERE store = $2 AND CAST(command_id AS TEXT) = $3 AND state IN ('doubtful', 'refuted')";
pub(crate) const HELD: &str = "SELECT store, 'stock' AS entity, sku || '/' || location_id AS key, COALESCE(error, '') AS error, COALESCE(hint, \
    '') AS hint, CAST(said AS TEXT) AS said, COALESCE(error_code, '') AS code, sku AS subject, updated_at \
    FROM erp_stock WHERE state = 'held' AND ($1 = '' OR store = $1) \
    UNION ALL SELECT store, 'price', sku || '/' || min_quantity, COALESCE(error, ''), COALESCE(hint, ''), \
    CAST(said AS TEXT), COALESCE(error_code, ''), sku, updated_at FROM erp_prices WHERE state = 'held' AND ($1 = '' OR store = $1) \
    UNION ALL SELECT store, 'command', CAST(id AS TEXT), COALESCE(error, ''), COALESCE(hint, ''), \
    CAST(said AS TEXT), COALESCE(error_code, ''), key, updated_at FROM commands WHERE state = 'held' AND ($1 = '' OR store = $1) ORDER BY 1, 2, 3";
pub(crate) const TROUBLED: &str = "SELECT store, 'stock' AS entity, sku || '/' || location_id AS key, state, error_code, updated_at \
    FROM erp_stock WHERE error_code IS NOT NULL AND state IN ('failed', 'held', 'doubtful') \
    UNION ALL SELECT store, 'price', sku || '/' || min_quantity, state, error_code, updated_at FROM erp_prices \
    WHERE error_code IS NOT NULL AND state IN ('failed', 'held', 'doubtful') \
    UNION ALL SELECT store, 'command', CAST(id AS TEXT), state, error_code, updated_at FROM commands \
    WHERE error_code IS NOT NULL AND state IN ('failed', 'held', 'doubtful') ORDER BY 1, 2, 3";
pub(crate) const IGNORED: &str = "SELECT store, 'stock' AS entity, sku || '/' || location_id AS key, state, error_code, updated_at \
    FROM erp_stock WHERE state = 'ignored' \
    UNION ALL SELECT store, 'price', sku || '/' || min_quantity, state, error_code, updated_at FROM erp_prices \
    WHERE state = 'ignored' \
    UNION ALL SELECT store, 'command', CAST(id AS TEXT), state, error_code, updated_at FROM commands \
    WHERE state = 'ignored' ORDER BY 1, 2, 3";
pub(crate) const STOCK_ROW: &str = "SELECT state, CAST(quantity AS TEXT) AS intent, error, hint, updated_at, \
    CAST(said AS TEXT) AS said, (SELECT CAST(s.quantity AS TEXT) FROM product_stock s WHERE s.store = e.store \
    AND s.sku = e.sku AND s.location_id = e.location_id AND s.gone_at IS NULL) AS mirrored \
    FROM erp_stock e WHERE store = $1 AND sku || '/' || location_id = $2";
pub(crate) const PRICE_ROW: &str = "SELECT state, CAST(price AS TEXT) AS intent, error, hint, updated_at, \
    CAST(said AS TEXT) AS said, (SELECT min(CAST(t.value AS TEXT)) FROM product_prices t \
    JOIN products p ON p.store = t.store AND p.id = t.product_id AND p.gone_at IS NULL WHERE p.store = e.store \
    AND p.sku = e.sku AND t.min_quantity = e.min_quantity AND t.gone_at IS NULL) AS mirrored \
    FROM erp_prices e WHERE store = $1 AND sku || '/' || min_quantity = $2";
pub(crate) const COMMAND_ROW: &str = "SELECT state, kind || ' ' || key AS intent, error, hint, updated_at, \
    CAST(said AS TEXT) AS said, CAST(NULL AS TEXT) AS mirrored, substr(CAST(data AS TEXT), 1, 2000) AS data \
    FROM commands \
    WHERE store = $1 AND CAST(id AS TEXT) = $2";
/// The states of rows: of levels and of prices by their SKUs, which an index has, of commands by their numbers.
pub(crate) const STATES: [&str; 3] = [
    "SELECT sku || '/' || location_id AS key, state FROM erp_stock WHERE store = $1 AND sku",
    "SELECT sku || '/' || min_quantity AS key, state FROM erp_prices WHERE store = $1 AND sku",
    "SELECT CAST(id AS TEXT) AS key, state FROM commands WHERE store = $1 AND id",
];
pub(crate) const RELEASES: &str = "SELECT key, value FROM releases WHERE store = $1 AND what = $2";
pub(crate) const RELEASED: &str = "SELECT value FROM releases WHERE store = $1 AND what = $2 AND key = $3";

/// A row of the ERP, with its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IntentRow {
    /// The state.
    pub state: String,
    /// The intent, in short.
    #[serde(rename = "wanted")]
    pub intent: Option<String>,
    /// The beginning of a command's data. It may be about a person, and belongs into no record.
    #[serde(skip)]
    pub data: Option<String>,
    /// The mirror's value of a level or a price.
    pub mirrored: Option<String>,
    /// The cause.
    pub error: Option<String>,
    /// The next step.
    pub hint: Option<String>,
    /// When it was last written or answered.
    #[serde(serialize_with = "serialize_fixed_width")]
    pub updated_at: Option<DateTime<Utc>>,
}

/// A row that is not done, as a person sees it who decides about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenRow {
    /// The store's name on the row; the configuration may not have it.
    pub store: String,
    /// The table.
    pub intent: IntentKind,
    /// The key.
    pub key: String,
    /// The state.
    pub state: PushState,
    /// The cause; empty if the row names none.
    pub code: String,
    /// When it was last written or answered, if that is a readable time.
    pub updated_at: Option<DateTime<Utc>>,
}

impl SeenRow {
    /// Its name in the record of acts: its store, its table and its key.
    pub fn name(&self) -> String {
        self.intent.row_name(&self.store, &self.key)
    }

    /// Tells whether a person may decide this about it: a row under way gets its answer from its worker, and a row that was
    /// ignored passes no guard, since somebody has said no to it.
    pub fn is_decidable(&self, becomes: PushState, lifts_guards: bool) -> bool {
        use PushState::{Doubtful, Failed, Held, Ignored, New, Waiting};
        match self.state {
            Ignored => !lifts_guards,
            Failed | Held | Waiting => true,
            New => becomes == Ignored,
            Doubtful => self.intent == IntentKind::Command,
            _ => false,
        }
    }
}

impl Releases<'_> {
    /// A row by its key.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn intent_row(
        self,
        store: &str,
        intent: IntentKind,
        key: &str,
    ) -> Result<Option<IntentRow>, Error> {
        let sql = match intent {
            IntentKind::Stock => STOCK_ROW,
            IntentKind::Price => PRICE_ROW,
            IntentKind::Command => COMMAND_ROW,
        };
        let rows = self.database.fetch_erp("read a wanted row", sql, vec![store.into(), key.into()]).await?;
        let read = |row: &Row| {
            let [error, hint] = words(row, self.reader)?;
            let data = match intent {
                IntentKind::Command => row.optional_foreign_text("data")?,
                IntentKind::Stock | IntentKind::Price => None,
            };
            Ok(IntentRow {
                state: row.foreign_text("state")?,
                intent: row.optional_foreign_text("intent")?,
                data,
                mirrored: row.optional_text("mirrored")?,
                error,
                hint,
                updated_at: row.optional_time("updated_at").ok().flatten(),
            })
        };
        rows.first().map(read).transpose()
    }

    /// All failed, held and doubtful rows.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn troubled_rows(self) -> Result<Vec<SeenRow>, Error> {
        self.seen("read what is not done", TROUBLED).await
    }

    /// All ignored rows: a person may bring them back.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn ignored_rows(self) -> Result<Vec<SeenRow>, Error> {
        self.seen("read what is ignored", IGNORED).await
    }

    /// A row by its key, if its state is one that espelho writes.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn seen_row(
        self,
        store: &str,
        intent: IntentKind,
        key: &str,
    ) -> Result<Option<SeenRow>, Error> {
        let Some(row) = answered(self.database, store, intent, key).await? else { return Ok(None) };
        let Ok(state) = row.foreign_text("state")?.parse() else { return Ok(None) };
        Ok(Some(SeenRow {
            store: store.to_owned(),
            intent,
            key: key.to_owned(),
            state,
            code: row.optional_foreign_text("error_code")?.unwrap_or_default(),
            updated_at: comparable_time(&row),
        }))
    }

    /// The states of rows of one store and table, by their keys. Rows that are not there are left out.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn states_of(
        self,
        store: &str,
        intent: IntentKind,
        keys: Vec<String>,
    ) -> Result<HashMap<String, String>, Error> {
        let [stock, price, command] = STATES;
        let skus = || possible_skus(&keys).into_iter().map(Value::from).collect::<Vec<Value>>();
        let (head, asked) = match intent {
            IntentKind::Stock => (stock, skus()),
            IntentKind::Price => (price, skus()),
            IntentKind::Command => {
                (command, keys.iter().filter_map(|key| key.parse::<i64>().ok()).map(Value::from).collect())
            }
        };
        let rows =
            self.database.fetch_erp_in("read the states of rows", head, &[store.into()], asked).await?;
        let keys: HashSet<String> = keys.into_iter().collect();
        let mut states = HashMap::new();
        for row in &rows {
            let key = row.foreign_text("key")?;
            if keys.contains(&key) {
                states.insert(key, row.foreign_text("state")?);
            }
        }
        Ok(states)
    }

    async fn seen(self, what: &'static str, sql: &'static str) -> Result<Vec<SeenRow>, Error> {
        let rows = self.database.fetch_erp(what, sql, Vec::new()).await?;
        let mut seen = Vec::new();
        for row in &rows {
            if let (Ok(intent), Ok(state)) = (row.text("entity")?.parse(), row.foreign_text("state")?.parse())
            {
                seen.push(SeenRow {
                    store: row.foreign_text("store")?,
                    intent,
                    key: row.foreign_text("key")?,
                    state,
                    code: row.optional_foreign_text("error_code")?.unwrap_or_default(),
                    updated_at: comparable_time(row),
                });
            }
        }
        Ok(seen)
    }

    /// The rows of a store, or of all, that a guard holds; none has a kind.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn held_rows(self, store: Option<&StoreKey>) -> Result<Vec<ErrorRow>, Error> {
        let values = vec![store.map_or("", StoreKey::as_str).into()];
        let rows = self.database.fetch_erp("read what is held", HELD, values).await?;
        let held = |row: &Row| {
            let [error, hint] = all_words(row, self.reader)?;
            Ok(ErrorRow {
                store: row.foreign_text("store")?,
                entity: row.text("entity")?,
                key: row.foreign_text("key")?,
                code: row.foreign_text("code")?,
                error,
                hint,
                at: row.optional_time("updated_at").ok().flatten(),
                kind: None,
                subject: row.optional_foreign_text("subject")?,
                message_id: message_id(row)?,
            })
        };
        rows.iter().map(held).collect()
    }

    /// Reopens a row, or ignores it; `lifts_guards` releases it past the guards, once. Returns whether it was done: a row
    /// that is no longer as it was seen stays as it is, and so does an ignored one that would be released. To ignore a row
    /// ends its release too: what brings it back brings it back to the guards.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn decide(self, row: &SeenRow, becomes: PushState, lifts_guards: bool) -> Result<bool, Error> {
        let SeenRow { store, intent, key, state, updated_at, .. } = row;
        let sql = match intent {
            IntentKind::Stock => STOCK,
            IntentKind::Price => PRICE,
            IntentKind::Command => COMMAND,
        };
        if !row.is_decidable(becomes, lifts_guards) {
            return Ok(false);
        }
        let now = self.clock.now();
        if *intent == IntentKind::Command && becomes == PushState::New && !lifts_guards {
            // The journal is refuted before the row is open again, and only for a row that is as it was seen.
            let is = self.seen_row(store, *intent, key).await?;
            if is.is_none_or(|is| (is.state, is.updated_at) != (*state, *updated_at)) {
                return Ok(false);
            }
            let values = vec![now.into(), store.as_str().into(), key.as_str().into()];
            self.inbox.execute("take a person's word", DECIDED, values).await?;
        }
        let mut tx = self.database.begin().await?;
        let values: Vec<Value> = vec![
            becomes.as_str().into(),
            now.into(),
            store.as_str().into(),
            key.as_str().into(),
            state.as_str().into(),
            (*updated_at).into(),
        ];
        let found = tx.execute("decide about a row", sql, values).await? > 0;
        if found && becomes == PushState::Ignored {
            let values = vec![store.as_str().into(), intent.as_str().into(), key.as_str().into()];
            tx.execute("end a release", SPEND, values).await?;
        }
        if found && lifts_guards {
            let value = value_in(*intent, &mut tx, store, key).await?;
            let (store, what, key) = (store.as_str().into(), intent.as_str().into(), key.as_str().into());
            let values = vec![store, what, key, value.into(), now.into()];
            tx.execute("release a row", RELEASE, values).await?;
        }
        tx.commit().await?;
        Ok(found)
    }

    /// The released rows of a table, with their values at that time.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn releases(
        self,
        store: &StoreKey,
        intent: IntentKind,
    ) -> Result<HashMap<String, String>, Error> {
        let values = vec![store.as_str().into(), intent.as_str().into()];
        let rows = self.database.fetch("read releases", RELEASES, values).await?;
        rows.iter().map(|row| Ok((row.text("key")?, row.text("value")?))).collect()
    }

    /// The value at which a person released a row, if there is a release.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn release_of(
        self,
        store: &StoreKey,
        intent: IntentKind,
        row: &str,
    ) -> Result<Option<String>, Error> {
        let values = vec![store.as_str().into(), intent.as_str().into(), row.into()];
        let rows = self.database.fetch("read a release", RELEASED, values).await?;
        rows.first().map(|row| row.text("value")).transpose()
    }
}

impl IntentWriter<'_, '_> {
    /// Ends a release after its use: the guards check the row again next time.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn spend_release(&mut self, intent: IntentKind, key: &str) -> Result<(), Error> {
        let values =
            vec![self.page.store_key().as_str().to_owned().into(), intent.as_str().into(), key.into()];
        self.page.tx.execute("spend a release", SPEND, values).await.map(drop)
    }
}

/// Returns when a row was last written or answered; `None` for a text of the ERP's in another form than ours, with which
/// SQLite compares no time.
fn comparable_time(row: &Row) -> Option<DateTime<Utc>> {
    let written = row.optional_foreign_text("updated_at").ok().flatten();
    let at = row.optional_time("updated_at").ok().flatten();
    at.filter(|at| written.is_none_or(|written| written == fixed_width(*at)))
}

/// Returns a row's desired value as text, which a release compares. That of a price is followed by the price that its
/// guard showed: beside a discount it changes with the base price.
async fn value_in(intent: IntentKind, tx: &mut Tx, store: &str, key: &str) -> Result<String, Error> {
    let sql = match intent {
        IntentKind::Stock => STOCK_VALUE,
        IntentKind::Price => PRICE_VALUE,
        IntentKind::Command => BY_KEY,
    };
    let values = vec![store.into(), key.into()];
    let rows = tx.fetch("read what is released", sql.to_owned(), values).await?;
    if intent == IntentKind::Command {
        let command = rows.first().map(command).transpose()?;
        return Ok(command.map(|command| command.fingerprint()).unwrap_or_default());
    }
    let Some(row) = rows.first() else { return Ok(String::new()) };
    let value = row.optional_text("value")?.unwrap_or_default();
    if intent == IntentKind::Stock {
        return Ok(value);
    }
    let said = row.optional_foreign_text("said")?;
    let shown = said.and_then(|said| serde_json::from_str::<Text>(&said).ok()?.money("price"));
    Ok(match shown {
        Some(shown) => format!("{value}{SHOWN}{shown}"),
        None => value,
    })
}

/// Returns the SKUs that levels or prices of these keys may have: a SKU may have a slash of its own.
fn possible_skus(keys: &[String]) -> BTreeSet<&str> {
    keys.iter().flat_map(|key| key.match_indices('/').map(move |(end, _)| &key[..end])).collect()
}
