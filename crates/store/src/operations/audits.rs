//! The last comparison of each resource with the marketplace, and the rows that differed.

use chrono::{DateTime, Utc};
use espelho_model::StoreKey;

use crate::{
    Error,
    driver::{Insert, Row, Value},
    mirror::rows::last_of_each,
    operations::{
        Runs, SweepWriter,
        overview::{Both, both},
    },
};

/// Tells that a difference `d` is closed. The mirror closes one by writing its row, or marking it as gone; by reading it,
/// too, because a reading writes what differs. Only columns that somebody edited show in no reading. Nothing reads the parts
/// of an order that is gone.
macro_rules! is_closed {
    () => {
        "((d.resource = 'orders' AND EXISTS (SELECT 1 FROM orders AS r \
         WHERE r.store = d.store AND r.order_number = d.key \
         AND (r.gone_at > d.at OR (d.part = 'order' AND r.mirrored_at > d.at)))) \
         OR (d.resource = 'orders' AND NOT d.is_edited AND EXISTS (SELECT 1 FROM order_parts AS r \
         WHERE r.store = d.store AND r.part = d.part AND r.order_number = d.key AND r.read_at > d.at)) \
         OR (d.resource = 'products' AND EXISTS (SELECT 1 FROM products AS r \
         WHERE r.store = d.store AND r.id = d.key AND (r.mirrored_at > d.at OR r.gone_at > d.at))) \
         OR (d.resource = 'products' AND NOT d.is_edited AND EXISTS (SELECT 1 FROM product_reads AS r \
         WHERE r.store = d.store AND r.id = d.key AND r.read_at > d.at)) \
         OR (d.resource = 'campaigns' AND d.part = '' AND EXISTS (SELECT 1 FROM campaigns AS r \
         WHERE r.store = d.store AND r.id = d.key AND (r.mirrored_at > d.at OR r.gone_at > d.at))) \
         OR (d.resource = 'campaigns' AND d.part <> '' AND EXISTS (SELECT 1 FROM campaign_listings AS r \
         WHERE r.store = d.store AND r.campaign_id = d.key AND r.item_id = d.part \
         AND (r.mirrored_at > d.at OR r.gone_at > d.at))) \
         OR (d.resource = 'media_images' AND EXISTS (SELECT 1 FROM media_images AS r \
         WHERE r.store = d.store AND r.id = d.key AND (r.mirrored_at > d.at OR r.gone_at > d.at))) \
         OR (d.resource = 'profile' AND EXISTS (SELECT 1 FROM store_profiles AS r \
         WHERE r.store = d.store AND r.id = d.key AND (r.mirrored_at > d.at OR r.gone_at > d.at))))"
    };
}

/// The number of differences of a row of `audits` that are open: those that nothing has closed since. What the audit did
/// not name stays open.
macro_rules! open_differences {
    () => {
        concat!(
            "CASE WHEN audits.differing = 0 THEN 0 ELSE audits.differing - (SELECT count(*) FROM audit_differences AS d \
             WHERE d.store = audits.store AND d.resource = audits.resource AND d.at = audits.at AND ",
            is_closed!(),
            ") END"
        )
    };
}

