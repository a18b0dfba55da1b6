//! The files of labels: to fetch, fetched, void.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use espelho_model::{ContentHash, LabelId, OrderNumber, ShipmentId, StoreKey, shipment::LabelFormat};

use super::shipments::LABELS;
use crate::{
    Error, Op, Prunable,
    driver::Row,
    mirror::{LabelFileWriter, LabelFiles, failures},
};

pub(crate) const READY: &str = "SELECT id, shipment_id, order_number, format, content_hash FROM shipment_labels AS l \
    WHERE store = $1 AND id > $2 AND gone_at IS NULL AND is_ready AND file IS NULL \
    AND (completed_at IS NULL OR completed_at >= $4) AND ($5 = '' OR $5 LIKE '%,' || format || ',%') \
    AND NOT EXISTS (SELECT 1 FROM orders AS o WHERE o.store = l.store AND o.order_number = l.order_number \
    AND o.gone_at IS NOT NULL) AND NOT EXISTS (SELECT 1 FROM erased_orders AS e WHERE e.store = l.store \
    AND e.order_number = l.order_number) ORDER BY id LIMIT $3";
pub(crate) const KEEP_FILE: &str = "UPDATE shipment_labels SET file = $4, mirrored_at = $5 \
    WHERE store = $1 AND id = $2 AND content_hash = $3 AND gone_at IS NULL RETURNING order_number";
pub(crate) const RECORD: &str = "INSERT INTO label_files \
    (store, file, label_id, order_number, size, sha256, host, fetched_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
    ON CONFLICT (store, file) DO UPDATE SET label_id = excluded.label_id, order_number = excluded.order_number, \
    size = excluded.size, sha256 = excluded.sha256, host = excluded.host, fetched_at = excluded.fetched_at, void_at = \
    NULL";
pub(crate) const VOID: &str = "UPDATE label_files SET void_at = $3 \
    WHERE store = $1 AND order_number = $2 AND void_at IS NULL \
    AND NOT EXISTS (SELECT 1 FROM shipment_labels AS l WHERE l.store = label_files.store \
    AND l.id = label_files.label_id AND l.file = label_files.file AND l.gone_at IS NULL)";
pub(crate) const VOID_BEFORE: &str =
    "SELECT file FROM label_files WHERE store = $1 AND void_at < $2 ORDER BY void_at LIMIT $3";
pub(crate) const PRUNABLE: &str = "SELECT count(*), CAST(COALESCE(sum(size), 0) AS BIGINT) FROM label_files \
    WHERE store = $1 AND void_at < $2";
pub(crate) const ON_RECORD: &str = "SELECT file FROM label_files WHERE store = $1 AND file";
pub(crate) const FORGET: &str = "DELETE FROM label_files WHERE store = $1 AND file";
pub(crate) const SETTLE: &str = "DELETE FROM sync_failures WHERE store = $1 AND resource = 'shipment_label' \
    AND NOT EXISTS (SELECT 1 FROM shipment_labels AS l WHERE l.store = sync_failures.store \
    AND l.id = sync_failures.key AND l.gone_at IS NULL AND l.is_ready AND l.file IS NULL)";
pub(crate) const WITH_FILE: &str = "SELECT id, file FROM shipment_labels \
    WHERE store = $1 AND id > $2 AND gone_at IS NULL AND file IS NOT NULL ORDER BY id LIMIT $3";
pub(crate) const OF_ORDER: &str = "SELECT l.id, l.file, l.completed_at, f.code, f.error, f.hint FROM shipment_labels \
    AS l \
    LEFT JOIN sync_failures AS f ON f.store = l.store AND f.resource = 'shipment_label' AND f.key = l.id \
    WHERE l.store = $1 AND l.order_number = $2 AND l.gone_at IS NULL ORDER BY l.id";
pub(crate) const LOSE_FILE: &str = "UPDATE shipment_labels SET file = NULL, mirrored_at = $4 \
    WHERE store = $1 AND id = $2 AND file = $3 RETURNING order_number";
pub(crate) const IN_THE_MAKING: &str = "SELECT l.order_number, max(l.mirrored_at) AS changed_at, max(p.read_at) AS read_at \
    FROM shipment_labels AS l JOIN order_parts AS p \
    ON p.store = l.store AND p.part = 'shipments' AND p.order_number = l.order_number \
    WHERE l.store = $1 AND l.gone_at IS NULL AND l.status IN ('pending', 'processing') \
    GROUP BY l.order_number ORDER BY max(p.read_at), l.order_number LIMIT $2";
pub(crate) const UNLABELLED: &str = "SELECT s.order_number FROM shipments AS s JOIN order_parts AS p \
    ON p.store = s.store AND p.part = 'shipments' AND p.order_number = s.order_number \
    WHERE s.store = $1 AND s.gone_at IS NULL AND s.status IN ('pending', 'processing', 'ready_to_ship') \
    AND s.label_generation_blocked IS NOT TRUE AND p.read_at < $2 \
    AND NOT EXISTS (SELECT 1 FROM shipment_labels AS l WHERE l.store = s.store AND l.order_number = s.order_number \
    AND l.gone_at IS NULL) GROUP BY s.order_number ORDER BY min(p.read_at), s.order_number LIMIT $3";

