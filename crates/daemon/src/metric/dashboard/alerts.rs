//! Holds the alerts of `config/alerts.yml`, which are written by hand, against the list of metrics and their tests.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use super::{query::is_known, root};

/// The rules of `config/alerts.yml`: each alert with its expression, in one line.
fn alerts() -> BTreeMap<String, String> {
    let text = fs::read_to_string(root().join("config/alerts.yml")).unwrap();
    let mut alerts = BTreeMap::new();
    for rule in text.split("- alert: ").skip(1) {
        let (name, rest) = rule.split_once('\n').unwrap();
        let expr = rest.split_once("expr:").unwrap().1;
        let end =
            ["\n        for:", "\n        labels:"].iter().filter_map(|key| expr.find(key)).min().unwrap();
        let expr = expr[..end].trim().trim_start_matches(">-");
        alerts.insert(name.trim().to_owned(), expr.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    alerts
}

#[test]
fn every_alert_is_about_metrics_and_labels_that_exist_and_is_tested_firing_and_silent() {
    let tests = fs::read_to_string(root().join("tests/alerts/alerts_test.yml")).unwrap();
    let named: BTreeSet<&str> =
        tests.split("  - name: ").skip(1).filter_map(|test| test.lines().next()).collect();
    let alerts = alerts();
    assert!(alerts.len() >= 30, "{alerts:?}");
    for (alert, expr) in &alerts {
        // `up` and `absent` are Prometheus's own.
        assert_eq!(is_known(expr), Ok(()), "{alert}");
        for case in ["fires", "is silent"] {
            assert!(named.contains(format!("{alert} {case}").as_str()), "no test in which {alert} {case}");
        }
    }
    // A test of an alert that is gone tests nothing.
    for test in named {
        let alert = test.split(' ').next().unwrap_or_default();
        assert!(alerts.contains_key(alert), "{test}");
    }
    for test in tests.split("  - name: ").skip(1) {
        let (name, rest) = test.split_once('\n').unwrap();
        let expects_none = rest.contains("exp_alerts: []");
        assert_eq!(name.contains("is silent"), expects_none, "{name}");
    }
}
