//! The addresses in a store's file, and the environment that decides which are accepted.

use std::net::IpAddr;

use espelho_model::{text, text::Text};
use reqwest::Url;
use serde::Deserialize;

/// The environment of a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "lowercase")]
pub(crate) enum Environment {
    #[default]
    Production,
    Sandbox,
}

impl Environment {
    /// Returns the word in files and in the database.
    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Checks an address. In production: https, and no address of this machine. In the sandbox anything goes.
pub(crate) fn check_address(name: &str, text: &str, environment: Environment) -> Result<(), Text> {
    // Before any message quotes it.
    let authority =
        text.split_once("://").map_or(text, |(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or(rest));
    if authority.contains('@') {
        return Err(text!("config-address-credentials", field = name));
    }
    let url = Url::parse(text).map_err(|_| text!("config-address", field = name, address = text))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(text!("config-address-https", field = name, address = text));
    }
    if environment == Environment::Sandbox {
        return Ok(());
    }
    if url.scheme() != "https" {
        return Err(text!("config-address-production", field = name, address = text));
    }
    if is_placeholder(&url) {
        return Err(text!("check-address-placeholder", key = name, address = text));
    }
    if is_loopback(&url) {
        return Err(text!("config-address-loopback", field = name, address = text));
    }
    Ok(())
}

/// Checks the address of the marketplace: a host, and nothing of the API's own paths, which the client adds.
pub(crate) fn check_base(text: &str, environment: Environment) -> Result<(), Text> {
    check_address("base_url", text, environment)?;
    let Ok(mut url) = Url::parse(text) else { return Ok(()) };
    let before: Vec<&str> = url.path().split('/').take_while(|segment| *segment != "api").collect();
    let is_whole = before.len() == url.path().split('/').count();
    if is_whole && url.query().is_none() && url.fragment().is_none() {
        return Ok(());
    }
    let path = before.join("/");
    url.set_path(&path);
    url.set_query(None);
    url.set_fragment(None);
    Err(text!("config-base-url", instead = url.as_str().trim_end_matches('/')))
}

/// Checks an address that the operator chose for messages: https, or this machine. No message quotes it: its path may be
/// a secret.
pub(super) fn check_outgoing(name: &str, text: &str) -> Result<(), Text> {
    let url = Url::parse(text).map_err(|_| text!("config-notice-address", field = name))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(text!("config-notice-credentials", field = name));
    }
    match url.scheme() {
        "https" if url.has_host() => Ok(()),
        "http" if is_loopback(&url) => Ok(()),
        _ => Err(text!("config-notice-https", field = name)),
    }
}

/// Returns the environment that an address allows: an unencrypted or local one is nobody's production.
pub(crate) fn environment_of(text: &str) -> Environment {
    let is_local = Url::parse(text).is_ok_and(|url| url.scheme() == "http" || is_loopback(&url));
    if is_local { Environment::Sandbox } else { Environment::Production }
}

/// The marketplace that an address names: one text for every spelling of the same.
pub(super) fn marketplace(text: &str) -> String {
    // Parsing lowers the host's letters and drops a default port.
    let Ok(url) = Url::parse(text) else { return text.to_owned() };
    let host = match is_loopback(&url) {
        true => "localhost",
        false => url.host_str().unwrap_or_default().trim_end_matches('.'),
    };
    let port = url.port_or_known_default().unwrap_or_default();
    format!("{}://{host}:{port}{}", url.scheme(), url.path().trim_end_matches('/'))
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    let by_name = name == "localhost" || name.ends_with(".localhost");
    let by_number = |ip: IpAddr| ip.to_canonical().is_loopback() || ip.to_canonical().is_unspecified();
    by_name || host.parse().is_ok_and(by_number)
}

/// Whether the address is reserved for documents (RFC 2606): nobody is there.
fn is_placeholder(url: &Url) -> bool {
    let name = url.host_str().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
    let is_or_is_in =
        |domain: &str| name.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    ["example", "invalid", "example.com", "example.net", "example.org"].into_iter().any(is_or_is_in)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unencrypted_or_local_address_is_a_sandbox() {
        for (address, environment) in [
            ("https://m.example.net", Environment::Production),
            ("http://m.example.net", Environment::Sandbox),
            ("https://localhost:8443", Environment::Sandbox),
            ("https://127.0.0.1", Environment::Sandbox),
            ("nothing", Environment::Production),
        ] {
            assert_eq!(environment_of(address), environment, "{address}");
        }
    }

    #[test]
    fn every_spelling_of_an_address_is_one_marketplace() {
        for address in
            ["https://m.example", "https://M.example/", "https://m.example:443", "https://m.example./"]
        {
            assert_eq!(marketplace(address), "https://m.example:443", "{address}");
        }
        for address in
            ["http://localhost:8799", "http://127.0.0.1:8799/", "http://[::1]:8799", "http://LOCALHOST:8799"]
        {
            assert_eq!(marketplace(address), "http://localhost:8799", "{address}");
        }
        assert_ne!(marketplace("https://m.example/a"), marketplace("https://m.example/b"));
        assert_ne!(marketplace("http://m.example"), marketplace("https://m.example"));
    }
}
