//! Campaigns, their listings, and what the marketplace lists for the whole store.

use std::time::Duration;

use chrono::TimeDelta;
use espelho_model::{
    CampaignId,
    campaign::{Campaign, EligibleListing, EnrolledListing},
};
use espelho_store::{Lease, Listed, MissingListings, OpenCampaign};

use crate::{
    hand_clock::opening_hour,
    kinds::{KINDS, newest},
    specimens::{campaign, eligible, enrolled},
    tables::plain,
    world::{World, minha_loja, store_key},
};

async fn write(
    world: &World,
    lease: &Lease,
    id: i64,
    eligible: Vec<EligibleListing>,
    enrolled: Vec<EnrolledListing>,
) {
    let mut tx = world.store.begin(lease).await.unwrap();
    tx.mirror().write_campaign_listings(CampaignId::new(id), eligible, enrolled, true).await.unwrap();
    tx.commit().await.unwrap();
}

async fn listings(world: &World) -> Vec<String> {
    let enrolled = world.tables.either("enrolled", "CAST(enrolled AS INTEGER)");
    let sql = format!(
        "SELECT campaign_id || ' ' || item_id || ' ' || CAST({enrolled} AS TEXT) || ' ' || COALESCE(CAST(price AS TEXT), '-') \
         || ' ' || COALESCE(CAST(authorized_discount_price AS TEXT), '-') || ' ' || COALESCE(status, '-') \
         || CASE WHEN gone_at IS NULL THEN '' ELSE ' gone' END FROM campaign_listings ORDER BY campaign_id, item_id"
    );
    let rows = world.tables.list(&sql).await;
    rows.iter().map(|row| row.split(' ').map(plain).collect::<Vec<_>>().join(" ")).collect()
}

pub(crate) async fn what_could_join_and_what_has_joined_are_told_apart(world: &World) {
    let lease = world.lease().await;
    write(world, &lease, 7, vec![eligible("A", "a"), eligible("B", "b")], vec![enrolled("C", "c")]).await;
    let expected = ["7 A 0 99.9 - -", "7 B 0 99.9 - -", "7 C 1 - 87.4125 ACCEPTED"];
    assert_eq!(listings(world).await, expected);
    let told = newest(world).await;
    // One listing joins, one cannot any more.
    write(world, &lease, 7, vec![], vec![enrolled("B", "b"), enrolled("C", "c")]).await;
    let expected = ["7 A 0 99.9 - - gone", "7 B 1 - 87.4125 ACCEPTED", "7 C 1 - 87.4125 ACCEPTED"];
    assert_eq!(listings(world).await, expected);
    let feed = world.store.changes().changes_after(told, 10).await.unwrap();
    let feed: Vec<_> = feed.iter().map(|c| format!("{} {} {}", c.entity, c.key, c.op.as_str())).collect();
    assert_eq!(feed, ["campaign_listing 7/B update", "campaign_listing 7/A gone"]);
}

pub(crate) async fn listings_that_a_reading_misses_stay_until_they_are_believed_to_be_gone(world: &World) {
    let lease = world.lease().await;
    write(world, &lease, 7, vec![eligible("B", "b"), eligible("A", "a")], vec![enrolled("C", "c")]).await;
    write(world, &lease, 8, vec![eligible("A", "a")], vec![]).await;
    let mut tx = world.store.begin(&lease).await.unwrap();
    let (campaign, still) = (CampaignId::new(7), vec![enrolled("C", "new")]);
    let missing = tx.mirror().missing_campaign_listings(campaign, &[], &still).await.unwrap();
    assert_eq!(missing, MissingListings { keys: vec!["A".into(), "B".into()], live: 3, listed: 1 });
    let counts = tx.mirror().write_campaign_listings(campaign, vec![], still, false).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!((counts.changed, counts.gone), (1, 0), "what is listed is written all the same");
    assert!(listings(world).await.iter().all(|row| !row.ends_with(" gone")));
}

pub(crate) async fn what_is_listed_on_both_sides_has_joined(world: &World) {
    let lease = world.lease().await;
    write(world, &lease, 7, vec![eligible("A", "a")], vec![enrolled("A", "a")]).await;
    assert_eq!(listings(world).await, ["7 A 1 99.9 87.4125 ACCEPTED"]);
}

pub(crate) async fn one_listing_in_two_campaigns_is_two_rows(world: &World) {
    let lease = world.lease().await;
    write(world, &lease, 7, vec![eligible("A", "a")], vec![]).await;
    write(world, &lease, 8, vec![], vec![enrolled("A", "a")]).await;
    write(world, &lease, 8, vec![], vec![]).await;
    assert_eq!(listings(world).await, ["7 A 0 99.9 - -", "8 A 1 - 87.4125 ACCEPTED gone"]);
}

/// The document allows an enrollment without the name of its listing.
pub(crate) async fn an_enrollment_without_a_name_is_kept_under_one_of_its_own(world: &World) {
    let lease = world.lease().await;
    let nameless = |said: &str| EnrolledListing { item_id: None, ..enrolled("-", said) };
    for _ in 0..2 {
        write(world, &lease, 7, vec![], vec![nameless("a"), nameless("b"), enrolled("C", "c")]).await;
        assert_eq!(world.tables.count("campaign_listings WHERE item_id LIKE '?%'").await, 2);
        assert_eq!(world.tables.count("campaign_listings WHERE gone_at IS NULL").await, 3);
    }
    assert_eq!(world.tables.count("changes").await, 3);
}

