//! One webhook: its address, its events, and the signature of its deliveries.

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::Sha256;

use super::events;

/// `managed_by` of a webhook that the login made.
pub(crate) const MANAGER: &str = "integration_auth";

/// A webhook. It belongs to one credential of one store.
#[derive(Clone, Debug)]
pub(crate) struct Webhook {
    /// A UUID.
    pub(crate) id: String,
    /// Position of the store.
    pub(crate) store: usize,
    /// Position of the credential in it.
    pub(crate) credential: usize,
    pub(crate) url: String,
    pub(crate) events: Vec<String>,
    /// Sent with every delivery, in place of a default header of the same name.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) secret: String,
    pub(crate) active: bool,
    /// Whether the login made it, so that the portal may only delete it.
    pub(crate) managed: bool,
}

/// A webhook as the portal lists it: without its secret, which is shown once only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WebhookInfo {
    /// A UUID.
    pub id: String,
    /// The address of the receiver.
    pub url: String,
    /// Its subscriptions: events, families such as `order.*`, or `*`.
    pub events: Vec<String>,
    /// Whether anything is delivered.
    pub active: bool,
    /// `integration_auth` for a webhook that the login made.
    pub managed_by: Option<&'static str>,
}

impl Webhook {
    pub(crate) fn subscribes(&self, event: &str) -> bool {
        self.active && self.events.iter().any(|wanted| events::covers(wanted, event))
    }

    pub(crate) fn info(&self) -> WebhookInfo {
        WebhookInfo {
            id: self.id.clone(),
            url: self.url.clone(),
            events: self.events.clone(),
            active: self.active,
            managed_by: self.managed.then_some(MANAGER),
        }
    }

    /// The webhook as the login answers it; the secret is shown at its creation only.
    pub(crate) fn shown(&self, with_secret: bool) -> Value {
        let mut shown = json!(self.info());
        if let Value::Object(fields) = &mut shown
            && with_secret
        {
            fields.insert("secret".to_owned(), self.secret.clone().into());
        }
        shown
    }

    /// The value of `X-Webhook-Signature` for a body.
    pub(crate) fn signature(&self, body: &[u8]) -> String {
        signature(&self.secret, body)
    }
}

/// HMAC-SHA256 of the raw body keyed with the secret, as `sha256=<hex>`.
pub(crate) fn signature(secret: &str, body: &[u8]) -> String {
    // A key of any length is fine for an HMAC, so that there is always one.
    let mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).map(|mac| mac.chain_update(body));
    mac.map_or_else(
        |_| "sha256=".to_owned(),
        |mac| format!("sha256={}", hex::encode(mac.finalize().into_bytes())),
    )
}

#[cfg(test)]
mod tests {
    use super::signature;

    #[test]
    fn the_signature_is_that_of_the_published_test_vector() {
        // RFC 4231, test case 2.
        let expected = "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(signature("Jefe", b"what do ya want for nothing?"), expected);
    }
}
