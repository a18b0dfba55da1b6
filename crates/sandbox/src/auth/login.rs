//! POST `/api/integration/auth`.

use super::{LOGIN, State};
use crate::{
    answer::Answer,
    call::Call,
    refusal::{FieldErrors, Refusal},
    request_body::{self, Reader},
    route::{Access, Route},
    webhooks::login as webhook,
    world::World,
};

/// The routes of this area.
pub(crate) const ROUTES: &[Route] = &[Route::post(LOGIN, login).access(Access::Public)];

/// Checks a credential and issues a token, which ends the previous one.
fn login(call: &Call) -> Result<Answer, Refusal> {
    let world = &call.world;
    let body = request_body::fields(&call.body);
    let (reader, mut errors) = (Reader::new(&body), FieldErrors::new());
    let username = reader.required_text("username", &mut errors).unwrap_or_default();
    let password = reader.required_text("password", &mut errors).unwrap_or_default();
    let webhook = webhook::parse(body.get("webhook"), world.options.local_webhooks, &mut errors);
    if !errors.is_empty() {
        return Err(Refusal::Invalid(errors));
    }
    if let Err(seconds) = world.attempts.admit(call.peer, username, world.clock.millis()) {
        return Err(Refusal::TooMany(seconds));
    }
    let found = world.credential_of_username(username).ok_or(Refusal::Login)?;
    issue(world, found, password, webhook)
}

fn issue(
    world: &World,
    (position, at): (usize, usize),
    password: &str,
    wanted: Option<webhook::WebhookBlock>,
) -> Result<Answer, Refusal> {
    let now = world.clock.seconds();
    let store = world.stores.get(position).ok_or(Refusal::Login)?;
    let mut credentials = store.credentials();
    let credential = credentials.get_mut(at).ok_or(Refusal::Login)?;
    if credential.state != State::Active || credential.password != password {
        return Err(Refusal::Login);
    }
    let token = world.tokens.issue((position, at), now, credential.token.as_deref());
    credential.token = Some(token.clone());
    let webhook = wanted.map(|wanted| world.webhooks.managed(position, at, wanted, world.options.seed, now));
    drop(credentials);
    world.counters.login();
    Ok(Answer::success(false, |json| {
        json.open_object();
        json.key("token").raw_text(&token.text);
        json.key("expires_at").time(token.expires_at);
        if let Some((webhook, created)) = webhook {
            json.key("webhook").value_of(&webhook.shown(created));
        }
        json.close_object();
    }))
}
