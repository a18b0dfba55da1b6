//! One request: its address, its limits, its signature, and its way into the inbox.

use std::{sync::Arc, time::Duration};

use espelho_model::{Clock, StoreKey};
use espelho_store::NewDelivery;
use http_body_util::{BodyExt as _, Empty};
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode,
    body::{Body, Bytes as Chunk, Incoming},
    header,
};
use sha2::{Digest as _, Sha256};

use super::{
    commit::{Bytes, Kept, Overloaded, Queue},
    event,
    measure::{self, Outcome},
    secrets::Secrets,
    warnings::Warning,
};
use crate::{health::Health, http::connections::Connection, terminal::shown};

/// The largest body that is read.
pub(super) const MOST_BODY: usize = 256 << 10;
/// When a delivery that found the queue full may come again, in seconds.
const RETRY_AFTER: &str = "5";
const SIGNATURE: &str = "x-webhook-signature";

type Answer = Response<Empty<Chunk>>;

/// What every request needs.
pub(super) struct Receiver {
    pub secrets: Secrets,
    pub queue: Queue,
    pub health: Arc<Health>,
    pub clock: Arc<dyn Clock>,
    /// Limits the warnings about signed requests to addresses that no store has.
    pub misled: Warning,
}

/// The reason why a delivery is not acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    NotFound,
    Method,
    Encoding,
    TooLarge,
    Signature,
    /// The queue is full, or the database does not answer.
    Overloaded,
    /// The body did not come in time.
    Late,
    /// The body broke off.
    Broken,
}

/// Tells whether a body was encoded; `identity` says that it was not.
fn is_encoded(headers: &HeaderMap) -> bool {
    let encodings = headers.get_all(header::CONTENT_ENCODING);
    encodings.iter().any(|encoding| !encoding.as_bytes().trim_ascii().eq_ignore_ascii_case(b"identity"))
}

impl Receiver {
    /// Answers one request within its remaining time: 200 once its delivery is durable, else the status of its refusal.
    pub(super) async fn answer<B>(&self, request: Request<B>, connection: &Connection) -> Answer
    where
        B: Body<Data = Chunk> + Unpin,
    {
        let (began, left) = (self.clock.monotonic(), connection.request_began());
        let answer = match self.store_of(&request) {
            Ok(store) => {
                let outcome = self.deliver(&store, request, connection, began + left).await;
                self.count(&store, &outcome, began);
                outcome.map_or_else(refused, |_| status(StatusCode::OK))
            }
            Err(refusal) => {
                self.warn_of(refusal, &request);
                refused(refusal)
            }
        };
        connection.request_ended();
        answer
    }

    fn store_of<B>(&self, request: &Request<B>) -> Result<StoreKey, Refusal> {
        let key = request.uri().path().strip_prefix("/webhooks/").ok_or(Refusal::NotFound)?;
        let store = self.secrets.store_named(key).ok_or(Refusal::NotFound)?;
        if request.method() == Method::POST { Ok(store) } else { Err(Refusal::Method) }
    }

    /// A signed request to an address that no store has is a webhook with a wrong address, or of a removed store.
    fn warn_of<B>(&self, refusal: Refusal, request: &Request<B>) {
        if refusal == Refusal::NotFound
            && request.headers().contains_key(SIGNATURE)
            && self.misled.is_due(self.clock.monotonic())
        {
            let path = shown(request.uri().path());
            let next_step = "webhook.public_url, behind its proxy, must reach /webhooks/STORE; correct it, then `espelho webhook move`";
            tracing::warn!(path, next_step, "a delivery came to an address that no store has");
        }
    }

