//! Orders: their state, their rules, and their routes.
//!
//! Reading order: this file (an order), [`state`] (the orders of a store), [`vocabulary`], [`transitions`] and
//! [`engine`] (how orders move), [`scheduled`] (jobs), [`service`] (changes with their events), [`routes`] and
//! [`control`].

mod bulk;
mod control;
pub(crate) mod control_endpoints;
mod dashboard;
mod detail;
mod engine;
mod entry;
mod enums;
mod events;
mod filter;
mod financial;
mod fiscal;
mod history;
mod inventory;
mod invoices;
mod late;
mod life;
mod payload;
mod place;
mod raw;
mod replica;
pub(crate) mod routes;
mod row;
mod rules;
mod scheduled;
pub(crate) mod service;
mod shipping_method;
mod show;
mod shown;
mod stalled;
pub(crate) mod state;
mod stock;
mod summary;
mod timeline;
mod tracking;
mod transitions;
mod visibility;
pub(crate) mod vocabulary;
mod write;

pub use self::place::NewOrder;
use self::vocabulary::{
    Channel, Delivery, OrderType, PaymentMethod, PaymentStatus, Status, StockStatus, Workflow,
};
pub(crate) use self::{
    enums::list as write_words, life::Life, shipping_method::named as shipping_method_named,
    transitions::statuses, visibility::readable,
};
use crate::money::Milli;

/// How long an unpaid order waits for its payment.
const PAYMENT_DAYS: i64 = 3;

/// An order, as small as it can be kept: labels, sub-objects and counts are derived when it is written.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) number: Box<str>,
    /// A hash of the order's identity; every detail that the data does not hold is drawn from it.
    pub(crate) serial: u64,
    pub(crate) status: Status,
    pub(crate) workflow: Workflow,
    pub(crate) kind: OrderType,
    pub(crate) channel: Channel,
    pub(crate) payment: PaymentMethod,
    /// Position in the shared list of people.
    pub(crate) customer: u32,
    pub(crate) lines: Box<[Line]>,
    pub(crate) shipping: Milli,
    pub(crate) discounts: Milli,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    /// End of the campaign of a collective order.
    pub(crate) release_at: Option<i64>,
    pub(crate) picked_up_at: Option<i64>,
    pub(crate) notes: Option<Box<str>>,
    /// Bodies served verbatim in place of ours.
    pub(crate) raw: Option<Box<Raw>>,
    /// Its changes since the sandbox started.
    pub(crate) life: Option<Box<Life>>,
}

/// One line of an order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    /// Position in the store's catalogue.
    pub(crate) product: u32,
    pub(crate) quantity: u32,
    pub(crate) unit_price: Milli,
    /// 2 or 3: the decimals of the unit price when the item entered the cart.
    pub(crate) price_scale: u8,
    pub(crate) stock: StockStatus,
}

/// The bodies of an order that a test wrote itself.
#[derive(Clone, Debug)]
pub(crate) struct Raw {
    pub(crate) detail: String,
    pub(crate) listing: String,
}

impl Line {
    /// Quantity times unit price, rounded up to cents.
    pub(crate) fn subtotal(&self) -> Milli {
        self.unit_price.times(self.quantity).ceil_cents()
    }
}

impl Order {
    pub(crate) fn products_total(&self) -> Milli {
        self.lines.iter().fold(Milli(0), |sum, line| sum + line.subtotal())
    }

    pub(crate) fn total(&self) -> Milli {
        self.products_total() + self.shipping - self.discounts
    }

    pub(crate) fn units(&self) -> u64 {
        self.lines.iter().map(|line| u64::from(line.quantity)).sum()
    }

    pub(crate) fn delivery(&self) -> Delivery {
        match self.workflow {
            Workflow::InStorePickup => Delivery::Pickup,
            _ => Delivery::Shipping,
        }
    }

    pub(crate) fn payment_status(&self) -> PaymentStatus {
        match self.status {
            Status::WaitingPayment => PaymentStatus::Pending,
            Status::PaymentExpired => PaymentStatus::Expired,
            status => match &self.life {
                Some(life) if life.is_refunded => PaymentStatus::Refunded,
                Some(life) if !life.was_paid => PaymentStatus::Expired,
                None if status == Status::Cancelled => PaymentStatus::Refunded,
                _ => PaymentStatus::Approved,
            },
        }
    }

    /// Only an order that waits for its payment has this deadline.
    pub(crate) fn payment_expires_at(&self) -> Option<i64> {
        (self.status == Status::WaitingPayment).then_some(self.created_at + PAYMENT_DAYS * 86_400)
    }

    /// Moves to a status, and moves the stock of the lines with it ("Order line stock status" of the document).
    pub(crate) fn enter(&mut self, status: Status, now: i64) {
        self.status = status;
        self.touch(now);
        if status == Status::PickedUp {
            self.picked_up_at = Some(now);
        }
        for at in 0..self.lines.len() {
            self.lines[at].stock = stock::following(&self.lines[at], self.workflow, status, at == 0);
        }
    }

    /// Notes a change. Never the same second twice, so that a change always shows in `updated_at`.
    pub(crate) fn touch(&mut self, now: i64) {
        self.updated_at = now.max(self.updated_at + 1);
    }
}