/// The selection of labels to fetch.
#[derive(Clone, Debug, Default)]
pub struct LabelsToFetch {
    /// Only these formats; all formats if empty.
    pub formats: Vec<LabelFormat>,
    /// Made since then, or at an unknown time.
    pub since: DateTime<Utc>,
}

/// A ready label without a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadyLabel {
    /// The label.
    pub id: LabelId,
    /// Its shipment.
    pub shipment: Option<ShipmentId>,
    /// Its order.
    pub order: OrderNumber,
    /// The format of its file.
    pub format: Option<LabelFormat>,
    /// The version of the label; a file fetched for it belongs to no other version.
    pub version: ContentHash,
}

/// An order with labels in the making.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelsInTheMaking {
    /// The order.
    pub order: OrderNumber,
    /// When one of them last changed.
    pub changed_at: DateTime<Utc>,
    /// When the marketplace was last asked for them.
    pub read_at: DateTime<Utc>,
}

/// A mirrored label of an order, and the state of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelFile {
    /// The label.
    pub label: LabelId,
    /// When it was made; tells one generation from the next.
    pub completed_at: Option<DateTime<Utc>>,
    /// The path of its file, if it has one.
    pub file: Option<String>,
    /// Why the last download failed: code, error and hint.
    pub failure: Option<[String; 3]>,
}

/// A fetched file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedFile {
    /// Its path within the state directory.
    pub file: String,
    /// Its bytes.
    pub size: i64,
    /// Their SHA-256, in hexadecimal.
    pub sha256: String,
    /// The storage host that served it.
    pub host: String,
}

impl LabelFileWriter<'_, '_> {
    /// Records the file of a label. Returns `false` and records nothing if the label has changed or gone meanwhile.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn keep_label_file(
        &mut self,
        label: &LabelId,
        version: ContentHash,
        fetched: &FetchedFile,
    ) -> Result<bool, Error> {
        let (store, at) = (self.page.store_key().as_str().to_owned(), self.page.at());
        let file = fetched.file.as_str();
        let key = [store.as_str().into(), label.as_str().into(), version.as_i64().into()];
        let values = key.into_iter().chain([file.into(), at.into()]).collect();
        let rows = self.page.tx.fetch("note a label's file", KEEP_FILE.to_owned(), values).await?;
        let Some(row) = rows.first() else { return Ok(false) };
        let order = row.text(0)?;
        self.page.announce(LABELS.entity, [(format!("{order}/{label}"), Op::Update)]);
        let FetchedFile { size, sha256, host, .. } = fetched;
        let values = vec![
            store.into(),
            file.into(),
            label.as_str().into(),
            order.as_str().into(),
            (*size).into(),
            sha256.as_str().into(),
            host.as_str().into(),
            at.into(),
        ];
        self.page.tx.execute("record a label's file", RECORD, values).await?;
        self.void_label_files(&OrderNumber::new(order)).await?;
        Ok(true)
    }

    /// Records that a label's file is missing on disk, so that it is fetched again.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn lose_label_file(&mut self, label: &LabelId, file: &str) -> Result<(), Error> {
        let store = self.page.store_key().as_str().to_owned();
        let values = vec![store.as_str().into(), label.as_str().into(), file.into(), self.page.at().into()];
        let rows =
            self.page.tx.fetch("note that a label's file is lost", LOSE_FILE.to_owned(), values).await?;
        let Some(row) = rows.first() else { return Ok(()) };
        self.page.announce(LABELS.entity, [(format!("{}/{label}", row.text(0)?), Op::Update)]);
        self.forget_label_files(vec![file.to_owned()]).await
    }

    /// Marks the files of an order as void whose labels have another file or are gone.
    pub(super) async fn void_label_files(&mut self, order: &OrderNumber) -> Result<(), Error> {
        let values =
            vec![self.page.store_key().as_str().into(), order.as_str().into(), self.page.at().into()];
        self.page.tx.execute("mark files of labels as void", VOID, values).await.map(drop)
    }

    /// Clears the failures of labels whose download succeeded.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn clear_label_failures(&mut self, labels: Vec<String>) -> Result<(), Error> {
        let first = [self.page.store_key().as_str().into(), LABELS.entity.into()];
        self.page.tx.execute_in("clear failed labels", failures::CLEAR, &first, labels).await.map(drop)
    }

    /// Clears the failures of labels that have a file or are gone.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn forget_settled_label_failures(&mut self) -> Result<(), Error> {
        let values = vec![self.page.store_key().as_str().into()];
        self.page.tx.execute("forget settled failures of labels", SETTLE, values).await.map(drop)
    }

    /// Deletes the records of files that no longer exist.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn forget_label_files(&mut self, files: Vec<String>) -> Result<(), Error> {
        let first = [self.page.store_key().as_str().into()];
        self.page.tx.execute_in("forget files of labels", FORGET, &first, files).await.map(drop)
    }
}

