//! The request budget.

use chrono::{DateTime, TimeDelta, Utc};
use espelho_store::RateBlock;

use crate::{
    hand_clock::opening_hour,
    world::{World, minha_loja, store_key},
};

fn block(block: i64, requests: i64, free_at: Option<DateTime<Utc>>) -> RateBlock {
    RateBlock { block, requests, free_at }
}

fn seconds(n: i64) -> DateTime<Utc> {
    opening_hour() + TimeDelta::seconds(n)
}

async fn keep(world: &World, blocks: &[RateBlock], now: DateTime<Utc>) {
    world.store.tokens().keep_rate_blocks(&minha_loja(), blocks, now).await.unwrap();
}

async fn blocks(world: &World) -> Vec<RateBlock> {
    world.store.tokens().rate_blocks(&minha_loja()).await.unwrap()
}

pub(crate) async fn blocks_are_read_back_in_order(world: &World) {
    assert_eq!(blocks(world).await, []);
    let [past, first, second] =
        [block(-3, 1, Some(seconds(60))), block(2, 20, None), block(10, 5, Some(seconds(61)))];
    keep(world, &[second, past, first], seconds(0)).await;
    assert_eq!(blocks(world).await, [past, first, second]);
    assert_eq!(world.store.tokens().rate_blocks(&store_key("outra")).await.unwrap(), []);
}

pub(crate) async fn a_block_is_overwritten_by_its_number(world: &World) {
    keep(world, &[block(1, 20, None), block(2, 20, None)], seconds(0)).await;
    keep(world, &[block(1, 7, Some(seconds(70)))], seconds(1)).await;
    assert_eq!(blocks(world).await, [block(1, 7, Some(seconds(70))), block(2, 20, None)]);
}

pub(crate) async fn blocks_that_are_free_are_forgotten_and_those_in_use_are_not(world: &World) {
    let [done, just_done, later, in_use] = [
        block(1, 20, Some(seconds(10))),
        block(2, 20, Some(seconds(20))),
        block(3, 20, Some(seconds(30))),
        block(4, 20, None),
    ];
    keep(world, &[done, just_done, later, in_use], seconds(0)).await;
    world.store.tokens().keep_rate_blocks(&store_key("outra"), &[done], seconds(0)).await.unwrap();
    keep(world, &[], seconds(20)).await;
    assert_eq!(blocks(world).await, [just_done, later, in_use]);
    keep(world, &[], seconds(3_600)).await;
    assert_eq!(blocks(world).await, [in_use]);
    assert_eq!(world.store.tokens().rate_blocks(&store_key("outra")).await.unwrap(), [done]);
}

pub(crate) async fn of_blocks_with_one_number_the_last_is_kept(world: &World) {
    // Enough rows for one multi-row statement, which PostgreSQL refuses if it meets a row twice.
    let first = [1, 2, 3, 4, 5].map(|n| block(n, 20, None));
    let last = [1, 2, 3, 4, 5].map(|n| block(n, 7, Some(seconds(70))));
    keep(world, &[first, last].concat(), seconds(0)).await;
    assert_eq!(blocks(world).await, last);
}
