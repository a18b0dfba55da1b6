//! Orders behind the API's back: the acts of buyers, the platform and the portal.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use super::{
    Order,
    engine::Step,
    entry::{Author, DocumentKind},
    invoices,
    place::NewOrder,
    raw::raw_order,
    replica::Lag,
    service,
    vocabulary::{Status, StockStatus, Workflow},
};
use crate::{control::handles::OrdersControl, refusal::Refusal, store::Store};

impl OrdersControl<'_> {
    /// Places an order for a buyer, now. Returns its number; empty where the store, a SKU or a value does not exist.
    ///
    /// Unlike [`insert`](Self::insert) it does every step: `order.created`, the payment, and the reservation of goods.
    pub fn place(self, store: &str, order: NewOrder) -> String {
        let Some(at) = self.world().store(store) else { return String::new() };
        let is_paid = order.is_paid;
        let Some(number) = service::place_order(self.world(), at, order) else { return String::new() };
        if is_paid {
            self.pay(store, &number);
        }
        number
    }

    /// Adds an order of a buyer, now: paid, not yet prepared. Returns its number; empty where there is no such store.
    pub fn insert(self, store: &str) -> String {
        let Some(store) = self.world().store(store) else { return String::new() };
        service::insert_order(self.world(), store)
    }

    /// Confirms the payment of an order that waits for it.
    pub fn pay(self, store: &str, number: &str) -> bool {
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

    /// Cancels an order as the platform, which can do so until the order has ended.
    pub fn cancel(self, store: &str, number: &str, reason: &str) -> bool {
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

    /// Gives the money of a paid order back; whether there was any to give back.
    pub fn refund(self, store: &str, number: &str) -> bool {
        self.world().store(store).is_some_and(|store| service::refund(self.world(), store, number))
    }

    /// Moves an order to any status, against the state machine too, and bumps `updated_at`.
    pub fn set_status(self, store: &str, number: &str, status: &str) -> bool {
        let Some(status) = Status::parse(status) else { return false };
        self.change(store, number, |_| Ok(Step { is_forced: true, ..Step::new(status, Author::Admin) }))
    }

    fn change(self, store: &str, number: &str, decide: impl FnOnce(&Order) -> Result<Step, Refusal>) -> bool {
        let store = self.world().store(store);
        store.is_some_and(|store| service::change(self.world(), store, number, decide).is_ok())
    }

    /// Replaces an order's notes and bumps `updated_at`.
    pub fn set_notes(self, store: &str, number: &str, notes: Option<&str>) -> bool {
        let now = self.world().clock.seconds();
        self.world().store(store).is_some_and(|store| service::set_notes(store, number, notes, now))
    }

    /// Ends the campaign of a waiting collective order now.
    pub fn release(self, store: &str, number: &str) -> bool {
        self.world().store(store).is_some_and(|store| service::release(self.world(), store, number))
    }

    /// Sets the stock status of a line (counted from 0), such as `awaiting_restock`; what is final stays.
    pub fn set_line_stock(self, store: &str, number: &str, line: usize, stock: &str) -> bool {
        let (Some(store), Some(stock)) = (self.world().store(store), StockStatus::parse(stock)) else {
            return false;
        };
        service::set_line(self.world(), store, number, (line, stock))
    }

    /// Issues a fiscal document, `nfe` or `content_declaration`; its identifier, or `None` where that is refused:
    /// before the order is in `preparing`.
    pub fn issue_invoice(self, store: &str, number: &str, kind: &str) -> Option<u64> {
        let kind = DocumentKind::parse(kind)?;
        let (world, now) = (self.world(), self.world().clock.seconds());
        let edit = |order: &mut Order| invoices::issue(order, kind, now);
        service::change_documents(world, world.store(store)?, number, edit).ok()
    }

    /// Replaces the current NF-e; the identifier of the new one, or `None` where there is none to replace.
    pub fn replace_invoice(self, store: &str, number: &str) -> Option<u64> {
        let (world, now) = (self.world(), self.world().clock.seconds());
        let edit = |order: &mut Order| invoices::replace(order, now);
        service::change_documents(world, world.store(store)?, number, edit).ok()
    }

    /// Processes the last fiscal document again; its identifier.
    pub fn reprocess_invoice(self, store: &str, number: &str) -> Option<u64> {
        let world = self.world();
        service::change_documents(world, world.store(store)?, number, invoices::reprocess).ok()
    }

    /// Has the tax office reject the last fiscal document, so that the order has one less; whether there is one.
    pub fn reject_invoice(self, store: &str, number: &str) -> bool {
        self.world().store(store).is_some_and(|store| service::reject_document(self.world(), store, number))
    }

    /// Switches the automatic preparation of paid orders on or off.
    pub fn set_auto_preparation(self, store: &str, enabled: bool) -> bool {
        let store = self.world().store(store);
        store.map(|store| store.auto_preparation.store(enabled, Relaxed)).is_some()
    }

    /// The last 1,000 events of the orders and shipments of a store, oldest first, whether or not a webhook
    /// subscribes to them: the name of each event and its `data` without `store_id`.
    pub fn announced_events(self, store: &str) -> Vec<(String, serde_json::Value)> {
        let events = self.world().store(store).map(Store::announced).unwrap_or_default();
        events.into_iter().map(|event| (event.name.to_owned(), event.data)).collect()
    }

    /// From now on the routes that read orders show each change `seconds` late, like a replica that is behind.
    /// Deliveries still go out at once. 0 ends it.
    pub fn lag(self, store: &str, seconds: u32) -> bool {
        let Some(store) = self.world().store(store) else { return false };
        // The world owns the orders: they must not own it.
        let world = Arc::downgrade(self.world());
        let now = move || world.upgrade().map_or(i64::MAX, |world| world.clock.millis());
        let lag = (seconds > 0).then(|| Lag::new(i64::from(seconds) * 1_000, Box::new(now)));
        store.orders_mut().set_lag(lag);
        true
    }

    /// Makes a store a sub-store of another; `None` makes it independent.
    pub fn set_parent(self, store: &str, parent: Option<&str>) -> bool {
        let Some(child) = self.world().store(store) else { return false };
        let parent = match parent.map(|parent| self.world().store(parent)) {
            None => None,
            Some(Some(parent)) if parent.id != child.id => Some(parent.id),
            Some(_) => return false,
        };
        child.set_parent(parent);
        true
    }

    /// Takes an order away without a trace.
    pub fn remove(self, store: &str, number: &str) -> bool {
        self.world().store(store).is_some_and(|store| {
            let removed = store.orders_mut().remove(number);
            store.shipments().forget(number);
            removed
        })
    }

    /// Adds an order whose detail and listing row are these bytes, verbatim. The envelope around them is ours.
    ///
    /// `status`, `created_at` and `updated_at` are taken from the row where they can be read; otherwise the order is
    /// a paid one of now. The rest of it matches no filter.
    pub fn add_raw(self, store: &str, number: &str, detail_json: String, listing_json: String) -> bool {
        let Some(store) = self.world().store(store) else { return false };
        let order = raw_order(number, detail_json, listing_json, self.world().clock.seconds());
        store.orders_mut().insert(order);
        true
    }

    /// How many orders a store has.
    pub fn count(self, store: &str) -> usize {
        self.world().store(store).map_or(0, |store| store.orders().len())
    }
}

/// Issues a document and keeps the refusal, for the control endpoint: the document shows no route for it.
pub(super) fn issue(
    control: OrdersControl<'_>,
    store: &str,
    number: &str,
    kind: &str,
) -> Result<u64, Refusal> {
    let store = control.world().store(store).ok_or(Refusal::NotFound)?;
    let kind = DocumentKind::parse(kind).ok_or(Refusal::NotFound)?;
    let now = control.world().clock.seconds();
    service::change_documents(control.world(), store, number, |order| invoices::issue(order, kind, now))
}
