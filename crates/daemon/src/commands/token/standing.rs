//! Decides how a store's token, password and logins stand, from what the database has. Pure.

use chrono::{DateTime, Utc};
use espelho_api_client::{
    login_budget::{ATTEMPT, PastLogin, REFUSED, UNSENT, allowed_at, forced_allowed_at},
    token::LoginReason,
};
use espelho_model::{StoreKey, text, text::Text, time::fixed_width};
use espelho_store::KeptToken;
use serde_json::{Value, json};

use crate::config::StoreConfig;

/// The records of the database about a store's token.
#[derive(Debug)]
pub(super) struct Records {
    pub(super) token: Option<KeptToken>,
    /// The logins of the last week, sorted by time.
    pub(super) logins: Vec<PastLogin>,
    /// Since when a running service says that the credential is refused, if one does.
    pub(super) refused: Option<Option<DateTime<Utc>>>,
    /// When the file with the password was last written.
    pub(super) written_at: Option<DateTime<Utc>>,
}

/// The token on record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    None,
    /// Another credential or marketplace issued it: nothing uses it.
    Foreign,
    Kept {
        obtained_at: DateTime<Utc>,
        expires_at: DateTime<Utc>,
    },
}

/// The proof of the password by the last login, or by the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Password {
    /// No login is on record.
    Unknown,
    /// The last login has no recorded answer: it is in progress, or was cut off.
    Unanswered {
        at: DateTime<Utc>,
    },
    Accepted {
        at: DateTime<Utc>,
        reason: LoginReason,
    },
    /// A login accepted it, and its file was written since.
    Changed {
        at: DateTime<Utc>,
        changed: DateTime<Utc>,
    },
    /// The marketplace refused the last login, or the service says so.
    Refused {
        since: Option<DateTime<Utc>>,
    },
    /// The marketplace refused it, and its file was written since: no login has tried the new one.
    Corrected {
        at: DateTime<Utc>,
        changed: DateTime<Utc>,
    },
}

/// The state of a store's token, password and logins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) store: StoreKey,
    token: Token,
    password: Password,
    /// When the login limit allows the next login; `None`: now.
    login_at: Option<DateTime<Utc>>,
    /// When a refused token may lead to the next login; `None`: now.
    forced_login_at: Option<DateTime<Utc>>,
}

impl Standing {
    pub(super) fn of(config: &StoreConfig, records: Records, now: DateTime<Utc>) -> Self {
        Self {
            store: config.key.clone(),
            token: token(records.token, &config.username, &config.base_url),
            password: password(&records.logins, records.refused, records.written_at),
            login_at: allowed_at(records.logins.clone(), now),
            forced_login_at: forced_allowed_at(records.logins, now),
        }
    }

    pub(super) fn words(&self, now: DateTime<Utc>) -> Vec<Text> {
        let token = match self.token {
            Token::None => text!("token-none"),
            Token::Foreign => text!("token-foreign"),
            Token::Kept { obtained_at, expires_at } if expires_at <= now => {
                text!("token-expired", obtained = obtained_at, expired = expires_at)
            }
            Token::Kept { obtained_at, expires_at } => {
                text!("token-kept", obtained = obtained_at, expires = expires_at)
            }
        };
        let password = match self.password {
            Password::Unknown => text!("token-password-unknown"),
            Password::Unanswered { at } => text!("token-password-unanswered", at = at),
            Password::Accepted { at, reason } => {
                let reason = Text::new(format!("token-login-{}", reason.as_str()));
                text!("token-password-accepted", at = at, reason = reason)
            }
            Password::Changed { at, changed } => {
                text!("token-password-changed", at = at, changed = changed)
            }
            Password::Refused { since: Some(since) } => text!("token-password-refused-since", since = since),
            Password::Refused { since: None } => text!("token-password-refused"),
            Password::Corrected { at, changed } => {
                text!("token-password-corrected", at = at, changed = changed)
            }
        };
        let login =
            self.login_at.map_or_else(|| text!("token-next-now"), |at| text!("token-next-at", at = at));
        let forced = self.forced_login_at.map(|at| text!("token-next-forced", at = at));
        [token, password, login].into_iter().chain(forced).collect()
    }

