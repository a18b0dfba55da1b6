//! Tables and sentences on a terminal of 100 columns.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Row, Table, presets::NOTHING};
use espelho_model::text::{Locale, Text};
use textwrap::WordSplitter;

/// The maximum width.
const WIDTH: usize = 100;
/// Blanks before and after each column.
const GAP: (u16, u16) = (0, 2);

/// A column: its title, and whether it has numbers, which are right-aligned.
pub(super) type Column = (Text, bool);

/// Returns the lines of a table, the titles first, and one line for each row. Each column is as wide as what is in it.
pub(super) fn lines(columns: &[Column], rows: Vec<Vec<String>>, locale: Locale) -> Vec<String> {
    table(columns, rows, locale, ContentArrangement::Disabled)
}

/// Returns the lines of a table of unbounded content: a cell that does not fit is cut.
pub(super) fn cut_lines(columns: &[Column], rows: Vec<Vec<String>>, locale: Locale) -> Vec<String> {
    table(columns, rows, locale, ContentArrangement::Dynamic)
}

fn table(
    columns: &[Column],
    rows: Vec<Vec<String>>,
    locale: Locale,
    arrangement: ContentArrangement,
) -> Vec<String> {
    let mut table = Table::new();
    // The padding on the right is cut off.
    table.load_style(NOTHING).set_content_arrangement(arrangement).set_width(WIDTH as u16 + GAP.1);
    table.set_truncation_indicator("…");
    table.set_header(columns.iter().map(|(title, _)| Cell::new(title.message(locale))));
    for cells in rows {
        let mut row = Row::from(cells);
        row.max_height(1);
        table.add_row(row);
    }
    for (column, (_, is_number)) in table.column_iter_mut().zip(columns) {
        column.set_padding(GAP);
        column.set_cell_alignment(if *is_number { CellAlignment::Right } else { CellAlignment::Left });
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}

/// Breaks prose between words; further lines are indented. Next steps are not for it: a command stays on one line.
pub(super) fn wrapped(text: &str, indent: usize) -> String {
    // An option that prose names is not broken at its hyphens.
    let options = textwrap::Options::new(WIDTH - indent - 2).word_splitter(WordSplitter::NoHyphenation);
    let words: Vec<&str> = text.split_whitespace().collect();
    textwrap::wrap(&words.join(" "), options).join(&format!("\n{}", " ".repeat(indent)))
}
