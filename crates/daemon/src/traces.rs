//! Traces (OpenTelemetry): what is done for an order is one trace, whenever and by whichever process it is done.
//!
//! A trace's id follows from the store and the order's number, so nobody has to hand it on: a delivery of today and a
//! command of next week meet in it, and whoever knows the order finds it ([`trace_id`]). Spans come from
//! `espelho_sync_engine::order_trace` and the client. They are sent in batches by a thread of their own; where the
//! collector does not take them, they are dropped, and the work goes on.

use std::{fmt, time::Duration};

use espelho_model::StoreKey;
use espelho_sync_engine::order_trace;
use futures_util::future::BoxFuture;
use opentelemetry::{
    Context,
    trace::{
        SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState, TracerProvider as _,
    },
};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::{Resource, trace::SdkTracerProvider};
use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;
use tracing::{Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::{Layer, filter::filter_fn, registry::LookupSpan};

use crate::{config::Traces as Section, outgoing::Http};

/// The longest wait for the last spans when the program ends.
const LAST_SPANS: Duration = Duration::from_secs(2);

/// The way of spans to a collector.
pub(crate) struct Traces {
    provider: SdkTracerProvider,
}

impl Traces {
    /// Opens the way to the configured collector, if there is one. Where it cannot be opened, the work goes on without.
    pub(crate) fn of(section: &Section) -> Option<Self> {
        let opened = Self::to(section.endpoint.as_deref()?);
        opened.inspect_err(|error| eprintln!("espelho: no traces are sent: {error}")).ok()
    }

    fn to(endpoint: &str) -> Result<Self, String> {
        let client = Collector { http: Http::default(), runtime: Handle::current() };
        let exporter = SpanExporter::builder().with_http().with_http_client(client).with_endpoint(endpoint);
        let exporter = exporter.build().map_err(|error| error.to_string())?;
        let resource = Resource::builder_empty().with_service_name("espelho");
        let resource = resource
            .with_attribute(opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        let provider =
            SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build();
        order_trace::join_by(join);
        Ok(Self { provider })
    }

    /// Returns what takes the spans.
    pub(crate) fn layer<S>(&self) -> impl Layer<S>
    where
        S: Subscriber + for<'s> LookupSpan<'s>,
    {
        let layer = tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("espelho"))
            .with_location(false)
            .with_target(false)
            .with_threads(false)
            .with_tracked_inactivity(false);
        layer.with_filter(filter_fn(|metadata| metadata.target() == order_trace::TARGET))
    }

    /// Sends what is left.
    pub(crate) async fn end(traces: Option<Self>) {
        let Some(Self { provider }) = traces else { return };
        // It waits for the thread of the batches.
        let ended = tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(LAST_SPANS)).await;
        if let Ok(Err(error)) = ended {
            tracing::debug!(%error, "the last traces were not taken");
        }
    }
}

/// Puts a span into the trace of its order.
fn join(span: &Span, store: &StoreKey, number: &str) {
    let (trace, order) = ids(store, number);
    let of_order = SpanContext::new(trace, order, TraceFlags::SAMPLED, true, TraceState::default());
    // Only a span that nobody takes cannot be joined.
    let _ = span.set_parent(Context::new().with_remote_span_context(of_order));
}

/// The id of an order's trace, as people write it.
pub(crate) fn trace_id(store: &StoreKey, number: &str) -> String {
    ids(store, number).0.to_string()
}

/// The ids of an order's trace and of the order itself in it, by their content alone.
fn ids(store: &StoreKey, number: &str) -> (TraceId, SpanId) {
    let digest = Sha256::digest(format!("{store}/{number}"));
    let (mut trace, mut order) = ([0; 16], [0; 8]);
    trace.copy_from_slice(&digest[..16]);
    order.copy_from_slice(&digest[16..24]);
    (TraceId::from_bytes(trace), SpanId::from_bytes(order))
}

/// Sends on the program's own runtime: the thread of the batches has none.
struct Collector {
    http: Http,
    runtime: Handle,
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Collector")
    }
}

impl HttpClient for Collector {
    fn send_bytes<'s, 'f>(
        &'s self,
        request: Request<Bytes>,
    ) -> BoxFuture<'f, Result<Response<Bytes>, HttpError>>
    where
        's: 'f,
        Self: 'f,
    {
        let http = self.http.clone();
        let sending = self.runtime.spawn(async move { http.post_spans(request).await });
        Box::pin(async move {
            let status = sending.await??;
            Ok(Response::builder().status(status).body(Bytes::new())?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_has_one_trace_and_another_order_or_store_another_one() {
        let store = |key: &str| StoreKey::new(key).unwrap();
        let of = |key: &str, number: &str| trace_id(&store(key), number);
        assert_eq!(of("loja-a", "MP-1"), of("loja-a", "MP-1"));
        assert_eq!(of("loja-a", "MP-1").len(), 32);
        let others = [of("loja-a", "MP-2"), of("loja-b", "MP-1"), of("loja", "a/MP-1")];
        assert!(others.iter().all(|other| *other != of("loja-a", "MP-1")), "{others:?}");
    }
}
