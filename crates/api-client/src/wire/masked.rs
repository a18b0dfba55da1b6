//! Masks the queries of signed addresses in received objects. Anyone with such an address can fetch the file, and the
//! query differs in every answer, so that an unchanged object would look changed each time.

use std::borrow::Cow;

/// Marks of a signed query, in lower case.
const SIGNED: [&str; 7] = ["signature", "x-amz-", "x-goog-", "sig=", "token=", "key-pair-id=", "expires="];

/// Replaces such a query.
const MASK: &str = "?masked";

/// Returns JSON text with the queries of signed addresses masked; every other byte is unchanged.
pub(crate) fn masked(json: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut kept = 0;
    for (start, end) in texts(json) {
        if let Some(query) = signed_query(&json[start..end]) {
            out.push_str(&json[kept..start + query]);
            out.push_str(MASK);
            kept = end;
        }
    }
    if kept == 0 {
        return Cow::Borrowed(json);
    }
    out.push_str(&json[kept..]);
    Cow::Owned(out)
}

/// Returns the start and end of each JSON string's content.
fn texts(json: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let bytes = json.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + bytes.get(at..)?.iter().position(|byte| *byte == b'"')? + 1;
        let mut end = start;
        while *bytes.get(end)? != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        at = end + 1;
        Some((start, end))
    })
}

/// Returns where the query of a signed address begins in JSON text (slashes and other characters may be escaped).
fn signed_query(text: &str) -> Option<usize> {
    let plain = text.replace("\\/", "/").to_ascii_lowercase();
    if !plain.starts_with("http://") && !plain.starts_with("https://") {
        return None;
    }
    let query = [text.find('?'), text.to_ascii_lowercase().find("\\u003f")].into_iter().flatten().min()?;
    let rest = text[query..].to_ascii_lowercase().replace("\\u003d", "=").replace("%2d", "-");
    SIGNED.iter().any(|word| rest.contains(word)).then_some(query)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_query_of_a_signed_address_is_masked_and_nothing_else() {
        for (json, expected) in [
            (
                r#"{"url":"https://s.example/l.pdf?X-Amz-Signature=abc&e=1","a":1}"#,
                r#"{"url":"https://s.example/l.pdf?masked","a":1}"#,
            ),
            (
                r#"{"u":"https:\/\/s.example\/l?expires=1\u0026signature=abc"}"#,
                r#"{"u":"https:\/\/s.example\/l?masked"}"#,
            ),
            (
                r#"["http://s/a?Sig=abc", "https://s/b?token=x\"y"]"#,
                r#"["http://s/a?masked", "https://s/b?masked"]"#,
            ),
            (r#"{"u":"https://s/a\u003fsignature\u003dabc"}"#, r#"{"u":"https://s/a?masked"}"#),
        ] {
            assert_eq!(masked(json), expected);
        }
        for same in [
            r#"{"tracking_url":"https://rastreio.example/?objeto=AA123BR"}"#,
            r#"{"notes":"o comprador pergunta: signature=?"}"#,
            r#"{"logo":"https://s.example/a.webp"}"#,
            r#"{"cut":"https://s/a?signature"#,
            "",
            "12",
        ] {
            assert!(matches!(masked(same), Cow::Borrowed(text) if text == same), "{same}");
        }
    }

    proptest! {
        #[test]
        fn what_was_json_is_json_without_the_signature(before: String, after: String, path in "[a-z0-9/.]{0,20}") {
            let address = format!("https://s.example/{path}?e=1&signature=c4n4r1o");
            let value = serde_json::json!({"before": before.clone(), "url": address, "list": [after.clone()]});
            let text = value.to_string();
            let left: serde_json::Value = serde_json::from_str(&masked(&text)).unwrap();
            prop_assert_eq!(&left["url"], &format!("https://s.example/{path}?masked"));
            prop_assert!(!masked(&text).contains("c4n4r1o"));
            let once = masked(&text).into_owned();
            prop_assert_eq!(&*masked(&once), once.as_str());
        }
    }
}
