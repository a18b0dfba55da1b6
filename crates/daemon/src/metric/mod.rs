//! The metrics: each is described once, in [`list`]. Its registration, its `# HELP` and its row in `docs/OPERATIONS.md`
//! follow from there. `dashboard` writes `config/grafana-dashboard.json`, and holds it and the alerts against the list.
//!
//! An event is counted where it happens: in the table [`by_store`] if every store has lines of the metric
//! ([`Metric::add`], [`Metric::set`]), otherwise in a recorder ([`Metric::counter`] and the like). A state is collected when
//! somebody asks ([`Exposition`]). All need one value for each label of the description.

pub(crate) mod by_store;
#[cfg(test)]
mod dashboard;
mod exposition;
pub(crate) mod list;

use metrics::{Counter, Gauge, Histogram, Label, Unit};

pub(crate) use exposition::Exposition;

/// The type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Kind {
    Counter,
    Gauge,
    Histogram,
}

/// The description of a metric.
#[derive(Debug)]
pub(crate) struct Metric {
    /// The name as in PRODUCT contract 4; it ends with the unit.
    pub name: &'static str,
    pub kind: Kind,
    /// The labels, in the order of their values.
    pub labels: &'static [&'static str],
    /// The meaning, for people.
    pub help: &'static str,
}

impl Metric {
    /// Returns the counter with these values of its labels.
    pub(crate) fn counter(&self, values: &[&str]) -> Counter {
        metrics::counter!(self.name, self.labels(values))
    }

    /// Returns the gauge with these values of its labels.
    pub(crate) fn gauge(&self, values: &[&str]) -> Gauge {
        metrics::gauge!(self.name, self.labels(values))
    }

    /// Returns the histogram with these values of its labels.
    pub(crate) fn histogram(&self, values: &[&str]) -> Histogram {
        metrics::histogram!(self.name, self.labels(values))
    }

    fn labels(&self, values: &[&str]) -> Vec<Label> {
        debug_assert_eq!(self.labels.len(), values.len(), "{}", self.name);
        self.labels.iter().zip(values).map(|(label, value)| Label::new(*label, (*value).to_owned())).collect()
    }

    fn unit(&self) -> Option<Unit> {
        let name = self.name.trim_end_matches("_total");
        let units = [("_seconds", Unit::Seconds), ("_bytes", Unit::Bytes)];
        units.into_iter().find(|(end, _)| name.ends_with(end)).map(|(_, unit)| unit)
    }

    /// Tells the recorder what the metric means.
    fn describe(&self) {
        let unit = self.unit().unwrap_or(Unit::Count);
        match self.kind {
            Kind::Counter => metrics::describe_counter!(self.name, unit, self.help),
            Kind::Gauge => metrics::describe_gauge!(self.name, unit, self.help),
            Kind::Histogram => metrics::describe_histogram!(self.name, unit, self.help),
        }
    }
}

/// Tells the recorder what every metric means.
pub(crate) fn describe_all() {
    list::ALL.iter().for_each(|metric| metric.describe());
}
