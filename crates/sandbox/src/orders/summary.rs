//! The numbers of the current day.

use super::{
    Order,
    late::{self, Deadline},
    vocabulary::{Channel, Status},
};
use crate::{json::Json, money::Milli, text};

/// KPIs of one day of Brasília.
#[derive(Default)]
pub(crate) struct Summary {
    received: u32,
    revenue: Milli,
    preparing: u64,
    ready_to_ship: u64,
    shipped: u64,
    delivered_today: u64,
    by_channel: [u64; Channel::ALL.len()],
    late: [u64; 4],
}

/// Counts over the orders of a store.
pub(crate) fn of<'a>(orders: impl Iterator<Item = &'a Order>, now: i64) -> Summary {
    let day = text::day_of(now)..text::day_of(now) + 86_400;
    let mut summary = Summary::default();
    for order in orders {
        if day.contains(&order.created_at) {
            summary.receive(order);
        }
        match order.status {
            Status::Preparing => summary.preparing += 1,
            Status::ReadyToShip => summary.ready_to_ship += 1,
            Status::Shipped => summary.shipped += 1,
            _ => {}
        }
        // Not by the last change: a note on an old order delivers nothing.
        let is_delivered = matches!(order.status, Status::Delivered | Status::Completed);
        if is_delivered && order.delivered_at().is_some_and(|at| day.contains(&at)) {
            summary.delivered_today += 1;
        }
        if let Some(deadline) = late::missed(order, now) {
            summary.late[deadline as usize] += 1;
        }
    }
    summary
}

impl Summary {
    fn receive(&mut self, order: &Order) {
        self.received += 1;
        self.by_channel[order.channel as usize] += 1;
        let unpaid =
            matches!(order.status, Status::WaitingPayment | Status::PaymentExpired | Status::Cancelled);
        if !unpaid {
            self.revenue += order.total();
        }
    }

    /// Revenue by order, rounded up to cents.
    fn average_ticket(&self) -> Milli {
        Milli(self.revenue.0 / i64::from(self.received.max(1))).ceil_cents()
    }

    pub(crate) fn write(&self, json: &mut Json) {
        json.open_object();
        json.key("orders_received").count(u64::from(self.received));
        json.key("revenue").decimal(self.revenue, 2);
        json.key("average_ticket").decimal(self.average_ticket(), 2);
        json.key("by_status").open_object();
        json.key("preparing").count(self.preparing);
        json.key("ready_to_ship").count(self.ready_to_ship);
        json.key("shipped").count(self.shipped);
        json.key("delivered_today").count(self.delivered_today);
        json.close_object();
        json.key("by_channel").open_object();
        for channel in Channel::ALL {
            json.key(channel.wire()).count(self.by_channel[*channel as usize]);
        }
        json.close_object();
        json.key("late").open_object();
        json.key("nfe").count(self.late[Deadline::Nfe as usize]);
        json.key("picking").count(self.late[Deadline::Picking as usize]);
        json.key("production").count(self.late[Deadline::Production as usize]);
        json.key("boleto").count(self.late[Deadline::Boleto as usize]);
        json.close_object();
        json.close_object();
    }
}
