//! The names by which pages, messages and people refer to a thing: `command 1323`, `comando 1323`, `erp_stock:CAN-01`,
//! `#000100`. Pure.

use espelho_model::text::{Language, Locale, words};
use espelho_store::{IntentKind, explainable};

/// The tables that the ERP writes, by the names of their rows.
const TABLES: [(&str, &str); 4] =
    [("erp_stock", "stock"), ("erp_prices", "price"), ("commands", "command"), ("erp_orders", "order")];

/// Returns the entity that a word means: its name, its table, or its name for people in either language.
pub(crate) fn entity(word: &str) -> Option<&'static str> {
    let word = word.trim().to_lowercase();
    if let Some((_, entity)) = TABLES.iter().find(|(table, _)| *table == word) {
        return Some(entity);
    }
    let intents = IntentKind::ALL.iter().map(|intent| intent.as_str());
    let known: Vec<&'static str> = explainable().into_iter().chain(intents).collect();
    let is_named = |entity: &&&str| {
        **entity == word
            || Language::ALL
                .iter()
                .any(|language| words::entity(entity).message(Locale::of(*language)).to_lowercase() == word)
    };
    known.iter().find(is_named).copied()
}

/// Returns the entity and the key of a reference that names both; `None` if it does not.
pub(crate) fn reference(asked: &str) -> Option<(&'static str, String)> {
    let asked = asked.trim();
    if let Some(number) = asked.strip_prefix('#') {
        return Some(("order", number.trim().to_owned())).filter(|(_, number)| !number.is_empty());
    }
    let split = [asked.split_once(' '), asked.split_once(':')].into_iter().flatten();
    split.into_iter().find_map(|(word, key)| {
        let (entity, key) = (entity(word)?, key.trim().trim_start_matches('#'));
        (!key.is_empty()).then(|| (of_rows(entity, key), key.to_owned()))
    })
}

/// A level or a price without its location or quantity is about the product.
fn of_rows(entity: &'static str, key: &str) -> &'static str {
    match entity {
        "stock" | "price" if !key.contains('/') => "product",
        _ => entity,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pages_and_messages_show_is_understood() {
        for (asked, expected) in [
            ("command 1323", Some(("command", "1323"))),
            ("comando 1323", Some(("command", "1323"))),
            ("commands:1323", Some(("command", "1323"))),
            ("stock CAN-01/1", Some(("stock", "CAN-01/1"))),
            ("estoque CAN 01/1", Some(("stock", "CAN 01/1"))),
            ("erp_stock:CAN-01", Some(("product", "CAN-01"))),
            ("erp_prices:CAN-01/5", Some(("price", "CAN-01/5"))),
            ("pedido 000100", Some(("order", "000100"))),
            ("Pedido #000100", Some(("order", "000100"))),
            ("#000100", Some(("order", "000100"))),
            ("# ", None),
            ("CAN 01", None),
            ("command ", None),
            ("000100", None),
            ("a:b", None),
        ] {
            let found = reference(asked);
            let found = found.as_ref().map(|(entity, key)| (*entity, key.as_str()));
            assert_eq!(found, expected, "{asked}");
        }
    }

    #[test]
    fn an_entity_is_known_by_its_table_too() {
        assert_eq!(entity("erp_stock"), Some("stock"));
        assert_eq!(entity("order"), Some("order"));
        assert_eq!(entity("ordr"), None);
    }
}
