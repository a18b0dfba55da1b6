//! Numbers, times and booleans of every mirrored table are exact, and of the types that people expect.

use espelho_model::CampaignId;

use crate::{
    examples::{decimal, time},
    kinds::KINDS,
    specimens::{campaign, commission, enrolled, financial, order_number, split},
    tables::plain,
    world::World,
};

const DECIMALS: [&str; 6] =
    ["0.10", "12.345", "-5.00", "999999999999999", "0.00999999999999999", "12345678901234.1"];

pub(crate) async fn amounts_are_exact(world: &World) {
    let lease = world.lease().await;
    let mut tx = world.store.begin(&lease).await.unwrap();
    let splits = DECIMALS.iter().enumerate().map(|(n, text)| {
        let mut split = split(&n.to_string(), "a");
        (split.amount, split.percent) = (Some(decimal(text)), Some(decimal(text)));
        split
    });
    let commissions = DECIMALS.iter().enumerate().map(|(n, text)| {
        let mut commission = commission(&n.to_string(), "a");
        (commission.base, commission.amount) = (Some(decimal(text)), Some(decimal(text)));
        commission
    });
    let view = financial(splits.collect(), vec![], commissions.collect());
    tx.mirror().write_financial(&order_number(), view).await.unwrap();
    let listings = DECIMALS.iter().enumerate().map(|(n, text)| {
        let mut listing = enrolled(&n.to_string(), "a");
        listing.authorized_discount_price = Some(decimal(text));
        listing
    });
    tx.mirror().write_campaign_listings(CampaignId::new(7), vec![], listings.collect(), true).await.unwrap();
    tx.commit().await.unwrap();
    for (table, column, order) in [
        ("order_splits", "amount", "id"),
        ("order_splits", "percent", "id"),
        ("order_commissions", "base", "line_id"),
        ("order_commissions", "amount", "line_id"),
        ("campaign_listings", "authorized_discount_price", "item_id"),
    ] {
        let read = format!("SELECT CAST({column} AS TEXT) FROM {table} ORDER BY {order}");
        assert_eq!(world.tables.numbers(&read).await, DECIMALS.map(plain), "{table}.{column}");
    }
}

pub(crate) async fn moments_are_kept_in_utc_to_the_microsecond(world: &World) {
    let lease = world.lease().await;
    let mut row = campaign(1, "a");
    row.starts_at = Some(time("2026-11-26T23:59:59.999999-03:00"));
    row.ends_at = Some(time("9999-12-31T23:59:59.999999Z"));
    row.opt_in_deadline = Some(time("1969-12-31T23:59:59.000001Z"));
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.mirror().write_campaigns(vec![row]).await.unwrap();
    tx.commit().await.unwrap();
    let row = world.tables.all("campaigns").await.remove(0);
    assert_eq!(row.get("starts_at"), Some("2026-11-27T02:59:59.999999Z"));
    assert_eq!(row.get("ends_at"), Some("9999-12-31T23:59:59.999999Z"));
    assert_eq!(row.get("opt_in_deadline"), Some("1969-12-31T23:59:59.000001Z"));
}

pub(crate) async fn columns_of_every_table_have_the_types_that_people_expect(world: &World) {
    let lease = world.lease().await;
    const DECIMAL: [&str; 2] = ["integer real", "numeric"];
    const TIME: [&str; 2] = ["text", "timestamp with time zone"];
    const TRUTH: [&str; 2] = ["integer", "boolean"];
    const WHOLE: [&str; 2] = ["integer", "bigint"];
    const JSON: [&str; 2] = ["text", "jsonb"];
    for kind in KINDS {
        kind.keep(world, &lease, &["1"], "dito").await;
        for column in world.tables.columns(kind.table).await {
            let stored = world.tables.stored_types(kind.table, &column.name).await;
            let expected = match column.name.as_str() {
                "gone_at" | "file" | "tracking_url" | "estimated_delivery_at" | "tracking" => continue,
                "raw" | "metadata" | "rules" | "price_range" => JSON,
                "content_hash" | "labels_ready" | "labels_total" | "position" => WHOLE,
                "amount"
                | "percent"
                | "base"
                | "price"
                | "discount_preview"
                | "discount_value"
                | "score"
                | "authorized_discount_price" => DECIMAL,
                "enrolled" | "in_use" | "has_landing_page" | "show_in_menu" | "label_generation_blocked" => {
                    TRUTH
                }
                name if name.starts_with("is_") || name.starts_with("allows_") => TRUTH,
                name if name.ends_with("_at") || name == "opt_in_deadline" => TIME,
                _ => ["text", "text"],
            };
            let [sqlite, postgres] = expected;
            let expected = world.tables.either(sqlite, postgres);
            let fits = stored.len() == 1 && expected.contains(stored[0].as_str());
            assert!(fits, "{}.{}: {stored:?}", kind.table, column.name);
        }
    }
}
