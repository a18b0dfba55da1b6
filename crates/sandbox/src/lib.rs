//! `espelho sandbox`: the marketplace in a box.
//!
//! A strict stand-in for the Seller Integration API, written from the API document alone: it refuses what the document
//! refuses, with the documented code and fields. It shares no type with the client under test, so that one wrong field
//! cannot cancel out on both sides.
//!
//! Reading order: [`Options`], [`start`] and [`Sandbox`] (the server), [`Control`] (what a test may do behind the API's
//! back), [`Stats`] (the numbers of the server), [`cli`] (the command line).
//!
//! # Layers
//!
//! Lowest first; a module imports lower ones only.
//!
//! 1. Values: `money`, `text`, `clock`, `json`, `vocabulary`, `refusal`, `request_body`, `query`, `event`, `random`.
//! 2. Rules and state of each area: `orders`, `products`, `shipments`, `listings`, `labels`, `media`, `campaigns`,
//!    `price_lists`, `webhooks`, `auth`. A change returns its events as data.
//! 3. `store` (the state of one store) and `world` (all stores, tokens, faults, statistics, the agenda).
//! 4. Services: `announce`, `webhooks::dispatch`, `orders::service`, `labels::generation`, `media::retention`. They
//!    lock, change, announce the events, and schedule what follows.
//! 5. The routes and the control endpoints of each area; `route_table` and `control::endpoints` list them.
//! 6. `pipeline` (the checks of a request), `server`, `cli`.
//!
//! # Where the document is silent
//!
//! * The order listing has `page`, from 1, and `limit` up to 100; the product listing has `per_page` up to 100.
//! * `meta` of the listings is an option, [`ListShape`].
//! * `late` is `1`, `true`, `0`, `false`, or one of `nfe`, `picking`, `production`, `boleto`.
//! * A filter with a value outside its published list is a validation error; an empty value counts as absent.
//! * A *revoked* credential no longer logs in, but its token lives on; an *inactive* one takes its token with it.
//! * Every login attempt counts, successful or not, in a minute that begins with the first. A login without its
//!   fields is a validation error and no attempt.
//! * A call of a public route with a valid token counts against the token's limit, and has the limit's headers.
//! * The answer to an unknown path (404) or a wrong method (405 `METHOD_NOT_ALLOWED`) does not depend on the token.
//! * A paid collective order offers no action: a background job moves it. The moves between production statuses are the
//!   plausible ones.
//! * The login answers its webhook in `data.webhook`, with `secret` at its creation only.
//! * Dates are calendar days of Brasília, at the fixed offset of -03:00; ranges include both ends.
//! * Errors of a transition's `data` stand under `data.` and the field (`data.reason`). Where an action takes no
//!   data, the route ignores `data`. Every confirmation code that is not empty is accepted.
//! * A manual `delivered` that only the carrier may confirm is a validation error of `status`.
//! * The bulk transition takes `{action, order_numbers, data}` and answers 200 with a result for each order. It does
//!   not take five actions: picked up, pickup expired, missing materials, production resumed, and `paid`.
//! * An unpaid order expires after 3 days. Jobs run within 30 seconds. A job refunds a cancelled order that was paid.
//!   Payment takes a pre-order to `awaiting_availability` and a backorder to `awaiting_restock`.
//! * Generated orders stand still: jobs move only orders that were placed or changed since the start.
//! * Shipments begin with `preparing` and follow the seller's moves. A scan of a shipment that the platform tracks
//!   ships its order; the arrival of the last shipment delivers it. Out for delivery is still `in_transit`.
//! * Fiscal documents can be issued from `preparing` on, but not during production or after a terminal failure.
//!   `invoice_id` is a number.
//! * Stalled orders are sorted by the deadline that expired first. The deadlines are one day for the NF-e, two days
//!   after the last change for picking, seven days for production, and the expiry of the boleto.
//! * A line that ceases to block because it is `committed` or `released` has its event like any other. The lines of a
//!   new order have none.
//! * A parent with `store_orders_substores` reads single orders of its sub-stores; its listings and numbers are its
//!   own.
//! * The object storage refuses a request with an `Authorization` header (400), and serves label files only with a
//!   signature. Its refusals are XML, no limit counts its requests, and fault rules know them as `GET storage`.
//! * A shipment's four labels are printed one after another: each is `pending`, then `processing`. A failed label is
//!   not pending, and its download is refused like the download of a label that is not ready. A blocked shipment
//!   keeps its labels. `source` is always `platform`.
//! * The first bytes of an upload decide its format. It must be decodable, with sides of at most 10,000 pixels and at
//!   most 128 MB in memory; 2 MB are 2,097,152 bytes. A body that is no form, or has no file in `image`, is a
//!   validation error.
//! * Variations are squares: the whole picture in the middle, shrunk to fit and never enlarged, transparent around it.
//! * The listing of images is newest first, and has `page` like the others. Unknown filters are ignored.
//! * POST of a gallery image answers 201 with the whole gallery. An image of another store is not found (404); an
//!   image in use is a conflict. The picture of a generated product is the first of its gallery, and counts.
//! * DELETE of a logo or background answers 204, with or without a picture; POST answers 200 with the page. The
//!   storage serves them unchanged.
//! * Buyers rate four of five delivered or completed orders; the history is by month of the order's last change.
//! * A product needs `name`, `sku` and `base_unit`, and begins without prices and stock. POST (201) and PUT (200)
//!   answer the product. PUT is partial, but `dimensions` come as a whole or as null. Read-only fields are ignored,
//!   so that a client can send back what it read; for every other field, null and a wrong type are errors.
//! * Price routes answer the tier: 201 of POST, 200 of PUT, 204 of DELETE. POST of an existing `min_quantity` is a
//!   validation error, and so is the removal of the last tier, or of the base tier before the others. A tier's price
//!   is from 0 to 99,999,999.999.
//! * Automatic prices are rounded up to a cent, but never above the base price; discounts have two decimals.
//!   Switching the mode off keeps prices and discounts; switching it on needs growing discounts on every tier.
//! * `package_*` of the base tier and `discount_percent` in manual mode must be numbers, and have no effect.
//! * A movement of stock answers the stock object. Stock may be set below the reserved quantity, and
//!   `available_quantity` is then below zero; stock itself is never below zero.
//! * `product_sku_id` is the product's `id`. `product.stock_updated` reports the physical stock of one location;
//!   `stock.depleted` and `stock.restored` report the available stock of all locations, so that a reservation
//!   depletes too. `product.price_updated` reports, for a tier that came or went, the price of its quantity before
//!   and now.
//! * `parent_id` or `departament_id` browses a level below the departments. An attribute has `section` and
//!   `value_definition {type, unit, values[{id, value}]}`. A combination has `attributes[]` in the form that a
//!   variation takes; 50 combinations are the most. A value is chosen by identifier or by text.
//! * A draft needs a `title`, and an existing category and images where it names any. Only the simulation says
//!   whether it is ready, which needs at least one variation. Publishing a listing that is no draft is a validation
//!   error of `status`. `rejection_reason` stays until the next review.
//! * `order.*` subscribes to a family of events. A test goes to every active webhook of the token's credential,
//!   subscribed or not, and answers 202 `{queued_webhooks, total}`; without one, 422 `WEBHOOK_NOT_ACTIVE`.
//! * A delivery is attempted at once, after 1 and after 5 more minutes, with the same bytes. The document also names 30
//!   minutes, which would belong to a fourth attempt. A redirect is a failure.
//! * In the portal, too, a webhook belongs to one credential. Switching a managed webhook off is an edit: 409.
//! * Campaigns are dated around the day of the start. An active campaign whose end has passed is finished; one
//!   without an end is listed last. The calendar is sorted by `starts_at`.
//! * Joining checks the deadline first, then answers 422 `CAMPAIGN_NOT_OPEN` for a finished, cancelled or ended
//!   campaign; drafts take listings. One unknown listing refuses the whole list, by position; joining twice is
//!   joining once. The answer is `{campaign_id, enrolled, already_enrolled}`.
//! * Discounted prices are rounded up to cents and never below zero; `per_page` of the campaign routes goes up to 100.
//! * A new price list stands behind the others, from position 0. A body that is no object is refused. Lists can be
//!   made and changed while the feature is switched off in the settings. A missing feature is 403, named in `errors`.
#![deny(missing_docs)]

mod agenda;
mod announce;
mod answer;
mod auth;
mod body;
mod call;
mod campaigns;
mod categories;
pub mod cli;
mod clock;
mod company;
mod control;
mod error;
mod event;
mod faults;
mod home_page;
mod journal;
mod json;
mod labels;
mod limit;
mod listings;
mod media;
mod money;
mod olist;
mod openapi;
mod options;
mod orders;
mod paged_list;
mod people;
mod pipeline;
mod price_lists;
mod products;
mod query;
mod random;
mod refusal;
mod request_body;
mod response;
mod route;
mod route_table;
mod seed;
mod server;
mod session;
mod shipments;
mod stats;
mod storage;
mod store;
mod store_page;
mod text;
mod vocabulary;
mod webhooks;
mod world;

pub use campaigns::{CampaignDiscount, NewCampaign};
pub use control::{
    Control,
    handles::{
        CampaignsControl, CredentialsControl, FaultsControl, LabelsControl, ListingsControl, MediaControl,
        OrdersControl, ProductsControl, ShipmentsControl, SupportCasesControl, WebhooksControl,
    },
};
pub use error::Error;
pub use faults::{Fault, FaultRule, Spoil};
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
