//! GET the orders with an expired deadline.

use super::{
    Order,
    late::{self, Deadline},
    row,
};
use crate::{
    answer::Answer,
    call::Call,
    json::Json,
    paged_list::PagedList,
    query::{self, Page},
    refusal::{FieldErrors, Refusal},
    store::Store,
};

const PER_PAGE: usize = 20;
/// "`per_page` up to 50".
const MOST: usize = 50;

/// GET a page of them, the longest expired first; each order stands once, under the deadline that expired first.
pub(super) fn list(call: &Call) -> Result<Answer, Refusal> {
    let (store, options, now) = (call.store()?, call.options(), call.now());
    let mut page = page(&call.query)?;
    if options.ignore_page {
        page.number = 1;
    }
    let orders = store.orders();
    let mut stalled: Vec<(i64, Deadline, &Order)> = orders
        .iter()
        .filter_map(|order| late::first_missed(order, now).map(|(deadline, at)| (at, deadline, order)))
        .collect();
    stalled.sort_unstable_by(|(a, _, first), (b, _, second)| a.cmp(b).then(first.number.cmp(&second.number)));
    let paged = PagedList {
        shape: options.list_shape,
        numbers_as_strings: options.numbers_as_strings,
        page,
        total: stalled.len(),
        search: None,
        filters: &[],
    };
    Ok(paged.answer(|json| {
        for (at, deadline, order) in &stalled[page.range(stalled.len())] {
            write(json, order, store, *deadline, *at);
        }
    }))
}

fn page(query: &str) -> Result<Page, Refusal> {
    let mut errors = FieldErrors::new();
    let mut page = Page { number: 1, size: PER_PAGE };
    for (name, value) in query::pairs(query) {
        match &*name {
            "page" => {
                page.number = query::whole("page", &value, usize::MAX, &mut errors).unwrap_or(page.number);
            }
            "per_page" => {
                page.size = query::whole("per_page", &value, MOST, &mut errors).unwrap_or(page.size);
            }
            _ => {}
        }
    }
    errors.or(page)
}

fn write(json: &mut Json, order: &Order, store: &Store, deadline: Deadline, at: i64) {
    json.open_object();
    row::head(json, order);
    row::customer(json, order, store);
    row::amounts(json, order);
    json.key("reason").raw_text(deadline.wire());
    json.key("reason_label").text(deadline.label());
    json.key("deadline_at").time(at);
    row::dates(json, order);
    json.close_object();
}
