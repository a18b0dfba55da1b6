//! The watched folder of a store: new CSV files in it are read as `espelho import` reads them.
//!
//! A file is complete when it has been renamed into place, or when two scans in a row find it unchanged. Its rows go
//! into the ERP's tables as a whole, from `reading/`; only then is the file moved to `done/`. A service that was killed
//! in between reads it once more, which changes nothing: levels and prices are absolute. A file with bad lines goes to
//! `failed/`, with a text beside it that names them.

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use espelho_model::{Clock, StoreKey, text, text::Locale};
use espelho_store::{InFlight, Store};
use espelho_sync_engine::plan::quarantine::{Standing, isolation, standing, wait};
use tokio::task::AbortHandle;

use crate::{
    cli::ImportKind,
    import::{self, BadLines, Rows},
    intent_rules::Known,
};

/// The interval between two scans.
const EVERY: Duration = Duration::from_secs(2);
/// Larger files are not read into memory: a shop's whole stock is a hundredth of it.
const LARGEST: u64 = 64 << 20;

/// The folder of a file while it is read; a file that a killed service left there is read once more.
const READING: &str = "reading";

/// The word for files where attempts are counted.
const IMPORTS: &str = "imports";

/// What one scan records about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    modified: SystemTime,
    length: u64,
}

/// A watched folder.
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    pub(crate) key: StoreKey,
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) in_flight: Arc<InFlight>,
    /// The language and time zone of texts about mistakes in a file.
    pub(crate) locale: Locale,
}

/// A watch that ends when this value is dropped.
pub(crate) struct Watched(AbortHandle);

impl Drop for Watched {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Folder {
    /// Watches the folder in a task of its own.
    pub(crate) fn watched(self) -> Watched {
        Watched(tokio::spawn(self.watch()).abort_handle())
    }

    async fn watch(self) {
        tracing::info!(store = %self.key, folder = %self.path.display(), "watching the folder for CSV files");
        let (mut seen, mut said) = (HashMap::new(), None);
        loop {
            let problem = self.look(&mut seen).await.err();
            // Once for each trouble, not every two seconds.
            if problem != said
                && let Some(error) = &problem
            {
                let next_step =
                    "the folder, its done/ and failed/ must be writable for the service: push.inbox";
                tracing::error!(store = %self.key, folder = %self.path.display(), error, next_step, "the folder cannot be read");
            }
            said = problem;
            self.clock.sleep(EVERY).await;
        }
    }

    /// Reads the files that are unchanged since the last scan, the oldest first; before them, files that an earlier
    /// read left unfinished.
    async fn look(&self, seen: &mut HashMap<PathBuf, Shape>) -> Result<(), String> {
        let told = |error: io::Error| error.to_string();
        for (_, file, kind) in files(&self.path.join(READING)).map_err(told)? {
            self.read(&file, kind).await?;
        }
        let before = std::mem::take(seen);
        let (as_before, others): (Vec<_>, Vec<_>) = files(&self.path)
            .map_err(told)?
            .into_iter()
            .partition(|(shape, file, _)| before.get(file) == Some(shape));
        seen.extend(others.into_iter().map(|(shape, file, _)| (file, shape)));
        for (_, file, kind) in as_before {
            // The ERP may write another file of that name at any moment: once moved, this file is ours alone.
            let own = self.path.join(READING).join(file.file_name().unwrap_or_default());
            fs::rename(&file, &own).map_err(told)?;
            self.read(&own, kind).await?;
        }
        Ok(())
    }

    /// Reads one file, and moves it away.
    async fn read(&self, file: &Path, kind: ImportKind) -> Result<(), String> {
        let told = |error: io::Error| error.to_string();
        match self.held_by(file, kind).await? {
            Ok(rows) => {
                let count = rows.len();
                rows.write(&self.store, &self.key).await.map_err(|error| error.to_string())?;
                self.forget_attempts(file).await?;
                let place = self.place(file, "done").map_err(told)?;
                fs::rename(file, &place).map_err(told)?;
                tracing::info!(store = %self.key, file = %place.display(), rows = count, "file imported");
            }
            Err(bad) => {
                let place = self.place(file, "failed").map_err(told)?;
                self.forget_attempts(file).await?;
                // Before the file: a person who finds the file also finds this text.
                write_whole(&beside(&place), &in_words(&bad, self.locale)).map_err(told)?;
                fs::rename(file, &place).map_err(told)?;
                let next_step =
                    "correct the lines that its .error.txt names, and put it into the folder again";
                tracing::warn!(store = %self.key, file = %place.display(), next_step, "file not imported");
            }
        }
        Ok(())
    }

