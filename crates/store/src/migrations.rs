//! The migrations, compiled in. They stand in `migrations/` at the root; list each new one here too.
//!
//! sqlx's own macro would read the folder by itself, but compile sqlx, its drivers and SQLite a second time.

use std::sync::LazyLock;

use sqlx::{
    SqlStr,
    migrate::{Migration, MigrationType, Migrator},
};

macro_rules! migrations {
    ($folder:literal: $($name:literal),+ $(,)?) => {
        LazyLock::new(|| {
            let of = |name: &'static str, sql: &'static str| -> Migration {
                let (version, description) = name.split_once('_').unwrap_or((name, ""));
                let version = version.parse().unwrap_or_default();
                Migration::new(version, description.replace('_', " \
                    ").into(), MigrationType::Simple, SqlStr::from_static(sql), false)
            };
            Migrator::with_migrations(vec![
                $(of($name, include_str!(concat!("../../../migrations/", $folder, "/", $name, ".sql")))),+
            ])
        })
    };
}

/// The mirror's file.
pub(crate) static SQLITE: LazyLock<Migrator> = migrations!("sqlite":
    "0001_service",
    "0002_orders",
    "0003_products",
    "0005_whole_mirror",
    "0006_sweeps",
    "0007_shipment_rotation",
    "0008_labels",
    "0009_released_leases",
    "0010_missing",
    "0011_audits",
    "0013_outbox",
    "0015_wanted_anew",
    "0016_numeric_amounts",
    "0017_alarms_and_taking_orders",
    "0031_tokens_leave",
    "0032_passes_of_a_run",
    "0033_indexes_of_orders",
    "0034_due_reads",
    "0035_triggers_do_not_notify",
    "0036_due_reads_of_rows",
    "0037_erp_times_and_revisions",
    "0043_pauses",
    "0046_quarantine",
    "0049_row_counts",
    "0050_erasures",
    "0060_urgent_intents",
    "0061_known_states",
    "0062_noticed_changes",
    "0070_api_requests",
    "0080_actions",
    "0081_dispatches_that_wait",
    "0082_notices",
    "0084_lists",
    "0085_errors_with_their_message",
    "0086_consumers_by_sql",
    "0087_last_known_campaign_prices",
    "0088_lines_name_their_product",
    "0089_search",
    "0090_lookups_by_order",
    "0092_drift_numbers_and_symptoms",
    "0094_commands_begin_new",
    "0095_commands_that_come_back",
    "0096_shared_skus_and_turns",
    "0097_restores_are_explicit",
    "0098_errors_of_a_large_shop",
    "0099_counts_that_differ",
    "0100_differences_and_zero_prices",
    "0101_refunds_and_issued_documents",
    "0103_open_orders_by_their_index",
);

/// The second file, beside it.
pub(crate) static SQLITE_INBOX: LazyLock<Migrator> = migrations!("sqlite/inbox":
    "0004_inbox",
    "0012_webhook_addresses",
    "0014_effects",
    "0030_tokens",
    "0102_password_checks",
);

/// PostgreSQL, which has everything in one database.
pub(crate) static POSTGRES: LazyLock<Migrator> = migrations!("postgres":
    "0001_service",
    "0002_orders",
    "0003_products",
    "0004_inbox",
    "0005_whole_mirror",
    "0006_sweeps",
    "0007_shipment_rotation",
    "0008_labels",
    "0009_released_leases",
    "0010_missing",
    "0011_audits",
    "0012_webhook_addresses",
    "0013_outbox",
    "0014_effects",
    "0015_wanted_anew",
    "0016_numeric_amounts",
    "0017_alarms_and_taking_orders",
    "0030_tokens",
    "0031_tokens_leave",
    "0032_passes_of_a_run",
    "0033_indexes_of_orders",
    "0034_due_reads",
    "0035_triggers_do_not_notify",
    "0036_due_reads_of_rows",
    "0037_erp_times_and_revisions",
    "0043_pauses",
    "0046_quarantine",
    "0049_row_counts",
    "0050_erasures",
    "0060_urgent_intents",
    "0061_known_states",
    "0062_noticed_changes",
    "0070_api_requests",
    "0080_actions",
    "0081_dispatches_that_wait",
    "0082_notices",
    "0084_lists",
    "0085_errors_with_their_message",
    "0086_consumers_by_sql",
    "0087_last_known_campaign_prices",
    "0088_lines_name_their_product",
    "0089_search",
    "0090_lookups_by_order",
    "0092_drift_numbers_and_symptoms",
    "0094_commands_begin_new",
    "0095_commands_that_come_back",
    "0096_shared_skus_and_turns",
    "0097_restores_are_explicit",
    "0098_errors_of_a_large_shop",
    "0099_counts_that_differ",
    "0100_differences_and_zero_prices",
    "0101_refunds_and_issued_documents",
    "0102_password_checks",
    "0103_open_orders_by_their_index",
);

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[tokio::test]
    async fn every_file_of_the_folders_is_compiled_in_as_it_stands_there() {
        for (folder, compiled) in
            [("sqlite", &SQLITE), ("sqlite/inbox", &SQLITE_INBOX), ("postgres", &POSTGRES)]
        {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations").join(folder);
            let files = Migrator::new(path).await.unwrap();
            let told = |migrator: &Migrator| -> Vec<(i64, String, Vec<u8>, bool)> {
                let row =
                    |m: &Migration| (m.version, m.description.to_string(), m.checksum.to_vec(), m.no_tx);
                migrator.iter().map(row).collect()
            };
            assert_eq!(told(compiled), told(&files), "{folder}");
        }
    }
}
