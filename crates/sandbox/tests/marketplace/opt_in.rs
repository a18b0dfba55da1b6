//! Eligible listings, joining a campaign, and enrolled listings.

use crate::support::{Bench, Reply, unlimited};
use espelho_sandbox::{CampaignDiscount, NewCampaign, Options};
use rust_decimal::Decimal;
use serde_json::{Value, json};

const CAMPAIGNS: &str = "/api/seller/discounts/campaigns";

/// A campaign with a discount, if any.
fn campaign(bench: &Bench, discount: Option<(&str, &str)>) -> u64 {
    let discount =
        discount.map(|(kind, value)| CampaignDiscount { kind: kind.to_owned(), value: value.to_owned() });
    bench.control().campaigns().create(&NewCampaign { discount, ..NewCampaign::default() }).unwrap()
}

/// Every row of a list, page by page.
async fn rows(bench: &Bench, campaign: u64, list: &str, query: &str) -> Vec<Value> {
    let mut rows = Vec::new();
    for page in 1.. {
        let path = format!("{CAMPAIGNS}/{campaign}/{list}?per_page=100&page={page}&{query}");
        let mut data = bench.get(&path).await.data();
        rows.append(data["data"].as_array_mut().unwrap());
        if data["meta"]["pagination"]["has_next_page"] == json!(false) {
            break;
        }
    }
    rows
}

async fn eligible(bench: &Bench, campaign: u64) -> Vec<Value> {
    rows(bench, campaign, "eligible-products", "").await
}

async fn join(bench: &Bench, campaign: u64, ids: &[&Value]) -> Reply {
    bench.post(&format!("{CAMPAIGNS}/{campaign}/opt-in"), &json!({"publication_ids": ids})).await
}

async fn summary(bench: &Bench) -> (Value, Value) {
    let summary = bench.get(&format!("{CAMPAIGNS}/summary")).await.data();
    (summary["joined_campaigns"].clone(), summary["enrolled_products"].clone())
}

/// Rounded up to cents.
fn cents(amount: Decimal) -> Decimal {
    amount.round_dp_with_strategy(2, rust_decimal::RoundingStrategy::ToPositiveInfinity).normalize()
}

fn decimal(value: &Value) -> Option<Decimal> {
    (!value.is_null()).then(|| value.to_string().trim_matches('"').parse::<Decimal>().unwrap().normalize())
}

// proves: CMP-033, CMP-038, CMP-039, CMP-040
#[tokio::test]
async fn the_active_offers_of_the_store_are_eligible_at_their_lowest_price() {
    let bench = Bench::start(unlimited()).await;
    let id = campaign(&bench, None);
    let listed = eligible(&bench, id).await;
    let products = bench.get("/api/products?per_page=100").await.data();
    let for_sale: Vec<_> =
        products.as_array().unwrap().iter().filter(|p| p["is_available_for_sale"] == json!(true)).collect();
    assert_eq!(listed.len(), for_sale.len());
    assert!(for_sale.len() < products.as_array().unwrap().len());
    for (offer, product) in listed.iter().zip(for_sale) {
        assert_eq!(offer["title"], product["name"]);
        assert_eq!(offer["image"].is_string(), product["thumbnail"].is_object());
        let tiers =
            bench.get(&format!("/api/products/{}/prices", product["id"].as_str().unwrap())).await.data();
        let lowest = tiers.as_array().unwrap().iter().filter_map(|tier| decimal(&tier["value"])).min();
        assert_eq!(decimal(&offer["price"]), lowest);
    }
    assert!(listed.iter().any(|offer| offer["image"].is_null()));
}

// proves: CMP-041, CMP-042, CMP-043, CMP-044
#[tokio::test]
async fn the_preview_is_the_price_less_the_discount_rounded_up_to_cents() {
    let bench = Bench::start(Options { products: 400, ..unlimited() }).await;
    let (percent, fixed) = (Decimal::new(1250, 2), Decimal::from(20));
    let campaigns = [
        (campaign(&bench, Some(("percentage", "12.5"))), Some(0)),
        (campaign(&bench, Some(("fixed", "20"))), Some(1)),
        (campaign(&bench, None), None),
    ];
    for (id, kind) in campaigns {
        let listed = eligible(&bench, id).await;
        assert!(listed.iter().any(|offer| offer["price"].is_null()), "a listing without a price");
        for offer in listed {
            let preview = decimal(&offer["price"]).and_then(|price| match kind {
                Some(0) => Some(cents(price * (Decimal::ONE_HUNDRED - percent) / Decimal::ONE_HUNDRED)),
                Some(_) => Some(cents((price - fixed).max(Decimal::ZERO))),
                None => None,
            });
            assert_eq!(decimal(&offer["discount_preview"]), preview, "{offer}");
        }
    }
}