    pub(super) fn as_json(&self, now: DateTime<Utc>) -> Value {
        let time = |at: Option<DateTime<Utc>>| at.map(fixed_width);
        let (token, obtained_at, expires_at) = match self.token {
            Token::None => ("none", None, None),
            Token::Foreign => ("foreign", None, None),
            Token::Kept { obtained_at, expires_at } => {
                let state = if expires_at <= now { "expired" } else { "kept" };
                (state, Some(obtained_at), Some(expires_at))
            }
        };
        let (password, password_at) = match self.password {
            Password::Unknown => ("unknown", None),
            Password::Unanswered { at } | Password::Changed { at, .. } | Password::Corrected { at, .. } => {
                ("unknown", Some(at))
            }
            Password::Accepted { at, .. } => ("accepted", Some(at)),
            Password::Refused { since } => ("refused", since),
        };
        json!({
            "store": self.store.as_str(), "token": token,
            "obtained_at": time(obtained_at), "expires_at": time(expires_at),
            "password": password, "password_at": time(password_at),
            "login_allowed_at": time(self.login_at), "forced_login_allowed_at": time(self.forced_login_at),
        })
    }
}

/// Returns the token's state; a token of another credential or marketplace is never used.
fn token(kept: Option<KeptToken>, username: &str, base_url: &str) -> Token {
    match kept {
        None => Token::None,
        Some(kept) if kept.username != username || kept.base_url != base_url => Token::Foreign,
        Some(KeptToken { obtained_at, expires_at, .. }) => Token::Kept { obtained_at, expires_at },
    }
}

/// Judges the password. A login that succeeded after the service's alarm overrules it: the service clears it later.
fn password(
    logins: &[PastLogin],
    refused: Option<Option<DateTime<Utc>>>,
    written_at: Option<DateTime<Utc>>,
) -> Password {
    let last = logins.iter().rev().find(|(_, reason)| reason != UNSENT);
    let last = match last {
        None => Password::Unknown,
        Some((at, reason)) if [ATTEMPT, REFUSED].contains(&reason.as_str()) => match refused_since(logins) {
            Some(since) => Password::Refused { since: Some(since) },
            None => Password::Unanswered { at: *at },
        },
        Some((at, reason)) => {
            let known =
                [LoginReason::First, LoginReason::Renewal, LoginReason::Forced, LoginReason::AfterOutage];
            let reason = known.into_iter().find(|known| known.as_str() == reason);
            reason.map_or(Password::Unknown, |reason| Password::Accepted { at: *at, reason })
        }
    };
    match (refused, last) {
        (Some(Some(since)), Password::Accepted { at, .. }) if at > since => {
            unless_written(last, logins, written_at)
        }
        (Some(None), refused @ Password::Refused { .. }) => refused,
        (Some(since), _) => Password::Refused { since },
        (None, last) => unless_written(last, logins, written_at),
    }
}

/// Returns when the marketplace first refused the password, if every login since has been refused or has no answer.
fn refused_since(logins: &[PastLogin]) -> Option<DateTime<Utc>> {
    let fails = |(_, reason): &&PastLogin| [ATTEMPT, REFUSED, UNSENT].contains(&reason.as_str());
    let failed = logins.iter().rev().take_while(fails);
    failed.filter(|(_, reason)| reason == REFUSED).last().map(|(at, _)| *at)
}

