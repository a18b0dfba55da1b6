//! Compares mirror and marketplace, and changes neither: every listed row, and a sample of the details.
//!
//! `listed` compares resources with a paged listing, `subresources` the sub-resources of orders, `full_reads` resources that
//! are read in full.

mod full_reads;
mod listed;
mod subject;
mod subresources;

use std::collections::BTreeSet;

use espelho_api_client::limit::Lane;
use espelho_model::{StoreKey, text, text::Text};
use espelho_store::{AuditDifference, AuditRecord, Subresource};
use serde::{Deserialize, Serialize};

use crate::{
    Error, Problem, StoreContext,
    pull::{OrdersPull, ProductsPull},
};

pub(crate) use listed::spot;
pub use subject::Subject;

/// The audit of one store; its JSON goes from the service to a command.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Audit {
    /// The store.
    pub store: StoreKey,
    /// The audits of its resources.
    #[serde(deserialize_with = "crate::report::known")]
    pub resources: Vec<ResourceAudit>,
    /// Requests sent.
    pub requests: u64,
    /// Why the audit did not start, if it did not.
    pub problem: Option<Problem>,
}

/// The audit of one resource.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct ResourceAudit {
    /// What was compared.
    #[serde(rename = "resource")]
    pub subject: Subject,
    /// Rows that the marketplace lists.
    pub listed: u64,
    /// The total that the marketplace reports.
    pub total: Option<u64>,
    /// Mirrored rows that are not gone.
    pub mirrored: u64,
    /// Details read.
    pub sampled: u64,
    /// How many rows differ.
    pub differing: u64,
    /// The number of those that count only because their details could not be read: nothing is known of them.
    #[serde(skip)]
    pub unreadable: u64,
    /// The rows that could not be compared, by their names in `differences`. It names those of earlier differences.
    #[serde(skip)]
    pub unread: BTreeSet<String>,
    /// The first [`ResourceAudit::SHOWN`] of them.
    pub differences: Vec<(String, Difference)>,
    /// Why it ended early, if it did.
    pub problem: Option<Problem>,
    /// Why there was nothing to compare, if that is no problem.
    pub note: Option<Text>,
}

/// How a row differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// The marketplace lists it, but the mirror lacks it.
    Missing,
    /// The mirror has it, but the marketplace does not list it.
    Surplus,
    /// Its listing row has changed since it was mirrored.
    Listing,
    /// Its detail could not be read.
    Unreadable,
    /// Its columns are not those of its detail: somebody has edited them in the mirror.
    Edited,
    /// Its detail differs; also what an audit says that has an unknown word.
    #[serde(other)]
    Detail,
}

impl Difference {
    /// All differences.
    pub const ALL: [Self; 6] =
        [Self::Missing, Self::Surplus, Self::Listing, Self::Detail, Self::Edited, Self::Unreadable];

    /// Returns the text for people.
    pub fn text(self) -> Text {
        match self {
            Self::Missing => text!("run-difference-missing"),
            Self::Surplus => text!("run-difference-surplus"),
            Self::Listing => text!("run-difference-listing"),
            Self::Detail => text!("run-difference-detail"),
            Self::Edited => text!("run-difference-edited"),
            Self::Unreadable => text!("run-difference-unreadable"),
        }
    }

    /// Returns the word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Surplus => "surplus",
            Self::Listing => "listing",
            Self::Detail => "detail",
            Self::Edited => "edited",
            Self::Unreadable => "unreadable",
        }
    }
}

impl ResourceAudit {
    /// The most differing rows that an audit names.
    pub const SHOWN: usize = 50;

    /// Returns an audit that has compared nothing yet.
    pub fn begun(subject: Subject) -> Self {
        Self {
            subject,
            listed: 0,
            total: None,
            mirrored: 0,
            sampled: 0,
            differing: 0,
            unreadable: 0,
            unread: BTreeSet::new(),
            differences: Vec::new(),
            problem: None,
            note: None,
        }
    }

    /// Returns an audit that has nothing to compare, for a reason that is no problem.
    fn noted(subject: Subject, note: Text) -> Self {
        Self { note: Some(note), ..Self::begun(subject) }
    }
}

/// What an audit compares.
#[derive(Clone, Debug, Default)]
pub struct AuditOptions {
    /// Only these; everything if empty.
    pub only: Vec<Subject>,
    /// How many details of each.
    pub sample: usize,
}

impl Audit {
    /// Returns an audit that did not start.
    pub fn not_begun(store: StoreKey, problem: Problem) -> Self {
        Self { store, resources: Vec::new(), requests: 0, problem: Some(problem) }
    }

