//! The demonstration's folder: its contents, and which of them stay.

use std::{
    fs,
    io::{self, Write as _},
    net::SocketAddr,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use espelho_model::{text, text::Language};
use espelho_sandbox::Sandbox;
use espelho_sync_engine::{Problem, Trouble};
use tempfile::TempDir;

use super::Result;
use crate::config::{self, Configuration};

/// The demo folder. On drop it removes its configuration, which contains passwords; a temporary folder goes whole.
pub(super) struct Place {
    folder: PathBuf,
    /// Absent if the user named the folder.
    own: Option<TempDir>,
    configuration: Files,
}

/// The files of the configuration.
#[derive(Clone, Default)]
pub(super) struct Files(Vec<PathBuf>);

impl Place {
    /// Returns a private folder: the named one, or a new temporary one.
    pub(super) fn make(named: Option<&Path>) -> Result<Self> {
        let temporary = || {
            let private = fs::Permissions::from_mode(0o700);
            tempfile::Builder::new().prefix("espelho-demo-").permissions(private).tempdir()
        };
        let own = match named {
            Some(_) => None,
            None => Some(temporary().map_err(|error| not_written(&std::env::temp_dir(), &error))?),
        };
        let folder = own.as_ref().map(TempDir::path).or(named).unwrap_or(Path::new("."));
        let stores = folder.join("stores");
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&stores);
        made.map_err(|error| not_written(&stores, &error))?;
        let folder = folder.canonicalize().map_err(|error| not_written(folder, &error))?;
        Ok(Self { folder, own, configuration: Files::default() })
    }

    /// Returns the folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the path of the database.
    pub(super) fn database(&self) -> PathBuf {
        self.folder.join("espelho.db")
    }

    /// Returns the files to remove if the process ends earlier.
    pub(super) fn configuration(&self) -> Files {
        self.configuration.clone()
    }

    /// Writes the configuration and reads it: the demonstration uses the same files as every installation.
    pub(super) fn configure(
        &mut self,
        sandbox: &Sandbox,
        listen: SocketAddr,
        language: Language,
    ) -> Result<Configuration> {
        let installation = format!(
            "language = \"{}\"\n\n[database]\nurl = \"sqlite:{}\"\n\n[http]\nlisten = \"{listen}\"\n\n[labels]\ndirectory = \"{}\"\n\n\
             [schedule]\nreconcile = \"*/10 * * * * *\"\n",
            language.tag(),
            self.database().display(),
            self.folder.join("labels").display()
        );
        self.write("espelho.toml", &installation)?;
        for access in sandbox.stores() {
            let store = format!(
                "environment = \"sandbox\"\nbase_url = \"{}\"\n\n[credentials]\nusername = \"{}\"\npassword = \"{}\"\n\n\
                 [limits]\nrequests_per_minute = 1000000\n",
                sandbox.base_url(),
                access.username,
                access.password
            );
            self.write(&format!("stores/{}.toml", access.key), &store)?;
        }
        config::load(&self.folder).map_err(|errors| {
            Problem::new(Trouble::Configuration, "configuration", &errors[0], errors[0].text())
        })
    }

    fn write(&mut self, name: &str, text: &str) -> Result<()> {
        let path = self.folder.join(name);
        // A named folder may contain a user's configuration.
        let file = fs::File::options().write(true).create_new(true).mode(0o600).open(&path);
        let mut file = file.map_err(|error| not_written(&path, &error))?;
        self.configuration.0.push(path.clone());
        file.write_all(text.as_bytes()).map_err(|error| not_written(&path, &error))
    }

    /// Ends the demonstration and keeps the database.
    pub(super) fn keep_database(mut self) -> PathBuf {
        if let Some(own) = self.own.take() {
            let _ = own.keep();
        }
        self.database()
    }
}

fn not_written(file: &Path, error: &io::Error) -> Problem {
    let text = text!("demo-not-written", file = file.display().to_string(), problem = error.to_string());
    Problem::new(Trouble::Configuration, "not_written", error, text)
}

impl Files {
    /// Removes the files, and their folder if nothing else is in it.
    pub(super) fn remove(&self) {
        for file in &self.0 {
            let _ = fs::remove_file(file);
        }
        if let Some(stores) =
            self.0.last().and_then(|file| file.parent()).filter(|dir| dir.ends_with("stores"))
        {
            let _ = fs::remove_dir(stores);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.configuration.remove();
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Locale;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn written(named: Option<&Path>) -> Place {
        let mut place = Place::make(named).unwrap();
        place.write("espelho.toml", "a").unwrap();
        place.write("stores/loja-1.toml", "password").unwrap();
        fs::write(place.database(), "rows").unwrap();
        place
    }

    #[test]
    fn a_folder_of_our_own_is_for_nobody_else_and_goes_whole() {
        let place = written(None);
        let folder = place.folder().to_owned();
        assert_eq!((mode(&folder), mode(&folder.join("stores/loja-1.toml"))), (0o700, 0o600));
        drop(place);
        assert!(!folder.exists());
    }

    #[test]
    fn of_what_is_kept_the_passwords_go() {
        let kept = written(None).keep_database();
        let folder = kept.parent().unwrap();
        let left = |folder: &Path| {
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>()
        };
        assert_eq!(left(folder), ["espelho.db"]);
        fs::remove_dir_all(folder).unwrap();

        let above = tempfile::tempdir().unwrap();
        let named = above.path().join("demo");
        drop(written(Some(&named)));
        assert_eq!((left(&named), mode(&named)), (vec!["espelho.db".into()], 0o700));
    }

    #[test]
    fn what_somebody_else_has_written_is_left_alone() {
        let named = tempfile::tempdir().unwrap();
        let theirs = named.path().join("stores/loja-1.toml");
        fs::create_dir(named.path().join("stores")).unwrap();
        fs::write(&theirs, "theirs").unwrap();
        let mut place = Place::make(Some(named.path())).unwrap();
        place.write("espelho.toml", "a").unwrap();
        let problem = place.write("stores/loja-1.toml", "password").unwrap_err();
        for locale in Language::ALL.map(Locale::of) {
            assert!(problem.message(locale).contains("loja-1.toml"), "{problem:?}");
            assert!(problem.next(locale).contains("espelho demo --dir"), "{problem:?}");
        }
        drop(place);
        assert_eq!(fs::read_to_string(theirs).unwrap(), "theirs");
        assert!(!named.path().join("espelho.toml").exists());
    }
}
