//! The pages for people: server-rendered, each in one language, usable without a script, with nothing from elsewhere.
//!
//! Everything here is pure: a page is made of what its handler ([`crate::http`]) has read. `frame` is around every
//! page; `overview` is the first one, with `numbers`, `todo` (with `mending` and `sentence`), `chart` and `details`;
//! `listing` has the lists, `story` is the page of one thing; `sheet` is the one table of all.
//! The templates are in `crates/daemon/templates`; askama checks them at compile time and escapes what they show.

mod acting;
mod assets;
mod chart;
mod command;
mod command_lines;
mod details;
mod frame;
mod listing;
mod mending;
mod numbers;
mod overview;
#[cfg(test)]
mod page_tests;
mod reading;
mod record;
mod sentence;
mod sheet;
mod story;
mod todo;
mod words;

pub(crate) use acting::{confirm, login, question_address};
pub(crate) use assets::asset;
pub(crate) use frame::{Page, Reader};
pub(crate) use listing::{Filter, ROWS, deliveries, errors, found, only_answer, orders, queue};
pub(crate) use overview::{Overview, bounds, end_of_day, overview, unknown_store};
pub(crate) use reading::unread;
pub(crate) use record::{RowName, acts, shown_rows};
pub(crate) use story::{Story, no_such_page, story, unavailable, unknown_thing, which_store, with_nul};

use askama::Template;

/// Renders a template.
fn rendered(template: &impl Template) -> String {
    // Writing to a String cannot fail.
    template.render().unwrap_or_else(|error| error.to_string())
}
