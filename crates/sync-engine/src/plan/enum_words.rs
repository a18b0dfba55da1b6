//! Reads the words of the marketplace's enumerations.

use espelho_store::EnumValue;

/// Parses the lists of an answer: keys with arrays of words, or of objects with `value` and perhaps `label` and
/// `color`.
pub fn words(told: &serde_json::Value) -> Vec<EnumValue> {
    let text = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => Some(storable(text)),
        serde_json::Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let lists = told.as_object().into_iter().flatten();
    let word = |name: &str, entry: &serde_json::Value| {
        let field = |field: &str| entry.get(field).and_then(text);
        let value = text(entry).or_else(|| field("value"))?;
        Some(EnumValue { name: storable(name), value, label: field("label"), color: field("color") })
    };
    lists
        .flat_map(|(name, list)| {
            list.as_array().into_iter().flatten().filter_map(move |entry| word(name, entry))
        })
        .collect()
}

/// Writes NUL as the escape that the mirror has everywhere: PostgreSQL's text cannot hold it.
fn storable(text: &str) -> String {
    text.replace('\0', "\\u0000")
}

#[cfg(test)]
mod tests {
    use super::words;

    // withstands: F078
    #[test]
    fn a_word_with_a_nul_can_be_stored() {
        let found = words(&serde_json::json!({ "a\0": [{ "value": "b\0c", "label": "\0", "color": "d" }] }));
        let [word] = &found[..] else { panic!("{found:?}") };
        assert_eq!(
            (&*word.name, &*word.value, word.label.as_deref()),
            ("a\\u0000", "b\\u0000c", Some("\\u0000"))
        );
    }

    #[test]
    fn words_are_read_with_label_and_colour_and_what_is_no_list_is_passed_over() {
        let told = r##"{"statuses":[{"value":"paid","label":"Pago","color":"#0f0"},{"value":"shipped"},{"label":"?"}],
            "channels":["marketplace",7],"version":3}"##;
        let found = words(&serde_json::from_str(told).unwrap());
        let found: Vec<String> = found
            .iter()
            .map(|v| format!("{} {} {}", v.name, v.value, v.label.as_deref().unwrap_or("-")))
            .collect();
        assert_eq!(
            found,
            ["channels marketplace -", "channels 7 -", "statuses paid Pago", "statuses shipped -"]
        );
    }
}
