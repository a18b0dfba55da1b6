//! Makes a server's words safe to display.

use super::known_secrets::{REDACTED, without_known};

/// The most characters of a server's words that are shown.
const LONGEST_WORDS: usize = 500;

/// Makes a server's words safe for a terminal, a log and a table: no secrets, no control characters (which could
/// forge lines of a report), and a limited length.
pub(crate) fn presentable(words: &str) -> String {
    let mut text = String::new();
    for character in without_known(words, LONGEST_WORDS).chars() {
        if character.is_control() {
            text.extend(character.escape_default());
        } else {
            text.push(character);
        }
    }
    // The last two belong to signed addresses: `X-Amz-Signature=`, `X-Goog-Signature=`, `&Signature=`.
    for prefix in ["sk_live_", "whsec_", "Bearer ", "Signature=", "Security-Token="] {
        text = without_secret(&text, prefix);
    }
    text
}

fn without_secret(text: &str, prefix: &str) -> String {
    let mut parts = text.split(prefix);
    let mut clean = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let secret =
            part.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.~+/=%".contains(c))).unwrap_or(part.len());
        clean.push_str(prefix);
        clean.push_str(REDACTED);
        clean.push_str(&part[secret..]);
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::presentable;

    // withstands: F126, F128
    #[test]
    fn a_servers_words_carry_neither_secrets_nor_control_characters() {
        let check = |words: &str, expected: &str| assert_eq!(presentable(words), expected);
        check("token sk_live_abc-123.x, dito", "token sk_live_[REDACTED], dito");
        check("\"whsec_9\"", "\"whsec_[REDACTED]\"");
        check(
            "https://s.test/a.pdf?X-Amz-Signature=4f%2B9&X-Amz-Security-Token=a/b=&x=1 expirou",
            "https://s.test/a.pdf?X-Amz-Signature=[REDACTED]&X-Amz-Security-Token=[REDACTED]&x=1 expirou",
        );
        check("linha\n\u{1b}[31mFALSO", "linha\\n\\u{1b}[31mFALSO");
        assert_eq!(presentable(&"á".repeat(10_000)).chars().count(), 500);
    }
}
