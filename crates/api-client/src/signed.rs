//! Files behind signed addresses (API document, "Shipments and labels": the download route).
//!
//! A signed address needs no token, lies on a host that is not the marketplace's, and is itself a secret. This file
//! therefore has a sender of its own: it is given connections and an address, and could not send a token if it wanted
//! to. Nothing of it counts against the token's budget.

use std::{fmt, net::IpAddr};

use reqwest::{
    Method, Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderValue},
};

use crate::{
    Client,
    error::{Class, Error},
    retry::Attempts,
    send::Http,
};

/// The largest file that is fetched: the labels of an order of hundreds of volumes fit.
const LARGEST_FILE: usize = 32 << 20;

/// An address that whoever has it may fetch, for a while. Shown without its query, which is the secret part.
#[derive(Clone, PartialEq, Eq)]
pub struct SignedUrl(Url);

/// A file that was fetched.
#[derive(Clone, PartialEq, Eq)]
pub struct SignedFile {
    /// The file.
    pub bytes: Vec<u8>,
    /// What the storage says that it is.
    pub content_type: Option<String>,
}

impl SignedUrl {
    /// An absolute `http://` or `https://` address; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(text.trim()).ok()?;
        (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(Self(url))
    }

    /// The address for whoever must keep or fetch it. It is a secret: never logged, never shown.
    pub fn expose(&self) -> &str {
        self.0.as_str()
    }

    /// Why it may not be fetched: outside the sandbox only `https://`, and never this machine or its surroundings.
    fn objection(&self, allow_http: bool) -> Option<&'static str> {
        match allow_http {
            true => None,
            false if self.0.scheme() != "https" => Some("is not https"),
            false if is_near(&self.0) => Some("lies on this machine"),
            false => None,
        }
    }
}

/// Whether the host is this machine, or an address that only this machine's network knows. A name that resolves to
/// one passes: TLS then asks for a certificate that it cannot have.
fn is_near(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
    let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    match literal.map(|ip| ip.to_canonical()) {
        Ok(IpAddr::V4(ip)) => {
            ip.is_loopback() || ip.is_unspecified() || ip.is_link_local() || ip.is_private()
        }
        Ok(IpAddr::V6(ip)) => {
            ip.is_loopback() || ip.is_unspecified() || ip.is_unicast_link_local() || ip.is_unique_local()
        }
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

impl fmt::Display for SignedUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.0.origin().ascii_serialization(), self.0.path())
    }
}

impl fmt::Debug for SignedUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SignedUrl({self})")
    }
}

impl fmt::Debug for SignedFile {
    /// Without the bytes: a label has the buyer's address on it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, content_type } = self;
        f.debug_struct("SignedFile").field("bytes", &bytes.len()).field("content_type", content_type).finish()
    }
}

impl Client {
    /// Fetches the file behind a signed address, without the token. Faults that pass are tried again; an address that
    /// has expired is not: ask for a new one.
    ///
    /// # Errors
    /// [`Error::AddressExpired`], [`Error::FileRefused`], or one of the way.
    pub async fn fetch_signed(&self, url: &SignedUrl) -> Result<SignedFile, Error> {
        let mut attempts = Attempts::new(self.attempts);
        loop {
            let error = match fetch(&self.exchange.http, url).await {
                Ok(file) => return Ok(file),
                Err(error) => error,
            };
            let Class::Transient { after } = error.class() else { return Err(error) };
            let Some(delay) = attempts.next_delay(after) else { return Err(error) };
            self.clock.sleep(delay).await;
        }
    }
}

