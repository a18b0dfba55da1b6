//! The object storage: another origin than the API, which image addresses and signed addresses lead to.
//!
//! It knows no tokens. Pictures are public; label files need a signature, which expires.

mod rendered;
mod serve;
mod signature;

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use hyper::body::Bytes;
use parking_lot::{Mutex, MutexGuard};
use ulid::Ulid;

use self::{rendered::Rendered, signature::Key};
pub(crate) use self::{serve::serve, signature::VALID_SECONDS};
use crate::labels::{Format, Paper};

/// The files of the marketplace.
pub(crate) struct Storage {
    origin: OnceLock<Arc<str>>,
    key: Key,
    objects: Mutex<HashMap<u128, Object>>,
    rendered: Rendered,
}

/// A stored file. The pictures of generated products are drawn on demand, and not stored.
#[derive(Clone)]
pub(crate) enum Object {
    /// An upload, from which the original and every variation are made when they are fetched.
    Upload(Bytes),
    /// A file that is given out as it came.
    File { content_type: &'static str, bytes: Bytes },
    /// A label, printed when it is fetched.
    Label { format: Format, paper: Arc<Paper> },
}

impl Storage {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            origin: OnceLock::new(),
            key: Key::new(seed),
            objects: Mutex::default(),
            rendered: Rendered::default(),
        }
    }

    /// Sets the origin, once the listener is bound.
    pub(crate) fn serve_at(&self, origin: String) {
        let _ = self.origin.set(origin.into());
    }

    /// Scheme, host and port, without a slash at the end.
    pub(crate) fn origin(&self) -> &str {
        self.origin.get().map_or("", |origin| &**origin)
    }

    /// The origin, shared with the catalogues, which write addresses.
    pub(crate) fn shared_origin(&self) -> Arc<str> {
        self.origin.get().map_or_else(|| Arc::from(""), Arc::clone)
    }

    /// Keeps a file, in place of an earlier one with the same identifier.
    pub(crate) fn put(&self, id: u128, object: Object) {
        self.objects().insert(id, object);
    }

    /// Removes a file.
    pub(crate) fn remove(&self, id: u128) {
        self.objects().remove(&id);
        self.rendered.forget(id);
    }

    fn get(&self, id: u128) -> Option<Object> {
        self.objects().get(&id).cloned()
    }

    fn objects(&self) -> MutexGuard<'_, HashMap<u128, Object>> {
        self.objects.lock()
    }

    /// The address of a label file, which works until `now` is [`VALID_SECONDS`] later.
    pub(crate) fn signed_label(&self, id: u128, format: Format, now: i64) -> String {
        let path = format!("{LABELS}{}.{}", Ulid(id), format.extension());
        let query = self.key.sign(&path, now + VALID_SECONDS);
        format!("{}{path}?{query}", self.origin())
    }
}

/// The beginnings of the paths, by kind of file.
pub(crate) const IMAGES: &str = "/imagens/";
pub(crate) const STORES: &str = "/lojas/";
const LABELS: &str = "/etiquetas/";
