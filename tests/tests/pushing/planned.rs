//! Price tiers: the marketplace accepts the planner's steps.

use espelho_tests::{sandbox, tiers};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_step_that_the_planner_gives_is_taken_and_the_tiers_are_as_wanted_in_the_end() {
    let executed = tiers::execute(&sandbox(0, 0).await, 800, 7).await;
    assert!(executed.is_flawless(), "{executed}");
    assert_eq!(executed.pairs.iter().sum::<usize>(), 800);
}
