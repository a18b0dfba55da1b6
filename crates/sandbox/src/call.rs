//! One call of the API, after every check: the argument of a route's work.

use std::{borrow::Cow, net::IpAddr, sync::Arc};

use crate::{auth::Token, options::Options, refusal::Refusal, store::Store, world::World};

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
    /// The bytes of the body, still unread; see [`crate::request_body`].
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
}

/// The value of a name in a list of pairs.
pub(crate) fn parameter<'a>(query: &'a str, name: &str) -> Option<Cow<'a, str>> {
    crate::query::pairs(query).find(|(key, _)| key == name).map(|(_, value)| value)
}
