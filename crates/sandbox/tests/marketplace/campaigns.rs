//! Campaigns: the calendar, one campaign, the summary, and what the platform does ("Campaign" of the document).

use std::collections::BTreeSet;

use crate::support::{Bench, NOON, unlimited};
use espelho_sandbox::{CampaignDiscount, ListShape, NewCampaign, Options};
use reqwest::Method;
use serde_json::{Value, json};

const CAMPAIGNS: &str = "/api/seller/discounts/campaigns";
const CALENDAR: &str = "/api/seller/discounts/campaigns/calendar";
const SUMMARY: &str = "/api/seller/discounts/campaigns/summary";

async fn calendar(bench: &Bench) -> Vec<Value> {
    bench.get(&format!("{CALENDAR}?per_page=100")).await.data()["data"].as_array().unwrap().clone()
}

/// Every campaign of a new sandbox, whatever its state.
async fn all(bench: &Bench) -> Vec<Value> {
    let mut campaigns = Vec::new();
    for id in 101.. {
        let reply = bench.get(&format!("{CAMPAIGNS}/{id}")).await;
        if reply.status == 404 {
            return campaigns;
        }
        campaigns.push(reply.data());
    }
    unreachable!()
}

fn seconds(time: &Value) -> Option<i64> {
    Some(chrono::DateTime::parse_from_rfc3339(time.as_str()?).unwrap().timestamp())
}

fn texts<'a>(campaigns: &'a [Value], field: &str) -> BTreeSet<&'a str> {
    campaigns.iter().map(|campaign| campaign[field].as_str().unwrap()).collect()
}

// proves: CMP-015, CMP-018, CMP-019, CMP-020, CMP-021, CMP-022, CMP-023, CMP-024, CMP-025, CMP-026, CMP-027, CMP-028
// proves: CMP-029, CMP-030, CMP-031, CMP-032, ENV-001, ENV-002, ENV-004
#[tokio::test]
async fn a_new_sandbox_has_campaigns_of_every_kind_and_shape() {
    let bench = Bench::start(unlimited()).await;
    let campaigns = all(&bench).await;
    assert!(campaigns.len() >= 12);
    assert_eq!(texts(&campaigns, "type"), BTreeSet::from(["collective_buying", "standard"]));
    assert_eq!(texts(&campaigns, "status"), BTreeSet::from(["active", "cancelled", "draft", "finished"]));
    let of = |field: &'static str| campaigns.iter().map(move |campaign| &campaign[field]);
    for field in [
        "starts_at",
        "ends_at",
        "opt_in_deadline",
        "primary_color",
        "secondary_color",
        "landing_page_slug",
        "rules",
    ] {
        assert!(of(field).any(Value::is_null) && of(field).any(|value| !value.is_null()), "{field}");
    }
    for field in ["has_landing_page", "show_in_menu"] {
        assert_eq!(of(field).map(|value| value.as_bool().unwrap()).collect::<BTreeSet<_>>().len(), 2);
    }
    for campaign in &campaigns {
        assert_eq!(campaign["has_landing_page"], json!(campaign["landing_page_slug"].is_string()));
        assert_eq!(campaign["uid"].as_str().unwrap().len(), 26);
    }
    assert_eq!(texts(&campaigns, "uid").len(), campaigns.len());
    let config = |rules: &Value| rules["coupon_config"].clone();
    let discounts: Vec<Value> = of("rules").map(config).filter(|config| !config.is_null()).collect();
    assert_eq!(texts(&discounts, "discount_type"), BTreeSet::from(["fixed", "percentage"]));
    assert!(discounts.iter().all(|discount| discount["value"].is_number()));
}

#[tokio::test]
async fn the_same_seed_gives_the_same_campaigns() {
    let (a, b) = (Bench::start(unlimited()).await, Bench::start(unlimited()).await);
    assert_eq!(a.get(CALENDAR).await.bytes, b.get(CALENDAR).await.bytes);
}

