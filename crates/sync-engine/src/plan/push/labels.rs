//! Labels (`labels.generate`): made once. Labels that are ready are never thrown away by accident, because each
//! generation discards what was there (API document, "Shipments and labels").

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{
    shipment::{LabelFormat, Shipment, ShipmentLabel},
    text,
};
use espelho_store::Effect;
use serde::{Deserialize, Serialize};

use super::{
    Message, Settlement, Verdict, doubtful,
    evidence::{Evidence, read},
};

/// A generation that does not show by then cannot be told from one that never began, in seconds.
const SHOWS_WITHIN: i64 = 120;
/// Times of the marketplace have whole seconds, and its clock and ours differ.
const BLUR: TimeDelta = TimeDelta::seconds(5);
/// The data of a command that has labels made again.
const REGENERATE: &str = "{\"regenerate\": true}";
/// Labels that are not ready by then have failed, as far as anybody can tell.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(120);

/// What the journal keeps with a generation: the labels before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelsEvidence {
    /// The order's number.
    pub order: String,
    /// The ids of the labels that were there, sorted.
    pub labels: Vec<String>,
}

impl Evidence for LabelsEvidence {
    const KIND: &'static str = "labels.generate";
    const IS_REPEATABLE: bool = false;
    const EARLIER_ROW: &'static str = r#"{"order":"MP-1","labels":[]}"#;
}

/// The labels that a command asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked<'a> {
    /// The format that is needed; every format where it is absent.
    pub format: Option<&'a LabelFormat>,
    /// `data.regenerate`: what is there may be thrown away.
    pub regenerate: bool,
    /// A person has released the command.
    pub is_released: bool,
}

/// The next step for labels.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// The row is answered, or waits.
    Answer(Verdict),
    /// The labels are ready: the command is done when their files are there.
    AwaitFiles,
    /// The labels are being made ([`wait`]).
    Poll,
    /// The labels are made.
    Generate,
}

/// The next step, from the order's shipments; `made` is the confirmed generation of this command.
pub fn decide(asked: Asked<'_>, shipments: &[Shipment], made: Option<&Effect>) -> Action {
    let open = open(shipments);
    if open.is_empty() {
        return Action::Answer(Verdict::Failed(Message::new("labels_blocked", text!("push-labels-blocked"))));
    }
    let is_wanted = |label: &ShipmentLabel| {
        let is_format = asked.format.is_none_or(|format| label.format.as_ref() == Some(format));
        label.is_ready == Some(true) && is_format
    };
    let in_the_making = open.iter().flat_map(|s| &s.labels).any(is_being_made);
    if let Some(made) = made {
        // What was there before may still be listed for a moment.
        let all_new =
            open.iter().all(|s| s.labels.iter().any(|label| is_wanted(label) && was_made_by(label, made)));
        // One format that is needed is enough; else all that are being made.
        let is_over = all_new && (asked.format.is_some() || !in_the_making);
        return if is_over { Action::AwaitFiles } else { Action::Poll };
    }
    let all_ready = open.iter().all(|shipment| shipment.labels.iter().any(is_wanted));
    if !asked.regenerate && all_ready && (!in_the_making || asked.format.is_some()) {
        return Action::AwaitFiles;
    }
    if !asked.regenerate && in_the_making {
        return Action::Poll;
    }
    let would_discard = open.iter().flat_map(|s| &s.labels).any(|label| label.is_ready == Some(true));
    match would_discard && !asked.regenerate && !asked.is_released {
        true => Action::Answer(Verdict::Held(would_be_discarded())),
        false => Action::Generate,
    }
}

/// What becomes of labels that are being made, so long after somebody first waited for them.
pub fn wait(shipments: &[Shipment], waited: Duration, first_poll: Duration) -> Verdict {
    let has_failed =
        open(shipments).iter().flat_map(|s| &s.labels).any(|label| label.status.as_deref() == Some("error"));
    if has_failed || waited > GIVEN_UP_AFTER {
        return Verdict::Failed(not_made(has_failed));
    }
    let pause = if waited < Duration::from_secs(15) { first_poll } else { Duration::from_secs(5) };
    Verdict::Waiting(being_made(), pause)
}

/// The words for labels that are being made.
pub fn being_made() -> Message {
    Message::new("labels_being_made", text!("push-labels-being-made"))
}

