//! The sandbox as a client meets it: one file for each thing that it does, by the routes, the rules and the controls.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]
#![expect(clippy::disallowed_methods, reason = "the tests are an independent client of the sandbox")]

mod pictures;
mod support;

mod auth;
mod bad_days;
mod campaigns;
mod categories;
mod command;
mod credentials;
mod deliveries;
mod delivery_faults;
mod envelopes;
mod faults;
mod filters;
mod gallery;
mod items;
mod journal;
mod labels;
mod limits;
mod listings;
mod media;
mod olist;
mod opt_in;
mod order_bodies;
mod order_events;
mod order_fields;
mod order_overviews;
mod order_status;
mod order_views;
mod order_walks;
mod orders;
mod page;
mod possible_statuses;
mod price_lists;
mod prices;
mod product_events;
mod product_writes;
mod products;
mod shipments;
mod stock;
mod storage;
mod store_page;
mod substores;
mod walk;
mod webhooks;
mod workflows;
