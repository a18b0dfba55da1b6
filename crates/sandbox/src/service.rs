//! One request: route → token → limit → ability → fault → work → answer.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    net::IpAddr,
    sync::Arc,
};

use hyper::{
    Request, Response, StatusCode,
    body::Incoming,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue},
};

use crate::{
    answer::{Answer, Refusal},
    auth,
    body::{self, Outgoing, Unread},
    clock, control_http,
    faults::Fault,
    limit::Verdict,
    orders, products,
    route::{Access, Route},
    session,
    store::Store,
    world::World,
};

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");

/// The connection is to be closed without an answer.
#[derive(Debug, thiserror::Error)]
#[error("the connection is closed without an answer")]
pub(crate) struct Dropped;

/// Answers one request.
pub(crate) async fn serve(
    world: Arc<World>,
    peer: IpAddr,
    request: Request<Incoming>,
) -> Result<Response<Outgoing>, Dropped> {
    if world.options.control && request.uri().path().starts_with(control_http::PREFIX) {
        return Ok(respond(control_http::answer(&world, request).await, false));
    }
    let found = Route::of_path(request.uri().path()).map(|(route, _)| route);
    let route = found.filter(|route| request.method().as_str() == route.method());
    world.counters.request(route);
    let outcome = match (route, found) {
        (Some(route), _) => routed(&world, peer, route, request).await,
        (None, wrong) => unrouted(&world, &request, wrong).await,
    };
    let status = outcome.as_ref().map_or(0, |response| response.status().as_u16());
    world.counters.answered(status);
    outcome
}

/// A path or method that nothing serves; a fault rule may stand in for it.
async fn unrouted(
    world: &World,
    request: &Request<Incoming>,
    wrong_method: Option<Route>,
) -> Result<Response<Outgoing>, Dropped> {
    let refusal = match wrong_method {
        Some(route) => Refusal::Method(route.method()),
        None => Refusal::NoRoute,
    };
    let fault = world.faults.take(request.uri().path(), "");
    spoil(fault, async { Ok(Answer::from(refusal)) }).await
}

async fn routed(
    world: &World,
    peer: IpAddr,
    route: Route,
    request: Request<Incoming>,
) -> Result<Response<Outgoing>, Dropped> {
    let gate = match pass(world, route, &request) {
        Ok(gate) => gate,
        Err(refused) => return Ok(respond(*refused, false)),
    };
    let fault = world.faults.take(request.uri().path(), route.template());
    let limits = gate.limits;
    let work = async {
        let result = match (route, gate.store) {
            (Route::Login, _) => log_in(world, peer, request).await?,
            (_, store) => answer(world, route, store, &request),
        };
        let mut answer = result.unwrap_or_else(Answer::from);
        if answer.status == 429 {
            world.counters.rate_limited();
        }
        answer.headers.extend(limits.into_iter().flatten());
        Ok(answer)
    };
    spoil(fault, work).await
}

type Headers = [(HeaderName, HeaderValue); 2];

/// What the checks before the work found.
struct Gate<'a> {
    store: Option<&'a Store>,
    limits: Option<Headers>,
}

/// Token, limit, ability, in this order: a refused token is not counted, a refused ability is.
fn pass<'a>(world: &'a World, route: Route, request: &Request<Incoming>) -> Result<Gate<'a>, Box<Answer>> {
    let header = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let access = route.access();
    let Some((token, store)) = (route != Route::Login).then(|| world.authenticate(header)).flatten() else {
        return match access {
            Access::Public => Ok(Gate { store: None, limits: None }),
            _ => Err(Box::new(Refusal::Token.into())),
        };
    };
    let rate = world.options.rate;
    let (verdict, in_last_minute) = token.admit(world.clock.millis(), rate, world.options.window);
    let remaining = match verdict {
        Verdict::Admitted { remaining } => remaining,
        Verdict::Refused { .. } => 0,
    };
    let limits =
        rate.map(|rate| [(LIMIT, HeaderValue::from(rate)), (REMAINING, HeaderValue::from(remaining))]);
    let refuse = |refusal: Refusal| {
        let mut answer = Answer::from(refusal);
        answer.headers.extend(limits.clone().into_iter().flatten());
        Box::new(answer)
    };
    if let Verdict::Refused { retry_after } = verdict {
        world.counters.rate_limited();
        return Err(refuse(Refusal::TooMany(retry_after)));
    }
    world.counters.in_last_minute(in_last_minute);
    world.authorize(store, access).map_err(refuse)?;
    Ok(Gate { store: Some(store), limits })
}

