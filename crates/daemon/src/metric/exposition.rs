//! The lines of Prometheus' text format for what is collected when somebody asks.

use std::fmt::Write as _;

use super::{Kind, Metric};

/// The text of an answer.
#[derive(Debug, Default)]
pub(crate) struct Exposition(String);

impl Exposition {
    /// Continues a text that a recorder has rendered.
    pub(crate) fn after(rendered: String) -> Self {
        Self(rendered)
    }

    /// Begins a metric; its lines follow.
    pub(crate) fn family(&mut self, metric: &'static Metric) -> Family<'_> {
        let Metric { name, help, .. } = metric;
        let kind: &str = metric.kind.into();
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        Family { text: &mut self.0, metric }
    }

    /// Writes a metric without labels.
    pub(crate) fn single(&mut self, metric: &'static Metric, value: f64) {
        self.family(metric).line(&[], value);
    }

    /// Continues with another text.
    pub(crate) fn push(&mut self, other: &Self) {
        self.0.push_str(&other.0);
    }

    /// Returns the text.
    pub(crate) fn into_text(self) -> String {
        self.0
    }
}

/// A metric that is being written.
pub(crate) struct Family<'t> {
    text: &'t mut String,
    metric: &'static Metric,
}

impl Family<'_> {
    /// Writes the value for these values of the labels. If there are fewer values than labels, the first labels are left
    /// out.
    pub(crate) fn line(&mut self, values: &[&str], value: f64) {
        self.write("", values, None, value);
    }

    /// Writes a histogram; Prometheus expects buckets that include the smaller ones. The last count has no bound.
    pub(crate) fn histogram(&mut self, values: &[&str], bounds: &[f64], counts: &[u64], sum: f64) {
        debug_assert_eq!(self.metric.kind, Kind::Histogram);
        let mut below = 0;
        let bounds = bounds.iter().map(f64::to_string).chain(["+Inf".to_owned()]);
        for (bound, count) in bounds.zip(counts) {
            below += count;
            self.write("_bucket", values, Some(&bound), below as f64);
        }
        self.write("_sum", values, None, sum);
        self.write("_count", values, None, below as f64);
    }

    fn write(&mut self, suffix: &str, values: &[&str], bound: Option<&str>, value: f64) {
        let (name, labels) = (self.metric.name, self.metric.labels);
        let left_out = labels.len().saturating_sub(values.len());
        let labels = labels.iter().skip(left_out).zip(values).chain(bound.iter().map(|bound| (&"le", bound)));
        let labels: Vec<String> =
            labels.map(|(label, value)| format!("{label}=\"{}\"", escaped(value))).collect();
        // Writing to a String cannot fail.
        let _ = match labels.is_empty() {
            true => writeln!(self.text, "{name}{suffix} {value}"),
            false => writeln!(self.text, "{name}{suffix}{{{}}} {value}", labels.join(",")),
        };
    }
}

/// Returns a label's value as the format wants it: an ERP may write any text as the name of a store.
fn escaped(value: &str) -> String {
    value.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    static WAITING: Metric =
        Metric { name: "espelho_waiting", kind: Kind::Gauge, labels: &["store", "lane"], help: "Who waits." };
    static THREADS: Metric =
        Metric { name: "process_threads", kind: Kind::Gauge, labels: &[], help: "Threads." };
    static WAITS: Metric =
        Metric { name: "waits_seconds", kind: Kind::Histogram, labels: &["lane"], help: "Waits." };

    #[test]
    fn a_metric_has_its_help_its_type_and_its_lines() {
        let mut text = Exposition::default();
        let mut family = text.family(&WAITING);
        family.line(&["a", "poll"], 3.0);
        family.line(&["poll"], 4.0);
        text.single(&THREADS, 0.25);
        let lines = [
            "# HELP espelho_waiting Who waits.",
            "# TYPE espelho_waiting gauge",
            "espelho_waiting{store=\"a\",lane=\"poll\"} 3",
            "espelho_waiting{lane=\"poll\"} 4",
            "# HELP process_threads Threads.",
            "# TYPE process_threads gauge",
            "process_threads 0.25\n",
        ];
        assert_eq!(text.into_text(), lines.join("\n"));
    }

    #[test]
    fn no_value_of_a_label_ends_its_line_or_begins_another() {
        let mut text = Exposition::default();
        text.family(&WAITING).line(&["a\"b\\c\nd", "poll"], 1.0);
        let line = r#"espelho_waiting{store="a\"b\\c\nd",lane="poll"} 1"#;
        assert_eq!(text.into_text().lines().last(), Some(line));
    }

    #[test]
    fn buckets_include_the_smaller_ones() {
        let mut text = Exposition::default();
        text.family(&WAITS).histogram(&["poll"], &[0.5, 1.0], &[1, 0, 2], 7.5);
        let text = text.into_text();
        for line in [
            "waits_seconds_bucket{lane=\"poll\",le=\"0.5\"} 1",
            "waits_seconds_bucket{lane=\"poll\",le=\"1\"} 1",
            "waits_seconds_bucket{lane=\"poll\",le=\"+Inf\"} 3",
            "waits_seconds_sum{lane=\"poll\"} 7.5",
            "waits_seconds_count{lane=\"poll\"} 3",
        ] {
            assert!(text.contains(&format!("\n{line}\n")), "no {line} in\n{text}");
        }
    }
}
