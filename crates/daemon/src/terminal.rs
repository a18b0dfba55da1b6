//! Texts of other people in a terminal.

/// Letters of a text that are shown; nobody reads more of them in a terminal.
const LONGEST: usize = 2_000;

/// Escapes a row's text for a terminal: characters that would move the cursor, or reverse the line. Says how long a text
/// is that is cut.
pub(crate) fn shown(text: &str) -> String {
    let is_harmful = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut shown = String::new();
    for letter in text.chars().take(LONGEST) {
        match is_harmful(letter) {
            true => shown.extend(letter.escape_default()),
            false => shown.push(letter),
        }
    }
    if text.chars().nth(LONGEST).is_some() {
        shown.push_str(&format!("… ({} bytes)", text.len()));
    }
    shown
}

/// Escapes the first letters of a row's text, and says with an ellipsis that there are more.
pub(crate) fn shown_start(text: &str, letters: usize) -> String {
    let mut start: String = text.chars().take(letters).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    shown(&start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_nobody_reads_to_its_end_is_cut_and_says_how_long_it_is() {
        assert_eq!(shown("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(shown(&"x".repeat(LONGEST)).len(), LONGEST);
        let cut = shown(&"é".repeat(10 << 20));
        assert!(cut.len() < 3 * LONGEST && cut.ends_with("é… (20971520 bytes)"), "{}", cut.len());
        assert_eq!(["aé\n", "aé\nb"].map(|text| shown_start(text, 3)), ["aé\\n", "aé\\n…"]);
    }
}
