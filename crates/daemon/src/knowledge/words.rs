//! The history of one thing: events in order of time, each in words. Pure.

use chrono::{DateTime, Utc};
use espelho_model::{
    StoreKey,
    money::parse_decimal,
    next_step::{RowAct, Rows, command_line},
    push::{CommandKind, PushState},
    text,
    text::{Arg, Locale, Text},
    time::fixed_width,
};
use espelho_store::{Effect, ErrorRow, Event, Happened, IntentKind};
use serde_json::{Value, json};

use crate::terminal::{shown, shown_start};

/// The number of letters shown of a request.
const LONGEST: usize = 120;

/// An event in words.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) at: DateTime<Utc>,
    /// The kind of event: a stable word.
    pub(crate) kind: &'static str,
    pub(crate) text: Text,
    /// The next step that a row names.
    pub(crate) hint: Option<String>,
    /// Of two events at the same instant the lower rank comes first: a cause before its effect.
    rank: u8,
}

/// Puts events in order of time, and finds their words. `test_heard_at` is when a test delivery last came.
pub(super) fn told(
    events: Vec<Event>,
    failures: &[ErrorRow],
    test_heard_at: Option<DateTime<Utc>>,
) -> Vec<Told> {
    let tests: Vec<(String, DateTime<Utc>)> = events.iter().filter_map(asked_test).collect();
    let of_event = |event: Event| match of_test(&event, &tests, test_heard_at) {
        Some(text) => Told { text, ..of_event(event) },
        None => of_event(event),
    };
    let mut told: Vec<Told> =
        events.into_iter().map(of_event).chain(failures.iter().map(of_failure)).collect();
    told.sort_by_key(|event| (event.at, event.rank));
    told.dedup();
    told
}

impl Told {
    /// Returns the line for people.
    pub(crate) fn line(&self, locale: Locale) -> String {
        let next = self.hint.as_ref().map(|hint| {
            let step = text!("intents-next-step", step = shown(hint)).message(locale);
            format!("\n      {step}")
        });
        format!("  {}  {}{}", locale.time(self.at), self.text.message(locale), next.unwrap_or_default())
    }

    pub(crate) fn as_json(&self, locale: Locale) -> Value {
        json!({
            "at": fixed_width(self.at), "kind": self.kind, "text": self.text.message(locale), "hint": self.hint,
        })
    }
}

/// Returns the number of a command that asks for a test delivery, and when it was given.
fn asked_test(event: &Event) -> Option<(String, DateTime<Utc>)> {
    match &event.what {
        Happened::Commanded { key, intent } if is_test(intent) => Some((key.clone(), event.at)),
        _ => None,
    }
}

/// Tells whether a command asks for a test delivery.
pub(super) fn is_test(command: &str) -> bool {
    command.split(' ').next() == Some(CommandKind::WebhookTest.as_str())
}

/// Says of a test delivery that was asked for whether one has come since: done is only the asking.
fn of_test(
    event: &Event,
    tests: &[(String, DateTime<Utc>)],
    heard_at: Option<DateTime<Utc>>,
) -> Option<Text> {
    let Happened::Answered { intent: IntentKind::Command, key, state, error, .. } = &event.what else {
        return None;
    };
    let (_, asked_at) = tests.iter().find(|(known, _)| known == key)?;
    if *state != Some(PushState::Done) || !error.is_empty() {
        return None;
    }
    let row =
        Text::new("explain-entity").with("entity", IntentKind::Command.as_str()).with("key", shown(key));
    Some(match heard_at.filter(|heard| heard >= asked_at) {
        Some(heard) => text!("explain-test-arrived", row = row, heard = heard),
        None => text!("explain-test-unproved", row = row),
    })
}

fn of_failure(row: &ErrorRow) -> Told {
    let text = text!("explain-failed", error = shown(&row.error), code = row.code.as_str());
    // A row whose time is unreadable comes first.
    let at = row.at.unwrap_or(DateTime::UNIX_EPOCH);
    Told { at, kind: "failed", text, hint: Some(row.hint.clone()), rank: 8 }
}