async fn log_in(
    world: &World,
    peer: IpAddr,
    request: Request<Incoming>,
) -> Result<Result<Answer, Refusal>, Dropped> {
    match body::read(request.into_body()).await {
        Ok(body) => Ok(auth::login(world, peer, &body)),
        Err(Unread::TooLarge) => Ok(Err(Refusal::TooLarge)),
        Err(Unread::Broken) => Err(Dropped),
    }
}

/// The work of a route that reads.
fn answer(
    world: &World,
    route: Route,
    store: Option<&Store>,
    request: &Request<Incoming>,
) -> Result<Answer, Refusal> {
    match route {
        Route::StatusEnum => return Ok(orders::routes::status_enum()),
        Route::UnitEnum => return Ok(products::routes::unit_enum()),
        Route::OrderEnums => return Ok(orders::routes::all_enums()),
        _ => {}
    }
    let store = store.ok_or(Refusal::Token)?;
    let options = &world.options;
    let query = request.uri().query().unwrap_or_default();
    let id = Route::of_path(request.uri().path()).and_then(|(_, id)| id).unwrap_or_default();
    let answer = match route {
        Route::Session => session::show(store),
        Route::Orders => orders::routes::list(store, options, world.clock.seconds(), query)?,
        Route::OrderSummary => orders::routes::day_summary(store, options, world.clock.seconds()),
        Route::OrderDetail => orders::routes::show(store, options, &id)?,
        Route::PossibleStatuses => orders::routes::possible_statuses(store, &id)?,
        Route::Products => products::routes::list(store, options, query)?,
        Route::ProductDetail => products::routes::show(store, options, &id)?,
        Route::ProductPrices => products::routes::prices(store, options, &id)?,
        Route::ProductStock => products::routes::stock(store, options, &id)?,
        Route::Login | Route::OrderEnums | Route::StatusEnum | Route::UnitEnum => {
            return Err(Refusal::NoRoute);
        }
    };
    note_repeat(world, route, store, request);
    Ok(answer)
}

/// Counts a fetch that the store has made before.
fn note_repeat(world: &World, route: Route, store: &Store, request: &Request<Incoming>) {
    if !matches!(route, Route::Orders | Route::OrderDetail | Route::Products | Route::ProductDetail) {
        return;
    }
    let mut hasher = DefaultHasher::new();
    match route {
        Route::Orders | Route::Products => request.uri().path_and_query().hash(&mut hasher),
        _ => request.uri().path().hash(&mut hasher),
    }
    if !store.first_fetch(hasher.finish()) {
        world.counters.repeated(route);
    }
}

/// Does the work, or what a fault does in its place.
async fn spoil(
    fault: Option<Fault>,
    work: impl Future<Output = Result<Answer, Dropped>>,
) -> Result<Response<Outgoing>, Dropped> {
    match fault {
        None => Ok(respond(work.await?, false)),
        Some(Fault::Stall(duration)) => {
            clock::stall(duration).await;
            Ok(respond(work.await?, false))
        }
        Some(Fault::TruncateBody) => Ok(respond(work.await?, true)),
        Some(Fault::ResetAfter) => {
            work.await?;
            Err(Dropped)
        }
        Some(Fault::ResetBefore) => Err(Dropped),
        Some(Fault::RawJson(json)) => Ok(respond(Answer::json(200, json.into_bytes()), false)),
        Some(Fault::Html200) => Ok(respond(html(), false)),
        Some(Fault::Status { code, body, content_type, headers }) => {
            Ok(respond(injected(code, body, &content_type, headers), false))
        }
    }
}

fn html() -> Answer {
    let page = "<!DOCTYPE html><html><head><title>Manutenção</title></head><body>Voltamos já.</body></html>";
    injected(200, page.into(), "text/html; charset=utf-8", Vec::new())
}

/// An answer that a rule spells out; headers that are no headers are left out.
fn injected(code: u16, body: Vec<u8>, content_type: &str, headers: Vec<(String, String)>) -> Answer {
    let mut answer = Answer::json(code, body);
    if let Ok(value) = HeaderValue::from_str(content_type) {
        answer.content_type = value;
    }
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(&value)) {
            answer.headers.push((name, value));
        }
    }
    answer
}

fn respond(answer: Answer, cut: bool) -> Response<Outgoing> {
    let Answer { status, content_type, headers, body } = answer;
    let mut response = Response::new(if cut { Outgoing::cut(body) } else { Outgoing::whole(body) });
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response.headers_mut().extend(headers);
    response
}
