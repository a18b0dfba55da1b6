//! The one way to the network: sends one request once and classifies its answer.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
    time::Duration,
};

use chrono::{DateTime, Utc};
use espelho_model::{Clock, watch};
use reqwest::{
    Response, StatusCode, Url,
    header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderValue, RETRY_AFTER},
    multipart::{Form, Part},
};
use secrecy::ExposeSecret;
use tokio::sync::OwnedSemaphorePermit;
use tracing::{Instrument as _, Span, field::Empty};

use crate::{
    ApiRequest, HeldAnswers,
    answer_memory::{BodyPermits, BodySize, LARGEST_BODY},
    client_metrics::ClientMetrics,
    error::{Class, Error, Refusal, presentable},
    http::Http,
    limit::Permit,
    owner::Ownership,
    request::{Body, File},
    retry_after,
    token::TokenRecord,
    wire::envelope::{BodyError, passing_status},
};

/// The most memory that an announced length reserves at once.
const USUAL_ANSWER: usize = 32 << 10;
/// The target of the spans that an exporter of traces takes; logs leave it out.
pub const TRACE_TARGET: &str = "espelho_trace";

/// The span of one request, by OpenTelemetry's names for HTTP clients. Its route has no identifier in it.
fn call_span(request: &ApiRequest) -> Span {
    tracing::info_span!(
        target: TRACE_TARGET,
        "call",
        otel.name = format!("{} {}", request.method, request.route),
        otel.kind = "client",
        otel.status_code = Empty,
        http.request.method = request.method.as_str(),
        http.route = request.route,
        http.response.status_code = Empty,
        error.type = Empty,
    )
}

fn note_answer(span: &Span, answer: &Result<Answer, Error>) {
    if span.is_disabled() {
        return;
    }
    let status = match answer {
        Ok(answer) => Some(answer.status),
        Err(Error::Refused { status, .. }) => Some(*status),
        Err(_) => None,
    };
    if let Some(status) = status {
        span.record("http.response.status_code", status);
    }
    if let Err(error) = answer {
        span.record("otel.status_code", "ERROR");
        span.record("error.type", error.code().as_str());
    }
}

/// A 2xx answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) body: Vec<u8>,
    size: BodySize,
    status: u16,
    content_type: String,
    /// The server's clock at the time of the answer.
    pub(crate) date: Option<DateTime<Utc>>,
    /// Its share of the memory budget, until it is read.
    _memory: (BodyPermits, Option<OwnedSemaphorePermit>),
}

/// What was sent so far.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) requests: AtomicU64,
    pub(crate) rate_limited: AtomicU64,
    pub(crate) logins: AtomicU64,
}

/// Sends single requests and classifies the results. Knows neither budget nor token.
pub(crate) struct Transport {
    pub(crate) base: Url,
    pub(crate) counters: Counters,
    pub(crate) metrics: Arc<ClientMetrics>,
    clock: Arc<dyn Clock>,
    pub(crate) http: Http,
    /// Checks the store's lease, if set.
    pub(crate) owner: Ownership,
    /// The path of the base address without a trailing slash, ready for a route's path.
    prefix: String,
}

/// The rate headers of an answer.
#[derive(Clone, Copy, Debug, Default)]
struct RateHeaders {
    limit: Option<u32>,
    remaining: Option<u32>,
    /// Whether the answer has a `Retry-After` header.
    has_retry_after: bool,
}

impl Transport {
    pub(crate) fn new(base: Url, http: Http, clock: Arc<dyn Clock>) -> Self {
        let prefix = base.path().trim_end_matches('/').to_owned();
        Self {
            base,
            counters: Counters::default(),
            metrics: Arc::default(),
            clock,
            http,
            owner: Ownership::default(),
            prefix,
        }
    }

