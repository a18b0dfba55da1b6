//! The sessions of operators who have logged in on the page. Kept in memory: a restart ends them.

use std::{collections::HashMap, net::IpAddr, time::Duration};

use parking_lot::Mutex;
use subtle::ConstantTimeEq as _;

use crate::operators::Role;

/// How long a session lasts.
pub(crate) const LASTS: Duration = Duration::from_secs(12 * 3_600);
/// The sessions at a time; the oldest goes.
const MOST: usize = 500;
/// The wrong tokens that an address may try in a while.
const ATTEMPTS: u32 = 5;
/// How long wrong tokens count.
const WHILE: Duration = Duration::from_secs(60);
/// The addresses whose attempts are counted.
const ADDRESSES: usize = 10_000;

/// A session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Session {
    pub(crate) name: String,
    pub(crate) role: Role,
    /// A secret of this session's forms: another site's form does not know it.
    pub(crate) csrf: String,
}

/// All sessions, and who has tried wrong tokens.
#[derive(Default)]
pub(crate) struct Sessions {
    open: Mutex<HashMap<String, (Duration, Session)>>,
    attempts: Mutex<HashMap<IpAddr, (Duration, u32)>>,
}

impl Sessions {
    /// Opens a session; returns its secret name, which only the browser gets. `None` if the system gives no randomness.
    pub(crate) fn open(&self, name: &str, role: Role, now: Duration) -> Option<String> {
        let (id, csrf) = (secret()?, secret()?);
        let mut open = self.open.lock();
        open.retain(|_, (until, _)| now < *until);
        if open.len() >= MOST
            && let Some(oldest) = open.iter().min_by_key(|(_, (until, _))| *until).map(|(id, _)| id.clone())
        {
            open.remove(&oldest);
        }
        open.insert(id.clone(), (now + LASTS, Session { name: name.to_owned(), role, csrf }));
        Some(id)
    }

    /// Returns the session of this name, while it lasts.
    pub(crate) fn find(&self, id: &str, now: Duration) -> Option<Session> {
        let open = self.open.lock();
        let (until, session) = open.get(id)?;
        (now < *until).then(|| session.clone())
    }

    /// Ends a session.
    pub(crate) fn close(&self, id: &str) {
        self.open.lock().remove(id);
    }

    /// Tells whether an address may try a token now.
    pub(crate) fn may_try(&self, peer: IpAddr, now: Duration) -> bool {
        let attempts = self.attempts.lock();
        attempts.get(&peer).is_none_or(|(since, count)| now >= *since + WHILE || *count < ATTEMPTS)
    }

    /// Counts a wrong token.
    pub(crate) fn note_failure(&self, peer: IpAddr, now: Duration) {
        let mut attempts = self.attempts.lock();
        attempts.retain(|_, (since, _)| now < *since + WHILE);
        if attempts.len() < ADDRESSES || attempts.contains_key(&peer) {
            attempts.entry(peer).or_insert((now, 0)).1 += 1;
        }
    }
}

impl Session {
    /// Tells whether a form was made for this session.
    pub(crate) fn made(&self, csrf: &str) -> bool {
        self.csrf.as_bytes().ct_eq(csrf.as_bytes()).into()
    }
}

/// Returns 32 random bytes in hexadecimal.
fn secret() -> Option<String> {
    let mut bytes = [0_u8; 32];
    let got = rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty()).ok()?;
    (got == bytes.len()).then(|| hex::encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(1_000);

    #[test]
    fn a_session_lasts_until_its_end_or_until_it_is_closed() {
        let sessions = Sessions::default();
        let one = sessions.open("ana", Role::Operator, NOW).unwrap();
        let two = sessions.open("ana", Role::Operator, NOW).unwrap();
        assert!(one != two && one.len() == 64);
        let session = sessions.find(&one, NOW).unwrap();
        let other = sessions.find(&two, NOW).unwrap();
        assert!(session.made(&session.csrf) && !session.made(&other.csrf) && !session.made(""));
        sessions.close(&two);
        assert!(sessions.find(&two, NOW).is_none() && sessions.find("", NOW).is_none());
        assert!(sessions.find(&one, NOW + LASTS).is_none());
    }

    #[test]
    fn sessions_are_bounded_and_the_oldest_goes() {
        let sessions = Sessions::default();
        let first = sessions.open("ana", Role::Viewer, NOW).unwrap();
        for _ in 0..MOST {
            sessions.open("rui", Role::Viewer, NOW + Duration::from_secs(1)).unwrap();
        }
        assert!(sessions.find(&first, NOW).is_none() && sessions.open.lock().len() == MOST);
    }

    #[test]
    fn an_address_that_guesses_waits_and_no_other_does() {
        let sessions = Sessions::default();
        let [bad, good] = [1, 2].map(|n| IpAddr::from([127, 0, 0, n]));
        for _ in 0..ATTEMPTS {
            assert!(sessions.may_try(bad, NOW));
            sessions.note_failure(bad, NOW);
        }
        assert!(!sessions.may_try(bad, NOW) && sessions.may_try(good, NOW));
        assert!(sessions.may_try(bad, NOW + WHILE));
    }
}
