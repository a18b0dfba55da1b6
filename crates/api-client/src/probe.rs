//! Probes the marketplace from outside: whether it answers, how fast, and what time it has. Uses no token and no
//! budget.

use std::time::Duration;

use chrono::{DateTime, Utc};
use espelho_model::Clock;
use reqwest::header::{DATE, RETRY_AFTER};

use crate::{Error, Http, client::parse_base, retry_after};

/// The public route that the probe calls ("Enums" of the document). It needs no token and counts against no token's
/// budget.
const ROUTE: &str = "/api/global/enums/order/status";

/// The marketplace answered, with any status: an HTTP server runs at `base_url`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reachability {
    /// From the first byte sent to the head of the answer, including the connection set-up.
    pub took: Duration,
    /// The HTTP status.
    pub status: u16,
    /// The server's clock in the middle of that time, to the second.
    pub date: Option<DateTime<Utc>>,
    /// The wait that a 429 asks for.
    pub wait: Option<Duration>,
}

/// Calls a public route once.
///
/// # Errors
/// [`Error::Setup`] when the address is invalid, [`Error::Unreachable`] when there is no connection,
/// [`Error::Interrupted`] when the connection gave no answer.
pub async fn probe(base_url: &str, http: &Http, clock: &dyn Clock) -> Result<Reachability, Error> {
    let base = parse_base(base_url, http.allows_http())?;
    let request = format!("GET {ROUTE}");
    let address = format!("{}{ROUTE}", base.as_str().trim_end_matches('/'));
    let address = address.parse().map_err(|error| Error::Setup(format!("{address}: {error}")))?;
    let begun = clock.monotonic();
    let outgoing = reqwest::Request::new(reqwest::Method::GET, address);
    #[expect(clippy::disallowed_methods, reason = "it has neither token nor budget to wait for")]
    let answered = http.client.execute(outgoing).await;
    let response = answered.map_err(|error| {
        let source = error.without_url();
        let host = base.host_str().unwrap_or_default();
        let host = base.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        match source.is_connect() {
            true => Error::Unreachable { request, host, source },
            false => Error::Interrupted { request, read: true, source },
        }
    })?;
    let date = response.headers().get(DATE).and_then(|value| value.to_str().ok());
    let date = date.and_then(|text| httpdate::parse_http_date(text).ok()).map(DateTime::<Utc>::from);
    let took = clock.monotonic().saturating_sub(begun);
    let (status, now) = (response.status().as_u16(), date.unwrap_or_else(|| clock.now()));
    let wait = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let wait = (status == 429).then(|| retry_after::after_429(wait, now));
    Ok(Reachability { took, status, date, wait })
}