fn of_event(Event { at, what }: Event) -> Told {
    let plain = |kind, rank, text| Told { at, kind, text, hint: None, rank };
    match what {
        Happened::Placed => plain("placed", 0, text!("explain-placed")),
        Happened::Delivered { event, handled_at } => {
            let event = event.unwrap_or_else(|| "?".to_owned());
            let text = match handled_at {
                Some(handled) => text!("explain-delivered", event = event, handled = handled),
                None => text!("explain-delivered-open", event = event),
            };
            plain("delivered", 2, text)
        }
        Happened::Moved { from, to, description } => plain("moved", 1, moved(from, to, description)),
        Happened::Mirrored { entity, key, op } => {
            let what = Text::new("explain-entity").with("entity", entity).with("key", shown(&key));
            plain("mirrored", 3, text!("explain-mirrored", what = what, op = op))
        }
        Happened::Commanded { key, intent } => plain(
            "commanded",
            4,
            text!("explain-commanded", key = shown(&key), wish = shown_start(&intent, LONGEST)),
        ),
        Happened::Was { intent, key, state, code } => {
            let row = row_name(intent, &key);
            let state = text!("explain-state", state = state.as_str());
            plain("was", 7, text!("explain-was", row = row, state = state, code = shown(&code)))
        }
        Happened::Decided { intent, key, act, actor } => {
            let row = row_name(intent, &key);
            plain("decided", 8, text!("explain-decided", row = row, act = act, actor = shown(&actor)))
        }
        Happened::Answered { intent, key, state, code, error, hint } => {
            let row = row_name(intent, &key);
            let state_words = text!("explain-state", state = state.map_or("?", PushState::as_str));
            let text = match error.is_empty() {
                true => text!("explain-answered", row = row, state = state_words),
                false => {
                    let error = shown(&error);
                    text!("explain-answered-why", row = row, state = state_words, error = error, code = code)
                }
            };
            let hint = Some(hint).filter(|hint| !hint.is_empty());
            // Nothing is to be done about a row that somebody has given up; its hint brings it back.
            let (text, hint) = match hint {
                Some(back) if state == Some(PushState::Ignored) => {
                    (text!("explain-way-back", what = text, back = shown(&back)), None)
                }
                hint => (text, hint),
            };
            Told { at, kind: "answered", text, hint, rank: 9 }
        }
        Happened::Called(effect) => plain("called", 5, called(&effect)),
        Happened::Invoiced { number, kind, status } => {
            plain("invoiced", 3, text!("explain-invoiced", number = number, kind = kind, status = status))
        }
        Happened::Replaced { number } => plain("replaced", 4, text!("explain-replaced", number = number)),
        Happened::Shipped { id, status, tracking_code } => {
            let status = text!("explain-shipment-status", status = status);
            let text = match tracking_code {
                Some(code) => text!("explain-shipped-tracked", id = id, status = status, code = code),
                None => text!("explain-shipped", id = id, status = status),
            };
            plain("shipped", 5, text)
        }
        Happened::Labelled { id, format, status } => {
            let status = text!("explain-label-status", status = status);
            plain("labelled", 6, text!("explain-labelled", id = id, format = format, status = status))
        }
        Happened::Filed { file, is_void } => {
            let text = match is_void {
                false => text!("explain-filed", file = file),
                true => text!("explain-filed-void", file = file),
            };
            plain("filed", 7, text)
        }
        Happened::Taken { erp_id, note } => {
            let details: Vec<String> =
                [erp_id, note].into_iter().flatten().map(|word| shown(&word)).collect();
            let text = match details.is_empty() {
                true => text!("explain-taken"),
                false => text!("explain-taken-as", details = details.join(", ")),
            };
            plain("taken", 9, text)
        }
    }
}

/// Returns the name of a row of the ERP.
fn row_name(intent: IntentKind, key: &str) -> Text {
    Text::new("explain-entity").with("entity", intent.as_str()).with("key", key_in_words(intent, key))
}

/// Returns a row's key as people write its values: `CAN-01/1: 70.9 → 0.99` of a price has amounts, and that of a level
/// quantities.
fn key_in_words(intent: IntentKind, key: &str) -> Arg {
    let value = |value: &str| match (intent, parse_decimal(value)) {
        (IntentKind::Price, Some(price)) => Arg::Money(price),
        (IntentKind::Stock, Some(level)) => Arg::Quantity(level),
        _ => shown(value).into(),
    };
    let change = key.rsplit_once(" → ").filter(|_| intent != IntentKind::Command);
    let Some((name, after)) = change else { return shown(key).into() };
    match name.rsplit_once(": ") {
        Some((name, before)) => {
            text!("explain-row-change", key = shown(name), before = value(before), after = value(after))
                .into()
        }
        None => text!("explain-row-value", key = shown(name), after = value(after)).into(),
    }
}

