//! Passwords and other secrets: inline, in a file, or as a systemd credential.

use std::{
    fs::Metadata,
    io,
    os::unix::fs::{FileTypeExt as _, MetadataExt as _},
    path::{Path, PathBuf},
};

use espelho_api_client::error::conceal;
use espelho_model::{StoreKey, program, text, text::Text};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize, Serializer};

use crate::users;

/// A secret that stands in `espelho.toml` itself, or in the environment.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct InlineSecret(SecretString);

impl InlineSecret {
    /// Returns the secret.
    pub(crate) fn secret(&self) -> &SecretString {
        &self.0
    }
}

impl PartialEq for InlineSecret {
    fn eq(&self, other: &Self) -> bool {
        self.0.expose_secret() == other.0.expose_secret()
    }
}

impl Serialize for InlineSecret {
    /// Writes the secret itself: the environment is laid over the file as a value in memory, and nothing else is
    /// written.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.0.expose_secret())
    }
}

/// The message about a file that others may read.
const EXPOSED: &str = "check-secret-exposed";
/// The message about a file that only another user may read, who is not root: it is no mistake of the configuration, if
/// that user is the service's.
pub(super) const ANOTHERS: &str = "config-file-anothers";
/// The message about a file that this user may not read.
const DENIED: &str = "config-file-denied";

/// Returns the possible paths of a store's password file; none for a password in the store's file.
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

/// Tells if a mistake is about reading a file with a password: it is absent, empty, denied to this user, or open to others.
pub(super) fn is_unread(problem: &Text) -> bool {
    ["config-password", EXPOSED, ANOTHERS, DENIED].contains(&problem.id())
}

/// Returns the mistake of a file that is there, with its next step; else the mistake that no path has the secret.
pub(crate) fn unreadable(tried: Vec<Text>, nowhere: impl FnOnce(Vec<Text>) -> Text) -> Text {
    let known = tried.iter().find(|text| [EXPOSED, ANOTHERS, DENIED].contains(&text.id())).cloned();
    known.unwrap_or_else(|| nowhere(tried))
}

/// Refuses what the store's file itself shows of a password: an empty one, or two.
pub(super) fn inline(inline: Option<&SecretString>, file: Option<&Path>) -> Result<(), Text> {
    match (inline, file) {
        (Some(_), Some(_)) => Err(text!("config-password-twice")),
        (Some(password), None) if password.expose_secret().is_empty() => Err(text!("config-password-empty")),
        _ => Ok(()),
    }
}

/// Finds a store's password; the error names the paths it tried.
pub(super) fn password(
    dir: &Path,
    store_file: &Path,
    key: &StoreKey,
    inline: Option<SecretString>,
    file: Option<&Path>,
) -> Result<SecretString, Text> {
    let unreadable = |tried| unreadable(tried, |tried| text!("config-password", tried = tried));
    self::inline(inline.as_ref(), file)?;
    match (inline, file) {
        (Some(password), _) => {
            conceal(&password);
            Ok(password)
        }
        (None, Some(file)) => from_file(dir, store_file, file).map_err(unreadable),
        (None, None) => {
            let passed = systemd_credential(key).ok_or_else(|| text!("config-no-password"))?;
            from_first(&[passed]).map_err(unreadable)
        }
    }
}

/// Reads a secret from a file; the error names the paths it tried.
pub(super) fn from_file(dir: &Path, store_file: &Path, file: &Path) -> Result<SecretString, Vec<Text>> {
    from_first(&candidates(dir, store_file, file))
}

/// Returns the paths to try. A relative path is tried beside the file that names it, then in DIR, then among systemd's
/// credentials.
fn candidates(dir: &Path, store_file: &Path, file: &Path) -> Vec<PathBuf> {
    if file.is_absolute() {
        return vec![file.to_owned()];
    }
    let beside = store_file.parent().unwrap_or(dir).join(file);
    let credentials = std::env::var_os("CREDENTIALS_DIRECTORY").map(|dir| PathBuf::from(dir).join(file));
    [beside, dir.join(file)].into_iter().chain(credentials).collect()
}

/// Returns the path of the unit's `LoadCredential=KEY.password:…`.
fn systemd_credential(key: &StoreKey) -> Option<PathBuf> {
    let dir = std::env::var_os("CREDENTIALS_DIRECTORY")?;
    Some(PathBuf::from(dir).join(format!("{key}.password")))
}

