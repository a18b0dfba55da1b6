//! Webhooks as the seller's portal makes, changes, tests and deletes them.

use hyper::header::{HeaderName, HeaderValue};
use serde::Deserialize;

use super::{hook::Webhook, login, registry::Webhooks};
use crate::refusal::{FieldErrors, Refusal};

/// A webhook to make in the portal, or what to change about one.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NewWebhook {
    /// The address of the receiver; required for a new webhook.
    pub url: Option<String>,
    /// Events, families such as `order.*`, or `*`; required for a new webhook.
    pub events: Option<Vec<String>>,
    /// Headers to send with every delivery, in place of a default one of the same name.
    pub headers: Option<Vec<(String, String)>>,
    /// Whether anything is delivered; a new one delivers.
    pub active: Option<bool>,
}

/// Headers that make up the request itself.
const RESERVED: [&str; 4] = ["connection", "content-length", "host", "transfer-encoding"];

impl NewWebhook {
    fn check(&self, local: bool) -> Result<(), Refusal> {
        let mut errors = FieldErrors::new();
        if let Some(url) = &self.url {
            login::check_url("url", url, local, &mut errors);
        }
        if let Some(events) = &self.events {
            login::check_events("events", events.iter().map(String::as_str).collect(), &mut errors);
        }
        for (name, value) in self.headers.iter().flatten() {
            let is_reserved = RESERVED.iter().any(|reserved| name.eq_ignore_ascii_case(reserved));
            let is_valid = name.parse::<HeaderName>().is_ok() && HeaderValue::from_str(value).is_ok();
            if is_reserved || !is_valid {
                errors.add("headers", format!("O cabeçalho {name} não pode ser enviado."));
            }
        }
        errors.or(())
    }
}

impl Webhooks {
    /// Makes a webhook that belongs to a credential (positions of store and credential). `local` allows local
    /// receivers; the identifier and the secret are drawn from `seed` and `now`, in seconds.
    pub(super) fn add_in_portal(
        &self,
        (store, credential): (usize, usize),
        new: NewWebhook,
        local: bool,
        (seed, now): (u64, i64),
    ) -> Result<Webhook, Refusal> {
        new.check(local)?;
        let (Some(url), Some(events)) = (new.url, new.events) else {
            return Err(Refusal::Invalid(FieldErrors::one(
                "url",
                "Os campos url e events são obrigatórios.",
            )));
        };
        let (id, secret) = self.identity(seed, now);
        let (headers, active) = (new.headers.unwrap_or_default(), new.active.unwrap_or(true));
        let managed = false;
        let webhook = Webhook { id, store, credential, url, events, headers, secret, active, managed };
        self.add(webhook.clone());
        Ok(webhook)
    }

    /// Changes what is given about a webhook. One that the login made cannot be changed here.
    pub(super) fn edit_in_portal(&self, id: &str, change: NewWebhook, local: bool) -> Result<(), Refusal> {
        change.check(local)?;
        let edit = |webhook: &mut Webhook| {
            if webhook.managed {
                let text = "O webhook é gerenciado pela integração e não pode ser editado no portal.";
                return Err(Refusal::Conflict(text.to_owned()));
            }
            webhook.url = change.url.unwrap_or_else(|| webhook.url.clone());
            webhook.events = change.events.unwrap_or_else(|| webhook.events.clone());
            webhook.headers = change.headers.unwrap_or_else(|| webhook.headers.clone());
            webhook.active = change.active.unwrap_or(webhook.active);
            Ok(())
        };
        self.edit(id, edit).unwrap_or(Err(Refusal::NotFound))
    }
}
