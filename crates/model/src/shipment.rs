//! Shipments and their labels, as the mirror stores them (API document, "Shipment").

use std::fmt;

use chrono::{DateTime, Utc};

use crate::{LabelId, RawJson, ShipmentId};

/// The `type` values of the document.
pub const SHIPMENT_TYPES: [&str; 4] = ["sales_order", "return", "transfer", "pickup"];

/// The `status` values of the document.
pub const SHIPMENT_STATUSES: [&str; 11] = [
    "pending",
    "processing",
    "ready_to_ship",
    "in_transit",
    "delivered",
    "cancelled",
    "return_in_progress",
    "returned",
    "awaiting_return",
    "failed",
    "error",
];

/// The `status` values of a label.
pub const LABEL_STATUSES: [&str; 4] = ["pending", "processing", "completed", "error"];

/// One shipment of an order.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct Shipment {
    pub id: ShipmentId,
    pub shipment_type: Option<String>,
    pub status: Option<String>,
    pub tracking_code: Option<String>,
    pub carrier_id: Option<String>,
    pub carrier_name: Option<String>,
    pub is_pickup: Option<bool>,
    /// Whether label generation skips this shipment.
    pub label_generation_blocked: Option<bool>,
    /// Whether the seller may confirm the delivery by hand.
    pub allows_manual_confirmation: Option<bool>,
    pub labels_ready: Option<i64>,
    pub labels_total: Option<i64>,
    pub labels: Vec<ShipmentLabel>,
    /// The shipment as received.
    pub raw: RawJson,
}

/// One label of a shipment, in one format. The shipment has the tracking code.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names; times in UTC")]
pub struct ShipmentLabel {
    pub id: LabelId,
    pub format: Option<LabelFormat>,
    pub status: Option<String>,
    /// Whether its file is available: exactly when `status` is `completed`.
    pub is_ready: Option<bool>,
    pub completed_at: Option<DateTime<Utc>>,
    pub source: Option<String>,
    /// The label as received.
    pub raw: RawJson,
}

/// The format of a label.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LabelFormat {
    /// `a4`: a PDF for an office printer.
    A4,
    /// `zebra`: ZPL text.
    Zebra,
    /// `thermal`: HTML.
    Thermal,
    /// `zebra_pdf`: a PDF of a label printer's size.
    ZebraPdf,
    /// A format that the document does not list.
    Other(String),
}

/// The type of a label's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A PDF.
    Pdf,
    /// An HTML page.
    Html,
    /// ZPL, the language of Zebra printers.
    Zpl,
}

impl LabelFormat {
    /// Returns the format of this name.
    pub fn new(text: &str) -> Self {
        match text {
            "a4" => Self::A4,
            "zebra" => Self::Zebra,
            "thermal" => Self::Thermal,
            "zebra_pdf" => Self::ZebraPdf,
            other => Self::Other(other.to_owned()),
        }
    }

    /// Returns the document's name of the format.
    pub fn as_str(&self) -> &str {
        match self {
            Self::A4 => "a4",
            Self::Zebra => "zebra",
            Self::Thermal => "thermal",
            Self::ZebraPdf => "zebra_pdf",
            Self::Other(text) => text,
        }
    }

    /// Returns the file type; `None` for a format that the document does not list.
    pub fn file_kind(&self) -> Option<FileKind> {
        match self {
            Self::A4 | Self::ZebraPdf => Some(FileKind::Pdf),
            Self::Thermal => Some(FileKind::Html),
            Self::Zebra => Some(FileKind::Zpl),
            Self::Other(_) => None,
        }
    }
}

impl fmt::Display for LabelFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FileKind {
    /// Returns the file extension.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Html => "html",
            Self::Zpl => "zpl",
        }
    }
}

impl Shipment {
    /// Returns the enum values of this shipment that the document does not list, as (field, value).
    pub fn unknown_values(&self) -> Vec<(&'static str, &str)> {
        let own = [
            ("type", self.shipment_type.as_deref(), &SHIPMENT_TYPES[..]),
            ("status", self.status.as_deref(), &SHIPMENT_STATUSES[..]),
        ];
        let labels = self.labels.iter().flat_map(|label| {
            let format = match &label.format {
                Some(LabelFormat::Other(text)) => Some(text.as_str()),
                _ => None,
            };
            [
                ("labels[].status", label.status.as_deref(), &LABEL_STATUSES[..]),
                ("labels[].format", format, &[][..]),
            ]
        });
        own.into_iter()
            .chain(labels)
            .filter_map(|(field, value, known)| value.filter(|v| !known.contains(v)).map(|v| (field, v)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: SHP-020, SHP-021, SHP-022
    #[test]
    fn each_format_has_the_file_that_the_document_gives_it_and_an_unknown_one_is_kept() {
        for (name, extension) in [
            ("a4", Some("pdf")),
            ("zebra_pdf", Some("pdf")),
            ("thermal", Some("html")),
            ("zebra", Some("zpl")),
        ] {
            let format = LabelFormat::new(name);
            assert_eq!(format.file_kind().map(FileKind::extension), extension, "{name}");
            assert_eq!(format.to_string(), name);
        }
        let unknown = LabelFormat::new("braille");
        assert_eq!((unknown.as_str(), unknown.file_kind()), ("braille", None));
    }

    #[test]
    fn values_that_the_document_does_not_know_are_named_with_their_field() {
        let label = |format: &str, status: &str| ShipmentLabel {
            id: LabelId::new("L"),
            format: Some(LabelFormat::new(format)),
            status: Some(status.into()),
            is_ready: None,
            completed_at: None,
            source: None,
            raw: RawJson::new("{}"),
        };
        let shipment = Shipment {
            id: ShipmentId::new("S"),
            shipment_type: Some("sales_order".into()),
            status: Some("teleported".into()),
            tracking_code: None,
            carrier_id: None,
            carrier_name: None,
            is_pickup: None,
            label_generation_blocked: None,
            allows_manual_confirmation: None,
            labels_ready: None,
            labels_total: None,
            labels: vec![label("a4", "completed"), label("braille", "torn")],
            raw: RawJson::new("{}"),
        };
        let expected =
            [("status", "teleported"), ("labels[].status", "torn"), ("labels[].format", "braille")];
        assert_eq!(shipment.unknown_values(), expected);
    }
}
