//! The Grafana dashboard, `config/grafana-dashboard.json`: `rows` has its panels. The tests write it, and hold it and the
//! alerts against the list of metrics.

mod alerts;
mod query;
mod rows;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use self::{
    query::{GIVEN, is_known, labels_in, metric_named, names_in},
    rows::{Draw, Panel, ROWS},
};
use super::list::{self, ALL};

/// The columns of Grafana's grid.
const COLUMNS: u32 = 24;
const HEIGHT: u32 = 8;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The file for Grafana 10 or later.
fn dashboard() -> Value {
    let mut panels = Vec::new();
    let (mut id, mut y) = (0, 0);
    for row in ROWS {
        id += 1;
        panels.push(json!({
            "id": id, "type": "row", "title": row.title, "collapsed": false, "panels": [],
            "gridPos": { "h": 1, "w": COLUMNS, "x": 0, "y": y },
        }));
        y += 1;
        let (mut x, mut height) = (0, 0);
        for panel in row.panels {
            if x + panel.width > COLUMNS {
                (x, y) = (0, y + height);
                height = 0;
            }
            id += 1;
            panels.push(drawn(panel, id, x, y));
            x += panel.width;
            height = height.max(height_of(panel));
        }
        y += height;
    }
    let source = json!({ "type": "prometheus", "uid": "${datasource}" });
    let stores = format!("label_values({}, store)", list::RATELIMIT_REMAINING.name);
    json!({
        "uid": "espelho", "title": "espelho", "tags": ["espelho"], "schemaVersion": 39, "version": 1,
        "editable": true, "graphTooltip": 1, "timezone": "browser", "refresh": "1m",
        "time": { "from": "now-6h", "to": "now" },
        "annotations": { "list": [] }, "links": [],
        "templating": { "list": [
            {
                "name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus",
                "hide": 0, "multi": false, "includeAll": false, "refresh": 1, "options": [], "current": {},
            },
            {
                "name": "store", "label": "Loja", "type": "query", "datasource": source, "definition": stores,
                "query": { "query": stores, "refId": "stores" }, "hide": 0, "multi": true, "includeAll": true,
                "allValue": ".*", "refresh": 2, "sort": 1, "options": [],
                "current": { "selected": true, "text": ["All"], "value": ["$__all"] },
            },
        ] },
        "panels": panels,
    })
}

fn height_of(panel: &Panel) -> u32 {
    if panel.draw == Draw::Value { HEIGHT / 2 } else { HEIGHT }
}

fn drawn(panel: &Panel, id: u32, x: u32, y: u32) -> Value {
    let source = json!({ "type": "prometheus", "uid": "${datasource}" });
    let targets = panel.queries.iter().zip('A'..).map(|((expr, legend), letter)| {
        json!({
            "refId": letter.to_string(), "datasource": source, "expr": expr, "legendFormat": legend,
            "range": true, "editorMode": "code",
        })
    });
    let (kind, options) = match panel.draw {
        Draw::Lines => (
            "timeseries",
            json!({
                "legend": { "displayMode": "list", "placement": "bottom", "showLegend": true },
                "tooltip": { "mode": "multi", "sort": "desc" },
            }),
        ),
        Draw::Value => (
            "stat",
            json!({
                "reduceOptions": { "calcs": ["lastNotNull"], "fields": "", "values": false },
                "textMode": "value_and_name", "colorMode": "value", "graphMode": "none",
            }),
        ),
    };
    json!({
        "id": id, "type": kind, "title": panel.title, "datasource": source, "options": options,
        "gridPos": { "h": height_of(panel), "w": panel.width, "x": x, "y": y },
        "fieldConfig": { "defaults": { "unit": panel.unit, "min": 0 }, "overrides": [] },
        "targets": targets.collect::<Vec<_>>(),
    })
}

fn queries() -> impl Iterator<Item = (&'static str, &'static str)> {
    ROWS.iter().flat_map(|row| row.panels).flat_map(|panel| panel.queries).copied()
}

