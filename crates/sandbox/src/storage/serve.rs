//! The storage over HTTP: path → signature → file, with refusals in XML as object storages have them.

use std::sync::Arc;

use hyper::{
    Method, Request, Response,
    body::Incoming,
    header::{AUTHORIZATION, HeaderValue},
    http::request::Parts,
};
use ulid::Ulid;

use super::{IMAGES, LABELS, Object, STORES, signature::Bad};
use crate::{
    answer::Answer,
    body::Outgoing,
    faults::injection::inject,
    labels,
    media::{drawing, picture, size_of},
    response::Dropped,
    world::World,
};

/// The name of every storage request in fault rules, beside its path.
const TEMPLATE: &str = "GET storage";

/// Why the storage refuses a file.
enum Refusal {
    /// 400: two ways of authentication at once.
    TwoWays,
    /// 403: without a good signature.
    Signature(Bad),
    /// 404.
    NoSuchKey,
    /// 405.
    Method,
}

/// Answers one request. The storage counts nothing, and no limit counts it.
pub(crate) async fn serve(
    world: Arc<World>,
    request: Request<Incoming>,
) -> Result<Response<Outgoing>, Dropped> {
    world.run_due_jobs();
    let (head, _) = request.into_parts();
    let fault = world.faults.of(head.uri.path(), || TEMPLATE.to_owned());
    inject(&world, None, fault, async { Ok(answer(&world, &head).await) }).await
}

async fn answer(world: &Arc<World>, request: &Parts) -> Answer {
    let path = request.uri.path();
    let refuse = |refusal: Refusal| refusal.answer(path);
    // A client that sends its token here gives it to a server that it does not belong to.
    if request.headers.contains_key(AUTHORIZATION) {
        return refuse(Refusal::TwoWays);
    }
    if request.method != Method::GET && request.method != Method::HEAD {
        return refuse(Refusal::Method);
    }
    let query = request.uri.query().unwrap_or_default();
    if path.starts_with(LABELS)
        && let Err(bad) = world.storage.key.check(path, query, world.clock.millis())
    {
        return refuse(Refusal::Signature(bad));
    }
    // Pictures are made here, which takes long; everything else is only copied.
    let (world, owned) = (Arc::clone(world), path.to_owned());
    let found = tokio::task::spawn_blocking(move || find(&world, &owned)).await;
    found.ok().flatten().unwrap_or_else(|| refuse(Refusal::NoSuchKey))
}

/// The file at a path.
fn find(world: &World, path: &str) -> Option<Answer> {
    if let Some(name) = path.strip_prefix(IMAGES) {
        return image(world, name);
    }
    let (is_label, name) = match path.strip_prefix(LABELS) {
        Some(name) => (true, name),
        None => (false, path.strip_prefix(STORES)?),
    };
    let id = Ulid::from_string(name.split_once('.')?.0).ok()?.0;
    match world.storage.get(id)? {
        Object::Label { format, paper } if is_label => {
            Some(file(format.content_type(), labels::print(format, &paper)))
        }
        Object::File { content_type, bytes } if !is_label => Some(file(content_type, bytes.to_vec())),
        _ => None,
    }
}

/// `<id>/<variation>.webp`, of an upload or of a generated product.
fn image(world: &World, name: &str) -> Option<Answer> {
    let (id, variation) = name.strip_suffix(".webp")?.split_once('/')?;
    let id = Ulid::from_string(id).ok()?.0;
    let size = if variation == "original" { 0 } else { size_of(variation)? };
    let make = || match world.storage.get(id) {
        Some(Object::Upload(bytes)) => picture::render(&bytes, size),
        Some(_) => None,
        None => drawing::draw(&sku_of_generated(world, id)?, size),
    };
    let bytes = world.storage.rendered.get((id, size), make)?;
    Some(file("image/webp", bytes.to_vec()))
}

/// The SKU of the product whose generated picture has this identifier, while any store still has the picture.
fn sku_of_generated(world: &World, image: u128) -> Option<Box<str>> {
    world.stores.iter().find_map(|store| {
        let catalogue = store.catalogue();
        let product = catalogue.by_id(drawing::product_of(image))?;
        store.media().get(image)?;
        Some(product.sku.clone())
    })
}

fn file(content_type: &'static str, bytes: Vec<u8>) -> Answer {
    let mut answer = Answer::json(200, bytes);
    answer.content_type = HeaderValue::from_static(content_type);
    answer
}

impl Refusal {
    fn answer(self, path: &str) -> Answer {
        let (status, code, message) = match self {
            Self::TwoWays => (400, "InvalidArgument", "Only one auth mechanism allowed."),
            Self::Signature(Bad::Missing) => (403, "AccessDenied", "Access Denied"),
            Self::Signature(Bad::Expired) => (403, "AccessDenied", "Request has expired"),
            Self::Signature(Bad::Mismatch) => {
                (403, "SignatureDoesNotMatch", "The signature does not match the one that was calculated.")
            }
            Self::NoSuchKey => (404, "NoSuchKey", "The specified key does not exist."),
            Self::Method => (405, "MethodNotAllowed", "The method is not allowed against this resource."),
        };
        let resource = labels::escaped(path);
        let body = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>{message}</Message>\
             <Resource>{resource}</Resource></Error>"
        );
        let mut answer = Answer { status, ..file("application/xml", body.into_bytes()) };
        if status == 405 {
            answer.headers.push((hyper::header::ALLOW, HeaderValue::from_static("GET, HEAD")));
        }
        answer
    }
}
