//! The files of labels that a command asked for: it is done when they are on the disk. Somebody else fetches them (`live::labels`).

use std::time::Duration;

use espelho_model::{
    OrderNumber,
    shipment::{LabelFormat, Shipment, ShipmentLabel},
    text,
    text::{Arg, Text},
};
use espelho_store::LabelFile;
use serde_json::Value;

use super::{Pusher, cause::Cause, commands::CommandContext};
use crate::plan::push::{Message, Verdict};

/// How often the mirror is told to look at the shipments again.
const TOLD_EVERY: Duration = Duration::from_secs(15);
/// Files that nothing keeps from coming are there by then, though a month's others may be fetched before them.
const WITHIN: Duration = Duration::from_secs(900);

/// What became of the files.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Files {
    There,
    /// So many are still to come, and why one does not, where that is known.
    Awaited {
        left: usize,
        failure: Option<[String; 3]>,
    },
}

impl Pusher<'_> {
    /// Whether files of this format are fetched, or none at all.
    pub(super) fn fetches(&self, format: &LabelFormat) -> bool {
        let Some(labels) = &self.context.labels else { return true };
        labels.formats.is_empty() || labels.formats.contains(format)
    }

    /// Done when the files of what is ready are on the disk; where no files are fetched, at once.
    pub(super) async fn when_files_are_there(
        &self,
        cx: &CommandContext<'_>,
        (number, desired): (&OrderNumber, Option<&LabelFormat>),
        shipments: &[&Shipment],
        result: Value,
    ) -> Result<Verdict, Cause> {
        let is_fetched = |label: &&ShipmentLabel| {
            let format = label.format.as_ref();
            let is_desired = desired.is_none_or(|desired| format == Some(desired));
            label.is_ready == Some(true) && is_desired && format.is_some_and(|format| self.fetches(format))
        };
        let expected: Vec<_> = shipments.iter().flat_map(|s| &s.labels).filter(is_fetched).collect();
        let known = match &self.context.labels {
            Some(_) => self.context.store.label_files().label_files_of(&self.context.key, number).await?,
            None => Vec::new(),
        };
        let files = if self.context.labels.is_some() { files(&expected, &known) } else { Files::There };
        let (left, failure) = match files {
            Files::There => {
                self.listener.order(number);
                return Ok(Verdict::Done(Some(result)));
            }
            Files::Awaited { left, failure } => (left, failure),
        };
        let waited = self.await_files(cx.command.id, number);
        Ok(match failure {
            Some(failure) => Verdict::Waiting(blocked(&failure), refresh_product(waited)),
            None if waited > WITHIN => Verdict::Failed(missing()),
            None => Verdict::Waiting(awaited(left), refresh_product(waited)),
        })
    }

    /// How long they have been waited for; the mirror is told to look now and then.
    fn await_files(&self, command: i64, number: &OrderNumber) -> Duration {
        let now = self.context.clock.monotonic();
        let mut state = self.state();
        let (since, listener) = *state.files_awaited.entry(command).or_insert((now, Duration::ZERO));
        if listener == Duration::ZERO || now >= listener + TOLD_EVERY {
            state.files_awaited.insert(command, (since, now));
            drop(state);
            self.listener.order(number);
        }
        now.saturating_sub(since)
    }
}

/// Between two looks at whether they are there: each asks the marketplace once.
fn refresh_product(waited: Duration) -> Duration {
    Duration::from_secs(match waited.as_secs() {
        0..10 => 1,
        10..60 => 5,
        _ => 15,
    })
}

/// Whether each of these labels has its file: one of an earlier generation is another label's, even under the same identifier.
fn files(expected: &[&ShipmentLabel], known: &[LabelFile]) -> Files {
    let of = |label: &ShipmentLabel| {
        known.iter().find(|known| known.label == label.id && known.completed_at == label.completed_at)
    };
    let missing = expected.iter().filter(|label| of(label).is_none_or(|known| known.file.is_none()));
    let missing: Vec<_> = missing.collect();
    match missing.len() {
        0 => Files::There,
        left => Files::Awaited { left, failure: missing.iter().find_map(|label| of(label)?.failure.clone()) },
    }
}

fn awaited(left: usize) -> Message {
    message("label_files_awaited", text!("engine-label-files-awaited", left = left))
}

fn blocked([code, error, hint]: &[String; 3]) -> Message {
    message(code, text!("engine-label-file-blocked", cause = error.as_str(), step = hint.as_str()))
}

fn missing() -> Message {
    let waited = Arg::Seconds(WITHIN.as_secs() as i64);
    message("label_files_missing", text!("engine-label-files-missing", waited = waited))
}

/// The format that a command asks for is not among those whose files are fetched.
pub(super) fn format_off(format: &LabelFormat) -> Message {
    message("label_format_off", text!("engine-label-format-off", format = format.as_str()))
}

fn message(code: &str, text: Text) -> Message {
    Message::new(code, text)
}

#[cfg(test)]
mod tests {
    use espelho_model::LabelId;

    use super::*;

    fn known(id: &str, completed: Option<i64>, file: Option<&str>, code: Option<&str>) -> LabelFile {
        LabelFile {
            label: LabelId::new(id),
            completed_at: completed.and_then(|at| chrono::DateTime::from_timestamp(at, 0)),
            file: file.map(str::to_owned),
            failure: code.map(|code| [code.to_owned(), String::new(), String::new()]),
        }
    }

    fn label(id: &str, completed: Option<i64>) -> ShipmentLabel {
        let completed_at = completed.and_then(|at| chrono::DateTime::from_timestamp(at, 0));
        ShipmentLabel {
            id: LabelId::new(id),
            format: None,
            status: None,
            is_ready: Some(true),
            completed_at,
            source: None,
            raw: espelho_model::RawJson::new("{}"),
        }
    }

    // withstands: F142
    #[test]
    fn a_command_is_done_when_each_label_has_the_file_of_its_own_generation() {
        let check = |expected: &[ShipmentLabel], rows: &[LabelFile], result: Files| {
            let expected: Vec<_> = expected.iter().collect();
            assert_eq!(files(&expected, rows), result, "{rows:?}");
        };
        let awaited = |left, code: Option<&str>| Files::Awaited {
            left,
            failure: code.map(|code| [code.to_owned(), String::new(), String::new()]),
        };
        check(&[], &[], Files::There);
        check(&[label("1", None)], &[], awaited(1, None));
        check(&[label("1", None)], &[known("1", None, None, None)], awaited(1, None));
        check(&[label("1", None)], &[known("1", None, Some("f"), None)], Files::There);
        check(&[label("1", Some(9))], &[known("1", Some(5), Some("f"), None)], awaited(1, None));
        let two = [label("1", Some(9)), label("2", None)];
        let rows = [known("1", Some(9), Some("f"), None), known("2", None, None, Some("disk"))];
        check(&two, &rows, awaited(1, Some("disk")));
    }
}
