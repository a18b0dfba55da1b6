//! The next step for rows in trouble: which acts mend them, and the command lines that do it. One rule for rows, alarms,
//! pages and commands. Pure.

pub use crate::program::quoted;
use crate::{program, push::PushState};

/// The cause of a price that no release lets pass.
pub const PRICE_ZERO: &str = "price_zero";
/// The cause of rows whose store is in no configuration.
pub const UNKNOWN_STORE: &str = "unknown_store";

/// The cause of rows whose SKU no product has.
const UNKNOWN_SKU: &str = "unknown_sku";
/// Causes that lie in the row itself, or that nothing changes any more: trying the same again ends the same. A row that is
/// corrected goes by itself.
const ENDS_THE_SAME: [&str; 9] = [
    "campaign_closed",
    "campaign_price_fell",
    "invalid_data",
    "notes_conflict",
    "sku_exists",
    "tier_invalid",
    "tier_refused",
    "too_late_to_cancel",
    "unknown_kind",
];

/// Causes that another row mends, or the ERP's own correction: the one that failed stays as it is until somebody gives it up.
const STAYS_FAILED: [&str; 6] = [
    "NOT_FOUND",
    "impossible_transition",
    "not_enrolled",
    "too_large",
    "too_little_stock",
    "unknown_location",
];
/// Causes for which a guard holds a row. A slip of the ERP is to be given up, too.
const HELD: [&str; 7] = [
    "labels_would_be_discarded",
    "many_listings",
    "many_to_zero",
    "policy_dry",
    "price_floor",
    "price_jump",
    "written_back",
];

/// Tells whether rows of an entity of `v_errors` are those of a table that the ERP writes.
pub fn is_intent(entity: &str) -> bool {
    matches!(entity, "stock" | "price" | "command")
}

/// An act of a person on rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowAct {
    /// Lets them pass the guards, once.
    Release,
    /// Tries them again.
    Retry,
    /// Ends them as they are.
    Ignore,
    /// Shows them.
    Look,
}

impl RowAct {
    /// The command that does it to rows together.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Retry => "retry",
            Self::Ignore => "ignore",
            Self::Look => "errors",
        }
    }
}

/// The rows that an act concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows<'r> {
    /// One row.
    One {
        /// Its table, as in `v_errors`: `stock`, `price` or `command`.
        entity: &'r str,
        /// Its key, as in `v_errors`.
        key: &'r str,
    },
    /// All rows with one cause: its code.
    OfCause(&'r str),
    /// All rows in one state with one cause: its code.
    OfGroup(PushState, &'r str),
}

/// Returns the acts that end the trouble of rows in a state, the remedy first; none for rows that go on by themselves.
/// Rows in doubt are decided one by one. `entity` is the table of one row, as in `v_errors`; none for all rows of a cause.
pub fn acts(state: PushState, code: &str, entity: Option<&str>) -> &'static [RowAct] {
    match (state, code) {
        (PushState::Held, PRICE_ZERO) | (PushState::Failed, UNKNOWN_STORE) => &[RowAct::Ignore],
        // A level or a price goes by itself once there is such a product; a command does not.
        (PushState::Failed, UNKNOWN_SKU) if entity != Some("command") => &[RowAct::Ignore],
        (PushState::Failed, code) if ENDS_THE_SAME.contains(&code) => &[RowAct::Ignore],
        (PushState::Held, _) => &[RowAct::Release, RowAct::Ignore],
        (PushState::Failed | PushState::Doubtful, _) => &[RowAct::Retry, RowAct::Ignore],
        (PushState::Ignored, _) => &[RowAct::Retry],
        _ => &[],
    }
}

/// Returns the state of rows of a cause that are to be given up where they are not corrected: nothing else ends them, or a
/// guard holds what may be a slip. `None` for other causes.
pub fn state_to_give_up(code: &str, entity: &str) -> Option<PushState> {
    let is_only = |state: &PushState| acts(*state, code, Some(entity)) == [RowAct::Ignore];
    match code {
        _ if HELD.contains(&code) => Some(PushState::Held),
        _ if STAYS_FAILED.contains(&code) => Some(PushState::Failed),
        _ => [PushState::Failed, PushState::Held].into_iter().find(is_only),
    }
}

/// Returns the command line of an act on these rows, of one store or of all. It concerns no other row.
pub fn command_line(act: RowAct, rows: Rows<'_>, store: Option<&str>) -> String {
    let verb = match (act, rows) {
        (RowAct::Look, Rows::One { .. }) => "explain",
        _ => act.verb(),
    };
    let rows = match rows {
        Rows::One { entity, key } => row_name(entity, key, store),
        // Other acts fit one state: only rows that failed and rows that are held can both be given up.
        Rows::OfGroup(state, code) if act == RowAct::Ignore => {
            format!("--all --state {state} --code {}{}", quoted(code), option_of(store))
        }
        Rows::OfCause(code) | Rows::OfGroup(_, code) => {
            format!("--all --code {}{}", quoted(code), option_of(store))
        }
    };
    format!("{} {verb} {rows}", program::call())
}