fn closing(id: i64, deadline_in_s: Option<i64>, status: &str) -> Campaign {
    let opt_in_deadline = deadline_in_s.map(|s| opening_hour() + TimeDelta::seconds(s));
    Campaign { opt_in_deadline, status: Some(status.to_owned()), ..campaign(id, "a") }
}

pub(crate) async fn campaigns_that_take_listings_come_by_their_deadline(world: &World) {
    let lease = world.lease().await;
    let unknown = Campaign { status: None, ..closing(9, Some(90), "") };
    let campaigns = vec![
        closing(1, None, "active"),
        closing(2, Some(60), "draft"),
        closing(3, Some(-1), "active"),
        closing(4, Some(30), "finished"),
        closing(5, Some(30), "cancelled"),
        closing(6, Some(30), "active"),
        closing(7, Some(0), "active"),
        closing(8, Some(45), "paused_by_magic"),
        unknown,
    ];
    let expected_by_model: Vec<i64> =
        campaigns.iter().filter(|c| c.takes_listings(opening_hour())).map(|c| c.id.as_i64()).collect();
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.mirror().write_campaigns(campaigns).await.unwrap();
    tx.mirror().mark_listed_gone(Listed::Campaigns, vec!["8".to_owned()]).await.unwrap();
    tx.commit().await.unwrap();
    let open = async || world.store.lookups().campaigns_open_for_opt_in(&minha_loja()).await.unwrap();
    let ids = |open: &[OpenCampaign]| open.iter().map(|c| c.id.as_i64()).collect::<Vec<_>>();
    assert_eq!(ids(&open().await), [7, 6, 2, 9, 1]);
    let mut sorted: Vec<i64> = ids(&open().await).into_iter().chain([8]).collect();
    sorted.sort_unstable();
    assert_eq!(sorted, expected_by_model);
    assert_eq!(open().await[0].opt_in_deadline, Some(opening_hour()));
    world.clock.advance(Duration::from_secs(31));
    assert_eq!(ids(&open().await), [2, 9, 1]);
    assert!(world.store.lookups().campaigns_open_for_opt_in(&store_key("outra")).await.unwrap().is_empty());
}

pub(crate) async fn a_campaign_that_is_gone_takes_its_listings_along(world: &World) {
    let lease = world.lease().await;
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.mirror().write_campaigns(vec![campaign(7, "a"), campaign(8, "a")]).await.unwrap();
    tx.commit().await.unwrap();
    write(world, &lease, 7, vec![eligible("A", "a")], vec![enrolled("B", "b")]).await;
    write(world, &lease, 8, vec![eligible("A", "a")], vec![]).await;
    let told = newest(world).await;
    let mut tx = world.store.begin(&lease).await.unwrap();
    let asked = ["7", "7", "nowhere"].map(str::to_owned).to_vec();
    assert_eq!(tx.mirror().mark_listed_gone(Listed::Campaigns, asked.clone()).await.unwrap(), 1);
    assert_eq!(tx.mirror().mark_listed_gone(Listed::Campaigns, asked).await.unwrap(), 0);
    tx.commit().await.unwrap();
    assert_eq!(world.tables.count("campaign_listings WHERE gone_at IS NULL").await, 1);
    let feed = world.store.changes().changes_after(told, 10).await.unwrap();
    let keys: Vec<_> = feed.iter().map(|c| c.key.as_str()).collect();
    assert_eq!(keys, ["7", "7/A", "7/B"]);
    assert_eq!(world.store.mirror().live_ids(&minha_loja(), Listed::Campaigns, "").await.unwrap(), ["8"]);
}

pub(crate) async fn what_the_store_has_is_listed_in_order_and_marked_when_it_is_gone(world: &World) {
    let lease = world.lease().await;
    for (listed, table) in
        Listed::ALL.into_iter().zip(["campaigns", "listings", "media_images", "price_lists"])
    {
        let kind = KINDS.into_iter().find(|kind| kind.table == table).unwrap();
        let ids: Vec<String> = (10_000..11_501).map(|n: u32| n.to_string()).rev().collect();
        kind.keep(world, &lease, &ids.iter().map(String::as_str).collect::<Vec<_>>(), "dito").await;
        let mut tx = world.store.begin(&lease).await.unwrap();
        assert_eq!(
            tx.mirror().mark_listed_gone(listed, ids[1..1_501].to_vec()).await.unwrap(),
            1_500,
            "{table}"
        );
        tx.commit().await.unwrap();
        assert_eq!(
            world.store.mirror().live_ids(&minha_loja(), listed, "").await.unwrap(),
            ["11500"],
            "{table}"
        );
        kind.keep(world, &lease, &["10000", "10007"], "dito").await;
        let live = world.store.mirror().live_ids(&minha_loja(), listed, "10000").await.unwrap();
        assert_eq!(live, ["10007", "11500"], "{table}");
        assert!(world.store.mirror().live_ids(&store_key("outra"), listed, "").await.unwrap().is_empty());
    }
}
