//! One request: route → token → limit → ability → fault → work → answer.

use std::{
    borrow::Cow,
    hash::{DefaultHasher, Hash, Hasher},
    net::IpAddr,
    sync::Arc,
};

use chrono::DateTime;
use hyper::{
    Request, Response,
    body::{Body as _, Incoming},
    header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderName, HeaderValue},
};

use crate::{
    answer::Answer,
    auth::Token,
    body,
    body::{Outgoing, Unread},
    call::Call,
    clock,
    control::{endpoint::PREFIX, endpoints},
    faults::injection::{inject, spoil},
    home_page,
    journal::PendingEntry,
    limit::Verdict,
    refusal::Refusal,
    response::{Dropped, respond},
    route::{Access, Route},
    route_table,
    route_table::Found,
    stats::Repeats,
    world::World,
};

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");

/// Answers one request.
pub(crate) async fn serve(
    world: Arc<World>,
    peer: IpAddr,
    request: Request<Incoming>,
) -> Result<Response<Outgoing>, Dropped> {
    world.run_due_jobs();
    if world.options.control && request.uri().path().starts_with(PREFIX) {
        return control_request(&world, peer, request).await;
    }
    if let Some(answer) = home_page::of(&world, request.method(), request.uri().path()) {
        return Ok(respond(answer, false));
    }
    let (entry, watch) = (PendingEntry::of(&request), clock::stopwatch());
    let path = request.uri().path().to_owned();
    let found = route_table::find(request.method().as_str(), &path);
    let number = if let Found::Route(number, _) = &found { Some(*number) } else { None };
    world.counters.request(number);
    let outcome = match found {
        Found::Route(number, ids) => {
            let ids = ids.into_iter().map(Cow::into_owned).collect();
            routed(&world, peer, &route_table::all()[number], ids, &entry, request).await
        }
        Found::OtherMethods(methods) => unrouted(&world, &path, Refusal::Method(methods)).await,
        Found::Nothing => unrouted(&world, &path, Refusal::NoRoute).await,
    };
    let outcome = outcome.map(|response| dated(&world, response));
    let status = outcome.as_ref().map_or(0, |response| response.status().as_u16());
    world.counters.answered(status);
    world.journal.add(entry, world.clock.millis(), status, watch.elapsed());
    outcome
}

/// The same answer with `Date` by the marketplace's clock, as every server that has one says it (RFC 9110, 6.6.1).
fn dated(world: &World, mut response: Response<Outgoing>) -> Response<Outgoing> {
    let now = DateTime::from_timestamp(world.clock.seconds(), 0).unwrap_or_default();
    if let Ok(date) = HeaderValue::try_from(now.format("%a, %d %b %Y %H:%M:%S GMT").to_string()) {
        response.headers_mut().entry(DATE).or_insert(date);
    }
    response
}

/// A control request: no token, no limit, no fault.
async fn control_request(
    world: &Arc<World>,
    peer: IpAddr,
    request: Request<Incoming>,
) -> Result<Response<Outgoing>, Dropped> {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let caller = Caller { peer, token: None, ids: Vec::new() };
    let answer = match call(world, caller, None, request).await? {
        Ok(call) => endpoints::answer(method.as_str(), &path, call),
        Err(refusal) => refusal.into(),
    };
    world.run_due_jobs();
    Ok(respond(answer, false))
}

/// A path or method that nothing serves; a fault rule may stand in for it.
async fn unrouted(world: &Arc<World>, path: &str, refusal: Refusal) -> Result<Response<Outgoing>, Dropped> {
    let fault = world.faults.of(path, String::new);
    inject(world, None, fault, async { Ok(Answer::from(refusal)) }).await
}

