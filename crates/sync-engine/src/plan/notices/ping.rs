//! The dead-man switch: a sign of life that somebody else misses when it stops.

use chrono::TimeDelta;

use crate::plan::alarms::{PROVES, State};

/// A verdict that is older than this proves nothing: who decides it hangs.
const FRESH: TimeDelta = TimeDelta::seconds(60);
/// A state may be unknown for this long: so long a first reading or a takeover may take.
const UNKNOWN: TimeDelta = TimeDelta::minutes(15);

/// The proof on which the sign of life rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PingProof {
    /// The state of everything.
    pub state: State,
    /// For how long it has been that.
    pub lasts: TimeDelta,
    /// The age of the verdict.
    pub age: TimeDelta,
    /// The age of the last write that the database took; `None`: none.
    pub written: Option<TimeDelta>,
}

/// The sign that the dead-man switch gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ping {
    /// Everything that must work does.
    Alive,
    /// Something does not work.
    Failing,
    /// Nothing, because nothing is proved.
    Silent,
}

/// Decides what the dead-man switch hears now; without a proof, nothing.
pub fn ping(proof: Option<PingProof>) -> Ping {
    let Some(PingProof { state, lasts, age, written }) = proof else { return Ping::Silent };
    if state == State::Failing {
        return Ping::Failing;
    }
    let is_written = written.is_some_and(|age| age.abs() <= PROVES);
    if age.abs() > FRESH || !is_written {
        return Ping::Silent;
    }
    match state {
        State::Unknown if lasts > UNKNOWN => Ping::Failing,
        State::Ok | State::Unknown | State::Warning | State::Failing => Ping::Alive,
    }
}
