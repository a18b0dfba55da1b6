//! Sends signals to processes by system call: a minimal machine has no program `kill`.

use rustix::process::{Pid, Signal, kill_process};

/// Sends `HUP`, `INT`, `TERM`, `STOP` or `CONT`.
///
/// # Panics
/// When there is no such process, or the signal has another name.
pub fn send(process: u32, name: &str) {
    let signal = named(name).unwrap_or_else(|| panic!("no test sends SIG{name}"));
    let process = i32::try_from(process).ok().and_then(Pid::from_raw).expect("a process has a number");
    kill_process(process, signal).unwrap_or_else(|error| panic!("SIG{name} could not be sent: {error}"));
}

fn named(name: &str) -> Option<Signal> {
    Some(match name {
        "HUP" => Signal::HUP,
        "INT" => Signal::INT,
        "TERM" => Signal::TERM,
        "STOP" => Signal::STOP,
        "CONT" => Signal::CONT,
        _ => return None,
    })
}
