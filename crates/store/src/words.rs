//! The words on rows. They are in the installation's language; the message beside them (`said`) can be put into another.

use espelho_model::text::{Locale, Text};

use crate::{Error, driver::Row};

/// Returns the cause and the next step on a row with the columns `error`, `hint` and `said`: in the reader's language,
/// where there is one and the row keeps its message, else as they were written.
pub(crate) fn words(row: &Row, reader: Option<Locale>) -> Result<[Option<String>; 2], Error> {
    let message = match reader {
        Some(locale) => row.optional_foreign_text("said")?.and_then(|said| in_language(&said, locale)),
        None => None,
    };
    match message {
        Some(words) => Ok(words),
        None => Ok([row.optional_foreign_text("error")?, row.optional_foreign_text("hint")?]),
    }
}

/// The same, empty where the row has none.
pub(crate) fn all_words(row: &Row, reader: Option<Locale>) -> Result<[String; 2], Error> {
    Ok(words(row, reader)?.map(Option::unwrap_or_default))
}

/// Returns the identifier of a row's message in the catalogue: rows with the same one have the same next step. `None` if
/// the row has no message.
pub(crate) fn message_id(row: &Row) -> Result<Option<String>, Error> {
    let said = row.optional_foreign_text("said")?;
    Ok(said.and_then(|said| serde_json::from_str::<Text>(&said).ok()).map(|text| text.id().to_owned()))
}

/// Renders a message; `None` if it is none of this version's catalogue.
fn in_language(said: &str, locale: Locale) -> Option<[Option<String>; 2]> {
    let text = serde_json::from_str::<Text>(said).ok().filter(Text::is_known)?;
    Some([Some(text.message(locale)), text.next(locale)])
}

#[cfg(test)]
mod tests {
    use espelho_model::{text, text::Language};

    use super::*;

    #[test]
    fn a_message_is_put_into_a_language_and_one_that_no_catalogue_has_into_none() {
        let said = serde_json::to_string(&text!("store-price-zero")).unwrap();
        let [portuguese, english] = [Language::Portuguese, Language::English]
            .map(|language| in_language(&said, Locale::of(language)));
        assert!(portuguese.as_ref().is_some_and(|words| words.iter().all(Option::is_some)));
        assert_ne!(portuguese, english);
        for odd in ["", "{}", "null", r#"{"id":"of-a-later-version"}"#] {
            assert_eq!(in_language(odd, Locale::default()), None, "{odd}");
        }
    }
}
