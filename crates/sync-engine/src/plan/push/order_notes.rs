//! An order's notes (`order.notes`): the whole text is replaced, so what a person wrote meanwhile is kept, and the
//! conflict shown.

use chrono::{DateTime, Utc};
use espelho_model::text;
use espelho_store::{Effect, EffectState};
use serde::{Deserialize, Serialize};

use super::{
    Message, Settlement, Verdict,
    evidence::{Evidence, present, read},
    late_effects::{is_overwritten, may_be_overwritten_for, may_land_until},
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

/// Returns the verdict on notes that the order has: other notes of ours, whose answer was lost, may still overwrite them.
/// `effects` are those of the order, as in all of these.
pub fn written(desired: Option<&str>, effects: &[Effect], now: DateTime<Utc>) -> Verdict {
    let overwrites = |lost: &NotesEvidence| !same(lost.notes.as_deref(), desired);
    may_be_overwritten_for(effects, overwrites, now).map_or(Verdict::Done(None), Verdict::Unsettled)
}

/// Says whether lost notes may have been carried out after those that were `sent`, so that the order is read once more.
pub fn may_be_overwritten(
    desired: Option<&str>,
    sent: &Effect,
    effects: &[Effect],
    now: DateTime<Utc>,
) -> bool {
    is_overwritten(sent, effects, |lost: &NotesEvidence| !same(lost.notes.as_deref(), desired), now)
}

/// The next step after notes were `sent`, and others that were lost may have been carried out since: they are written again
/// where the order has the lost ones. What a person wrote since stays.
pub fn decide_again(
    desired: Option<&str>,
    there: Option<&str>,
    sent: &Effect,
    effects: &[Effect],
    now: DateTime<Utc>,
) -> Action {
    let is_shown = |lost: &NotesEvidence| same(lost.notes.as_deref(), there);
    match !same(there, desired) && is_overwritten(sent, effects, is_shown, now) {
        true => Action::Write,
        false => Action::Answer(Verdict::Done(None)),
    }
}

/// Says whether the order has notes of ours that were lost: no person wrote them.
pub fn are_lost_ones(there: Option<&str>, effects: &[Effect]) -> bool {
    let are_they = |lost: NotesEvidence| same(lost.notes.as_deref(), there);
    let lost = effects.iter().filter(|effect| may_land_until::<NotesEvidence>(effect).is_some());
    lost.filter_map(|effect| read(effect).ok()).any(are_they)
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
    use std::time::Duration;

    use super::{
        super::{
            evidence::write,
            tests::{at, effect},
        },
        *,
    };

    fn note(id: i64, second: i64, text: &str, state: EffectState) -> Effect {
        let evidence = NotesEvidence { order: "1".into(), notes: Some(text.to_owned()) };
        let (sent_at, planned_at) = (Some(at(second)), at(second));
        Effect { id, sent_at, planned_at, ..effect("order.notes", Some(&write(&evidence)), state) }
    }

    // withstands: F001
    #[test]
    fn notes_are_done_once_no_lost_ones_may_overwrite_them_and_are_written_again_where_those_did() {
        let lost = note(1, 0, "a", EffectState::Refuted);
        let refused = Effect { code: Some("VALIDATION_ERROR".to_owned()), ..lost.clone() };
        let sent = note(3, 5, "b", EffectState::Confirmed);
        let done = Verdict::Done(None);
        let wait = |seconds| Verdict::Unsettled(Duration::from_secs(seconds));
        for (effect, desired, second, verdict, is_read) in [
            (&lost, "b", 5, wait(35), false),
            (&lost, "b", 39, wait(1), false),
            (&lost, "b", 40, done.clone(), true),
            (&lost, "a", 5, done.clone(), false),
            (&lost, "a", 40, done.clone(), false),
            (&refused, "b", 5, done.clone(), false),
            (&refused, "b", 40, done.clone(), false),
            (&note(1, 0, "a", EffectState::Confirmed), "b", 5, done.clone(), false),
        ] {
            let effects = [sent.clone(), effect.clone()];
            assert_eq!(written(Some(desired), &effects, at(second)), verdict, "{desired} {second}");
            let found = may_be_overwritten(Some(desired), &sent, &effects, at(second));
            assert_eq!(found, is_read, "{desired} {second}");
        }
        let late = note(3, 40, "b", EffectState::Confirmed);
        for (last, there, second, expected) in [
            (&sent, "a", 40, Action::Write),
            (&sent, "b", 40, Action::Answer(done.clone())),
            (&sent, "a person's", 40, Action::Answer(done.clone())),
            (&sent, "a", 39, Action::Answer(done.clone())),
            (&late, "a", 60, Action::Answer(done.clone())),
        ] {
            let next = decide_again(Some("b"), Some(there), last, &[last.clone(), lost.clone()], at(second));
            assert_eq!(next, expected, "{there} {second}");
        }
        let same = decide_again(Some("a"), Some("a"), &sent, &[sent.clone(), lost.clone()], at(40));
        assert_eq!(same, Action::Answer(done), "it asks for the same as the lost one");
        let are_lost = |there, effect: &Effect| are_lost_ones(Some(there), std::slice::from_ref(effect));
        assert!(are_lost("a", &lost) && !are_lost("b", &lost) && !are_lost("a", &refused));
    }

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
