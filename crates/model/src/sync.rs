//! How a reconciliation speaks about itself: resources, states and counts.

use std::{fmt, str::FromStr};

/// What a run can reconcile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Resource {
    /// Orders with their lines.
    Orders,
    /// Products with price tiers and stock.
    Products,
}

impl Resource {
    /// Every resource, in the order in which a run takes them.
    pub const ALL: [Self; 2] = [Self::Orders, Self::Products];

    /// The name used in tables, reports and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Orders => "orders",
            Self::Products => "products",
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that names no resource.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0:?} is not something to reconcile: choose from orders, products")]
pub struct UnknownResource(String);

impl FromStr for Resource {
    type Err = UnknownResource;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|r| r.as_str() == text).ok_or_else(|| UnknownResource(text.to_owned()))
    }
}

/// How a run, or its part for one store or resource, ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunState {
    /// Everything was read and every row is mirrored.
    Complete,
    /// Some rows or resources failed; the report says which.
    Partial,
    /// Nothing useful came of it.
    Failed,
}

impl RunState {
    /// The word used in tables and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Partial => "partial",
            Self::Failed => "failed",
        }
    }

    /// What a whole is when its parts ended like this: all complete, all failed, or something between.
    pub fn of_parts(parts: impl IntoIterator<Item = Self>) -> Self {
        let parts: Vec<Self> = parts.into_iter().collect();
        match (parts.iter().min(), parts.iter().max()) {
            (_, None | Some(Self::Complete)) => Self::Complete,
            (Some(Self::Failed), _) => Self::Failed,
            _ => Self::Partial,
        }
    }
}

/// What a run did to one resource, in rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Rows that the marketplace listed.
    pub seen: u64,
    /// Rows that were new or different and are now mirrored.
    pub changed: u64,
    /// Rows that a complete pass no longer found, now marked with `gone_at`.
    pub gone: u64,
    /// Rows that could not be mirrored; each is listed with its cause.
    pub failed: u64,
}

impl Counts {
    /// Adds another part's counts.
    pub fn add(&mut self, other: Self) {
        self.seen += other.seen;
        self.changed += other.changed;
        self.gone += other.gone;
        self.failed += other.failed;
    }
}

#[cfg(test)]
mod tests {
    use super::RunState::{self, Complete, Failed, Partial};

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
