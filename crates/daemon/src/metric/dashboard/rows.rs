//! The rows and panels of the dashboard, in the order of an operator's questions.

/// A row of panels.
pub(super) struct Row {
    pub(super) title: &'static str,
    pub(super) panels: &'static [Panel],
}

/// A panel: its title, its unit, how it is drawn, how wide it is, and its queries, each with its legend.
pub(super) struct Panel {
    pub(super) title: &'static str,
    pub(super) unit: &'static str,
    pub(super) draw: Draw,
    pub(super) width: u32,
    pub(super) queries: &'static [(&'static str, &'static str)],
}

/// How a panel is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Draw {
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
pub(super) const ROWS: &[Row] = &[
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
                "Postas de lado porque derrubaram o trabalho",
                "none",
                &[(r#"sum by (store) (espelho_poisoned{store=~"$store"})"#, "{{store}}")],
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
