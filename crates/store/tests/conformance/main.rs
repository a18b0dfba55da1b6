//! The conformance suite: every public function of the store, on SQLite and on PostgreSQL.
//!
//! `suite` holds one file per aggregate, each test a plain function of a [`world::World`]; the one list below
//! runs all of them on both databases. Beside it stand `parity`, which looks at both databases at once, and
//! what only one of them has: `sqlite_file` and `postgres_server`.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod examples;
mod generated;
mod hand_clock;
mod parity;
mod postgres_server;
mod sqlite_file;
mod suite;
mod tables;
mod world;

/// Makes two tests of every function: `sqlite::file::name` and `postgres::file::name`.
macro_rules! conformance {
    ($($file:ident: $($name:ident),+ $(,)?;)+) => {
        mod sqlite {
            $(mod $file {
                $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    crate::suite::$file::$name(&crate::world::World::on_sqlite().await).await;
                })+
            })+
        }
        mod postgres {
            $(mod $file {
                $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    crate::suite::$file::$name(&crate::world::World::on_postgres().await).await;
                })+
            })+
        }
    };
}

conformance! {
    opening:
        every_statement_can_be_prepared,
        opening_twice_is_harmless,
        a_database_that_a_newer_espelho_migrated_is_refused,
        a_migration_that_was_changed_afterwards_is_refused,
        a_closed_store_is_not_writable,
        a_question_is_answered_as_text,
        a_question_about_what_is_not_text_is_refused;
    leases:
        a_second_holder_in_the_same_process_is_refused_by_name,
        a_second_holder_over_another_connection_is_refused_by_name,
        a_released_lease_can_be_taken_again,
        a_dropped_lease_can_be_taken_again,
        the_fence_rises_with_every_holder,
        stores_are_leased_apart,
        writing_renews_the_lease,
        nothing_is_written_under_a_lease_that_was_overtaken;
    identity:
        a_store_is_stamped_once_and_known_ever_after,
        another_environment_is_refused_and_nothing_changes,
        a_moved_marketplace_is_followed;
    orders:
        a_new_order_arrives_with_its_lines,
        an_order_of_nothing_but_its_number_is_all_null,
        a_changed_order_is_overwritten_in_every_column,
        an_order_that_is_the_same_again_keeps_its_time,
        a_line_that_vanishes_is_marked_and_one_that_comes_back_is_not,
        a_new_order_leaves_the_lines_of_others_alone,
        of_lines_with_one_id_the_last_is_kept,
        an_order_may_have_ten_thousand_lines,
        a_page_of_any_size_arrives_whole;
    products:
        a_new_product_arrives_with_tiers_and_stock,
        a_product_of_nothing_but_its_id_is_all_null,
        a_changed_product_is_overwritten_in_every_column,
        tiers_and_stock_that_vanish_are_marked_and_come_back,
        of_tiers_and_stock_with_one_key_the_last_is_kept,
        stock_follows_its_sku_to_another_product,
        locations_are_mirrored_and_listed,
        of_locations_with_one_id_the_last_is_kept;
    values:
        decimals_are_exact,
        zero_is_zero_however_it_was_written,
        the_sum_of_a_tenth_and_two_tenths_is_three_tenths,
        a_count_of_items_is_a_number,
        times_are_exact_to_the_microsecond,
        a_leap_second_is_kept_as_a_time_that_databases_know,
        accents_emoji_and_quotes_arrive_as_they_are,
        escapes_that_no_database_holds_are_shown_as_text,
        columns_have_the_types_that_people_expect;
    mirror:
        what_is_known_is_found_and_what_is_not_is_absent,
        what_is_known_is_found_however_many_are_asked_for,
        a_row_that_is_listed_differently_is_relisted_without_a_change,
        rows_that_are_gone_are_marked_and_still_counted,
        rows_that_are_gone_do_not_bear_a_later_time,
        what_hangs_on_a_row_goes_and_comes_back_with_it,
        a_row_that_is_written_again_is_no_longer_gone,
        thousands_of_rows_can_be_gone_at_once,
        live_keys_come_a_thousand_at_a_time_in_order;
    feed:
        insert_update_and_gone_are_told_in_their_order,
        rows_of_one_page_are_told_in_its_order,
        the_feed_counts_up_over_a_page_that_was_not_kept;
    passes:
        a_pass_is_read_back_as_it_was_kept,
        pages_come_back_in_the_order_of_their_steps,
        a_new_pass_forgets_the_one_before,
        an_ended_pass_leaves_nothing,
        passes_of_other_resources_and_stores_are_left_alone,
        a_page_that_is_not_committed_leaves_neither_rows_nor_checkpoint,
        a_step_that_is_kept_twice_is_refused;
    runs:
        a_run_ends_with_its_figures,
        a_run_that_was_killed_is_interrupted_by_the_next,
        runs_of_other_stores_are_left_running,
        a_run_under_a_lost_lease_does_not_begin,
        the_last_twenty_runs_are_told_newest_first;
    tokens:
        a_token_is_kept_until_the_next_one,
        a_token_is_never_shown,
        logins_are_told_from_a_time_on_oldest_first,
        a_login_that_succeeds_replaces_its_attempt,
        logins_of_more_than_a_week_ago_are_forgotten;
    rate:
        blocks_are_read_back_in_order,
        a_block_is_overwritten_by_its_number,
        blocks_that_are_free_are_forgotten_and_those_in_use_are_not,
        of_blocks_with_one_number_the_last_is_kept;
    failures:
        a_row_that_failed_is_told_with_its_cause,
        a_row_that_fails_again_is_told_once,
        a_row_that_fails_twice_on_a_page_is_told_once,
        a_row_that_is_mended_is_told_no_more,
        failures_of_other_resources_and_stores_are_left_alone;
    inbox:
        a_delivery_is_read_back_by_another_as_it_came,
        the_same_delivery_twice_is_two_rows,
        deliveries_of_any_number_are_kept_in_their_order,
        what_is_handled_is_not_told_again,
        many_deliveries_are_handled_at_once,
        the_inbox_of_a_store_is_its_own,
        the_age_is_that_of_the_oldest_open_delivery,
        only_what_was_handled_before_is_pruned,
        two_receivers_keep_deliveries_at_once;
    webhook_secrets:
        a_new_secret_retires_the_one_before_which_stays_for_a_day,
        the_same_secret_again_changes_nothing,
        a_secret_that_comes_back_is_the_current_one,
        secrets_of_other_stores_are_left_alone,
        a_secret_is_never_shown_and_knows_how_long_it_is_accepted;
    concurrency:
        eight_stores_over_two_connections_write_their_pages_at_once,
        eight_tasks_under_one_lease_write_their_pages_at_once,
        readers_see_whole_pages_while_they_are_written;
    isolation:
        one_order_number_in_two_stores_is_two_rows,
        what_happens_in_one_store_is_the_same_whatever_happens_in_another;
}
