//! The campaign routes.

use super::opt_in::opt_in;
use crate::{
    answer::Answer,
    call::Call,
    json::Json,
    listings,
    options::ListShape,
    paged_list::PagedList,
    query::{self, Page},
    refusal::{FieldErrors, Refusal},
    route::{Access, Route},
    text,
};

const READ: Access = Access::Ability("store_products_read");
const WRITE: Access = Access::Ability("store_products_write");

/// The routes of this area.
pub(crate) const ROUTES: &[Route] = &[
    Route::get("/api/seller/discounts/campaigns/calendar", calendar).access(READ),
    Route::get("/api/seller/discounts/campaigns/summary", summary).access(READ),
    Route::get("/api/seller/discounts/campaigns/{id}", show).access(READ),
    Route::get("/api/seller/discounts/campaigns/{id}/eligible-products", eligible).access(READ),
    Route::get("/api/seller/discounts/campaigns/{id}/my-products", enrolled).access(READ),
    Route::post("/api/seller/discounts/campaigns/{id}/opt-in", opt_in).access(WRITE),
];

const DEFAULT_PER_PAGE: usize = 15;
const MAX_PER_PAGE: usize = 100;

/// The entries of `upcoming_deadlines`.
const MAX_DEADLINES: usize = 5;

/// GET the campaigns that have not ended.
fn calendar(call: &Call) -> Result<Answer, Refusal> {
    let (page, _) = listing(call)?;
    let state = call.world.campaigns.lock();
    let open = state.calendar(call.now());
    Ok(paged(call, page, open.len(), None, |json| {
        for campaign in &open[page.range(open.len())] {
            campaign.write(json, call.now());
        }
    }))
}

/// GET the numbers.
fn summary(call: &Call) -> Result<Answer, Refusal> {
    let (store, now) = (call.store()?.id, call.now());
    let state = call.world.campaigns.lock();
    let joined: Vec<usize> = state
        .campaigns
        .keys()
        .map(|id| state.enrolled(*id, store).len())
        .filter(|count| *count > 0)
        .collect();
    Ok(Answer::success(call.options().numbers_as_strings, |json| {
        json.open_object();
        json.key("active_campaigns").count(state.calendar(now).len() as u64);
        json.key("joined_campaigns").count(joined.len() as u64);
        json.key("enrolled_products").count(joined.iter().sum::<usize>() as u64);
        json.key("upcoming_deadlines").open_array();
        for (deadline, campaign) in state.deadlines(now).into_iter().take(MAX_DEADLINES) {
            json.open_object();
            json.key("id").id(campaign.id);
            json.key("name").text(&campaign.name);
            json.key("opt_in_deadline").time(deadline);
            json.close_object();
        }
        json.close_array();
        json.close_object();
    }))
}

/// GET one campaign.
fn show(call: &Call) -> Result<Answer, Refusal> {
    let state = call.world.campaigns.lock();
    let campaign = state.find(call.id(0)).ok_or(Refusal::NotFound)?;
    let strings = call.options().numbers_as_strings;
    Ok(Answer::success(strings, |json| campaign.write(json, call.now())))
}

/// GET the store's active listings that are not in the campaign.
fn eligible(call: &Call) -> Result<Answer, Refusal> {
    let store = call.store()?;
    let offers = listings::active(store);
    let state = call.world.campaigns.lock();
    let campaign = state.find(call.id(0)).ok_or(Refusal::NotFound)?;
    let (page, search) = listing(call)?;
    let needle = search.as_deref().map(text::fold);
    let joined: std::collections::HashSet<&str> =
        state.enrolled(campaign.id, store.id).iter().map(|enrollment| enrollment.item_id.as_str()).collect();
    let rows: Vec<_> = offers
        .iter()
        .filter(|offer| !joined.contains(offer.item_id.as_str()))
        .filter(|offer| {
            let holds = |text: &str, needle: &str| text::fold(text).contains(needle);
            needle
                .as_deref()
                .is_none_or(|needle| holds(&offer.title, needle) || holds(&offer.item_id, needle))
        })
        .collect();
    Ok(paged(call, page, rows.len(), search.as_deref(), |json| {
        for offer in &rows[page.range(rows.len())] {
            offer.write(json, campaign.discount);
        }
    }))
}

/// GET the store's listings that are in the campaign.
fn enrolled(call: &Call) -> Result<Answer, Refusal> {
    let store = call.store()?;
    let state = call.world.campaigns.lock();
    let campaign = state.find(call.id(0)).ok_or(Refusal::NotFound)?;
    let (page, _) = listing(call)?;
    let rows = state.enrolled(campaign.id, store.id);
    Ok(paged(call, page, rows.len(), None, |json| {
        for enrollment in &rows[page.range(rows.len())] {
            enrollment.write(json);
        }
    }))
}

/// The page asked for, and what is searched for.
fn listing(call: &Call) -> Result<(Page, Option<String>), Refusal> {
    let mut errors = FieldErrors::new();
    let mut page = Page { number: 1, size: DEFAULT_PER_PAGE };
    let mut search = None;
    for (name, value) in query::pairs(&call.query) {
        match &*name {
            "page" => page.number = query::whole("page", &value, usize::MAX, &mut errors).unwrap_or(1),
            "per_page" => {
                page.size = query::whole("per_page", &value, MAX_PER_PAGE, &mut errors).unwrap_or(1);
            }
            "search" => search = Some(value.into_owned()),
            _ => {}
        }
    }
    if call.options().ignore_page {
        page.number = 1;
    }
    errors.or((page, search))
}

/// The paginated envelope, which these routes always have; [`ListShape`] changes the other listings only.
fn paged(
    call: &Call,
    page: Page,
    total: usize,
    search: Option<&str>,
    rows: impl FnOnce(&mut Json),
) -> Answer {
    let numbers_as_strings = call.options().numbers_as_strings;
    let paged =
        PagedList { shape: ListShape::Envelope, numbers_as_strings, page, total, search, filters: &[] };
    paged.answer(rows)
}