    /// Sends one request once and records it in the metrics.
    pub(crate) async fn once(
        &self,
        request: &ApiRequest,
        token: Option<&TokenRecord>,
        permit: Option<Permit>,
        held: Option<&HeldAnswers>,
    ) -> Result<Answer, Error> {
        let begun = self.clock.monotonic();
        let span = call_span(request);
        let answer = self.transport(request, token, permit, held).instrument(span.clone()).await;
        note_answer(&span, &answer);
        self.http.timings.answered(request.route, self.clock.monotonic().saturating_sub(begun));
        self.metrics.request(request, &answer);
        answer
    }

    async fn transport(
        &self,
        request: &ApiRequest,
        token: Option<&TokenRecord>,
        permit: Option<Permit>,
        held: Option<&HeldAnswers>,
    ) -> Result<Answer, Error> {
        let outgoing = self.build(request, token)?;
        // The semaphore is never closed. Waiting here holds the permit a little longer, which is safe.
        let waiting = watch::idle();
        let place = self.http.places.acquire().await.ok();
        drop(waiting);
        if let Err(error) = self.owner.may_call(request).await {
            permit.into_iter().for_each(Permit::unused);
            return Err(error);
        }
        #[expect(clippy::disallowed_methods, reason = "this is the one place that sends")]
        let sending = in_a_later_poll(self.http.client.execute(outgoing));
        let sent = tokio::select! {
            biased;
            sent = sending => sent,
            error = self.owner.no_longer_ours(request) => return Err(error),
        };
        let response = match sent {
            Ok(response) => response,
            Err(error) => return Err(self.not_answered(request, error, permit)),
        };
        let rate = RateHeaders::of(&response);
        let answer = self.read(request, response, held).await;
        // A reader that holds answers may need the place to go on.
        drop(place);
        if let Some(permit) = permit {
            match answer.as_ref().err().and_then(too_many) {
                Some(wait) => {
                    // A server that states neither a wait nor a remaining budget is not trusted on the scope: all
                    // routes pause.
                    let route = (rate.has_retry_after || rate.remaining.is_some()).then_some(request.route);
                    permit.refused(route, (rate.limit, rate.remaining), wait);
                }
                None => permit.served(request.route, rate.limit, rate.remaining),
            }
        }
        let mut answer = answer?;
        answer._memory.1 = self.http.memory.hold(answer.size, held).await;
        Ok(answer)
    }

    fn build(&self, request: &ApiRequest, token: Option<&TokenRecord>) -> Result<reqwest::Request, Error> {
        // Joining parses the path only. A path that would lead to another host is refused.
        let url = self.base.join(&format!("{}{}", self.prefix, request.path_and_query));
        let url = url.map_err(|e| Error::Setup(format!("{}: {e}", request.describe())))?;
        if (url.host_str(), url.port()) != (self.base.host_str(), self.base.port()) {
            return Err(Error::Setup(format!("{}: not an address of the marketplace", request.describe())));
        }
        let mut outgoing = reqwest::Request::new(request.method.clone(), url);
        if let Some(token) = token {
            let bearer = format!("Bearer {}", token.token.expose_secret());
            let mut value = HeaderValue::try_from(bearer)
                .map_err(|_| Error::Setup("the token has characters that no header can carry".into()))?;
            value.set_sensitive(true);
            outgoing.headers_mut().insert(AUTHORIZATION, value);
        }
        let builder = reqwest::RequestBuilder::from_parts(self.http.client.clone(), outgoing);
        let builder = match &request.body {
            Body::Empty => builder,
            Body::Json(json) => builder.header(CONTENT_TYPE, "application/json").body(json.clone()),
            Body::File(file) => builder.multipart(form(file)?),
        };
        let builder = match request.time_limit {
            Some(limit) => builder.timeout(limit),
            None => builder,
        };
        builder.build().map_err(|e| Error::Setup(format!("{}: {e}", request.describe())))
    }

    fn not_answered(&self, request: &ApiRequest, error: reqwest::Error, permit: Option<Permit>) -> Error {
        let error = error.without_url();
        if error.is_connect() {
            if let Some(permit) = permit {
                permit.unused();
            }
            let host = self.base.host_str().unwrap_or_default().to_owned();
            let host = self.base.port().map_or_else(|| host.clone(), |port| format!("{host}:{port}"));
            return Error::Unreachable { request: request.describe(), host, source: error };
        }
        self.count(request);
        Error::Interrupted { request: request.describe(), read: request.is_read(), source: error }
    }

