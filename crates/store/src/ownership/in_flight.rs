//! Notes the inputs that threads of this process work on, in a file that outlives it: whatever ends the process, the next
//! start finds there what was being worked on.
//!
//! A slot has a flag and the name of an input. The flag is set while a thread runs the work, not while the work waits:
//! an abort, a stack overflow or an allocation that exhausts the memory happens on a thread. So what never comes to a
//! thread is not written. The file is never synced.
//! The writes of a process stay when it is killed, and are lost with the machine, whose end is no input's doing. So
//! noting an input costs a system call and no transaction.
//!
//! The first slot holds no input. A handler of SIGABRT writes a byte there ([`InFlight::abort_note`]), so that the next
//! start tells a process that aborted from one that somebody killed.

use std::{
    collections::HashSet,
    fs::{self, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{FileExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use espelho_model::StoreKey;
use parking_lot::Mutex;

use crate::connect::permissions::create_private_folder;

/// The ending of the files' names.
const ENDING: &str = ".units";
/// The bytes of a slot. An input whose name is longer is not noted.
const SLOT: usize = 1_024;
/// The flag of an input that a thread works on, and of one that waits.
const ON_THREAD: u8 = 1;
const WAITS: u8 = 0;
/// Separates the parts of a slot; a key is its last part.
const SEPARATOR: char = '\u{1f}';

/// The company in which an input is worked on. It says how much the end of the process tells about the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isolation {
    /// Other suspects may be under way.
    Shared,
    /// No other suspect is under way.
    Alone,
    /// No other suspect is under way, and the process has run for a while: nobody is killing it again and again.
    Steady,
}

/// The inputs that a process works on.
#[derive(Default)]
pub struct InFlight {
    file: Option<OwnFile>,
    slots: Mutex<Slots>,
    /// Held while an input is worked on whose last attempt ended with the process.
    suspects: tokio::sync::Mutex<()>,
}

struct OwnFile {
    file: File,
    path: PathBuf,
}

#[derive(Default)]
struct Slots {
    free: Vec<u64>,
    /// The slots that ever held an input; they begin behind the first one.
    used: u64,
}

/// The slot of an input, until this is dropped.
#[must_use]
pub struct Slot<'f> {
    owner: &'f InFlight,
    place: Option<u64>,
    /// The flag and the name, until the first thread that works on the input has written both.
    unwritten: Vec<u8>,
}

/// A thread works on the input until this is dropped.
#[must_use]
pub struct OnThread<'s>(Option<(&'s File, u64)>);

/// An input that a thread worked on when the process ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LeftOver {
    /// Its store.
    pub store: StoreKey,
    /// The kind of work.
    pub work: String,
    /// Its key there.
    pub key: String,
    /// The company in which it was worked on.
    pub isolation: Isolation,
    /// True if the process aborted, false if something outside ended it.
    pub has_aborted: bool,
}

/// The inputs that ended processes left.
#[derive(Debug, Default)]
pub struct LeftOvers {
    /// The inputs, each once for each process.
    pub inputs: Vec<LeftOver>,
    files: Vec<PathBuf>,
    /// Keeps others from reading the same files.
    _locks: Vec<File>,
}

impl InFlight {
    /// Begins a file in a folder, which it creates.
    ///
    /// # Errors
    /// When it cannot be written there.
    pub fn open(folder: &Path, name: &str) -> io::Result<Arc<Self>> {
        create_private_folder(folder)?;
        let (draft, path) = (folder.join(format!("{name}.new")), folder.join(format!("{name}{ENDING}")));
        let mut options = OpenOptions::new();
        let file = options.create(true).truncate(true).read(true).write(true).mode(0o600).open(&draft)?;
        // Only a locked file gets a name that others read.
        file.lock()?;
        fs::rename(&draft, &path)?;
        Ok(Arc::new(Self { file: Some(OwnFile { file, path }), ..Self::default() }))
    }