    /// Whether everything was compared and nothing differs.
    pub fn is_clean(&self) -> bool {
        self.problem.is_none() && self.resources.iter().all(|r| r.differing == 0 && r.problem.is_none())
    }
}

/// Returns the differing rows that an audit names, as they are recorded. One that could not be read is not known to differ.
pub(crate) fn on_record(
    subject: Subject,
    differences: &[(String, Difference)],
) -> impl Iterator<Item = AuditDifference> {
    let known = differences.iter().filter(|(_, difference)| *difference != Difference::Unreadable);
    known.map(move |(name, difference)| {
        let (key, part) = row_and_part(subject, name);
        AuditDifference {
            resource: subject.as_str().to_owned(),
            key: key.to_owned(),
            part: part.to_owned(),
            is_edited: *difference == Difference::Edited,
        }
    })
}

/// Tells the key of a row from its part: the sub-resource of an order, or the listing of a campaign.
fn row_and_part(subject: Subject, name: &str) -> (&str, &str) {
    match subject {
        Subject::Orders => name
            .rsplit_once('/')
            .filter(|(_, part)| part.parse::<Subresource>().is_ok())
            .unwrap_or((name, Subresource::Order.as_str())),
        Subject::Campaigns => name.split_once('/').unwrap_or((name, "")),
        Subject::Products | Subject::Media | Subject::PriceLists | Subject::Profile => (name, ""),
    }
}

/// Returns the name of a recorded difference in `differences`.
fn name_of(of: &AuditDifference) -> String {
    let is_order = of.resource == Subject::Orders.as_str() && of.part == Subresource::Order.as_str();
    match of.part.is_empty() || is_order {
        true => of.key.clone(),
        false => format!("{}/{}", of.key, of.part),
    }
}

/// Returns the earlier differences that an audit did not compare: they stay until something compares or mends them.
fn remaining(open: Vec<AuditDifference>, unread: &BTreeSet<String>) -> Vec<AuditDifference> {
    open.into_iter().filter(|of| unread.contains(&name_of(of))).collect()
}

/// Records the results of audits, or of samples, for the status and the alarms; changes no mirrored row.
pub(crate) async fn note_audits(
    context: &StoreContext,
    audits: Vec<AuditRecord>,
    differences: Vec<AuditDifference>,
    is_sample: bool,
) -> Result<(), Error> {
    let written = async {
        let mut tx = context.store.begin(&context.lease).await?;
        tx.sweeps().note_audits(audits, differences, is_sample).await?;
        tx.commit().await
    };
    written.await.map_err(Error::from)
}

/// Compares every listed row by key and listing; `sample` details of each resource by content; the sub-resources of a
/// fifth as many orders; and what is read in full, by content. `seed` chooses the sample. What an earlier audit named and
/// nothing has mended is compared in any case.
pub async fn audit(context: &StoreContext, options: &AuditOptions, seed: u64) -> Audit {
    let before = context.client.stats();
    let (mut resources, mut records, mut differences) = (Vec::new(), Vec::new(), Vec::new());
    for subject in Subject::ALL {
        if !options.only.is_empty() && !options.only.contains(&subject) {
            continue;
        }
        // The mirror may correct a difference by any write from here on.
        let at = context.clock.now();
        let open = context.store.runs().open_differences(&context.key, subject.as_str()).await;
        let (open, found) = match open {
            Ok(open) => {
                let found = of_subject(context, subject, &open, options.sample, seed).await;
                (open, found)
            }
            Err(error) => {
                let problem = Some(Problem::from_store(&error));
                (Vec::new(), ResourceAudit { problem, ..ResourceAudit::begun(subject) })
            }
        };
        if found.problem.is_none() && found.note.is_none() {
            let remaining = remaining(open, &found.unread);
            records.push(AuditRecord {
                resource: subject.as_str().to_owned(),
                at,
                compared: found.listed,
                differing: found.differing.saturating_sub(found.unreadable) + remaining.len() as u64,
            });
            differences.extend(remaining);
            differences.extend(on_record(subject, &found.differences));
        }
        resources.push(found);
    }
    let mut problem = note_audits(context, records, differences, false).await.err().map(Problem::from);
    if let Err(error) = context.client.limiter().settle().await {
        problem = Some(Problem::from_api(&error));
    }
    let requests = context.client.stats().requests - before.requests;
    Audit { store: context.key.clone(), resources, requests, problem }
}

