//! The Grafana dashboard, `config/grafana-dashboard.json`: what it shows, in the order of an operator's questions, and the
//! tests that write it and hold it and the alerts against the list of metrics.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::{
    Kind, Metric,
    list::{self, ALL},
};

/// The columns of Grafana's grid.
const COLUMNS: u32 = 24;
const HEIGHT: u32 = 8;

/// A row of panels.
struct Row {
    title: &'static str,
    panels: &'static [Panel],
}

/// A panel: its title, its unit, how it is drawn, how wide it is, and its queries, each with its legend.
struct Panel {
    title: &'static str,
    unit: &'static str,
    draw: Draw,
    width: u32,
    queries: &'static [(&'static str, &'static str)],
}

/// How a panel is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Draw {
    Lines,
    Value,
}

const fn lines(
    title: &'static str,
    unit: &'static str,
    queries: &'static [(&'static str, &'static str)],
) -> Panel {
    Panel { title, unit, draw: Draw::Lines, width: 8, queries }
}

const fn value(
    title: &'static str,
    unit: &'static str,
    queries: &'static [(&'static str, &'static str)],
) -> Panel {
    Panel { title, unit, draw: Draw::Value, width: 4, queries }
}

/// An alarm that concerns several stores has an empty store, and is shown whichever is chosen.
const ROWS: &[Row] = &[
    Row {
        title: "Estado e alarmes",
        panels: &[
            value("Estado", "none", &[("max by (state) (espelho_state) == 1", "{{state}}")]),
            value(
                "Alarmes",
                "none",
                &[(
                    r#"count(max by (store, code) (espelho_alarm{store=~"$store|"}) > 0) or vector(0)"#,
                    "alarmes",
                )],
            ),
            value("Em dúvida", "none", &[(r#"sum(espelho_doubtful_intents{store=~"$store"})"#, "linhas")]),
            value("Versão", "none", &[("max by (version) (espelho_build_info)", "{{version}}")]),
            value(
                "O token vence em",
                "s",
                &[(
                    r#"min by (store) (espelho_token_expires_timestamp_seconds{store=~"$store"}) - time()"#,
                    "{{store}}",
                )],
            ),
            value(
                "No ar há",
                "s",
                &[(
                    "time() - min by (instance) (process_start_time_seconds and on (job, instance) espelho_build_info)",
                    "{{instance}}",
                )],
            ),
            lines(
                "O que os alarmes dizem",
                "none",
                &[(r#"max by (store, code) (espelho_alarm{store=~"$store|"})"#, "{{code}} {{store}}")],
            ),
            lines(
                "Avisos a pessoas por hora, por canal",
                "none",
                &[(
                    "sum by (channel, result) (increase(espelho_notices_total[1h]))",
                    "{{channel}} {{result}}",
                )],
            ),
            lines(
                "Trabalho recomeçado por hora",
                "none",
                &[(
                    r#"sum by (store) (increase(espelho_tasks_restarted_total{store=~"$store"}[1h]))"#,
                    "{{store}}",
                )],
            ),
            lines(
                "Idade do último avanço de cada parte",
                "s",
                &[("time() - min by (lane) (espelho_lane_progress_timestamp_seconds)", "{{lane}}")],
            ),
        ],
    },
    Row {
        title: "Tráfego e orçamento",
        panels: &[
            lines(
                "Pedidos por minuto, por resultado",
                "none",
                &[(
                    r#"sum by (outcome) (rate(espelho_api_requests_total{store=~"$store|"}[$__rate_interval])) * 60"#,
                    "{{outcome}}",
                )],
            ),
            lines(
                "Pedidos por minuto, por rota",
                "none",
                &[(
                    r#"topk(10, sum by (method, route) (rate(espelho_api_requests_total{store=~"$store|"}[$__rate_interval])) * 60)"#,
                    "{{method}} {{route}}",
                )],
            ),
            lines(
                "Vagas livres do minuto",
                "none",
                &[(r#"min by (store) (espelho_ratelimit_remaining{store=~"$store"})"#, "{{store}}")],
            ),
            lines(
                "Pedidos à espera de vaga, por faixa",
                "none",
                &[(r#"sum by (lane) (espelho_ratelimit_waiting{store=~"$store"})"#, "{{lane}}")],
            ),
            lines(
                "Espera por vaga, por faixa (p95)",
                "s",
                &[(
                    "histogram_quantile(0.95, sum by (lane, le) (rate(espelho_ratelimit_wait_seconds_bucket[$__rate_interval])))",
                    "{{lane}}",
                )],
            ),
            lines(
                "Tempo de resposta do marketplace",
                "s",
                &[
                    (
                        "histogram_quantile(0.5, sum by (le) (rate(espelho_api_request_duration_seconds_bucket[$__rate_interval])))",
                        "p50",
                    ),
                    (
                        "histogram_quantile(0.95, sum by (le) (rate(espelho_api_request_duration_seconds_bucket[$__rate_interval])))",
                        "p95",
                    ),
                ],
            ),
            lines(
                "Recusados com 429 por hora",
                "none",
                &[(
                    r#"sum by (store) (increase(espelho_rate_limited_total{store=~"$store"}[1h]))"#,
                    "{{store}}",
                )],
            ),
            lines(
                "Logins por hora, por motivo",
                "none",
                &[(
                    r#"sum by (store, reason) (increase(espelho_logins_total{store=~"$store"}[1h]))"#,
                    "{{reason}} {{store}}",
                )],
            ),
            lines(
                "Mudanças de forma da API por dia",
                "none",
                &[
                    (
                        r#"sum by (route, kind) (increase(espelho_shape_drift_total{store=~"$store"}[1d]))"#,
                        "{{kind}} {{route}}",
                    ),
                    (
                        r#"sum by (field) (increase(espelho_unknown_enum_total{store=~"$store"}[1d]))"#,
                        "palavra nova: {{field}}",
                    ),
                ],
            ),
        ],
    },
    Row {
        title: "Atraso do espelho",
        panels: &[
            lines(
                "Do acontecimento à linha",
                "s",
                &[
                    (
                        "histogram_quantile(0.5, sum by (le) (rate(espelho_mirror_lag_seconds_bucket[$__rate_interval])))",
                        "p50",
                    ),
                    (
                        "histogram_quantile(0.99, sum by (le) (rate(espelho_mirror_lag_seconds_bucket[$__rate_interval])))",
                        "p99",
                    ),
                ],
            ),
            lines(
                "O que espera leitura há mais tempo",
                "s",
                &[(
                    r#"max by (store) (espelho_mirror_oldest_waiting_seconds{store=~"$store"})"#,
                    "{{store}}",
                )],
            ),
            lines(
                "Idade do último sucesso de cada varredura",
                "s",
                &[(
                    r#"time() - max by (store, kind) (espelho_sweep_last_success_timestamp_seconds{store=~"$store"})"#,
                    "{{kind}} {{store}}",
                )],
            ),
            lines(
                "Varreduras que falharam por hora",
                "none",
                &[(
                    r#"sum by (store, kind) (increase(espelho_sweep_failures_total{store=~"$store"}[1h]))"#,
                    "{{kind}} {{store}}",
                )],
            ),
            lines(
                "Linhas novas ou alteradas por minuto",
                "none",
                &[(
                    r#"sum by (kind) (rate(espelho_rows_changed_total{store=~"$store"}[$__rate_interval])) * 60"#,
                    "{{kind}}",
                )],
            ),
            lines(
                "Linhas que não puderam ser espelhadas",
                "none",
                &[(r#"sum by (store, kind) (espelho_rows_failed{store=~"$store"})"#, "{{kind}} {{store}}")],
            ),
            lines(
                "Mudanças que nenhum webhook contou, por hora",
                "none",
                &[(
                    r#"sum by (event) (increase(espelho_missed_hints_total{store=~"$store"}[1h]))"#,
                    "{{event}}",
                )],
            ),
            lines(
                "Auditoria por dia",
                "none",
                &[
                    (
                        r#"sum by (store) (increase(espelho_audit_rows_total{store=~"$store"}[1d]))"#,
                        "comparadas {{store}}",
                    ),
                    (
                        r#"sum by (store) (increase(espelho_audit_mismatch_total{store=~"$store"}[1d]))"#,
                        "diferentes {{store}}",
                    ),
                ],
            ),
        ],
    },
    Row {
        title: "Webhooks",
        panels: &[
            lines(
                "Recebidos por minuto, por resultado",
                "none",
                &[(
                    r#"sum by (result) (rate(espelho_webhooks_total{store=~"$store"}[$__rate_interval])) * 60"#,
                    "{{result}}",
                )],
            ),
            lines(
                "Tratados por minuto, por modo",
                "none",
                &[(
                    r#"sum by (as) (rate(espelho_deliveries_handled_total{store=~"$store"}[$__rate_interval])) * 60"#,
                    "{{as}}",
                )],
            ),
            lines(
                "O webhook mais antigo não tratado",
                "s",
                &[(r#"max by (store) (espelho_inbox_oldest_age_seconds{store=~"$store"})"#, "{{store}}")],
            ),
            lines(
                "Da gravação à confirmação (p99)",
                "s",
                &[(
                    "histogram_quantile(0.99, sum by (le) (rate(espelho_webhook_ack_duration_seconds_bucket[$__rate_interval])))",
                    "p99",
                )],
            ),
            lines(
                "Conexões abertas do receptor",
                "none",
                &[("sum by (instance) (espelho_webhook_connections)", "{{instance}}")],
            ),
        ],
    },
    Row {
        title: "O que o ERP quer",
        panels: &[
            lines(
                "Linhas por tabela e estado",
                "none",
                &[(
                    r#"sum by (table, state) (espelho_intents{store=~"$store|",state!="done"})"#,
                    "{{table}} {{state}}",
                )],
            ),
            lines(
                "A linha aberta mais antiga",
                "s",
                &[(
                    r#"max by (store, table) (espelho_intents_oldest_open_seconds{store=~"$store"})"#,
                    "{{table}} {{store}}",
                )],
            ),
            lines(
                "Em dúvida há",
                "s",
                &[(r#"max by (store) (espelho_doubtful_oldest_age_seconds{store=~"$store"})"#, "{{store}}")],
            ),
            lines(
                "Respostas perdidas que a leitura resolveu, por hora",
                "none",
                &[(
                    r#"sum by (kind, as) (increase(espelho_effects_settled_total{store=~"$store"}[1h]))"#,
                    "{{as}} {{kind}}",
                )],
            ),
        ],
    },
    Row {
        title: "Banco de dados e processo",
        panels: &[
            lines(
                "Erros do banco por hora",
                "none",
                &[("sum by (code) (increase(espelho_db_errors_total[1h]))", "{{code}}")],
            ),
            lines(
                "Disco livre (SQLite)",
                "bytes",
                &[("min by (instance) (espelho_disk_free_bytes)", "{{instance}}")],
            ),
            lines("WAL (SQLite)", "bytes", &[("max by (instance) (espelho_db_wal_bytes)", "{{instance}}")]),
            lines(
                "Disco cheio (SQLite)",
                "none",
                &[("max by (instance) (espelho_disk_full)", "{{instance}}")],
            ),
            lines(
                "Memória",
                "bytes",
                &[(
                    "process_resident_memory_bytes and on (job, instance) espelho_build_info",
                    "{{instance}}",
                )],
            ),
            lines(
                "CPU",
                "percentunit",
                &[(
                    "rate(process_cpu_seconds_total[$__rate_interval]) and on (job, instance) espelho_build_info",
                    "{{instance}}",
                )],
            ),
            lines(
                "Arquivos abertos, do que pode abrir",
                "percentunit",
                &[(
                    "process_open_fds / process_max_fds and on (job, instance) espelho_build_info",
                    "{{instance}}",
                )],
            ),
            lines(
                "Threads",
                "none",
                &[("process_threads and on (job, instance) espelho_build_info", "{{instance}}")],
            ),
        ],
    },
];

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

/// A metric as a query names it, with the labels that the query speaks of.
fn metric_named(name: &str) -> Option<&'static Metric> {
    let parts = ["_bucket", "_count", "_sum"];
    ALL.iter().copied().find(|metric| {
        metric.name == name
            || metric.kind == Kind::Histogram
                && parts.iter().any(|part| name == format!("{}{part}", metric.name))
    })
}

/// The names of metrics in a text.
fn names_in(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| word.starts_with("espelho_") || word.starts_with("process_")).collect()
}

/// The labels that a query selects or groups by.
fn labels_in(expr: &str) -> BTreeSet<&str> {
    let mut labels = BTreeSet::new();
    for grouped in expr.split("by (").skip(1) {
        let list = grouped.split(')').next().unwrap_or_default();
        labels.extend(list.split(',').map(str::trim));
    }
    for selected in expr.split('{').skip(1) {
        let list = selected.split('}').next().unwrap_or_default();
        labels.extend(list.split(',').filter_map(|matcher| matcher.split(['=', '!']).next()).map(str::trim));
    }
    labels
}

/// Labels that every scrape and every histogram has.
const GIVEN: [&str; 3] = ["instance", "job", "le"];

fn is_known(expr: &str) -> Result<(), String> {
    let names = names_in(expr);
    if names.is_empty() {
        return Err(format!("no metric in {expr}"));
    }
    let unknown: Vec<_> = names.iter().filter(|name| metric_named(name).is_none()).collect();
    if !unknown.is_empty() {
        return Err(format!("{unknown:?} in {expr}"));
    }
    let known: BTreeSet<&str> = names
        .iter()
        .filter_map(|name| metric_named(name))
        .flat_map(|metric| metric.labels)
        .copied()
        .collect();
    let foreign: Vec<&str> = labels_in(expr)
        .into_iter()
        .filter(|label| !known.contains(label) && !GIVEN.contains(label))
        .collect();
    if foreign.is_empty() { Ok(()) } else { Err(format!("no such label {foreign:?} in {expr}")) }
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