    /// Reads what ended processes left in a folder.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn left_overs(folder: &Path) -> io::Result<LeftOvers> {
        let mut left = LeftOvers::default();
        let folder = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(left),
            folder => folder?,
        };
        for entry in folder {
            let path = entry?.path();
            if !path.to_string_lossy().ends_with(ENDING) {
                continue;
            }
            // Gone meanwhile, or another user's.
            let Ok(file) = OpenOptions::new().read(true).write(true).open(&path) else { continue };
            match file.try_lock() {
                Ok(()) => (),
                Err(TryLockError::WouldBlock) => continue,
                Err(TryLockError::Error(error)) => return Err(error),
            }
            let bytes = fs::read(&path)?;
            let has_aborted = bytes.first().is_some_and(|note| *note != 0);
            let inputs: HashSet<LeftOver> =
                bytes.chunks(SLOT).skip(1).filter_map(|slot| read(slot, has_aborted)).collect();
            left.inputs.extend(inputs);
            left.files.push(path);
            left._locks.push(file);
        }
        Ok(left)
    }

    /// Returns a handle to this process's file. A byte that is written to it says that the process aborted; `None` if
    /// nothing is noted.
    ///
    /// # Errors
    /// When the file cannot be opened once more.
    pub fn abort_note(&self) -> io::Result<Option<File>> {
        let own = self.file.as_ref();
        own.map(|own| OpenOptions::new().write(true).open(&own.path)).transpose()
    }

    /// Gives an input a slot before the work on it begins. It is noted when the first thread enters the slot: an input
    /// that nobody works on ends no process.
    pub fn begin(&self, store: &StoreKey, work: &str, key: &str, isolation: Isolation) -> Slot<'_> {
        let mut slot = Slot { owner: self, place: None, unwritten: Vec::new() };
        if self.file.is_none() {
            return slot;
        }
        let isolation = isolation.as_str();
        let text = format!("{isolation}{SEPARATOR}{store}{SEPARATOR}{work}{SEPARATOR}{key}");
        let Ok(length) = u16::try_from(text.len()) else { return slot };
        if text.len() > SLOT - 3 {
            return slot;
        }
        slot.unwritten.reserve_exact(3 + text.len());
        slot.unwritten.push(ON_THREAD);
        slot.unwritten.extend(length.to_be_bytes());
        slot.unwritten.extend(text.into_bytes());
        slot.place = Some(self.slots.lock().take());
        slot
    }

    /// Waits until no other suspect is worked on.
    pub async fn alone(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.suspects.lock().await
    }
}

impl Isolation {
    const ALL: [Self; 3] = [Self::Shared, Self::Alone, Self::Steady];

    fn as_str(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Alone => "alone",
            Self::Steady => "steady",
        }
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        // Nothing stays where nothing is noted.
        let _ = self.path.parent().map(fs::remove_dir);
    }
}

impl Slots {
    fn take(&mut self) -> u64 {
        self.free.pop().unwrap_or_else(|| {
            self.used += 1;
            self.used
        })
    }
}

impl Slot<'_> {
    /// Notes that this thread works on the input. The first time one write has the flag and the name, so that the flag
    /// never stands before the name of the slot's last input.
    pub fn enter(&mut self) -> OnThread<'_> {
        let owner = self.owner;
        let noted = self.place.zip(owner.file.as_ref()).map(|(place, own)| (&own.file, place * SLOT as u64));
        if let Some((file, place)) = noted {
            let bytes: &[u8] = if self.unwritten.is_empty() { &[ON_THREAD] } else { &self.unwritten };
            // A disk that takes no byte says so elsewhere; the next thread tries again.
            if file.write_all_at(bytes, place).is_ok() {
                self.unwritten = Vec::new();
            }
        }
        OnThread(noted)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            self.owner.slots.lock().free.push(place);
        }
    }
}

impl Drop for OnThread<'_> {
    fn drop(&mut self) {
        if let Some((file, place)) = self.0 {
            let _ = file.write_all_at(&[WAITS], place);
        }
    }
}

impl LeftOvers {
    /// Forgets them: their attempts are counted.
    pub fn forget(self) {
        self.files.iter().for_each(|path| drop(fs::remove_file(path)));
    }
}

