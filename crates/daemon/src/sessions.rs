//! The sessions of operators who have logged in on the page. Kept in memory: a restart ends them.

use std::{collections::HashMap, net::IpAddr, time::Duration};

use parking_lot::Mutex;
use subtle::ConstantTimeEq as _;

use crate::operators::{Operator, Role};

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
    open: Mutex<HashMap<String, (Duration, Session, Operator)>>,
    attempts: Mutex<HashMap<IpAddr, (Duration, u32)>>,
}

impl Sessions {
    /// Opens a session; returns its secret name, which only the browser gets. `None` if the system gives no randomness.
    pub(crate) fn open(&self, operator: &Operator, now: Duration) -> Option<String> {
        let (id, csrf) = (secret()?, secret()?);
        let mut open = self.open.lock();
        open.retain(|_, (until, ..)| now < *until);
        if open.len() >= MOST
            && let Some(oldest) = open.iter().min_by_key(|(_, (until, ..))| *until).map(|(id, _)| id.clone())
        {
            open.remove(&oldest);
        }
        let session = Session { name: operator.name.clone(), role: operator.role, csrf };
        open.insert(id.clone(), (now + LASTS, session, operator.clone()));
        Some(id)
    }

    /// Returns the session of this name, while it lasts and the operators of now have its own: whoever was taken out of
    /// the file, or has another token there, sees nothing more.
    pub(crate) fn find(
        &self,
        id: &str,
        now: Duration,
        operators: impl FnOnce() -> Vec<Operator>,
    ) -> Option<Session> {
        let (until, session, operator) = self.open.lock().get(id)?.clone();
        let is_open = now < until && operators().iter().any(|known| known.is_same(&operator));
        is_open.then_some(session)
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

    fn operator(name: &str, role: Role, token: &str) -> Operator {
        Operator::example(name, role, token)
    }

    #[test]
    fn a_session_lasts_until_its_end_or_until_it_is_closed() {
        let sessions = Sessions::default();
        let ana = operator("ana", Role::Operator, "a");
        let one = sessions.open(&ana, NOW).unwrap();
        let two = sessions.open(&ana, NOW).unwrap();
        let find = |id: &str, now| sessions.find(id, now, || vec![ana.clone()]);
        assert!(one != two && one.len() == 64);
        let session = find(&one, NOW).unwrap();
        let other = find(&two, NOW).unwrap();
        assert!(session.made(&session.csrf) && !session.made(&other.csrf) && !session.made(""));
        sessions.close(&two);
        assert!(find(&two, NOW).is_none() && find("", NOW).is_none());
        assert!(find(&one, NOW + LASTS).is_none());
    }

    #[test]
    fn a_session_is_its_operators_while_the_file_has_the_operator_with_the_same_token() {
        let sessions = Sessions::default();
        let ana = operator("ana", Role::Viewer, "a");
        let id = sessions.open(&ana, NOW).unwrap();
        let rui = operator("rui", Role::Viewer, "r");
        for (known, expected, why) in [
            (vec![rui.clone(), ana.clone()], true, "nothing has changed"),
            (vec![operator("ana", Role::Operator, "a")], true, "another role is asked for with each act"),
            (vec![rui], false, "she was taken out"),
            (vec![operator("ana", Role::Viewer, "b")], false, "her token is another"),
            (vec![operator("bia", Role::Viewer, "a")], false, "her token is somebody else's now"),
            (Vec::new(), false, "the file cannot be read"),
        ] {
            assert_eq!(sessions.find(&id, NOW, || known).is_some(), expected, "{why}");
        }
    }

    #[test]
    fn sessions_are_bounded_and_the_oldest_goes() {
        let sessions = Sessions::default();
        let [ana, rui] = ["ana", "rui"].map(|name| operator(name, Role::Viewer, name));
        let first = sessions.open(&ana, NOW).unwrap();
        for _ in 0..MOST {
            sessions.open(&rui, NOW + Duration::from_secs(1)).unwrap();
        }
        assert!(sessions.find(&first, NOW, || vec![ana]).is_none());
        assert_eq!(sessions.open.lock().len(), MOST);
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
