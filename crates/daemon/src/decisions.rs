//! Decisions of people about rows that are not done: which rows a selection means, and what becomes of them. The
//! commands and the page make them in the same way.

use espelho_model::{
    StoreKey,
    next_step::{PRICE_ZERO, UNKNOWN_STORE},
    push::PushState,
    text,
    text::Text,
};
use espelho_store::{EffectState, Error, IntentKind, IntentRow, Store};

use crate::terminal::shown;

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

/// A row that a decision concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DecidedRow {
    /// The store's name on the row; the configuration may not have it.
    pub(crate) store: String,
    pub(crate) intent: IntentKind,
    pub(crate) key: String,
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

/// Returns the rows that a decision concerns. Rows in doubt are decided one by one: a person who says "all" has checked
/// none of them.
pub(crate) async fn selected(
    store: &Store,
    decision: Decision,
    selection: Selection<'_>,
) -> Result<Vec<DecidedRow>, Error> {
    let candidates = match decision {
        Decision::BringBack => ignored(store, selection.code).await?,
        _ => {
            let troubled = store.releases().troubled_rows().await?;
            let meant = troubled.into_iter().filter(|row| {
                decision.means(row.state, &row.code) && selection.code.is_none_or(|code| code == row.code)
            });
            meant.map(|row| (row.store, row.intent, row.key, row.code == UNKNOWN_STORE)).collect()
        }
    };
    let mut rows = Vec::new();
    for (store_name, intent, key, is_unknown) in candidates {
        let is_of_store = selection.stores.iter().any(|known| known.as_str() == store_name)
            || is_unknown && selection.with_unknown_stores;
        if !is_of_store || selection.intent.is_some_and(|only| only != intent) {
            continue;
        }
        let row = DecidedRow { store: store_name, intent, key };
        if decision != Decision::BringBack || !is_in_doubt(store, &row).await? {
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Makes a decision about rows; returns how many of them it found undone.
pub(crate) async fn decide(store: &Store, decision: Decision, rows: &[DecidedRow]) -> Result<usize, Error> {
    let (state, lifts_guards) = decision.makes();
    let mut count = 0;
    for DecidedRow { store: of, intent, key } in rows {
        count += usize::from(store.releases().decide(of, *intent, key, state, lifts_guards).await?);
    }
    Ok(count)
}

/// A row that may be meant: its store's name, its table, its key, and whether no configuration has the store.
type Candidate = (String, IntentKind, String, bool);

async fn ignored(store: &Store, code: Option<&str>) -> Result<Vec<Candidate>, Error> {
    let mut kept = Vec::new();
    for (of, intent, key) in store.intents().ignored_rows().await? {
        let answer = store.intents().answer_of(&of, intent, &key).await?;
        let known = answer.and_then(|answer| answer.code);
        if code.is_none_or(|code| known.as_deref() == Some(code)) {
            kept.push((of, intent, key, known.as_deref() == Some(UNKNOWN_STORE)));
        }
    }
    Ok(kept)
}

/// Tells whether a row waits for a release in vain: a price of zero passes no guard.
pub(crate) async fn is_unreleasable(store: &Store, row: &DecidedRow) -> Result<bool, Error> {
    let answer = store.intents().answer_of(&row.store, row.intent, &row.key).await?;
    Ok(answer.is_some_and(|answer| {
        answer.state == Some(PushState::Held) && answer.code.as_deref() == Some(PRICE_ZERO)
    }))
}

/// Tells whether nothing proves the outcome of a command's calls: a retry would execute them twice.
async fn is_in_doubt(store: &Store, row: &DecidedRow) -> Result<bool, Error> {
    let (IntentKind::Command, Ok(id), Ok(of)) = (row.intent, row.key.parse(), StoreKey::new(&row.store))
    else {
        return Ok(false);
    };
    let effects = store.journal().effects_by_number(&of, id).await?;
    Ok(effects.iter().any(|effect| effect.state == EffectState::Doubtful))
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

    /// Returns the question that comes before the decision.
    pub(crate) fn question(self, rows: usize) -> Text {
        match self {
            Self::Release => text!("wishes-decide-release", rows = rows),
            Self::Retry | Self::BringBack => text!("wishes-decide-retry", rows = rows),
            Self::Ignore => text!("wishes-decide-ignore", rows = rows),
        }
    }

    /// Returns what was done.
    pub(crate) fn done(self, rows: usize) -> Text {
        match self {
            Self::Release => text!("wishes-released", rows = rows),
            Self::Retry | Self::BringBack => text!("wishes-retried", rows = rows),
            Self::Ignore => text!("wishes-ignored-rows", rows = rows),
        }
    }
}
