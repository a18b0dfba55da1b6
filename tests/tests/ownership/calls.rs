//! Finds the callers in the calls that a marketplace received.

use espelho_tests::{Call, shop::LOGIN};

/// Returns the calling processes in sequence, without consecutive repeats. A process that is dead by the time its
/// call is read cannot be identified.
pub(crate) fn turns(calls: &[Call]) -> Vec<u32> {
    let mut turns: Vec<u32> = calls.iter().filter_map(|call| call.process).collect();
    turns.dedup();
    turns
}

/// Returns the calling processes, in the order of their first call.
pub(crate) fn callers(calls: &[Call]) -> Vec<u32> {
    let mut callers = Vec::new();
    for process in turns(calls) {
        if !callers.contains(&process) {
            callers.push(process);
        }
    }
    callers
}

/// Returns whether no process called after another had begun.
pub(crate) fn calling_in_turn(calls: &[Call]) -> bool {
    turns(calls).len() == callers(calls).len()
}

pub(crate) fn logins(calls: &[Call]) -> usize {
    calls.iter().filter(|call| call.path == LOGIN).count()
}
