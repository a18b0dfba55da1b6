//! The operators who may act on the page: their names, roles and tokens, from a private file.

use std::{path::Path, sync::Arc};

use espelho_model::{text, text::Text};
use parking_lot::RwLock;
use secrecy::ExposeSecret as _;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::config::secret_file;

/// The letters of a token that is long enough not to be guessed.
const SHORTEST: usize = 16;
/// The prefix of a token's digest.
const DIGEST: &str = "sha256=";

/// The rights of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Sees the pages.
    Viewer,
    /// Acts as well.
    Operator,
}

impl Role {
    /// Tells whether somebody in this role may act.
    pub(crate) fn may_act(self) -> bool {
        self == Self::Operator
    }
}

/// An operator.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Operator {
    pub(crate) name: String,
    pub(crate) role: Role,
    /// The SHA-256 of the token.
    digest: [u8; 32],
}

impl Operator {
    /// Tells whether this is the same person with the same token.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.name == other.name && self.digest == other.digest
    }

    /// Returns an operator with this token.
    #[cfg(test)]
    pub(crate) fn example(name: &str, role: Role, token: &str) -> Self {
        Self { name: name.to_owned(), role, digest: digest(token) }
    }
}

/// The file with the operators; it is read again at each login and with each request of a session, so that a change needs
/// no restart. A reload may name another file.
#[derive(Clone, Debug, Default)]
pub(crate) struct OperatorsFile(Arc<RwLock<Option<Arc<Path>>>>);

impl OperatorsFile {
    pub(crate) fn new(path: Option<&Path>) -> Self {
        Self(Arc::new(RwLock::new(path.map(Into::into))))
    }

    /// Reads this file from now on, or none.
    pub(crate) fn replace(&self, path: Option<&Path>) {
        *self.0.write() = path.map(Into::into);
    }

    /// Tells whether the installation has operators at all.
    pub(crate) fn is_configured(&self) -> bool {
        self.0.read().is_some()
    }

    /// Returns the operators; none if the file cannot be read, which a log line says.
    pub(crate) fn read(&self) -> Vec<Operator> {
        let Some(path) = self.0.read().clone() else { return Vec::new() };
        read(&path).unwrap_or_else(|problem| {
            tracing::error!(file = %path.display(), %problem, "the operators cannot be read: nobody can log in");
            Vec::new()
        })
    }
}

/// Reads the operators of a file; the error says what is wrong with it.
pub(crate) fn read(path: &Path) -> Result<Vec<Operator>, Text> {
    let text = secret_file(path)?;
    parsed(text.expose_secret())
}

/// Reads lines of `NAME:ROLE:TOKEN` or `NAME:ROLE:sha256=DIGEST`. Empty lines and those that begin with `#` say nothing.
fn parsed(text: &str) -> Result<Vec<Operator>, Text> {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let mut operators: Vec<Operator> = Vec::new();
    for (at, line) in lines {
        let operator = operator(line).ok_or_else(|| text!("config-operator", line = at))?;
        if operators.iter().any(|known| known.name == operator.name) {
            return Err(text!("config-operator-twice", line = at));
        }
        operators.push(operator);
    }
    Ok(operators)
}

fn operator(line: &str) -> Option<Operator> {
    let (name, rest) = line.split_once(':')?;
    let (role, token) = rest.split_once(':')?;
    let role = match role.trim() {
        "viewer" => Role::Viewer,
        "operator" => Role::Operator,
        _ => return None,
    };
    let (name, token) = (name.trim(), token.trim());
    let is_name = !name.is_empty() && name.len() <= 64 && !name.chars().any(char::is_control);
    let digest = match token.strip_prefix(DIGEST) {
        Some(digits) => hex::decode(digits).ok()?.try_into().ok()?,
        None if token.chars().count() >= SHORTEST => digest(token),
        None => return None,
    };
    is_name.then(|| Operator { name: name.to_owned(), role, digest })
}

/// Returns the operator with this token. Takes as long for every wrong one.
pub(crate) fn with_token<'o>(operators: &'o [Operator], token: &str) -> Option<&'o Operator> {
    let asked = digest(token.trim());
    let mut found = None;
    for operator in operators {
        if bool::from(operator.digest.ct_eq(&asked)) {
            found = Some(operator);
        }
    }
    found
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

impl std::fmt::Debug for Operator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Operator").field("name", &self.name).field("role", &self.role).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_an_operator_a_role_and_a_token_or_its_digest() {
        let hashed = hex::encode(digest("another-long-token"));
        let text = format!("# people\n\nana:operator:a-long-enough-token\nrui : viewer : sha256={hashed}\n");
        let operators = parsed(&text).unwrap();
        let who = |token: &str| with_token(&operators, token).map(|one| (one.name.as_str(), one.role));
        assert_eq!(who("a-long-enough-token"), Some(("ana", Role::Operator)));
        assert_eq!(who(" another-long-token\n"), Some(("rui", Role::Viewer)));
        assert_eq!((who(""), who(&hashed), who("a-long-enough-toke")), (None, None, None));
        assert!(!format!("{operators:?}").contains(&hashed[..8]));
    }

    #[test]
    fn a_reload_names_another_file_or_none_and_all_copies_read_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("operators");
        std::fs::write(&path, "ana:operator:a-long-enough-token").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        let file = OperatorsFile::new(None);
        let copy = file.clone();
        assert!(!copy.is_configured() && copy.read().is_empty());
        file.replace(Some(&path));
        assert_eq!((copy.is_configured(), copy.read().len()), (true, 1));
        file.replace(None);
        assert!(!copy.is_configured() && copy.read().is_empty());
    }

    #[test]
    fn a_line_that_cannot_be_meant_is_refused_with_its_number() {
        for (text, line) in [
            ("ana:operator:short", "1"),
            ("# x\nana:admin:a-long-enough-token", "2"),
            ("ana:operator", "1"),
            (":operator:a-long-enough-token", "1"),
            ("ana:operator:sha256=abcd", "1"),
            ("ana:viewer:a-long-enough-token\nana:operator:another-long-token", "2"),
        ] {
            let problem = parsed(text).unwrap_err().to_string();
            assert!(problem.contains(line) && !problem.contains("long"), "{problem}");
        }
    }
}
