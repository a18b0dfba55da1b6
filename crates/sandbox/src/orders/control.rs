//! What buyers, the platform and the portal do with orders.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use super::{
    announce::Told,
    engine::{self, Step},
    fiscal, follow,
    life::{Author, DocumentKind, Entry, Life},
    place::{self, NewOrder},
    stock,
    vocabulary::{Status, StockStatus, Workflow},
    write,
};
use crate::{answer::Refusal, control::Control, store::Store};

impl Control {
    /// Has a buyer place an order now. Its number; empty when the store, a SKU or a word of the order does not exist.
    ///
    /// Unlike [`Control::insert_order`] it goes the whole way: `order.created`, the payment, goods reserved on the shelf.
    pub fn place_order(&self, store: &str, order: NewOrder) -> String {
        let Some(at) = self.world().store(store) else { return String::new() };
        let is_paid = order.is_paid;
        let Some(number) = place::place(self.world(), at, order) else { return String::new() };
        if is_paid {
            self.pay_order(store, &number);
        }
        number
    }

    /// Has a buyer place an order now: paid, not yet prepared. Its number; empty when there is no such store.
    pub fn insert_order(&self, store: &str) -> String {
        let Some(store) = self.world().store(store) else { return String::new() };
        let now = self.world().clock.seconds();
        let mut order = place::bare(self.world(), store, now);
        let timeline = vec![
            Entry::of_status(now, Author::System, None, Status::WaitingPayment),
            Entry::of_status(now, Author::System, Some(Status::WaitingPayment), Status::Paid),
        ];
        order.life = Some(Box::new(Life { timeline, was_paid: true, ..Life::default() }));
        place::born(self.world(), store, order)
    }

    /// Confirms the payment of an order that waits for it.
    pub fn pay_order(&self, store: &str, number: &str) -> bool {
        self.change(store, number, |order| {
            let to = match order.workflow {
                _ if order.status != Status::WaitingPayment => return Err(Refusal::NotFound),
                Workflow::PreOrder => Status::AwaitingAvailability,
                Workflow::Backorder => Status::AwaitingRestock,
                _ => Status::Paid,
            };
            Ok(Step { text: Some("Pagamento confirmado"), ..Step::new(to, Author::System) })
        })
    }

    /// Has the platform cancel an order, which it can do until the order has ended.
    pub fn cancel_order(&self, store: &str, number: &str, reason: &str) -> bool {
        self.change(store, number, |order| {
            use Status::{Cancelled, Completed, Delivered, PaymentExpired};
            if matches!(order.status, Cancelled | Completed | Delivered | PaymentExpired) {
                return Err(Refusal::NotFound);
            }
            let mut step = Step::new(Cancelled, Author::Admin);
            step.data.reason = Some(reason.into());
            step.data.metadata = Some(serde_json::json!({"reason": reason}));
            Ok(step)
        })
    }

    /// Gives the money of a paid order back; whether that was left to do.
    pub fn refund_order(&self, store: &str, number: &str) -> bool {
        self.world().store(store).is_some_and(|store| follow::refund(self.world(), store, number))
    }

    /// Moves an order to a status, whatever the state machine says, and bumps `updated_at`.
    pub fn set_order_status(&self, store: &str, number: &str, status: &str) -> bool {
        let Some(status) = Status::parse(status) else { return false };
        self.change(store, number, |_| Ok(Step { is_forced: true, ..Step::new(status, Author::Admin) }))
    }

    fn change(
        &self,
        store: &str,
        number: &str,
        decide: impl FnOnce(&super::Order) -> Result<Step, Refusal>,
    ) -> bool {
        let store = self.world().store(store);
        store.is_some_and(|store| engine::change(self.world(), store, number, decide).is_ok())
    }

    /// Replaces an order's notes and bumps `updated_at`.
    pub fn set_notes(&self, store: &str, number: &str, notes: Option<&str>) -> bool {
        let now = self.world().clock.seconds();
        self.world().store(store).is_some_and(|store| write::set_notes(store, number, notes, now))
    }

