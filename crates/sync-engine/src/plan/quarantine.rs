//! Inputs whose work ended in a panic, or with the process: which are tried once more, and which are set aside. Pure.
//!
//! A panic names its input, so the second one sets it aside. The end of a process does not: each input that a thread
//! worked on is suspected. A suspect is tried once more while no other suspect is. If the process aborts then, the
//! suspect did it.
//!
//! A process that is killed from outside says less: the kernel does so when the memory is exhausted, and people do so
//! at any moment, perhaps many times in a row. So a kill sets an input aside only as its third bad end, and only if it
//! was tried alone in a process that had run for a while.

use std::time::Duration;

use espelho_store::Isolation;

/// So many panics are an input's last, and so many aborts if it was tried alone.
const MOST: u32 = 2;
/// So many bad ends are an input's last if a kill from outside is one of them, during a steady attempt.
const MOST_WITH_KILL: u32 = 3;
/// So many aborts are an input's last even if other suspects were always under way too.
const MOST_BESIDE_OTHERS: u32 = 4;
/// A process that has run for so long is not being killed again and again.
const STEADY_AFTER: Duration = Duration::from_secs(10);

/// The bad end of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadEnd {
    /// It panicked.
    Panic,
    /// The process aborted during it: an abort, a stack overflow, an allocation that failed, a watchdog.
    Abort(Isolation),
    /// Something outside killed the process during it, or the memory was exhausted.
    Kill(Isolation),
}

/// The standing of an input: may the work on it begin?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing is known against it.
    Clear,
    /// An attempt ended badly: it is tried while no other suspect is under way.
    Suspect,
    /// Several did: it is tried while no other suspect is under way, once the process has run for a while.
    Probation,
    /// It is not tried again until a person says so.
    SetAside,
}

/// Returns the attempts after one that ended badly, and whether the input is set aside.
pub fn after_bad_end(attempts: u32, end: BadEnd) -> (u32, bool) {
    let attempts = attempts.saturating_add(1);
    let most = match end {
        BadEnd::Panic | BadEnd::Abort(Isolation::Alone | Isolation::Steady) => Some(MOST),
        BadEnd::Abort(Isolation::Shared) => Some(MOST_BESIDE_OTHERS),
        BadEnd::Kill(Isolation::Steady) => Some(MOST_WITH_KILL),
        BadEnd::Kill(Isolation::Alone | Isolation::Shared) => None,
    };
    (attempts, most.is_some_and(|most| attempts >= most))
}

/// Returns the standing of an input by what is on record: how many attempts ended badly, and whether it is set aside.
pub fn standing(record: Option<(u32, bool)>) -> Standing {
    match record {
        None | Some((0, false)) => Standing::Clear,
        Some((1, false)) => Standing::Suspect,
        Some((_, false)) => Standing::Probation,
        Some((_, true)) => Standing::SetAside,
    }
}

/// Returns how long a process that has run for `uptime` waits before it tries an input.
pub fn wait(standing: Standing, uptime: Duration) -> Duration {
    match standing {
        Standing::Probation => STEADY_AFTER.saturating_sub(uptime),
        Standing::Clear | Standing::Suspect | Standing::SetAside => Duration::ZERO,
    }
}

/// Returns the isolation of an attempt of a process that has run for `uptime`.
pub fn isolation(is_alone: bool, uptime: Duration) -> Isolation {
    match (is_alone, uptime >= STEADY_AFTER) {
        (false, _) => Isolation::Shared,
        (true, false) => Isolation::Alone,
        (true, true) => Isolation::Steady,
    }
}

#[cfg(test)]
mod tests {
    use super::{
        BadEnd::{Abort, Kill, Panic},
        Isolation::{Alone, Shared, Steady},
        *,
    };

    #[test]
    fn panics_and_aborts_set_an_input_aside_and_a_kill_only_where_nobody_kills_again_and_again() {
        for (ends, is_set_aside) in [
            (&[Panic][..], false),
            (&[Panic, Panic], true),
            (&[Abort(Shared)], false),
            (&[Abort(Shared), Abort(Shared)], false),
            (&[Abort(Shared), Abort(Alone)], true),
            (&[Abort(Shared), Panic], true),
            (&[Abort(Shared), Abort(Shared), Abort(Shared)], false),
            (&[Abort(Shared), Abort(Shared), Abort(Shared), Abort(Shared)], true),
            (&[Kill(Shared), Abort(Alone)], true),
            (&[Kill(Shared), Kill(Steady)], false),
            (&[Kill(Shared), Kill(Alone), Kill(Steady)], true),
            (&[Kill(Alone); 25], false),
            (&[Kill(Shared); 25], false),
        ] {
            let ended = ends.iter().fold((0, false), |(attempts, _), end| after_bad_end(attempts, *end));
            assert_eq!(ended.1, is_set_aside, "{ends:?}");
            let expected = match (is_set_aside, ends.len()) {
                (true, _) => Standing::SetAside,
                (false, 1) => Standing::Suspect,
                (false, _) => Standing::Probation,
            };
            assert_eq!(standing(Some(ended)), expected, "{ends:?}");
        }
        assert_eq!(standing(None), Standing::Clear);
    }

    #[test]
    fn only_an_input_on_probation_waits_until_the_process_is_steady() {
        let (young, steady) = (Duration::from_secs(3), Duration::from_secs(60));
        assert_eq!(wait(Standing::Probation, young), Duration::from_secs(7));
        assert_eq!(wait(Standing::Probation, steady), Duration::ZERO);
        assert_eq!(wait(Standing::Suspect, young), Duration::ZERO);
        for (is_alone, uptime, expected) in
            [(false, steady, Shared), (true, young, Alone), (true, steady, Steady)]
        {
            assert_eq!(isolation(is_alone, uptime), expected);
        }
    }
}
