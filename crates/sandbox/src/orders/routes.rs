//! The order routes.

use super::{
    bulk, dashboard, enums,
    filter::{self, Filter, Listing},
    financial, fiscal, row, show,
    shown::shown_orders,
    stalled,
    state::{Column, Orders, Sort},
    summary, timeline, tracking, transitions, visibility, write,
};
use crate::{
    answer::Answer,
    call::Call,
    listings::codes,
    paged_list::PagedList,
    refusal::Refusal,
    route::{Access, Route},
    stats::Repeats,
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
    Route::get("/api/v1/sellers/orders/{id}", show::show).counted(Repeats::Detail),
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
        filter::parse(&call.query, |code| codes::product_of(store.id, code)).map_err(Refusal::Invalid)?;
    if options.ignore_page {
        listing.page.number = 1;
    }
    if options.ignore_sort {
        listing.sort = Sort::DEFAULT;
    }
    let orders = shown_orders(store);
    let catalogue = store.catalogue();
    let (total, rows) = select(&orders, store, &listing, now);
    let paged = PagedList {
        shape: options.list_shape,
        numbers_as_strings: options.numbers_as_strings,
        page: listing.page,
        total,
        search: listing.search.as_deref(),
        filters: &listing.received,
    };
    Ok(paged.answer(|json| {
        for slot in rows {
            row::write(json, orders.slot(slot), store, &catalogue);
        }
    }))
}

/// How many orders match, and the slots of the page.
fn select(orders: &Orders, store: &Store, listing: &Listing, now: i64) -> (usize, Vec<u32>) {
    let Listing { filter, sort, page, .. } = listing;
    let view = within_dates(orders, filter, *sort);
    let cut = |slots: &[u32]| (slots.len(), slots[page.range(slots.len())].to_vec());
    if filter.is_dates_only() && (sort.column == Column::CreatedAt || no_dates(filter)) {
        return cut(view);
    }
    let matching = || {
        let matches = |slot: &&u32| filter.matches(orders.slot(**slot), &store.people, now);
        view.iter().filter(matches).copied().collect()
    };
    match listing.timeless_key() {
        Some(key) => cut(&orders.selection(&key, matching)),
        None => cut(&matching()),
    }
}

fn no_dates(filter: &Filter) -> bool {
    filter.from.is_none() && filter.until.is_none()
}

/// The part of a view that lies within the dates: found by halving, where the view is sorted by date.
fn within_dates<'a>(orders: &'a Orders, filter: &Filter, sort: Sort) -> &'a [u32] {
    let view = orders.view(sort);
    if sort.column != Column::CreatedAt {
        return view;
    }
    let (from, until) = (filter.from.unwrap_or(i64::MIN), filter.until.unwrap_or(i64::MAX));
    let at = |slot: &u32| orders.slot(*slot).created_at;
    let (start, end) = if sort.descending {
        (view.partition_point(|slot| at(slot) >= until), view.partition_point(|slot| at(slot) >= from))
    } else {
        (view.partition_point(|slot| at(slot) < from), view.partition_point(|slot| at(slot) < until))
    };
    view.get(start..end).unwrap_or(&[])
}

/// GET what can be done with one order.
fn possible_statuses(call: &Call) -> Result<Answer, Refusal> {
    let orders = visibility::readable(call)?.orders();
    let order = orders.get(call.id(0)).ok_or(Refusal::NotFound)?;
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