/// One request, without anything that names us but the user agent.
async fn fetch(http: &Http, url: &SignedUrl) -> Result<SignedFile, Error> {
    if let Some(objection) = url.objection(http.allows_http()) {
        return Err(Error::AddressRefused { file: url.to_string(), objection });
    }
    let mut outgoing = reqwest::Request::new(Method::GET, url.0.clone());
    outgoing.headers_mut().insert(ACCEPT, HeaderValue::from_static("*/*"));
    #[expect(clippy::disallowed_methods, reason = "the one other place that sends: no token, no budget")]
    let sent = http.client.execute(outgoing).await;
    let mut response = sent.map_err(|error| not_answered(url, error))?;
    let status = response.status();
    if !status.is_success() {
        let mut words = Vec::new();
        while let Ok(Some(chunk)) = response.chunk().await {
            words.extend_from_slice(&chunk);
            if words.len() > 4096 {
                break;
            }
        }
        return Err(refused(url, status.as_u16(), &String::from_utf8_lossy(&words)));
    }
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content_type = content_type.map(str::to_owned);
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| not_answered(url, error))? {
        if bytes.len() + chunk.len() > LARGEST_FILE {
            let limit_mib = LARGEST_FILE >> 20;
            return Err(Error::TooLarge { request: format!("GET {url}"), read: true, limit_mib });
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(SignedFile { bytes, content_type })
}

/// Storages answer 403 or 410 to an address that is over, some 400 with words about it. No other fault of ours can
/// cause them: the address is used as it was given.
fn refused(url: &SignedUrl, status: u16, words: &str) -> Error {
    let file = url.to_string();
    match status {
        401 | 403 | 410 => Error::AddressExpired { file, status },
        400 if words.to_ascii_lowercase().contains("expired") => Error::AddressExpired { file, status },
        _ => Error::FileRefused { file, status },
    }
}

fn not_answered(url: &SignedUrl, error: reqwest::Error) -> Error {
    // The error's own address has the signature in it.
    let source = error.without_url();
    let request = format!("GET {url}");
    match source.is_connect() {
        true => Error::Unreachable { request, host: url.0.host_str().unwrap_or_default().to_owned(), source },
        false => Error::Interrupted { request, read: true, source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "https://user:pass@storage.example:8443/labels/1.pdf?X-Amz-Signature=abc&e=1#f";

    #[test]
    fn an_address_is_never_shown_with_what_signs_it() {
        let url = SignedUrl::parse(SECRET).unwrap();
        assert_eq!(url.to_string(), "https://storage.example:8443/labels/1.pdf");
        assert_eq!(format!("{url:?}"), "SignedUrl(https://storage.example:8443/labels/1.pdf)");
        assert_eq!(url.expose(), SECRET);
        let file = SignedFile { bytes: b"Rua das Flores".to_vec(), content_type: None };
        assert!(!format!("{file:?}").contains("82"), "{file:?}");
    }

    #[test]
    fn only_absolute_addresses_of_the_web_are_addresses() {
        assert!(SignedUrl::parse(" https://s.example/a?b ").is_some());
        for bad in ["", "/a?b", "file:///etc/passwd", "ftp://s.example/a", "data:text/plain,x", "https://"] {
            assert!(SignedUrl::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn outside_the_sandbox_neither_plain_http_nor_this_machine_is_asked() {
        let objection = |text: &str, allow| SignedUrl::parse(text).unwrap().objection(allow);
        assert_eq!(objection("https://storage.example/a?b", false), None);
        assert_eq!(objection("http://storage.example/a?b", false), Some("is not https"));
        for near in [
            "https://localhost/a",
            "https://LOCALHOST./a",
            "https://x.localhost/a",
            "https://127.0.0.1/a",
            "https://2130706433/a",
            "https://0.0.0.0/a",
            "https://169.254.169.254/latest",
            "https://[::1]/a",
            "https://[::ffff:127.0.0.1]/a",
        ] {
            assert_eq!(objection(near, false), Some("lies on this machine"), "{near}");
            assert_eq!(objection(near, true), None, "{near}");
        }
    }

    #[test]
    fn an_address_that_is_over_is_told_from_a_storage_that_fails() {
        let url = SignedUrl::parse(SECRET).unwrap();
        let expired =
            |status, words: &str| matches!(refused(&url, status, words), Error::AddressExpired { .. });
        assert!(expired(403, "<Code>AccessDenied</Code><Message>Request has expired</Message>"));
        assert!(expired(400, "<Code>ExpiredToken</Code>"));
        assert!(expired(410, ""));
        for (status, words) in [(400, "bad"), (404, "NoSuchKey"), (302, ""), (503, "SlowDown")] {
            assert!(!expired(status, words), "{status}");
        }
        for error in [refused(&url, 403, "abc"), refused(&url, 503, "abc")] {
            let shown = format!("{error} {error:?}");
            assert!(!shown.contains("Signature") && !shown.contains("pass"), "{shown}");
        }
    }
}