/// Returns a row's name as the command line takes it after a verb: `stock CAN-01/3 --store loja`.
pub fn row_name(entity: &str, key: &str, store: Option<&str>) -> String {
    let (name, of_store) = (format!("{} {}", quoted(entity), quoted(key)), option_of(store));
    match key.starts_with('-') {
        // A key that looks like an option stands where none is read any more.
        true => format!("{of_store} -- {name}").trim_start().to_owned(),
        false => format!("{name}{of_store}"),
    }
}

/// Returns the option that limits a command line to a store, with a space before it; nothing for all stores.
pub fn option_of(store: Option<&str>) -> String {
    store.map(|store| format!(" --store {}", quoted(store))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_mended_by_their_state_and_their_cause() {
        use RowAct::{Ignore, Release, Retry};
        for (state, code, entity, expected) in [
            (PushState::Held, "price_jump", None, &[Release, Ignore][..]),
            (PushState::Held, PRICE_ZERO, None, &[Ignore]),
            (PushState::Failed, "gave_up", None, &[Retry, Ignore]),
            (PushState::Failed, "unknown_sku", None, &[Ignore]),
            (PushState::Failed, "unknown_sku", Some("stock"), &[Ignore]),
            (PushState::Failed, "unknown_sku", Some("command"), &[Retry, Ignore]),
            (PushState::Failed, "invalid_data", Some("command"), &[Ignore]),
            (PushState::Failed, "sku_exists", Some("command"), &[Ignore]),
            (PushState::Failed, UNKNOWN_STORE, None, &[Ignore]),
            (PushState::Doubtful, "unprovable", None, &[Retry, Ignore]),
            (PushState::Ignored, "unknown_sku", None, &[Retry]),
            (PushState::New, "", None, &[]),
            (PushState::Waiting, "waiting_invoice", None, &[]),
            (PushState::Sending, "", None, &[]),
            (PushState::Done, "oversold", None, &[]),
            (PushState::Superseded, "", None, &[]),
        ] {
            assert_eq!(acts(state, code, entity), expected, "{state} {code} {entity:?}");
        }
    }

    #[test]
    fn rows_that_may_stay_for_good_are_given_up_in_their_state() {
        for (code, entity, expected) in [
            ("unknown_sku", "stock", Some(PushState::Failed)),
            ("unknown_sku", "command", None),
            ("invalid_data", "command", Some(PushState::Failed)),
            (PRICE_ZERO, "price", Some(PushState::Held)),
            ("gave_up", "command", None),
            ("unprovable", "command", None),
            ("too_little_stock", "command", Some(PushState::Failed)),
            ("NOT_FOUND", "command", Some(PushState::Failed)),
            ("impossible_transition", "command", Some(PushState::Failed)),
            ("unknown_location", "stock", Some(PushState::Failed)),
            ("price_jump", "price", Some(PushState::Held)),
            ("many_to_zero", "stock", Some(PushState::Held)),
            ("many_to_zero", "command", Some(PushState::Held)),
        ] {
            assert_eq!(state_to_give_up(code, entity), expected, "{code} {entity}");
        }
    }

    #[test]
    fn a_command_line_concerns_the_rows_that_are_shown_and_no_others() {
        let one = Rows::One { entity: "stock", key: "A B/1" };
        let dash = Rows::One { entity: "stock", key: "-10/1" };
        for (act, rows, store, expected) in [
            (
                RowAct::Release,
                Rows::OfCause("many_to_zero"),
                None,
                "espelho release --all --code many_to_zero",
            ),
            (
                RowAct::Release,
                Rows::OfCause("many_to_zero"),
                Some("loja-1"),
                "espelho release --all --code many_to_zero --store loja-1",
            ),
            (
                RowAct::Ignore,
                Rows::OfGroup(PushState::Held, "many_to_zero"),
                Some("loja-1"),
                "espelho ignore --all --state held --code many_to_zero --store loja-1",
            ),
            (
                RowAct::Retry,
                Rows::OfGroup(PushState::Failed, "unknown_sku"),
                None,
                "espelho retry --all --code unknown_sku",
            ),
            (RowAct::Retry, one, Some("loja-1"), "espelho retry stock 'A B/1' --store loja-1"),
            (RowAct::Ignore, one, None, "espelho ignore stock 'A B/1'"),
            (RowAct::Release, dash, Some("a"), "espelho release --store a -- stock -10/1"),
            (RowAct::Retry, dash, None, "espelho retry -- stock -10/1"),
            (RowAct::Look, Rows::OfCause("x y"), None, "espelho errors --all --code 'x y'"),
            (RowAct::Look, one, Some("loja-1"), "espelho explain stock 'A B/1' --store loja-1"),
        ] {
            assert_eq!(command_line(act, rows, store), expected);
        }
    }
}