/// Reads a secret from the first of these files that is readable.
pub(crate) fn from_first(candidates: &[PathBuf]) -> Result<SecretString, Vec<Text>> {
    let mut tried = Vec::new();
    for path in candidates {
        if let Some(exposed) = exposed(path) {
            return Err(vec![exposed]);
        }
        if std::fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo()) {
            tried.push(text!("config-file-pipe", path = path.display().to_string()));
            continue;
        }
        match std::fs::read_to_string(path) {
            // A line end from an editor is not part of the password.
            Ok(text) if !text.trim_end_matches(['\r', '\n']).is_empty() => {
                let secret = text.trim_end_matches(['\r', '\n']).into();
                conceal(&secret);
                return Ok(secret);
            }
            Ok(_) => tried.push(text!("config-file-empty", path = path.display().to_string())),
            Err(error) => tried.push(not_read(path, &error)),
        }
    }
    Err(tried)
}

/// Returns the message that a file was not read. Who may not read it is told whom to be.
fn not_read(path: &Path, error: &io::Error) -> Text {
    let (file, problem) = (path.display().to_string(), error.to_string());
    if error.kind() != io::ErrorKind::PermissionDenied {
        return text!("config-file-error", path = file, problem = problem);
    }
    match std::fs::metadata(path).ok().filter(belongs_to_another) {
        Some(_) => {
            let (user, command) = (users::owner_of(path), program::typed_look());
            text!("config-file-anothers", path = file, user = user, command = command)
        }
        None => text!("config-file-denied", path = file, problem = problem),
    }
}

/// Tells if a file that this user may not use belongs to another user, who may be the service's.
pub(crate) fn belongs_to_another(about: &Metadata) -> bool {
    let user = rustix::process::geteuid().as_raw();
    is_anothers(about.mode(), about.uid(), user, service().map(|(user, _)| user))
}

/// Root's file is nobody's: the service does not run as root. For the service's own user no other user's file is right.
fn is_anothers(mode: u32, owner: u32, user: u32, service: Option<u32>) -> bool {
    owner != 0 && owner != user && mode & 0o400 != 0 && service != Some(user)
}

/// Returns the user and the group of the package's service, if it is installed.
fn service() -> Option<(u32, u32)> {
    let state = std::fs::metadata(super::INSTALLED).ok().filter(|state| state.uid() != 0)?;
    Some((state.uid(), state.gid()))
}

/// Tells if this user is that of the package's service.
pub(crate) fn is_service() -> bool {
    service().is_some_and(|(user, _)| user == rustix::process::geteuid().as_raw())
}

/// How the service must be able to use a file, as the bits of a mode for everybody.
#[derive(Clone, Copy)]
pub(crate) enum Use {
    Read = 0o4,
    ReadAndWrite = 0o6,
}

/// Tells if the package's service may use a file: root, who asks mostly, may use every one. `None` without that service, or
/// the file.
pub(crate) fn service_may_use(file: &Path, wanted: Use) -> Option<bool> {
    let (service, about) = service().zip(std::fs::metadata(file).ok())?;
    Some(may_use(about.mode(), (about.uid(), about.gid()), service, wanted))
}

/// Tells if a user may use a file, or may for all that is known: a file's group, but root's, may have the user as a member.
fn may_use(mode: u32, (owner, group): (u32, u32), (user, of_user): (u32, u32), wanted: Use) -> bool {
    let wanted = wanted as u32;
    let allows = |shift: u32| (mode >> shift) & wanted == wanted;
    match owner == user {
        true => allows(6),
        false => allows(0) || ((group == of_user || group != 0) && allows(3)),
    }
}

/// Reads a private file that `espelho.toml` names, and returns where it lies. Others may not read it.
pub(super) fn private_file(dir: &Path, file: &Path) -> Result<(PathBuf, String), Text> {
    let mut tried = Vec::new();
    for path in candidates(dir, &dir.join("espelho.toml"), file) {
        if let Some(exposed) = exposed(&path) {
            return Err(exposed);
        }
        match std::fs::read_to_string(&path) {
            Ok(text) => return Ok((path, text)),
            Err(error) => tried.push(not_read(&path, &error)),
        }
    }
    Err(unreadable(tried, |tried| text!("config-tokens-unreadable", tried = tried)))
}

/// Reads a private file: the error says that it cannot be read, or that others may read it.
pub(crate) fn secret_file(path: &Path) -> Result<SecretString, Text> {
    from_first(&[path.to_owned()]).map_err(|mut tried| tried.remove(0))
}

/// Returns the mistake that others may read a file. It exempts systemd's credentials: systemd sets their mode.
fn exposed(path: &Path) -> Option<Text> {
    let is_credential =
        std::env::var_os("CREDENTIALS_DIRECTORY").is_some_and(|dir| !dir.is_empty() && path.starts_with(dir));
    let is_exposed = |about: &Metadata| is_exposed(about.mode(), about.uid());
    let about = std::fs::metadata(path).ok().filter(|about| !is_credential && is_exposed(about))?;
    let (file, mode) = (path.display().to_string(), format!("{:04o}", about.mode() & 0o7777));
    Some(text!("check-secret-exposed", file = file, mode = mode))
}

