//! `[http] tokens_file`: the tokens of the HTTP API.

use std::{path::Path, sync::Arc};

use espelho_api_client::error::conceal;
use espelho_model::{StoreKey, text, text::Text};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use super::{ConfigError, file, secret};
use crate::http::api::{Fingerprint, Scope, Token, Tokens};

/// The shortest token that nobody guesses.
const SHORTEST: usize = 24;

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokensFile {
    #[serde(default)]
    token: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    token: Option<SecretString>,
    sha256: Option<String>,
    scopes: Vec<Scope>,
    stores: Option<Vec<String>>,
}

/// Reads the tokens; none without a file.
pub(super) fn load(dir: &Path, named: Option<&Path>) -> Result<Tokens, ConfigError> {
    let Some(named) = named else { return Ok(Tokens::default()) };
    let refused = |path: &Path, problem| ConfigError { place: path.display().to_string(), problem };
    let (path, text) = secret::private_file(dir, named).map_err(|problem| refused(named, problem))?;
    let file: TokensFile = file::parse(&path, &text)?;
    checked(file).map_err(|problem| refused(&path, problem))
}

fn checked(file: TokensFile) -> Result<Tokens, Text> {
    let mut tokens: Vec<Arc<Token>> = Vec::new();
    for entry in file.token {
        let token = token(entry)?;
        if tokens.iter().any(|other| other.name == token.name || other.fingerprint == token.fingerprint) {
            return Err(text!("config-token-twice", name = token.name));
        }
        tokens.push(Arc::new(token));
    }
    match tokens.is_empty() {
        true => Err(text!("config-no-tokens")),
        false => Ok(Tokens(tokens)),
    }
}

fn token(entry: Entry) -> Result<Token, Text> {
    let Entry { name, token, sha256, scopes, stores } = entry;
    if name.trim().is_empty() {
        return Err(text!("config-token-name"));
    }
    let fingerprint = match (token, sha256) {
        (Some(token), None) if token.expose_secret().len() < SHORTEST => {
            return Err(text!("config-token-short", name = name, least = SHORTEST));
        }
        (Some(token), None) => {
            conceal(&token);
            Fingerprint::of(token.expose_secret())
        }
        (None, Some(hex)) => {
            Fingerprint::parse(&hex).ok_or_else(|| text!("config-token-sha256", name = name.as_str()))?
        }
        _ => return Err(text!("config-token-one", name = name)),
    };
    if scopes.is_empty() {
        return Err(text!("config-token-scopes", name = name));
    }
    let key = |store: String| {
        StoreKey::new(&store).map_err(|_| text!("config-token-store", name = name.as_str(), store = store))
    };
    let stores = stores.map(|stores| stores.into_iter().map(key).collect::<Result<_, _>>()).transpose()?;
    Ok(Token { name, fingerprint, scopes, stores })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const GOOD: &str = "0123456789abcdef01234567";

    fn loaded(text: &str, mode: u32) -> Result<Tokens, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tokens.toml");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        load(dir.path(), Some(Path::new("tokens.toml"))).map_err(|error| error.to_string())
    }

    fn entry(more: &str) -> String {
        format!("[[token]]\nname = \"erp\"\n{more}\n")
    }

    #[test]
    fn tokens_are_read_with_their_scopes_and_stores() {
        let text = format!(
            "{}\n[[token]]\nname = \"bi\"\nsha256 = \"{}\"\nscopes = [\"read\"]\nstores = [\"minha-loja\"]\n",
            entry(&format!("token = \"{GOOD}\"\nscopes = [\"read\", \"write\", \"feed\"]")),
            "ab".repeat(32)
        );
        let tokens = loaded(&text, 0o600).unwrap();
        let [erp, bi] = &tokens.0[..] else { panic!("{tokens:?}") };
        assert!(erp.may(Scope::Feed) && erp.stores.is_none() && erp.fingerprint == Fingerprint::of(GOOD));
        assert!(!bi.may(Scope::Write) && !bi.sees("outra"));
        assert_eq!(load(Path::new("/"), None), Ok(Tokens::default()));
    }

    #[test]
    fn a_mistake_is_named_and_no_token_is_quoted() {
        let one = entry(&format!("token = \"{GOOD}\"\nscopes = [\"read\"]"));
        for (text, words) in [
            (String::new(), "has no [[token]]"),
            (entry(&format!("token = \"{GOOD}\"\nscopes = []")), "no scope"),
            (entry(&format!("token = \"{GOOD}\"\nscopes = [\"admin\"]")), "\"admin\" cannot be used"),
            (entry("token = \"curto\"\nscopes = [\"read\"]"), "shorter than 24"),
            (entry("scopes = [\"read\"]"), "either token or sha256"),
            (
                entry(&format!("token = \"{GOOD}\"\nsha256 = \"aa\"\nscopes = [\"read\"]")),
                "either token or sha256",
            ),
            (entry("sha256 = \"aa\"\nscopes = [\"read\"]"), "64 hex digits"),
            (entry(&format!("token = \"{GOOD}\"\nscopes = [\"read\"]\nstores = [\"a/b\"]")), "a/b"),
            (format!("{one}{one}"), "twice"),
            (entry(&format!("token = [\"{GOOD}\"]\nscopes = [\"read\"]")), "must be text in quotes"),
            (entry(&format!("toke = \"{GOOD}\"\nscopes = [\"read\"]")), "did you mean \"token\"?"),
        ] {
            let error = loaded(&text, 0o600).unwrap_err();
            assert!(error.contains(words) && !error.contains(GOOD), "{text}: {error}");
        }
        let exposed = loaded(&one, 0o644).unwrap_err();
        assert!(exposed.contains("0644"), "{exposed}");
        assert!(load(Path::new("/"), Some(Path::new("/nowhere/tokens.toml"))).is_err());
    }
}
