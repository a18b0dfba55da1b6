//! Checks whether the marketplace accepts the token, and the password.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_api_client::login_budget::{ATTEMPT, PastLogin, REFUSED, UNSENT, allowed_at};
use espelho_model::{program, text, text::Arg};
use espelho_store::KeptToken;
use espelho_sync_engine::{Examination, Question, Refusal, TokenProof};
use secrecy::ExposeSecret as _;
use serde_json::Value;

use super::{
    access::{Access, Silence},
    facts::StoreFacts,
    finding::{Finding, SkipReason},
    fresh,
    fresh::ProvedToken,
};

/// A login that takes longer waits, for the login limit or for an answer: longer than a check may last.
const LOGIN_ANSWERS: Duration = Duration::from_secs(4);
/// The window of the marketplace's login limit, and a second (API document, "Authentication" 7).
const LOGIN_WINDOW: TimeDelta = TimeDelta::seconds(61);

/// Proves the token by a call.
pub(super) async fn look(store: &StoreFacts<'_>) -> Finding {
    unless_limited(store, token(store)).await
}

async fn token(store: &StoreFacts<'_>) -> Finding {
    if let Some(ProvedToken { age, held }) = proved_by_service(store).await {
        let _ = store.token.set(TokenProof { held, ..TokenProof::default() });
        return Finding::green(text!("doctor-credential-service", seconds = age));
    }
    let answer = store.ask(Question::Token).await;
    if let Ok(Examination::Token(proof)) = &answer {
        let _ = store.token.set(proof.clone());
    }
    judge(answer, store)
}

/// Returns the fresh proof of the service that has the store.
async fn proved_by_service(store: &StoreFacts<'_>) -> Option<ProvedToken> {
    let (told, since) = service_work(store).await?;
    fresh::token(told, store.config.key.as_str(), since, store.all.clock.now())
}

/// Returns the status of the service that has the store, and since when it has the token on record; `None` where its work
/// so far proves nothing of this moment. Whoever asks for a login wants a proof of this moment.
pub(super) async fn service_work<'s>(store: &'s StoreFacts<'_>) -> Option<(&'s Value, DateTime<Utc>)> {
    let is_its = matches!(store.access.get(), Some(Access::Service(..)));
    let works = store.reached.get().is_some_and(|reached| fresh::works(reached.status));
    let told = store.all.status().filter(|_| is_its && works && !store.all.login)?;
    Some((told, kept_token(store).await?.obtained_at))
}

fn judge(answer: Result<Examination, Silence>, store: &StoreFacts<'_>) -> Finding {
    match answer {
        Ok(Examination::Token(proof)) => judge_token(proof),
        Ok(Examination::Failed(refusal)) if refusal.code == "login_limited" => {
            limited(store.all.clock.now() + LOGIN_WINDOW, store.all.login)
        }
        Ok(Examination::Failed(refusal)) => {
            let (place, key) = (store.config.password_place(), store.config.key.as_str());
            judge_refusal(&refusal, &place, key, &store.config.username)
        }
        Ok(_) | Err(Silence::NoAnswer) => Finding::not_seen(text!("doctor-service-no-answer")),
        Err(Silence::NotAsked(reason)) => Finding::skipped(reason),
    }
}

fn judge_token(proof: TokenProof) -> Finding {
    match (proof.withheld, proof.name) {
        (Some(status), _) => {
            Finding::yellow(text!("doctor-credential-withheld", status = status.to_string()))
        }
        (None, Some(name)) => Finding::green(text!("doctor-credential-of", name = name)),
        (None, None) => Finding::green(text!("doctor-credential")),
    }
}

/// Explains a refusal to the shop. The marketplace's words are shown unchanged.
fn judge_refusal(refusal: &Refusal, place: &str, store: &str, username: &str) -> Finding {
    if let Some(fields) = &refusal.refused_fields {
        let text = text!("doctor-login-refused", username = username, store = store);
        return Finding::refused_for(fields, text);
    }
    match refusal.code.as_str() {
        "foreign_login" => {
            Finding::refused(text!("doctor-credential-foreign", username = username, store = store))
        }
        _ if refusal.is_authentication => Finding::refused(text!(
            "doctor-credential-refused",
            username = username,
            place = place,
            store = store,
            cause = answer_in(&refusal.error)
        )),
        "held" => Finding::skipped(SkipReason::NoAccess),
        // The findings of the database have the cause.
        "database" => Finding::absent(text!("doctor-credential-database")),
        // A refusal that passes by itself; one that lasts is an alarm.
        "TOO_MANY_REQUESTS" | "http_429" => {
            Finding::not_seen(text!("doctor-credential-failed", cause = refusal.cause()))
        }
        _ => Finding::red(text!("doctor-credential-failed", cause = refusal.cause())),
    }
}