/// Whether anybody but the owner may read or write a file. A group may read a file that root owns: the machine's
/// administrator has chosen that group.
fn is_exposed(mode: u32, owner: u32) -> bool {
    let allowed = if owner == 0 { 0o740 } else { 0o700 };
    mode & 0o777 & !allowed != 0
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_secret_is_its_owners_and_of_roots_also_a_groups() {
        for (mode, of_root, of_another) in [
            (0o100_600, false, false),
            (0o100_400, false, false),
            (0o100_640, false, true),
            (0o100_440, false, true),
            (0o100_660, true, true),
            (0o100_644, true, true),
            (0o100_604, true, true),
            (0o100_601, true, true),
        ] {
            assert_eq!((is_exposed(mode, 0), is_exposed(mode, 1_000)), (of_root, of_another), "{mode:o}");
        }
    }

    #[test]
    fn the_service_may_use_what_its_user_or_its_group_may() {
        for (mode, owner, wanted, expected) in [
            (0o600, (991, 991), Use::Read, true),
            (0o600, (0, 991), Use::Read, false),
            (0o640, (0, 991), Use::Read, true),
            (0o640, (0, 0), Use::Read, false),
            // The administrator has chosen a group, whose members nobody knows here.
            (0o640, (0, 1_000), Use::Read, true),
            (0o040, (991, 991), Use::Read, false),
            (0o604, (0, 0), Use::Read, true),
            (0o604, (0, 0), Use::ReadAndWrite, false),
            (0o640, (0, 991), Use::ReadAndWrite, false),
            (0o660, (0, 991), Use::ReadAndWrite, true),
        ] {
            assert_eq!(may_use(mode, owner, (991, 991), wanted), expected, "{mode:o} {owner:?}");
        }
    }

    #[test]
    fn an_empty_password_is_refused_wherever_it_stands() {
        let dir = tempfile::tempdir().unwrap();
        let (store, key) = (dir.path().join("loja.toml"), StoreKey::new("loja").unwrap());
        let id = |inline: Option<&str>, file: Option<&Path>| {
            let inline = inline.map(SecretString::from);
            password(dir.path(), &store, &key, inline, file).map_err(|text| text.id().to_owned()).err()
        };
        let empty = dir.path().join("empty.password");
        std::fs::write(&empty, "\n").unwrap();
        std::fs::set_permissions(&empty, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(id(Some("x"), None), None);
        assert_eq!(id(Some(""), None).as_deref(), Some("config-password-empty"));
        assert_eq!(id(None, Some(&empty)).as_deref(), Some("config-password"));
    }

    #[test]
    fn who_may_not_read_a_secret_is_told_whom_to_be() {
        for (kind, id) in [
            (io::ErrorKind::PermissionDenied, "config-file-denied"),
            (io::ErrorKind::NotFound, "config-file-error"),
        ] {
            assert_eq!(not_read(Path::new("/x"), &kind.into()).id(), id);
        }
    }

    #[test]
    fn a_file_of_the_services_user_is_no_mistake_for_another_user() {
        for (mode, owner, user, service, expected) in [
            (0o100_600, 991, 1_000, Some(991), true),
            (0o100_600, 991, 1_000, None, true),
            (0o100_600, 0, 1_000, Some(991), false),
            (0o100_000, 991, 1_000, Some(991), false),
            (0o100_600, 1_000, 1_000, Some(991), false),
            // The integrator's own file: the service's user may not read it.
            (0o100_600, 1_000, 991, Some(991), false),
        ] {
            assert_eq!(
                is_anothers(mode, owner, user, service),
                expected,
                "{mode:o} {owner} {user} {service:?}"
            );
        }
    }

    #[test]
    fn a_file_that_others_may_read_is_refused_with_the_command_that_mends_it() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("loja.password");
        std::fs::write(&file, "segredo").unwrap();
        let read = |mode| {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            from_file(dir.path(), &dir.path().join("loja.toml"), Path::new("loja.password"))
        };
        assert!(read(0o600).is_ok());
        let refusal = read(0o644).unwrap_err().remove(0);
        let next = refusal.next(text::Locale::default()).unwrap();
        let command = format!("chmod 600 {}", file.display());
        assert!(refusal.to_string().contains("0644") && next.contains(&command), "{refusal}, {next}");
    }
}