// proves: CMP-034, CMP-035, ENV-007
#[tokio::test]
async fn eligible_listings_are_searched_by_title_and_code_and_come_in_pages() {
    let bench = Bench::start(unlimited()).await;
    let id = campaign(&bench, None);
    let listed = eligible(&bench, id).await;
    let code = listed[3]["item_id"].as_str().unwrap();
    assert_eq!(
        rows(&bench, id, "eligible-products", &format!("search={}", code.to_lowercase())).await,
        [listed[3].clone()]
    );
    let word = listed[5]["title"].as_str().unwrap().split(' ').next().unwrap().to_uppercase();
    let found = rows(&bench, id, "eligible-products", &format!("search={word}")).await;
    assert!(found.contains(&listed[5]) && found.len() < listed.len());
    let all = word.to_lowercase();
    assert!(found.iter().all(|offer| offer["title"].as_str().unwrap().to_lowercase().contains(&all)));
    assert_eq!(rows(&bench, id, "eligible-products", "search=nada%20disso").await, Vec::<Value>::new());
    let path = format!("{CAMPAIGNS}/{id}/eligible-products");
    let first = bench.get(&path).await.data();
    assert_eq!(first["data"].as_array().unwrap()[..], listed[..15]);
    assert_eq!(first["meta"]["pagination"]["per_page"], json!(15));
    let third = bench.get(&format!("{path}?page=3&per_page=4&search=")).await.data();
    assert_eq!(third["data"].as_array().unwrap()[..], listed[8..12]);
    let searched = bench.get(&format!("{path}?search={word}")).await.data();
    assert_eq!(searched["meta"]["search_query"], json!(word));
    bench.get(&format!("{path}?per_page=x")).await.refused(422, "VALIDATION_ERROR");
}

// proves: CMP-010, CMP-011, CMP-037, CMP-045, CMP-048, CMP-049, CMP-050, CMP-052, CMP-053, CMP-054
#[tokio::test]
async fn a_listing_that_joins_moves_from_the_eligible_to_the_enrolled() {
    let bench = Bench::start(unlimited()).await;
    let id = campaign(&bench, Some(("percentage", "10")));
    assert_eq!(summary(&bench).await, (json!(0), json!(0)));
    let before = eligible(&bench, id).await;
    let joining = &before[..2];
    let ids: Vec<&Value> = joining.iter().map(|offer| &offer["item_id"]).collect();
    let joined = join(&bench, id, &ids).await.data();
    assert_eq!(joined, json!({"campaign_id": id, "enrolled": 2, "already_enrolled": 0}));
    assert_eq!(eligible(&bench, id).await, before[2..]);
    let enrolled = rows(&bench, id, "my-products", "").await;
    for (row, offer) in enrolled.iter().zip(joining) {
        assert_eq!((&row["publication_id"], &row["title"]), (&offer["item_id"], &offer["title"]));
        assert_eq!((&row["image"], &row["status"]), (&offer["image"], &json!("ACCEPTED")));
        let price = row["authorized_discount_price"].as_str().unwrap();
        assert_eq!(price.split_once('.').unwrap().1.len(), 2);
        assert_eq!(
            price.parse::<Decimal>().unwrap().normalize(),
            decimal(&offer["discount_preview"]).unwrap()
        );
    }
    assert_eq!(enrolled.len(), 2);
    let other = campaign(&bench, None);
    join(&bench, other, &ids[..1]).await.data();
    assert_eq!(summary(&bench).await, (json!(2), json!(3)));
    assert_eq!(rows(&bench, other, "my-products", "").await[0]["authorized_discount_price"], json!(null));
}

// proves: CMP-051
#[tokio::test]
async fn the_authorized_price_stays_as_it_was_at_enrollment() {
    let bench = Bench::start(unlimited()).await;
    let id = campaign(&bench, Some(("percentage", "10")));
    let offers = eligible(&bench, id).await;
    let offer = offers.iter().find(|offer| !offer["price"].is_null()).unwrap();
    join(&bench, id, &[&offer["item_id"]]).await.data();
    let before = rows(&bench, id, "my-products", "").await;
    let products = bench.get("/api/products?per_page=100").await.data();
    for product in products.as_array().unwrap() {
        bench.control().products().edit_price(
            "loja-1",
            product["sku"].as_str().unwrap(),
            Decimal::from(9999),
        );
    }
    assert_eq!(rows(&bench, id, "my-products", "").await, before);
    let again = join(&bench, id, &[&offer["item_id"]]).await.data();
    assert_eq!((&again["enrolled"], &again["already_enrolled"]), (&json!(0), &json!(1)));
    assert_eq!(rows(&bench, id, "my-products", "").await, before, "joining twice is joining once");
}

// proves: CMP-046
#[tokio::test]
async fn enrolled_listings_come_in_pages_of_fifteen() {
    let bench = Bench::start(unlimited()).await;
    let id = campaign(&bench, None);
    let offers = eligible(&bench, id).await;
    let ids: Vec<&Value> = offers[..20].iter().map(|offer| &offer["item_id"]).collect();
    join(&bench, id, &ids).await.data();
    let path = format!("{CAMPAIGNS}/{id}/my-products");
    let first = bench.get(&path).await.data();
    assert_eq!(first["data"].as_array().unwrap().len(), 15);
    assert_eq!(first["meta"]["pagination"]["last_page"], json!(2));
    assert_eq!(bench.get(&format!("{path}?page=2")).await.data()["data"].as_array().unwrap().len(), 5);
    assert_eq!(bench.get(&format!("{path}?per_page=3")).await.data()["data"].as_array().unwrap().len(), 3);
    bench.get(&format!("{path}?per_page=0")).await.refused(422, "VALIDATION_ERROR");
}

