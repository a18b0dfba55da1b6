//! Tells whether a password is the one that obtained a token, without keeping the password.

use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};

/// Eight bits that depend on a username and its password. Two that differ come from different passwords; two that are equal,
/// from the same one, but for one pair in 256.
///
/// So little is kept beside the token because the record must not become a way to the password: one in 256 of all guesses
/// fits it, and it stays the same for as long as the password does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PasswordCheck(u8);

impl PasswordCheck {
    /// Returns the check value of a password.
    pub fn of(username: &str, password: &SecretString) -> Self {
        let hash = Sha256::new()
            .chain_update("espelho password check\0")
            .chain_update(username)
            .chain_update([0])
            .chain_update(password.expose_secret())
            .finalize();
        Self(hash[0])
    }

    /// Returns the check value that was recorded as this number; `None` for a number that no check value has.
    pub fn from_number(number: i64) -> Option<Self> {
        u8::try_from(number).ok().map(Self)
    }

    /// Returns the number to record.
    pub fn number(self) -> i64 {
        i64::from(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_value_is_the_same_for_the_same_password_and_username_alone() {
        let check = |username, password: &str| PasswordCheck::of(username, &password.into());
        let own = check("loja@1", "right-password");
        assert_eq!(own, check("loja@1", "right-password"));
        assert_ne!(own, check("loja@1", "other-password"));
        assert_ne!(own, check("loja@2", "right-password"));
        assert_ne!(check("a", "b"), check("a\0b", ""), "the parts are told apart");
        assert_eq!(own.number(), 97, "a record of an earlier version says the same");
        for (number, is_one) in [(own.number(), true), (0, true), (255, true), (256, false), (-1, false)] {
            assert_eq!(
                PasswordCheck::from_number(number).map(PasswordCheck::number),
                is_one.then_some(number)
            );
        }
    }
}
