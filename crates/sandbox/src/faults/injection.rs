//! Fault injection: does the work of a request, or what a fault does in its place.

use std::sync::Arc;

use hyper::{
    Response,
    header::{HeaderName, HeaderValue},
};

use super::{Fault, rewrite};
use crate::{
    Control,
    answer::Answer,
    auth::Token,
    body::Outgoing,
    clock,
    refusal::Refusal,
    response::{Dropped, respond},
    world::World,
};

/// Does the work, or what a fault does in its place.
pub(crate) async fn inject(
    world: &Arc<World>,
    token: Option<&Token>,
    fault: Option<Fault>,
    work: impl Future<Output = Result<Answer, Dropped>>,
) -> Result<Response<Outgoing>, Dropped> {
    let answer = match fault {
        None => work.await?,
        Some(Fault::Stall(duration)) => {
            clock::stall(duration).await;
            work.await?
        }
        Some(Fault::TruncateBody) => return Ok(respond(work.await?, true)),
        Some(Fault::ResetAfter) => {
            work.await?;
            return Err(Dropped);
        }
        Some(Fault::ResetBefore) => return Err(Dropped),
        Some(Fault::PageShift) => {
            let answer = work.await?;
            shift(world, token);
            answer
        }
        Some(Fault::UnknownEnums) => rewritten(work.await?, rewrite::unknown_enums),
        Some(Fault::ExtraFields) => rewritten(work.await?, rewrite::extra_fields),
        Some(Fault::ContentType(other)) => typed(work.await?, &other),
        Some(instead) => instead_of_work(world, token, instead),
    };
    Ok(respond(answer, false))
}

/// Lets the answer to a request lie where rules say so. Errors stay as they are.
pub(crate) fn spoil(world: &World, path: &str, template: impl Fn() -> String, answer: &mut Answer) {
    if is_success(answer)
        && let Some(body) = world.faults.spoiled(path, template, &answer.body)
    {
        answer.body = body;
    }
}

/// The faults that leave the work undone.
fn instead_of_work(world: &World, token: Option<&Token>, fault: Fault) -> Answer {
    match fault {
        Fault::RawJson(json) => Answer::json(200, json.into_bytes()),
        Fault::Html(code) => html(code),
        Fault::Status { code, body, content_type, headers } => injected(code, body, &content_type, headers),
        Fault::TooMany(seconds) => {
            world.counters.rate_limited();
            Refusal::TooMany(seconds).into()
        }
        Fault::KillToken => {
            if let Some(token) = token {
                world.tokens.kill(token);
            }
            Refusal::Token.into()
        }
        // The others do the work, and what is left is the page of a proxy.
        _ => html(200),
    }
}

/// A buyer places an order with the store of the token.
fn shift(world: &Arc<World>, token: Option<&Token>) {
    if let Some(store) = token.and_then(|token| world.stores.get(token.store)) {
        Control::new(Arc::clone(world)).orders().insert(&store.key);
    }
}

/// Errors stay as they are: what a client reads of them is their code.
fn rewritten(mut answer: Answer, rewrite: fn(&[u8]) -> Vec<u8>) -> Answer {
    if is_success(&answer) {
        answer.body = rewrite(&answer.body);
    }
    answer
}

fn is_success(answer: &Answer) -> bool {
    answer.status < 300 && answer.content_type == "application/json"
}

fn typed(mut answer: Answer, content_type: &str) -> Answer {
    if let Ok(value) = HeaderValue::from_str(content_type) {
        answer.content_type = value;
    }
    answer
}

fn html(code: u16) -> Answer {
    let page = "<!DOCTYPE html><html><head><title>Manutenção</title></head><body>Voltamos já.</body></html>";
    injected(code, page.into(), "text/html; charset=utf-8", Vec::new())
}

/// An answer that a rule spells out; headers that are no headers are left out.
fn injected(code: u16, body: Vec<u8>, content_type: &str, headers: Vec<(String, String)>) -> Answer {
    let mut answer = typed(Answer::json(code, body), content_type);
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(&value)) {
            answer.headers.push((name, value));
        }
    }
    answer
}
