//! The language of an answer: the asked one, else the browser's, else the installation's.

use axum::http::{HeaderMap, header};
use espelho_model::text::{Language, Locale};

/// Returns the requested language: `?lang=`, else `Accept-Language`, else the installation's.
pub(super) fn locale(asked: Option<&str>, headers: &HeaderMap, installation: Locale) -> Locale {
    let preferred = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    let language = asked.and_then(Language::parse).or_else(|| preferred.and_then(preferred_language));
    Locale { language: language.unwrap_or(installation.language), ..installation }
}

/// Returns the first language of the catalogue that a browser accepts, by its weights.
fn preferred_language(accepted: &str) -> Option<Language> {
    let mut ranges: Vec<(u16, Language)> = Vec::new();
    for range in accepted.split(',') {
        let (tag, weight) = range.split_once(';').unwrap_or((range, ""));
        let weight = weight.trim().strip_prefix("q=").map_or(Ok(1.0), str::parse::<f32>).unwrap_or(0.0);
        if let Some(language) = Language::parse(tag.trim()).filter(|_| weight > 0.0) {
            ranges.push(((weight * 1_000.0) as u16, language));
        }
    }
    // Among equal weights the first one counts.
    ranges.into_iter().rev().max_by_key(|(weight, _)| *weight).map(|(_, language)| language)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_browser_chooses_the_language_by_its_weights() {
        for (accepted, language) in [
            ("pt-BR,pt;q=0.9,en;q=0.8", Some(Language::Portuguese)),
            ("en-US,en;q=0.9,pt;q=0.5", Some(Language::English)),
            ("de, en;q=0.4, pt;q=0.7", Some(Language::Portuguese)),
            ("en, pt", Some(Language::English)),
            ("de-DE", None),
            ("pt;q=0", None),
            ("*", None),
        ] {
            assert_eq!(preferred_language(accepted), language, "{accepted}");
        }
    }

    #[test]
    fn the_address_beats_the_browser_which_beats_the_installation() {
        let mut headers = HeaderMap::new();
        let language = |asked, headers: &HeaderMap| locale(asked, headers, Locale::default()).language;
        assert_eq!(language(None, &headers), Language::Portuguese);
        headers.insert(header::ACCEPT_LANGUAGE, HeaderValue::from_static("en"));
        assert_eq!(language(None, &headers), Language::English);
        assert_eq!(language(Some("pt-BR"), &headers), Language::Portuguese);
    }
}