/// Compares one subject; `open` are its earlier differences.
async fn of_subject(
    context: &StoreContext,
    subject: Subject,
    open: &[AuditDifference],
    sample: usize,
    seed: u64,
) -> ResourceAudit {
    // Live work has priority over an audit, as over a sweep.
    let client = context.client.in_lane(Lane::Poll);
    let parameter = context.page_parameter.clone();
    match subject {
        Subject::Orders => {
            let orders = OrdersPull::new(client, None, parameter);
            let mut report = listed::compare(context, orders, open, sample, seed).await;
            if report.problem.is_none() {
                report.problem = subresources::compare(context, &mut report, open, sample / 5, seed)
                    .await
                    .err()
                    .map(Problem::from);
            }
            report
        }
        Subject::Products => match context.store.mirror().location_names(&context.key).await {
            Ok(known) => {
                listed::compare(context, ProductsPull::new(client, known, parameter), open, sample, seed)
                    .await
            }
            Err(error) => {
                ResourceAudit { problem: Some(Problem::from_store(&error)), ..ResourceAudit::begun(subject) }
            }
        },
        Subject::Campaigns | Subject::Media | Subject::Profile => {
            full_reads::compare(context, client, subject, open, sample).await
        }
        Subject::PriceLists => ResourceAudit::noted(subject, text!("run-audit-no-route")),
    }
}

/// Returns the positions of a sample, spread evenly over `rows`. Another seed chooses others.
fn choose(rows: usize, sample: usize, seed: u64) -> impl Iterator<Item = usize> {
    let sample = sample.min(rows);
    let shift = (seed % rows.max(1) as u64) as usize;
    let chosen: BTreeSet<usize> = (0..sample).map(|at| (at * rows / sample + shift) % rows).collect();
    chosen.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_recorded_by_its_row_and_the_part_of_it() {
        for (subject, name, expected) in [
            (Subject::Orders, "N-1", ("N-1", "order")),
            (Subject::Orders, "N-1/shipments", ("N-1", "shipments")),
            (Subject::Orders, "N/1", ("N/1", "order")),
            (Subject::Orders, "N/1/events", ("N/1", "events")),
            (Subject::Products, "P/1", ("P/1", "")),
            (Subject::Campaigns, "7", ("7", "")),
            (Subject::Campaigns, "7/I/1", ("7", "I/1")),
            (Subject::Media, "M-1", ("M-1", "")),
        ] {
            for (difference, is_edited) in [(Difference::Detail, false), (Difference::Edited, true)] {
                let found = [(name.to_owned(), difference)];
                let noted: Vec<_> = on_record(subject, &found).collect();
                let [of] = &noted[..] else { panic!("{noted:?}") };
                assert_eq!((of.key.as_str(), of.part.as_str()), expected, "{subject} {name}");
                assert_eq!((of.resource.as_str(), of.is_edited), (subject.as_str(), is_edited));
            }
            let unread = [(name.to_owned(), Difference::Unreadable)];
            assert_eq!(on_record(subject, &unread).count(), 0, "{name} may be right");
        }
    }

    // withstands: F134
    #[test]
    fn an_earlier_difference_stays_only_if_the_audit_could_not_compare_it() {
        for (subject, name, unread, stays, why) in [
            (Subject::Orders, "N-1", &[][..], false, "it was compared: it agrees, or it is found again"),
            (Subject::Orders, "N-1", &["N-1"], true, "its detail could not be read"),
            (Subject::Orders, "N-1", &["N-1/events", "N-2"], false, "others could not"),
            (Subject::Orders, "N-1/events", &["N-1/events"], true, "a part of an order"),
            (Subject::Orders, "N-1/events", &["N-1"], false, "its order could not"),
            (Subject::Products, "P/1", &["P/1"], true, "a product"),
            (Subject::Campaigns, "7/I/1", &["7/I/1"], true, "a listing"),
            (Subject::Campaigns, "7/I/1", &["7"], false, "its campaign could not"),
        ] {
            let open: Vec<_> = on_record(subject, &[(name.to_owned(), Difference::Detail)]).collect();
            let unread: BTreeSet<String> = unread.iter().map(|name| (*name).to_owned()).collect();
            let expected = if stays { open.clone() } else { Vec::new() };
            assert_eq!(remaining(open, &unread), expected, "{name} {unread:?}: {why}");
        }
    }

    #[test]
    fn a_sample_has_its_size_spreads_over_all_rows_and_moves_with_its_seed() {
        let of = |rows, sample, seed| choose(rows, sample, seed).collect::<Vec<_>>();
        assert_eq!(of(10, 5, 0), [0, 2, 4, 6, 8]);
        assert_eq!(of(10, 5, 11), [1, 3, 5, 7, 9]);
        assert_eq!(of(3, 50, 7), [0, 1, 2], "no row twice");
        assert_eq!(of(0, 50, 7), [0_usize; 0]);
        assert_eq!(of(10, 0, 7), [0_usize; 0]);
        for seed in 0..20 {
            assert_eq!(of(7, 3, seed).len(), 3, "seed {seed}");
        }
    }
}
