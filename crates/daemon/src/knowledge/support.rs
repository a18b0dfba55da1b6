//! The history of one thing for somebody who helps from outside: instants, kinds and codes, without a person's data.
//! Free texts of others (notes, descriptions, requests, answers) are left out.

use std::fmt::Write as _;

use espelho_model::{push::PushState, time::fixed_width};
use espelho_store::{Effect, Event, Happened};

use super::Knowledge;
use crate::terminal::shown;

/// Returns a block of text, the same in all languages.
pub(crate) fn block(knowledge: &Knowledge) -> String {
    let mut block = format!(
        "espelho {} · {} {} · store {}\n",
        env!("CARGO_PKG_VERSION"),
        shown(&knowledge.entity),
        shown(&knowledge.key),
        knowledge.store
    );
    // Writing to a String cannot fail.
    if let Some(row) = &knowledge.row {
        let gone = row.gone_at.map(|at| format!(" gone {}", fixed_width(at))).unwrap_or_default();
        let _ = writeln!(block, "mirrored {}{gone}", fixed_width(row.mirrored_at));
    }
    let mut events: Vec<&Event> = knowledge.events.iter().collect();
    events.sort_by_key(|event| event.at);
    for event in events {
        let _ = writeln!(block, "{} {}", fixed_width(event.at), shown(&told(&event.what)));
    }
    for row in &knowledge.waiting {
        let _ = writeln!(block, "waiting {} {}: {}", row.entity, shown(&row.key), shown(&row.code));
    }
    for row in &knowledge.errors {
        let _ = writeln!(block, "error {}", shown(&row.code));
    }
    block
}

fn told(what: &Happened) -> String {
    match what {
        Happened::Placed => "placed".to_owned(),
        Happened::Delivered { event, handled_at } => {
            let handled =
                handled_at.map_or_else(|| "open".to_owned(), |at| format!("handled {}", fixed_width(at)));
            format!("delivered {} {handled}", event.as_deref().unwrap_or("?"))
        }
        Happened::Moved { from, to, .. } => {
            format!("moved {} > {}", from.as_deref().unwrap_or("?"), to.as_deref().unwrap_or("?"))
        }
        Happened::Mirrored { entity, key, op } => format!("mirrored {entity} {key} {op}"),
        // The kind of a command is its first word; the rest is the ERP's own.
        Happened::Commanded { key, intent } => {
            format!("command {key} {}", intent.split_whitespace().next().unwrap_or("?"))
        }
        Happened::Answered { intent, key, state, code, .. } => {
            let state = state.map_or("?", PushState::as_str);
            format!("answer {} {key} {state} {code}", intent.as_str())
        }
        Happened::Was { intent, key, state, code } => {
            format!("was {} {key} {} {code}", intent.as_str(), state.as_str())
        }
        // The name of whoever acted is a person's.
        Happened::Decided { intent, key, act, .. } => format!("decided {} {key} {act}", intent.as_str()),
        Happened::Called(effect) => called(effect),
        Happened::Invoiced { kind, status, .. } => format!("invoice {kind} {status}"),
        Happened::Replaced { .. } => "invoice replaced".to_owned(),
        Happened::Shipped { id, status, .. } => format!("shipment {id} {status}"),
        Happened::Labelled { id, format, status } => format!("label {id} {format} {status}"),
        Happened::Filed { is_void, .. } => format!("label file{}", if *is_void { " void" } else { "" }),
        Happened::Taken { .. } => "taken by the ERP".to_owned(),
    }
}

/// Returns method and path of a call; its body may have a person's data.
fn called(effect: &Effect) -> String {
    let request: Vec<&str> = effect.request.split_whitespace().take(2).collect();
    let path = request.join(" ");
    let path = path.split('?').next().unwrap_or_default();
    let code = effect.code.as_deref().map(|code| format!(" ({code})")).unwrap_or_default();
    format!("call {} {path} {}{code}", effect.kind, effect.state.as_str())
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use espelho_model::StoreKey;
    use espelho_store::{EffectState, IntentKind};

    use super::*;

    const SECRET: &str = "Maria da Silva, Rua A 1, 123.456.789-00";

    #[test]
    fn a_block_for_support_has_instants_and_codes_and_nothing_of_a_person() {
        let secret = || SECRET.to_owned();
        let effect = Effect {
            id: 1,
            key: "order/77".into(),
            kind: "order.notes".into(),
            command_id: Some(8),
            fingerprint: None,
            request: format!("PUT /api/v1/orders/77/notes?x={SECRET} {{\"notes\":\"{SECRET}\"}}"),
            evidence: Some(secret()),
            state: EffectState::Confirmed,
            planned_at: DateTime::UNIX_EPOCH,
            sent_at: None,
            code: None,
            note: Some(secret()),
            answer: Some(secret()),
        };
        let happened = [
            Happened::Placed,
            Happened::Moved { from: None, to: Some("paid".into()), description: Some(secret()) },
            Happened::Commanded {
                key: "8".into(),
                intent: format!("order.notes 77 {{\"notes\":\"{SECRET}\"}}"),
            },
            Happened::Answered {
                intent: IntentKind::Command,
                key: "8".into(),
                state: Some(PushState::Failed),
                code: "http_422".into(),
                error: secret(),
                hint: secret(),
            },
            Happened::Called(Box::new(effect)),
            Happened::Decided {
                intent: IntentKind::Command,
                key: "8".into(),
                act: "ignore".into(),
                actor: secret(),
            },
            Happened::Taken { erp_id: Some(secret()), note: Some(secret()) },
            Happened::Filed { file: secret(), is_void: false },
            Happened::Shipped { id: "5".into(), status: "pending".into(), tracking_code: Some(secret()) },
        ];
        let event = |what| Event { at: DateTime::UNIX_EPOCH, what };
        let knowledge = Knowledge {
            store: StoreKey::new("loja").unwrap(),
            entity: "order".into(),
            key: "77".into(),
            row: None,
            missing: None,
            errors: Vec::new(),
            changes: Vec::new(),
            intent: None,
            events: happened.into_iter().map(event).collect(),
            test_heard_at: None,
            waiting: Vec::new(),
        };
        let block = block(&knowledge);
        for word in ["Maria", "Silva", "Rua", "123.456"] {
            assert!(!block.contains(word), "{word} in\n{block}");
        }
        for line in [
            "order 77",
            "moved ? > paid",
            "answer command 8 failed http_422",
            "decided command 8 ignore",
            "call order.notes PUT /api/v1/orders/77/notes confirmed",
        ] {
            assert!(block.contains(line), "no {line} in\n{block}");
        }
    }
}
