//! The plan in words: what is sent, what is not and why, and which rows wait for a person. Pure.

use std::iter::once;

use espelho_model::{
    next_step::{RowAct, Rows, command_line, quoted},
    program,
    push::PushState,
    text,
    text::{Arg, Locale, Text, words},
};
use espelho_store::SeenRow;
use espelho_sync_engine::push::PlannedCall;

use crate::{decisions::change_in_words, terminal::shown};

/// The states of rows that are not sent until a person decides.
const TROUBLED: [PushState; 3] = [PushState::Failed, PushState::Doubtful, PushState::Held];

/// The counts of a store's rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts {
    /// Rows that wait.
    pub(super) rows: usize,
    /// Rows that wait and are not sent.
    pub(super) kept: usize,
    /// Rows that a person decides about.
    pub(super) troubled: usize,
}

/// Says of a store how many rows wait, how many of them are not sent, and what sending the others takes.
pub(super) fn headline(store: &str, counts: Counts, requests: u32, seconds: Arg) -> Text {
    let Counts { rows, kept, troubled } = counts;
    match (rows, troubled) {
        (0, 0) => text!("intents-plan-nothing", store = store),
        (0, _) => text!("intents-plan-not-now", store = store),
        _ => text!(
            "intents-plan-store",
            store = store,
            rows = rows,
            kept = kept,
            requests = requests,
            seconds = seconds
        ),
    }
}

/// Says which rows of a store are not sent until a person decides, with the command that shows them.
pub(super) fn trouble(store: &str, rows: &[SeenRow]) -> Vec<Text> {
    let line = |state: PushState| {
        let of_state: Vec<&SeenRow> = rows.iter().filter(|row| row.state == state).collect();
        let (count, step) = (of_state.len(), shown(&look(store, &of_state)?));
        Some(match state {
            PushState::Held => text!("intents-plan-held", rows = count, step = step),
            PushState::Doubtful => text!("intents-plan-doubtful", rows = count, step = step),
            _ => text!("intents-plan-failed", rows = count, step = step),
        })
    };
    TROUBLED.into_iter().filter_map(line).collect()
}

/// Returns the command that shows rows with their next steps; `None` without rows.
fn look(store: &str, rows: &[&SeenRow]) -> Option<String> {
    let first = rows.first()?;
    let is_one_cause = rows.iter().all(|row| row.code == first.code);
    Some(match rows.len() {
        1 => {
            let one = Rows::One { entity: first.intent.as_str(), key: &first.key };
            command_line(RowAct::Look, one, Some(store))
        }
        _ if is_one_cause => command_line(RowAct::Look, Rows::OfCause(&first.code), Some(store)),
        _ => format!("{} errors --store {}", program::call(), quoted(store)),
    })
}

/// Returns the lines of a row: its change, its calls, and why nothing is sent.
pub(super) fn row(call: &PlannedCall, locale: Locale) -> Vec<String> {
    let entity = words::entity(call.entity).message(locale);
    let change = format!(
        "  {entity} {}  {}",
        shown(&call.key),
        diff_in_words(call.entity, &shown(&call.diff), locale)
    );
    let calls = call.calls.iter().map(|line| format!("    {line}"));
    let note = call.note.iter().map(|note| format!("    ({})", shown(&note.message(locale))));
    once(change).chain(calls).chain(note).collect()
}

/// Returns the change of a row as people write its values; that of a price names its tiers: `1+: 5 → 0, 10+: 4 → 3`.
fn diff_in_words(entity: &str, diff: &str, locale: Locale) -> String {
    let words = |change: &str| change_in_words(entity, &format!(": {change}"), locale);
    match entity {
        "price" => {
            let tier = |tier: &str| match tier.split_once(": ") {
                Some((from, change)) => format!("{from}{}", words(change)),
                None => tier.to_owned(),
            };
            diff.split(", ").map(tier).collect::<Vec<_>>().join(", ")
        }
        "stock" => words(diff).trim_start_matches(": ").to_owned(),
        _ => diff.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Language;
    use espelho_store::IntentKind;

    use super::*;

    #[test]
    fn the_first_line_says_what_waits_what_is_sent_and_what_is_not() {
        for (rows, kept, troubled, requests, expected) in [
            (0, 0, 0, 0, "loja: nada a enviar; nenhum registro do ERP espera"),
            (0, 0, 2, 0, "loja: nada será enviado agora"),
            (1, 0, 2, 3, "loja: 1 registro do ERP espera; 3 chamadas ao marketplace, cerca de 90 s"),
            (
                1,
                1,
                0,
                0,
                "loja: 1 registro do ERP espera; nenhuma chamada ao marketplace será feita; 1 registro não será enviado, \
                 pelo motivo entre parênteses",
            ),
            (
                5,
                2,
                0,
                1,
                "loja: 5 registros do ERP esperam; 1 chamada ao marketplace, cerca de 90 s; 2 registros não serão \
                 enviados, pelo motivo entre parênteses",
            ),
        ] {
            let text = headline("loja", Counts { rows, kept, troubled }, requests, Arg::Seconds(90));
            assert_eq!(text.message(Locale::default()), expected);
        }
    }

    #[test]
    fn rows_that_wait_for_a_person_are_counted_with_the_command_that_shows_them() {
        let seen = |state: PushState, key: &str, code: &str| SeenRow {
            store: "loja".into(),
            intent: IntentKind::Stock,
            key: key.into(),
            state,
            code: code.into(),
            updated_at: None,
        };
        let (failed, held, doubtful) = (PushState::Failed, PushState::Held, PushState::Doubtful);
        for (rows, expected) in [
            (
                vec![seen(held, "A/1", "price_jump"), seen(failed, "B/1", "gave_up")],
                &[
                    "1 registro com falha: espelho explain stock B/1 --store loja",
                    "1 registro retido por uma proteção: espelho explain stock A/1 --store loja",
                ][..],
            ),
            (vec![], &[]),
            (
                vec![seen(held, "A/1", "many_to_zero"), seen(held, "B/1", "many_to_zero")],
                &[
                    "2 registros retidos por uma proteção: espelho errors --all --code many_to_zero --store loja",
                ],
            ),
            (
                vec![seen(failed, "A/1", "gave_up"), seen(failed, "B/1", "unknown_sku")],
                &["2 registros com falha: espelho errors --store loja"],
            ),
            (
                vec![seen(doubtful, "A/1", "unprovable")],
                &["1 registro em dúvida: espelho explain stock A/1 --store loja"],
            ),
            (vec![seen(PushState::Waiting, "A/1", "waiting_invoice")], &[]),
        ] {
            let told: Vec<String> =
                trouble("loja", &rows).iter().map(|text| text.message(Locale::default())).collect();
            assert_eq!(told, expected);
        }
    }

    #[test]
    fn a_row_is_told_in_the_readers_language_with_its_reason() {
        let call = PlannedCall {
            entity: "price",
            key: "CAN-01".into(),
            diff: "1+: 5 → 0".into(),
            calls: Vec::new(),
            requests: 0,
            note: Some(text!("push-plan-held", why = text!("push-price-zero"))),
        };
        for (language, expected) in [
            (
                Language::Portuguese,
                ["  preço CAN-01  1+: R$ 5,00 → R$ 0,00", "    (Retido: O preço seria zero.)"],
            ),
            (
                Language::English,
                ["  price CAN-01  1+: R$ 5.00 → R$ 0.00", "    (Held: The price would be zero.)"],
            ),
        ] {
            assert_eq!(row(&call, Locale::of(language)), expected);
        }
    }
}