/// Returns the marketplace's answer in the words of the client: its sentence about the login is English, and the finding
/// says the same.
fn answer_in(cause: &str) -> &str {
    cause.split_once(" refused with ").map_or(cause, |(_, answer)| answer)
}

/// Says whether the password is proved. A valid token does not prove it; `--login` does.
pub(super) async fn password(store: &StoreFacts<'_>) -> Finding {
    unless_limited(store, prove_password(store)).await
}

/// Returns the finding of a check that may need a login, or that the login waits for the marketplace's login limit: the
/// client waits for longer than a check may last.
async fn unless_limited(store: &StoreFacts<'_>, check: impl Future<Output = Finding>) -> Finding {
    tokio::select! {
        biased;
        finding = check => finding,
        finding = waiting_login(store) => finding,
    }
}

/// Returns the finding that a login waits, once it has waited, or that the marketplace answers with errors; never, if
/// neither is so.
async fn waiting_login(store: &StoreFacts<'_>) -> Finding {
    store.all.clock.sleep(LOGIN_ANSWERS).await;
    let now = store.all.clock.now();
    match judge_waiting(&recent_logins(store, now).await, now, store.all.login) {
        Some(finding) => finding,
        // The client waits and tries again.
        None if store.reached.get().is_some_and(|reached| reached.status >= 500) => {
            Finding::skipped(SkipReason::Errors)
        }
        None => std::future::pending().await,
    }
}

/// Returns the logins on record that the login limit may count.
async fn recent_logins(store: &StoreFacts<'_>, now: DateTime<Utc>) -> Vec<PastLogin> {
    logins_since(store, now - LOGIN_WINDOW).await
}

async fn logins_since(store: &StoreFacts<'_>, since: DateTime<Utc>) -> Vec<PastLogin> {
    let logins = match store.all.store() {
        Some(database) => database.tokens().logins_since(&store.config.key, since).await.ok(),
        None => None,
    };
    logins.unwrap_or_default().into_iter().map(|login| (login.at, login.reason)).collect()
}

/// Judges a login that waits, by the logins of the last minute: our own part of the limit is used up, or the last login has
/// no answer yet, which a 429 does too, since the client tries again by itself.
fn judge_waiting(logins: &[PastLogin], now: DateTime<Utc>, login: bool) -> Option<Finding> {
    if let Some(until) = allowed_at(logins.to_vec(), now) {
        return Some(limited(until, login));
    }
    let (at, reason) = logins.last()?;
    let free_at = Arg::TimeOfDay(*at + LOGIN_WINDOW);
    let text = text!("doctor-login-unanswered", at = *at, free_at = free_at, command = command(login));
    (reason == ATTEMPT).then(|| Finding::not_seen(text))
}

fn limited(until: DateTime<Utc>, login: bool) -> Finding {
    let free_at = Arg::TimeOfDay(until);
    Finding::not_seen(text!("doctor-login-limited", free_at = free_at, command = command(login)))
}

/// Returns the command that asks the same again.
fn command(login: bool) -> &'static str {
    if login { "espelho doctor --login" } else { "espelho doctor" }
}

async fn prove_password(store: &StoreFacts<'_>) -> Finding {
    let access = store.access.get();
    let has_token = store.token.get().is_some();
    let has_logged_in = has_token && access.is_some_and(Access::has_logged_in);
    // A login that was refused a moment ago would be refused again.
    let was_refused = !has_token && access.is_some_and(Access::has_tried_to_log_in);
    match (has_logged_in, store.all.login && !was_refused) {
        (true, _) => Finding::green(text!("doctor-password")),
        (false, true) => {
            // A login would only wait while our own part of the login limit is used up.
            let now = store.all.clock.now();
            match allowed_at(recent_logins(store, now).await, now) {
                Some(until) => limited(until, true),
                None => judge_login(store.ask(Question::Password).await, store),
            }
        }
        (false, false) if has_token => {
            // This user may not read it.
            if store.config.password.expose_secret().is_empty() {
                let (place, command) = (store.config.password_place(), program::typed_look());
                return Finding::absent(text!("doctor-password-unread", place = place, command = command));
            }
            let Some(token) = kept_token(store).await else {
                return Finding::absent(text!("doctor-password-not-asked"));
            };
            let logins = logins_since(store, token.obtained_at - LOGIN_WINDOW).await;
            let unasked = Unasked {
                proved_at: begun_at(token.obtained_at, &logins),
                refused_at: refused_at(&logins),
                written_at: store.config.password_written_at(&store.all.directory),
                is_of_token: store.config.has_password_of(&token),
            };
            let (place, key) = (store.config.password_place(), store.config.key.as_str());
            unasked.judge(&place, key)
        }
        (false, false) => Finding::skipped(store.no_token()),
    }
}

