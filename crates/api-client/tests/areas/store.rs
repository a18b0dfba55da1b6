//! Campaigns, price lists, the store page and the session.

use crate::scripted::{Bench, bench};
use espelho_api_client::{
    Class, Error, PageMeta, Text,
    resources::{
        campaigns::{EligibleQuery, OptIn},
        media::PageImage,
        paging::Paging,
        price_lists::{NewPriceList, PriceListChanges, PriceListMode, PriceListUpdate},
        store_page::{self, Change, Picture, StorePageChanges, StorePageUpdate},
    },
};
use espelho_model::{CampaignId, ItemId, PriceListId};

const CAMPAIGN: &str = r#"{"id":7,"uid":"01J9Z3K5T7V9X1B3D5F7H9K1M3","name":"Café","slug":"cafe","type":"collective_buying","status":"draft","starts_at":null,"ends_at":"2026-12-01T00:00:00Z","opt_in_deadline":null,"rules":null}"#;

fn campaign() -> CampaignId {
    CampaignId::new(7)
}

fn listings() -> OptIn {
    OptIn::new([ItemId::new("MPB-0000000000001")]).unwrap()
}

fn paginated(rows: &str) -> String {
    format!(
        r#"{{"data":{rows},"meta":{{"search_query":"","filters":[],"pagination":{{"page":1,"per_page":15,"last_page":1,"has_prev_page":false,"has_next_page":false,"records":{{"from":1,"to":1,"records":1}}}}}}}}"#
    )
}

fn one_page() -> PageMeta {
    PageMeta { page: Some(1), per_page: Some(15), last_page: Some(1), total: Some(1), has_next: Some(false) }
}

// proves: CMP-001, CMP-002, CMP-008, CMP-015, ENV-006
#[tokio::test]
async fn campaigns_are_read_by_page_in_sum_and_one_by_one() {
    let bench = bench().await;
    bench.will_give(200, &paginated(&format!("[{CAMPAIGN}]")));
    let page = bench.client.campaigns().calendar(Paging::default()).await.unwrap();
    assert_eq!((page.rows[0].value.id, page.rows_without_id, page.meta), (campaign(), 0, one_page()));
    assert_eq!(bench.header("authorization").as_deref(), Some("Bearer sk_live_0001"));
    assert_eq!(bench.request(), "GET /api/seller/discounts/campaigns/calendar?page=1");
    bench.will_give(
        200,
        r#"{"active_campaigns":1,"joined_campaigns":0,"enrolled_products":0,"upcoming_deadlines":[]}"#,
    );
    assert_eq!(bench.client.campaigns().summary().await.unwrap().value.active_campaigns, Some(1));
    assert_eq!(bench.request(), "GET /api/seller/discounts/campaigns/summary");
    bench.will_give(200, CAMPAIGN);
    let one = bench.client.campaigns().get(campaign()).await.unwrap();
    assert_eq!((one.value.status.as_deref(), one.unreadable), (Some("draft"), vec![]));
    assert_eq!(bench.request(), "GET /api/seller/discounts/campaigns/7");
}

