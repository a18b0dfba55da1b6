//! The lines of Prometheus' text format.

use std::fmt::Write as _;

pub(super) fn head(text: &mut String, name: &str, kind: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "# TYPE {name} {kind}");
}

pub(super) fn line(text: &mut String, name: &str, labels: &[(&str, &str)], value: f64) {
    let labels: Vec<String> = labels.iter().map(|(label, value)| format!("{label}=\"{value}\"")).collect();
    let _ = match labels.is_empty() {
        true => writeln!(text, "{name} {value}"),
        false => writeln!(text, "{name}{{{}}} {value}", labels.join(",")),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_a_line_of_prometheus() {
        let mut text = String::new();
        head(&mut text, "espelho_ratelimit_waiting", "gauge");
        line(&mut text, "espelho_ratelimit_waiting", &[("store", "a"), ("lane", "poll")], 3.0);
        line(&mut text, "process_threads", &[], 0.25);
        let lines = [
            "# TYPE espelho_ratelimit_waiting gauge",
            "espelho_ratelimit_waiting{store=\"a\",lane=\"poll\"} 3",
            "process_threads 0.25\n",
        ];
        assert_eq!(text, lines.join("\n"));
    }
}
