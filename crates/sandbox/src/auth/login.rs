//! POST `/api/integration/auth`.

use serde_json::Value;

use super::State;
use crate::{
    answer::{Answer, Refusal},
    call::Call,
    query::FieldErrors,
    webhooks::login as webhook,
    world::World,
};

/// Checks a credential and issues a token, which ends the previous one.
pub(crate) fn login(call: &Call) -> Result<Answer, Refusal> {
    let world = &call.world;
    let body = Value::Object(call.fields());
    let mut errors = FieldErrors::new();
    let username = field(&body, "username", &mut errors);
    let password = field(&body, "password", &mut errors);
    let webhook = webhook::parse(&body, world.options.local_webhooks, &mut errors);
    if !errors.is_empty() {
        return Err(Refusal::Invalid(errors));
    }
    if let Err(seconds) = world.attempts.admit(call.peer, username, world.clock.millis()) {
        return Err(Refusal::TooMany(seconds));
    }
    let found = world.credential_of_username(username).ok_or(Refusal::Login)?;
    issue(world, found, password, webhook)
}

fn field<'a>(body: &'a Value, name: &'static str, errors: &mut FieldErrors) -> &'a str {
    match body.get(name) {
        Some(Value::String(text)) if !text.is_empty() => return text,
        None | Some(Value::Null | Value::String(_)) => {
            errors.add(name, format!("O campo {name} é obrigatório."));
        }
        Some(_) => errors.add(name, format!("O campo {name} deve ser um texto.")),
    }
    ""
}

fn issue(
    world: &World,
    (position, at): (usize, usize),
    password: &str,
    wanted: Option<webhook::Wanted>,
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
