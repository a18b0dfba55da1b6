//! One call of the API, after every check: what a route's work is given.

use std::{borrow::Cow, net::IpAddr, sync::Arc};

use serde_json::{Map, Value};

use crate::{answer::Refusal, auth::Token, options::Options, query::FieldErrors, store::Store, world::World};

/// One call. It owns what it holds, so that slow work can be done elsewhere.
pub(crate) struct Call {
    pub(crate) world: Arc<World>,
    pub(crate) peer: IpAddr,
    /// Position of the store that the token speaks for.
    pub(crate) caller: Option<usize>,
    /// The token of the call.
    pub(crate) token: Option<Arc<Token>>,
    /// The identifiers in the path, decoded.
    pub(crate) ids: Vec<String>,
    /// The query string, still encoded; see [`crate::query`].
    pub(crate) query: String,
    pub(crate) content_type: String,
    pub(crate) body: Vec<u8>,
}

impl Call {
    /// The store that the token speaks for.
    pub(crate) fn store(&self) -> Result<&Store, Refusal> {
        self.caller.and_then(|at| self.world.stores.get(at)).ok_or(Refusal::Token)
    }

    /// Whether the token has an ability beyond those that the route asks for.
    pub(crate) fn may(&self, ability: &str) -> bool {
        self.token.as_deref().is_some_and(|token| self.world.may(token, ability))
    }

    /// An identifier of the path, counted from 0.
    pub(crate) fn id(&self, at: usize) -> &str {
        self.ids.get(at).map_or("", String::as_str)
    }

    pub(crate) fn options(&self) -> &Options {
        &self.world.options
    }

    /// Seconds since 1970.
    pub(crate) fn now(&self) -> i64 {
        self.world.clock.seconds()
    }

    /// The JSON object of the body. A body that is none has no fields, which is what the errors then say.
    pub(crate) fn fields(&self) -> Map<String, Value> {
        match serde_json::from_slice(&self.body) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        }
    }

    /// The same, for a route where no field is required: what is no object must not pass for one without fields.
    pub(crate) fn object(&self) -> Result<Map<String, Value>, Refusal> {
        match serde_json::from_slice(&self.body) {
            Ok(Value::Object(fields)) => Ok(fields),
            _ => Err(Refusal::Invalid(FieldErrors::one("body", "O corpo deve ser um objeto JSON."))),
        }
    }
}

/// The value of a name in a list of pairs.
pub(crate) fn parameter<'a>(query: &'a str, name: &str) -> Option<Cow<'a, str>> {
    crate::query::pairs(query).find(|(key, _)| key == name).map(|(_, value)| value)
}
