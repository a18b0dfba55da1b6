//! The HTTP connections to the marketplace and to its storages, and their common settings.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};
use tokio::sync::Semaphore;

use crate::{AnswerMemory, Error, client_metrics::Timings};

/// The most calls in flight at once, over all stores: each needs a connection and buffers. At 200 ms an answer this
/// is 1,280 requests a second, the sweeps of 6,000 stores.
const EXCHANGES: usize = 256;
/// The most idle connections that are kept open.
const IDLE_CONNECTIONS: usize = 64;

/// The connections to the marketplace. Stores of one environment share them.
#[derive(Clone, Debug)]
pub struct Http {
    pub(crate) client: reqwest::Client,
    /// Connections to storages, created on first use.
    pub(crate) files: Arc<OnceLock<reqwest::Client>>,
    allow_http: bool,
    /// Limits the calls in flight over all stores.
    pub(crate) places: Arc<Semaphore>,
    pub(crate) timings: Timings,
    /// Limits the memory of answers over all stores.
    pub(crate) memory: Arc<AnswerMemory>,
}

/// The use of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Api,
    Files,
}

/// The error of a client that cannot be built, with its innermost cause: the outer one says nothing.
pub(crate) fn no_client(error: &reqwest::Error) -> Error {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    Error::Setup(format!("no HTTP client: {cause}"))
}

impl Http {
    /// Sets up connections. Plain `http://` works only with `allow_http` (for the sandbox). `timeout` limits one
    /// call.
    ///
    /// # Errors
    /// When the TLS library cannot be set up: a machine without certificates has nobody to trust.
    pub fn new(allow_http: bool, timeout: Duration) -> Result<Self, Error> {
        let client = builder(allow_http, Purpose::Api)
            .timeout(timeout)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .build();
        let client = client.map_err(|error| no_client(&error))?;
        let places = Arc::new(Semaphore::new(EXCHANGES));
        let (timings, memory) = (Timings::default(), Arc::default());
        Ok(Self { client, files: Arc::default(), allow_http, places, timings, memory })
    }

    /// Returns the same connections with the memory budget of others.
    #[must_use]
    pub fn with_memory(self, memory: Arc<AnswerMemory>) -> Self {
        Self { memory, ..self }
    }

    /// Returns the memory budget for answers.
    pub fn memory(&self) -> &Arc<AnswerMemory> {
        &self.memory
    }

    /// Returns the durations of answers and waits over all stores that share these connections.
    pub fn timings(&self) -> &Timings {
        &self.timings
    }

    /// Returns a builder for further connections with the same settings.
    pub(crate) fn builder(&self, purpose: Purpose) -> reqwest::ClientBuilder {
        builder(self.allow_http, purpose)
    }

    /// Returns whether plain `http://` is allowed.
    pub(crate) fn allows_http(&self) -> bool {
        self.allow_http
    }
}

fn builder(allow_http: bool, purpose: Purpose) -> reqwest::ClientBuilder {
    let mut headers = HeaderMap::new();
    if purpose == Purpose::Api {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    }
    // The library's own retries and redirects would send effects twice and tokens to other hosts.
    reqwest::Client::builder()
        .user_agent(concat!("espelho/", env!("CARGO_PKG_VERSION")))
        .default_headers(headers)
        .https_only(!allow_http)
        .tls_version_min(reqwest::tls::Version::TLS_1_2)
        .gzip(purpose == Purpose::Api)
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(Duration::from_secs(10))
        .pool_idle_timeout(Duration::from_secs(30))
        .tcp_nodelay(true)
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::{TcpListener, TcpStream},
    };

    use super::*;

    const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    const SETTINGS_ACK: [u8; 9] = [0, 0, 0, 4, 1, 0, 0, 0, 0];

    /// Refuses every stream of an HTTP/2 connection and counts the requests. RFC 9113, 8.7: the server processed
    /// nothing, and a client may send the request again.
    async fn refuse_streams(mut connection: TcpStream, requests: &std::sync::atomic::AtomicUsize) {
        let mut preface = [0; 24];
        if connection.read_exact(&mut preface).await.is_err()
            || connection.write_all(&SETTINGS).await.is_err()
        {
            return;
        }
        let mut head = [0; 9];
        while connection.read_exact(&mut head).await.is_ok() {
            let [a, b, c, kind, flags, stream @ ..] = head;
            let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
            let _ = connection.read_exact(&mut payload).await;
            let answer = match (kind, flags) {
                (1, _) => {
                    requests.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    [&[0, 0, 4, 3, 0][..], &stream, &[0, 0, 0, 7]].concat()
                }
                (4, 0) => SETTINGS_ACK.to_vec(),
                _ => continue,
            };
            let _ = connection.write_all(&answer).await;
        }
    }

    // withstands: F005
    #[tokio::test]
    async fn a_request_whose_stream_is_refused_is_not_sent_again_by_the_library() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/api/products/1/stock", listener.local_addr().unwrap());
        let requests = std::sync::atomic::AtomicUsize::new(0);
        let client = builder(true, Purpose::Api).http2_prior_knowledge().build().unwrap();
        let serving = async {
            loop {
                let (connection, _) = listener.accept().await.unwrap();
                refuse_streams(connection, &requests).await;
            }
        };
        #[expect(clippy::disallowed_methods, reason = "what the library does by itself is what is looked at")]
        let asking = async { client.post(address).body("{}").send().await };
        let error = tokio::select! {
            () = serving => unreachable!("it serves for ever"),
            answered = asking => answered.unwrap_err(),
        };
        assert!(!error.is_connect(), "{error:?}");
        assert_eq!(requests.into_inner(), 1);
    }
}
