//! The order routes.

use super::{
    book::{Book, Column, Sort},
    detail, enums,
    filter::{self, Filter, Listing},
    row, summary, transitions,
};
use crate::{
    answer::{Answer, Refusal},
    listing::Frame,
    options::Options,
    store::Store,
};

/// GET the listing.
pub(crate) fn list(store: &Store, options: &Options, now: i64, query: &str) -> Result<Answer, Refusal> {
    let mut listing =
        filter::parse(query, |code| store.product_of_listing(code)).map_err(Refusal::Invalid)?;
    if options.ignore_page {
        listing.page.number = 1;
    }
    if options.ignore_sort {
        listing.sort = Sort::DEFAULT;
    }
    let book = store.orders();
    let catalogue = store.catalogue();
    let (total, rows) = select(&book, store, &listing, now);
    let frame = Frame {
        shape: options.list_shape,
        numbers_as_strings: options.numbers_as_strings,
        page: listing.page,
        total,
        search: listing.search.as_deref(),
        filters: &listing.received,
    };
    Ok(frame.answer(|json| {
        for slot in rows {
            row::write(json, book.slot(slot), store, &catalogue);
        }
    }))
}

/// How many orders match, and the slots of the page.
fn select(book: &Book, store: &Store, listing: &Listing, now: i64) -> (usize, Vec<u32>) {
    let Listing { filter, sort, page, .. } = listing;
    let view = within_dates(book, filter, *sort);
    let cut = |slots: &[u32]| (slots.len(), slots[page.range(slots.len())].to_vec());
    if filter.is_dates_only() && (sort.column == Column::CreatedAt || no_dates(filter)) {
        return cut(view);
    }
    let matching = || {
        let matches = |slot: &&u32| filter.matches(book.slot(**slot), &store.people, now);
        view.iter().filter(matches).copied().collect()
    };
    match listing.timeless_key() {
        Some(key) => cut(&book.selection(&key, matching)),
        None => cut(&matching()),
    }
}

fn no_dates(filter: &Filter) -> bool {
    filter.from.is_none() && filter.until.is_none()
}

/// The part of a view that lies within the dates: found by halving, where the view is sorted by date.
fn within_dates<'a>(book: &'a Book, filter: &Filter, sort: Sort) -> &'a [u32] {
    let view = book.view(sort);
    if sort.column != Column::CreatedAt {
        return view;
    }
    let (from, until) = (filter.from.unwrap_or(i64::MIN), filter.until.unwrap_or(i64::MAX));
    let at = |slot: &u32| book.slot(*slot).created_at;
    let (start, end) = if sort.descending {
        (view.partition_point(|slot| at(slot) >= until), view.partition_point(|slot| at(slot) >= from))
    } else {
        (view.partition_point(|slot| at(slot) < from), view.partition_point(|slot| at(slot) < until))
    };
    view.get(start..end).unwrap_or(&[])
}

/// GET one order.
pub(crate) fn show(store: &Store, options: &Options, number: &str) -> Result<Answer, Refusal> {
    let book = store.orders();
    let order = book.get(number).ok_or(Refusal::NotFound)?;
    let catalogue = store.catalogue();
    Ok(Answer::success(options.numbers_as_strings, |json| match &order.raw {
        Some(raw) => json.raw(&raw.detail),
        None => detail::write(json, order, store, &catalogue),
    }))
}

/// GET what can be done with one order.
pub(crate) fn possible_statuses(store: &Store, number: &str) -> Result<Answer, Refusal> {
    let book = store.orders();
    let order = book.get(number).ok_or(Refusal::NotFound)?;
    Ok(Answer::success(false, |json| {
        json.open_object();
        json.key("current_status").raw_text(order.status.wire());
        json.key("workflow_type").raw_text(order.workflow.wire());
        json.key("next_actions").open_array();
        for action in transitions::next_actions(order.workflow, order.status) {
            action.write(json);
        }
        json.close_array();
        json.close_object();
    }))
}

/// GET the enums of orders.
pub(crate) fn all_enums() -> Answer {
    Answer::success(false, enums::write)
}

/// GET the statuses by workflow.
pub(crate) fn status_enum() -> Answer {
    Answer::success(false, enums::write_statuses_by_workflow)
}

/// GET the numbers of the day.
pub(crate) fn day_summary(store: &Store, options: &Options, now: i64) -> Answer {
    let summary = summary::of(store.orders().iter(), now);
    Answer::success(options.numbers_as_strings, |json| summary.write(json))
}
