//! The tokens of the HTTP API: what each may do, and for which stores. Pure, but for the list that a reload replaces.

use std::{fmt, sync::Arc};

use espelho_model::StoreKey;
use parking_lot::RwLock;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// A right of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Scope {
    /// Read tables, views and alarms.
    Read,
    /// Write the ERP's tables.
    Write,
    /// Read and acknowledge the change feed.
    Feed,
}

/// The SHA-256 of a token. It cannot be turned back, and yet is not shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Returns the fingerprint of a token.
    pub(crate) fn of(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }

    /// Reads 64 hex digits.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).ok().map(|()| Self(bytes))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[REDACTED]")
    }
}

/// A token of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) name: String,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) scopes: Vec<Scope>,
    /// The stores that it is limited to.
    pub(crate) stores: Option<Vec<StoreKey>>,
}

impl Token {
    pub(crate) fn may(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }

    /// Tells whether it is for every store.
    pub(crate) fn sees_all(&self) -> bool {
        self.stores.is_none()
    }

    /// Tells whether it is for this store.
    pub(crate) fn sees(&self, store: &str) -> bool {
        self.stores.as_ref().is_none_or(|stores| stores.iter().any(|key| key.as_str() == store))
    }
}

/// The tokens of an installation. Without any, the API is off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tokens(pub(crate) Vec<Arc<Token>>);

impl Tokens {
    /// Returns the token that was sent. All are compared, each in constant time.
    fn find(&self, sent: &str) -> Option<Arc<Token>> {
        let Fingerprint(sent) = Fingerprint::of(sent);
        let same = |token: &&Arc<Token>| bool::from(token.fingerprint.0.ct_eq(&sent));
        self.0.iter().filter(same).fold(None, |found, token| found.or(Some(token))).cloned()
    }

    /// Returns the token of an `Authorization` header.
    pub(super) fn authorized(&self, header: &str) -> Option<Arc<Token>> {
        let (scheme, sent) = header.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| self.find(sent.trim())).flatten()
    }
}

/// The tokens that count now: a reload replaces them.
#[derive(Debug, Default)]
pub(crate) struct TokenList(RwLock<Arc<Tokens>>);

impl TokenList {
    /// Returns the list of an installation.
    pub(crate) fn of(tokens: Tokens) -> Self {
        Self(RwLock::new(Arc::new(tokens)))
    }

    /// Replaces all tokens; those that are no longer listed are refused from now on.
    pub(crate) fn replace(&self, tokens: Tokens) {
        *self.0.write() = Arc::new(tokens);
    }

    pub(super) fn get(&self) -> Arc<Tokens> {
        Arc::clone(&self.0.read())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(name: &str, sent: &str, stores: Option<&[&str]>) -> Arc<Token> {
        let stores = stores.map(|keys| keys.iter().map(|key| StoreKey::new(key).unwrap()).collect());
        let fingerprint = Fingerprint::of(sent);
        Arc::new(Token { name: name.into(), fingerprint, scopes: vec![Scope::Read], stores })
    }

    #[test]
    fn a_token_is_found_by_what_was_sent_and_nothing_like_it() {
        let tokens = Tokens(vec![token("a", "segredo-a", None), token("b", "segredo-b", None)]);
        for (header, name) in [
            ("Bearer segredo-a", Some("a")),
            ("bearer segredo-b", Some("b")),
            ("Bearer  segredo-b ", Some("b")),
            ("Bearer segredo-", None),
            ("Bearer segredo-aa", None),
            ("Bearer ", None),
            ("Bearer", None),
            ("Basic segredo-a", None),
            ("segredo-a", None),
            ("", None),
        ] {
            let found = tokens.authorized(header).map(|token| token.name.clone());
            assert_eq!(found.as_deref(), name, "{header:?}");
        }
        assert!(Tokens::default().authorized("Bearer segredo-a").is_none());
    }

    #[test]
    fn a_token_is_for_its_stores_and_its_scopes() {
        let (all, one) = (token("a", "a", None), token("b", "b", Some(&["minha-loja"])));
        assert!(all.sees("outra") && one.sees("minha-loja") && !one.sees("outra"));
        assert!(one.may(Scope::Read) && !one.may(Scope::Write));
    }

    #[test]
    fn a_fingerprint_is_64_hex_digits_and_is_not_shown() {
        let hex = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
        assert_eq!(Fingerprint::parse(hex), Some(Fingerprint::of("hello")));
        assert_eq!((Fingerprint::parse(&hex[1..]), Fingerprint::parse("x")), (None, None));
        assert!(!format!("{:?}", token("a", "hello", None)).contains("2cf2"));
    }
}
