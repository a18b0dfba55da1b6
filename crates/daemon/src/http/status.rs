//! `/status` and the status page.

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    extract::State as Extract,
    http::{HeaderName, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use espelho_model::Clock;
use espelho_store::{Error, Store};
use tokio::sync::Mutex;

use super::State;
use crate::status::{self, Live, Picture, Shown, ShownStores};

/// How long a picture is good at least.
const FRESH: Duration = Duration::from_secs(1);
/// How many times as long as it took: looking takes a twentieth of the time at most, however large the mirror is.
const SHARE: u32 = 20;
/// Nothing from elsewhere, no scripts; the style stands in the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Takes pictures, one at a time, and keeps the last for a moment.
pub(crate) struct Camera {
    pub store: Store,
    pub clock: Arc<dyn Clock>,
    pub shown: Arc<ShownStores>,
    pub live: Live,
    kept: Mutex<Option<Kept>>,
}

/// The last picture, until when it is good, and of which stores it is.
struct Kept {
    until: Duration,
    of: Arc<[Shown]>,
    picture: Arc<Picture>,
}

impl Camera {
    pub(crate) fn new(store: Store, clock: Arc<dyn Clock>, shown: Arc<ShownStores>, live: Live) -> Self {
        Self { store, clock, shown, live, kept: Mutex::new(None) }
    }

    /// How everything is, or was a moment ago.
    async fn picture(&self) -> Result<Arc<Picture>, Error> {
        let mut kept = self.kept.lock().await;
        let begun = self.clock.monotonic();
        let of = self.shown.get();
        if let Some(kept) = &*kept
            && begun < kept.until
            && Arc::ptr_eq(&kept.of, &of)
        {
            return Ok(Arc::clone(&kept.picture));
        }
        let picture = status::collect(&self.store, &*self.clock, &of, Some(&self.live)).await?;
        let picture = Arc::new(picture);
        let ended = self.clock.monotonic();
        let until = ended + FRESH.max((ended - begun) * SHARE);
        *kept = Some(Kept { until, of, picture: Arc::clone(&picture) });
        Ok(picture)
    }
}

/// `GET /status`.
pub(super) async fn json(Extract(state): Extract<State>) -> Response {
    match state.camera.picture().await {
        Ok(picture) => (guarded(), Json(&*picture)).into_response(),
        Err(error) => {
            let refusal = serde_json::json!({ "error": error.to_string(), "hint": error.hint() });
            (StatusCode::SERVICE_UNAVAILABLE, guarded(), Json(refusal)).into_response()
        }
    }
}

/// `GET /`.
pub(super) async fn page(Extract(state): Extract<State>) -> Response {
    match state.camera.picture().await {
        Ok(picture) => (guarded(), Html(status::page(&picture))).into_response(),
        Err(error) => {
            let page = status::unavailable(&error.to_string(), error.hint());
            (StatusCode::SERVICE_UNAVAILABLE, guarded(), Html(page)).into_response()
        }
    }
}

fn guarded() -> [(HeaderName, &'static str); 5] {
    [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ]
}
