//! The words for what a command asks for.

use espelho_model::text::words as catalogue;
use serde_json::Value;

use super::words::Words;
use crate::terminal::shown_start;

/// The letters that are shown of a command.
const LONGEST: usize = 200;

/// Returns what a command asks for: its kind, its key, and each of its values. `intent` is the kind with the key, as in
/// [`espelho_store::IntentRow`]; data that are no object are shown as the ERP wrote them.
pub(super) fn command_words(intent: &str, data: &str, words: Words) -> String {
    let (kind, key) = intent.split_once(' ').unwrap_or((intent, ""));
    let name = words.say(&catalogue::command(kind));
    let subject = format!("{name} {key}");
    let values = match serde_json::from_str(data) {
        Ok(Value::Object(fields)) => {
            let (status, others): (Vec<_>, Vec<_>) =
                fields.iter().partition(|(field, _)| field.as_str() == "status");
            let said = |(field, value): (&String, &Value)| value_words(field, value, words);
            status.into_iter().chain(others).map(said).collect::<Vec<_>>().join(", ")
        }
        Ok(Value::Null) => String::new(),
        _ => data.trim().to_owned(),
    };
    match values.is_empty() {
        true => shown_start(subject.trim_end(), LONGEST),
        false => shown_start(&format!("{}: {values}", subject.trim_end()), LONGEST),
    }
}

/// Returns a field of a command's data with its value.
fn value_words(field: &str, value: &Value, words: Words) -> String {
    let name = words.say(&catalogue::field(field));
    let value = match value {
        Value::String(status) if field == "status" => words.order_status(status),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    format!("{name} {value}")
}

#[cfg(test)]
mod tests {
    use espelho_model::text::{Language, Locale};

    use super::*;

    #[test]
    fn a_command_is_told_by_its_kind_its_key_and_its_values() {
        for (intent, data, portuguese, english) in [
            (
                "order.status 000100",
                r#"{"data":{"tracking_code":"BR1"},"status":"shipped"}"#,
                r#"mudar a situação do pedido 000100: situação Enviado, dados {"tracking_code":"BR1"}"#,
                r#"move the order 000100: status Shipped, data {"tracking_code":"BR1"}"#,
            ),
            (
                "stock.adjust CAN 01",
                r#"{"delta":-3,"location_id":"7"}"#,
                "ajustar o estoque de CAN 01: diferença -3, local 7",
                "adjust the stock of CAN 01: difference -3, location 7",
            ),
            ("webhook.test ", "{}", "pedir uma entrega de teste", "ask for a test delivery"),
            ("webhook.test ", "null", "pedir uma entrega de teste", "ask for a test delivery"),
            ("later.kind x", r#"{"later":true}"#, "later.kind x: later true", "later.kind x: later true"),
            (
                "order.notes 000100",
                "{\"notes\":\"a\u{1b}b",
                "trocar as observações do pedido 000100: {\"notes\":\"a\\u{1b}b",
                "replace the notes of the order 000100: {\"notes\":\"a\\u{1b}b",
            ),
            ("order.status 1", "", "mudar a situação do pedido 1", "move the order 1"),
        ] {
            let said = Language::ALL.map(|language| command_words(intent, data, Words(Locale::of(language))));
            assert_eq!(said, [portuguese, english]);
        }
    }

    #[test]
    fn a_long_command_is_cut() {
        let said = command_words("order.notes 1", &"x".repeat(2_000), Words(Locale::default()));
        assert_eq!(said.chars().count(), LONGEST + 1);
        assert!(said.ends_with('…'), "{said}");
    }
}