/// Replaces the next step of a row that somebody has ignored: that of its cause may let pass what was refused.
pub(super) fn with_way_back(event: Event, store: &StoreKey) -> Event {
    let what = match event.what {
        Happened::Answered { intent, key, state, code, error, .. } if state == Some(PushState::Ignored) => {
            let hint = way_back(intent, &key, store);
            Happened::Answered { intent, key, state, code, error, hint }
        }
        what => what,
    };
    Event { at: event.at, what }
}

/// Returns the command line that brings an ignored row back. The key of a level or a price may be followed by its value.
pub(super) fn way_back(intent: IntentKind, key: &str, store: &StoreKey) -> String {
    let key = match intent {
        IntentKind::Command => key,
        IntentKind::Stock | IntentKind::Price => key.rsplit_once(" → ").map_or(key, |(key, _)| key),
    };
    command_line(RowAct::Retry, Rows::One { entity: intent.as_str(), key }, Some(store.as_str()))
}

fn moved(from: Option<String>, to: Option<String>, description: Option<String>) -> Text {
    let status = |word: String| text!("explain-status", status = word);
    match (from, to, description) {
        (Some(from), Some(to), _) => text!("explain-moved", from = status(from), to = status(to)),
        (None, Some(to), _) => text!("explain-moved-to", to = status(to)),
        (_, None, Some(description)) => text!("explain-noted", description = shown(&description)),
        (_, None, None) => text!("explain-noted", description = "?"),
    }
}

/// Describes a call, and what proves it.
fn called(effect: &Effect) -> Text {
    let request = shown_start(effect.request.lines().next().unwrap_or_default(), LONGEST);
    let state = text!("explain-effect", state = effect.state.as_str());
    let Some(note) = effect.note.as_deref().filter(|note| !note.is_empty()) else {
        return text!("explain-called", request = request, state = state);
    };
    text!("explain-called-proof", request = request, state = state, proof = proof(note))
}

/// Returns the words of a journal note: a message as data, or one that is named by the note itself.
fn proof(note: &str) -> Arg {
    let message = serde_json::from_str::<Text>(note).ok();
    let known = message.unwrap_or_else(|| Text::new(format!("explain-proof-{}", slug(note))));
    match known.is_known() {
        true => known.into(),
        false => shown(note).into(),
    }
}

