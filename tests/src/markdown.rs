//! Items of Markdown lists and paragraphs, wrapped at the width that all documents keep.

use textwrap::{Options, WordSplitter, fill};

/// Columns of a line.
const WIDTH: usize = 120;

/// Returns a list item at a depth from 0, wrapped, with its line break.
pub fn item(depth: usize, text: &str) -> String {
    let (first, next) = (format!("{}- ", "  ".repeat(depth)), "  ".repeat(depth + 1));
    let options = Options::new(WIDTH)
        .initial_indent(&first)
        .subsequent_indent(&next)
        .break_words(false)
        .word_splitter(WordSplitter::NoHyphenation);
    fill(text, options) + "\n"
}

/// Returns a paragraph, wrapped, without its last line break.
pub fn paragraph(text: &str) -> String {
    fill(text, Options::new(WIDTH).break_words(false).word_splitter(WordSplitter::NoHyphenation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_wrapped_and_indented_below_its_first_word() {
        let text = ["word"; 40].join(" ");
        let item = item(1, &text);
        assert!(item.starts_with("  - word"), "{item}");
        assert!(item.lines().skip(1).all(|line| line.starts_with("    word")), "{item}");
        assert!(item.lines().all(|line| line.len() <= WIDTH), "{item}");
    }

    #[test]
    fn a_name_longer_than_a_line_stays_whole() {
        let name = "x".repeat(200);
        assert!(item(0, &format!("before {name} after")).contains(&name));
    }
}
