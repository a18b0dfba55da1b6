//! The changes of an order since the sandbox started. They are kept apart, because most of 99,441 orders have none.

use std::borrow::Cow;

use super::{
    Order,
    entry::{Document, DocumentKind, DocumentStatus, Entry},
    history,
    vocabulary::Status,
};

/// The rare part of an order. An order without one is as it was generated or loaded, and its past is derived.
#[derive(Clone, Debug, Default)]
pub(crate) struct Life {
    /// Oldest first.
    pub(crate) timeline: Vec<Entry>,
    /// In the order in which they were issued.
    pub(crate) documents: Vec<Document>,
    pub(crate) was_paid: bool,
    pub(crate) is_refunded: bool,
    pub(crate) delivered_at: Option<i64>,
    /// Position in [`super::shipping_method::SHIPPING_METHODS`], where a test chose one.
    pub(crate) carrier: Option<u8>,
    /// When it is promised to arrive, where a test chose an instant.
    pub(crate) promised_at: Option<i64>,
    /// How many shipments it is sent in, where a test chose a number.
    pub(crate) parcels: Option<u8>,
    /// The checkout that it shares with another order.
    pub(crate) checkout: Option<u128>,
    /// Whether the inventory counts its goods as reserved.
    pub(crate) holds_stock: bool,
}

impl Order {
    /// The life of the order, which begins with what is derived of its past.
    pub(crate) fn life(&mut self) -> &mut Life {
        if self.life.is_none() {
            let life = Life {
                timeline: history::derived(self),
                documents: self.documents(),
                was_paid: !matches!(self.status, Status::WaitingPayment | Status::PaymentExpired),
                is_refunded: self.status == Status::Cancelled,
                delivered_at: self.delivered_at(),
                ..Life::default()
            };
            self.life = Some(Box::new(life));
        }
        self.life.get_or_insert_default()
    }

    /// The timeline, oldest first.
    pub(crate) fn timeline(&self) -> Cow<'_, [Entry]> {
        match &self.life {
            Some(life) => Cow::Borrowed(&life.timeline),
            None => Cow::Owned(history::derived(self)),
        }
    }

    /// The fiscal documents, the replaced ones among them.
    pub(crate) fn documents(&self) -> Vec<Document> {
        match &self.life {
            Some(life) => life.documents.clone(),
            None => {
                self.was_made_invoiced().then(|| self.first_document(self.updated_at)).into_iter().collect()
            }
        }
    }

    /// Whether a fiscal document has been issued.
    pub(crate) fn is_invoiced(&self) -> bool {
        let counts =
            |document: &Document| document.status == DocumentStatus::Issued && document.replaced_at.is_none();
        self.life.as_ref().map_or_else(|| self.was_made_invoiced(), |life| life.documents.iter().any(counts))
    }

    /// Whether a generated order comes with a document: from dispatch readiness on it must have one.
    pub(super) fn was_made_invoiced(&self) -> bool {
        use Status::{Completed, Delivered, PickedUp, ReadyForPickup, ReadyToShip, Shipped};
        match self.status {
            ReadyToShip | Shipped | Delivered | Completed | ReadyForPickup | PickedUp => true,
            Status::Preparing => self.serial & 1 == 0,
            _ => false,
        }
    }

    /// The document that a generated order comes with.
    pub(super) fn first_document(&self, issued_at: i64) -> Document {
        let is_declared = self.serial.is_multiple_of(11);
        let kind = if is_declared { DocumentKind::ContentDeclaration } else { DocumentKind::Nfe };
        self.document(kind, 0, issued_at)
    }

    /// The document of this place in the order's list of them.
    pub(super) fn document(&self, kind: DocumentKind, at: u64, issued_at: i64) -> Document {
        Document {
            // 44 bits of the hash and the place: unique, and exact in every JSON reader.
            id: (self.serial >> 20) * 64 + at,
            kind,
            status: DocumentStatus::Issued,
            number: self.serial % 900_000 + 1000 + at,
            issued_at,
            replaced_at: None,
        }
    }

    /// When the order entered its status: no note and no document moves the deadlines that count from there.
    pub(crate) fn entered_at(&self) -> i64 {
        let mut latest_first = self.life.iter().flat_map(|life| life.timeline.iter().rev());
        let entered = latest_first.find(|entry| entry.statuses.is_some());
        entered.map_or(self.updated_at, |entry| entry.at)
    }

    /// When the order was delivered, if it was.
    pub(crate) fn delivered_at(&self) -> Option<i64> {
        match &self.life {
            Some(life) => life.delivered_at,
            None => matches!(self.status, Status::Delivered | Status::Completed).then_some(self.updated_at),
        }
    }

    /// The checkout that groups orders, a ULID. A single order has one of its own, derived from it.
    pub(crate) fn checkout(&self) -> u128 {
        let alone = || {
            let millis = u128::from((self.created_at.unsigned_abs() * 1000) & 0xFFFF_FFFF_FFFF);
            millis << 80 | u128::from(self.serial) << 16 | u128::from(self.serial & 0xFFFF)
        };
        self.life.as_ref().and_then(|life| life.checkout).unwrap_or_else(alone)
    }

    /// The identifier of a line: 44 bits of the hash and the position.
    pub(crate) fn line_id(&self, at: usize) -> u64 {
        (self.serial >> 20) * 64 + at as u64
    }
}
