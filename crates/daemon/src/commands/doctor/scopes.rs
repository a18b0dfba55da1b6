//! Checks what the token permits, as far as that is visible without changes.

use espelho_model::{text, text::Arg};
use espelho_sync_engine::{Ability, Examination, Question};

use super::{access::Silence, credential::service_work, facts::StoreFacts, finding::Finding, fresh};

pub(super) async fn look(store: &StoreFacts<'_>) -> Finding {
    match ask(store).await {
        Ok(Examination::Abilities(abilities)) => judge(&abilities),
        Ok(Examination::Failed(refusal)) => {
            Finding::not_seen(text!("doctor-scopes-failed", cause = refusal.cause()))
        }
        Ok(_) | Err(Silence::NoAnswer) => Finding::not_seen(text!("doctor-service-no-answer")),
        Err(Silence::NotAsked(reason)) => Finding::skipped(reason),
    }
}

/// Asks what the service has not shown by its own work within the last minute.
async fn ask(store: &StoreFacts<'_>) -> Result<Examination, Silence> {
    let (key, now) = (store.config.key.as_str(), store.all.clock.now());
    if let Some((told, since)) = service_work(store).await
        && fresh::has_read_orders(told, key, since, now)
        && let Ok(Examination::Abilities(others)) = store.ask_with_token(Question::OtherAbilities).await
    {
        return Ok(Examination::Abilities([Ability::orders_read()].into_iter().chain(others).collect()));
    }
    // A service of an earlier version does not know the shorter question.
    store.ask_with_token(Question::Abilities).await
}

/// Judges the abilities. A missing one is red, whatever else is there; abilities that only a write would prove are
/// named, and need no action.
fn judge(abilities: &[Ability]) -> Finding {
    let names = |is: &dyn Fn(&Ability) -> bool| {
        let found: Vec<&str> = abilities.iter().filter(|a| is(a)).map(|a| a.name.as_str()).collect();
        found.join(", ")
    };
    let missing: Vec<&str> = abilities
        .iter()
        .filter(|ability| ability.granted == Some(false))
        .flat_map(|ability| match ability.missing.is_empty() {
            true => vec![ability.name.as_str()],
            false => ability.missing.iter().map(String::as_str).collect(),
        })
        .collect();
    if !missing.is_empty() {
        return Finding::red(text!("doctor-scopes-missing", missing = missing.join(", ")));
    }
    let granted = names(&|ability| ability.granted == Some(true));
    if let Some((ability, error)) = abilities.iter().find_map(|of| Some((of, of.error.as_ref()?))) {
        let failed = names(&|ability| ability.error.is_some());
        return Finding::not_seen(text!(
            "doctor-scopes-unread",
            failed = failed,
            cause = ability.text.clone().map_or_else(|| Arg::from(error), Arg::from)
        ));
    }
    let unseen = names(&|ability| ability.granted.is_none());
    Finding::green(text!("doctor-scopes", granted = granted, unseen = unseen))
}

#[cfg(test)]
mod tests {
    use super::{super::finding::State, *};

    fn ability(granted: Option<bool>, error: Option<&str>) -> Ability {
        let error = error.map(str::to_owned);
        Ability { name: "store_products_read".into(), granted, missing: Vec::new(), error, text: None }
    }

    #[test]
    fn only_an_ability_that_is_seen_to_be_missing_is_red_and_one_that_could_not_be_read_is_open() {
        let (has, unseen) = (ability(Some(true), None), ability(None, None));
        let (lacks, failed) = (ability(Some(false), None), ability(None, Some("no answer")));
        for (abilities, state) in [
            (vec![&has, &unseen], State::Green),
            (vec![&has, &lacks, &failed], State::Red),
            (vec![&has, &failed], State::Unknown),
        ] {
            let abilities: Vec<Ability> = abilities.into_iter().cloned().collect();
            assert_eq!(judge(&abilities).state, state, "{abilities:?}");
        }
    }
}