    /// Has the campaign of a waiting collective order end now.
    pub fn release_order(&self, store: &str, number: &str) -> bool {
        self.world().store(store).is_some_and(|store| follow::release(self.world(), store, number))
    }

    /// Sets the stock status of a line (counted from 0), such as `awaiting_restock`; what is final stays.
    pub fn set_line_stock(&self, store: &str, number: &str, line: usize, stock: &str) -> bool {
        let (Some(store), Some(stock)) = (self.world().store(store), StockStatus::parse(stock)) else {
            return false;
        };
        let now = self.world().clock.seconds();
        let Some(told) = set_line(store, number, line, stock, now) else { return false };
        self.world().announce(store, told);
        true
    }

    /// Issues a fiscal document, `nfe` or `content_declaration`; its identifier, or `None` where that is refused: before
    /// the order is in `preparing`.
    pub fn issue_invoice(&self, store: &str, number: &str, kind: &str) -> Option<u64> {
        let kind = DocumentKind::parse(kind)?;
        fiscal::issue(self.world(), self.world().store(store)?, number, kind).ok()
    }

    /// Replaces the current NF-e; the identifier of the new one, or `None` where there is none to replace.
    pub fn replace_invoice(&self, store: &str, number: &str) -> Option<u64> {
        fiscal::replace(self.world(), self.world().store(store)?, number).ok()
    }

    /// Processes the last fiscal document anew; its identifier.
    pub fn reprocess_invoice(&self, store: &str, number: &str) -> Option<u64> {
        fiscal::reprocess(self.world(), self.world().store(store)?, number).ok()
    }

    /// Has paid orders of a store prepared by themselves, or not any more.
    pub fn set_auto_preparation(&self, store: &str, enabled: bool) -> bool {
        let store = self.world().store(store);
        store.map(|store| store.auto_preparation.store(enabled, Relaxed)).is_some()
    }

    /// What the orders and shipments of a store told of late, oldest first, whether or not a webhook listened: the name of
    /// each event and its `data` without `store_id`.
    pub fn told(&self, store: &str) -> Vec<(String, serde_json::Value)> {
        let told = self.world().store(store).map(Store::told).unwrap_or_default();
        told.into_iter().map(|(event, data)| (event.to_owned(), data)).collect()
    }

    /// Makes a store a sub-store of another; `None` makes it independent.
    pub fn set_parent(&self, store: &str, parent: Option<&str>) -> bool {
        let Some(child) = self.world().store(store) else { return false };
        let parent = match parent.map(|parent| self.world().store(parent)) {
            None => None,
            Some(Some(parent)) if parent.id != child.id => Some(parent.id),
            Some(_) => return false,
        };
        child.set_parent(parent);
        true
    }
}

/// Changes one line; `None` where there is no such line or it has ended.
fn set_line(store: &Store, number: &str, at: usize, stock: StockStatus, now: i64) -> Option<Told> {
    let mut book = store.orders_mut();
    let old = engine::touch(store, &mut book, number, |order| {
        let line = order.lines.get_mut(at)?;
        if matches!(line.stock, StockStatus::Committed | StockStatus::Released) {
            return None;
        }
        let old = std::mem::replace(&mut line.stock, stock);
        order.touch(now);
        Some(old)
    })??;
    let order = book.get(number)?;
    let changed = [(at, old)];
    let lines = stock::told(order, &changed, &store.catalogue());
    let mut told: Told = lines.into_iter().map(|data| ("order.item_stock_status_changed", data)).collect();
    told.extend(engine::goods(store, order, &changed));
    Some(told)
}

/// The fiscal levers answer as the emission route would, which the document does not show.
pub(super) fn issue(control: &Control, store: &str, number: &str, kind: &str) -> Result<u64, Refusal> {
    let store = control.world().store(store).ok_or(Refusal::NotFound)?;
    let kind = DocumentKind::parse(kind).ok_or(Refusal::NotFound)?;
    fiscal::issue(&Arc::clone(control.world()), store, number, kind)
}
