//! Passwords and other secrets: inline, in a file, or as a systemd credential.

use std::path::{Path, PathBuf};

use espelho_model::StoreKey;
use secrecy::SecretString;

/// The places where a store's password file may lie; none for a password that stands in the store's file.
pub(super) fn password_files(
    dir: &Path,
    store_file: &Path,
    key: &StoreKey,
    is_inline: bool,
    file: Option<&Path>,
) -> Vec<PathBuf> {
    match (is_inline, file) {
        (true, _) => Vec::new(),
        (false, Some(file)) => candidates(dir, store_file, file),
        (false, None) => systemd_credential(key).into_iter().collect(),
    }
}

/// Finds a store's password; the error says where it was looked for.
pub(super) fn password(
    dir: &Path,
    store_file: &Path,
    key: &StoreKey,
    inline: Option<SecretString>,
    file: Option<&Path>,
) -> Result<SecretString, String> {
    match (inline, file) {
        (Some(_), Some(_)) => Err("credentials has both password and password_file; keep one".into()),
        (Some(password), None) => Ok(password),
        (None, Some(file)) => from_file(dir, store_file, file).map_err(|e| format!("the password {e}")),
        (None, None) => from_first(&[systemd_credential(key).ok_or_else(|| {
            "credentials has neither password nor password_file, and systemd passed no credential".to_owned()
        })?])
        .map_err(|e| format!("the password {e}")),
    }
}

/// Reads a secret from a file; the error, which its name comes before, says where it was looked for.
pub(super) fn from_file(dir: &Path, store_file: &Path, file: &Path) -> Result<SecretString, String> {
    from_first(&candidates(dir, store_file, file))
}

/// A relative path is looked for beside the file that names it, then in DIR, then among systemd's credentials.
fn candidates(dir: &Path, store_file: &Path, file: &Path) -> Vec<PathBuf> {
    if file.is_absolute() {
        return vec![file.to_owned()];
    }
    let beside = store_file.parent().unwrap_or(dir).join(file);
    let credentials = std::env::var_os("CREDENTIALS_DIRECTORY").map(|dir| PathBuf::from(dir).join(file));
    [beside, dir.join(file)].into_iter().chain(credentials).collect()
}

/// `LoadCredential=KEY.password:…` in the unit.
fn systemd_credential(key: &StoreKey) -> Option<PathBuf> {
    let dir = std::env::var_os("CREDENTIALS_DIRECTORY")?;
    Some(PathBuf::from(dir).join(format!("{key}.password")))
}

/// Reads a secret from the first of these files that can be read.
pub(crate) fn from_first(candidates: &[PathBuf]) -> Result<SecretString, String> {
    let mut tried = Vec::new();
    for path in candidates {
        match std::fs::read_to_string(path) {
            // An editor's line end is not part of the password.
            Ok(text) if !text.trim_end_matches(['\r', '\n']).is_empty() => {
                return Ok(text.trim_end_matches(['\r', '\n']).into());
            }
            Ok(_) => tried.push(format!("{} is empty", path.display())),
            Err(error) => tried.push(format!("{}: {error}", path.display())),
        }
    }
    Err(format!("cannot be read ({})", tried.join("; ")))
}
