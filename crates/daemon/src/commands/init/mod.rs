//! `espelho init`: asks six questions, writes the configuration, makes the database and lets `doctor` try everything.
//!
//! The login that `doctor` makes for it registers the webhook: the marketplace does so with each login that names one (API
//! document, "Authentication" 10). So the person hears at once that it refuses the address.

mod files;
mod questions;

use std::{
    fs::{DirBuilder, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, chown},
    path::{Path, PathBuf},
};

use espelho_model::{
    StoreKey,
    clock::SystemClock,
    text,
    text::{Locale, Text},
};
use espelho_store::Store;
use espelho_sync_engine::{Problem, Trouble};
use secrecy::{ExposeSecret as _, SecretString};

use self::{
    files::StoreAnswers,
    questions::{Answers, answers},
};
use super::{
    doctor::{self, Refused},
    load, prompt, say,
};
use crate::{
    cli::{Cli, InitArgs},
    config, exit,
    place::{self, Place},
    unit,
};

pub(super) async fn run(cli: &Cli, arguments: &InitArgs) -> u8 {
    let dir = config::directory(cli.config.as_deref());
    let is_installed = dir.join("espelho.toml").exists();
    let mut answers = match answers(arguments, is_installed, &dir, cli.locale) {
        Ok(answers) => answers,
        Err(wrong) => {
            return refuse(&wrong, cli);
        }
    };
    // Later commands name the configuration's folder too, and run in other folders.
    if let (Some(folder), Some((_, database))) = (&cli.config, &mut answers.installation) {
        *database = place::address_in(folder, database);
    }
    match write(&dir, &answers, arguments.replace) {
        Ok(written) => {
            for path in written {
                eprintln!("{}", text!("init-written", file = path.display().to_string()).message(cli.locale));
            }
        }
        Err(wrong) => return refuse(&wrong, cli),
    }
    let configuration = match load(cli) {
        Ok(configuration) => configuration,
        Err(code) => return code,
    };
    let opened = match Place::to_open(&configuration, false) {
        Ok(place) => Store::open(&place.url, SystemClock::shared()).await.map_err(Problem::from),
        Err(problem) => Err(problem),
    };
    match opened {
        Ok(store) => store.close().await,
        Err(problem) => return say(&problem, cli),
    }
    let mut looked = doctor::look(cli, false, Some(&answers.key)).await;
    // Nothing is asked because of what a running service was told before.
    while !looked.is_running
        && prompt::is_possible()
        && let Some(part) = looked.refused_of(&answers.key)
    {
        match correct(part, &mut answers, arguments, &dir, cli.locale) {
            Ok(true) => looked = doctor::look(cli, false, Some(&answers.key)).await,
            Ok(false) => break,
            Err(wrong) => return refuse(&wrong, cli),
        }
    }
    let is_accepted = looked.has_accepted(&answers.key);
    let (code, next) = ended((looked.code, is_accepted), looked.is_running, has_unit(&dir));
    let next = next.with("folder", dir.display().to_string());
    eprintln!("\n{}", next.message(cli.locale));
    code
}

/// Asks again for what the marketplace refused, and writes the answer; `false` without one. A password that stands in
/// somebody's file is not asked for.
fn correct(
    part: Refused,
    answers: &mut Answers,
    arguments: &InitArgs,
    dir: &Path,
    locale: Locale,
) -> Result<bool, Text> {
    match part {
        Refused::Credential if arguments.password_file.is_some() => Ok(false),
        Refused::Credential => {
            let Some(password) = questions::password_again(locale) else { return Ok(false) };
            write_password(&password_file(&dir.join("stores"), &answers.key), &password)?;
            Ok(true)
        }
        Refused::Webhook => {
            let Some(public_url) = questions::webhook_again(answers, dir, locale) else {
                return Ok(false);
            };
            answers.public_url = Some(public_url).filter(|url| !url.is_empty());
            write_store(dir, answers)?;
            Ok(true)
        }
    }
}

