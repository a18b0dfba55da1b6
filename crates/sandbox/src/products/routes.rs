//! The product routes.

use super::{Unit, edit, move_stock, prices, show};
use crate::{
    answer::Answer,
    call::Call,
    paged_list::PagedList,
    query::{self, Page},
    refusal::{FieldErrors, Refusal},
    route::{Access, Route},
    stats::Repeats,
};

const READ: Access = Access::StrictAbility("store_products_read");
const WRITE: Access = Access::StrictAbility("store_products_write");

/// The routes of this area.
pub(crate) const ROUTES: &[Route] = &[
    Route::get("/api/products", list).access(READ).counted(Repeats::ListPage),
    Route::post("/api/products", edit::create).access(WRITE),
    Route::get("/api/products/{id}", show::show).access(READ).counted(Repeats::Detail),
    Route::put("/api/products/{id}", edit::update).access(WRITE),
    Route::get("/api/products/{id}/prices", show::show_prices).access(READ),
    Route::post("/api/products/{id}/prices", prices::add).access(WRITE),
    Route::put("/api/products/{id}/prices/{min_quantity}", prices::change).access(WRITE),
    Route::delete("/api/products/{id}/prices/{min_quantity}", prices::remove).access(WRITE),
    Route::get("/api/products/{id}/stock", show::show_stock).access(READ),
    Route::post("/api/products/{id}/stock", move_stock::set).access(WRITE),
    Route::get("/api/global/enums/product/units", unit_enum),
];

const DEFAULT_PER_PAGE: usize = 15;
const MAX_PER_PAGE: usize = 100;
const MAX_PAGE: usize = u32::MAX as usize;

/// GET the listing.
fn list(call: &Call) -> Result<Answer, Refusal> {
    let (store, options) = (call.store()?, call.options());
    let mut page = page(&call.query).map_err(Refusal::Invalid)?;
    if options.ignore_page {
        page.number = 1;
    }
    let catalogue = store.catalogue();
    let listed = catalogue.listed();
    let paged = PagedList {
        shape: options.list_shape,
        numbers_as_strings: options.numbers_as_strings,
        page,
        total: listed.len(),
        search: None,
        filters: &[],
    };
    Ok(paged.answer(|json| {
        for slot in &listed[page.range(listed.len())] {
            catalogue.slot(*slot).write(json, &catalogue);
        }
    }))
}

fn page(query: &str) -> Result<Page, FieldErrors> {
    let mut errors = FieldErrors::new();
    let mut page = Page { number: 1, size: DEFAULT_PER_PAGE };
    for (name, value) in query::pairs(query) {
        match &*name {
            "page" => {
                page.number = query::whole("page", &value, MAX_PAGE, &mut errors).unwrap_or(page.number);
            }
            "per_page" => {
                page.size = query::whole("per_page", &value, MAX_PER_PAGE, &mut errors).unwrap_or(page.size);
            }
            _ => {}
        }
    }
    if errors.is_empty() { Ok(page) } else { Err(errors) }
}

/// GET the units.
fn unit_enum(_: &Call) -> Result<Answer, Refusal> {
    Ok(Answer::success(false, |json| crate::orders::write_words(json, Unit::ALL)))
}
