//! Credentials behind the API's back: what the seller portal does with them.
//!
//! A credential is named by its username; a store's name stands for the credential that the store was made with.

use serde::Deserialize;

use super::{Credential, State};
use crate::{
    StoreAccess,
    answer::Answer,
    call::Call,
    control::{
        endpoint::{ControlEndpoint, body, control, done},
        handles::CredentialsControl,
    },
    random::Random,
    refusal::{FieldErrors, Refusal},
};

/// A password that a person chose has at least as many characters ("Authentication").
const MIN_PASSWORD: usize = 12;

impl CredentialsControl<'_> {
    /// Adds a credential to a store, with every ability that an integration token can have and a password of its own.
    pub fn create(self, store: &str) -> Option<StoreAccess> {
        let world = self.world();
        let (position, store) = (world.position(store)?, world.store(store)?);
        let mut credentials = store.credentials();
        let count = credentials.iter().count() as u64;
        let mut random = Random::of(&[world.options.seed, store.id, count, 0xC4ED]);
        let credential = crate::seed::credential(&store.key, &mut random);
        let access = store.access_by(&credential);
        let at = credentials.add(credential);
        drop(credentials);
        world.register_username(access.username.clone(), position, at);
        Some(access)
    }

    /// Makes the current token worthless, as a login by another program would.
    pub fn kill_token(self, credential: &str) -> bool {
        let token = self.with_credential(credential, |credential| credential.token.take()).flatten();
        token.map(|token| self.world().tokens.kill(&token)).is_some()
    }

    /// Changes the password; the current token lives on. Refused below 12 characters.
    pub fn set_password(self, credential: &str, password: &str) -> bool {
        password.chars().count() >= MIN_PASSWORD
            && self
                .with_credential(credential, |credential| password.clone_into(&mut credential.password))
                .is_some()
    }

    /// Deletes the credential and its webhooks: no more logins, while the current token lives on until it expires.
    pub fn revoke(self, credential: &str) -> bool {
        let Some((store, at)) = self.position_of(credential) else { return false };
        self.with_credential(credential, |credential| credential.state = State::Revoked);
        self.world().webhooks.forget(store, at);
        true
    }

    /// Switches the credential off or on; while it is off, neither logins nor its token nor its webhooks work.
    pub fn set_active(self, credential: &str, active: bool) -> bool {
        let state = if active { State::Active } else { State::Inactive };
        self.with_credential(credential, |credential| credential.state = state).is_some()
    }

    /// Sets what the tokens of the credential may do, such as `store_products_read`.
    pub fn set_abilities(self, credential: &str, abilities: &[&str]) -> bool {
        let abilities = abilities.iter().map(|ability| (*ability).to_owned()).collect();
        self.with_credential(credential, |credential| credential.abilities = abilities).is_some()
    }

    /// Switches a feature of a store on or off, such as `sales_force`.
    pub fn set_feature(self, store: &str, feature: &str, on: bool) -> bool {
        let Some(store) = self.world().store(store) else { return false };
        let mut features = store.features();
        features.retain(|held| held != feature);
        if on {
            features.push(feature.to_owned());
        }
        true
    }

    pub(crate) fn position_of(self, credential: &str) -> Option<(usize, usize)> {
        let world = self.world();
        let first = world.position(credential).map(|store| (store, 0));
        first.or_else(|| world.credential_of_username(credential))
    }

    fn with_credential<T>(self, name: &str, change: impl FnOnce(&mut Credential) -> T) -> Option<T> {
        let (store, at) = self.position_of(name)?;
        self.world().stores.get(store)?.credentials().get_mut(at).map(change)
    }
}

/// The control endpoints of this area.
pub(crate) const ENDPOINTS: &[ControlEndpoint] = &[
    ControlEndpoint::post("credentials/{store}", "adds a credential to a store", add),
    ControlEndpoint::post(
        "credentials/{username}/password",
        r#"sets a password of 12 characters or more: {"password": "uma senha comprida"}"#,
        password,
    ),
    ControlEndpoint::post(
        "credentials/{username}/active",
        r#"switches a credential: {"active": false}"#,
        active,
    ),
    ControlEndpoint::post(
        "credentials/{username}/abilities",
        r#"sets what its tokens may do: {"abilities": ["store_products_read"]}"#,
        abilities,
    ),
    ControlEndpoint::delete(
        "credentials/{username}",
        "revokes a credential; its token lives on until it expires",
        revoke,
    ),
    ControlEndpoint::post(
        "tokens/{username}/kill",
        "ends the current token, as a login elsewhere would",
        kill,
    ),
    ControlEndpoint::post(
        "features/{store}",
        r#"switches a feature of a store: {"feature": "sales_force", "on": false}"#,
        feature,
    ),
];

#[derive(Deserialize)]
struct NewPassword {
    password: String,
}

#[derive(Deserialize)]
struct Active {
    active: bool,
}

#[derive(Deserialize)]
struct Abilities {
    abilities: Vec<String>,
}

#[derive(Deserialize)]
struct Feature {
    feature: String,
    on: bool,
}

fn add(call: &Call) -> Result<Answer, Refusal> {
    let access = control(call).credentials().create(call.id(0)).ok_or(Refusal::NotFound)?;
    Ok(Answer::value(&serde_json::json!({"username": access.username, "password": access.password})))
}

fn password(call: &Call) -> Result<Answer, Refusal> {
    let NewPassword { password } = body(call)?;
    if password.chars().count() < MIN_PASSWORD {
        let message = format!("A senha deve ter no mínimo {MIN_PASSWORD} caracteres.");
        return Err(Refusal::Invalid(FieldErrors::one("password", message)));
    }
    done(control(call).credentials().set_password(call.id(0), &password))
}

fn active(call: &Call) -> Result<Answer, Refusal> {
    let Active { active } = body(call)?;
    done(control(call).credentials().set_active(call.id(0), active))
}

fn abilities(call: &Call) -> Result<Answer, Refusal> {
    let Abilities { abilities } = body(call)?;
    let abilities: Vec<&str> = abilities.iter().map(String::as_str).collect();
    done(control(call).credentials().set_abilities(call.id(0), &abilities))
}

fn revoke(call: &Call) -> Result<Answer, Refusal> {
    done(control(call).credentials().revoke(call.id(0)))
}

fn kill(call: &Call) -> Result<Answer, Refusal> {
    done(control(call).credentials().kill_token(call.id(0)))
}

fn feature(call: &Call) -> Result<Answer, Refusal> {
    let Feature { feature, on } = body(call)?;
    done(control(call).credentials().set_feature(call.id(0), &feature, on))
}
