//! The order routes.

use super::{
    book::{Book, Column, Sort},
    bulk, dashboard, detail, enums,
    filter::{self, Filter, Listing},
    financial, fiscal, reach, row, stalled, summary, timeline, tracking, transitions, write,
};
use crate::{
    answer::{Answer, Refusal},
    call::Call,
    listing::Frame,
    route::{Access, Repeats, Route},
    store::Store,
};

/// The routes of this area.
pub(crate) const ROUTES: &[Route] = &[
    Route::get("/api/v1/sellers/orders", list).counted(Repeats::ListPage),
    Route::get("/api/v1/sellers/orders/enums", all_enums),
    Route::get("/api/v1/sellers/orders/summary", day_summary),
    Route::get("/api/v1/sellers/orders/stalled", stalled::list),
    Route::get("/api/v1/sellers/orders/dashboard", dashboard::show),
    Route::post("/api/v1/sellers/orders/bulk/transition", bulk::transition),
    Route::get("/api/v1/sellers/orders/{id}", show).counted(Repeats::Detail),
    Route::get("/api/v1/sellers/orders/{id}/possible-statuses", possible_statuses),
    Route::post("/api/v1/sellers/orders/{id}/status", write::status),
    Route::get("/api/v1/sellers/orders/{id}/tracking", tracking::show),
    Route::get("/api/v1/sellers/orders/{id}/events", timeline::show),
    Route::get("/api/v1/sellers/orders/{id}/financial", financial::show),
    Route::put("/api/v1/sellers/orders/{id}/notes", write::notes),
    Route::get("/api/v1/sellers/orders/{id}/fiscal", fiscal::show),
    Route::get("/api/global/enums/order/status", status_enum).access(Access::Public),
];

/// GET the listing.
fn list(call: &Call) -> Result<Answer, Refusal> {
    let (store, options, now) = (call.store()?, call.options(), call.now());
    let mut listing =
        filter::parse(&call.query, |code| store.product_of_listing(code)).map_err(Refusal::Invalid)?;
    if options.ignore_page {
        listing.page.number = 1;
    }
    if options.ignore_sort {
        listing.sort = Sort::DEFAULT;
    }
    let book = store.shown_orders();
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
fn show(call: &Call) -> Result<Answer, Refusal> {
    show_own(call, reach::readable(call)?)
}

/// The order of a call, which is one of this store.
pub(super) fn show_own(call: &Call, store: &Store) -> Result<Answer, Refusal> {
    let options = call.options();
    let book = store.shown_orders();
    let order = book.get(call.id(0)).ok_or(Refusal::NotFound)?;
    let catalogue = store.catalogue();
    Ok(Answer::success(options.numbers_as_strings, |json| match &order.raw {
        Some(raw) => json.raw(&raw.detail),
        None => detail::write(json, order, store, &catalogue),
    }))
}

/// GET what can be done with one order.
fn possible_statuses(call: &Call) -> Result<Answer, Refusal> {
    let book = reach::readable(call)?.orders();
    let order = book.get(call.id(0)).ok_or(Refusal::NotFound)?;
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
fn all_enums(_: &Call) -> Result<Answer, Refusal> {
    Ok(Answer::success(false, enums::write))
}

/// GET the statuses by workflow.
fn status_enum(_: &Call) -> Result<Answer, Refusal> {
    Ok(Answer::success(false, enums::write_statuses_by_workflow))
}

/// GET the numbers of the day.
fn day_summary(call: &Call) -> Result<Answer, Refusal> {
    let summary = summary::of(call.store()?.orders().iter(), call.now());
    Ok(Answer::success(call.options().numbers_as_strings, |json| summary.write(json)))
}
