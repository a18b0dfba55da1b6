//! The conformance suite: every public function of the store, on SQLite and on PostgreSQL.
//!
//! `suite` has one file per aggregate; each test is a plain function of a [`world::World`]. The one list below runs
//! all of them on both databases. `parity` compares both databases; `sqlite_file` and `postgres_server` test what
//! only one of them has.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod examples;
mod generated;
mod grants;
mod hand_clock;
mod kinds;
mod migration;
mod parity;
mod postgres_server;
mod previous_release;
mod rehearsal;
mod specimens;
mod sqlite_file;
mod sqlite_lost;
mod sqlite_restored;
mod suite;
mod tables;
mod world;

/// Makes two tests of each function: `sqlite::file::name` and `postgres::file::name`.
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
    schema:
        a_fresh_database_has_the_schema_of_its_migrations,
        whatever_was_dropped_is_found_and_made_again_by_the_next_opening,
        an_object_with_another_definition_is_found_and_made_again,
        a_missing_table_is_found_and_nothing_makes_an_empty_one;
    sweeps:
        a_sweep_that_fails_keeps_when_it_last_went_well,
        what_the_sweeps_remember_is_kept_by_store,
        an_order_is_as_it_was_received_unless_it_is_gone,
        rows_are_counted_unless_they_are_gone_or_closed;
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
        a_line_without_a_sku_has_that_of_its_product,
        an_order_may_have_ten_thousand_lines,
        a_page_of_any_size_arrives_whole;
    products:
        a_new_product_arrives_with_tiers_and_stock,
        products_that_share_a_sku_are_told_as_long_as_they_do,
        a_sku_is_noted_as_soon_as_products_share_it,
        a_product_is_read_again_at_once_when_another_one_leaves_its_sku,
        a_product_of_nothing_but_its_id_is_all_null,
        a_changed_product_is_overwritten_in_every_column,
        tiers_and_stock_that_vanish_are_marked_and_come_back,
        of_tiers_and_stock_with_one_key_the_last_is_kept,
        stock_follows_its_sku_to_another_product,
        a_page_of_new_and_known_products_arrives_whole,
        locations_are_mirrored_and_listed,
        of_locations_with_one_id_the_last_is_kept;
    values:
        decimals_of_fifteen_digits_are_exact,
        longer_decimals_keep_at_least_their_first_fifteen_digits,
        amounts_compare_sort_and_add_up_as_numbers,
        drift_is_a_difference_of_numbers_and_not_of_digits,
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
    mirrored_tables:
        a_new_row_has_something_in_every_column,
        a_row_that_is_the_same_again_is_neither_written_nor_told,
        a_row_that_changed_is_written_and_told,
        rows_that_are_missing_are_gone_and_come_back,
        rows_that_are_not_all_there_are_leave_the_others_alone,
        the_rows_of_another_order_are_left_alone,
        stores_are_mirrored_apart,
        a_page_that_is_not_kept_leaves_nothing_and_is_not_told,
        of_rows_with_one_id_the_last_is_kept,
        any_number_of_rows_arrives_whole,
        long_and_strange_texts_arrive_as_they_are,
        escapes_that_no_database_holds_are_shown_in_every_json_column,
        the_same_object_read_differently_is_a_change;
    mirrored_values:
        amounts_are_exact,
        moments_are_kept_in_utc_to_the_microsecond,
        columns_of_every_table_have_the_types_that_people_expect;
    shipments:
        a_label_is_to_be_fetched_when_it_is_ready_and_has_no_file,
        a_label_that_is_the_same_keeps_its_file,
        a_label_that_changed_has_no_file_until_it_is_fetched_again,
        a_label_that_was_replaced_is_gone_and_its_successor_is_fetched,
        a_shipment_that_is_gone_takes_its_labels_along,
        a_shipment_that_moves_to_another_order_is_one_row,
        a_file_belongs_to_the_label_that_it_was_fetched_for,
        labels_of_an_order_that_is_gone_are_not_fetched,
        the_file_of_a_label_that_changed_or_went_is_void_and_kept,
        only_labels_in_wanted_formats_and_of_late_are_to_be_fetched,
        orders_whose_labels_are_being_made_or_not_yet_are_found_by_when_they_were_looked_at;
    tracking:
        the_way_of_a_shipment_is_told_when_it_changes,
        a_shipment_that_is_written_again_keeps_its_way,
        a_way_without_a_shipment_of_the_order_is_passed_by,
        ways_without_ids_are_told_by_their_codes;
    campaigns:
        what_could_join_and_what_has_joined_are_told_apart,
        listings_that_a_reading_misses_stay_until_they_are_believed_to_be_gone,
        what_is_listed_on_both_sides_has_joined,
        one_listing_in_two_campaigns_is_two_rows,
        an_enrollment_without_a_name_is_kept_under_one_of_its_own,
        campaigns_that_take_listings_come_by_their_deadline,
        a_campaign_that_is_gone_takes_its_listings_along,
        what_the_store_has_is_listed_in_order_and_marked_when_it_is_gone;
    partial_updates:
        an_end_does_not_unsay_the_beginning,
        an_older_word_fills_what_is_missing_and_overrules_nothing,
        what_is_opened_again_has_no_end_any_more,
        the_order_of_deliveries_makes_no_difference,
        an_occurrence_that_was_resolved_stays_so,
        a_review_changes_what_it_says_and_leaves_the_rest,
        a_message_that_is_delivered_again_keeps_its_time,
        messages_of_several_conversations_come_at_once,
        what_only_deliveries_tell_stays_when_the_deliveries_are_cleared_away;
    profile:
        a_store_is_told_by_its_session_and_its_page,
        a_page_that_may_not_be_read_leaves_its_columns_empty,
        a_session_that_does_not_say_much_is_filled_from_the_page;
    feed_consumers:
        changes_are_read_in_order_and_a_few_at_a_time,
        the_feed_knows_its_first_and_last_number,
        a_consumer_never_goes_back_and_never_ahead,
        only_what_is_old_and_acknowledged_by_all_is_pruned,
        a_consumer_that_is_forgotten_is_not_waited_for,
        a_long_feed_is_pruned_to_its_end,
        who_follows_the_feed_misses_nothing_while_eight_stores_write;
    due_work:
        open_orders_are_those_that_no_status_has_ended,
        open_orders_come_in_pages,
        open_orders_come_by_the_age_of_their_shipments,
        orders_are_due_by_their_age,
        products_take_turns,
        a_reading_that_failed_is_a_products_turn_and_no_reading,
        orders_whose_sides_were_never_read_are_found,
        open_orders_whose_sides_were_not_read_are_found_by_number,
        orders_that_changed_since_a_side_was_read_are_found,
        what_was_read_of_an_order_is_known_with_its_fingerprint,
        every_table_is_counted_with_what_is_gone;
    views:
        an_order_is_open_until_a_status_has_ended_it,
        an_open_order_says_how_old_it_is,
        the_next_deadline_of_an_order_is_the_nearest,
        every_deadline_is_a_row_until_it_no_longer_matters,
        the_invoice_that_counts_is_neither_replaced_nor_gone,
        an_error_is_shown_with_its_row_and_its_next_step,
        a_deadline_of_the_marketplace_is_shown_until_it_is_met,
        an_order_is_new_until_the_erp_has_taken_it,
        orders_at_the_fiscal_gate_are_counted_once_a_store_is_a_week_old,
        what_waits_is_shown_with_what_it_waits_for,
        the_figures_of_a_day_count_what_the_views_show,
        orders_with_the_same_need_are_listed_by_it,
        a_name_is_found_in_every_store_and_a_row_by_its_state,
        a_search_knows_other_spellings_and_a_thing_knows_the_rows_to_decide_about;
    alarms:
        alarms_of_a_process_that_lives_are_told_once_for_each_cause,
        where_no_process_lives_the_service_is_stopped,
        a_new_sign_of_life_replaces_the_alarms_of_the_process,
        a_process_that_stops_takes_its_alarms_along;
    api:
        every_table_and_column_is_read_or_hidden_by_name,
        every_table_is_read_with_every_column,
        pages_show_each_row_once_whatever_is_written_meanwhile,
        views_are_paged_in_the_order_of_their_key,
        rows_are_filtered_by_every_kind_of_column,
        a_batch_is_written_with_the_state_and_revision_of_each_row,
        an_order_is_claimed_once_and_what_was_said_of_it_stays,
        a_request_that_is_sent_again_writes_once,
        of_twenty_equal_requests_at_once_one_writes,
        a_request_that_fails_leaves_neither_rows_nor_its_key;
    notices:
        one_process_tells_until_its_heartbeat_is_silent,
        a_message_goes_out_once_by_each_channel_and_so_does_its_end,
        an_attempt_that_a_kill_cut_short_is_made_again,
        a_message_that_fails_waits_and_its_end_waits_for_it,
        a_channel_that_works_again_takes_what_waits,
        what_was_told_without_a_record_is_recorded_as_it_is,
        a_message_is_forgotten_three_months_after_its_end,
        alarms_of_other_processes_are_read_while_they_live;
    pauses:
        a_pause_lasts_until_its_end_and_is_forgotten_a_day_later,
        a_pause_that_is_given_again_keeps_its_beginning_and_gets_the_new_end,
        a_pause_without_a_time_as_its_end_does_not_lift_the_others,
        a_pause_is_ended_by_its_store_and_scope,
        an_act_is_on_record_before_it_begins_and_when_it_has_ended;
    erasures:
        a_person_is_erased_from_every_table_and_the_order_stays,
        what_is_written_of_an_erased_order_has_no_person,
        an_older_order_of_an_erased_person_is_recognized_and_a_younger_one_is_not,
        a_person_is_found_by_each_identifier_with_all_orders,
        what_stands_for_many_identifies_nobody,
        everyone_in_a_store_is_erased_and_nobody_comes_back;
    privacy:
        an_installation_keeps_the_identity_that_was_made_once,
        what_the_policy_leaves_out_reaches_no_table,
        what_the_policy_keeps_is_kept_to_the_byte,
        a_row_is_unchanged_under_its_policy_and_written_again_under_another,
        a_hashed_person_stays_one_person_and_is_found_to_be_forgotten,
        old_objects_and_messages_are_blanked_once_and_stay_so,
        old_runs_and_commands_go_except_what_later_work_relies_on;
    unknown_stores:
        a_row_of_a_store_that_nobody_has_is_answered,
        a_row_whose_store_is_no_text_is_answered_once_and_seen,
        a_store_that_another_works_on_is_not_unknown,
        a_row_returns_when_its_store_is_configured,
        an_order_that_the_erp_took_for_a_store_that_was_never_here_is_in_trouble;
    intents:
        an_answer_is_for_the_intent_that_was_read,
        a_word_that_is_no_state_leaves_no_row_unseen,
        a_new_command_has_no_outcome_whatever_its_insert_says,
        only_a_restore_that_says_so_keeps_the_rows_as_they_are,
        what_the_policy_of_the_version_before_holds_stays_held,
        a_release_is_for_the_command_that_was_seen,
        the_states_of_rows_are_found_by_their_keys,
        a_decision_is_for_the_row_that_was_seen,
        a_command_that_is_corrected_is_new_and_one_that_is_done_is_not,
        a_command_is_marked_before_its_request_and_changes_no_more,
        a_row_whose_key_is_corrected_asks_for_something_else,
        a_row_that_was_written_without_its_trigger_is_opened_once;
    open_pages:
        open_commands_come_in_pages_each_once_and_the_oldest_first,
        long_data_of_a_command_is_read_when_its_turn_comes,
        another_wording_of_a_command_is_told_from_the_first,
        open_levels_come_in_pages_by_sku_and_location,
        a_command_that_is_too_large_is_told_so_and_never_read,
        a_row_with_a_key_that_is_far_too_long_is_never_read_and_told_so,
        open_prices_come_in_pages_by_sku,
        levels_that_go_to_zero_are_counted_where_the_mirror_does_not_show_zero,
        what_is_urgent_is_found_in_a_crowd_and_a_status_waits_for_what_is_ahead_of_it,
        a_level_is_read_again_while_it_is_wanted_as_it_was,
        a_group_of_rows_in_trouble_has_the_key_the_words_and_the_step_of_one_row;
    diagnosis:
        a_database_of_this_version_is_opened_as_it_is,
        a_database_of_another_version_is_not_opened_by_who_only_looks,
        all_stores_are_summed_up_at_once,
        recorded_row_counts_say_when_they_were_counted,
        whether_a_store_is_held_is_seen_without_touching_its_lock,
        an_order_is_explained_with_all_that_hangs_on_it,
        every_row_is_explained_by_its_name_in_the_feed,
        a_mirrored_order_is_read_with_every_column_and_all_that_belongs_to_it,
        errors_are_read_of_one_store_or_of_all,
        the_words_on_rows_are_read_in_the_language_of_who_asks,
        who_listens_hears_of_changes_where_the_database_tells;
    passes:
        a_pass_is_read_back_as_it_was_kept,
        pages_come_back_in_the_order_of_their_steps,
        the_pages_of_a_long_pass_come_a_part_at_a_time,
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
        the_last_twenty_runs_are_told_newest_first,
        only_a_complete_pass_has_all_products_and_only_a_whole_one_has_walked_the_orders;
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
        rows_that_failed_are_told_with_the_time_of_their_last_failure,
        failures_of_other_resources_and_stores_are_left_alone,
        malformed_deliveries_are_told_for_as_long_as_they_are_kept;
    inbox:
        a_delivery_is_read_back_by_another_as_it_came,
        the_same_delivery_twice_is_two_rows,
        deliveries_of_any_number_are_kept_in_their_order,
        what_is_handled_is_not_told_again,
        many_deliveries_are_handled_at_once,
        the_inbox_of_a_store_is_its_own,
        the_age_is_that_of_the_oldest_open_delivery,
        only_what_was_handled_before_is_pruned,
        a_delivery_is_replayed_as_often_as_it_is_asked_for,
        deliveries_are_selected_by_name_time_and_event,
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
    claims:
        of_a_thousand_invoicers_exactly_one_takes_each_order;
    alphanumeric_ids:
        ten_thousand_access_keys_with_letters_come_back_unchanged,
        a_cnpj_with_letters_comes_back_unchanged;
    isolation:
        one_order_number_in_two_stores_is_two_rows,
        what_happens_in_one_store_is_the_same_whatever_happens_in_another;
}
