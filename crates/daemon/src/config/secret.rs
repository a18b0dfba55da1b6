//! Passwords and other secrets: inline, in a file, or as a systemd credential.

use std::path::{Path, PathBuf};

use espelho_model::{StoreKey, text, text::Text};
use secrecy::SecretString;

/// Finds a store's password; the error says where it was looked for.
pub(super) fn password(
    dir: &Path,
    store_file: &Path,
    key: &StoreKey,
    inline: Option<SecretString>,
    file: Option<&Path>,
) -> Result<SecretString, Text> {
    let unreadable = |tried: Vec<Text>| text!("config-password", tried = tried);
    match (inline, file) {
        (Some(_), Some(_)) => Err(text!("config-password-twice")),
        (Some(password), None) => Ok(password),
        (None, Some(file)) => from_file(dir, store_file, file).map_err(unreadable),
        (None, None) => {
            let passed = systemd_credential(key).ok_or_else(|| text!("config-no-password"))?;
            from_first(&[passed]).map_err(unreadable)
        }
    }
}

/// Reads a secret from a file; the error says where it was looked for.
pub(super) fn from_file(dir: &Path, store_file: &Path, file: &Path) -> Result<SecretString, Vec<Text>> {
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

fn from_first(candidates: &[PathBuf]) -> Result<SecretString, Vec<Text>> {
    let mut tried = Vec::new();
    for path in candidates {
        match std::fs::read_to_string(path) {
            // An editor's line end is not part of the password.
            Ok(text) if !text.trim_end_matches(['\r', '\n']).is_empty() => {
                return Ok(text.trim_end_matches(['\r', '\n']).into());
            }
            Ok(_) => tried.push(text!("config-file-empty", path = path.display().to_string())),
            Err(error) => {
                let (path, problem) = (path.display().to_string(), error.to_string());
                tried.push(text!("config-file-error", path = path, problem = problem));
            }
        }
    }
    Err(tried)
}
