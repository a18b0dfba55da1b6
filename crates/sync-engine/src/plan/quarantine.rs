//! Inputs whose work ended in a panic, or with the process: which are tried once more, and which are set aside. Pure.
//!
//! A panic names its input, so the second one sets it aside. The end of a process does not: each input that a thread
//! worked on is suspected. A suspect is tried once more while no other suspect is; only the end of the process during
//! such an attempt, or during many others, sets it aside.

/// So many panics, or ends of the process, are an input's last.
const MOST: u32 = 2;
/// So many ends of the process are an input's last even if other suspects were always under way too.
const MOST_BESIDE_OTHERS: u32 = 4;

/// How an attempt ended that did not end well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadEnd {
    /// It panicked.
    Panic,
    /// The process ended during it.
    Process {
        /// Whether it was the only suspect under way.
        was_alone: bool,
    },
}

/// Whether the work on an input may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing is known against it.
    Clear,
    /// An attempt ended badly: it is tried while no other suspect is under way.
    Suspect,
    /// It is not tried again until a person says so.
    SetAside,
}

/// Returns the attempts after one that ended badly, and whether the input is set aside.
pub fn after_bad_end(attempts: u32, end: BadEnd) -> (u32, bool) {
    let attempts = attempts.saturating_add(1);
    let most = match end {
        BadEnd::Panic | BadEnd::Process { was_alone: true } => MOST,
        BadEnd::Process { was_alone: false } => MOST_BESIDE_OTHERS,
    };
    (attempts, attempts >= most)
}

/// Returns the standing of an input by what is on record: how many attempts ended badly, and whether it is set aside.
pub fn standing(record: Option<(u32, bool)>) -> Standing {
    match record {
        None | Some((0, false)) => Standing::Clear,
        Some((_, false)) => Standing::Suspect,
        Some((_, true)) => Standing::SetAside,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_panic_and_the_second_end_of_the_process_alone_set_an_input_aside() {
        let (alone, beside) = (BadEnd::Process { was_alone: true }, BadEnd::Process { was_alone: false });
        for (ends, is_set_aside) in [
            (&[BadEnd::Panic][..], false),
            (&[BadEnd::Panic, BadEnd::Panic], true),
            (&[beside], false),
            (&[beside, beside], false),
            (&[beside, alone], true),
            (&[beside, BadEnd::Panic], true),
            (&[beside, beside, beside], false),
            (&[beside, beside, beside, beside], true),
        ] {
            let ended = ends.iter().fold((0, false), |(attempts, _), end| after_bad_end(attempts, *end));
            assert_eq!(ended.1, is_set_aside, "{ends:?}");
            let expected = if is_set_aside { Standing::SetAside } else { Standing::Suspect };
            assert_eq!(standing(Some(ended)), expected, "{ends:?}");
        }
        assert_eq!(standing(None), Standing::Clear);
    }
}