async fn routed(
    world: &Arc<World>,
    peer: IpAddr,
    route: &'static Route,
    ids: Vec<String>,
    entry: &PendingEntry,
    request: Request<Incoming>,
) -> Result<Response<Outgoing>, Dropped> {
    let admission = match admit(world, route, &request) {
        Ok(admission) => admission,
        Err(refused) => return Ok(respond(*refused, false)),
    };
    let path = request.uri().path().to_owned();
    let fault = world.faults.of(&path, || route.template());
    let Admission { token, limits } = admission;
    if let Some(token) = &token {
        entry.set_store(token.store);
    }
    let work = async {
        count_repeat(world, route, token.as_deref(), &request);
        let caller = Caller { peer, token: token.clone(), ids };
        let result = match call(world, caller, Some(entry), request).await? {
            Ok(call) => perform(route, call).await,
            Err(refusal) => Err(refusal),
        };
        let mut answer = result.unwrap_or_else(Answer::from);
        spoil(world, &path, || route.template(), &mut answer);
        if answer.status == 429 {
            world.counters.rate_limited();
        }
        answer.headers.extend(limits.into_iter().flatten());
        Ok(answer)
    };
    inject(world, token.as_deref(), fault, work).await
}

type Headers = [(HeaderName, HeaderValue); 2];

/// The result of the checks before the work.
struct Admission {
    token: Option<Arc<Token>>,
    limits: Option<Headers>,
}

/// Token, limit, ability, in this order: a refused token is not counted, a refused ability is.
fn admit(world: &World, route: &Route, request: &Request<Incoming>) -> Result<Admission, Box<Answer>> {
    let header = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let Some(token) = (!route.is_login()).then(|| world.authenticate(header)).flatten() else {
        return match route.access {
            Access::Public => Ok(Admission { token: None, limits: None }),
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
    authorize(world, &token, route.access).map_err(refuse)?;
    Ok(Admission { token: Some(token), limits })
}

/// Refuses a token that lacks the ability of a route.
fn authorize(world: &World, token: &Token, access: Access) -> Result<(), Refusal> {
    let ability = match access {
        Access::Ability(ability) => ability,
        Access::StrictAbility(ability) if world.options.strict_scopes => ability,
        Access::Beta if !world.options.store_page => return Err(Refusal::Abilities(vec!["store_page"])),
        Access::Public | Access::Token | Access::StrictAbility(_) | Access::Beta => return Ok(()),
    };
    if world.may(token, ability) { Ok(()) } else { Err(Refusal::Abilities(vec![ability])) }
}

/// The caller, and the identifiers in the path.
struct Caller {
    peer: IpAddr,
    token: Option<Arc<Token>>,
    ids: Vec<String>,
}

/// Reads the body, and builds the call for the work.
async fn call(
    world: &Arc<World>,
    Caller { peer, token, ids }: Caller,
    entry: Option<&PendingEntry>,
    request: Request<Incoming>,
) -> Result<Result<Call, Refusal>, Dropped> {
    let content_type = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or_default().to_owned();
    let query = request.uri().query().unwrap_or_default().to_owned();
    let body = match request.body().is_end_stream() {
        true => Vec::new(),
        false => match body::read(request.into_body()).await {
            Ok(body) => body,
            Err(Unread::TooLarge) => return Ok(Err(Refusal::TooLarge)),
            Err(Unread::Broken) => return Err(Dropped),
        },
    };
    if let Some(entry) = entry {
        entry.set_body(|name| world.credential_of_username(name).map(|(store, _)| store), &body);
    }
    let caller = token.as_ref().map(|token| token.store);
    Ok(Ok(Call { world: Arc::clone(world), peer, caller, token, ids, query, content_type, body }))
}

async fn perform(route: &'static Route, call: Call) -> Result<Answer, Refusal> {
    if !route.is_slow {
        return (route.work)(&call);
    }
    // The work does not panic and the runtime lives as long as its tasks, so that it always ends with its own answer.
    let done = tokio::task::spawn_blocking(move || (route.work)(&call)).await;
    done.unwrap_or(Err(Refusal::TooLarge))
}

/// Counts a fetch that repeats an earlier one of the store.
fn count_repeat(world: &World, route: &Route, token: Option<&Token>, request: &Request<Incoming>) {
    let mut hasher = DefaultHasher::new();
    match route.repeats {
        Repeats::Uncounted => return,
        Repeats::ListPage => request.uri().path_and_query().hash(&mut hasher),
        Repeats::Detail => request.uri().path().hash(&mut hasher),
    }
    let Some(store) = token.and_then(|token| world.stores.get(token.store)) else { return };
    if !store.first_fetch(hasher.finish()) {
        world.counters.repeated(route.repeats);
    }
}