/// What became of a generation whose answer was lost: then the labels are others. `now` has their ids, sorted.
pub fn settle(evidence: &LabelsEvidence, now: &[String], sent_for: TimeDelta) -> Settlement {
    if now != evidence.labels.as_slice() && !now.is_empty() {
        return Settlement::Happened { answer: None, how: "the labels are others" };
    }
    match sent_for.num_seconds() {
        age if age < 15 => Settlement::NotYet(Duration::from_secs(2)),
        age if age < SHOWS_WITHIN => Settlement::NotYet(Duration::from_secs(5)),
        _ => Settlement::Unprovable(doubtful("unprovable")),
    }
}

/// The shipments that labels are made for. One that is over and has none gets none, and the others do not wait for it;
/// an order with no other shipment is left to the marketplace.
pub fn open(shipments: &[Shipment]) -> Vec<&Shipment> {
    let unblocked = shipments.iter().filter(|shipment| shipment.label_generation_blocked != Some(true));
    let (over, open): (Vec<_>, Vec<_>) = unblocked.partition(|shipment| is_over_without_label(shipment));
    if open.is_empty() { over } else { open }
}

fn is_over_without_label(shipment: &Shipment) -> bool {
    let is_over = matches!(shipment.status.as_deref(), Some("cancelled" | "delivered" | "returned"));
    is_over && shipment.labels.is_empty()
}

/// The ids of all labels, sorted.
pub fn ids(shipments: &[Shipment]) -> Vec<String> {
    let labels = shipments.iter().flat_map(|shipment| &shipment.labels);
    let mut ids: Vec<String> = labels.map(|label| label.id.as_str().to_owned()).collect();
    ids.sort_unstable();
    ids
}

fn is_being_made(label: &ShipmentLabel) -> bool {
    matches!(label.status.as_deref(), Some("pending" | "processing"))
}

/// True for a label of a generation: it was not there before, or was completed since. Where nobody can read what was
/// there, only the time tells.
fn was_made_by(label: &ShipmentLabel, generation: &Effect) -> bool {
    let since: DateTime<Utc> = generation.sent_at.unwrap_or(generation.planned_at) - BLUR;
    let was_there = |evidence: LabelsEvidence| evidence.labels.iter().any(|id| id == label.id.as_str());
    !read(generation).map_or(true, was_there) || label.completed_at.is_some_and(|at| at >= since)
}

fn would_be_discarded() -> Message {
    let text = text!("push-labels-would-be-discarded", regenerate = REGENERATE);
    Message::new("labels_would_be_discarded", text)
}

/// Says whether a wanted format could not be made: what is ready in another format does not replace it.
pub fn lacks_format(labels: &[ShipmentLabel], is_wanted: impl Fn(&LabelFormat) -> bool) -> bool {
    let is_ready = |format: &LabelFormat| {
        labels.iter().any(|label| label.is_ready == Some(true) && label.format.as_ref() == Some(format))
    };
    labels
        .iter()
        .filter(|label| label.status.as_deref() == Some("error"))
        .any(|label| label.format.as_ref().is_some_and(|format| is_wanted(format) && !is_ready(format)))
}

/// Returns a format that is ready where none is ready that is wanted: no file would come.
pub fn only_other_format(
    labels: &[ShipmentLabel],
    is_wanted: impl Fn(&LabelFormat) -> bool,
) -> Option<&LabelFormat> {
    let ready =
        || labels.iter().filter(|label| label.is_ready == Some(true)).filter_map(|l| l.format.as_ref());
    ready().next().filter(|_| !ready().any(is_wanted))
}

/// The words for labels that were not made: one has failed, or they are late.
pub fn not_made(has_failed: bool) -> Message {
    let text = match has_failed {
        true => text!("push-labels-failed", regenerate = REGENERATE),
        false => text!("push-labels-late", regenerate = REGENERATE),
    };
    Message::new("labels_not_ready", text)
}

#[cfg(test)]
mod tests {
    use espelho_model::{LabelId, RawJson, ShipmentId};
    use espelho_store::EffectState;

    use super::{
        super::tests::{at, effect},
        *,
    };

    fn label(id: &str, format: LabelFormat, status: &str) -> ShipmentLabel {
        ShipmentLabel {
            id: LabelId::new(id),
            format: Some(format),
            status: Some(status.into()),
            is_ready: Some(status == "completed"),
            completed_at: None,
            source: None,
            raw: RawJson::new("{}"),
        }
    }

    fn shipment(labels: Vec<ShipmentLabel>) -> Shipment {
        Shipment {
            id: ShipmentId::new("S"),
            shipment_type: None,
            status: None,
            tracking_code: None,
            carrier_id: None,
            carrier_name: None,
            is_pickup: None,
            label_generation_blocked: None,
            allows_manual_confirmation: None,
            labels_ready: None,
            labels_total: None,
            labels,
            raw: RawJson::new("{}"),
        }
    }

