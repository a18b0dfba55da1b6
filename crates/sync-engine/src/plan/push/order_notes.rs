//! An order's notes (`order.notes`): the whole text is replaced, so what a person wrote meanwhile is kept, and the
//! conflict shown.

use espelho_model::text;
use espelho_store::{Effect, EffectState};
use serde::{Deserialize, Serialize};

use super::{
    Message, Settlement, Verdict,
    evidence::{Evidence, present, read},
};

/// What the journal keeps with notes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotesEvidence {
    /// The order's number.
    pub order: String,
    /// The notes that were written; null removes them.
    #[serde(deserialize_with = "present")]
    pub notes: Option<String>,
}

impl Evidence for NotesEvidence {
    const KIND: &'static str = "order.notes";
    const IS_REPEATABLE: bool = true;
    const EARLIER_ROW: &'static str = r#"{"order":"MP-1","notes":null}"#;
}

/// The next step for notes.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// The row is answered.
    Answer(Verdict),
    /// The notes are written.
    Write,
}

/// What both sides last agreed on, as far as somebody knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreed {
    /// What the command says itself (`data.base`).
    pub by_command: Option<Option<String>>,
    /// What we last wrote.
    pub written: Option<Option<String>>,
    /// What the mirror had before the order was read.
    pub mirrored: Option<Option<String>>,
}

/// The next step: `there` are the order's notes, `may_overwrite` a person's word that the conflict is known.
pub fn decide(desired: Option<&str>, there: Option<&str>, agreed: &Agreed, may_overwrite: bool) -> Action {
    if same(there, desired) {
        return Action::Answer(Verdict::Done(None));
    }
    let base = agreed.by_command.as_ref().or(agreed.written.as_ref()).or(agreed.mirrored.as_ref());
    // Where nobody knows a base, notes that are there are a person's.
    let is_conflict = !same(there, base.and_then(Option::as_deref));
    match is_conflict && !may_overwrite {
        true => Action::Answer(Verdict::Failed(Message::new("notes_conflict", text!("push-notes-conflict")))),
        false => Action::Write,
    }
}

/// What we last wrote to an order, by its effects, the newest first.
pub fn last_written(effects: &[Effect]) -> Option<Option<String>> {
    let is_ours =
        |effect: &&Effect| effect.kind == NotesEvidence::KIND && effect.state == EffectState::Confirmed;
    let evidence = read::<NotesEvidence>(effects.iter().find(is_ours)?).ok()?;
    Some(evidence.notes)
}

/// What became of notes whose answer was lost.
pub fn settle(evidence: &NotesEvidence, there: Option<&str>) -> Settlement {
    let is_there = same(there, evidence.notes.as_deref());
    Settlement::of(is_there, "the order has the notes", "the order has other notes")
}

/// True for two texts that say the same; none and empty do.
fn same(one: Option<&str>, other: Option<&str>) -> bool {
    one.unwrap_or_default() == other.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{super::tests::effect, *};

    fn agreed(
        by_command: Option<Option<&str>>,
        written: Option<Option<&str>>,
        mirrored: Option<Option<&str>>,
    ) -> Agreed {
        let own = |text: Option<Option<&str>>| text.map(|text| text.map(str::to_owned));
        Agreed { by_command: own(by_command), written: own(written), mirrored: own(mirrored) }
    }

    fn word(action: &Action) -> &str {
        match action {
            Action::Answer(Verdict::Done(None)) => "done",
            Action::Answer(Verdict::Failed(message)) => &message.code,
            Action::Answer(other) => panic!("{other:?}"),
            Action::Write => "write",
        }
    }

    #[test]
    fn notes_are_written_unless_a_person_wrote_others_meanwhile() {
        let nobody = agreed(None, None, None);
        let mirrored = agreed(None, None, Some(Some("old")));
        let rows = [
            // desired, there, agreed, may overwrite
            (Some("new"), Some("new"), &mirrored, false, "done"),
            (None, Some(""), &mirrored, false, "done"),
            (Some("new"), Some("old"), &mirrored, false, "write"),
            (Some("new"), Some("a person's"), &mirrored, false, "notes_conflict"),
            (Some("new"), Some("a person's"), &mirrored, true, "write"),
            (None, Some("a person's"), &mirrored, false, "notes_conflict"),
            (Some("new"), Some("a person's"), &nobody, false, "notes_conflict"),
            (Some("new"), Some("a person's"), &nobody, true, "write"),
            (Some("new"), Some(""), &nobody, false, "write"),
            (Some("new"), None, &agreed(None, None, Some(None)), false, "write"),
            (Some("new"), Some("x"), &agreed(None, None, Some(None)), false, "notes_conflict"),
            // What the command says comes before what we wrote, and that before what the mirror had.
            (
                Some("new"),
                Some("a"),
                &agreed(Some(Some("a")), Some(Some("b")), Some(Some("c"))),
                false,
                "write",
            ),
            (
                Some("new"),
                Some("b"),
                &agreed(Some(Some("a")), Some(Some("b")), Some(Some("c"))),
                false,
                "notes_conflict",
            ),
            (Some("new"), Some("b"), &agreed(None, Some(Some("b")), Some(Some("c"))), false, "write"),
            (
                Some("new"),
                Some("c"),
                &agreed(None, Some(Some("b")), Some(Some("c"))),
                false,
                "notes_conflict",
            ),
        ];
        for (desired, there, agreed, may_overwrite, expected) in rows {
            let action = decide(desired, there, agreed, may_overwrite);
            assert_eq!(word(&action), expected, "{desired:?} {there:?} {agreed:?} {may_overwrite}");
        }
    }

    #[test]
    fn lost_notes_are_there_or_are_not() {
        let settled = |notes: Option<&str>, there: Option<&str>| {
            let evidence = NotesEvidence { order: "1".into(), notes: notes.map(str::to_owned) };
            matches!(settle(&evidence, there), Settlement::Happened { .. })
        };
        assert!(settled(Some("a"), Some("a")));
        assert!(settled(None, Some("")));
        assert!(settled(None, None));
        assert!(!settled(Some("a"), Some("b")));
        assert!(!settled(None, Some("b")));
    }

    #[test]
    fn what_we_last_wrote_is_what_was_confirmed() {
        let notes = |text: &str, state| {
            effect("order.notes", Some(&format!(r#"{{"order":"1","notes":"{text}"}}"#)), state)
        };
        let (confirmed, refuted) = (EffectState::Confirmed, EffectState::Refuted);
        let written = last_written(&[notes("c", refuted), notes("b", confirmed), notes("a", confirmed)]);
        assert_eq!(written, Some(Some("b".to_owned())));
        assert_eq!(last_written(&[notes("c", refuted)]), None);
        assert_eq!(last_written(&[effect("order.status", None, confirmed)]), None);
        assert_eq!(last_written(&[effect("order.notes", Some("{}"), confirmed)]), None, "nobody can read it");
        let removed = effect("order.notes", Some(r#"{"order":"1","notes":null}"#), confirmed);
        assert_eq!(last_written(&[removed]), Some(None));
    }
}
