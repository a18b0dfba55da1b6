//! Decisions of people about rows that are not done: which rows a selection means, and what becomes of them. The
//! commands and the page make them in the same way.

use espelho_model::{
    StoreKey,
    money::parse_decimal,
    next_step::{PRICE_ZERO, RowAct, UNKNOWN_STORE},
    push::PushState,
    text,
    text::{Locale, Text},
};
use espelho_store::{ActedRow, EffectState, Error, IntentKind, IntentRow, SeenRow, Store};

use crate::terminal::shown;

/// The rows that a question names, and those of a record with what changes.
pub(crate) const NAMED: usize = 50;
/// The rows that a record names.
const RECORDED: usize = 1_000;

/// A decision about rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Lets a row pass the guards, once.
    Release,
    /// Tries a row again.
    Retry,
    /// Tries an ignored row again.
    BringBack,
    /// Does not try a row any more.
    Ignore,
}

/// A selection of rows: all that fit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selection<'s> {
    pub(crate) stores: &'s [StoreKey],
    /// The rows of stores that no configuration has, too.
    pub(crate) with_unknown_stores: bool,
    /// Only of this table.
    pub(crate) intent: Option<IntentKind>,
    /// Only with this cause.
    pub(crate) code: Option<&'s str>,
    /// Only in this state: rows that failed and rows that are held may have the same cause.
    pub(crate) state: Option<PushState>,
}

/// Returns what a row changes: from the mirror's value to the wanted one, or a command's words.
pub(crate) fn change(row: &IntentRow) -> String {
    let wanted = row.intent.as_deref().map(shown);
    match (row.mirrored.as_deref(), wanted) {
        (Some(mirrored), Some(wanted)) => format!(": {} → {wanted}", shown(mirrored)),
        (None, Some(wanted)) => format!(": {wanted}"),
        (_, None) => String::new(),
    }
}

/// Returns a change of a row of a table as people write its values: a price as an amount, a level as a quantity.
pub(crate) fn change_in_words(table: &str, change: &str, locale: Locale) -> String {
    let Some(values) = change.strip_prefix(": ") else { return change.to_owned() };
    let said = |value: &str| match (table, parse_decimal(value)) {
        ("price", Some(price)) => locale.money(price),
        ("stock", Some(level)) => locale.quantity(level),
        _ => value.to_owned(),
    };
    let values: Vec<String> = values.split(" → ").map(said).collect();
    format!(": {}", values.join(" → "))
}