    fn of(statuses: [&str; 2]) -> Shipment {
        let [a4, zebra] = statuses;
        shipment(vec![label("1", LabelFormat::A4, a4), label("2", LabelFormat::Zebra, zebra)])
    }

    const ANY: Asked<'_> = Asked { format: None, regenerate: false, is_released: false };

    fn word(action: &Action) -> &str {
        match action {
            Action::Answer(Verdict::Failed(message) | Verdict::Held(message)) => &message.code,
            Action::Answer(other) => panic!("{other:?}"),
            Action::AwaitFiles => "files",
            Action::Poll => "poll",
            Action::Generate => "generate",
        }
    }

    #[test]
    fn a_format_that_failed_is_not_replaced_by_another_one_that_is_ready() {
        let lacks = |statuses, wanted: &[LabelFormat]| {
            lacks_format(&of(statuses).labels, |format| wanted.contains(format))
        };
        let (a4, zebra, both) =
            ([LabelFormat::A4], [LabelFormat::Zebra], [LabelFormat::A4, LabelFormat::Zebra]);
        assert!(lacks(["completed", "error"], &zebra));
        assert!(lacks(["completed", "error"], &both));
        assert!(!lacks(["completed", "error"], &a4), "nobody wants the other one");
        assert!(!lacks(["completed", "processing"], &both), "it may still come");
        assert!(!lacks(["completed", "completed"], &both));
        let twice = vec![label("1", LabelFormat::A4, "error"), label("2", LabelFormat::A4, "completed")];
        assert!(!lacks_format(&twice, |_| true), "it was made again");
    }

    #[test]
    fn a_format_that_nobody_fetches_is_named_where_there_is_no_other() {
        let other = |statuses, wanted: &[LabelFormat]| {
            only_other_format(&of(statuses).labels, |format| wanted.contains(format)).cloned()
        };
        let (a4, zebra, pdf) = (LabelFormat::A4, LabelFormat::Zebra, LabelFormat::ZebraPdf);
        assert_eq!(other(["completed", "completed"], &[pdf]), Some(a4.clone()));
        assert_eq!(other(["completed", "processing"], std::slice::from_ref(&zebra)), Some(a4.clone()));
        assert_eq!(other(["completed", "completed"], &[zebra]), None);
        assert_eq!(other(["processing", "processing"], &[a4]), None, "nothing is ready");
        assert_eq!(other(["completed", "completed"], &[]), Some(LabelFormat::A4));
    }

    #[test]
    fn labels_are_made_once_and_never_thrown_away_without_a_persons_word() {
        let zebra = Asked { format: Some(&LabelFormat::Zebra), ..ANY };
        let again = Asked { regenerate: true, ..ANY };
        let released = Asked { is_released: true, ..ANY };
        let blocked = Shipment { label_generation_blocked: Some(true), ..of(["completed", "completed"]) };
        let rows = [
            (ANY, vec![], "labels_blocked"),
            (ANY, vec![blocked.clone()], "labels_blocked"),
            (ANY, vec![shipment(vec![])], "generate"),
            (ANY, vec![of(["error", "error"])], "generate"),
            (ANY, vec![of(["completed", "completed"])], "files"),
            (ANY, vec![of(["completed", "completed"]), blocked], "files"),
            (ANY, vec![of(["completed", "pending"])], "poll"),
            (ANY, vec![of(["processing", "pending"])], "poll"),
            (zebra, vec![of(["pending", "completed"])], "files"),
            (zebra, vec![of(["completed", "pending"])], "poll"),
            (zebra, vec![of(["completed", "error"])], "labels_would_be_discarded"),
            (Asked { is_released: true, ..zebra }, vec![of(["completed", "error"])], "generate"),
            (ANY, vec![of(["completed", "completed"]), shipment(vec![])], "labels_would_be_discarded"),
            (released, vec![of(["completed", "completed"]), shipment(vec![])], "generate"),
            (again, vec![of(["completed", "completed"])], "generate"),
            (again, vec![of(["pending", "pending"])], "generate"),
        ];
        for (asked, shipments, expected) in rows {
            assert_eq!(word(&decide(asked, &shipments, None)), expected, "{asked:?} {shipments:?}");
        }
    }

