//! The cursor of a page: an opaque text for a place in the order of a table's key. Pure.

use espelho_store::{ApiTable, ColumnKind, FilterValue, KeyPart, Position};
use serde::{Deserialize, Serialize};

/// The longest cursor: no key of the mirror is so long.
const LONGEST: usize = 16 << 10;

#[derive(Deserialize, Serialize)]
struct Content {
    /// The table: its cursor means nothing in another one.
    t: String,
    /// The key.
    k: Vec<String>,
    /// The rows after it that were read.
    s: u32,
}

/// Writes a place as a cursor.
pub(super) fn encode(table: &ApiTable, at: &Position) -> String {
    let word = |value: &FilterValue| match value {
        FilterValue::Text(text) => text.clone(),
        FilterValue::Integer(number) => number.to_string(),
        // No key has another kind.
        FilterValue::Number(_) | FilterValue::Flag(_) | FilterValue::Time(_) => String::new(),
    };
    let content = Content { t: table.name.to_owned(), k: at.key.iter().map(word).collect(), s: at.skip };
    hex::encode(serde_json::to_vec(&content).unwrap_or_default())
}

/// Reads a cursor of this table; `None` for one that no answer of it had.
pub(super) fn decode(table: &ApiTable, cursor: &str) -> Option<Position> {
    let bytes = (cursor.len() <= LONGEST).then(|| hex::decode(cursor).ok()).flatten()?;
    let content: Content = serde_json::from_slice(&bytes).ok()?;
    if content.t != table.name || !(content.k.is_empty() || content.k.len() == table.key.len()) {
        return None;
    }
    let value = |(word, part): (String, &KeyPart)| match part.kind {
        ColumnKind::Integer => word.parse().ok().map(FilterValue::Integer),
        _ => (!word.contains('\0')).then_some(FilterValue::Text(word)),
    };
    let key = content.k.into_iter().zip(&table.key).map(value).collect::<Option<_>>()?;
    Some(Position { key, skip: content.s })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_back_by_its_own_table_only() {
        let table = |name| ApiTable::named(name).unwrap();
        let text = |text: &str| FilterValue::Text(text.into());
        let at = Position { key: vec![text("loja"), text("ação/1"), FilterValue::Integer(10)], skip: 3 };
        let cursor = encode(table("erp_prices"), &at);
        assert_eq!(decode(table("erp_prices"), &cursor), Some(at));
        assert_eq!(decode(table("product_prices"), &cursor), None);
        let of = |json: &str| decode(table("erp_prices"), &hex::encode(json));
        for json in [
            "",
            "{}",
            r#"{"t":"erp_prices","k":["a"],"s":0}"#,
            r#"{"t":"erp_prices","k":["a","b","c"],"s":0}"#,
            r#"{"t":"erp_prices","k":["a","b\u0000","1"],"s":0}"#,
            r#"{"t":"erp_prices","k":["a","b","1"],"s":-1}"#,
        ] {
            assert_eq!(of(json), None, "{json}");
        }
        assert_eq!(of(r#"{"t":"erp_prices","k":[],"s":2}"#), Some(Position { key: Vec::new(), skip: 2 }));
        assert_eq!(decode(table("orders"), &"00".repeat(LONGEST)), None);
    }
}