/// Returns the rows that a decision concerns. Rows in doubt are decided one by one: a person who says "all" has checked
/// none of them.
pub(crate) async fn selected(
    store: &Store,
    decision: Decision,
    selection: Selection<'_>,
) -> Result<Vec<SeenRow>, Error> {
    let candidates = match decision {
        Decision::BringBack => store.releases().ignored_rows().await?,
        _ => store.releases().troubled_rows().await?,
    };
    let mut rows = Vec::new();
    for row in candidates {
        if !decision.means(row.state, &row.code) || !selection.means(&row) {
            continue;
        }
        if decision != Decision::BringBack || !is_in_doubt(store, &row).await? {
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Makes a decision about rows; returns how many of them were still as they had been seen, and the outcome on record.
pub(crate) async fn decide(
    store: &Store,
    decision: Decision,
    rows: &[SeenRow],
) -> Result<(u64, String), Error> {
    let (state, lifts_guards) = decision.makes();
    let mut count = 0;
    for row in rows {
        count += u64::from(store.releases().decide(row, state, lifts_guards).await?);
    }
    Ok((count, state.as_str().to_owned()))
}

/// Returns the rows of a decision as its record names them, one a line. What a command asks for may be about a person, and
/// belongs into no record.
pub(crate) async fn recorded(store: &Store, rows: &[SeenRow]) -> Result<String, Error> {
    let mut lines = Vec::new();
    for (number, row) in rows.iter().take(RECORDED).enumerate() {
        let change = match row.intent {
            IntentKind::Stock | IntentKind::Price if number < NAMED => {
                let found = store.releases().intent_row(&row.store, row.intent, &row.key).await?;
                found.as_ref().map(change).unwrap_or_default()
            }
            _ => String::new(),
        };
        lines.push(ActedRow::new(row, &change).line());
    }
    if let Some(more @ 1..) = rows.len().checked_sub(RECORDED) {
        lines.push(format!("… {more}"));
    }
    Ok(lines.join("\n"))
}

/// Tells whether a row waits for a release in vain: a price of zero passes no guard.
pub(crate) fn is_unreleasable(row: &SeenRow) -> bool {
    row.state == PushState::Held && row.code == PRICE_ZERO
}

/// Tells whether nothing proves the outcome of a command's calls: a retry would execute them twice.
async fn is_in_doubt(store: &Store, row: &SeenRow) -> Result<bool, Error> {
    let (IntentKind::Command, Ok(id), Ok(of)) = (row.intent, row.key.parse(), StoreKey::new(&row.store))
    else {
        return Ok(false);
    };
    let effects = store.journal().effects_by_number(&of, id).await?;
    Ok(effects.iter().any(|effect| effect.state == EffectState::Doubtful))
}

impl Selection<'_> {
    fn means(&self, row: &SeenRow) -> bool {
        let is_of_store = self.stores.iter().any(|known| known.as_str() == row.store)
            || row.code == UNKNOWN_STORE && self.with_unknown_stores;
        is_of_store
            && self.intent.is_none_or(|only| only == row.intent)
            && self.code.is_none_or(|code| code == row.code)
            && self.state.is_none_or(|state| state == row.state)
    }
}

impl Decision {
    /// Tells whether a selection contains rows in this state with this cause.
    fn means(self, state: PushState, code: &str) -> bool {
        match self {
            Self::Release => state == PushState::Held && code != PRICE_ZERO,
            Self::Retry => state == PushState::Failed,
            Self::Ignore => matches!(state, PushState::Held | PushState::Failed),
            Self::BringBack => state == PushState::Ignored,
        }
    }

    /// Tells whether a selection needs confirmation: for rows that pass the guards, and for rows that are given up.
    pub(crate) fn asks(self) -> bool {
        matches!(self, Self::Release | Self::Ignore)
    }

    /// Returns the new state of the rows, and whether the guards let them pass.
    pub(crate) fn makes(self) -> (PushState, bool) {
        match self {
            Self::Release => (PushState::New, true),
            Self::Retry | Self::BringBack => (PushState::New, false),
            Self::Ignore => (PushState::Ignored, false),
        }
    }

    /// Returns the act of the command line that it is.
    pub(crate) fn row_act(self) -> RowAct {
        match self {
            Self::Release => RowAct::Release,
            Self::Retry | Self::BringBack => RowAct::Retry,
            Self::Ignore => RowAct::Ignore,
        }
    }

    /// Tells whether the decision is one about this row as it is.
    pub(crate) fn fits(self, row: &SeenRow) -> bool {
        let (becomes, lifts_guards) = self.makes();
        row.is_decidable(becomes, lifts_guards)
    }

    /// Returns the question that comes before the decision.
    pub(crate) fn question(self, rows: usize) -> Text {
        match self {
            Self::Release => text!("intents-decide-release", rows = rows),
            Self::Retry | Self::BringBack => text!("intents-decide-retry", rows = rows),
            Self::Ignore => text!("intents-decide-ignore", rows = rows),
        }
    }

    /// Returns what was done. `back` is the command line that brings ignored rows back; that of a group (`is_group`) brings
    /// back those that were ignored before, too.
    pub(crate) fn done(self, rows: usize, back: &str, is_group: bool) -> Text {
        match self {
            Self::Release => text!("intents-released", rows = rows),
            Self::Retry | Self::BringBack => text!("intents-retried", rows = rows),
            Self::Ignore if is_group => text!("intents-ignored-group", rows = rows, back = back),
            Self::Ignore => text!("intents-ignored-rows", rows = rows, back = back),
        }
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Language;

    use super::*;

    #[test]
    fn a_change_is_told_in_the_notation_of_the_language() {
        use Language::{English, Portuguese};
        for (table, change, language, expected) in [
            ("price", ": 68.00 → 0.05", Portuguese, ": R$ 68,00 → R$ 0,05"),
            ("price", ": 1068.0 → 0.055", English, ": R$ 1,068.00 → R$ 0.055"),
            ("price", ": 68", Portuguese, ": R$ 68,00"),
            ("stock", ": 1200.0 → 3.5", Portuguese, ": 1.200 → 3,5"),
            ("command", ": price.delete_tier 7", Portuguese, ": price.delete_tier 7"),
            ("price", ": 10 %", Portuguese, ": 10 %"),
            ("price", "", Portuguese, ""),
        ] {
            assert_eq!(change_in_words(table, change, Locale::of(language)), expected);
        }
    }

    #[test]
    fn a_decision_fits_the_states_in_which_it_is_one() {
        use Decision::{BringBack, Ignore, Release, Retry};
        use IntentKind::{Command, Price};
        use PushState::{Done, Doubtful, Failed, Held, Ignored, New, Sending, Superseded, Waiting};
        let row = |intent, state| SeenRow {
            store: "loja-1".into(),
            intent,
            key: "A/1".into(),
            state,
            code: "x".into(),
            updated_at: None,
        };
        for (intent, state, expected) in [
            (Price, Held, &[Release, Retry, BringBack, Ignore][..]),
            (Price, Failed, &[Release, Retry, BringBack, Ignore]),
            (Price, Waiting, &[Release, Retry, BringBack, Ignore]),
            // A person refused it: it comes back to the guards, and never past them.
            (Price, Ignored, &[Retry, BringBack, Ignore]),
            (Command, Doubtful, &[Release, Retry, BringBack, Ignore]),
            (Price, Doubtful, &[]),
            (Command, New, &[Ignore]),
            (Command, Sending, &[]),
            (Price, Done, &[]),
            (Price, Superseded, &[]),
        ] {
            let all = [Release, Retry, BringBack, Ignore];
            let fitting: Vec<Decision> =
                all.into_iter().filter(|decision| decision.fits(&row(intent, state))).collect();
            assert_eq!(fitting, expected, "{intent:?} {state}");
        }
    }

    #[test]
    fn rows_of_one_cause_that_failed_and_those_that_are_held_are_two_selections() {
        use PushState::{Failed, Held};
        let stores = [StoreKey::new("loja-1").unwrap()];
        let row = |state| SeenRow {
            store: "loja-1".into(),
            intent: IntentKind::Stock,
            key: "A/1".into(),
            state,
            code: "x".into(),
            updated_at: None,
        };
        for (state, expected) in
            [(Some(Held), [true, false]), (Some(Failed), [false, true]), (None, [true, true])]
        {
            let (code, stores) = (Some("x"), &stores[..]);
            let selection = Selection { stores, with_unknown_stores: false, intent: None, code, state };
            assert_eq!([Held, Failed].map(|of| selection.means(&row(of))), expected, "{state:?}");
        }
    }
}
