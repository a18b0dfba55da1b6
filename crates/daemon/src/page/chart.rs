//! Pictures as SVG in the page. Each says in words what it shows, and none by colour alone: a bad minute is taller.

use std::fmt::Write as _;

use askama::Template;
use espelho_model::{text, text::Text};
use espelho_store::Figures;

use super::words::Words;
use crate::alarms::{Beat, Hour, MINUTES};

/// The width of a minute; the last unit of each is a gap.
const MINUTE: usize = 4;
/// The height of the deadlines' columns.
const HEIGHT: u64 = 90;

/// The last hour of a store: strokes of one state each, and their words.
pub(super) struct Heartbeat {
    pub(super) said: String,
    pub(super) strokes: Vec<(&'static str, String)>,
}

/// Draws the last hour of a store.
pub(super) fn heartbeat(store: &str, hour: &Hour, words: Words) -> Heartbeat {
    let count = |beat| hour.iter().filter(|seen| **seen == beat).count();
    let [proved, warned, failed] = [Beat::Proved, Beat::Warned, Beat::Failed].map(|beat| count(Some(beat)));
    let unproved = MINUTES - proved - warned - failed;
    let said = text!(
        "page-beats",
        store = store,
        proved = proved,
        warned = warned,
        unproved = unproved,
        broken = failed
    );
    let states = [None, Some(Beat::Proved), Some(Beat::Unproved), Some(Beat::Warned), Some(Beat::Failed)];
    let strokes = states.into_iter().filter_map(|state| Some((class(state), strokes(hour, state)?)));
    Heartbeat { said: words.say(&said), strokes: strokes.collect() }
}

fn class(state: Option<Beat>) -> &'static str {
    match state {
        None => "b-none",
        Some(Beat::Proved) => "b-ok",
        Some(Beat::Unproved) => "b-unknown",
        Some(Beat::Warned) => "b-warning",
        Some(Beat::Failed) => "b-failing",
    }
}

/// Returns one line for each run of minutes in a state, as the data of a path.
fn strokes(hour: &Hour, state: Option<Beat>) -> Option<String> {
    let (mut path, mut at) = (String::new(), 0);
    while at < MINUTES {
        let run = hour[at..].iter().take_while(|beat| **beat == state).count();
        if run > 0 {
            // Writing to a String cannot fail.
            let _ = write!(path, "M{} 10h{}", at * MINUTE, run * MINUTE - 1);
        }
        at += run.max(1);
    }
    (!path.is_empty()).then_some(path)
}

/// A row of a bar chart.
pub(super) struct Bar {
    pub(super) label: String,
    pub(super) href: Option<String>,
    pub(super) number: String,
    /// Of a hundred.
    pub(super) width: u64,
}

/// Draws numbers as bars, the greatest as wide as there is room.
pub(super) fn bars(rows: impl Iterator<Item = (String, Option<String>, u64)>, words: Words) -> Vec<Bar> {
    let rows: Vec<_> = rows.collect();
    let most = rows.iter().map(|(_, _, number)| *number).max().unwrap_or_default().max(1);
    let bar = |(label, href, number): (String, Option<String>, u64)| Bar {
        label,
        href,
        number: words.number(number),
        width: (number * 100).div_ceil(most),
    };
    rows.into_iter().map(bar).collect()
}

/// The deadlines of the next day, dispatch beside invoice, in nine columns.
#[derive(Template)]
#[template(path = "deadlines.html", whitespace = "minimize")]
pub(super) struct Deadlines {
    pub(super) title: String,
    said: String,
    legend: [String; 2],
    columns: Vec<Hours>,
}

/// The deadlines of a few hours.
struct Hours {
    x: usize,
    label: String,
    is_past: bool,
    /// Dispatch and invoice: height and number.
    piles: [(u64, u64); 2],
}

impl Hours {
    fn middle(&self) -> usize {
        self.x + 18
    }

    fn is_dispatch(&self, pile: &usize) -> bool {
        *pile == 0
    }