/// Tells if the package's unit runs this configuration.
fn has_unit(dir: &Path) -> bool {
    unit::is_installed() && dir == Path::new(config::SYSTEM)
}

/// Returns the exit code and the next step for what doctor ended with. What only the running service can show (whether
/// webhooks arrive) is no mistake of the configuration, once the marketplace has accepted the credential. A service that
/// runs has the earlier configuration: what doctor found through it is no proof of this one.
fn ended((doctor, is_accepted): (u8, bool), is_running: bool, has_unit: bool) -> (u8, Text) {
    let code = match doctor {
        exit::COMPLETE if is_running => exit::PARTIAL,
        exit::PARTIAL if is_accepted && !is_running => exit::COMPLETE,
        other => other,
    };
    match (code, is_running, has_unit) {
        (_, true, _) => (code, text!("init-next-reload")),
        (exit::COMPLETE, false, true) => (code, text!("init-next-systemd")),
        (exit::COMPLETE, false, false) => (code, text!("init-next-run")),
        _ => (code, text!("init-next-doctor")),
    }
}

fn exists(file: &Path) -> Text {
    let password = file.with_extension("password");
    text!("init-store-exists", file = file.display().to_string(), password = password.display().to_string())
}

/// Says what is wrong, and returns the exit code.
fn refuse(wrong: &Text, cli: &Cli) -> u8 {
    let cause = io::Error::other(wrong.to_string());
    let said = match wrong.has_next() {
        true => wrong.clone(),
        false => text!("init-refused", problem = wrong.clone()),
    };
    say(&Problem::new(Trouble::Configuration, "init", &cause, said), cli)
}

/// Writes the files that the answers ask for. A store that has a file already keeps it, unless it is to be replaced.
fn write(dir: &Path, answers: &Answers, is_replaced: bool) -> Result<Vec<PathBuf>, Text> {
    let stores = dir.join("stores");
    let file = store_file(dir, &answers.key);
    if file.exists() && !is_replaced {
        return Err(exists(&file));
    }
    DirBuilder::new().recursive(true).mode(0o755).create(&stores).map_err(failed(&stores))?;
    let mut written = Vec::new();
    if let Some((language, database)) = &answers.installation {
        let path = dir.join("espelho.toml");
        put(&path, &files::installation(*language, database), 0o644).map_err(failed(&path))?;
        written.push(path);
    }
    let path = password_file(&stores, &answers.key);
    write_password(&path, &answers.password)?;
    written.push(path);
    written.push(write_store(dir, answers)?);
    Ok(written)
}

/// Writes the store's file, and returns its path.
fn write_store(dir: &Path, answers: &Answers) -> Result<PathBuf, Text> {
    let path = store_file(dir, &answers.key);
    // A further store speaks the language of the installation that is there.
    let language = config::people(dir).0.unwrap_or_default();
    let answers = StoreAnswers {
        key: answers.key.clone(),
        environment: answers.environment,
        base_url: answers.base_url.clone(),
        username: answers.username.clone(),
        password_file: format!("{}.password", answers.key),
        public_url: answers.public_url.clone(),
    };
    let text = files::store(language, &answers);
    put(&path, &text, 0o644).map_err(failed(&path))?;
    Ok(path)
}

/// Tells if a store has its file.
fn is_here(dir: &Path, key: &StoreKey) -> bool {
    store_file(dir, key).exists()
}

fn store_file(dir: &Path, key: &StoreKey) -> PathBuf {
    dir.join("stores").join(format!("{key}.toml"))
}

fn password_file(stores: &Path, key: &StoreKey) -> PathBuf {
    stores.join(format!("{key}.password"))
}

fn write_password(path: &Path, password: &SecretString) -> Result<(), Text> {
    put(path, password.expose_secret(), 0o600)
        .and_then(|()| give_to_service(path, Path::new(config::INSTALLED)))
        .map_err(failed(path))
}

