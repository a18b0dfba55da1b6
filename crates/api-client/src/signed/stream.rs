//! Streams a file in chunks: at most one chunk is in memory.

use reqwest::{
    Method, Response,
    header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue},
};

use super::{HostPattern, SignedUrl, near::NotPublic, refused};
use crate::{error::Error, http::Http, resources::SignedFiles};

/// The limits for a file.
#[derive(Clone, Debug)]
pub struct FileRules {
    /// The allowed hosts; if empty, any public host.
    pub hosts: Vec<HostPattern>,
    /// The most bytes.
    pub largest: u64,
}

/// A file that is being fetched.
pub struct SignedStream {
    response: Response,
    /// The address without its signature.
    file: String,
    largest: u64,
    read: u64,
    /// The length that the storage announced, if any. A different length is an error.
    pub length: Option<u64>,
    /// The content type that the storage states.
    pub content_type: Option<String>,
}

impl SignedFiles<'_> {
    /// Requests the file behind a signed address once, without the token; [`SignedStream::chunk`] returns its
    /// content. After an error, request a new address to try again.
    ///
    /// # Errors
    /// [`Error::AddressRefused`], [`Error::AddressExpired`], [`Error::FileRefused`], or a transport error.
    pub async fn open(self, url: &SignedUrl, rules: &FileRules) -> Result<SignedStream, Error> {
        open(&self.requests.client.transport.http, url, rules).await
    }
}

/// Sends one request that identifies us only by the user agent.
pub(super) async fn open(http: &Http, url: &SignedUrl, rules: &FileRules) -> Result<SignedStream, Error> {
    if let Some(objection) = url.objection(http.allows_http(), &rules.hosts) {
        return Err(Error::AddressRefused { file: url.to_string(), objection });
    }
    let mut outgoing = reqwest::Request::new(Method::GET, url.0.clone());
    outgoing.headers_mut().insert(ACCEPT, HeaderValue::from_static("*/*"));
    #[expect(clippy::disallowed_methods, reason = "the one other place that sends: no token, no budget")]
    let sent = http.files()?.execute(outgoing).await;
    let mut response = sent.map_err(|error| not_answered(url, error))?;
    let status = response.status();
    // A partial or an empty answer is a success, but not the file.
    if status.as_u16() != 200 {
        let mut words = Vec::new();
        while let Ok(Some(chunk)) = response.chunk().await {
            words.extend_from_slice(&chunk);
            if words.len() > 4096 {
                break;
            }
        }
        return Err(refused(url, status.as_u16(), &String::from_utf8_lossy(&words)));
    }
    let text = |name| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let content_type = text(CONTENT_TYPE);
    // The request allowed no content encoding, and compressed bytes would be written unchanged.
    let packed = text(CONTENT_ENCODING).is_some_and(|coding| !coding.eq_ignore_ascii_case("identity"));
    if packed {
        return Err(Error::AddressRefused { file: url.to_string(), objection: "gives the file packed" });
    }
    let (file, largest, length) = (url.to_string(), rules.largest, response.content_length());
    let stream = SignedStream { response, file, largest, read: 0, length, content_type };
    match length {
        Some(length) if length > largest => Err(stream.too_large()),
        _ => Ok(stream),
    }
}

impl SignedStream {
    /// Returns the next chunk; `None` after the last one of a complete file.
    ///
    /// # Errors
    /// [`Error::Interrupted`] when the file is cut off, [`Error::TooLarge`] when it exceeds the limit.
    pub async fn chunk(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let chunk = self.response.chunk().await.map_err(|source| Error::Interrupted {
            request: format!("GET {}", self.file),
            read: true,
            source: source.without_url(),
        })?;
        let Some(chunk) = chunk else { return Ok(None) };
        self.read = self.read.saturating_add(u64::try_from(chunk.len()).unwrap_or(u64::MAX));
        if self.read > self.largest { Err(self.too_large()) } else { Ok(Some(chunk.to_vec())) }
    }

    fn too_large(&self) -> Error {
        let limit_mib = usize::try_from(self.largest >> 20).unwrap_or(usize::MAX);
        Error::TooLarge { request: format!("GET {}", self.file), read: true, limit_mib }
    }
}

fn not_answered(url: &SignedUrl, error: reqwest::Error) -> Error {
    if NotPublic::is_cause_of(&error) {
        return Error::AddressRefused { file: url.to_string(), objection: "leads to no public address" };
    }
    // The error's own address contains the signature.
    let source = error.without_url();
    let request = format!("GET {url}");
    match source.is_connect() {
        true => Error::Unreachable { request, host: url.host().to_owned(), source },
        false => Error::Interrupted { request, read: true, source },
    }
}