/// Returns a journal note as part of a message's identifier.
fn slug(note: &str) -> String {
    let words: Vec<&str> =
        note.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.join("-").to_lowercase()
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Language;
    use espelho_store::EffectState;

    use super::*;

    fn at(minute: i64) -> DateTime<Utc> {
        DateTime::parse_from_rfc3339("2026-01-31T17:00:00Z").unwrap().to_utc()
            + chrono::TimeDelta::minutes(minute)
    }

    fn effect(state: EffectState, note: &str) -> Happened {
        Happened::Called(Box::new(Effect {
            id: 1,
            key: "order/77".into(),
            kind: "order.status".into(),
            command_id: Some(8),
            fingerprint: None,
            request: "POST /api/v1/sellers/orders/77/status {\"status\":\"preparing\"}".into(),
            evidence: None,
            state,
            planned_at: at(4),
            sent_at: Some(at(4)),
            code: None,
            note: Some(note.into()),
            answer: None,
        }))
    }

    fn answered(state: PushState, error: &str) -> Happened {
        let [error, code, hint] = [error, "x", ""].map(str::to_owned);
        let (intent, state) = (IntentKind::Command, Some(state));
        Happened::Answered { intent, key: "8".into(), state, code, error, hint }
    }

    #[test]
    fn the_story_is_told_in_order_of_time_a_line_an_event() {
        let text = |text: &str| text.to_owned();
        let intent = text("order.status 77 {\"status\":\"preparing\"}");
        let events = vec![
            Event { at: at(9), what: Happened::Taken { erp_id: Some(text("ERP-5")), note: None } },
            Event { at: at(4), what: answered(PushState::Done, "") },
            Event { at: at(4), what: effect(EffectState::Confirmed, "the order's timeline shows it") },
            Event { at: at(3), what: Happened::Commanded { key: text("8"), intent } },
            Event { at: at(0), what: Happened::Placed },
            Event {
                at: at(1),
                what: Happened::Delivered { event: Some(text("order.created")), handled_at: Some(at(2)) },
            },
            Event {
                at: at(2),
                what: Happened::Mirrored { entity: text("order"), key: text("77"), op: text("insert") },
            },
            Event {
                at: at(2),
                what: Happened::Moved {
                    from: Some(text("waiting_payment")),
                    to: Some(text("paid")),
                    description: None,
                },
            },
            Event {
                at: at(5),
                what: Happened::Invoiced { number: text("123"), kind: text("nfe"), status: text("issued") },
            },
            Event {
                at: at(6),
                what: Happened::Shipped {
                    id: text("55"),
                    status: text("ready_to_ship"),
                    tracking_code: None,
                },
            },
            Event {
                at: at(7),
                what: Happened::Labelled { id: text("9"), format: text("zebra"), status: text("completed") },
            },
            Event { at: at(8), what: Happened::Filed { file: text("labels/loja/9.zpl"), is_void: false } },
        ];
        let lines: Vec<String> = told(events, &[], None)
            .iter()
            .map(|event| event.line(Locale::default()).trim().to_owned())
            .collect();
        assert_eq!(
            lines,
            [
                "31/01/2026 14:00  pedido feito",
                "31/01/2026 14:01  webhook order.created, tratado em 31/01/2026 14:02",
                "31/01/2026 14:02  marketplace: aguardando pagamento → pago",
                "31/01/2026 14:02  espelho: pedido 77 entrou",
                "31/01/2026 14:03  ERP: comando 8: order.status 77 {\"status\":\"preparing\"}",
                "31/01/2026 14:04  chamada POST /api/v1/sellers/orders/77/status {\"status\":\"preparing\"}: confirmada \
                 (o histórico do pedido mostra)",
                "31/01/2026 14:04  comando 8: feito",
                "31/01/2026 14:05  NF-e 123: emitida",
                "31/01/2026 14:06  remessa 55: pronta para despacho",
                "31/01/2026 14:07  etiqueta 9 (zebra): pronta",
                "31/01/2026 14:08  arquivo da etiqueta: labels/loja/9.zpl",
                "31/01/2026 14:09  o ERP pegou o pedido: ERP-5",
            ]
        );
    }

    #[test]
    fn every_state_of_a_call_and_of_a_row_has_words_in_both_languages() {
        let calls = [
            (EffectState::Planned, ""),
            (EffectState::Sent, ""),
            (EffectState::Refuted, "it never left"),
            (EffectState::Doubtful, "nobody knows"),
        ];
        let events = calls
            .into_iter()
            .map(|(state, note)| effect(state, note))
            .chain(PushState::ALL.iter().map(|state| answered(*state, "causa")))
            .map(|what| Event { at: at(0), what });
        for event in told(events.collect(), &[], None) {
            for locale in Language::ALL.map(Locale::of) {
                let line = event.line(locale);
                assert!(!line.contains("explain-") && !line.contains("{$"), "{line}");
            }
        }
    }

    #[test]
    fn a_row_that_was_held_and_decided_about_tells_who_said_what() {
        let key = || "CAN-01/1: 70.9 → 0.99".to_owned();
        let decided = |act: &str, actor: &str| Happened::Decided {
            intent: IntentKind::Price,
            key: key(),
            act: act.into(),
            actor: actor.into(),
        };
        let was = Happened::Was {
            intent: IntentKind::Price,
            key: key(),
            state: PushState::Held,
            code: "price_jump".into(),
        };
        let events = vec![
            Event { at: at(5), what: decided("release", "cli:root") },
            Event { at: at(3), what: decided("bring_back", "ana") },
            Event { at: at(1), what: decided("ignore", "cli:root") },
            Event { at: at(0), what: was },
        ];
        let lines: Vec<String> = told(events, &[], None)
            .iter()
            .map(|event| event.line(Locale::default()).trim().to_owned())
            .collect();
        assert_eq!(
            lines,
            [
                "31/01/2026 14:00  preço CAN-01/1: R$ 70,90 → R$ 0,99: retido (price_jump), até alguém decidir",
                "31/01/2026 14:01  preço CAN-01/1: R$ 70,90 → R$ 0,99: ignorado por cli:root",
                "31/01/2026 14:03  preço CAN-01/1: R$ 70,90 → R$ 0,99: trazido de volta por ana",
                "31/01/2026 14:05  preço CAN-01/1: R$ 70,90 → R$ 0,99: liberado por cli:root",
            ]
        );
    }

    #[test]
    fn a_row_has_its_values_in_the_notation_of_the_language() {
        use IntentKind::{Command, Price, Stock};
        for (intent, key, expected) in [
            (Price, "CAN-01/1 → 119.9", "preço CAN-01/1 → R$ 119,90"),
            (Price, "CAN-01/1 → 119.9 -5 %", "preço CAN-01/1 → 119.9 -5 %"),
            (Price, "A: B/1 → 5", "preço A: B/1 → R$ 5,00"),
            (Stock, "CAN-01/3: 1200.0 → 3.5", "estoque CAN-01/3: 1.200 → 3,5"),
            (Command, "8", "comando 8"),
        ] {
            assert_eq!(row_name(intent, key).message(Locale::default()), expected);
        }
    }

    #[test]
    fn an_ignored_row_names_its_way_back_and_no_release() {
        use PushState::{Held, Ignored};
        let store = StoreKey::new("loja-1").unwrap();
        let answered = |intent, key: &str, state| {
            let [key, code, error, hint] =
                [key, "price_jump", "causa", "espelho release price CAN-01/1"].map(str::to_owned);
            let state = Some(state);
            Event { at: at(0), what: Happened::Answered { intent, key, state, code, error, hint } }
        };
        for (intent, key, state, expected) in [
            (IntentKind::Price, "CAN-01/1 → 0.99", Ignored, "espelho retry price CAN-01/1 --store loja-1"),
            (IntentKind::Command, "8", Ignored, "espelho retry command 8 --store loja-1"),
            (IntentKind::Price, "CAN-01/1 → 0.99", Held, "espelho release price CAN-01/1"),
        ] {
            let event = with_way_back(answered(intent, key, state), &store);
            let told = told(vec![event], &[], None).remove(0);
            assert_eq!(told.hint.is_none(), state == Ignored, "{told:?}");
            for locale in Language::ALL.map(Locale::of) {
                let line = told.line(locale);
                assert!(line.contains(expected), "{line}");
                assert_eq!(line.contains("release"), state == Held, "{line}");
            }
        }
    }

    #[test]
    fn why_a_call_is_in_doubt_is_said_in_the_readers_language() {
        let note = serde_json::to_string(&text!("push-doubtful")).unwrap();
        let event = Event { at: at(0), what: effect(EffectState::Doubtful, &note) };
        let line = told(vec![event], &[], None).remove(0).line(Locale::default());
        assert!(line.contains("Foi enviado, e nada prova") && !line.contains("push-doubtful"), "{line}");
    }

    #[test]
    fn a_test_delivery_that_was_asked_for_is_not_one_that_came() {
        for (intent, state, heard, expected) in [
            ("webhook.test", PushState::Done, None, "explain-test-unproved"),
            ("webhook.test", PushState::Done, Some(at(2)), "explain-test-unproved"),
            ("webhook.test  {}", PushState::Done, Some(at(3)), "explain-test-arrived"),
            ("webhook.test", PushState::Sending, Some(at(5)), "explain-answered"),
            ("order.notes 77", PushState::Done, Some(at(5)), "explain-answered"),
        ] {
            let given = Happened::Commanded { key: "8".into(), intent: intent.into() };
            let events =
                vec![Event { at: at(3), what: given }, Event { at: at(4), what: answered(state, "") }];
            let told = told(events, &[], heard);
            assert_eq!(told[1].text.id(), expected, "{intent} {state} {heard:?}");
            assert!(told[1].text.is_known());
        }
    }

    #[test]
    fn a_note_of_the_journal_names_a_message() {
        assert_eq!(slug("the order's timeline shows it"), "the-order-s-timeline-shows-it");
        assert_eq!(
            slug("the product shows it, less what was sold"),
            "the-product-shows-it-less-what-was-sold"
        );
    }
}