/// Reads a slot; `None` unless a thread worked on its input.
fn read(slot: &[u8], has_aborted: bool) -> Option<LeftOver> {
    let (flag, rest) = slot.split_first()?;
    let (length, text) = rest.split_first_chunk::<2>().filter(|_| *flag == ON_THREAD)?;
    let text = text.get(..usize::from(u16::from_be_bytes(*length)))?;
    let mut parts = std::str::from_utf8(text).ok()?.splitn(4, SEPARATOR);
    let isolation = parts.next()?;
    let isolation = Isolation::ALL.into_iter().find(|known| known.as_str() == isolation)?;
    let store = StoreKey::new(parts.next()?).ok()?;
    let (work, key) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    Some(LeftOver { store, work, key, isolation, has_aborted })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn loja() -> StoreKey {
        StoreKey::new("loja").unwrap()
    }

    /// Ends a process as `kill -9` does: its lock goes, its file stays.
    fn kill(process: Arc<InFlight>) {
        let mut own = Arc::into_inner(process).unwrap().file.take().unwrap();
        own.path = PathBuf::new();
    }

    fn left_in(state: &Path) -> Vec<(String, String, Isolation)> {
        let mut left: Vec<_> = InFlight::left_overs(state)
            .unwrap()
            .inputs
            .into_iter()
            .map(|left| (left.work, left.key, left.isolation))
            .collect();
        left.sort_by(|one, other| one.1.cmp(&other.1));
        left
    }

    #[test]
    fn what_a_thread_worked_on_is_found_after_the_end_of_its_process_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("in-flight");
        let process = InFlight::open(&state, "one").unwrap();
        let mut ended = process.begin(&loja(), "orders", "1", Isolation::Shared);
        drop(ended.enter());
        drop(ended);
        let mut again = process.begin(&loja(), "orders", "1", Isolation::Shared);
        let mut waiting = process.begin(&loja(), "orders", "2", Isolation::Steady);
        drop(waiting.enter());
        let mut busy = process.begin(&loja(), "stock", "A\u{1f}1", Isolation::Alone);
        std::mem::forget([again.enter(), busy.enter()]);
        assert_eq!(left_in(&state), [], "the process lives");
        drop((again, waiting, busy));
        kill(process);
        let expected = [("orders", "1", Isolation::Shared), ("stock", "A\u{1f}1", Isolation::Alone)]
            .map(|(work, key, isolation)| (work.to_owned(), key.to_owned(), isolation));
        assert_eq!(left_in(&state), expected);
        assert_eq!(left_in(&state), expected, "until it is counted");
        InFlight::left_overs(&state).unwrap().forget();
        assert_eq!(left_in(&state), []);
    }

    #[test]
    fn an_input_is_noted_with_its_name_when_a_thread_first_works_on_it() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("in-flight");
        let process = InFlight::open(&state, "one").unwrap();
        let file = || fs::read(state.join("one.units")).unwrap();
        let slot = |flag: u8, text: &str| {
            [&[0_u8; SLOT][..], &[flag, 0, text.len() as u8], text.as_bytes()].concat()
        };
        let (first, second) =
            ("shared\u{1f}loja\u{1f}orders\u{1f}12345", "alone\u{1f}loja\u{1f}orders\u{1f}6");
        let mut order = process.begin(&loja(), "orders", "12345", Isolation::Shared);
        assert!(file().is_empty(), "an input that nobody works on costs no write");
        for turn in 0..3 {
            let on_thread = order.enter();
            assert_eq!(file(), slot(1, first), "{turn}");
            drop(on_thread);
            assert_eq!(file(), slot(0, first), "{turn}");
        }
        drop(order);
        assert_eq!(file(), slot(0, first), "nor does the end of its work");
        let mut order = process.begin(&loja(), "orders", "6", Isolation::Alone);
        assert_eq!(file(), slot(0, first));
        let on_thread = order.enter();
        let rest = &first.as_bytes()[second.len()..];
        assert_eq!(
            file(),
            [&slot(1, second)[..], rest].concat(),
            "the name of the next one comes with its flag"
        );
        drop(on_thread);
        drop(order);
    }

    #[test]
    fn an_abort_is_told_from_a_kill_even_before_an_input_had_a_slot() {
        for has_aborted in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let state = folder.path().join("in-flight");
            let process = InFlight::open(&state, "one").unwrap();
            let note = process.abort_note().unwrap().unwrap();
            let mut slot = process.begin(&loja(), "orders", "1", Isolation::Steady);
            std::mem::forget(slot.enter());
            drop(slot);
            if has_aborted {
                (&note).write_all(b"X").unwrap();
            }
            kill(process);
            let left = InFlight::left_overs(&state).unwrap().inputs;
            let (work, key) = ("orders".to_owned(), "1".to_owned());
            let isolation = Isolation::Steady;
            assert_eq!(left, [LeftOver { store: loja(), work, key, isolation, has_aborted }]);
        }
        assert!(InFlight::default().abort_note().unwrap().is_none(), "nothing is noted");
    }

    #[test]
    fn a_process_that_ends_by_itself_leaves_nothing_and_a_name_that_is_too_long_is_not_noted() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("in-flight");
        assert_eq!(left_in(&state), [], "no process was here yet");
        let process = InFlight::open(&state, "one").unwrap();
        let mut slot = process.begin(&loja(), "orders", "1", Isolation::Shared);
        std::mem::forget(slot.enter());
        drop(slot);
        drop(process);
        assert_eq!(left_in(&state), []);
        let process = InFlight::open(&state, "two").unwrap();
        let mut slot = process.begin(&loja(), "orders", &"9".repeat(SLOT), Isolation::Shared);
        std::mem::forget(slot.enter());
        drop(slot);
        kill(process);
        assert_eq!(left_in(&state), []);
        let nowhere = InFlight::default();
        drop(nowhere.begin(&loja(), "orders", "1", Isolation::Shared).enter());
    }
}