    fn left(&self, pile: &usize) -> usize {
        self.x + pile * 18
    }

    fn height(&self, pile: &usize) -> u64 {
        self.piles[*pile].0
    }

    fn number(&self, pile: &usize) -> u64 {
        self.piles[*pile].1
    }

    fn has(&self, pile: &usize) -> bool {
        self.piles[*pile].1 > 0
    }

    fn top(&self, pile: &usize) -> u64 {
        HEIGHT + 14 - self.piles[*pile].0
    }
}

/// Draws the deadlines; `labels` are the ends of the columns after the first, which is what is past.
pub(super) fn deadlines(figures: &Figures, labels: &[String], words: Words) -> Deadlines {
    let kinds = ["ship_by", "invoice_by"];
    let of =
        |kind: &str| figures.by_hour.iter().find(|(known, _)| known == kind).map(|(_, counts)| &counts[..]);
    let counts = kinds.map(|kind| of(kind).unwrap_or_default());
    let at = |kind: usize, column: usize| counts[kind].get(column).copied().unwrap_or_default();
    let most = counts.iter().flat_map(|counts| counts.iter()).max().copied().unwrap_or_default().max(1);
    let height = |number: u64| (number * HEIGHT).div_ceil(most);
    let past = words.say(&text!("page-past"));
    let labels = std::iter::once(past).chain(labels.iter().cloned());
    let column = |(column, label): (usize, String)| Hours {
        x: column * 40 + 2,
        label,
        is_past: column == 0,
        piles: [0, 1].map(|kind| (height(at(kind, column)), at(kind, column))),
    };
    let columns: Vec<Hours> = labels.take(9).enumerate().map(column).collect();
    let sum = |kind: usize, from: usize| counts[kind].iter().skip(from).sum::<u64>();
    let said = text!(
        "page-deadlines-said",
        ship = sum(0, 1),
        ship_past = at(0, 0),
        invoice = sum(1, 1),
        invoice_past = at(1, 0)
    );
    Deadlines {
        title: words.say(&text!("page-deadlines")),
        said: words.say(&said),
        legend: [Text::new("word-deadline-ship-by"), Text::new("word-deadline-invoice-by")]
            .map(|text| words.say(&text)),
        columns,
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Locale;

    use super::*;

    #[test]
    fn an_hour_is_a_few_strokes_and_says_its_minutes() {
        let mut hour: Hour = [Some(Beat::Proved); MINUTES];
        hour[0] = None;
        hour[30] = Some(Beat::Failed);
        let drawn = heartbeat("loja", &hour, Words(Locale::default()));
        let strokes: Vec<(&str, &str)> =
            drawn.strokes.iter().map(|(class, path)| (*class, path.as_str())).collect();
        assert_eq!(
            strokes,
            [("b-none", "M0 10h3"), ("b-ok", "M4 10h115M124 10h115"), ("b-failing", "M120 10h3")]
        );
        assert!(drawn.said.contains("58") && drawn.said.contains("loja"), "{}", drawn.said);
    }

    #[test]
    fn the_greatest_bar_is_full_and_the_least_is_still_seen() {
        let rows = [("a", 10_000), ("b", 1), ("c", 0)].map(|(label, n)| (label.to_owned(), None, n));
        let widths: Vec<u64> =
            bars(rows.into_iter(), Words(Locale::default())).iter().map(|bar| bar.width).collect();
        assert_eq!(widths, [100, 1, 0]);
        assert!(bars(std::iter::empty(), Words(Locale::default())).is_empty());
    }

    #[test]
    fn deadlines_without_any_are_drawn_as_none() {
        let labels: Vec<String> = (0..8).map(|n| format!("{n}h")).collect();
        let drawn = deadlines(&Figures::default(), &labels, Words(Locale::default()));
        assert_eq!(drawn.columns.len(), 9);
        assert!(drawn.columns.iter().all(|column| column.piles == [(0, 0); 2]));
    }
}