/// Returns the token on record, if a login with the configured credential obtained it: that login proved a password.
async fn kept_token(store: &StoreFacts<'_>) -> Option<KeptToken> {
    let kept = store.all.store()?.tokens().token(&store.config.key).await.ok()??;
    let is_ours = kept.username == store.config.username && kept.base_url == store.config.base_url;
    is_ours.then_some(kept)
}

/// Returns when the login began that obtained a token at this time: it had the password that its file had then.
fn begun_at(obtained_at: DateTime<Utc>, logins: &[PastLogin]) -> DateTime<Utc> {
    let accepted = |(at, reason): &&PastLogin| {
        *at <= obtained_at && ![ATTEMPT, REFUSED, UNSENT].contains(&reason.as_str())
    };
    logins.iter().filter(accepted).map(|(at, _)| *at).max().unwrap_or(obtained_at)
}

/// Returns when the marketplace last refused one of these logins.
fn refused_at(logins: &[PastLogin]) -> Option<DateTime<Utc>> {
    logins.iter().filter(|(_, reason)| reason == REFUSED).map(|(at, _)| *at).max()
}

/// The record of a password that no login tries now.
#[derive(Clone, Copy)]
struct Unasked {
    /// When the login began that obtained the token.
    proved_at: DateTime<Utc>,
    /// When the marketplace last refused a login.
    refused_at: Option<DateTime<Utc>>,
    /// When the file of the password was written.
    written_at: Option<DateTime<Utc>>,
    /// True if the token was obtained with this password; `None` if that is not on record.
    is_of_token: Option<bool>,
}

impl Unasked {
    /// A token lives on for weeks after the password in the file is wrong: one that is another than the token's is not
    /// proved, and one that the marketplace has refused since is no proved one either.
    fn judge(self, place: &str, store: &str) -> Finding {
        let Self { proved_at, refused_at, written_at, is_of_token } = self;
        let refused = refused_at.filter(|at| *at > proved_at);
        // A refusal from before the file was written may be another password's.
        let was_tried = |at: DateTime<Utc>| written_at.is_none_or(|written| written <= at);
        let found = match (refused, is_of_token, written_at.filter(|written| *written > proved_at)) {
            (Some(at), ..) if was_tried(at) => {
                return Finding::yellow(text!(
                    "doctor-password-refused",
                    at = at,
                    place = place,
                    store = store
                ));
            }
            (_, Some(false), _) => text!("doctor-password-other", file = place, at = proved_at),
            // The time of the file is all that is known; a copy of the same file has another one.
            (_, None, Some(written)) | (Some(_), _, Some(written)) => {
                text!("doctor-password-changed", file = place, changed = written, at = proved_at)
            }
            _ => text!("doctor-password-proved", at = proved_at),
        };
        Finding::absent(found)
    }
}

