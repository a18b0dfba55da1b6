//! Every metric of `/metrics`.

use super::{Kind, Metric};

/// Declares the metrics, and the list of all of them.
macro_rules! metrics {
    ($($id:ident: $kind:ident $name:literal [$($label:literal),*] $help:literal;)+) => {
        $(
            pub(crate) static $id: Metric =
                Metric { name: $name, kind: Kind::$kind, labels: &[$($label),*], help: $help };
        )+

        /// All of them, in the order of the documentation.
        pub(crate) static ALL: &[&Metric] = &[$(&$id),+];
    };
}

metrics! {
    BUILD_INFO: Gauge "espelho_build_info" ["version"]
        "1, with the version that runs.";
    ALARM: Gauge "espelho_alarm" ["store", "code"]
        "What each alarm concerns; an alarm that is gone has no line. The store is empty where it concerns several.";
    NOTICES: Counter "espelho_notices_total" ["channel", "result"]
        "Messages to people about alarms, by channel (webhook, smtp, exec, ping), with the result sent, failed (it is \
         tried again) or given_up (once it happens).";
    STATE: Gauge "espelho_state" ["state"]
        "1 for the state that everything is in, of ok, unknown, warning and failing.";
    API_REQUESTS: Counter "espelho_api_requests_total" ["store", "route", "method", "outcome"]
        "Requests by the document's template of the route, with the outcome ok, not_applied or ambiguous; above 200 \
         stores without store.";
    API_REQUEST_DURATION: Histogram "espelho_api_request_duration_seconds" ["route"]
        "The time from a request to its answer, over all stores.";
    RATELIMIT_WAIT: Histogram "espelho_ratelimit_wait_seconds" ["lane"]
        "The time that requests wait for a slot, over all stores.";
    RATELIMIT_REMAINING: Gauge "espelho_ratelimit_remaining" ["store"]
        "Slots of the minute that are free.";
    RATELIMIT_WAITING: Gauge "espelho_ratelimit_waiting" ["store", "lane"]
        "Requests that wait for a slot.";
    RATE_LIMITED: Counter "espelho_rate_limited_total" ["store"]
        "Requests that the marketplace refused with 429.";
    LOGINS: Counter "espelho_logins_total" ["store", "reason"]
        "Logins, by reason: first, renewal, 401 (also after an outage), or foreign (not made, because another program uses the credential).";
    TOKEN_EXPIRES: Gauge "espelho_token_expires_timestamp_seconds" ["store"]
        "When the token ends.";
    MIRROR_LAG: Histogram "espelho_mirror_lag_seconds" []
        "The time from the event, or from the change that a sweep found, to the row, over all stores.";
    MIRROR_OLDEST_WAITING: Gauge "espelho_mirror_oldest_waiting_seconds" ["store"]
        "For how long the oldest thing waits to be read.";
    AUDIT_ROWS: Counter "espelho_audit_rows_total" ["store"]
        "Rows that the daily audit compared.";
    AUDIT_MISMATCH: Counter "espelho_audit_mismatch_total" ["store"]
        "Rows that differed in the daily audit.";
    UNKNOWN_ENUM: Counter "espelho_unknown_enum_total" ["store", "field"]
        "Words that the document does not list.";
    SHAPE_DRIFT: Counter "espelho_shape_drift_total" ["store", "route", "kind"]
        "Answers with a field that is new (unknown) or without one that was always there (missing); one answer of a \
         route an hour is looked at.";
    DB_ERRORS: Counter "espelho_db_errors_total" ["code"]
        "Errors of the database, by its own code or connection.";
    TASKS_RESTARTED: Counter "espelho_tasks_restarted_total" ["store"]
        "How often the work on a store has begun again after an error.";
    ROWS_CHANGED: Counter "espelho_rows_changed_total" ["store", "kind"]
        "New or different rows of orders or products that were mirrored.";
    ROWS_FAILED: Gauge "espelho_rows_failed" ["store", "kind"]
        "Rows that the last complete reconciliation could not mirror.";
    SWEEP_FAILURES: Counter "espelho_sweep_failures_total" ["store", "kind"]
        "Failed sweeps (once it happens).";
    SWEEP_LAST_SUCCESS: Gauge "espelho_sweep_last_success_timestamp_seconds" ["store", "kind"]
        "When orders or products were last read completely, or a sweep last succeeded; known again right after a \
         restart. A sweep that queues succeeds when all that it queued was read and written.";
    DELIVERIES_HANDLED: Counter "espelho_deliveries_handled_total" ["store", "as"]
        "Deliveries that were handled, as read, fact, test, unknown, odd or foreign.";
    MISSED_HINTS: Counter "espelho_missed_hints_total" ["store", "event"]
        "Changes that a sweep has found and no delivery told.";
    INTENTS: Gauge "espelho_intents" ["store", "table", "state"]
        "Rows that the ERP has written, by table (stock, price, command) and state: open (new, waiting or sending), \
         done, failed, held or doubtful; a table of which nothing is in a state may be without a line; rows for stores \
         that no configuration has are together, with an empty store.";
    INTENTS_OLDEST_OPEN: Gauge "espelho_intents_oldest_open_seconds" ["store", "table"]
        "How old the oldest open row is.";
    DOUBTFUL_INTENTS: Gauge "espelho_doubtful_intents" ["store"]
        "Rows whose outcome cannot be proved; 0 where there are none.";
    DOUBTFUL_OLDEST_AGE: Gauge "espelho_doubtful_oldest_age_seconds" ["store"]
        "How old the oldest row is whose outcome cannot be proved; 0 where there are none.";
    POISONED: Gauge "espelho_poisoned" ["store"]
        "What is set aside because the work on it ended the process or panicked; 0 where there is none.";
    EFFECTS_SETTLED: Counter "espelho_effects_settled_total" ["store", "kind", "as"]
        "Effects whose answer was lost, by kind (stock.set, price.step, the kinds of commands), and what reading proved: \
         confirmed, refuted or doubtful (once it happens).";
    WEBHOOKS: Counter "espelho_webhooks_total" ["store", "event", "result"]
        "Deliveries, by documented event or other, with the result stored, duplicate (stored again, up to ten \
         times a minute), bad_signature or shed.";
    WEBHOOK_ACK: Histogram "espelho_webhook_ack_duration_seconds" []
        "The time from a stored delivery to its acknowledgement.";
    WEBHOOK_CONNECTIONS: Gauge "espelho_webhook_connections" []
        "Open connections of the receiver.";
    INBOX_OLDEST_AGE: Gauge "espelho_inbox_oldest_age_seconds" ["store"]
        "The age of the oldest delivery that was not handled.";
    LANE_PROGRESS: Gauge "espelho_lane_progress_timestamp_seconds" ["lane"]
        "When the lane last got on, in the store where that is longest ago; who waits gets on.";
    DB_WAL: Gauge "espelho_db_wal_bytes" []
        "The size of SQLite's write-ahead log (SQLite only).";
    DISK_FREE: Gauge "espelho_disk_free_bytes" []
        "Free bytes of the database's disk (SQLite only: a server's disk is not ours).";
    DISK_FULL: Gauge "espelho_disk_full" []
        "1 if fewer than 32 MiB are free there (SQLite only).";
    PROCESS_CPU: Counter "process_cpu_seconds_total" []
        "User and system CPU time.";
    PROCESS_RESIDENT_MEMORY: Gauge "process_resident_memory_bytes" []
        "Resident memory.";
    PROCESS_VIRTUAL_MEMORY: Gauge "process_virtual_memory_bytes" []
        "Virtual memory.";
    PROCESS_THREADS: Gauge "process_threads" []
        "Threads.";
    PROCESS_OPEN_FDS: Gauge "process_open_fds" []
        "Open file descriptors.";
    PROCESS_MAX_FDS: Gauge "process_max_fds" []
        "The maximum of open file descriptors.";
    PROCESS_START_TIME: Gauge "process_start_time_seconds" []
        "When the process started.";
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    const HEAD: &str = "| metric | labels | type | meaning |\n|---|---|---|---|\n";

    fn row(metric: &Metric) -> String {
        let (kind, labels): (&str, String) = (metric.kind.into(), metric.labels.join(", "));
        format!("| `{}` | {labels} | {kind} | {} |\n", metric.name, metric.help)
    }

    #[test]
    fn the_table_of_the_documentation_is_this_list() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/OPERATIONS.md");
        let page = fs::read_to_string(&path).unwrap();
        let (before, rest) = page.split_once("| metric | labels |").unwrap();
        let after = &rest[rest.find("\n\n").unwrap() + 1..];
        let rows: String = ALL.iter().map(|metric| row(metric)).collect();
        let wanted = format!("{before}{HEAD}{rows}{after}");
        if std::env::var_os("ESPELHO_BLESS").is_some() {
            fs::write(&path, &wanted).unwrap();
            return;
        }
        assert!(page == wanted, "accept it with ESPELHO_BLESS=1:\n{HEAD}{rows}");
    }

    #[test]
    fn names_differ_and_counters_and_units_end_as_prometheus_wants() {
        let names: BTreeSet<&str> = ALL.iter().map(|metric| metric.name).collect();
        assert_eq!(names.len(), ALL.len());
        for Metric { name, kind, labels, help } in ALL {
            assert_eq!(name.ends_with("_total"), *kind == Kind::Counter, "{name}");
            assert!(!name.contains("duration") || name.ends_with("_seconds"), "{name}");
            assert!(help.ends_with('.') && !help.contains(['\n', '\\', '|']), "{name}: {help}");
            assert!(!labels.contains(&"le"), "{name}");
        }
    }
}
