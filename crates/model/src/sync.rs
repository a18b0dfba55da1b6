//! The terms of a reconciliation: resources, states and counts.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A resource that a run can reconcile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::Display, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Resource {
    /// Orders with their lines.
    Orders,
    /// Products with price tiers and stock.
    Products,
}

impl Resource {
    /// Every resource, in the order of a run.
    pub const ALL: [Self; 2] = [Self::Orders, Self::Products];

    /// Returns the name used in tables, reports and on the command line.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The word names no resource.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0:?} is not something to reconcile: choose from orders, products")]
pub struct UnknownResource(String);

impl FromStr for Resource {
    type Err = UnknownResource;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|r| r.as_str() == text).ok_or_else(|| UnknownResource(text.to_owned()))
    }
}

/// A target of a reconciliation: resources with listings, sub-resources of orders, and data that is read as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub enum Target {
    /// A resource that is listed page by page.
    Listed(Resource),
    /// The shipments of all orders, with their labels.
    Shipments,
    /// The tracking of the shipments.
    Tracking,
    /// The fiscal documents of all orders.
    Invoices,
    /// The timelines of all orders.
    Events,
    /// The financial views of all orders.
    Financial,
    /// The files of ready labels.
    Labels,
    /// Campaigns, with their enrolled and eligible listings.
    Campaigns,
    /// The store's images.
    MediaImages,
    /// The store's own profile.
    Profile,
}

impl Target {
    /// Every target, in the order of a run.
    pub const ALL: [Self; 11] = [
        Self::Listed(Resource::Orders),
        Self::Listed(Resource::Products),
        Self::Shipments,
        Self::Tracking,
        Self::Invoices,
        Self::Events,
        Self::Financial,
        Self::Labels,
        Self::Campaigns,
        Self::MediaImages,
        Self::Profile,
    ];

    /// Returns the name used in reports and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Listed(resource) => resource.as_str(),
            Self::Shipments => "shipments",
            Self::Tracking => "tracking",
            Self::Invoices => "invoices",
            Self::Events => "events",
            Self::Financial => "financial",
            Self::Labels => "labels",
            Self::Campaigns => "campaigns",
            Self::MediaImages => "media_images",
            Self::Profile => "profile",
        }
    }
}

impl From<Resource> for Target {
    fn from(resource: Resource) -> Self {
        Self::Listed(resource)
    }
}

impl From<Target> for String {
    fn from(target: Target) -> Self {
        target.as_str().to_owned()
    }
}

impl TryFrom<String> for Target {
    type Error = UnknownTarget;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The tables of the contract that a target fills, by their own names.
const TABLES: &[(&str, Target)] = &[
    ("order_items", Target::Listed(Resource::Orders)),
    ("product_prices", Target::Listed(Resource::Products)),
    ("product_stock", Target::Listed(Resource::Products)),
    ("stock_locations", Target::Listed(Resource::Products)),
    ("prices", Target::Listed(Resource::Products)),
    ("stock", Target::Listed(Resource::Products)),
    ("order_invoices", Target::Invoices),
    ("fiscal", Target::Invoices),
    ("order_events", Target::Events),
    ("order_benefits", Target::Financial),
    ("order_commissions", Target::Financial),
    ("order_splits", Target::Financial),
    ("shipment_labels", Target::Labels),
    ("campaign_listings", Target::Campaigns),
    ("store_profiles", Target::Profile),
    ("media", Target::MediaImages),
];

/// Tables of the contract that no route of the marketplace lists: only deliveries and the ERP's own commands fill
/// them.
const UNREAD: [&str; 5] =
    ["price_lists", "listings", "occurrences", "conversations", "conversation_messages"];

/// The word names no target.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum UnknownTarget {
    /// The contract has the table, but no route reads it.
    #[error("no route of the marketplace lists {0}: webhooks and commands alone fill it; leave it out")]
    Unread(String),
    /// No target or table has this name.
    #[error("{0:?} is not something to reconcile: choose from {known}", known = Target::ALL.map(Target::as_str).join(", "))]
    Unknown(String),
}

impl FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let own = Self::ALL.into_iter().find(|target| target.as_str() == text);
        let table = || TABLES.iter().find(|(table, _)| *table == text).map(|(_, target)| *target);
        own.or_else(table).ok_or_else(|| match UNREAD.contains(&text) {
            true => UnknownTarget::Unread(text.to_owned()),
            false => UnknownTarget::Unknown(text.to_owned()),
        })
    }
}

/// The result of a run, or of its part for one store or resource.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    strum::IntoStaticStr,
    strum::EnumString,
    Deserialize,
    Serialize,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RunState {
    /// Everything was read and every row is mirrored.
    Complete,
    /// Some rows or resources failed; the report names them.
    Partial,
    /// The run had no useful result; also what a report says that has an unknown word.
    #[serde(other)]
    Failed,
}

impl RunState {
    /// Returns the word used in tables and reports.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Combines the results of the parts of a run: all complete, all failed, or partial.
    pub fn of_parts(parts: impl IntoIterator<Item = Self>) -> Self {
        let parts: Vec<Self> = parts.into_iter().collect();
        match (parts.iter().min(), parts.iter().max()) {
            (_, None | Some(Self::Complete)) => Self::Complete,
            (Some(Self::Failed), _) => Self::Failed,
            _ => Self::Partial,
        }
    }
}

/// The effect of a run on one resource, in rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Counts {
    /// Rows that the marketplace listed.
    pub seen: u64,
    /// New or different rows that are now mirrored.
    pub changed: u64,
    /// Rows that a complete pass no longer found; they are now marked with `gone_at`.
    pub gone: u64,
    /// Rows that could not be mirrored; each is listed with its cause.
    pub failed: u64,
}

impl Counts {
    /// Adds the counts of another part.
    pub fn add(&mut self, other: Self) {
        self.seen += other.seen;
        self.changed += other.changed;
        self.gone += other.gone;
        self.failed += other.failed;
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Resource,
        RunState::{self, Complete, Failed, Partial},
        Target, UnknownTarget,
    };

    #[test]
    fn every_target_is_read_by_its_name_and_by_its_tables() {
        for target in Target::ALL {
            assert_eq!(target.as_str().parse(), Ok(target));
        }
        for (name, target) in [
            ("stock", Ok(Target::Listed(Resource::Products))),
            ("order_invoices", Ok(Target::Invoices)),
            ("price_lists", Err(UnknownTarget::Unread("price_lists".into()))),
            ("ordes", Err(UnknownTarget::Unknown("ordes".into()))),
        ] {
            assert_eq!(name.parse::<Target>(), target);
        }
    }

    #[test]
    fn a_whole_is_complete_or_failed_only_when_all_its_parts_are() {
        let check = |parts: &[RunState], whole| {
            assert_eq!(RunState::of_parts(parts.iter().copied()), whole, "{parts:?}");
        };
        check(&[], Complete);
        check(&[Complete, Complete], Complete);
        check(&[Failed, Failed], Failed);
        check(&[Complete, Failed], Partial);
        check(&[Partial, Complete], Partial);
        check(&[Partial], Partial);
        check(&[Partial, Failed], Partial);
    }
}
