//! The words for a request whose outcome nothing proves: one place to look, then the two choices. A movement of stock is
//! counted, because the quantity that the portal shows has the movements of others in it. Everything else shows in the
//! portal.

use espelho_api_client::Error as ApiError;
use espelho_model::{push::CommandKind, text, text::Text};
use espelho_store::Effect;

use super::{Message, doubtful};

/// Returns the words for a request of this kind, a command's or another effect's.
pub fn in_doubt(kind: &str, code: &str) -> Message {
    match is_movement(kind) {
        true => Message::new(code, text!("push-movement-doubtful")),
        false => doubtful(code),
    }
}

/// Returns the words for a request whose outcome the marketplace no longer tells.
pub fn unanswered(kind: &str, error: &ApiError) -> Message {
    let text = match is_movement(kind) {
        true => text!("push-movement-no-answer", why = error.text()),
        false => text!("push-no-answer", why = error.text()),
    };
    Message::new(&error.code(), text)
}

/// Returns the words for a request that may have left before the work on it was set aside for a cause.
pub fn set_aside(kind: &str, code: &str, cause: Text) -> Message {
    let text = match is_movement(kind) {
        true => text!("push-movement-set-aside", cause = cause),
        false => text!("push-set-aside", cause = cause),
    };
    Message::new(code, text)
}

/// Returns the words for an effect in doubt: those that its settlement left in the journal, else those of its kind.
pub fn of_effect(effect: &Effect) -> Message {
    let code = effect.code.as_deref().unwrap_or("unprovable");
    let kept = effect.note.as_deref().and_then(|note| serde_json::from_str::<Text>(note).ok());
    match kept.filter(Text::has_next) {
        Some(text) => Message::new(code, text),
        None => in_doubt(&effect.kind, code),
    }
}

fn is_movement(kind: &str) -> bool {
    CommandKind::parse(kind) == Some(CommandKind::StockAdjust)
}

#[cfg(test)]
mod tests {
    use espelho_model::text::{Language, Locale};
    use espelho_store::EffectState;

    use super::{super::tests::effect, *};

    #[test]
    fn each_kind_is_looked_at_in_one_place_whatever_left_it_in_doubt() {
        let cause = || text!("run-poisoned-process");
        let mut kinds: Vec<&str> = CommandKind::ALL.iter().map(|kind| kind.as_str()).collect();
        kinds.extend(["stock.set", "price.step", "kind of a later version"]);
        for kind in kinds {
            let lost = effect(kind, None, EffectState::Doubtful);
            let set_aside_words = set_aside(kind, "poisoned", cause());
            for message in [in_doubt(kind, "unprovable"), set_aside_words, of_effect(&lost)] {
                let text = message.text.with("row", "command 7");
                for (language, counts, looks) in [
                    (Language::Portuguese, "Conte o estoque.", "Confira no portal."),
                    (Language::English, "Count the stock.", "Look in the portal."),
                ] {
                    let next = text.next(Locale::of(language)).unwrap();
                    assert_eq!(next.contains(counts), kind == "stock.adjust", "{kind}: {next}");
                    assert_eq!(next.contains(looks), kind != "stock.adjust", "{kind}: {next}");
                    let choices = ["espelho retry command 7;", "espelho ignore command 7 ("];
                    assert!(choices.iter().all(|choice| next.contains(choice)), "{kind}: {next}");
                }
            }
        }
    }

    #[test]
    fn an_effect_in_doubt_says_again_what_its_settlement_said() {
        let said = text!("push-movement-others", before = 10, after = 12, delta = 2);
        let noted = |note: &str| {
            let mut lost = effect("stock.adjust", None, EffectState::Doubtful);
            (lost.code, lost.note) = (Some("unprovable".to_owned()), Some(note.to_owned()));
            of_effect(&lost)
        };
        let kept = noted(&serde_json::to_string(&said).unwrap());
        assert_eq!(kept, Message::new("unprovable", said));
        for note in ["a backup was put back while this was under way", r#"{"id":"of-a-later-version"}"#] {
            assert_eq!(noted(note), in_doubt("stock.adjust", "unprovable"), "{note}");
        }
    }
}