// proves: CMP-055, ERR-015
#[tokio::test]
async fn joining_after_the_deadline_is_refused_with_its_own_code() {
    let bench = Bench::start(unlimited()).await;
    let new = NewCampaign { opt_in_closes_in: Some(60), ..NewCampaign::default() };
    let id = bench.control().campaigns().create(&new).unwrap();
    let offers = eligible(&bench, id).await;
    bench.hands.forward(59);
    join(&bench, id, &[&offers[0]["item_id"]]).await.data();
    bench.hands.forward(1);
    let refused = join(&bench, id, &[&offers[1]["item_id"]]).await;
    assert_eq!(refused.refused(422, "CAMPAIGN_OPT_IN_CLOSED"), json!([]));
    assert_eq!(rows(&bench, id, "my-products", "").await.len(), 1);
}

// proves: CMP-056, CMP-057
#[tokio::test]
async fn a_finished_cancelled_or_ended_campaign_takes_nobody_and_a_draft_does() {
    let bench = Bench::start(unlimited()).await;
    let offer = eligible(&bench, 101).await.remove(0);
    for (status, joins) in [("draft", true), ("active", true), ("finished", false), ("cancelled", false)] {
        let id = campaign(&bench, None);
        bench.control().campaigns().set_status(id, status);
        let reply = join(&bench, id, &[&offer["item_id"]]).await;
        if joins {
            reply.data();
        } else {
            reply.refused(422, "CAMPAIGN_NOT_OPEN");
            assert_eq!(rows(&bench, id, "my-products", "").await, Vec::<Value>::new());
        }
    }
}

// proves: CMP-058
#[tokio::test]
async fn without_a_deadline_a_campaign_is_joined_until_it_ends() {
    let bench = Bench::start(unlimited()).await;
    let new = NewCampaign { ends_in: Some(20 * 86_400), ..NewCampaign::default() };
    let id = bench.control().campaigns().create(&new).unwrap();
    let offers = eligible(&bench, id).await;
    for offer in &offers[..3] {
        join(&bench, id, &[&offer["item_id"]]).await.data();
        bench.hands.forward(9 * 86_400);
    }
    join(&bench, id, &[&offers[3]["item_id"]]).await.refused(422, "CAMPAIGN_NOT_OPEN");
}

// proves: CMP-053, ENV-022
#[tokio::test]
async fn a_list_that_names_unknown_or_foreign_listings_enrolls_none_of_them() {
    let bench = Bench::start(Options { stores: 2, ..unlimited() }).await;
    let id = campaign(&bench, None);
    let own = eligible(&bench, id).await.remove(0)["item_id"].clone();
    let other = bench.login_to(&bench.sandbox.stores()[1]).await;
    let path = format!("{CAMPAIGNS}/{id}/eligible-products");
    let theirs = bench.get_with(&format!("Bearer {other}"), &path).await.data()["data"][0]["item_id"].clone();
    let paused = bench.get("/api/products?per_page=100").await.data();
    let at =
        paused.as_array().unwrap().iter().position(|p| p["is_available_for_sale"] == json!(false)).unwrap();
    let paused = json!(format!("ANU-{:013}", 1_000_001_000_000_u64 + at as u64));
    for odd in [&json!("ANU-0000000000000"), &json!(""), &theirs, &paused] {
        let errors = join(&bench, id, &[&own, odd]).await.refused(422, "VALIDATION_ERROR");
        assert!(errors["publication_ids.1"][0].is_string(), "{odd}: {errors}");
    }
    assert_eq!(rows(&bench, id, "my-products", "").await, Vec::<Value>::new());
    assert_eq!(summary(&bench).await, (json!(0), json!(0)));
    join(&bench, id, &[&own, &own]).await.data();
    assert_eq!(rows(&bench, id, "my-products", "").await.len(), 1);
}

#[tokio::test]
async fn a_body_that_is_no_list_of_texts_is_refused_by_field() {
    let bench = Bench::start(unlimited()).await;
    let path = format!("{CAMPAIGNS}/{}/opt-in", campaign(&bench, None));
    for (body, field) in [
        (json!({}), "publication_ids"),
        (json!([]), "publication_ids"),
        (json!("x"), "publication_ids"),
        (json!({"publication_ids": null}), "publication_ids"),
        (json!({"publication_ids": []}), "publication_ids"),
        (json!({"publication_ids": "ANU-1"}), "publication_ids"),
        (json!({"publication_ids": {"0": "ANU-1"}}), "publication_ids"),
        (json!({"publication_ids": [1e300, null]}), "publication_ids.0"),
        (json!({"publication_ids": [[[]]]}), "publication_ids.0"),
    ] {
        let errors = bench.post(&path, &body).await.refused(422, "VALIDATION_ERROR");
        assert!(errors[field][0].is_string(), "{body}: {errors}");
    }
}