/// A login proves the password that was in the file then, or that it is wrong.
fn unless_written(last: Password, logins: &[PastLogin], written_at: Option<DateTime<Utc>>) -> Password {
    let refused_at = || logins.iter().rev().find(|(_, reason)| reason == REFUSED).map(|(at, _)| *at);
    match (last, written_at) {
        (Password::Accepted { at, .. }, Some(changed)) if changed > at => Password::Changed { at, changed },
        (Password::Refused { .. }, Some(changed)) => match refused_at().filter(|at| changed > *at) {
            Some(at) => Password::Corrected { at, changed },
            None => last,
        },
        (last, _) => last,
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::text::{Language, Locale};

    use super::*;

    fn at(minute: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_795_000_000 + 60 * minute, 0).unwrap()
    }

    #[test]
    fn the_password_is_judged_by_the_last_login_and_by_the_service() {
        let accepted = |minute, reason| Password::Accepted { at: at(minute), reason };
        let refused = |minute: Option<i64>| Password::Refused { since: minute.map(at) };
        for (logins, alarm, expected) in [
            (&[][..], None, Password::Unknown),
            (&[(1, "first")], None, accepted(1, LoginReason::First)),
            (&[(1, "first"), (9, "401")], None, accepted(9, LoginReason::Forced)),
            (&[(1, "first"), (9, "attempt")], None, Password::Unanswered { at: at(9) }),
            (&[(1, "renewal"), (9, "unsent")], None, accepted(1, LoginReason::Renewal)),
            (&[(1, "first"), (5, "refused")], None, refused(Some(5))),
            (&[(1, "first"), (5, "refused"), (6, "unsent"), (7, "refused")], None, refused(Some(5))),
            // The next try is under way, and the password is as refused as before.
            (&[(5, "refused"), (7, "attempt")], None, refused(Some(5))),
            (&[(5, "refused"), (7, "first")], None, accepted(7, LoginReason::First)),
            (&[(5, "refused")], Some(None), refused(Some(5))),
            (&[(9, "a word of later")], None, Password::Unknown),
            (&[], Some(Some(5)), refused(Some(5))),
            (&[(1, "first"), (5, "attempt")], Some(Some(5)), refused(Some(5))),
            (&[(9, "first")], Some(Some(5)), accepted(9, LoginReason::First)),
            (&[(9, "first")], Some(None), refused(None)),
        ] {
            let logins: Vec<PastLogin> =
                logins.iter().map(|(minute, reason)| (at(*minute), (*reason).to_owned())).collect();
            let judged = password(&logins, alarm.map(|since: Option<i64>| since.map(at)), Some(at(0)));
            assert_eq!(judged, expected, "{logins:?} {alarm:?}");
        }
        let logins = [(at(5), "first".to_owned())];
        let changed = Password::Changed { at: at(5), changed: at(6) };
        assert_eq!(password(&logins, None, Some(at(6))), changed);
        assert_eq!(password(&logins, None, None), accepted(5, LoginReason::First));
        assert_eq!(password(&logins, Some(Some(at(7))), Some(at(6))), refused(Some(7)));
    }

    #[test]
    fn a_refusal_is_of_the_password_that_was_in_the_file_then() {
        let logins: Vec<PastLogin> = [(5, REFUSED), (7, REFUSED), (8, UNSENT)]
            .map(|(minute, reason)| (at(minute), reason.to_owned()))
            .into();
        let refused = Password::Refused { since: Some(at(5)) };
        for (written, expected) in [
            (None, refused),
            (Some(6), refused),
            (Some(7), refused),
            (Some(9), Password::Corrected { at: at(7), changed: at(9) }),
        ] {
            assert_eq!(password(&logins, None, written.map(at)), expected, "{written:?}");
        }
        // The service tries the new password by itself, and says then that it is accepted.
        assert_eq!(password(&logins, Some(Some(at(5))), Some(at(9))), refused);
    }

    #[test]
    fn a_token_of_another_credential_is_not_ours() {
        let kept = |username: &str, base_url: &str| KeptToken {
            token: "secret".into(),
            expires_at: at(9),
            obtained_at: at(1),
            username: username.into(),
            base_url: base_url.into(),
            password_check: None,
        };
        let ours = Token::Kept { obtained_at: at(1), expires_at: at(9) };
        for (record, expected) in [
            (None, Token::None),
            (Some(kept("loja@1", "https://a")), ours),
            (Some(kept("loja@2", "https://a")), Token::Foreign),
            (Some(kept("loja@1", "https://b")), Token::Foreign),
        ] {
            assert_eq!(token(record, "loja@1", "https://a"), expected);
        }
    }

    #[test]
    fn every_standing_has_words_in_both_languages() {
        let tokens = [Token::None, Token::Foreign, Token::Kept { obtained_at: at(1), expires_at: at(9) }];
        let reasons =
            [LoginReason::First, LoginReason::Renewal, LoginReason::Forced, LoginReason::AfterOutage];
        let mut passwords = vec![Password::Unknown, Password::Unanswered { at: at(1) }];
        passwords.extend(reasons.map(|reason| Password::Accepted { at: at(1), reason }));
        passwords.push(Password::Changed { at: at(1), changed: at(2) });
        passwords.push(Password::Corrected { at: at(1), changed: at(2) });
        passwords.extend([None, Some(at(1))].map(|since| Password::Refused { since }));
        for (token, password) in
            tokens.into_iter().flat_map(|token| passwords.iter().map(move |p| (token, *p)))
        {
            let store = StoreKey::new("loja").unwrap();
            let standing =
                Standing { store, token, password, login_at: Some(at(2)), forced_login_at: Some(at(3)) };
            for (now, language) in [(at(2), Language::English), (at(20), Language::Portuguese)] {
                let words = standing.words(now);
                assert!(words.iter().all(Text::is_known), "{words:?}");
                let told: Vec<String> = words.iter().map(|text| text.message(Locale::of(language))).collect();
                assert!(told.len() == 4 && !told.join(" ").contains("token-"), "{told:?}");
            }
        }
    }
}
