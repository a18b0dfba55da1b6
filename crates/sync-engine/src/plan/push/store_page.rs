//! The store's page (`store_page.update`): sent once, and proved by what the page shows.

use espelho_model::store_profile::StorePage;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Settlement, evidence::Evidence};

/// The fields that a reading of the page shows.
const FIELDS: [&str; 4] = ["short_description", "description", "full_description", "foundation_date"];

/// What the journal keeps with a change of the page: the fields that change, as the command has them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PageEvidence(pub Map<String, Value>);

impl Evidence for PageEvidence {
    const KIND: &'static str = "store_page.update";
    const IS_REPEATABLE: bool = true;
    const EARLIER_ROW: &'static str = r#"{"description":null}"#;

    fn can_prove(&self) -> bool {
        let known = FIELDS.iter().filter_map(|name| self.0.get(*name));
        let mut known = known.peekable();
        known.peek().is_some() && known.all(|value| value.is_null() || value.is_string())
    }
}

/// What became of a change whose answer was lost.
pub fn settle(evidence: &PageEvidence, page: &StorePage) -> Settlement {
    let date = page.foundation_date.map(|date| date.to_string());
    let shown = [&page.short_description, &page.description, &page.full_description, &date];
    let shows = |(name, own): (&&str, &&Option<String>)| {
        let desired = evidence.0.get(*name);
        desired
            .is_none_or(|desired| desired.as_str().unwrap_or_default() == own.as_deref().unwrap_or_default())
    };
    let is_there = evidence.can_prove() && FIELDS.iter().zip(&shown).all(shows);
    Settlement::of(is_there, "the page shows it", "the page does not show it")
}

#[cfg(test)]
mod tests {
    use espelho_model::RawJson;
    use serde_json::json;

    use super::*;

    fn page() -> StorePage {
        StorePage {
            store_id: None,
            store_name: None,
            short_description: Some("Bancos".into()),
            description: None,
            full_description: Some("Bancos de madeira".into()),
            foundation_date: Some("1999-12-31".parse().unwrap()),
            logo_url: None,
            background_url: None,
            company: None,
            raw: RawJson::new("{}"),
        }
    }

    // withstands: F001
    #[test]
    fn a_lost_change_happened_where_the_page_shows_each_field_of_it() {
        let rows = [
            (json!({"short_description": "Bancos"}), true),
            (json!({"short_description": "Mesas"}), false),
            (json!({"short_description": null}), false),
            (json!({"description": null}), true),
            (json!({"description": ""}), true),
            (json!({"full_description": "Bancos de madeira", "foundation_date": "1999-12-31"}), true),
            (json!({"full_description": "Bancos de madeira", "foundation_date": "2000-01-01"}), false),
            // Nothing that a reading shows: nothing is no proof.
            (json!({}), false),
            (json!({"logo": "x"}), false),
            (json!({"description": 7}), false),
        ];
        for (data, expected) in rows {
            let Value::Object(fields) = data else { unreachable!() };
            let evidence = PageEvidence(fields);
            let happened = matches!(settle(&evidence, &page()), Settlement::Happened { .. });
            assert_eq!(happened, expected, "{evidence:?}");
        }
    }
}
