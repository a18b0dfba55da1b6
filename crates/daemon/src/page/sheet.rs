//! A table of a page. On a narrow screen each row becomes a card, in which every cell says the title of its column.

use espelho_model::text::{Locale, Text};

use crate::terminal::shown;

/// A table with its title.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    pub(super) title: String,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Cell>>,
    /// A sentence below.
    pub(super) foot: Option<String>,
}

/// A column's title, and whether it has numbers, which are right-aligned.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) title: String,
    pub(super) is_number: bool,
}

/// A cell.
#[derive(Debug, Default)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) href: Option<String>,
    /// A second line.
    pub(super) note: Option<String>,
    /// A class of the style: `failing`, `warning`, `ok`, `unknown`, or none.
    pub(super) tone: &'static str,
    /// True if it is a word of a program.
    pub(super) is_code: bool,
}

impl Sheet {
    pub(super) fn new(title: &Text, columns: &[(Text, bool)], locale: Locale) -> Self {
        let column = |(title, is_number): &(Text, bool)| Column {
            title: title.message(locale),
            is_number: *is_number,
        };
        Self {
            title: title.message(locale),
            columns: columns.iter().map(column).collect(),
            ..Self::default()
        }
    }

    /// Returns the cells of a row with their columns.
    pub(super) fn pairs<'s>(&'s self, row: &'s [Cell]) -> impl Iterator<Item = (&'s Column, &'s Cell)> {
        self.columns.iter().zip(row)
    }
}

impl Cell {
    /// Returns a cell of our own words.
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Returns a cell of somebody else's words: letters that move the cursor or turn the line are escaped.
    pub(super) fn foreign(text: &str) -> Self {
        Self::new(shown(text))
    }

    /// Returns a cell of a program's word.
    pub(super) fn code(text: &str) -> Self {
        Self { is_code: true, ..Self::foreign(text) }
    }

    pub(super) fn to(mut self, href: impl Into<String>) -> Self {
        self.href = Some(href.into());
        self
    }

    pub(super) fn with_note(mut self, note: Option<String>) -> Self {
        self.note = note;
        self
    }

    pub(super) fn toned(mut self, tone: &'static str) -> Self {
        self.tone = tone;
        self
    }

    /// Marks a number that should be zero.
    pub(super) fn bad_if(self, is_bad: bool) -> Self {
        if is_bad { self.toned("failing") } else { self }
    }
}
