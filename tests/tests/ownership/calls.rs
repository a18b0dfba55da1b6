//! Who called, from the calls that a marketplace saw.

use espelho_tests::{Call, shop::LOGIN};

/// The processes one after the other, each as often as its turn came. Only one that is dead by the time its call is
/// read cannot be named any more.
pub(crate) fn turns(calls: &[Call]) -> Vec<u32> {
    let mut turns: Vec<u32> = calls.iter().filter_map(|call| call.process).collect();
    turns.dedup();
    turns
}

/// The processes that called, in the order in which they began.
pub(crate) fn callers(calls: &[Call]) -> Vec<u32> {
    let mut callers = Vec::new();
    for process in turns(calls) {
        if !callers.contains(&process) {
            callers.push(process);
        }
    }
    callers
}

/// Whether none called after another had begun.
pub(crate) fn calling_in_turn(calls: &[Call]) -> bool {
    turns(calls).len() == callers(calls).len()
}

pub(crate) fn logins(calls: &[Call]) -> usize {
    calls.iter().filter(|call| call.path == LOGIN).count()
}