    /// Returns the rows of a file, or its mistakes. The file is noted while it is read: one during whose reading the
    /// process ended twice is not read again.
    async fn held_by(&self, file: &Path, kind: ImportKind) -> Result<Result<Rows, BadLines>, String> {
        let name = name_of(file);
        let known = self.store.quarantine().find(&self.key, IMPORTS, &name).await;
        let known = known.map_err(|error| error.to_string())?;
        let standing = standing(known.map(|known| (known.attempts, known.is_set_aside)));
        if standing == Standing::SetAside {
            return Ok(Err(import::poisoned()));
        }
        self.clock.sleep(wait(standing, self.clock.monotonic())).await;
        let mut slot =
            self.in_flight.begin(&self.key, IMPORTS, &name, isolation(true, self.clock.monotonic()));
        let _on_thread = slot.enter();
        Ok(held_by(file, kind))
    }

    /// Forgets how attempts on a file ended: it is moved away.
    async fn forget_attempts(&self, file: &Path) -> Result<(), String> {
        let removed = self.store.quarantine().remove(&self.key, IMPORTS, &name_of(file)).await;
        removed.map(drop).map_err(|error| error.to_string())
    }

    /// Returns where a file goes: its own name, or, if that name is taken, with the time before it.
    fn place(&self, file: &Path, folder: &str) -> io::Result<PathBuf> {
        let folder = self.path.join(folder);
        fs::create_dir_all(&folder)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let own = folder.join(&name);
        if !own.exists() && !beside(&own).exists() {
            return Ok(own);
        }
        let now = self.clock.now().format("%Y%m%dT%H%M%S%.6fZ");
        Ok(folder.join(format!("{now}-{name}")))
    }
}

fn name_of(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Writes a file so that nobody finds it half written.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".partial");
    fs::write(&unfinished, text)?;
    fs::rename(&unfinished, path)
}

/// Returns the path of the text about a file's mistakes.
fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".error.txt");
    name.into()
}

fn in_words(bad: &BadLines, locale: Locale) -> String {
    let mut report = text!("files-report-head").message(locale);
    for line in bad.texts() {
        report.push('\n');
        report.push_str(&line.message(locale));
    }
    report.push('\n');
    report
}

/// Returns the rows of a file, or its mistakes.
fn held_by(file: &Path, kind: ImportKind) -> Result<Rows, BadLines> {
    let length = fs::metadata(file).map(|about| about.len()).unwrap_or_default();
    if length > LARGEST {
        return Err(import::too_large(LARGEST));
    }
    match fs::read(file) {
        // A product that is new here must not keep a nightly file out: its row is answered for itself.
        Ok(text) => import::rows(kind, &text, &Known::default()),
        Err(error) => Err(import::not_readable(&error)),
    }
}

/// Returns the files of a folder that are not empty, the oldest first. Creates the folder if it does not exist.
fn files(folder: &Path) -> io::Result<Vec<(Shape, PathBuf, ImportKind)>> {
    fs::create_dir_all(folder)?;
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Some(kind) = kind_of(&entry.file_name().to_string_lossy()) else { continue };
        // The file may have gone meanwhile.
        let Ok(about) = fs::metadata(entry.path()) else { continue };
        let shape = Shape { modified: about.modified()?, length: about.len() };
        if about.is_file() && shape.length > 0 {
            files.push((shape, entry.path(), kind));
        }
    }
    files.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
    Ok(files)
}

/// Returns the kind of rows that a file's name announces.
fn kind_of(name: &str) -> Option<ImportKind> {
    let name = name.to_lowercase();
    match name.ends_with(".csv") {
        true if name.starts_with("stock") => Some(ImportKind::Stock),
        true if name.starts_with("prices") => Some(ImportKind::Prices),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_says_what_a_file_holds_and_what_is_still_called_otherwise_is_left_alone() {
        assert_eq!(kind_of("stock.csv"), Some(ImportKind::Stock));
        assert_eq!(kind_of("Prices-2026-11-21.CSV"), Some(ImportKind::Prices));
        for other in ["stock.csv.tmp", ".stock.csv", "mystock.csv", "done", "stock.txt"] {
            assert_eq!(kind_of(other), None, "{other}");
        }
    }

    #[test]
    fn files_come_in_the_order_in_which_they_were_written_and_empty_ones_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        for (name, text, seconds) in
            [("stock-b.csv", "b", 10), ("stock-a.csv", "a", 20), ("prices.csv", "", 5)]
        {
            fs::write(folder.path().join(name), text).unwrap();
            let file = fs::File::options().write(true).open(folder.path().join(name)).unwrap();
            file.set_modified(at(seconds)).unwrap();
        }
        let found = files(folder.path()).unwrap();
        let names: Vec<_> = found.iter().map(|(_, path, _)| path.file_name().unwrap()).collect();
        assert_eq!(names, ["stock-b.csv", "stock-a.csv"]);
    }
}