    async fn read(
        &self,
        request: &ApiRequest,
        mut response: Response,
        held: Option<&HeldAnswers>,
    ) -> Result<Answer, Error> {
        self.count(request);
        let status = response.status();
        let retry_after = header(&response, RETRY_AFTER.as_str()).map(str::to_owned);
        let content_type = header(&response, CONTENT_TYPE.as_str()).unwrap_or("no content type").to_owned();
        let date = header(&response, DATE.as_str()).and_then(|date| httpdate::parse_http_date(date).ok());
        let date = date.map(DateTime::<Utc>::from);
        date.into_iter().for_each(|date| self.metrics.clock_ahead(date, self.clock.now()));
        let announced = response.content_length().and_then(|length| usize::try_from(length).ok());
        let too_large =
            |limit_mib| Error::TooLarge { request: request.describe(), read: request.is_read(), limit_mib };
        let mut body = Vec::with_capacity(announced.unwrap_or_default().min(USUAL_ANSWER));
        let mut permits = BodyPermits::default();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) if body.len() + chunk.len() > LARGEST_BODY => {
                    return Err(too_large(LARGEST_BODY >> 20));
                }
                Ok(Some(chunk)) => {
                    let length = body.len() + chunk.len();
                    self.http.memory.receive(&mut permits, &mut body, length, held).await;
                    body.extend_from_slice(&chunk);
                }
                Ok(None) => break,
                Err(source) => {
                    let source = source.without_url();
                    return Err(Error::Interrupted {
                        request: request.describe(),
                        read: request.is_read(),
                        source,
                    });
                }
            }
        }
        // A byte order mark is not JSON, but what follows it may be.
        if body.starts_with(b"\xEF\xBB\xBF") {
            body.drain(..3);
        }
        let size = BodySize::of(&body);
        if let Some(limit_mib) = size.exceeded() {
            return Err(too_large(limit_mib));
        }
        let _memory = (permits, None);
        let answer = Answer { body, size, status: status.as_u16(), content_type, date, _memory };
        if status.is_success() {
            return request.accept(answer);
        }
        Err(self.refused(request, status, &answer, retry_after.as_deref()))
    }

    fn refused(
        &self,
        request: &ApiRequest,
        status: StatusCode,
        answer: &Answer,
        retry_after: Option<&str>,
    ) -> Error {
        // A date in the header is by the server's clock.
        let now = answer.date.unwrap_or_else(|| self.clock.now());
        let after = match status {
            StatusCode::TOO_MANY_REQUESTS => {
                self.counters.rate_limited.fetch_add(1, Ordering::Relaxed);
                Some(retry_after::after_429(retry_after, now))
            }
            StatusCode::SERVICE_UNAVAILABLE => {
                retry_after.map(|header| retry_after::after_429(Some(header), now))
            }
            _ => None,
        };
        let refusal = Refusal::parse(&answer.body);
        if refusal == Refusal::default() && status.is_server_error() && after.is_none() {
            return request.unreadable(answer, "a server error without the API's error envelope");
        }
        Error::Refused {
            request: request.describe(),
            read: request.is_read(),
            status: status.as_u16(),
            refusal: Box::new(refusal),
            after,
        }
    }

    fn count(&self, request: &ApiRequest) {
        if request.authenticated {
            self.counters.requests.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Lets a future that is ready at its first poll be so at the next one. The poll that sends a request then never reads
/// its answer: whoever notes which input a thread works on can leave that poll out.
async fn in_a_later_poll<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    let (mut is_first, mut early) = (true, None);
    poll_fn(|context| {
        if let Some(output) = early.take() {
            return Poll::Ready(output);
        }
        match work.as_mut().poll(context) {
            Poll::Ready(output) if is_first => {
                early = Some(output);
                context.waker().wake_by_ref();
                Poll::Pending
            }
            polled => {
                is_first = false;
                polled
            }
        }
    })
    .await
}

/// Builds the form of an upload.
fn form(file: &File) -> Result<Form, Error> {
    let part = Part::bytes(file.bytes.clone())
        .file_name(file.name.clone())
        .mime_str(file.media_type)
        .map_err(|e| Error::Setup(format!("{:?} is no media type: {e}", file.media_type)))?;
    Ok(Form::new().part(file.field, part))
}

impl ApiRequest {
    /// Accepts a 2xx only if its body may be JSON; a proxy's page is no answer.
    fn accept(&self, answer: Answer) -> Result<Answer, Error> {
        match answer.body.iter().find(|b| !b.is_ascii_whitespace()) {
            Some(b'{' | b'[') => Ok(answer),
            // A deletion or a queued job needs no body.
            None if answer.status == 204 || answer.status == 202 && !self.is_read() => {
                Ok(Answer { body: b"{}".to_vec(), ..answer })
            }
            _ => Err(self.unreadable(&answer, "not a JSON object or list")),
        }
    }

    /// Returns the error for a 2xx with an unusable body.
    pub(crate) fn no_answer(&self, answer: &Answer, cause: BodyError) -> Error {
        match cause {
            BodyError::Broken(error) => self.unreadable(answer, &error.to_string()),
            BodyError::Shape(problem) => Error::Unexpected {
                request: self.describe(),
                read: self.is_read(),
                problem: presentable(&problem),
            },
            // A read that is denied with a 2xx failed as its envelope says: a server's trouble passes. A write keeps
            // the status that leaves its effect unknown.
            BodyError::Denied => Error::Refused {
                request: self.describe(),
                read: self.is_read(),
                status: passing_status(&answer.body).filter(|_| self.is_read()).unwrap_or(answer.status),
                refusal: Box::new(Refusal::parse(&answer.body)),
                after: None,
            },
        }
    }

    /// Returns the error for an unreadable answer. It shows nothing of the body, which may hold a token or a buyer's name.
    fn unreadable(&self, answer: &Answer, problem: &str) -> Error {
        Error::Unreadable {
            request: self.describe(),
            read: self.is_read(),
            status: answer.status,
            content_type: presentable(&answer.content_type),
            problem: presentable(problem),
        }
    }
}

/// Returns the wait that a 429 asked for.
fn too_many(error: &Error) -> Option<Duration> {
    match error.class() {
        Class::Transient { after: Some(wait) } if error.is_too_many() => Some(wait),
        _ => None,
    }
}

impl RateHeaders {
    fn of(response: &Response) -> Self {
        let number = |name| header(response, name).and_then(|value| value.trim().parse().ok());
        Self {
            limit: number("x-ratelimit-limit"),
            remaining: number("x-ratelimit-remaining"),
            has_retry_after: response.headers().contains_key(RETRY_AFTER),
        }
    }
}

fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    response.headers().get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::AtomicUsize,
        task::{Context, Wake, Waker},
    };

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn the_poll_that_sends_a_request_never_reads_its_answer() {
        for (pending, woken) in [(0_u32, 1), (1, 0), (2, 0)] {
            let (mut left, calls) = (pending, Arc::<Woken>::default());
            let answer = poll_fn(|_| match left {
                0 => Poll::Ready("answer"),
                _ => {
                    left -= 1;
                    Poll::Pending
                }
            });
            let mut sending = pin!(in_a_later_poll(answer));
            let waker = Waker::from(Arc::clone(&calls));
            let mut context = Context::from_waker(&waker);
            for _ in 0..pending.max(1) {
                assert!(sending.as_mut().poll(&mut context).is_pending(), "{pending}");
            }
            assert_eq!(sending.as_mut().poll(&mut context), Poll::Ready("answer"));
            assert_eq!(calls.0.load(Ordering::Relaxed), woken, "it asks to be polled again itself");
        }
    }
}