    #[test]
    fn a_shipment_that_is_over_without_a_label_holds_no_other_up() {
        let over = |status: &str| Shipment { status: Some(status.into()), ..shipment(vec![]) };
        let ready = || of(["completed", "completed"]);
        for (shipments, made, expected) in [
            (vec![ready(), over("cancelled")], false, "files"),
            (vec![over("delivered"), ready()], true, "files"),
            (vec![over("returned"), ready()], true, "files"),
            // It may still get its label.
            (vec![ready(), over("pending")], false, "labels_would_be_discarded"),
            (vec![ready(), over("in_transit")], true, "poll"),
            (vec![ready(), over("a_status_of_tomorrow")], true, "poll"),
            // Its own label counts like any other.
            (
                vec![Shipment { status: Some("delivered".into()), ..of(["processing", "pending"]) }, ready()],
                true,
                "poll",
            ),
            // There is nothing else to ask for.
            (vec![over("delivered")], false, "generate"),
        ] {
            let generation = made.then(|| generation("[]"));
            assert_eq!(word(&decide(ANY, &shipments, generation.as_ref())), expected, "{shipments:?}");
        }
    }

    fn generation(labels: &str) -> Effect {
        let evidence = format!(r#"{{"order":"1","labels":{labels}}}"#);
        Effect {
            sent_at: Some(at(100)),
            ..effect("labels.generate", Some(&evidence), EffectState::Confirmed)
        }
    }

    #[test]
    fn after_a_generation_only_its_own_labels_count() {
        let made = |labels: &str, shipment: Shipment, format: Option<&LabelFormat>| {
            word(&decide(Asked { format, ..ANY }, &[shipment], Some(&generation(labels)))).to_owned()
        };
        let ready = || of(["completed", "completed"]);
        assert_eq!(made("[]", ready(), None), "files");
        assert_eq!(made(r#"["1","2"]"#, ready(), None), "poll", "those of before are still listed");
        let mut later = ready();
        later.labels[1].completed_at = Some(at(95));
        assert_eq!(made(r#"["1","2"]"#, later.clone(), None), "files", "completed since, clocks differ");
        later.labels[1].completed_at = Some(at(94));
        assert_eq!(made(r#"["1","2"]"#, later, None), "poll");
        assert_eq!(made("[]", of(["completed", "pending"]), None), "poll", "all that are being made");
        assert_eq!(
            made("[]", of(["completed", "pending"]), Some(&LabelFormat::A4)),
            "files",
            "one is enough"
        );
        let unreadable = Effect { evidence: Some("{}".into()), ..generation("[]") };
        assert_eq!(word(&decide(ANY, &[ready()], Some(&unreadable))), "poll", "only the time tells");
    }

    #[test]
    fn labels_are_waited_for_for_two_minutes_or_until_one_fails() {
        let waits =
            |statuses, seconds| wait(&[of(statuses)], Duration::from_secs(seconds), Duration::from_secs(2));
        let pause = |verdict: &Verdict| verdict.retry_after().map(|wait| wait.as_secs());
        assert_eq!(pause(&waits(["pending", "pending"], 0)), Some(2));
        assert_eq!(pause(&waits(["pending", "pending"], 14)), Some(2));
        assert_eq!(pause(&waits(["pending", "pending"], 15)), Some(5));
        assert_eq!(pause(&waits(["pending", "pending"], 120)), Some(5));
        for failed in [waits(["pending", "pending"], 121), waits(["error", "pending"], 0)] {
            let Verdict::Failed(message) = failed else { panic!("{failed:?}") };
            assert_eq!(message.code, "labels_not_ready");
        }
    }

    // withstands: F001
    #[test]
    fn a_lost_generation_shows_as_other_labels_within_two_minutes_or_stays_doubtful() {
        let evidence = LabelsEvidence { order: "1".into(), labels: vec!["1".into(), "2".into()] };
        let settled = |ids: &[&str], seconds| {
            let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
            settle(&evidence, &ids, TimeDelta::seconds(seconds))
        };
        assert!(matches!(settled(&["1", "3"], 0), Settlement::Happened { .. }));
        assert_eq!(settled(&["1", "2"], 0), Settlement::NotYet(Duration::from_secs(2)));
        assert_eq!(settled(&["1", "2"], 15), Settlement::NotYet(Duration::from_secs(5)));
        assert_eq!(
            settled(&[], 119),
            Settlement::NotYet(Duration::from_secs(5)),
            "thrown away, not made yet"
        );
        assert!(matches!(settled(&["1", "2"], 120), Settlement::Unprovable(_)));
        assert!(matches!(settled(&[], 120), Settlement::Unprovable(_)));
        assert_eq!(ids(&[of(["x", "y"]), shipment(vec![label("0", LabelFormat::A4, "x")])]), ["0", "1", "2"]);
    }
}
