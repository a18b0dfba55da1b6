//! Alarms of rows that an audit found to differ, until the mirror has corrected them: one for each resource.

use espelho_model::{
    sync::{Resource, Target},
    text,
    text::words,
};
use espelho_store::Subresource;

use super::{Alarm, Code, OpenDifferences, Severity, StoreObservation, alarm};

/// Returns the alarms of a store. Their cause names what is to be read again: what differs alike is mended alike.
pub(super) fn of_store(store: &StoreObservation) -> impl Iterator<Item = Alarm> {
    store.differing.iter().filter(|of| of.rows > 0).map(move |of| {
        let targets = targets(of);
        let text = text!(
            "alarm-mirror-differs",
            store = store.key.as_str(),
            count = of.rows,
            compared = of.compared,
            resource = words::resource(&of.resource),
            only = targets.as_str(),
            at = of.at
        );
        let alarm = alarm(Code::MirrorDiffers, Severity::Warning, Some(&store.key), Some(of.at), text);
        Alarm { cause: targets, count: of.rows, ..alarm }
    })
}

/// Returns the targets of a reconciliation that read the rows again, as `--only` takes them. The parts of an order have
/// routes of their own, which the target of orders does not read. The place of rows that no audit named is not known.
fn targets(of: &OpenDifferences) -> String {
    let differs = |target: &&str| of.parts.iter().any(|part| target_of(*part) == *target);
    let named: Vec<&str> = Target::ALL.into_iter().map(Target::as_str).filter(differs).collect();
    match named.is_empty() {
        true => of.resource.clone(),
        false => named.join(","),
    }
}

/// Returns the name of the target that reads a part of an order.
fn target_of(part: Subresource) -> &'static str {
    match part {
        Subresource::Order => Resource::Orders.as_str(),
        part => part.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    #[test]
    fn what_is_read_again_are_the_parts_that_differ_by_the_names_that_the_command_takes() {
        use Subresource::{Events, Financial, Order, Shipments};
        for (resource, parts, expected) in [
            ("orders", vec![], "orders"),
            ("orders", vec![Order], "orders"),
            ("orders", vec![Shipments], "shipments"),
            ("orders", vec![Events, Financial, Order, Shipments], "orders,shipments,events,financial"),
            ("orders", Subresource::ALL.to_vec(), "orders,shipments,tracking,invoices,events,financial"),
            ("campaigns", vec![], "campaigns"),
            ("media_images", vec![], "media_images"),
            ("profile", vec![], "profile"),
        ] {
            let resource = resource.to_owned();
            let seen = OpenDifferences { resource, parts, rows: 1, compared: 9, at: DateTime::UNIX_EPOCH };
            assert_eq!(targets(&seen), expected);
            for target in expected.split(',') {
                assert!(target.parse::<Target>().is_ok_and(|known| known.as_str() == target), "{target}");
            }
        }
    }
}
