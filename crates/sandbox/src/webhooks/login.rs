//! The webhook block of a login, checked; the portal asks the same of an address and of events.

use serde_json::Value;

use super::events;
use crate::refusal::FieldErrors;

/// The most characters of an address.
const MAX_URL: usize = 2048;

/// A webhook block that passed every check.
pub(crate) struct WebhookBlock {
    pub(super) url: String,
    pub(super) events: Vec<String>,
}

/// Reads the `webhook` field of a login; `None` where it is missing or null.
pub(crate) fn parse(field: Option<&Value>, local: bool, errors: &mut FieldErrors) -> Option<WebhookBlock> {
    let block = field.filter(|block| !block.is_null())?;
    if !block.is_object() {
        errors.add("webhook", "O campo webhook deve ser um objeto.");
        return None;
    }
    let url = block.get("url").and_then(Value::as_str).unwrap_or_default();
    check_url("webhook.url", url, local, errors);
    let names: Option<Vec<&str>> = block
        .get("events")
        .and_then(Value::as_array)
        .map(|list| list.iter().map(|name| name.as_str().unwrap_or_default()).collect());
    let events = check_events("webhook.events", names.unwrap_or_default(), errors);
    Some(WebhookBlock { url: url.to_owned(), events })
}

/// Notes what is wrong with an address.
pub(super) fn check_url(field: &'static str, url: &str, local: bool, errors: &mut FieldErrors) {
    if url.is_empty() {
        errors.add(field, format!("O campo {field} é obrigatório."));
    } else if url.len() > MAX_URL || !is_acceptable(url, local) {
        errors.add(field, format!("O campo {field} deve ser um endereço HTTPS público."));
    }
}

/// The known events, each once; notes what is wrong with the others.
pub(super) fn check_events(field: &'static str, names: Vec<&str>, errors: &mut FieldErrors) -> Vec<String> {
    if names.is_empty() {
        errors.add(field, format!("O campo {field} deve ser uma lista de eventos."));
    }
    let mut known: Vec<String> = Vec::new();
    for name in names {
        if !events::is_known(name) {
            errors.add(field, format!("O evento {name} não existe."));
        } else if known.iter().all(|earlier| earlier != name) {
            known.push(name.to_owned());
        }
    }
    known
}

/// Public HTTPS, or anything over HTTP where local receivers are allowed.
fn is_acceptable(url: &str, local: bool) -> bool {
    let has_authority = url.split_once("://").is_some_and(|(_, rest)| !rest.trim_start().is_empty());
    let Ok(url) = reqwest::Url::parse(url) else { return false };
    let Some(host) = url.host_str().filter(|_| has_authority) else { return false };
    match url.scheme() {
        "http" => local,
        "https" => local || is_public(host),
        _ => false,
    }
}

/// A host name with a dot, or an address outside the private and local ranges. The parser has brought every way of
/// writing an address into its usual form.
fn is_public(host: &str) -> bool {
    let name = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
    match name.parse::<std::net::IpAddr>().map(|address| address.to_canonical()) {
        Ok(std::net::IpAddr::V4(v4)) => {
            !(v4.is_private() || v4.is_loopback() || v4.is_link_local() || v4.is_unspecified())
        }
        Ok(std::net::IpAddr::V6(v6)) => {
            !(v6.is_loopback() || v6.is_unspecified() || v6.is_unique_local() || v6.is_unicast_link_local())
        }
        Err(_) => name.contains('.') && !name.ends_with(".local") && !name.ends_with(".localhost"),
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
        let refused = [
            "http://erp.example.com/",
            "https://localhost/x",
            "https://127.0.0.1/",
            "https://10.1.2.3/",
            "https://0x7f.1/x",
            "https://2130706433/",
            "https://[::ffff:127.0.0.1]/x",
            "https://[fe80::1]/",
        ];
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