// proves: CMP-033, CMP-045, CMP-053
#[tokio::test]
async fn a_listing_that_joins_is_read_among_the_enrolled() {
    let bench = bench().await;
    bench.will_give(200, &paginated(r#"[{"item_id":"MPB-0000000000001","title":"Caneca","price":10}]"#));
    let query = EligibleQuery { search: Some("MPB-0000000000001".into()), ..EligibleQuery::default() };
    let eligible = bench.client.campaigns().eligible_listings(campaign(), &query).await.unwrap();
    assert_eq!(eligible.rows[0].value.item_id, listings().listings()[0]);
    assert_eq!(
        bench.request(),
        "GET /api/seller/discounts/campaigns/7/eligible-products?search=MPB-0000000000001&page=1"
    );
    bench.will_give(200, "[]");
    bench.client.campaigns().join(campaign(), &listings()).await.unwrap();
    assert_eq!(
        bench.request(),
        r#"POST /api/seller/discounts/campaigns/7/opt-in {"publication_ids":["MPB-0000000000001"]}"#
    );
    let row =
        r#"[{"publication_id":"MPB-0000000000001","authorized_discount_price":"9.00","status":"ACCEPTED"}]"#;
    bench.will_give(200, &paginated(row));
    let enrolled = bench.client.campaigns().enrolled_listings(campaign(), Paging::default()).await.unwrap();
    assert_eq!(enrolled.rows[0].value.item_id.as_ref(), listings().listings().first());
    assert_eq!(bench.request(), "GET /api/seller/discounts/campaigns/7/my-products?page=1");
}

// proves: CMP-055, ERR-015
#[tokio::test]
async fn joining_after_the_deadline_is_a_refusal_with_its_code() {
    let bench = bench().await;
    bench.will_refuse(422, "CAMPAIGN_OPT_IN_CLOSED", "[]");
    let error = bench.client.campaigns().join(campaign(), &listings()).await.unwrap_err();
    assert_eq!((error.code().as_str(), error.class()), ("CAMPAIGN_OPT_IN_CLOSED", Class::Permanent));
    assert_eq!(bench.forget(), 1);
}

// proves: PRL-001, PRL-004, PRL-011
#[tokio::test]
async fn price_lists_are_switched_on_created_and_changed() {
    let bench = bench().await;
    bench.will_give(200, r#"{"price_lists_enabled":true}"#);
    bench.client.price_lists().enable(true).await.unwrap();
    assert_eq!(bench.request(), r#"PUT /api/seller/price-lists/settings {"price_lists_enabled":true}"#);
    bench.will_give(201, r#"{"id":12}"#);
    let list = NewPriceList { name: Text::new("name", "Atacado").unwrap(), mode: PriceListMode::Manual };
    let made = bench.client.price_lists().create(&list).await.unwrap().value.unwrap();
    assert_eq!(made.id, PriceListId::new("12"));
    assert_eq!(bench.request(), r#"POST /api/seller/price-lists {"name":"Atacado","mode":"manual"}"#);
    bench.will_give(200, "null");
    let update = PriceListChanges { position: Some(2), ..PriceListChanges::default() };
    let written =
        bench.client.price_lists().update(&made.id, &PriceListUpdate::new(update).unwrap()).await.unwrap();
    assert_eq!(written.value, None);
    assert_eq!(bench.request(), r#"PUT /api/seller/price-lists/12 {"position":2}"#);
}

// proves: AUT-038, ERR-004
#[tokio::test]
async fn a_missing_ability_is_named() {
    let bench = bench().await;
    bench.will_refuse(403, "FORBIDDEN", r#"["store_products_write"]"#);
    let error = bench.client.price_lists().enable(true).await.unwrap_err();
    assert_eq!(error.class(), Class::Permanent);
    assert!(error.text().to_string().contains("store_products_write"), "{error}");
}

// proves: PAG-001, PAG-006, PAG-009, PAG-010, PAG-011, PAG-012
#[tokio::test]
async fn the_page_is_read_changed_and_given_its_pictures() {
    let bench = bench().await;
    bench.will_give(200, r#"{"store":{"id":1},"description":"Oi","logo_url":null}"#);
    assert_eq!(bench.client.store_page().get().await.unwrap().value.description.as_deref(), Some("Oi"));
    assert_eq!(bench.request(), "GET /api/stores/page");
    let changes = StorePageChanges { description: Change::Clear, ..StorePageChanges::default() };
    bench.will_give(200, "{}");
    bench.client.store_page().update(&StorePageUpdate::new(changes).unwrap()).await.unwrap();
    assert_eq!(bench.request(), r#"PUT /api/stores/page {"description":null}"#);
    let image = PageImage::new(b"GIF89a\x01\0\x01\0".to_vec()).unwrap();
    for (picture, route) in
        [(Picture::Logo, "/api/stores/page/logo"), (Picture::Background, "/api/stores/page/background")]
    {
        bench.will_give(200, "{}");
        bench.client.store_page().upload_picture(picture, &image).await.unwrap();
        let request = bench.request();
        assert!(request.starts_with(&format!("POST {route} ")), "{request}");
        assert!(request.contains(r#"name="image"; filename="image.gif""#), "{request}");
        bench.will_answer(204, "");
        bench.client.store_page().delete_picture(picture).await.unwrap();
        assert_eq!(bench.request(), format!("DELETE {route}"));
    }
}

// proves: PAG-019, ERR-005
#[tokio::test]
async fn a_page_that_is_closed_to_integration_tokens_is_told_from_a_failure() {
    let bench = bench().await;
    bench.will_refuse(403, "FORBIDDEN", r#"["store_page_read"]"#);
    assert!(store_page::is_closed(&bench.client.store_page().get().await.unwrap_err()));
    bench.will_refuse(422, "VALIDATION_ERROR", "[]");
    assert!(!store_page::is_closed(&bench.client.store_page().get().await.unwrap_err()));
}

// proves: PAG-016, PAG-017
#[tokio::test]
async fn ratings_are_kept_as_they_come() {
    let bench = bench().await;
    bench.will_give(200, r#"{"average":4.70,"count":12}"#);
    assert_eq!(bench.client.store_page().rating().await.unwrap().as_str(), r#"{"average":4.70,"count":12}"#);
    assert_eq!(bench.request(), "GET /api/stores/rating");
    bench.will_give(200, r#"[{"stars":5}]"#);
    assert_eq!(bench.client.store_page().rating_history().await.unwrap().as_str(), r#"[{"stars":5}]"#);
    assert_eq!(bench.request(), "GET /api/stores/rating/history");
}

// proves: AUT-049, AUT-051
#[tokio::test]
async fn the_session_says_whose_token_it_is() {
    let bench = bench().await;
    bench.will_give(
        200,
        r#"{"store":{"id":1,"name":"Loja","features":["sales_force"]},"auth_type":"integration_token"}"#,
    );
    let session = bench.client.auth().session().await.unwrap().value;
    assert_eq!(session.auth_type.as_deref(), Some("integration_token"));
    assert_eq!(session.has_feature("sales_force"), Some(true));
    assert_eq!(bench.request(), "GET /api/stores/auth/session");
}

/// Sends every write of these areas whose answer the document does not show.
async fn writes(bench: &Bench) -> Vec<Result<(), Error>> {
    let client = &bench.client;
    let list = NewPriceList { name: Text::new("name", "A").unwrap(), mode: PriceListMode::Auto };
    let changes = PriceListChanges { is_active: Some(false), ..PriceListChanges::default() };
    let update = PriceListUpdate::new(changes).unwrap();
    vec![
        client.campaigns().join(campaign(), &listings()).await.map(drop),
        client.price_lists().enable(false).await.map(drop),
        client.price_lists().create(&list).await.map(drop),
        client.price_lists().update(&PriceListId::new("1"), &update).await.map(drop),
        client.store_page().delete_picture(Picture::Logo).await.map(drop),
    ]
}

#[tokio::test]
async fn a_write_that_was_answered_has_happened_whatever_the_answer_says() {
    let bench = bench().await;
    for payload in ["null", "[]", "{}", "true", "\"ok\"", "7", r#"{"id":{}}"#, r#"[{"id":1}]"#] {
        for _ in 0..5 {
            bench.will_give(200, payload);
        }
        for outcome in writes(&bench).await {
            assert!(outcome.is_ok(), "{payload}: {outcome:?}");
        }
    }
}

#[tokio::test]
async fn a_write_whose_answer_was_lost_is_doubtful_and_not_sent_again() {
    let bench = bench().await;
    for outcome in writes(&bench).await {
        assert_eq!(outcome.unwrap_err().class(), Class::Ambiguous);
    }
    assert_eq!(bench.forget(), 5);
}