// proves: CMP-001, CMP-004, CMP-005, CMP-006, CMP-007
#[tokio::test]
async fn the_calendar_lists_what_has_not_ended_nor_was_cancelled_nearest_first() {
    let bench = Bench::start(unlimited()).await;
    let listed = calendar(&bench).await;
    let now = NOON / 1000;
    let is_open = |campaign: &Value| {
        campaign["status"] != "cancelled" && seconds(&campaign["ends_at"]).is_none_or(|end| end > now)
    };
    let campaigns = all(&bench).await;
    let expected: BTreeSet<_> =
        campaigns.iter().filter(|c| is_open(c)).map(|c| c["id"].as_u64().unwrap()).collect();
    let ids: BTreeSet<_> = listed.iter().map(|campaign| campaign["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, expected);
    assert!(expected.len() < campaigns.len());
    assert!(texts(&listed, "status").contains("draft"));
    let starts: Vec<_> = listed.iter().map(|c| seconds(&c["starts_at"]).unwrap_or(i64::MAX)).collect();
    assert!(starts.is_sorted(), "{starts:?}");
}

// proves: CMP-004, CMP-005
#[tokio::test]
async fn a_campaign_leaves_the_calendar_when_it_ends_or_is_cancelled() {
    let bench = Bench::start(unlimited()).await;
    let new = NewCampaign { ends_in: Some(60), ..NewCampaign::default() };
    let ending = bench.control().campaigns().create(&new).unwrap();
    let cancelled = bench.control().campaigns().create(&NewCampaign::default()).unwrap();
    let ids = async || -> Vec<u64> {
        calendar(&bench).await.iter().map(|campaign| campaign["id"].as_u64().unwrap()).collect()
    };
    assert!(ids().await.contains(&ending) && ids().await.contains(&cancelled));
    bench.control().campaigns().set_status(cancelled, "cancelled");
    bench.hands.forward(59);
    assert!(ids().await.contains(&ending) && !ids().await.contains(&cancelled));
    bench.hands.forward(1);
    assert!(!ids().await.contains(&ending));
    let shown = bench.get(&format!("{CAMPAIGNS}/{ending}")).await.data();
    assert_eq!(shown["status"], json!("finished"), "its end moved it");
}

// proves: CMP-002, CMP-003, ENV-006, ENV-007, ENV-008, ENV-009, ENV-010, ENV-011, ENV-012, ENV-013, ENV-014, ENV-015
#[tokio::test]
async fn the_paginated_envelope_tells_where_a_page_stands_whatever_shape_other_listings_have() {
    for list_shape in [ListShape::Flat, ListShape::Laravel, ListShape::Envelope] {
        let bench = Bench::start(Options { list_shape, ..unlimited() }).await;
        for _ in 0..20 {
            bench.control().campaigns().create(&NewCampaign::default());
        }
        let total = calendar(&bench).await.len() as u64;
        let pages = total.div_ceil(15);
        for (query, page) in
            [("", 1), ("?page=1&per_page=15", 1), ("?page=2", 2), ("?page=3", 3), ("?page=9", 9)]
        {
            let data = bench.get(&format!("{CALENDAR}{query}")).await.data();
            let rows = data["data"].as_array().unwrap().len() as u64;
            let from = if rows == 0 { 0 } else { (page - 1) * 15 + 1 };
            let to = if rows == 0 { 0 } else { from + rows - 1 };
            let expected = json!({
                "search_query": "", "filters": [],
                "pagination": {
                    "page": page, "per_page": 15, "last_page": pages,
                    "has_prev_page": page > 1, "has_next_page": page < pages,
                    "records": {"from": from, "to": to, "records": total},
                },
            });
            assert_eq!(data["meta"], expected, "{query}");
            assert_eq!(rows, total.saturating_sub((page - 1) * 15).min(15), "{query}");
        }
        let two = bench.get(&format!("{CALENDAR}?per_page=2&page=2")).await.data();
        assert_eq!(two["data"].as_array().unwrap()[..], calendar(&bench).await[2..4]);
        for query in
            ["page=0", "page=x", "per_page=0", "per_page=101", "per_page=-1", "page=99999999999999999999"]
        {
            let errors = bench.get(&format!("{CALENDAR}?{query}")).await.refused(422, "VALIDATION_ERROR");
            assert!(errors[query.split('=').next().unwrap()][0].is_string());
        }
    }
}

// proves: CMP-016, CMP-017, CMP-036, CMP-047, ERR-006
#[tokio::test]
async fn a_campaign_is_named_by_its_integer_alone() {
    let bench = Bench::start(unlimited()).await;
    let uid = calendar(&bench).await[0]["uid"].as_str().unwrap().to_owned();
    for id in ["999", "0", "-1", "0101", "+101", "101.0", "101abc", "%20101", "99999999999999999999999", &uid]
    {
        for path in ["", "/eligible-products", "/my-products"] {
            let reply = bench.get(&format!("{CAMPAIGNS}/{id}{path}")).await;
            assert_eq!(reply.refused(404, "NOT_FOUND"), json!([]), "{id}{path}");
        }
        let body = json!({"publication_ids": ["ANU-1000001000000"]});
        bench.post(&format!("{CAMPAIGNS}/{id}/opt-in"), &body).await.refused(404, "NOT_FOUND");
    }
}

// proves: CMP-008, CMP-009, CMP-012, CMP-013, CMP-014
#[tokio::test]
async fn the_summary_counts_the_calendar_and_names_the_nearest_deadlines() {
    let bench = Bench::start(unlimited()).await;
    let summary = bench.get(SUMMARY).await.data();
    let listed = calendar(&bench).await;
    assert_eq!(summary["active_campaigns"], json!(listed.len()));
    assert!(listed.iter().any(|campaign| campaign["status"] != "active"));
    let now = NOON / 1000;
    let mut ahead: Vec<_> = listed
        .iter()
        .filter(|campaign| seconds(&campaign["opt_in_deadline"]).is_some_and(|deadline| deadline > now))
        .map(|c| json!({"id": c["id"], "name": c["name"], "opt_in_deadline": c["opt_in_deadline"]}))
        .collect();
    ahead.sort_by_key(|entry| seconds(&entry["opt_in_deadline"]));
    assert!(ahead.len() > 5);
    ahead.truncate(5);
    assert_eq!(summary["upcoming_deadlines"], json!(ahead));
    let next = ahead[0]["id"].as_u64().unwrap();
    assert!(bench.control().campaigns().set_deadline(next, Some(0)));
    let summary = bench.get(SUMMARY).await.data();
    assert_ne!(summary["upcoming_deadlines"][0]["id"], json!(next), "it has passed");
}

// proves: AUT-035, AUT-036, AUT-038, ERR-004, ENV-021
#[tokio::test]
async fn campaign_routes_want_their_ability_and_name_the_missing_one() {
    let bench = Bench::start(unlimited()).await;
    let reads = ["/calendar", "/summary", "/101", "/101/eligible-products", "/101/my-products"];
    bench.control().credentials().set_abilities("loja-1", &["store_products_write"]);
    for path in reads {
        let reply = bench.get(&format!("{CAMPAIGNS}{path}")).await;
        assert_eq!(reply.refused(403, "FORBIDDEN"), json!(["store_products_read"]), "{path}");
    }
    bench.control().credentials().set_abilities("loja-1", &["store_products_read"]);
    let reply = bench.post(&format!("{CAMPAIGNS}/101/opt-in"), &json!({})).await;
    assert_eq!(reply.refused(403, "FORBIDDEN"), json!(["store_products_write"]));
    for path in reads {
        assert_eq!(bench.get(&format!("{CAMPAIGNS}{path}")).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn amounts_become_text_where_that_is_asked_for() {
    let bench = Bench::start(Options { numbers_as_strings: true, ..unlimited() }).await;
    let rules = bench.get(&format!("{CAMPAIGNS}/101")).await.data()["rules"].clone();
    assert_eq!(rules, json!({"coupon_config": {"discount_type": "percentage", "value": "10.00"}}));
}

#[tokio::test]
async fn the_platform_makes_and_moves_campaigns() {
    let bench = Bench::start(Options { control: true, ..unlimited() }).await;
    let new = json!({"name": "Só <hoje>", "type": "collective_buying", "status": "draft", "starts_in": -60,
        "ends_in": 3600, "opt_in_closes_in": 1800, "discount": {"type": "fixed", "value": "7.5"}});
    let id = bench.pull(Method::POST, "campaigns", &new).await.json()["data"]["id"].clone();
    let path = format!("{CAMPAIGNS}/{id}");
    let made = bench.get(&path).await.data();
    assert_eq!(
        (&made["name"], &made["slug"], &made["status"]),
        (&json!("Só <hoje>"), &json!("so-hoje"), &json!("draft"))
    );
    assert_eq!(made["rules"]["coupon_config"], json!({"discount_type": "fixed", "value": 7.5}));
    assert_eq!(seconds(&made["opt_in_deadline"]), Some(NOON / 1000 + 1800));
    bench.pull(Method::POST, &format!("campaigns/{id}/status"), &json!({"status": "active"})).await.data();
    bench.pull(Method::POST, &format!("campaigns/{id}/deadline"), &json!({"seconds": null})).await.data();
    let moved = bench.get(&path).await.data();
    assert_eq!((&moved["status"], &moved["opt_in_deadline"]), (&json!("active"), &json!(null)));
    for odd in [
        json!({"type": "x"}),
        json!({"status": "x"}),
        json!({"discount": {"type": "fixed", "value": "-1"}}),
        json!({"x": 1}),
    ] {
        bench.pull(Method::POST, "campaigns", &odd).await.refused(422, "VALIDATION_ERROR");
    }
    bench
        .pull(Method::POST, "campaigns/9999/status", &json!({"status": "active"}))
        .await
        .refused(404, "NOT_FOUND");
    let far = NewCampaign { starts_in: Some(i64::MIN), ends_in: Some(i64::MAX), ..NewCampaign::default() };
    let far = bench.control().campaigns().create(&far).unwrap();
    assert!(seconds(&bench.get(&format!("{CAMPAIGNS}/{far}")).await.data()["ends_at"]).is_some());
    let discount = Some(CampaignDiscount { kind: "percentage".to_owned(), value: "muito".to_owned() });
    assert_eq!(bench.control().campaigns().create(&NewCampaign { discount, ..NewCampaign::default() }), None);
}
