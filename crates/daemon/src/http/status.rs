//! `/status` and the status page.

use std::{collections::HashMap, sync::Arc, time::Duration};

use axum::{
    Json,
    extract::{Query, State as Extract},
    http::{HeaderName, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use espelho_model::{Clock, StoreKey};
use espelho_store::{Error, Store};
use serde::Deserialize;
use tokio::sync::Mutex;

use super::State;
use crate::status::{self, Counted, Live, Picture, Shown, ShownStores};

/// How long a picture is good at least.
const FRESH: Duration = Duration::from_secs(1);
/// How many times as long as it took: looking takes a twentieth of the time at most, however large the mirror is.
const SHARE: u32 = 20;
/// Nothing from elsewhere, no scripts; the style stands in the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Takes pictures, one at a time, and keeps them for a moment.
pub(crate) struct Camera {
    pub store: Store,
    pub clock: Arc<dyn Clock>,
    pub shown: Arc<ShownStores>,
    pub live: Live,
    kept: Mutex<Kept>,
    done: Mutex<Option<(Duration, Done)>>,
}

/// How many rows the ERP's tables have that are done: store, table, rows.
pub(super) type Done = Arc<[(String, String, u64)]>;

/// What was taken last, and until when it is good.
#[derive(Default)]
struct Kept {
    /// Of which stores the pictures are.
    of: Arc<[Shown]>,
    pictures: HashMap<Option<StoreKey>, (Duration, Arc<Picture>)>,
    /// How much all stores hold: to count goes through all rows, to look at the rest does not.
    counted: Option<(Duration, Counted)>,
}

impl Camera {
    pub(crate) fn new(store: Store, clock: Arc<dyn Clock>, shown: Arc<ShownStores>, live: Live) -> Self {
        Self { store, clock, shown, live, kept: Mutex::default(), done: Mutex::default() }
    }

    /// How everything is, or was a moment ago; `of` one store alone.
    async fn picture(&self, of: Option<&StoreKey>) -> Result<Arc<Picture>, Error> {
        let mut kept = self.kept.lock().await;
        let begun = self.clock.monotonic();
        let shown = self.shown.get();
        if !Arc::ptr_eq(&kept.of, &shown) {
            *kept = Kept { of: Arc::clone(&shown), ..Kept::default() };
        }
        kept.pictures.retain(|_, (until, _)| begun < *until);
        if let Some((_, picture)) = kept.pictures.get(&of.cloned()) {
            return Ok(Arc::clone(picture));
        }
        let picture = match of {
            Some(_) => self.take((&shown, of), &Counted::take(&self.store, of).await?).await?,
            None => {
                if kept.counted.as_ref().is_none_or(|(until, _)| begun >= *until) {
                    let counted = Counted::take(&self.store, None).await?;
                    kept.counted = Some((self.good_until(begun), counted));
                }
                let nothing = Counted::default();
                let counted = kept.counted.as_ref().map_or(&nothing, |(_, counted)| counted);
                self.take((&shown, of), counted).await?
            }
        };
        let picture = Arc::new(picture);
        kept.pictures.insert(of.cloned(), (self.good_until(begun), Arc::clone(&picture)));
        Ok(picture)
    }

    /// What is done of what the ERP wants, or was a moment ago: to count goes through all rows.
    pub(super) async fn done(&self) -> Result<Done, Error> {
        let mut done = self.done.lock().await;
        let begun = self.clock.monotonic();
        if let Some((_, counts)) = done.as_ref().filter(|(until, _)| begun < *until) {
            return Ok(Arc::clone(counts));
        }
        let counts: Done = self.store.done_counts().await?.into();
        *done = Some((self.good_until(begun), Arc::clone(&counts)));
        Ok(counts)
    }

    async fn take(&self, shown: (&[Shown], Option<&StoreKey>), counted: &Counted) -> Result<Picture, Error> {
        status::collect(&self.store, &*self.clock, shown, counted, Some(&self.live)).await
    }

    fn good_until(&self, begun: Duration) -> Duration {
        let ended = self.clock.monotonic();
        ended + FRESH.max((ended - begun) * SHARE)
    }

    /// The store of that name, where it is shown.
    fn store_named(&self, name: &str) -> Option<StoreKey> {
        self.shown.get().iter().map(|(key, ..)| key).find(|key| key.as_str() == name).cloned()
    }
}

/// What is asked for.
#[derive(Deserialize)]
pub(super) struct Asked {
    /// One store alone.
    store: Option<String>,
}

/// Answers with a picture of what is asked for.
async fn answer(
    state: &State,
    asked: Asked,
    shown: impl FnOnce(&Picture) -> Response,
    unknown: impl FnOnce(&str) -> Response,
    failed: impl FnOnce(&Error) -> Response,
) -> Response {
    let of = match asked.store {
        None => None,
        Some(name) => match state.camera.store_named(&name) {
            Some(key) => Some(key),
            None => return (StatusCode::NOT_FOUND, guarded(), unknown(&name)).into_response(),
        },
    };
    match state.camera.picture(of.as_ref()).await {
        Ok(picture) => (guarded(), shown(&picture)).into_response(),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, guarded(), failed(&error)).into_response(),
    }
}

/// `GET /status`, and `GET /status?store=KEY`.
pub(super) async fn json(Extract(state): Extract<State>, Query(asked): Query<Asked>) -> Response {
    let refusal = |error: String, hint: &str| Json(serde_json::json!({ "error": error, "hint": hint }));
    answer(
        &state,
        asked,
        |picture| Json(picture).into_response(),
        |name| refusal(format!("there is no store {name:?}"), "ask for one of /status").into_response(),
        |error| refusal(error.to_string(), &error.hint()).into_response(),
    )
    .await
}

/// `GET /`, and `GET /?store=KEY`.
pub(super) async fn page(Extract(state): Extract<State>, Query(asked): Query<Asked>) -> Response {
    answer(
        &state,
        asked,
        |picture| Html(status::page(picture)).into_response(),
        |name| Html(status::unknown(name)).into_response(),
        |error| Html(status::unavailable(&error.to_string(), &error.hint())).into_response(),
    )
    .await
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