fn judge_login(answer: Result<Examination, Silence>, store: &StoreFacts<'_>) -> Finding {
    match answer {
        Ok(Examination::Password) => Finding::green(text!("doctor-password")),
        other => judge(other, store),
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Locale;

    use super::{super::finding::State, *};

    #[test]
    fn a_refusal_quotes_the_answer_and_not_the_sentence_around_it() {
        for (cause, expected) in [
            ("login of \"a@1\" refused with 401: UNAUTHORIZED", "401: UNAUTHORIZED"),
            ("the token was invalidated", "the token was invalidated"),
        ] {
            assert_eq!(answer_in(cause), expected);
        }
    }

    #[test]
    fn a_refused_credential_is_told_from_a_marketplace_in_trouble() {
        let refusal = |code: &str, is_authentication| Refusal {
            code: code.into(),
            error: "e".into(),
            is_authentication,
            text: None,
            refused_fields: None,
        };
        for (code, is_authentication, state) in [
            ("login_refused", true, State::Red),
            ("foreign_login", true, State::Red),
            ("UNAUTHORIZED", true, State::Red),
            ("unreachable", false, State::Red),
            ("http_500", false, State::Red),
            ("held", false, State::Unknown),
            ("TOO_MANY_REQUESTS", false, State::Unknown),
        ] {
            let finding = judge_refusal(&refusal(code, is_authentication), "a.password", "a", "a@1");
            assert_eq!((finding.state, finding.is_authentication), (state, is_authentication), "{code}");
        }
    }

    #[test]
    fn a_login_that_waits_for_the_login_limit_says_until_when_and_judges_no_password() {
        let now = DateTime::from_timestamp(1_795_000_020, 0).unwrap();
        let of = |past: &[(i64, &str)]| -> Vec<PastLogin> {
            past.iter().map(|(ago, reason)| (now - TimeDelta::seconds(*ago), (*reason).to_owned())).collect()
        };
        for (past, expected, why) in [
            (&[][..], None, "nobody has logged in"),
            (&[(10, "first")], None, "the last login was answered"),
            (&[(5, ATTEMPT)], Some("doctor-login-unanswered"), "it is tried again"),
            (&[(50, "first"), (5, ATTEMPT)], Some("doctor-login-unanswered"), "it is tried again"),
            (
                &[(40, ATTEMPT), (30, ATTEMPT), (20, ATTEMPT), (10, ATTEMPT)],
                Some("doctor-login-limited"),
                "our own part is used up",
            ),
        ] {
            let finding = judge_waiting(&of(past), now, false);
            assert_eq!(finding.as_ref().map(|finding| finding.found.id()), expected, "{why}");
            let Some(finding) = finding else { continue };
            assert_eq!((finding.state, finding.is_authentication), (State::Unknown, false), "{why}");
            assert!(finding.found.has_next(), "{why}");
        }
    }

    #[test]
    fn a_login_limit_says_its_end_to_the_second_and_the_command_that_asks_again() {
        let until = "2026-11-27T12:00:31Z".parse().unwrap();
        for (login, command) in [(false, ": espelho doctor"), (true, ": espelho doctor --login")] {
            let next = limited(until, login).found.next(Locale::default()).unwrap();
            assert!(next.contains("09:00:31") && next.ends_with(command), "{next}");
        }
    }

    #[test]
    fn a_password_that_was_written_after_the_last_login_is_not_proved() {
        let at = |minute: i64| DateTime::from_timestamp(60 * minute, 0);
        let (other, same, unknown) = (Some(false), Some(true), None);
        for (refused_at, written_at, is_of_token, state, text) in [
            (None, at(4), unknown, State::Unknown, "doctor-password-proved"),
            (None, at(5), unknown, State::Unknown, "doctor-password-proved"),
            (None, at(6), unknown, State::Unknown, "doctor-password-changed"),
            (None, None, unknown, State::Unknown, "doctor-password-proved"),
            // The record of the password says more than the time of its file.
            (None, at(6), same, State::Unknown, "doctor-password-proved"),
            (None, at(4), other, State::Unknown, "doctor-password-other"),
            (None, None, other, State::Unknown, "doctor-password-other"),
            // The marketplace has refused it since.
            (at(7), at(4), unknown, State::Yellow, "doctor-password-refused"),
            (at(7), at(6), unknown, State::Yellow, "doctor-password-refused"),
            (at(7), None, unknown, State::Yellow, "doctor-password-refused"),
            (at(7), at(8), unknown, State::Unknown, "doctor-password-changed"),
            (at(3), at(2), unknown, State::Unknown, "doctor-password-proved"),
            (at(7), at(8), same, State::Unknown, "doctor-password-changed"),
            (at(7), at(8), other, State::Unknown, "doctor-password-other"),
            (at(7), at(6), other, State::Yellow, "doctor-password-refused"),
        ] {
            let unasked = Unasked { proved_at: at(5).unwrap(), refused_at, written_at, is_of_token };
            let finding = unasked.judge("loja.password", "loja");
            let case = format!("{refused_at:?} {written_at:?} {is_of_token:?}");
            assert_eq!((finding.state, finding.found.id()), (state, text), "{case}");
            assert!(finding.found.has_next() && !finding.is_open, "{case}");
        }
        let logins = |reasons: &[(i64, &str)]| -> Vec<PastLogin> {
            reasons.iter().map(|(minute, reason)| (at(*minute).unwrap(), (*reason).to_owned())).collect()
        };
        assert_eq!(refused_at(&logins(&[(6, REFUSED), (7, REFUSED), (8, ATTEMPT)])), at(7));
        assert_eq!(refused_at(&logins(&[(6, "renewal"), (8, ATTEMPT)])), None);
        // A file that was written while the login waited for its answer has another password than the login.
        for (past, begun) in [
            (vec![(5, "first"), (6, "renewal"), (8, "renewal")], 6),
            (vec![(5, "first"), (6, REFUSED), (7, UNSENT), (7, ATTEMPT)], 5),
            (vec![(6, REFUSED), (9, "first")], 7),
            (vec![], 7),
        ] {
            assert_eq!(Some(begun_at(at(7).unwrap(), &logins(&past))), at(begun), "{past:?}");
        }
    }

    #[test]
    fn a_token_that_works_is_green_and_one_that_nobody_names_is_not() {
        let of = |withheld| judge_token(TokenProof { withheld, ..TokenProof::default() }).state;
        assert_eq!([of(None), of(Some(403))], [State::Green, State::Yellow]);
    }
}
