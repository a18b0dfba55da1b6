//! The tables and views that the HTTP API reads: their columns, and the key in whose order they are paged.
//!
//! A test compares this catalogue with the schema of both databases, so that no table and no column is forgotten.

mod goods;
mod intents;
mod sales;
mod views;

use std::sync::LazyLock;

use crate::ColumnKind;

/// Columns that are the service's own: fingerprints, the texts behind `error` and `hint`, the passes of a run.
pub const HIDDEN_COLUMNS: [&str; 5] = ["answered", "listing_hash", "content_hash", "said", "passes"];

/// Tables and views that the API does not read: the service's own records. `changes` and `consumers` have routes of
/// their own.
pub const HIDDEN_TABLES: &[&str] = &[
    "actions",
    "alarms",
    "api_requests",
    "audit_differences",
    "audits",
    "campaign_prices",
    "changes",
    "consumers",
    "effects",
    "enums",
    "erased_orders",
    "erased_people",
    "erasure_keys",
    "erasures",
    "leases",
    "logins",
    "missing",
    "notice_channels",
    "notice_deliveries",
    "notice_owner",
    "notices",
    "order_parts",
    "pauses",
    "product_reads",
    "quarantine",
    "rate_blocks",
    "releases",
    "remote_counts",
    "row_counts",
    "service_words",
    "services",
    "shared_skus",
    "stores",
    "sweeps",
    "sync_failures",
    "sync_pages",
    "sync_passes",
    "tokens",
    "v_services",
    "webhook_addresses",
    "webhook_inbox",
    "webhook_secrets",
    "webhook_watch",
];

/// Tables whose rows are shown with their parent: the parent, the table, and its column with the second part of the
/// parent's key.
const CHILDREN: &[(&str, &str, &str)] = &[
    ("orders", "order_items", "order_number"),
    ("orders", "order_invoices", "order_number"),
    ("orders", "order_events", "order_number"),
    ("orders", "order_benefits", "order_number"),
    ("orders", "order_splits", "order_number"),
    ("orders", "order_commissions", "order_number"),
    ("orders", "shipments", "order_number"),
    ("orders", "shipment_labels", "order_number"),
    ("products", "product_prices", "product_id"),
    ("products", "product_stock", "product_id"),
    ("campaigns", "campaign_listings", "campaign_id"),
    ("conversations", "conversation_messages", "conversation_id"),
];

/// A table as the sources describe it.
struct Description {
    table: &'static str,
    /// The key's columns; `?` marks one that may be NULL.
    key: &'static str,
    /// The columns; `:` precedes the kind of one that is not text.
    columns: &'static str,
}

/// A part of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyPart {
    /// Its column.
    pub column: &'static str,
    /// Text or a whole number.
    pub kind: ColumnKind,
    /// True if it may be NULL, which comes first in the order.
    pub is_optional: bool,
}

/// A table or view that the API reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiTable {
    /// Its name, in the database and in the API.
    pub name: &'static str,
    /// The key in whose order it is paged.
    pub key: Vec<KeyPart>,
    /// Its columns in the order of the answer, `raw` included.
    pub columns: Vec<(&'static str, ColumnKind)>,
    /// The tables whose rows are shown with a row of this one, and their column that names it.
    pub children: Vec<(&'static str, &'static str)>,
}

static TABLES: LazyLock<Vec<ApiTable>> = LazyLock::new(|| {
    let all = [sales::ORDERS, goods::PRODUCTS, intents::INTENTS, views::VIEWS];
    all.into_iter().flatten().map(ApiTable::of).collect()
});

/// All tables and views that the API reads.
pub fn api_tables() -> &'static [ApiTable] {
    &TABLES
}

impl ApiTable {
    fn of(described: &Description) -> Self {
        let columns: Vec<_> = described.columns.split(' ').map(column).collect();
        let kind = |name: &str| columns.iter().find(|(column, _)| *column == name).map(|(_, kind)| *kind);
        let part = |word: &'static str| {
            let column = word.trim_end_matches('?');
            let kind = kind(column).unwrap_or(ColumnKind::Text);
            KeyPart { column, kind, is_optional: word.ends_with('?') }
        };
        let below = CHILDREN.iter().filter(|(parent, ..)| *parent == described.table);
        Self {
            name: described.table,
            key: described.key.split(' ').map(part).collect(),
            children: below.map(|(_, child, column)| (*child, *column)).collect(),
            columns,
        }
    }

    /// The table or view of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        TABLES.iter().find(|table| table.name == name)
    }

    /// Tells whether it is a view, whose rows have no address of their own.
    pub fn is_view(&self) -> bool {
        self.name.starts_with("v_")
    }

    /// Tells whether its rows stay when the marketplace no longer has them.
    pub fn marks_gone(&self) -> bool {
        self.kind_of("gone_at").is_some()
    }

    /// The kind of a column; `None` if there is no such column.
    pub fn kind_of(&self, column: &str) -> Option<ColumnKind> {
        self.columns.iter().find(|(name, _)| *name == column).map(|(_, kind)| *kind)
    }

    /// The columns of an answer, with or without the received object.
    pub fn shown(&self, with_raw: bool) -> Vec<(&'static str, ColumnKind)> {
        self.columns.iter().filter(|(name, _)| with_raw || *name != "raw").copied().collect()
    }
}

/// Reads `name:kind`.
fn column(word: &'static str) -> (&'static str, ColumnKind) {
    let (name, kind) = word.split_once(':').unwrap_or((word, "text"));
    // A test compares the kinds with the types of the databases.
    (name, kind.parse().unwrap_or(ColumnKind::Json))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_table_is_described_once_and_its_key_stands_among_its_columns() {
        let mut names = HashSet::new();
        for table in api_tables() {
            assert!(names.insert(table.name), "{}", table.name);
            assert!(!HIDDEN_TABLES.contains(&table.name), "{}", table.name);
            for part in &table.key {
                let kind = table.kind_of(part.column);
                assert_eq!(kind, Some(part.kind), "{}.{}", table.name, part.column);
                assert!(matches!(part.kind, ColumnKind::Text | ColumnKind::Integer), "{}", table.name);
            }
            for (child, column) in &table.children {
                assert!(
                    ApiTable::named(child).is_some_and(|child| child.kind_of(column).is_some()),
                    "{child}"
                );
            }
        }
    }

    #[test]
    fn every_word_of_a_kind_is_one() {
        for described in
            [sales::ORDERS, goods::PRODUCTS, intents::INTENTS, views::VIEWS].into_iter().flatten()
        {
            for word in described.columns.split(' ') {
                let (_, kind) = word.split_once(':').unwrap_or((word, "text"));
                assert!(kind.parse::<ColumnKind>().is_ok(), "{}: {word}", described.table);
            }
        }
    }
}
