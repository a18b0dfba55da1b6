//! Label files of a command: the command is done when its files are on the disk. `live::labels` fetches them.

use std::time::Duration;

use espelho_model::{
    OrderNumber,
    shipment::{LabelFormat, Shipment, ShipmentLabel},
    text,
    text::{Arg, Text},
};
use espelho_store::LabelFile;
use serde_json::Value;

use super::{command_context::CommandContext, services::Services};
use crate::{
    Error,
    plan::push::{
        Message, Verdict,
        labels::{being_made, lacks_format, not_made, only_other_format},
    },
};

/// The time within which files arrive that nothing blocks, even if a month's other files are fetched before them.
const FILES_TIMEOUT: Duration = Duration::from_secs(900);

/// The time within which a wanted format is listed after another one is ready.
const OTHER_FORMAT: Duration = Duration::from_secs(120);

/// The state of the files.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Files {
    There,
    /// The number of files that are still to come, and why one fails, where that is known.
    Awaited {
        left: usize,
        failure: Option<[String; 3]>,
    },
}

/// Says whether files of this format are fetched; true as well when no files are fetched at all.
pub(super) fn fetches(services: &Services<'_>, format: &LabelFormat) -> bool {
    let Some(labels) = &services.context.labels else { return true };
    labels.formats.is_empty() || labels.formats.contains(format)
}

/// Returns done when the files of all ready labels are on the disk; at once when no files are fetched.
pub(super) async fn when_files_are_there(
    services: &Services<'_>,
    cx: &CommandContext<'_>,
    (number, desired): (&OrderNumber, Option<&LabelFormat>),
    shipments: &[&Shipment],
    result: Value,
) -> Result<Verdict, Error> {
    let is_fetched = |label: &&ShipmentLabel| {
        let format = label.format.as_ref();
        let is_desired = desired.is_none_or(|desired| format == Some(desired));
        label.is_ready == Some(true) && is_desired && format.is_some_and(|format| fetches(services, format))
    };
    let is_wanted =
        |format: &LabelFormat| desired.is_none_or(|desired| format == desired) && fetches(services, format);
    let has_files = services.context.labels.is_some();
    if has_files && shipments.iter().any(|shipment| lacks_format(&shipment.labels, is_wanted)) {
        return Ok(Verdict::Failed(not_made(true)));
    }
    if let Some(format) = shipments.iter().find_map(|shipment| only_other_format(&shipment.labels, is_wanted))
    {
        return Ok(await_format(format, await_files(services, cx.command.id, number)));
    }
    let expected: Vec<_> = shipments.iter().flat_map(|s| &s.labels).filter(is_fetched).collect();
    let known = match &services.context.labels {
        Some(_) => services.context.store.label_files().label_files_of(&services.context.key, number).await?,
        None => Vec::new(),
    };
    let files = if services.context.labels.is_some() { files(&expected, &known) } else { Files::There };
    let (left, failure) = match files {
        Files::There => {
            services.listener.order(number);
            return Ok(Verdict::Done(Some(result)));
        }
        Files::Awaited { left, failure } => (left, failure),
    };
    let waited = await_files(services, cx.command.id, number);
    Ok(match failure {
        Some(failure) => Verdict::Waiting(blocked(&failure), recheck_interval(waited)),
        None if waited > FILES_TIMEOUT => Verdict::Failed(missing()),
        None => Verdict::Waiting(awaited(left), recheck_interval(waited)),
    })
}

/// The verdict while only a format is ready that nobody fetches: another may still be listed.
fn await_format(ready: &LabelFormat, waited: Duration) -> Verdict {
    match waited > OTHER_FORMAT {
        true => Verdict::Failed(format_off(ready)),
        false => Verdict::Waiting(being_made(), recheck_interval(waited)),
    }
}

/// Returns how long the files have been awaited. Reports the order to the mirror at intervals.
fn await_files(services: &Services<'_>, command: i64, number: &OrderNumber) -> Duration {
    let (waited, is_report_due) = services.labels.awaited_for(command, services.context.clock.monotonic());
    if is_report_due {
        services.listener.order(number);
    }
    waited
}

/// Returns the wait between two checks for the files: each check asks the marketplace once.
fn recheck_interval(waited: Duration) -> Duration {
    Duration::from_secs(match waited.as_secs() {
        0..10 => 1,
        10..60 => 5,
        _ => 15,
    })
}

/// Compares labels with their files. A file of an earlier generation belongs to another label, even under the same
/// identifier.
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
    let waited = Arg::Seconds(FILES_TIMEOUT.as_secs() as i64);
    message("label_files_missing", text!("engine-label-files-missing", waited = waited))
}

/// The message for a command that asks for a format whose files are not fetched.
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

    #[test]
    fn a_format_that_is_still_to_come_is_awaited_for_two_minutes() {
        for (seconds, expected) in
            [(0, "labels_being_made"), (120, "labels_being_made"), (121, "label_format_off")]
        {
            let (Verdict::Waiting(message, _) | Verdict::Failed(message)) =
                await_format(&LabelFormat::A4, Duration::from_secs(seconds))
            else {
                panic!("{seconds}")
            };
            assert_eq!(message.code, expected, "{seconds}");
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
