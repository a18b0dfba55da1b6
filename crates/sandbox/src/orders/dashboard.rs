//! GET the evolution of a period of days, today being its last.

use super::{
    Order, row,
    state::{Orders, Sort},
    vocabulary::Status,
};
use crate::{
    answer::Answer,
    call::Call,
    json::Json,
    money::Milli,
    products::Catalogue,
    query,
    refusal::{FieldErrors, Refusal},
    store::Store,
    text,
};

const DAYS: usize = 30;
const MOST: usize = 365;
/// How many of the newest orders are shown.
const RECENT: usize = 10;
const DAY: i64 = 86_400;

/// The counts of one day or of several.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sold: u64,
    pending: u64,
    cancelled: u64,
    revenue: Milli,
}

/// GET it; `days` counts back from today.
pub(super) fn show(call: &Call) -> Result<Answer, Refusal> {
    let store = call.store()?;
    let days = days(&call.query)?;
    let first = text::day_of(call.now()) - (days as i64 - 1) * DAY;
    let orders = store.orders();
    let catalogue = store.catalogue();
    let by_day = by_day(&orders, first, days);
    let current = sum(&by_day[days..]);
    let previous = sum(&by_day[..days]);
    Ok(Answer::success(call.options().numbers_as_strings, |json| {
        json.open_object();
        json.key("days").count(days as u64);
        daily(json, first, &by_day[days..]);
        current.write(json.key("totals"));
        comparison(json, current, previous);
        recent(json, &orders, store, &catalogue);
        json.close_object();
    }))
}

fn days(query: &str) -> Result<usize, Refusal> {
    let mut errors = FieldErrors::new();
    let mut days = DAYS;
    for (_, value) in query::pairs(query).filter(|(name, _)| name == "days") {
        days = query::whole("days", &value, MOST, &mut errors).unwrap_or(days);
    }
    errors.or(days)
}

/// The days of the previous period, then those of this one.
fn by_day(orders: &Orders, first: i64, days: usize) -> Vec<Counts> {
    let start = first - days as i64 * DAY;
    let mut counts = vec![Counts::default(); days * 2];
    for order in orders.iter() {
        let day = usize::try_from((order.created_at - start).div_euclid(DAY)).ok();
        if let Some(day) = day.and_then(|day| counts.get_mut(day)) {
            day.add(order);
        }
    }
    counts
}

fn sum(days: &[Counts]) -> Counts {
    days.iter().fold(Counts::default(), |sum, day| Counts {
        sold: sum.sold + day.sold,
        pending: sum.pending + day.pending,
        cancelled: sum.cancelled + day.cancelled,
        revenue: sum.revenue + day.revenue,
    })
}

impl Counts {
    fn add(&mut self, order: &Order) {
        match order.status {
            Status::WaitingPayment => self.pending += 1,
            Status::Cancelled | Status::PaymentExpired => self.cancelled += 1,
            _ => {
                self.sold += 1;
                self.revenue += order.total();
            }
        }
    }

    fn average_ticket(self) -> Milli {
        Milli(self.revenue.0 / (self.sold.max(1) as i64)).ceil_cents()
    }

    fn write(self, json: &mut Json) {
        json.open_object();
        self.write_fields(json);
        json.key("average_ticket").decimal(self.average_ticket(), 2);
        json.close_object();
    }

    fn write_fields(self, json: &mut Json) {
        json.key("sold").count(self.sold);
        json.key("pending").count(self.pending);
        json.key("cancelled").count(self.cancelled);
        json.key("revenue").decimal(self.revenue, 2);
    }
}

fn daily(json: &mut Json, first: i64, days: &[Counts]) {
    json.key("daily").open_array();
    for (at, day) in (0..).zip(days) {
        json.open_object();
        json.key("date").raw_text(&date(first + at * DAY));
        day.write_fields(json);
        json.close_object();
    }
    json.close_array();
}

/// The calendar day of an instant.
fn date(seconds: i64) -> String {
    let mut text = Vec::new();
    text::push_time(&mut text, seconds);
    text.truncate(10);
    String::from_utf8(text).unwrap_or_default()
}

/// The period of equal length before this one, and how far this one is from it.
fn comparison(json: &mut Json, current: Counts, previous: Counts) {
    json.key("comparison").open_object();
    previous.write(json.key("previous"));
    json.key("sold_change_percent");
    change(json, current.sold as i64, previous.sold as i64);
    json.key("revenue_change_percent");
    change(json, current.revenue.0, previous.revenue.0);
    json.close_object();
}

/// There is no percentage of nothing.
fn change(json: &mut Json, current: i64, previous: i64) {
    if previous == 0 {
        json.null();
        return;
    }
    let thousandths = (i128::from(current) - i128::from(previous)) * 100_000 / i128::from(previous);
    json.decimal(Milli(i64::try_from(thousandths).unwrap_or(i64::MAX)), 2);
}

fn recent(json: &mut Json, orders: &Orders, store: &Store, catalogue: &Catalogue) {
    json.key("recent_orders").open_array();
    for slot in orders.view(Sort::DEFAULT).iter().take(RECENT) {
        row::write(json, orders.slot(*slot), store, catalogue);
    }
    json.close_array();
}
