//! Bodies of a marketplace that has moved on: values and fields that no client knows yet.
//!
//! The text is changed in place of a tree, so that every number stays as it was written.

/// Fields whose values are words of a fixed list.
const ENUMS: [&str; 17] = [
    "status",
    "type",
    "channel",
    "workflow_type",
    "delivery_method",
    "payment_method",
    "payment_status",
    "payment_link_target",
    "stock_status",
    "author_type",
    "base_unit",
    "price_type",
    "location_type",
    "format",
    "mode",
    "current_status",
    "target_status",
];

const UNKNOWN: &[u8] = br#""valor_desconhecido""#;

const EXTRA: &[u8] = br#""campo_novo":{"versao":2,"itens":[1,null,"x"]}"#;

/// Gives every field of a fixed list a word that is not on it.
pub(crate) fn unknown_enums(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len());
    let (mut key, mut at): (&[u8], usize) = (b"", 0);
    while at < json.len() {
        if json[at] != b'"' {
            if !matches!(json[at], b':' | b' ') {
                key = b"";
            }
            out.push(json[at]);
            at += 1;
            continue;
        }
        let end = string_end(json, at);
        let text = &json[at..end];
        let is_enum = ENUMS.iter().any(|name| name.as_bytes() == key);
        out.extend_from_slice(if is_enum { UNKNOWN } else { text });
        key = text.get(1..text.len() - 1).unwrap_or_default();
        at = end;
    }
    out
}

/// Gives every object a field more.
pub(crate) fn extra_fields(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() * 2);
    let mut at = 0;
    while at < json.len() {
        let end = if json[at] == b'"' { string_end(json, at) } else { at + 1 };
        out.extend_from_slice(&json[at..end]);
        if json[at] == b'{' {
            out.extend_from_slice(EXTRA);
            if json[end..].iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'}') {
                out.push(b',');
            }
        }
        at = end;
    }
    out
}

/// The position behind the closing quote of the text that begins at `start`.
fn string_end(json: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < json.len() {
        match json[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    json.len()
}

#[cfg(test)]
mod tests {
    use super::{extra_fields, unknown_enums};

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn words_of_a_fixed_list_become_unknown_and_all_else_stays_to_the_byte() {
        let json = concat!(
            r#"{"status":"paid","status_label":"Pago","n":58.90,"x":["status","a\"{"],"#,
            r#""type":{"value":"v"},"mode":null}"#
        );
        let expected = concat!(
            r#"{"status":"valor_desconhecido","status_label":"Pago","n":58.90,"x":["status","a\"{"],"#,
            r#""type":{"value":"v"},"mode":null}"#
        );
        assert_eq!(text(unknown_enums(json.as_bytes())), expected);
    }

    #[test]
    fn every_object_gains_a_field_and_stays_json() {
        let spoiled = text(extra_fields(br#"{"a":{},"b":[{"c":"{"}],"d":1.50}"#));
        assert_eq!(spoiled.matches("campo_novo").count(), 3);
        assert!(spoiled.contains(r#""d":1.50"#));
        let value: serde_json::Value = serde_json::from_str(&spoiled).unwrap();
        assert_eq!(value["b"][0]["c"], "{");
    }

    #[test]
    fn text_that_breaks_off_is_no_reason_to_panic() {
        for broken in ["", "\"", "{\"a", "{\"a\\", "\"\\"] {
            unknown_enums(broken.as_bytes());
            extra_fields(broken.as_bytes());
        }
    }
}
