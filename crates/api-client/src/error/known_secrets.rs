//! The secrets of this process that have no form by which they could be recognised: passwords above all.
//!
//! A server may repeat what it was sent, so each text of a server is searched for them, in every form in which it may
//! come back.

use std::collections::HashSet;

use parking_lot::RwLock;
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use secrecy::{ExposeSecret as _, SecretString};

/// A shorter secret is not searched for: it would blacken half of each text and be guessed from the gaps.
const SHORTEST: usize = 4;
/// The text in place of a secret.
pub(super) const REDACTED: &str = "[REDACTED]";

static KNOWN: RwLock<Known> = RwLock::new(Known { forms: None, longest: 0 });

/// The forms of all known secrets, the longest first.
struct Known {
    forms: Option<HashSet<String>>,
    longest: usize,
}

/// Makes sure that no text of a server shows this secret, in its own form or encoded for JSON or an address.
pub fn conceal(secret: &SecretString) {
    let secret = secret.expose_secret();
    if secret.chars().count() < SHORTEST || KNOWN.read().has(secret) {
        return;
    }
    let mut known = KNOWN.write();
    for form in forms(secret) {
        known.longest = known.longest.max(form.chars().count());
        known.forms.get_or_insert_default().insert(form);
    }
}

/// Returns at most `length` characters of a text, without the known secrets. Only what may be shown is searched.
pub fn without_known(text: &str, length: usize) -> String {
    let known = KNOWN.read();
    let mut shown: String = text.chars().take(length + known.longest).collect();
    let forms = known.forms.iter().flatten().map(String::as_str);
    let mut found: Vec<&str> = forms.filter(|form| shown.contains(form)).collect();
    // One may be a part of another.
    found.sort_by_key(|form| std::cmp::Reverse(form.len()));
    for form in found {
        shown = shown.replace(form, REDACTED);
    }
    shown.chars().take(length).collect()
}

impl Known {
    fn has(&self, form: &str) -> bool {
        self.forms.as_ref().is_some_and(|forms| forms.contains(form))
    }
}

/// Returns the forms in which a secret may come back.
fn forms(secret: &str) -> Vec<String> {
    let json = serde_json::to_string(secret).unwrap_or_default();
    let json = json.trim_start_matches('"').strip_suffix('"').unwrap_or_default().to_owned();
    let ascii: String = json.chars().fold(String::new(), |mut text, character| {
        match character.is_ascii() {
            true => text.push(character),
            false => character.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                text.push_str(&format!("\\u{unit:04x}"));
            }),
        }
        text
    });
    let slashes = ascii.replace('/', "\\/");
    let address = percent_encode(secret.as_bytes(), NON_ALPHANUMERIC).to_string();
    let unreserved = ["%2D-", "%2E.", "%5F_", "%7E~"];
    let plain = unreserved.iter().fold(address.clone(), |text, pair| text.replace(&pair[..3], &pair[3..]));
    let form = plain.replace("%20", "+");
    let lower = lower_escapes(&plain);
    let mut forms = vec![secret.to_owned(), json, ascii, slashes, address, plain, form, lower];
    forms.retain(|form| !form.is_empty());
    forms
}

/// Writes `%2F` as `%2f`.
fn lower_escapes(text: &str) -> String {
    let mut parts = text.split('%');
    let mut lower = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (escape, rest) = part.split_at(part.len().min(2));
        lower.push('%');
        lower.push_str(&escape.to_ascii_lowercase());
        lower.push_str(rest);
    }
    lower
}

#[cfg(test)]
mod tests {
    use super::*;

    // withstands: F126
    #[test]
    fn a_known_secret_is_shown_in_no_form() {
        conceal(&"k/\u{e9}\"b c-7".into());
        for (text, expected) in [
            ("x k/\u{e9}\"b c-7 y", "x [REDACTED] y"),
            ("{\"password\":\"k/\u{e9}\\\"b c-7\"}", "{\"password\":\"[REDACTED]\"}"),
            ("k/\\u00e9\\\"b c-7", "[REDACTED]"),
            ("k\\/\\u00e9\\\"b c-7", "[REDACTED]"),
            ("p=k%2F%C3%A9%22b%20c-7&", "p=[REDACTED]&"),
            ("p=k%2F%C3%A9%22b%20c%2D7&", "p=[REDACTED]&"),
            ("p=k%2f%c3%a9%22b%20c-7&", "p=[REDACTED]&"),
            ("p=k%2F%C3%A9%22b+c-7&", "p=[REDACTED]&"),
            ("nothing of it", "nothing of it"),
        ] {
            assert_eq!(without_known(text, 500), expected);
        }
    }

    #[test]
    fn a_secret_at_the_end_of_what_is_shown_leaves_no_beginning_and_a_tiny_one_blackens_nothing() {
        conceal(&"canary-0123456789".into());
        let text = format!("{}canary-0123456789", "x".repeat(495));
        assert_eq!(without_known(&text, 500), format!("{}[REDA", "x".repeat(495)));
        conceal(&"abc".into());
        assert_eq!(without_known("abcd", 500), "abcd");
    }
}
