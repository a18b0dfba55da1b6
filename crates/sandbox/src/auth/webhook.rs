//! The webhook block of a login: checked, kept, and answered with its secret the first time.

use serde_json::Value;

use crate::{json::Json, query::FieldErrors, seed::random::Random};

/// Every event that a webhook can subscribe to ("Catalogue" of the document).
const EVENTS: [&str; 25] = [
    "order.created",
    "order.paid",
    "order.refunded",
    "order.status_changed",
    "order.cancelled",
    "order.invoiced",
    "order.item_stock_status_changed",
    "shipment.created",
    "shipment.dispatched",
    "shipment.out_for_delivery",
    "shipment.status_changed",
    "shipment.cancelled",
    "occurrence.created",
    "occurrence.resolved",
    "conversation.opened",
    "conversation.message",
    "conversation.closed",
    "product.stock_updated",
    "stock.depleted",
    "stock.restored",
    "product.price_updated",
    "publication.approved",
    "publication.rejected",
    "webhook.test",
    "*",
];

/// A webhook that the login call created.
#[derive(Clone, Debug)]
pub(crate) struct Webhook {
    id: String,
    url: String,
    events: Vec<String>,
    secret: String,
}

/// A webhook block that passed every check.
pub(crate) struct Wanted {
    url: String,
    events: Vec<String>,
}

/// Reads the `webhook` field of a login; `None` when there is none.
pub(crate) fn parse(body: &Value, local: bool, errors: &mut FieldErrors) -> Option<Wanted> {
    let block = body.get("webhook").filter(|block| !block.is_null())?;
    if !block.is_object() {
        errors.push(("webhook", "O campo webhook deve ser um objeto.".into()));
        return None;
    }
    let url = block.get("url").and_then(Value::as_str).unwrap_or_default();
    if url.is_empty() {
        errors.push(("webhook.url", "O campo webhook.url é obrigatório.".into()));
    } else if !is_acceptable(url, local) {
        errors.push(("webhook.url", "O campo webhook.url deve ser um endereço HTTPS público.".into()));
    }
    let events = events(block.get("events"), errors);
    Some(Wanted { url: url.to_owned(), events })
}

fn events(value: Option<&Value>, errors: &mut FieldErrors) -> Vec<String> {
    let Some(list) = value.and_then(Value::as_array).filter(|list| !list.is_empty()) else {
        errors.push(("webhook.events", "O campo webhook.events deve ser uma lista de eventos.".into()));
        return Vec::new();
    };
    let names = list.iter().map(|name| name.as_str().unwrap_or_default());
    let (known, unknown): (Vec<&str>, Vec<&str>) = names.partition(|name| EVENTS.contains(name));
    for name in unknown {
        errors.push(("webhook.events", format!("O evento {name} não existe.")));
    }
    known.into_iter().map(str::to_owned).collect()
}

/// Public HTTPS, or anything over HTTP where local receivers are allowed.
fn is_acceptable(url: &str, local: bool) -> bool {
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) if !rest.is_empty() => (scheme, rest),
        _ => return false,
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    if host.is_empty() || host.contains(char::is_whitespace) {
        return false;
    }
    match scheme {
        "http" => local,
        "https" => local || is_public(host),
        _ => false,
    }
}

/// A host name with a dot, or an address outside the private and local ranges.
fn is_public(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    match name.parse::<std::net::IpAddr>() {
        Ok(std::net::IpAddr::V4(v4)) => {
            !(v4.is_private() || v4.is_loopback() || v4.is_link_local() || v4.is_unspecified())
        }
        Ok(std::net::IpAddr::V6(v6)) => !(v6.is_loopback() || v6.is_unspecified() || v6.is_unique_local()),
        Err(_) => name.contains('.') && !name.ends_with(".local") && !name.ends_with(".localhost"),
    }
}

impl Webhook {
    /// Creates the webhook, or brings it in line keeping its secret; whether it was created.
    pub(crate) fn upsert(current: &mut Option<Self>, wanted: Wanted, random: &mut Random) -> bool {
        let Wanted { url, events } = wanted;
        if let Some(webhook) = current {
            (webhook.url, webhook.events) = (url, events);
            return false;
        }
        let secret = format!("whsec_{}", random.word(32));
        *current = Some(Self { id: random.uuid(), url, events, secret });
        true
    }

    /// The secret is shown once, at creation.
    pub(crate) fn write(&self, json: &mut Json, with_secret: bool) {
        json.open_object();
        json.key("id").raw_text(&self.id);
        json.key("url").text(&self.url);
        json.key("events").open_array();
        for event in &self.events {
            json.raw_text(event);
        }
        json.close_array();
        json.key("active").bool(true);
        json.key("managed_by").raw_text("integration_auth");
        if with_secret {
            json.key("secret").raw_text(&self.secret);
        }
        json.close_object();
    }
}

#[cfg(test)]
mod tests {
    use super::is_acceptable;

    #[test]
    fn only_public_https_is_accepted_when_local_receivers_are_not() {
        for url in ["https://erp.example.com/webhooks", "https://8.8.8.8:8443/x"] {
            assert!(is_acceptable(url, false), "{url}");
        }
        let refused =
            ["http://erp.example.com/", "https://localhost/x", "https://127.0.0.1/", "https://10.1.2.3/"];
        for url in refused {
            assert!(!is_acceptable(url, false), "{url}");
            assert!(is_acceptable(url, true), "{url}");
        }
    }

    #[test]
    fn what_is_no_web_address_is_never_accepted() {
        for url in ["", "erp.example.com", "ftp://erp.example.com", "https://", "https:// x/"] {
            assert!(!is_acceptable(url, true), "{url}");
        }
    }
}
