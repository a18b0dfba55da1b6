//! `[webhook]` of a store's file: the address to which the marketplace delivers.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    path::{Path, PathBuf},
};

use espelho_api_client::{error::conceal, webhook::EventName};
use espelho_model::{text, text::Text};
use reqwest::Url;
use secrecy::SecretString;
use serde::Deserialize;

use super::{
    Secrets,
    address::{Environment, check_address},
    file::nearest,
    secret,
};

/// How a store receives webhooks.
#[derive(Clone, Debug)]
pub(crate) struct WebhookConfig {
    /// The address to which the marketplace delivers.
    pub public_url: String,
    /// The events to ask for; `order.*` is a group of them, `*` is everything.
    pub events: Vec<String>,
    /// The secret of a webhook that was created in the seller portal; the secret of one that a login creates is in the
    /// database.
    pub secret: Option<SecretString>,
}

impl WebhookConfig {
    /// Tells whether deliveries tell of changed stock. The events of a webhook that was created in the seller portal are
    /// not known.
    pub(crate) fn has_stock_events(&self) -> bool {
        self.asks_for("product.stock_updated")
    }

    /// Tells whether deliveries tell of each new order and each new status.
    pub(crate) fn has_order_events(&self) -> bool {
        self.asks_for("order.created") && self.asks_for("order.status_changed")
    }

    /// Tells whether deliveries tell of what the rotation reads: shipments, levels and prices.
    pub(crate) fn has_rotation_events(&self) -> bool {
        ["shipment.created", "shipment.status_changed", "product.stock_updated", "product.price_updated"]
            .into_iter()
            .all(|event| self.asks_for(event))
    }

    fn asks_for(&self, event: &str) -> bool {
        self.secret.is_none() && self.events.iter().any(|asked| covers(asked, event))
    }
}

/// Tells whether an asked name means an event: its own name, its group (`order.*`), or everything.
fn covers(asked: &str, event: &str) -> bool {
    let group = asked.strip_suffix(".*");
    asked == "*"
        || asked == event
        || (group.is_some() && group == event.split_once('.').map(|(group, _)| group))
}

/// The section as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Webhook {
    public_url: String,
    #[serde(default = "all_events")]
    events: Vec<String>,
    #[serde(default)]
    secret: Option<SecretString>,
    #[serde(default)]
    secret_file: Option<PathBuf>,
}

fn all_events() -> Vec<String> {
    vec!["*".into()]
}

impl Webhook {
    /// Checks the section; a mistake comes with its key.
    pub(super) fn check(
        self,
        environment: Environment,
        dir: &Path,
        store_file: &Path,
        secrets: Secrets,
    ) -> Result<WebhookConfig, (&'static str, Text)> {
        let Self { public_url, events, secret: inline, secret_file } = self;
        check_address("webhook.public_url", &public_url, environment).map_err(|e| ("public_url", e))?;
        if environment == Environment::Production && !is_public(&public_url) {
            return Err(("public_url", text!("config-webhook-not-public", url = &public_url)));
        }
        if events.is_empty() || events.iter().any(|event| event.trim().is_empty()) {
            return Err(("events", text!("config-webhook-events")));
        }
        let means_none = |asked: &&String| !EventName::ALL.iter().any(|event| covers(asked, event.as_str()));
        if let Some(unknown) = events.iter().find(means_none) {
            let nearest = nearest(unknown, EventName::ALL.iter().map(EventName::as_str)).unwrap_or("*");
            return Err(("events", text!("config-webhook-event", event = unknown, nearest = nearest)));
        }
        let read = |file: PathBuf| match secrets {
            Secrets::Read => secret::from_file(dir, store_file, &file),
            Secrets::Leave => Ok(SecretString::default()),
        };
        let secret = secret_file.map(read).transpose();
        let unreadable =
            |tried| secret::unreadable(tried, |tried| text!("config-webhook-secret", tried = tried));
        let secret = secret.map_err(|tried| ("secret_file", unreadable(tried)))?;
        if inline.is_some() && secret.is_some() {
            return Err(("secret", text!("config-notice-twice", field = "webhook.secret")));
        }
        inline.iter().for_each(conceal);
        let secret = inline.or(secret);
        Ok(WebhookConfig { public_url, events, secret })
    }
}

