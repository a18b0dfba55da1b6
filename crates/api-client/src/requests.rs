//! Sends requests until they are answered: limit, token, send, classify, and again where that is safe.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, FixedOffset, Utc};
use parking_lot::Mutex;

use crate::{
    ApiRequest, Client,
    client_metrics::ClientMetrics,
    contact,
    error::{Class, Error},
    limit::Permit,
    retry::Attempts,
    schema_drift,
    send::Answer,
    wire::envelope::{BodyError, check_written},
};

/// How many 429 answers to one request are tolerated. After each, the request waits as long as the server says.
const TOO_MANY: u32 = 30;
/// How many 401 answers to one request are tolerated: first the newer token of the token store is tried, then a fresh
/// one.
const REAUTHENTICATIONS: u32 = 2;

/// Sends requests with a client and reads their answers. Every handle on the client sends through it.
#[derive(Clone, Copy, Debug)]
pub struct Requests<'a> {
    pub(crate) client: &'a Client,
}

impl Client {
    /// Requests that the caller has built.
    pub fn requests(&self) -> Requests<'_> {
        Requests { client: self }
    }

    /// Returns the same client with a token and a permit reserved for one request. The request then leaves at once,
    /// so the caller can journal it as sent immediately before it leaves, and not minutes before. The client does not
    /// repeat it after a lost connection or a 429.
    ///
    /// # Errors
    /// When no token can be obtained, or the quota store cannot be written.
    pub async fn with_slot(&self, request: &ApiRequest) -> Result<Self, Error> {
        self.tokens.current().await?;
        let slot = self.requests().wait_for_slot(request).await?;
        Ok(Self { slot: Some(Arc::new(Mutex::new(Some(slot)))), ..self.clone() })
    }
}

impl<'a> Requests<'a> {
    /// Returns the offset for timestamps that carry none.
    pub(crate) fn naive_offset(self) -> FixedOffset {
        self.client.naive_offset
    }

    /// Returns the client metrics, by route.
    pub(crate) fn metrics(self) -> &'a ClientMetrics {
        &self.client.transport.metrics
    }

    /// Sends a request until its answer can be read, or until an error occurs that waiting does not fix.
    ///
    /// Every attempt takes its own permit. Only reads are repeated. A write is sent once, and an unknown outcome is
    /// returned as [`Class::Ambiguous`].
    pub(crate) async fn send<T>(
        self,
        request: &ApiRequest,
        read: impl Fn(&[u8]) -> Result<T, BodyError>,
    ) -> Result<T, Error> {
        let mut attempts = Attempts::new(self.client.attempts);
        let (mut reauthentications, mut too_many) = (0, 0);
        loop {
            let token = match request.authenticated {
                true => Some(self.client.tokens.current().await?),
                false => None,
            };
            let begun = self.client.clock.monotonic();
            let permit = match self.take_slot() {
                Some(slot) => slot,
                None => self.wait_for_slot(request).await?,
            };
            let waited = self.client.clock.monotonic().saturating_sub(begun);
            self.client.transport.http.timings().waited(self.client.lane, waited);
            // Boxed, so that a request which waits for its permit takes no memory for its answer: thousands wait at once.
            let sending = self.client.transport.once(
                request,
                token.as_deref(),
                Some(permit),
                self.client.held.as_ref(),
            );
            let answer = Box::pin(sending).await;
            if let Ok(answer) = &answer {
                self.check_schema_drift(request, answer);
            }
            let read = answer.and_then(|answer| {
                let checked = if request.is_read() { Ok(()) } else { check_written(&answer.body) };
                checked.and_then(|()| read(&answer.body)).map_err(|cause| request.no_answer(&answer, cause))
            });
            self.metrics().contact(contact::Outcome::of(request, &read), self.client.clock.now());
            let error = match read {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            if request.is_read() && error.is_absent() {
                self.metrics().absent(request);
            }
            match (error.class(), token) {
                (Class::Reauthenticate, Some(refused)) if reauthentications < REAUTHENTICATIONS => {
                    reauthentications += 1;
                    self.client.tokens.after_refusal(&refused).await?;
                }
                // The caller has journalled the request as sent now, so it must learn that it was not, before any
                // wait.
                (Class::Transient { .. }, _) if self.holds_slot() => return Err(error),
                (Class::Transient { after: Some(_) }, _) if error.is_too_many() && too_many < TOO_MANY => {
                    // The server did not process the request, so it costs no attempt. The rate limiter decides who
                    // waits.
                    too_many += 1;
                }
                (Class::Transient { after }, _) => {
                    self.wait_before_retry(request, error, after, &mut attempts).await?;
                }
                _ => return Err(error),
            }
        }
    }

    /// Repeats a read that was refused for lack of an ability, or that fails while other routes work, if none of them was
    /// tried since `before`. A useful answer ends the trouble
    /// ([`ClientMetrics::missing_abilities`](crate::client_metrics::ClientMetrics::missing_abilities),
    /// [`ClientMetrics::failing_routes`](crate::client_metrics::ClientMetrics::failing_routes)).
    pub async fn repeat_failed_read(self, before: DateTime<Utc>) {
        if let Some(request) = self.metrics().read_to_repeat(before) {
            // The contact record gets the outcome.
            let _ = self.send(&request, |_| Ok(())).await;
        }
    }

    fn check_schema_drift(self, request: &ApiRequest, answer: &Answer) {
        let metrics = self.metrics();
        if request.is_read()
            && schema_drift::knows(request.route)
            && metrics.is_due(request.route, self.client.clock.monotonic())
        {
            schema_drift::look(metrics, request.route, &answer.body);
        }
    }

    async fn wait_before_retry(
        self,
        request: &ApiRequest,
        error: Error,
        after: Option<Duration>,
        attempts: &mut Attempts,
    ) -> Result<(), Error> {
        if let Some(pause) = after.filter(|_| !error.is_too_many()) {
            self.client.limiter.pause(pause);
        }
        let Some(delay) = attempts.next_delay(after) else { return Err(error) };
        tracing::debug!(route = request.route(), delay_ms = delay.as_millis() as u64, %error, "will retry");
        tokio::select! {
            biased;
            () = self.client.clock.sleep(delay) => Ok(()),
            () = self.client.transport.owner.closing() => Err(error),
        }
    }

    /// Waits for the route's pace and acquires a permit from the rate limiter.
    async fn wait_for_slot(self, request: &ApiRequest) -> Result<Permit, Error> {
        let slot = async {
            self.client.limiter.keep_route_pace(request.route).await;
            self.client.limiter.acquire(self.client.lane).await
        };
        tokio::select! {
            biased;
            slot = slot => slot,
            () = self.client.transport.owner.closing() => Err(Error::Stopped { request: request.describe() }),
        }
    }

    /// Returns whether the client was made for one request.
    fn holds_slot(self) -> bool {
        self.client.slot.is_some()
    }

    /// Takes the reserved permit; a second call returns `None`.
    fn take_slot(self) -> Option<Permit> {
        self.client.slot.as_ref()?.lock().take()
    }
}