    async fn deliver<B>(
        &self,
        store: &StoreKey,
        request: Request<B>,
        connection: &Connection,
        deadline: Duration,
    ) -> Result<(Kept, &'static str), Refusal>
    where
        B: Body<Data = Chunk> + Unpin,
    {
        let (head, body) = request.into_parts();
        // A body that was re-encoded on its way cannot be compared with the signed one.
        if is_encoded(&head.headers) {
            return Err(Refusal::Encoding);
        }
        if body.size_hint().lower() > MOST_BODY as u64 {
            return Err(Refusal::TooLarge);
        }
        // Without a signature there is no reason to read on.
        let signature = only_signature(&head.headers).ok_or(Refusal::Signature)?;
        let (body, bytes) = self.in_time(deadline, self.read(body)).await.unwrap_or(Err(Refusal::Late))?;
        let is_verified =
            self.secrets.verify(store, &body, signature).await.map_err(|_| Refusal::Overloaded)?;
        if let Some(in_a_row) = self.secrets.count(store, is_verified) {
            self.health.change(store, |health| health.unverified = in_a_row);
        }
        if !is_verified {
            return Err(Refusal::Signature);
        }
        connection.proven();
        let event = event::name(&body);
        let label = event::label(event.as_deref());
        let delivery = NewDelivery {
            store: store.clone(),
            received_at: self.clock.now(),
            event,
            digest: hex::encode(Sha256::digest(&body)),
            body,
        };
        // Its commit belongs to a task of its own, and goes on even if nobody waits for it.
        let kept = self.in_time(deadline, self.queue.keep(delivery, bytes)).await.unwrap_or(Err(Overloaded));
        kept.map(|kept| (kept, label)).map_err(|Overloaded| Refusal::Overloaded)
    }

    async fn in_time<T>(&self, deadline: Duration, work: impl Future<Output = T>) -> Option<T> {
        let left = deadline.saturating_sub(self.clock.monotonic());
        tokio::time::timeout(left, work).await.ok()
    }

    /// Reads a body up to its limit, and reserves memory only for the bytes that came.
    async fn read<B: Body<Data = Chunk> + Unpin>(&self, mut body: B) -> Result<(Vec<u8>, Bytes), Refusal> {
        let mut whole = Vec::new();
        let mut held = Bytes::default();
        while let Some(frame) = body.frame().await {
            // Trailers say nothing about a delivery.
            let Ok(chunk) = frame.map_err(|_| Refusal::Broken)?.into_data() else { continue };
            if whole.len() + chunk.len() > MOST_BODY {
                return Err(Refusal::TooLarge);
            }
            self.queue.more_bytes(&mut held, chunk.len()).map_err(|Overloaded| Refusal::Overloaded)?;
            whole.extend_from_slice(&chunk);
        }
        Ok((whole, held))
    }

    fn count(&self, store: &StoreKey, outcome: &Result<(Kept, &'static str), Refusal>, began: Duration) {
        let (event, outcome) = match outcome {
            Ok((Kept::New, event)) => (*event, Outcome::Stored),
            Ok((Kept::Duplicate, event)) => (*event, Outcome::Duplicate),
            Err(Refusal::Signature) => (event::OTHER, Outcome::BadSignature),
            Err(Refusal::Overloaded) => {
                self.queue.note_refused(store);
                (event::OTHER, Outcome::Overloaded)
            }
            Err(_) => return,
        };
        measure::delivery(store, event, outcome);
        if matches!(outcome, Outcome::Stored | Outcome::Duplicate) {
            measure::acknowledged_after(self.clock.monotonic().saturating_sub(began));
        }
    }
}

/// Returns the value of the signature header if there is exactly one.
fn only_signature(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(SIGNATURE).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok().filter(|text| text.len() == "sha256=".len() + 64),
        _ => None,
    }
}

fn status(status: StatusCode) -> Answer {
    let mut answer = Response::new(Empty::new());
    *answer.status_mut() = status;
    answer
}

fn refused(refusal: Refusal) -> Answer {
    let mut answer = status(match refusal {
        Refusal::NotFound => StatusCode::NOT_FOUND,
        Refusal::Method => StatusCode::METHOD_NOT_ALLOWED,
        Refusal::Encoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Refusal::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Refusal::Signature => StatusCode::UNAUTHORIZED,
        Refusal::Overloaded => StatusCode::SERVICE_UNAVAILABLE,
        Refusal::Late => StatusCode::REQUEST_TIMEOUT,
        Refusal::Broken => StatusCode::BAD_REQUEST,
    });
    let value = header::HeaderValue::from_static;
    match refusal {
        Refusal::Method => answer.headers_mut().insert(header::ALLOW, value("POST")),
        Refusal::Overloaded => answer.headers_mut().insert(header::RETRY_AFTER, value(RETRY_AFTER)),
        _ => None,
    };
    answer
}

/// A request as the listener passes it on, its body not yet read.
pub(super) type Arriving = Request<Incoming>;
