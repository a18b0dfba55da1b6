//! Answers ERP rows for a store that is not configured: with the configured stores, and the most likely one.

use std::{cmp::Reverse, collections::BTreeSet, sync::Arc, time::Duration};

use espelho_model::{
    Clock, StoreKey, text,
    text::{Locale, Text},
};
use espelho_store::{RowWords, Store};
use tokio_util::sync::CancellationToken;

use crate::http::webhook::WakerRegistry;

/// How often rows of unknown stores are searched for: six look-ups in small indexes.
const INTERVAL: Duration = Duration::from_secs(2);
/// The number of stores that an answer names; a hub has thousands.
const NAMED: usize = 5;
/// The letters of an unknown name that an answer repeats.
const LONGEST_NAME: usize = 200;
/// The similarity from which on a store is the likely one.
const ALIKE: f64 = 0.8;

/// Answers rows of stores that are not configured.
pub(crate) async fn answer(
    store: Store,
    clock: Arc<dyn Clock>,
    wakers: Arc<WakerRegistry>,
    locale: Locale,
    stop: CancellationToken,
) {
    let answering = async {
        loop {
            clock.sleep(INTERVAL).await;
            let known = wakers.stores();
            let say = |name: &str| row_words(&unknown_store(name, &known), locale);
            if let Err(error) = store.intents().reopen_known_stores(&known).await {
                tracing::debug!(%error, "cannot reopen rows of stores that are configured now; will retry");
            }
            match store.intents().answer_unknown_stores(&known, &say).await {
                Ok(unknown) if unknown.is_empty() => {}
                Ok(unknown) => {
                    tracing::warn!(?unknown, "rows of unconfigured stores have failed");
                }
                Err(error) => tracing::debug!(%error, "cannot answer rows of unknown stores; will retry"),
            }
        }
    };
    tokio::select! { () = answering => (), () = stop.cancelled() => () }
}

/// Returns the answer to a row of a store that is none of these.
pub(crate) fn unknown_store(name: &str, known: &BTreeSet<StoreKey>) -> Text {
    let likeness = |key: &StoreKey| {
        strsim::jaro_winkler(
            &key.as_str().to_lowercase(),
            &name.chars().take(LONGEST_NAME).collect::<String>().to_lowercase(),
        )
    };
    let mut by_likeness: Vec<&StoreKey> = known.iter().collect();
    by_likeness.sort_by_key(|key| Reverse((likeness(key) * 1e6) as u32));
    let named: Vec<&str> = by_likeness.iter().take(NAMED).map(|key| key.as_str()).collect();
    let nearest = by_likeness.first().filter(|key| likeness(key) >= ALIKE);
    text!(
        "store-unknown-store",
        store = name.chars().take(LONGEST_NAME).collect::<String>(),
        known = named.join(", "),
        more = known.len() - named.len(),
        alike = usize::from(nearest.is_some()),
        nearest = nearest.map_or("", |key| key.as_str()),
    )
}

fn row_words(text: &Text, locale: Locale) -> RowWords {
    RowWords {
        error: text.message(locale),
        hint: text.next(locale).unwrap_or_default(),
        message: serde_json::to_string(text).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Language;

    use super::*;

    fn words(name: &str, known: &[&str], language: Language) -> [String; 2] {
        let known = known.iter().map(|key| StoreKey::new(key).unwrap()).collect();
        let RowWords { error, hint, .. } = row_words(&unknown_store(name, &known), Locale::of(language));
        [error, hint]
    }

    #[test]
    fn an_unknown_store_is_answered_with_the_stores_that_exist_and_the_nearest() {
        let [error, hint] = words("LOJA-1", &["loja-1", "outra"], Language::Portuguese);
        assert_eq!(error, "Não existe a loja “LOJA-1” nesta instalação. Lojas configuradas: loja-1, outra.");
        assert_eq!(
            hint,
            "Troque store para loja-1, ou configure esta loja: a linha volta sozinha para a fila."
        );
        let [error, hint] = words("LOJA-1", &["loja-1"], Language::English);
        assert_eq!(error, "There is no store “LOJA-1” in this installation. Configured stores: loja-1.");
        assert!(hint.starts_with("Change store to loja-1"), "{hint}");
    }

    #[test]
    fn a_name_of_megabytes_is_repeated_in_part() {
        let [error, hint] = words(&"L".repeat(10 << 20), &["loja-1"], Language::English);
        assert!(error.len() < 400 && hint.len() < 400, "{error} {hint}");
    }

    #[test]
    fn a_name_like_no_other_gets_no_guess_and_a_hub_names_few() {
        let [_, hint] = words("xyz", &["minha-loja"], Language::English);
        assert!(hint.starts_with("Change store to the name of a configured store"), "{hint}");
        let many: Vec<String> = (0..1000).map(|n| format!("loja-{n:04}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let [error, _] = words("loja_0500", &many, Language::Portuguese);
        assert!(error.contains(": loja-0500, ") && error.ends_with("(e mais 995)."), "{error}");
    }
}
