//! Checks whether the marketplace accepts the token, and the password.

use chrono::{DateTime, Utc};
use espelho_model::text;
use espelho_sync_engine::{Examination, Question, Refusal, TokenProof};

use super::{
    access::{Access, Silence},
    facts::StoreFacts,
    finding::Finding,
};

/// Proves the token by a call.
pub(super) async fn look(store: &StoreFacts<'_>) -> Finding {
    let answer = store.ask(Question::Token).await;
    if let Ok(Examination::Token(proof)) = &answer {
        let _ = store.token.set(proof.clone());
    }
    judge(answer, store)
}

fn judge(answer: Result<Examination, Silence>, store: &StoreFacts<'_>) -> Finding {
    match answer {
        Ok(Examination::Token(proof)) => judge_token(proof),
        Ok(Examination::Failed(refusal)) => judge_refusal(&refusal, &store.file(), &store.config.username),
        Ok(_) | Err(Silence::NoAnswer) => Finding::not_seen(text!("doctor-service-no-answer")),
        Err(Silence::NotAsked(why)) => Finding::not_seen(why),
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
fn judge_refusal(refusal: &Refusal, file: &str, username: &str) -> Finding {
    let cause = refusal.error.as_str();
    match refusal.code.as_str() {
        "foreign_login" => Finding::refused(text!("doctor-credential-foreign", username = username)),
        _ if refusal.is_authentication => Finding::refused(text!(
            "doctor-credential-refused",
            username = username,
            file = file,
            cause = answer_in(cause)
        )),
        "held" => Finding::not_seen(text!("doctor-no-access")),
        _ => Finding::red(text!("doctor-credential-failed", cause = cause)),
    }
}

/// Returns the marketplace's answer in the words of the client: its sentence about the login is English, and the finding
/// says the same.
fn answer_in(cause: &str) -> &str {
    cause.split_once(" refused with ").map_or(cause, |(_, answer)| answer)
}

/// Says whether the password is proved. A valid token does not prove it; `--login` does.
pub(super) async fn password(store: &StoreFacts<'_>) -> Finding {
    let access = store.access.get();
    let has_token = store.token.get().is_some();
    let has_logged_in = has_token && access.is_some_and(Access::has_logged_in);
    // A login that was refused a moment ago would be refused again.
    let was_refused = !has_token && access.is_some_and(Access::has_tried_to_log_in);
    match (has_logged_in, store.all.login && !was_refused) {
        (true, _) => Finding::green(text!("doctor-password")),
        (false, true) => judge_login(store.ask(Question::Password).await, store),
        (false, false) if has_token => {
            let written_at = store.config.password_written_at(&store.all.directory);
            judge_unasked(last_proof(store).await, written_at, &store.config.password_place())
        }
        (false, false) => Finding::not_seen(text!("doctor-no-token")),
    }
}

/// Returns when a login last proved the password: it obtained the token on record.
async fn last_proof(store: &StoreFacts<'_>) -> Option<DateTime<Utc>> {
    let kept = store.all.store()?.tokens().token(&store.config.key).await.ok()??;
    let is_ours = kept.username == store.config.username && kept.base_url == store.config.base_url;
    is_ours.then_some(kept.obtained_at)
}

/// Judges a password that no login tries now. A token lives on for weeks after the password in the file is wrong: one that
/// was written since the last login is not proved.
fn judge_unasked(
    proved_at: Option<DateTime<Utc>>,
    written_at: Option<DateTime<Utc>>,
    place: &str,
) -> Finding {
    match (proved_at, written_at) {
        (Some(proved), Some(written)) if written > proved => {
            Finding::absent(text!("doctor-password-changed", file = place, changed = written, at = proved))
        }
        (Some(proved), _) => Finding::absent(text!("doctor-password-proved", at = proved)),
        (None, _) => Finding::absent(text!("doctor-password-not-asked")),
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
        };
        for (code, is_authentication, state) in [
            ("login_refused", true, State::Red),
            ("foreign_login", true, State::Red),
            ("UNAUTHORIZED", true, State::Red),
            ("unreachable", false, State::Red),
            ("http_500", false, State::Red),
            ("held", false, State::Unknown),
        ] {
            let finding = judge_refusal(&refusal(code, is_authentication), "stores/a.toml", "a@1");
            assert_eq!((finding.state, finding.is_authentication), (state, is_authentication), "{code}");
        }
    }

    #[test]
    fn a_password_that_was_written_after_the_last_login_is_not_proved() {
        let at = |minute: i64| DateTime::from_timestamp(60 * minute, 0);
        for (proved, written, state, text) in [
            (at(5), at(4), State::Unknown, "doctor-password-proved"),
            (at(5), at(5), State::Unknown, "doctor-password-proved"),
            (at(5), at(6), State::Unknown, "doctor-password-changed"),
            (at(5), None, State::Unknown, "doctor-password-proved"),
            (None, at(6), State::Unknown, "doctor-password-not-asked"),
        ] {
            let finding = judge_unasked(proved, written, "loja.password");
            assert_eq!((finding.state, finding.found.id()), (state, text), "{proved:?} {written:?}");
            assert!(finding.found.has_next() && !finding.is_open);
        }
    }

    #[test]
    fn a_token_that_works_is_green_and_one_that_nobody_names_is_not() {
        let of = |withheld| judge_token(TokenProof { withheld, ..TokenProof::default() }).state;
        assert_eq!([of(None), of(Some(403))], [State::Green, State::Yellow]);
    }
}