/// Returns the message for a file that cannot be written.
fn failed(path: &Path) -> impl FnOnce(io::Error) -> Text {
    let path = path.display().to_string();
    move |error| text!("init-not-written", file = path, problem = error.to_string())
}

/// Writes a file whole or not at all.
fn put(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let draft = path.with_extension("draft");
    let _ = std::fs::remove_file(&draft);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&draft)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&draft, path)
}

/// Gives the service's user a password that root writes. A package gives the folder of the configuration to the service's
/// group, which the ERP's user may join, and the state directory to the service's user, who alone reads the password.
fn give_to_service(path: &Path, state: &Path) -> io::Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    let group = std::fs::metadata(folder)?.gid();
    if !rustix::process::geteuid().is_root() || group == 0 {
        return Ok(());
    }
    match std::fs::metadata(state).ok().filter(|state| state.gid() == group && state.uid() != 0) {
        Some(service) => chown(path, Some(service.uid()), Some(group)),
        // Without a state directory of its own, only the service's group is known.
        None => {
            chown(path, None, Some(group))?;
            std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o640))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_that_root_writes_is_for_the_services_user_alone() {
        let dir = tempfile::tempdir().unwrap();
        let [configuration, state] = ["stores", "state"].map(|name| dir.path().join(name));
        for folder in [&configuration, &state] {
            std::fs::create_dir(folder).unwrap();
        }
        let path = configuration.join("loja.password");
        put(&path, "secret", 0o600).unwrap();
        let is_root = rustix::process::geteuid().is_root();
        if is_root {
            chown(&configuration, None, Some(61_010)).unwrap();
            chown(&state, Some(61_001), Some(61_010)).unwrap();
        }
        let before = std::fs::metadata(&path).unwrap();
        give_to_service(&path, &state).unwrap();
        let found = std::fs::metadata(&path).unwrap();
        assert_eq!(found.mode() & 0o777, 0o600);
        let owner = if is_root { (61_001, 61_010) } else { (before.uid(), before.gid()) };
        assert_eq!((found.uid(), found.gid()), owner);
    }

    #[test]
    fn an_installation_is_ready_though_only_the_service_can_show_the_rest_and_a_running_one_is_reloaded() {
        for (doctor, is_running, has_unit, expected, next) in [
            ((exit::COMPLETE, true), false, true, exit::COMPLETE, "init-next-systemd"),
            ((exit::COMPLETE, true), false, false, exit::COMPLETE, "init-next-run"),
            ((exit::PARTIAL, true), false, true, exit::COMPLETE, "init-next-systemd"),
            ((exit::PARTIAL, true), false, false, exit::COMPLETE, "init-next-run"),
            // The login waits for the marketplace's limit, for one: nothing shows that the password is right.
            ((exit::PARTIAL, false), false, true, exit::PARTIAL, "init-next-doctor"),
            ((exit::AUTHENTICATION, false), false, true, exit::AUTHENTICATION, "init-next-doctor"),
            ((exit::FAILED, false), false, false, exit::FAILED, "init-next-doctor"),
            ((exit::COMPLETE, true), true, true, exit::PARTIAL, "init-next-reload"),
            ((exit::PARTIAL, true), true, true, exit::PARTIAL, "init-next-reload"),
            ((exit::PARTIAL, false), true, true, exit::PARTIAL, "init-next-reload"),
            ((exit::FAILED, true), true, false, exit::FAILED, "init-next-reload"),
        ] {
            let (code, said) = ended(doctor, is_running, has_unit);
            assert_eq!((code, said.id()), (expected, next), "{doctor:?} {is_running} {has_unit}");
        }
    }

    #[test]
    fn a_store_that_exists_names_its_password_file() {
        let said = exists(Path::new("/etc/espelho/stores/loja.toml"));
        let next = said.next(Locale::default()).unwrap();
        assert!(next.ends_with("/etc/espelho/stores/loja.password"), "{next}");
    }
}
