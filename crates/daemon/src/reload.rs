//! SIGHUP: the configuration is read again, and applied as a whole or not at all. Between two of them the files are watched:
//! a mistake in them is told before the next start fails on it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use espelho_model::{Clock, text::Text};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::config::{self, ConfigError, Configuration};

/// The interval between two looks at the files; they are read when two looks in a row find them unchanged.
const EVERY: Duration = Duration::from_secs(5);

/// The signal that triggers a reload, and the folder to read.
pub(crate) struct Reloads {
    signal: Signal,
    clock: Arc<dyn Clock>,
    files: WatchedFiles,
}

/// The news of the configuration.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// A reload was requested.
    Asked,
    /// Its files have changed, and have these mistakes; none where they can be read again.
    Mistakes(Vec<Text>),
}

impl Reloads {
    /// Reads this folder again with each SIGHUP from now on.
    pub(crate) fn of(directory: PathBuf, clock: Arc<dyn Clock>) -> io::Result<Self> {
        Ok(Self { signal: signal(SignalKind::hangup())?, clock, files: WatchedFiles::of(directory) })
    }

    /// Waits for the next SIGHUP, or for news of the files. A cancelled wait loses nothing.
    pub(crate) async fn news(&mut self) -> News {
        loop {
            tokio::select! {
                asked = self.signal.recv() => match asked {
                    Some(()) => return News::Asked,
                    None => std::future::pending().await,
                },
                () = self.clock.sleep(EVERY) => {
                    if let Some(mistakes) = self.files.look() {
                        return News::Mistakes(mistakes);
                    }
                }
            }
        }
    }

    /// Returns the configuration as it is now; for a broken one it logs and returns every mistake.
    pub(crate) fn read(&mut self) -> Result<Configuration, Vec<Text>> {
        self.files = WatchedFiles::of(self.files.directory.clone());
        config::load(&self.files.directory).map_err(|mistakes| {
            mistakes.iter().for_each(|mistake| refused(&mistake.to_string()));
            mistakes.iter().map(ConfigError::text).collect()
        })
    }
}

/// Logs why nothing changes.
pub(crate) fn refused(error: &str) {
    let next_step = "correct it, run `espelho check`, and reload again";
    tracing::error!(error, next_step, "the new configuration is refused; the old one stays");
}

/// The files' names, times of change and lengths, which a look learns without reading them.
type Shape = Vec<(PathBuf, Option<SystemTime>, u64)>;

/// The files of the configuration, as they were read last.
struct WatchedFiles {
    directory: PathBuf,
    /// The state at the last look.
    seen: Shape,
    /// The state at the last read.
    read: Shape,
    /// The mistakes that the last read found, which have been told.
    mistakes: Vec<Text>,
}

impl WatchedFiles {
    /// Watches a folder whose files are read now.
    fn of(directory: PathBuf) -> Self {
        let shape = shape_of(&directory);
        Self { directory, seen: shape.clone(), read: shape, mistakes: Vec::new() }
    }

    /// Looks at the files once, and returns their mistakes where these are others than before; none where there were some.
    /// Files with mistakes are read at each look: what they name, as the file of the tokens, may be what was missing.
    fn look(&mut self) -> Option<Vec<Text>> {
        let shape = shape_of(&self.directory);
        let is_settled = shape == self.seen;
        self.seen.clone_from(&shape);
        if !is_settled || (shape == self.read && self.mistakes.is_empty()) {
            return None;
        }
        self.read = shape;
        let mistakes: Vec<Text> = match config::load(&self.directory) {
            Ok(_) => Vec::new(),
            // Password files are watched by themselves, and have an alarm of their own.
            Err(mistakes) => {
                let own = mistakes.iter().filter(|mistake| !mistake.is_of_stores_secret());
                own.map(ConfigError::text).collect()
            }
        };
        if mistakes == self.mistakes {
            return None;
        }
        self.mistakes.clone_from(&mistakes);
        Some(mistakes)
    }
}

fn shape_of(directory: &Path) -> Shape {
    let stores = fs::read_dir(directory.join("stores")).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = stores.map(|entry| entry.path()).collect();
    paths.push(directory.join("espelho.toml"));
    paths.sort();
    let shape = |path: PathBuf| {
        let known = fs::metadata(&path).ok();
        let length = known.as_ref().map_or(0, fs::Metadata::len);
        (path, known.and_then(|known| known.modified().ok()), length)
    };
    paths.into_iter().map(shape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_in_the_files_is_told_when_they_are_left_alone_and_so_is_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let (installation, store) =
            (folder.path().join("espelho.toml"), folder.path().join("stores/loja-1.toml"));
        fs::create_dir(folder.path().join("stores")).unwrap();
        fs::write(&installation, "").unwrap();
        let good = [
            "environment = \"sandbox\"",
            "base_url = \"http://127.0.0.1:1\"",
            "[credentials]",
            "username = \"loja@a1b2c3d4\"",
            "password = 'p'",
        ]
        .join("\n");
        fs::write(&store, &good).unwrap();
        config::load(folder.path()).expect("the files are as a shop has them");
        let mut files = WatchedFiles::of(folder.path().into());
        assert_eq!((files.look(), files.look()), (None, None));
        fs::write(&store, "base_url = \"unclosed\n").unwrap();
        assert_eq!(files.look(), None, "it may be being written");
        assert!(files.look().is_some_and(|mistakes| !mistakes.is_empty()));
        assert_eq!(files.look(), None, "it was told");
        fs::write(&store, format!("{good}\n# mended\n")).unwrap();
        assert_eq!((files.look(), files.look(), files.look()), (None, Some(Vec::new()), None));
        fs::write(&store, format!("{good}\n# a change that is not asked for yet\n")).unwrap();
        assert_eq!((files.look(), files.look()), (None, None), "whoever edits it says when");
        fs::remove_file(&store).unwrap();
        assert_eq!(files.look(), None);
        assert!(files.look().is_some_and(|mistakes| !mistakes.is_empty()), "no store is left");
        fs::write(&store, good.replace("password = 'p'", "password_file = 'none'")).unwrap();
        assert!(config::load(folder.path()).is_err());
        let told = (files.look(), files.look());
        assert_eq!(told, (None, Some(Vec::new())), "the alarm of the password's file says it");
    }
}
