//! Checks whether the marketplace accepts the token, and the password.

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
        (false, false) if has_token => Finding::absent(text!("doctor-password-not-asked")),
        (false, false) => Finding::not_seen(text!("doctor-no-token")),
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
    fn a_token_that_works_is_green_and_one_that_nobody_names_is_not() {
        let of = |withheld| judge_token(TokenProof { withheld, ..TokenProof::default() }).state;
        assert_eq!([of(None), of(Some(403))], [State::Green, State::Yellow]);
    }
}
