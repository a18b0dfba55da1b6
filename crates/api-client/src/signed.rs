//! Files behind signed addresses (API document, "Shipments and labels": the download route).
//!
//! A signed address needs no token, belongs to a host other than the marketplace's, and is itself a secret. This
//! module therefore sends on its own: it gets connections and an address, and has no access to the token. Nothing
//! here counts against the token's budget. `near` rejects addresses that are not public.

mod hosts;
mod near;
mod resolver;
mod stream;

use std::{fmt, time::Duration};

use reqwest::Url;

use crate::{
    error::{Class, Error},
    http::{Http, Purpose, no_client},
    resources::SignedFiles,
    retry::Attempts,
};

pub use hosts::{HostPattern, InvalidHost};
pub use stream::{FileRules, SignedStream};

/// The largest file that is fetched: the labels of an order of hundreds of volumes fit.
const LARGEST_FILE: u64 = 32 << 20;
/// The time limit for a file, from the first to the last byte.
const LONGEST: Duration = Duration::from_secs(120);

/// An address that grants access to a file for a while, to anyone. `Display` omits its query, which is the secret
/// part.
#[derive(Clone, PartialEq, Eq)]
pub struct SignedUrl(Url);

/// A fetched file.
#[derive(Clone, PartialEq, Eq)]
pub struct SignedFile {
    /// The content.
    pub bytes: Vec<u8>,
    /// The content type that the storage states.
    pub content_type: Option<String>,
}

impl SignedUrl {
    /// Parses an absolute `http://` or `https://` address; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(text.trim()).ok()?;
        (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(Self(url))
    }

    /// Parses an address as [`SignedUrl::parse`] does, or one that begins with a slash, relative to `base`.
    pub(crate) fn parse_at(text: &str, base: &Url) -> Option<Self> {
        let text = text.trim();
        match text.starts_with('/') {
            true => Self::parse(base.join(text).ok()?.as_str()),
            false => Self::parse(text),
        }
    }

    /// Returns the full address. It is a secret: never log or show it.
    pub fn expose(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the host.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// Returns why the address may not be fetched. Outside the sandbox it must be `https://` and public.
    pub(crate) fn objection(&self, allow_http: bool, hosts: &[HostPattern]) -> Option<&'static str> {
        if !hosts.is_empty() && !hosts.iter().any(|pattern| pattern.matches(self.host())) {
            return Some("lies on a host that labels.hosts does not name");
        }
        match allow_http {
            true => None,
            false if self.0.scheme() != "https" => Some("is not https"),
            false if !self.0.username().is_empty() || self.0.password().is_some() => {
                Some("carries credentials")
            }
            false if near::is_near(&self.0) => Some("is not public"),
            false => None,
        }
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
    /// Omits the bytes: a label shows the buyer's address.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, content_type } = self;
        f.debug_struct("SignedFile").field("bytes", &bytes.len()).field("content_type", content_type).finish()
    }
}

impl SignedFiles<'_> {
    /// Fetches the file behind a signed address, without the token. Transient errors are retried; an expired address
    /// is not: request a new one.
    ///
    /// # Errors
    /// [`Error::AddressExpired`], [`Error::FileRefused`], or a transport error.
    pub async fn fetch(self, url: &SignedUrl) -> Result<SignedFile, Error> {
        let mut attempts = Attempts::new(self.requests.client.attempts);
        loop {
            let error = match fetch(&self.requests.client.transport.http, url).await {
                Ok(file) => return Ok(file),
                Err(error) => error,
            };
            let Class::Transient { after } = error.class() else { return Err(error) };
            let Some(delay) = attempts.next_delay(after) else { return Err(error) };
            self.requests.client.clock.sleep(delay).await;
        }
    }
}

/// Fetches the whole file into memory.
async fn fetch(http: &Http, url: &SignedUrl) -> Result<SignedFile, Error> {
    let rules = FileRules { hosts: Vec::new(), largest: LARGEST_FILE };
    let mut stream = stream::open(http, url, &rules).await?;
    let mut bytes = Vec::new();
    while let Some(chunk) = stream.chunk().await? {
        bytes.extend_from_slice(&chunk);
    }
    Ok(SignedFile { bytes, content_type: stream.content_type })
}

impl Http {
    /// Returns the connections to storages. They are separate from those to the marketplace, and created for the
    /// first file.
    fn files(&self) -> Result<&reqwest::Client, Error> {
        if let Some(files) = self.files.get() {
            return Ok(files);
        }
        let builder = self.builder(Purpose::Files).timeout(LONGEST);
        let builder = match self.allows_http() {
            true => builder,
            false => builder.dns_resolver(resolver::PublicOnly),
        };
        let files = builder.build().map_err(|error| no_client(&error))?;
        Ok(self.files.get_or_init(|| files))
    }
}

/// Classifies a storage's refusal. Storages answer 403 or 410 to an expired address, and some 400 with a text about
/// it. No mistake of ours can cause these, because the address is used unchanged.
fn refused(url: &SignedUrl, status: u16, words: &str) -> Error {
    let file = url.to_string();
    match status {
        401 | 403 | 410 => Error::AddressExpired { file, status },
        400 if words.to_ascii_lowercase().contains("expired") => Error::AddressExpired { file, status },
        _ => Error::FileRefused { file, status },
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
        let objection = |text: &str, allow| SignedUrl::parse(text).unwrap().objection(allow, &[]);
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
            assert_eq!(objection(near, false), Some("is not public"), "{near}");
            assert_eq!(objection(near, true), None, "{near}");
        }
        assert_eq!(objection("https://u:p@storage.example/a", false), Some("carries credentials"));
    }

    #[test]
    fn where_hosts_are_named_no_other_is_asked_not_even_in_the_sandbox() {
        let hosts: Vec<HostPattern> =
            ["files.example", "*.s3.example"].map(|host| host.parse().unwrap()).into();
        let objection = |text: &str| SignedUrl::parse(text).unwrap().objection(true, &hosts);
        for named in ["https://files.example/a", "https://FILES.example:8443/a", "http://b.s3.example/a"] {
            assert_eq!(objection(named), None, "{named}");
        }
        for other in ["https://s3.example/a", "https://files.example.evil.example/a", "https://127.0.0.1/a"] {
            assert!(objection(other).unwrap().contains("labels.hosts"), "{other}");
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
