//! POST `/api/integration/auth`.

use std::net::IpAddr;

use serde_json::Value;

use super::{
    State,
    webhook::{self, Webhook},
};
use crate::{
    answer::{Answer, Refusal},
    query::FieldErrors,
    seed::random::Random,
    store::Store,
    world::World,
};

/// Checks a credential and issues a token, which ends the previous one.
pub(crate) fn login(world: &World, peer: IpAddr, body: &[u8]) -> Result<Answer, Refusal> {
    // A body that is not JSON has no fields, which is what the errors then say.
    let body: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
    let mut errors = FieldErrors::new();
    let username = field(&body, "username", &mut errors);
    let password = field(&body, "password", &mut errors);
    let webhook = webhook::parse(&body, world.options.local_webhooks, &mut errors);
    if !errors.is_empty() {
        return Err(Refusal::Invalid(errors));
    }
    if let Err(seconds) = world.attempts.admit(peer, username, world.clock.millis()) {
        return Err(Refusal::TooMany(seconds));
    }
    let (position, store) = world.store_of_username(username).ok_or(Refusal::Login)?;
    issue(world, position, store, password, webhook)
}

fn field<'a>(body: &'a Value, name: &'static str, errors: &mut FieldErrors) -> &'a str {
    match body.get(name) {
        Some(Value::String(text)) if !text.is_empty() => return text,
        None | Some(Value::Null | Value::String(_)) => {
            errors.push((name, format!("O campo {name} é obrigatório.")));
        }
        Some(_) => errors.push((name, format!("O campo {name} deve ser um texto."))),
    }
    ""
}

fn issue(
    world: &World,
    position: usize,
    store: &Store,
    password: &str,
    wanted: Option<webhook::Wanted>,
) -> Result<Answer, Refusal> {
    let now = world.clock.seconds();
    let mut credential = store.credential();
    if credential.state != State::Active || credential.password != password {
        return Err(Refusal::Login);
    }
    let token = world.tokens.issue(position, now, credential.token.as_deref());
    credential.token = Some(token.clone());
    let mut random = Random::of(&[world.options.seed, store.id, now.unsigned_abs(), 0x5EC2E7]);
    let mut created = false;
    let confirmed = wanted.is_some();
    if let Some(wanted) = wanted {
        created = Webhook::upsert(&mut credential.webhook, wanted, &mut random);
    }
    world.counters.login();
    Ok(Answer::success(false, |json| {
        json.open_object();
        json.key("token").raw_text(&token.text);
        json.key("expires_at").time(token.expires_at);
        if let Some(webhook) = credential.webhook.as_ref().filter(|_| confirmed) {
            json.key("webhook");
            webhook.write(json, created);
        }
        json.close_object();
    }))
}
