//! Old objects and texts, which the retention policy blanks: the rows stay, and keep the fingerprints of what was
//! received, so that no later reading writes them again. Nothing of it is told in the change feed.

use chrono::{DateTime, Utc};
use espelho_model::StoreKey;

use crate::{Error, Prunable, driver::Value, mirror::Mirror};

/// Rows that one transaction blanks, so that no other writer waits for long.
const AT_ONCE: u64 = 500;

macro_rules! finished {
    ($shown:literal, $rest:literal) => {
        concat!(
            "SELECT ",
            $shown,
            " FROM orders WHERE store = $1 AND status IN ('delivered', 'cancelled', 'completed', 'payment_expired') \
             AND created_at < $2 AND COALESCE(updated_at, mirrored_at) < $2 AND octet_length(CAST(raw AS TEXT)) > 2",
            $rest
        )
    };
}

pub(crate) const FINISHED: &str = finished!("order_number", " ORDER BY created_at LIMIT 500");
pub(crate) const OLD_OBJECTS: &str =
    finished!("count(*), CAST(COALESCE(sum(octet_length(CAST(raw AS TEXT))), 0) AS BIGINT)", "");
/// The orders come last: what is below one that is not blank yet is found again. Fiscal documents keep their objects.
pub(crate) const BLANK_OBJECTS: [&str; 8] = [
    "UPDATE order_items SET raw = $2 WHERE store = $1 AND order_number",
    "UPDATE order_events SET raw = $2 WHERE store = $1 AND order_number",
    "UPDATE order_benefits SET raw = $2 WHERE store = $1 AND order_number",
    "UPDATE order_splits SET raw = $2 WHERE store = $1 AND order_number",
    "UPDATE order_commissions SET raw = $2 WHERE store = $1 AND order_number",
    "UPDATE shipments SET raw = $2 WHERE store = $1 AND order_number",
    "UPDATE shipment_labels SET raw = $2 WHERE store = $1 AND order_number",
    "UPDATE orders SET raw = $2 WHERE store = $1 AND order_number",
];

macro_rules! told {
    ($table:literal, $said:literal, $at:literal) => {
        [
            concat!(
                "SELECT count(*), CAST(COALESCE(sum(octet_length(COALESCE(",
                $said,
                ", '')) + octet_length(CAST(raw AS \
                 TEXT))), 0) AS BIGINT) FROM ",
                $table,
                " WHERE store = $1 AND ",
                $at,
                " < $2 AND (",
                $said,
                " IS NOT NULL OR octet_length(CAST(raw AS TEXT)) > 2)"
            ),
            concat!(
                "UPDATE ",
                $table,
                " SET ",
                $said,
                " = NULL, raw = $3 WHERE store = $1 AND id IN (SELECT id FROM ",
                $table,
                " WHERE store = $1 AND ",
                $at,
                " < $2 AND (",
                $said,
                " IS NOT NULL OR octet_length(CAST(raw AS TEXT)) > 2) ORDER BY id LIMIT 500)"
            ),
        ]
    };
}

/// For each table: what counts its old rows, and what blanks some of them.
pub(crate) const TOLD: [[&str; 2]; 3] = [
    told!("conversation_messages", "body", "COALESCE(created_at, mirrored_at)"),
    told!("conversations", "reason", "updated_at"),
    told!("occurrences", "title", "updated_at"),
];

impl Mirror<'_> {
    /// The conversations, messages and occurrences that [`Mirror::blank_messages`] would blank, with the bytes of their
    /// texts and objects.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn old_messages(self, store: &StoreKey, before: DateTime<Utc>) -> Result<Prunable, Error> {
        let mut old = Prunable::default();
        for [count, _] in TOLD {
            let values = vec![store.as_str().into(), before.into()];
            old += Prunable::of(&self.database.fetch("count old messages", count, values).await?)?;
        }
        Ok(old)
    }

    /// Blanks texts and objects of conversations, messages and occurrences from before `before`; returns the number of
    /// rows.
    ///
    /// # Errors
    /// When the database does not answer; what was blanked until then stays blank.
    pub async fn blank_messages(self, store: &StoreKey, before: DateTime<Utc>) -> Result<u64, Error> {
        let mut blanked = 0;
        for [_, blank] in TOLD {
            loop {
                let values = vec![store.as_str().into(), before.into(), empty()];
                let some = self.database.execute("blank old messages", blank, values).await?;
                blanked += some;
                if some < AT_ONCE {
                    break;
                }
            }
        }
        Ok(blanked)
    }

    /// The orders whose objects [`Mirror::blank_objects`] would blank, with the bytes of their own objects.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn old_objects(self, store: &StoreKey, before: DateTime<Utc>) -> Result<Prunable, Error> {
        let values = vec![store.as_str().into(), before.into()];
        Prunable::of(&self.database.fetch("count old objects", OLD_OBJECTS, values).await?)
    }

    /// Blanks the objects of orders that are finished and did not change since `before`, and of what is below them,
    /// except those of fiscal documents; returns the number of orders.
    ///
    /// # Errors
    /// When the database does not answer; what was blanked until then stays blank.
    pub async fn blank_objects(self, store: &StoreKey, before: DateTime<Utc>) -> Result<u64, Error> {
        let mut blanked = 0;
        loop {
            let values = vec![store.as_str().into(), before.into()];
            let rows = self.database.fetch("find old objects", FINISHED, values).await?;
            let numbers: Vec<String> = rows.iter().map(|row| row.text(0)).collect::<Result<_, _>>()?;
            if numbers.is_empty() {
                return Ok(blanked);
            }
            let mut tx = self.database.begin().await?;
            for blank in BLANK_OBJECTS {
                let first = [store.as_str().into(), empty()];
                tx.execute_in("blank old objects", blank, &first, numbers.clone()).await?;
            }
            tx.commit().await?;
            blanked += u64::try_from(numbers.len()).unwrap_or(u64::MAX);
        }
    }
}

fn empty() -> Value {
    Value::Json(Some("{}".to_owned()))
}
