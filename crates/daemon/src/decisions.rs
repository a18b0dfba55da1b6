//! Decisions of people about rows that are not done: which rows a selection means, and what becomes of them. The
//! commands and the page make them in the same way.

use espelho_model::{StoreKey, push::PushState, text, text::Text};
use espelho_store::{EffectState, Error, IntentKind, Store};

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
    pub(crate) store: StoreKey,
    pub(crate) intent: IntentKind,
    pub(crate) key: String,
}

/// A selection of rows: all that fit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selection<'s> {
    pub(crate) stores: &'s [StoreKey],
    /// Only of this table.
    pub(crate) intent: Option<IntentKind>,
    /// Only with this cause.
    pub(crate) code: Option<&'s str>,
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
                decision.means(row.state) && selection.code.is_none_or(|code| code == row.code)
            });
            meant.map(|row| (row.store, row.intent, row.key)).collect()
        }
    };
    let mut rows = Vec::new();
    for (name, intent, key) in candidates {
        let is_meant = selection.intent.is_none_or(|only| only == intent);
        let known = selection.stores.iter().find(|known| is_meant && known.as_str() == name);
        let Some(known) = known else { continue };
        let row = DecidedRow { store: known.clone(), intent, key };
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

async fn ignored(store: &Store, code: Option<&str>) -> Result<Vec<(String, IntentKind, String)>, Error> {
    let mut rows = store.intents().ignored_rows().await?;
    let Some(code) = code else { return Ok(rows) };
    let mut kept = Vec::new();
    for row in rows.drain(..) {
        let Ok(key) = StoreKey::new(&row.0) else { continue };
        let answer = store.intents().answer_of(&key, row.1, &row.2).await?;
        if answer.and_then(|answer| answer.code).is_some_and(|known| known == code) {
            kept.push(row);
        }
    }
    Ok(kept)
}

/// Tells whether nothing proves the outcome of a command's calls: a retry would execute them twice.
async fn is_in_doubt(store: &Store, row: &DecidedRow) -> Result<bool, Error> {
    let (IntentKind::Command, Ok(id)) = (row.intent, row.key.parse()) else { return Ok(false) };
    let effects = store.journal().effects_by_number(&row.store, id).await?;
    Ok(effects.iter().any(|effect| effect.state == EffectState::Doubtful))
}

impl Decision {
    /// Tells whether a selection contains rows in this state.
    fn means(self, state: PushState) -> bool {
        match self {
            Self::Release => state == PushState::Held,
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