/// The last audits, with the number of their differences that are open.
pub(crate) const AUDITS: Both = both!(
    concat!("SELECT store, resource, at, compared, ", open_differences!(), " AS differing FROM audits"),
    "ORDER BY store, resource"
);
/// The parts of orders in which named differences are open: each has a route of its own.
pub(crate) const PARTS: Both = both!(
    concat!(
        "SELECT DISTINCT store, part FROM (SELECT d.store, d.part FROM audit_differences AS d \
         WHERE d.resource = 'orders' AND NOT ",
        is_closed!(),
        ") AS open"
    ),
    "ORDER BY store, part"
);
/// The named differences that are open: only the last audit of a resource has names.
pub(crate) const OPEN: &str = concat!(
    "SELECT d.resource, d.key, d.part, d.is_edited FROM audit_differences AS d \
     WHERE d.store = $1 AND d.resource = $2 AND NOT ",
    is_closed!(),
    " ORDER BY d.key, d.part"
);
/// An audit whose differences are all closed is one without differences, so that a smaller one may follow it.
pub(crate) const SETTLE: &str = concat!(
    "UPDATE audits SET differing = 0 WHERE store = $1 AND differing > 0 AND ",
    open_differences!(),
    " = 0"
);
/// The listings of the marketplace shrink a little between two audits of all rows.
pub(crate) const NOTE: Insert = Insert {
    operation: "note an audit",
    head: "INSERT INTO audits (store, resource, at, compared, differing)",
    columns: 5,
    tail: "ON CONFLICT (store, resource) DO UPDATE SET at = excluded.at, compared = excluded.compared, \
           differing = excluded.differing \
           WHERE audits.differing = 0 OR excluded.compared * 10 >= audits.compared * 9",
};
/// A sample without differences says nothing of rows that it did not read.
pub(crate) const NOTE_SAMPLE: Insert = Insert {
    operation: "note a sample",
    head: NOTE.head,
    columns: NOTE.columns,
    tail: "ON CONFLICT (store, resource) DO UPDATE SET at = excluded.at, compared = excluded.compared, \
           differing = excluded.differing \
           WHERE audits.differing = 0 \
           OR (excluded.differing > 0 AND excluded.compared * 10 >= audits.compared * 9)",
};
pub(crate) const NAME: Insert = Insert {
    operation: "name what differs",
    head: "INSERT INTO audit_differences (store, resource, at, key, part, is_edited)",
    columns: 6,
    tail: "ON CONFLICT (store, resource, at, key, part) DO NOTHING",
};
pub(crate) const FORGET: &str = "DELETE FROM audit_differences WHERE store = $1 AND NOT EXISTS ( \
    SELECT 1 FROM audits AS a WHERE a.store = audit_differences.store AND a.resource = audit_differences.resource \
    AND a.at = audit_differences.at AND a.differing > 0)";

/// The last audit of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRecord {
    /// The resource, by its name in reports.
    pub resource: String,
    /// When it began: what the mirror has written since may correct what it found.
    pub at: DateTime<Utc>,
    /// Rows that were compared.
    pub compared: u64,
    /// Rows that differed, in the second comparison too; read back, those of them that are still open.
    pub differing: u64,
}

/// A row that an audit found to differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditDifference {
    /// The resource, by its name in reports.
    pub resource: String,
    /// The key of the row: of the order, or of the campaign, where it is about a part of one.
    pub key: String,
    /// The sub-resource of an order (`order`: the order itself), or the item of a campaign's listing; else empty.
    pub part: String,
    /// True if only columns differ, so that no fingerprint shows it.
    pub is_edited: bool,
}

impl Runs<'_> {
    /// The differences of a store's resource that its last audit named and nothing has closed since.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn open_differences(
        self,
        store: &StoreKey,
        resource: &str,
    ) -> Result<Vec<AuditDifference>, Error> {
        let values = vec![store.as_str().into(), resource.into()];
        let rows = self.database.fetch("read open differences", OPEN, values).await?;
        let difference = |row: &Row| -> Result<AuditDifference, Error> {
            let (resource, key, part) = (row.text(0)?, row.text(1)?, row.text(2)?);
            Ok(AuditDifference { resource, key, part, is_edited: row.truth(3)? })
        };
        rows.iter().map(difference).collect()
    }
}

impl SweepWriter<'_, '_> {
    /// Records the results of audits with the rows that differ. A smaller audit does not hide the open differences that
    /// a larger one has found, and a sample without differences hides none.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_audits(
        &mut self,
        audits: Vec<AuditRecord>,
        differences: Vec<AuditDifference>,
        is_sample: bool,
    ) -> Result<(), Error> {
        let store = self.page.store_key().as_str().to_owned();
        let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX).into();
        let audits = last_of_each(audits, |audit| audit.resource.clone());
        let named = differences.into_iter().filter_map(|of| -> Option<[Value; 6]> {
            let audit = audits.iter().find(|audit| audit.resource == of.resource)?;
            let (at, is_edited) = (audit.at.into(), Some(of.is_edited).into());
            Some([store.as_str().into(), of.resource.into(), at, of.key.into(), of.part.into(), is_edited])
        });
        let named: Vec<[Value; 6]> = named.collect();
        let values = audits.into_iter().flat_map(|a| -> [Value; 5] {
            [store.as_str().into(), a.resource.into(), a.at.into(), number(a.compared), number(a.differing)]
        });
        let values = values.collect();
        let tx = &mut self.page.tx;
        tx.execute("settle audits", SETTLE, vec![store.as_str().into()]).await?;
        tx.insert(if is_sample { &NOTE_SAMPLE } else { &NOTE }, values).await?;
        tx.insert(&NAME, named.into_iter().flatten().collect()).await?;
        tx.execute("forget differences", FORGET, vec![store.as_str().into()]).await.map(drop)
    }
}
