//! `espelho sandbox`: the marketplace in a box.
//!
//! A strict stand-in for the Seller Integration API, written from the API document alone: what the document refuses, the
//! sandbox refuses, with the documented code and fields. It shares no type with the client that is tested against it, so
//! that one wrong field cannot cancel out on both sides.
//!
//! Reading order: [`Options`] (what can be chosen), [`start`] and [`Sandbox`] (the server), [`Control`] (what a test may do
//! behind the API's back), [`Stats`] (what the server saw), [`cli`] (the command line).
//!
//! # Where the document is silent
//!
//! * Page parameter of the order listing: `page`, from 1; `limit` up to 100, `per_page` of the product listing up to 100.
//! * `meta` of the listings: an option, [`ListShape`].
//! * `late`: `1`, `true`, `0`, `false`, or one of `nfe`, `picking`, `production`, `boleto`.
//! * A filter with a value outside its published list is a validation error; an empty value counts as absent.
//! * A *revoked* credential no longer logs in while its token lives on; an *inactive* one takes its token with it.
//! * Login attempts count whether they succeed or fail, in a minute that begins with the first; a login without its fields
//!   is told so first and is no attempt.
//! * A public route called with a valid token is counted against the token's limit, and carries the headers.
//! * Unknown paths and wrong methods (405 `METHOD_NOT_ALLOWED`) are told without looking at the token.
//! * A paid collective order offers no action (a background job moves it); the moves between production statuses are the
//!   plausible ones.
//! * The webhook of a login is `data.webhook`, with `secret` at its creation only.
//! * Dates are calendar days of Brasília, at the fixed offset of -03:00, both ends included.
//! * Errors of a transition's `data` stand under `data.` and the field (`data.reason`); where an action takes no data, what
//!   is sent is not looked at. Any confirmation code that is not empty is accepted.
//! * A manual `delivered` that is the carrier's to confirm is a validation error under `status`.
//! * Bulk transition: `{action, order_numbers, data}`; a result for each order, 200 even where some were refused. Left out
//!   of its ten actions: picked up, pickup expired, missing materials, production resumed, and the `paid` that is noise.
//! * An unpaid order expires after 3 days; jobs come round within 30 seconds; a cancelled order that was paid is refunded
//!   by such a job. Payment takes a pre-order to `awaiting_availability` and a backorder to `awaiting_restock`.
//! * Generated orders stand still: only what was placed, moved or touched since the start moves by itself.
//! * Shipments come into being with `preparing`. The seller's moves take them along; a scan of a shipment that the platform
//!   tracks ships its order, the arrival of the last one delivers it. Out for delivery is still `in_transit`.
//! * Fiscal documents can be issued from `preparing` on, production and terminal failures left out; `invoice_id` is a number.
//! * Stalled orders are sorted by the deadline that expired first: NF-e one day, picking two days after the last change,
//!   production seven days, boleto at its expiry.
//! * A line whose blocking ends in `committed` or `released` tells of it like any other; a new order's lines tell nothing.
//! * A parent with `store_orders_substores` reads single orders of its sub-stores; its listings and numbers are its own.
//! * The object storage refuses a request with an `Authorization` header (400), and gives label files out under a signature
//!   only; its refusals are XML, no limit counts what it is asked for, and fault rules know its requests as `GET storage`.
//! * A shipment's four labels are printed one after another; each is `pending` until its turn comes, `processing` during
//!   it. A label that failed is not pending either, and its download is refused like that of one that is not ready. A
//!   blocked shipment keeps the labels it has. `source` is always `platform`.
//! * An upload is judged by its first bytes and must be decodable, with sides of at most 10,000 pixels and at most 128 MB in
//!   memory; 2 MB are 2,097,152 bytes. A body that is no form, or has no file in `image`, is a validation error.
//! * Variations are squares: the whole picture in the middle, shrunk to fit and never enlarged, transparent around it.
//! * The listing of images is newest first, and has `page` like the others. Filters of other names are passed over.
//! * A product's gallery takes an image by 201 with the whole gallery; one that is not the store's is not found (404),
//!   one in use anywhere a conflict. A generated product's picture is the first of its gallery, and counts.
//! * Removing a logo or background answers 204 whether there was one or not; a new one answers 200 with the page. They are
//!   given out as they came.
//! * Four of five delivered or completed orders are rated; the history is by month of the order's last change.
//! * A product needs `name`, `sku` and `base_unit`; it is born without prices and stock, and its answer (201, or 200 of PUT) is
//!   the product. PUT is partial, but `dimensions` come as a whole or as null. Read-only fields are ignored, so that a
//!   product can be sent back as it came; of everything else, null and a wrong type are errors.
//! * Prices are answered tier by tier: 201, 200, and 204 of DELETE. An existing `min_quantity` is a validation error of POST,
//!   and so is removing the last tier, or the base tier before the others. A tier's price is from 0 to 99,999,999.999.
//! * Automatic prices are rounded up to a cent, but never above the base price; discounts have two decimals. Switching the
//!   mode off keeps prices and discounts, switching it on needs growing discounts on every tier that is there.
//! * `package_*` of the base tier and `discount_percent` in manual mode must be numbers, and are not looked at otherwise.
//! * A movement of stock answers the stock object. Stock may be set below what is reserved, and `available_quantity` is then
//!   below zero; it is never set below zero itself.
//! * `product_sku_id` is the product's `id`. `product.stock_updated` tells of the physical stock of one location;
//!   `stock.depleted` and `stock.restored` of what is available in all of them, so that a reservation depletes too.
//!   `product.price_updated` tells, for a tier that came or went, what its quantity cost before and costs now.
//! * `parent_id` or `departament_id` browses a level below the departments; an attribute has `section` and
//!   `value_definition {type, unit, values[{id, value}]}`; a combination has `attributes[]` as a variation takes them, and 50
//!   combinations are the most. Values are chosen by identifier or by text.
//! * A draft needs a `title`, and an existing category and images where it names any; whether it is ready is for the
//!   simulation alone to say, which wants at least one variation. Publishing a listing that is no draft is a validation
//!   error of `status`. `rejection_reason` stays until the next review.
//! * A family of events is subscribed to as `order.*`. A test reaches every active webhook of the token's credential,
//!   subscribed or not, and answers 202 `{queued_webhooks, total}`; without one, 422 `WEBHOOK_NOT_ACTIVE`.
//! * Deliveries are attempted at once, after 1 and after 5 more minutes, with the same bytes. The 30 minutes that the
//!   document names besides would belong to a fourth attempt. Redirects are not followed: they are failures.
//! * A webhook belongs to one credential in the portal too. Switching a managed webhook off is editing it: 409.
//! * Campaigns are dated around the day of the start. An active one is finished once its end has passed; one without an end
//!   is listed last. The calendar is sorted by `starts_at`.
//! * Joining: the deadline is looked at first, then 422 `CAMPAIGN_NOT_OPEN` for what is finished, cancelled or ended; drafts
//!   take listings. Unknown listings refuse the whole list by position; joining twice is joining once. The answer is
//!   `{campaign_id, enrolled, already_enrolled}`.
//! * Discounted prices are rounded up to cents and never below nothing; `per_page` of the campaign routes goes up to 100.
//! * Price lists: a new one stands behind the others from position 0; a body that is no object is refused; lists can be
//!   made and changed while the system is switched off. A missing feature is 403 and named in `errors`.
#![deny(missing_docs)]

mod agenda;
mod answer;
mod auth;
mod body;
mod call;
mod campaigns;
mod categories;
pub mod cli;
mod clock;
mod control;
mod error;
mod faults;
mod fields;
mod journal;
mod json;
mod labels;
mod limit;
mod listing;
mod listings;
mod media;
mod money;
mod olist;
mod openapi;
mod options;
mod orders;
mod page;
mod price_lists;
mod products;
mod query;
mod route;
mod seed;
mod server;
mod service;
mod session;
mod shipments;
mod stats;
mod storage;
mod store;
mod store_page;
mod text;
mod webhooks;
mod world;

pub use campaigns::{CampaignDiscount, NewCampaign};
pub use control::Control;
pub use error::Error;
pub use faults::{Fault, FaultRule};
pub use journal::{JournalEntry, JournalQuery};
pub use limit::Window;
pub use openapi::openapi;
pub use options::{ListShape, Now, Olist, OlistSplit, Options};
pub use orders::NewOrder;
pub use server::{Sandbox, start};
pub use stats::Stats;
pub use store::StoreAccess;
pub use webhooks::{
    DeliveryAttempt, DeliveryFault, DeliveryRule, NewOccurrence, NewWebhook, WebhookInfo, WebhookSecret,
};