impl LabelFiles<'_> {
    /// Up to `limit` ready labels without a file after `after`, by id. Labels of gone orders are left out: nobody
    /// prints them.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn labels_to_fetch(
        self,
        store: &StoreKey,
        selection: &LabelsToFetch,
        after: &str,
        limit: u32,
    ) -> Result<Vec<ReadyLabel>, Error> {
        let names = selection.formats.iter().fold(String::new(), |names, format| match names.is_empty() {
            true => format!(",{format},"),
            false => format!("{names}{format},"),
        });
        let limit = i64::from(limit).into();
        let values = vec![store.as_str().into(), after.into(), limit, selection.since.into(), names.into()];
        let rows = self.database.fetch("read ready labels", READY, values).await?;
        let label = |row: &Row| {
            Ok(ReadyLabel {
                id: LabelId::new(row.text("id")?),
                shipment: row.optional_text("shipment_id")?.map(ShipmentId::new),
                order: OrderNumber::new(row.text("order_number")?),
                format: row.optional_text("format")?.as_deref().map(LabelFormat::new),
                version: ContentHash::from_i64(row.int("content_hash")?),
            })
        };
        rows.iter().map(label).collect()
    }

    /// The labels of an order, and the state of their files.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn label_files_of(
        self,
        store: &StoreKey,
        order: &OrderNumber,
    ) -> Result<Vec<LabelFile>, Error> {
        let values = vec![store.as_str().into(), order.as_str().into()];
        let rows = self.database.fetch("read the labels of an order", OF_ORDER, values).await?;
        let label = |row: &Row| {
            let failure = row.optional_text("code")?.zip(row.optional_text("error")?);
            let hint = row.optional_text("hint")?.unwrap_or_default();
            Ok(LabelFile {
                label: LabelId::new(row.text("id")?),
                file: row.optional_text("file")?,
                completed_at: row.optional_time("completed_at")?,
                failure: failure.map(|(code, error)| [code, error, hint]),
            })
        };
        rows.iter().map(label).collect()
    }

    /// Up to `limit` labels with a recorded file after `after`, by id.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn labels_with_file(
        self,
        store: &StoreKey,
        after: &str,
        limit: u32,
    ) -> Result<Vec<(LabelId, String)>, Error> {
        let values = vec![store.as_str().into(), after.into(), i64::from(limit).into()];
        let rows = self.database.fetch("read labels with files", WITH_FILE, values).await?;
        rows.iter().map(|row| Ok((LabelId::new(row.text("id")?), row.text("file")?))).collect()
    }

    /// Up to `limit` orders with labels in the making, the longest unread first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn labels_in_the_making(
        self,
        store: &StoreKey,
        limit: u32,
    ) -> Result<Vec<LabelsInTheMaking>, Error> {
        let values = vec![store.as_str().into(), i64::from(limit).into()];
        let rows = self.database.fetch("read labels in the making", IN_THE_MAKING, values).await?;
        let order = |row: &Row| {
            let order = OrderNumber::new(row.text("order_number")?);
            Ok(LabelsInTheMaking {
                order,
                changed_at: row.time("changed_at")?,
                read_at: row.time("read_at")?,
            })
        };
        rows.iter().map(order).collect()
    }

    /// Up to `limit` orders with an undispatched shipment and no labels, last read before `before`.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn orders_without_labels(
        self,
        store: &StoreKey,
        before: DateTime<Utc>,
        limit: u32,
    ) -> Result<Vec<OrderNumber>, Error> {
        let values = vec![store.as_str().into(), before.into(), i64::from(limit).into()];
        let rows = self.database.fetch("read orders without labels", UNLABELLED, values).await?;
        rows.iter().map(|row| row.text("order_number").map(OrderNumber::new)).collect()
    }

    /// The files of a store that became void before `then`, with their bytes.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn prunable_label_files(
        self,
        store: &StoreKey,
        then: DateTime<Utc>,
    ) -> Result<Prunable, Error> {
        let values = vec![store.as_str().into(), then.into()];
        Prunable::of(&self.database.fetch("count void files of labels", PRUNABLE, values).await?)
    }

    /// Up to `limit` files that became void before `then`.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn label_files_void_before(
        self,
        store: &StoreKey,
        then: DateTime<Utc>,
        limit: u32,
    ) -> Result<Vec<String>, Error> {
        let values = vec![store.as_str().into(), then.into(), i64::from(limit).into()];
        let rows = self.database.fetch("read void files of labels", VOID_BEFORE, values).await?;
        rows.iter().map(|row| row.text("file")).collect()
    }

    /// The recorded files among some names.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn label_files_on_record(
        self,
        store: &StoreKey,
        files: Vec<String>,
    ) -> Result<HashSet<String>, Error> {
        let first = [store.as_str().into()];
        let rows = self.database.fetch_in("read files of labels", ON_RECORD, &first, files).await?;
        rows.iter().map(|row| row.text("file")).collect()
    }
}