/// The queries as recording rules, which `promtool check rules` parses: Grafana fills its variables in first.
fn as_rules() -> String {
    let mut rules =
        "# The queries of config/grafana-dashboard.json, for promtool check rules. Written by the test that \
        writes the dashboard.\ngroups:\n  - name: dashboard\n    rules:\n"
            .to_owned();
    for (n, (expr, _)) in queries().enumerate() {
        let expr = expr.replace("$__rate_interval", "5m").replace("$store", ".*");
        rules.push_str(&format!("      - record: dashboard:query:{n}\n        expr: '{expr}'\n"));
    }
    rules
}

#[test]
fn the_dashboard_is_the_one_of_this_list_and_so_are_its_queries_for_promtool() {
    let [file, rules] =
        ["config/grafana-dashboard.json", "tests/alerts/dashboard.yml"].map(|path| root().join(path));
    if std::env::var_os("ESPELHO_BLESS").is_some() {
        fs::write(&file, format!("{:#}\n", dashboard())).unwrap();
        fs::write(&rules, as_rules()).unwrap();
    }
    let [file, rules] = [file, rules].map(|path| fs::read_to_string(path).unwrap_or_default());
    let hint = "is out of date: ESPELHO_BLESS=1 cargo test -p espelho-daemon metric";
    // The order of keys means nothing.
    let written: Value = serde_json::from_str(&file).unwrap_or_default();
    assert!(written == dashboard(), "config/grafana-dashboard.json {hint}");
    assert!(rules == as_rules(), "tests/alerts/dashboard.yml {hint}");
}

#[test]
fn every_query_of_the_dashboard_is_about_metrics_and_labels_that_exist() {
    for (expr, legend) in queries() {
        assert_eq!(is_known(expr), Ok(()));
        assert!(!expr.contains('\''), "it stands in quotes for promtool: {expr}");
        let shown = legend.split("{{").skip(1).filter_map(|rest| rest.split("}}").next());
        let labels = labels_in(expr);
        for label in shown {
            // A vector that is not grouped keeps the labels of every scrape.
            let is_there = labels.contains(label) || !expr.contains("by (") && GIVEN.contains(&label);
            assert!(is_there, "{legend} of {expr}");
        }
    }
    for wrong in
        ["espelho_alarms", "sum by (shop) (espelho_alarm)", r#"espelho_alarm{kind="x"}"#, "vector(1)"]
    {
        assert!(is_known(wrong).is_err(), "{wrong}");
    }
    assert!(is_known("rate(espelho_mirror_lag_seconds_bucket[5m])").is_ok());
    assert!(is_known("rate(espelho_state_bucket[5m])").is_err(), "a gauge has no buckets");
}

#[test]
fn every_metric_of_the_service_is_on_the_dashboard() {
    let shown: BTreeSet<&str> = queries()
        .flat_map(|(expr, _)| names_in(expr))
        .filter_map(metric_named)
        .map(|metric| metric.name)
        .collect();
    let missing: Vec<&str> = ALL
        .iter()
        .map(|metric| metric.name)
        .filter(|name| name.starts_with("espelho_") && !shown.contains(name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn panels_do_not_overlap_and_have_numbers_of_their_own() {
    let dashboard = dashboard();
    let panels = dashboard["panels"].as_array().unwrap();
    let ids: BTreeSet<u64> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len());
    let mut cells = BTreeMap::new();
    for panel in panels {
        let [x, y, w, h] = ["x", "y", "w", "h"].map(|side| panel["gridPos"][side].as_u64().unwrap());
        assert!(x + w <= u64::from(COLUMNS), "{panel}");
        for cell in (x..x + w).flat_map(|x| (y..y + h).map(move |y| (x, y))) {
            let before = cells.insert(cell, panel["title"].clone());
            assert_eq!(before, None, "{} covers it", panel["title"]);
        }
    }
}
