//! Webhooks: the subscriptions of stores, and the deliveries of events to them ("Events" of the document).
//!
//! Reading order: [`events`] (their names), [`hook`] (one webhook), [`registry`] (all of them), [`login`] and
//! [`portal`] (the two ways to make one), [`delivery`] and [`dispatch`] (what is sent, and when again), [`outbox`]
//! and [`sender`] (how), [`support_cases`] (occurrences and conversations), [`control`] (all of it behind the API's
//! back).

pub(crate) mod control;
pub(crate) mod control_endpoints;
pub(crate) mod delivery;
pub(crate) mod dispatch;
mod events;
mod history;
mod hook;
pub(crate) mod login;
mod outbox;
mod portal;
mod registry;
pub(crate) mod routes;
pub(crate) mod sender;
mod support_cases;

pub(crate) use self::registry::Webhooks;
pub use self::{
    control::WebhookSecret,
    delivery::{DeliveryFault, DeliveryRule},
    history::DeliveryAttempt,
    hook::WebhookInfo,
    portal::NewWebhook,
    support_cases::NewOccurrence,
};
