//! The tracking of an order (API document, "Orders": the tracking route).

use chrono::{DateTime, Utc};

use crate::RawJson;

/// The consolidated tracking of an order. Codes and estimates belong to the shipments: those of the order itself are
/// always null.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names; times in UTC")]
pub struct OrderTracking {
    pub status: Option<String>,
    pub delivered_at: Option<DateTime<Utc>>,
    pub picked_up_at: Option<DateTime<Utc>>,
    pub shipments: Vec<ShipmentTracking>,
    /// The tracking as received.
    pub raw: RawJson,
}

/// The tracking of one shipment.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names; times in UTC")]
pub struct ShipmentTracking {
    pub id: Option<String>,
    pub status: Option<String>,
    pub tracking_code: Option<String>,
    pub tracking_url: Option<String>,
    pub estimated_delivery_at: Option<DateTime<Utc>>,
    pub steps: Vec<TrackingStep>,
    /// The shipment's tracking as received.
    pub raw: RawJson,
}

/// One tracking step. The document names none of its fields; the likely ones are read.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear their likely names; times in UTC")]
pub struct TrackingStep {
    pub status: Option<String>,
    pub description: Option<String>,
    pub at: Option<DateTime<Utc>>,
    /// The step as received.
    pub raw: RawJson,
}