/// Whether the marketplace may be able to reach the address: names are trusted, IP addresses are checked.
fn is_public(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    match host.parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V4(address)) => is_public_v4(address),
        Ok(IpAddr::V6(address)) => is_public_v6(address),
        Err(_) => true,
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    let shared_by_carriers = first == 100 && (64..128).contains(&second);
    !(first == 0 || address.is_private() || address.is_link_local() || address.is_multicast())
        && !(shared_by_carriers || address.is_broadcast() || address.is_documentation())
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    !(address.is_unique_local() || address.is_unicast_link_local() || address.is_multicast())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn checked(environment: Environment, text: &str) -> Result<WebhookConfig, (&'static str, Text)> {
        let dir = tempfile::tempdir().unwrap();
        let secret = dir.path().join("loja.whsec");
        std::fs::write(&secret, "whsec_do-portal\r\n").unwrap();
        std::fs::set_permissions(secret, std::fs::Permissions::from_mode(0o600)).unwrap();
        let webhook: Webhook = toml::from_str(text).unwrap();
        webhook.check(environment, dir.path(), &dir.path().join("stores/loja.toml"), Secrets::Read)
    }

    #[test]
    fn production_refuses_addresses_that_the_marketplace_cannot_reach() {
        for host in
            ["10.0.0.7", "192.168.1.2", "172.16.9.9", "169.254.1.1", "100.64.0.1", "[fd00::1]", "[fe80::1]"]
        {
            let text = format!("public_url = \"https://{host}/webhooks/loja\"");
            let (key, problem) = checked(Environment::Production, &text).unwrap_err();
            assert!(key == "public_url" && problem.to_string().contains("not reachable"), "{problem}");
            assert!(checked(Environment::Sandbox, &text).is_ok(), "{host}");
        }
        for (url, words) in [
            ("http://erp.test/w", "https://"),
            ("https://127.0.0.1/w", "of this machine"),
            ("https://erp.example/w", "webhook.public_url"),
        ] {
            let text = format!("public_url = \"{url}\"");
            let (_, problem) = checked(Environment::Production, &text).unwrap_err();
            assert!(
                problem.to_string().contains(words) && problem.to_string().contains("webhook.public_url"),
                "{problem}"
            );
            assert!(checked(Environment::Sandbox, &text).is_ok(), "{url}");
        }
    }

    #[test]
    fn all_events_are_asked_for_unless_some_are_named() {
        let url = "public_url = \"https://erp.test/webhooks/loja\"\n";
        let production = |more: &str| checked(Environment::Production, &format!("{url}{more}"));
        assert_eq!(production("").unwrap().events, ["*"]);
        for (events, expected) in [
            ("", true),
            ("events = [\"order.paid\", \"product.stock_updated\"]", true),
            ("events = [\"order.paid\", \"product.price_updated\"]", false),
            ("events = [\"product.*\"]", true),
            ("events = [\"stock.*\", \"order.*\"]", false),
            ("secret = \"whsec_0123456789abcdef\"", false),
        ] {
            assert_eq!(production(events).unwrap().has_stock_events(), expected, "{events}");
        }
        for (events, expected) in [
            ("", true),
            ("events = [\"shipment.*\", \"product.*\"]", true),
            ("events = [\"shipment.*\", \"product.stock_updated\"]", false),
            ("events = [\"order.*\", \"product.*\"]", false),
            ("secret = \"whsec_0123456789abcdef\"", false),
        ] {
            assert_eq!(production(events).unwrap().has_rotation_events(), expected, "{events}");
        }
        for (events, expected) in [
            ("", true),
            ("events = [\"order.created\", \"order.status_changed\"]", true),
            ("events = [\"order.created\", \"order.paid\"]", false),
            ("events = [\"order.status_changed\"]", false),
            ("events = [\"order.*\"]", true),
            ("events = [\"shipment.*\"]", false),
            ("secret = \"whsec_0123456789abcdef\"", false),
        ] {
            assert_eq!(production(events).unwrap().has_order_events(), expected, "{events}");
        }
        assert_eq!(production("events = [\"order.paid\"]").unwrap().events, ["order.paid"]);
        let (key, misspelt) = production("events = [\"*\", \"order.payed\"]").unwrap_err();
        assert!(key == "events" && misspelt.to_string().contains("order.paid"), "{misspelt}");
        for group in ["orders.*", "order.", ".*", "order.*.*", "*.*", "order.paid.*", "ORDER.*"] {
            let (key, unknown) = production(&format!("events = [\"{group}\"]")).unwrap_err();
            assert!(key == "events" && unknown.to_string().contains(group), "{unknown}");
        }
        for none in ["events = []", "events = [\" \"]"] {
            assert_eq!(production(none).unwrap_err().0, "events");
        }
        assert_eq!(production("").unwrap().public_url, "https://erp.test/webhooks/loja");
    }

    #[test]
    fn the_secret_of_the_portal_comes_from_a_file_and_is_never_shown() {
        use secrecy::ExposeSecret as _;
        let url = "public_url = \"https://erp.test/webhooks/loja\"\n";
        let config = checked(Environment::Production, &format!("{url}secret_file = \"loja.whsec\"")).unwrap();
        assert!(!format!("{config:?}").contains("portal"), "{config:?}");
        assert_eq!(config.secret.unwrap().expose_secret(), "whsec_do-portal");
        let inline = checked(Environment::Production, &format!("{url}secret = \"whsec_in-file\"")).unwrap();
        assert!(!format!("{inline:?}").contains("in-file"), "{inline:?}");
        assert_eq!(inline.secret.unwrap().expose_secret(), "whsec_in-file");
        let both = format!("{url}secret = \"a\"\nsecret_file = \"loja.whsec\"");
        assert_eq!(checked(Environment::Production, &both).unwrap_err().0, "secret");
        let (key, problem) =
            checked(Environment::Production, &format!("{url}secret_file = \"nowhere\"")).unwrap_err();
        assert!(
            key == "secret_file" && problem.to_string().contains("the webhook secret cannot be read"),
            "{problem}"
        );
    }
}
