//! The filters of the order listing, read strictly.

use super::{
    Order,
    late::{self, Late},
    state::Sort,
    vocabulary::{Channel, OrderType, Status, StockStatus, Workflow},
};
use crate::{
    people::Person,
    query::{self, Page},
    refusal::FieldErrors,
    text,
    vocabulary::Word,
};

const DEFAULT_LIMIT: usize = 20;
const MAX_LIMIT: usize = 100;

/// A listing as it was asked for.
#[derive(Debug)]
pub(crate) struct Listing {
    pub(crate) filter: Filter,
    pub(crate) sort: Sort,
    pub(crate) page: Page,
    /// The search text as received.
    pub(crate) search: Option<String>,
    /// The filters as received, for the envelope that repeats them.
    pub(crate) received: Vec<(String, String)>,
}

/// The conditions that an order must meet to be listed.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    /// Sets of values; `None` lets everything pass.
    statuses: Option<u32>,
    channels: Option<u32>,
    stock: Option<u32>,
    kind: Option<OrderType>,
    workflow: Option<Workflow>,
    customer: Option<u32>,
    /// Position in the catalogue; an unknown listing code matches no line.
    item: Option<u32>,
    blocking: bool,
    /// First second of the first day.
    pub(crate) from: Option<i64>,
    /// First second after the last day.
    pub(crate) until: Option<i64>,
    late: Option<Late>,
    search: Option<String>,
}

/// Reads a query string; the refusal names every error at once.
pub(crate) fn parse(query: &str, listing_code: impl Fn(&str) -> Option<u32>) -> Result<Listing, FieldErrors> {
    let mut errors = FieldErrors::new();
    let mut listing = Listing {
        filter: Filter::default(),
        sort: Sort::DEFAULT,
        page: Page { number: 1, size: DEFAULT_LIMIT },
        search: None,
        received: Vec::new(),
    };
    for (name, value) in query::pairs(query) {
        match &*name {
            "limit" => {
                if let Some(size) = query::whole("limit", &value, MAX_LIMIT, &mut errors) {
                    listing.page.size = size;
                }
            }
            "page" => {
                if let Some(number) = query::whole("page", &value, usize::MAX, &mut errors) {
                    listing.page.number = number;
                }
            }
            "sort" => match Sort::parse(&value) {
                Some(sort) => listing.sort = sort,
                None => errors.add("sort", invalid("sort")),
            },
            "search" => {
                listing.filter.search = Some(text::fold(&value));
                listing.search = Some(value.into_owned());
            }
            "item_id" => listing.filter.item = Some(listing_code(&value).unwrap_or(u32::MAX)),
            name if listing.filter.set(name, &value, &mut errors) => {
                listing.received.push((name.to_owned(), value.into_owned()));
            }
            _ => {}
        }
    }
    if errors.is_empty() { Ok(listing) } else { Err(errors) }
}

fn invalid(name: &str) -> String {
    format!("O campo {name} selecionado é inválido.")
}

impl Listing {
    /// The key of this selection, without the page; `None` where the selection depends on the clock.
    pub(crate) fn timeless_key(&self) -> Option<String> {
        let Self { filter, sort, .. } = self;
        filter.late.is_none().then(|| format!("{filter:?} {sort:?}"))
    }
}

impl Filter {
    /// Takes one filter; whether the name is one of a filter at all. Unknown names are ignored, unknown values are not.
    fn set(&mut self, name: &str, value: &str, errors: &mut FieldErrors) -> bool {
        match name {
            "status" => self.statuses = set_of::<Status>("status", value, errors),
            "channel" => self.channels = set_of::<Channel>("channel", value, errors),
            "item_stock_status" => self.stock = set_of::<StockStatus>("item_stock_status", value, errors),
            "type" => self.kind = required("type", OrderType::parse(value), errors),
            "workflow" => self.workflow = required("workflow", Workflow::parse(value), errors),
            "late" => self.late = required("late", Late::parse(value), errors),
            "blocking_stock" => {
                self.blocking = required("blocking_stock", (value == "1").then_some(true), errors).is_some();
            }
            "customer_id" => self.customer = Some(Person::position(value).unwrap_or(u32::MAX)),
            "date_from" => self.from = date("date_from", value, errors),
            "date_to" => self.until = date("date_to", value, errors).map(|day| day + 86_400),
            _ => return false,
        }
        true
    }

    /// Whether the dates are all that is filtered by.
    pub(crate) fn is_dates_only(&self) -> bool {
        let Self {
            statuses, channels, stock, kind, workflow, customer, item, blocking, late, search, ..
        } = self;
        statuses.or(*channels).or(*stock).or(*customer).or(*item).is_none()
            && kind.is_none()
            && workflow.is_none()
            && !blocking
            && late.is_none()
            && search.is_none()
    }

    pub(crate) fn matches(&self, order: &Order, people: &[Person], now: i64) -> bool {
        self.from.is_none_or(|from| order.created_at >= from)
            && self.until.is_none_or(|until| order.created_at < until)
            && self.statuses.is_none_or(|set| set & order.status.bit() != 0)
            && self.channels.is_none_or(|set| set & order.channel.bit() != 0)
            && self.kind.is_none_or(|kind| kind == order.kind)
            && self.workflow.is_none_or(|workflow| workflow == order.workflow)
            && self.customer.is_none_or(|customer| customer == order.customer)
            && self.stock.is_none_or(|set| order.lines.iter().any(|line| set & line.stock.bit() != 0))
            && self.item.is_none_or(|item| order.lines.iter().any(|line| line.product == item))
            && (!self.blocking || order.lines.iter().any(|line| line.stock.is_blocking()))
            && self.late.is_none_or(|late| late.matches(late::missed(order, now)))
            && self.search.as_deref().is_none_or(|needle| found(needle, order, people))
    }
}

/// The search looks at the order number and the customer's name.
fn found(needle: &str, order: &Order, people: &[Person]) -> bool {
    let by_name = people.get(order.customer as usize).is_some_and(|person| person.folded.contains(needle));
    by_name || text::fold(&order.number).contains(needle)
}

fn required<T>(name: &'static str, value: Option<T>, errors: &mut FieldErrors) -> Option<T> {
    if value.is_none() {
        errors.add(name, invalid(name));
    }
    value
}

fn date(name: &'static str, value: &str, errors: &mut FieldErrors) -> Option<i64> {
    let day = text::day_start(value);
    if day.is_none() {
        errors.add(name, format!("O campo {name} não é uma data válida (AAAA-MM-DD)."));
    }
    day
}

/// A comma-separated list of values as a set.
fn set_of<W: Word>(name: &'static str, value: &str, errors: &mut FieldErrors) -> Option<u32> {
    let mut set = 0;
    for part in value.split(',').map(str::trim) {
        set |= required(name, W::parse(part), errors)?.bit();
    }
    Some(set)
}
