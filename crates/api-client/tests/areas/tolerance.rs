//! Answers of any shape: a read never panics and never invents data, and an answered write never fails.

use std::fmt::Debug;

use crate::scripted::{Bench, bench};
use espelho_api_client::{
    Class, Error, RowPage,
    resources::{
        categories::{AttributeQuery, CategoryLevel},
        listings::{ListingDraft, ListingTitle},
        media::{MediaQuery, ProductImage},
        paging::Paging,
        price_lists::{NewPriceList, PriceListMode, PriceListName},
        products::{Movement, Quantity},
    },
};
use espelho_model::{CampaignId, CategoryId, ItemId, LocationId, MediaId, OrderNumber, ProductId, Sku};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use serde_json::{Map, Value};

/// Names that the readers know, so that wrong values reach them.
const NAMES: [&str; 30] = [
    "id",
    "item_id",
    "data",
    "meta",
    "pagination",
    "page",
    "name",
    "type",
    "status",
    "value",
    "label",
    "rules",
    "coupon_config",
    "urls",
    "attributes",
    "category",
    "gtin",
    "store",
    "company",
    "features",
    "product",
    "prices",
    "stock",
    "stocks",
    "locations",
    "min_quantity",
    "location_stock",
    "upcoming_deadlines",
    "created_at",
    "thumbnail",
];

fn any_json() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,8}|[0-9]{1,30}|2026-11-2[0-9]T00:00:00Z".prop_map(Value::from),
    ];
    scalar.prop_recursive(4, 40, 6, |inner| {
        let member = (prop::sample::select(&NAMES[..]), inner.clone());
        prop_oneof![
            prop::collection::vec(inner, 0..5).prop_map(Value::from),
            prop::collection::vec(member, 0..6).prop_map(|members| {
                members
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect::<Map<_, _>>()
                    .into()
            }),
        ]
    })
}

/// Checks that a read either succeeds or reports an unexpected answer, without a second attempt.
fn assert_read<T: Debug>(outcome: &Result<T, Error>) {
    if let Err(error) = outcome {
        assert!(matches!(error, Error::Unexpected { .. }), "{error:?}");
    }
}

/// Checks that a listing loses no row: each is read or counted.
fn assert_rows<T: Debug>(outcome: &Result<RowPage<T>, Error>, payload: &Value) {
    assert_read(outcome);
    if let (Ok(page), Some(rows)) = (outcome, payload.as_array()) {
        assert_eq!(page.rows.len() + page.rows_without_id, rows.len());
    }
}

fn assert_written<T: Debug>(outcome: &Result<T, Error>) {
    assert!(outcome.is_ok(), "{outcome:?}");
}

async fn read_everything(bench: &Bench, payload: &Value) {
    let text = payload.to_string();
    let (client, campaign) = (&bench.client, CampaignId::new(1));
    for _ in 0..14 {
        bench.will_give(200, &text);
    }
    assert_rows(&client.campaigns().calendar(Paging::default()).await, payload);
    assert_rows(&client.campaigns().enrolled_listings(campaign, Paging::default()).await, payload);
    assert_rows(&client.media().list(&MediaQuery::default()).await, payload);
    assert_rows(&client.categories().browse(&CategoryLevel::default()).await, payload);
    assert_rows(&client.categories().departments().await, payload);
    assert_read(&client.campaigns().get(campaign).await);
    assert_read(&client.campaigns().summary().await);
    assert_read(&client.media().get(&MediaId::new("1")).await);
    assert_read(&client.categories().attributes(CategoryId::new(1), &AttributeQuery::default()).await);
    assert_read(&client.auth().session().await);
    assert_read(&client.store_page().get().await);
    assert_read(&client.products().get(&ProductId::new("1")).await);
    assert_read(&client.products().stock(&ProductId::new("1"), Some(&Sku::new("S"))).await);
    assert_read(&client.products().units().await);
    assert_eq!(bench.forget(), 14);
}

async fn write_everything(bench: &Bench, payload: &Value) {
    let (client, text) = (&bench.client, payload.to_string());
    for _ in 0..5 {
        bench.will_give(200, &text);
    }
    let list = NewPriceList { name: PriceListName::new("name", "A").unwrap(), mode: PriceListMode::Auto };
    let movement = Movement::Increment(Quantity::new(1.into()).unwrap());
    let image = ProductImage::new(b"\xFF\xD8\xFF\xE0".to_vec()).unwrap();
    let draft = ListingDraft::new(ListingTitle::new("title", "A").unwrap());
    assert_written(&client.price_lists().create(&list).await);
    assert_written(
        &client.products().move_stock(&ProductId::new("1"), &LocationId::new("1"), movement).await,
    );
    assert_written(&client.media().upload(&image).await);
    assert_written(&client.listings().create(&draft).await);
    assert_written(&client.listings().publish(&ItemId::new("MPB-0000000000001")).await);
    assert_eq!(bench.forget(), 5);
}

fn for_any_answer(check: &impl AsyncFn(&Bench, &Value)) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let bench = runtime.block_on(bench());
    let mut runner = TestRunner::new(Config { cases: 100, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&any_json(), |payload| {
        runtime.block_on(check(&bench, &payload));
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn any_json_is_read_or_said_to_be_something_else() {
    for_any_answer(&read_everything);
}

#[test]
fn any_json_is_good_enough_for_a_write_that_was_answered() {
    for_any_answer(&write_everything);
}

// withstands: F008
#[tokio::test]
async fn a_write_that_is_denied_with_a_200_is_doubtful() {
    let bench = bench().await;
    for body in [
        r#"{"success":false,"message_code":"X","description":"não agora","data":null}"#,
        r#"{"code":422,"message_code":"VALIDATION_ERROR","errors":["no"],"data":[]}"#,
        r#"{"success":null,"errors":{"quantity":["no"]}}"#,
        r#"{"success":true,"code":500,"message_code":"INTERNAL_ERROR","errors":["boom"]}"#,
        r#"{"error":"maintenance"}"#,
        "[]",
    ] {
        bench.will_answer(200, body);
        let movement = Movement::Increment(Quantity::new(1.into()).unwrap());
        let outcome =
            bench.client.products().move_stock(&ProductId::new("1"), &LocationId::new("1"), movement).await;
        assert_eq!((outcome.unwrap_err().class(), bench.forget()), (Class::Ambiguous, 1), "{body}");
    }
}

// withstands: F070
#[tokio::test]
async fn unreadable_values_are_forgotten_with_the_order_that_the_marketplace_does_not_have() {
    let bench = bench().await;
    let number = OrderNumber::new("7");
    let fields = || -> Vec<&'static str> {
        bench.client.metrics().unreadable_fields().into_iter().map(|unreadable| unreadable.field).collect()
    };
    bench.will_give(200, r#"{"order_number":"7","status":"paid","totals":{"order":"muito"}}"#);
    bench.client.orders().get(&number).await.unwrap();
    bench.will_give(200, r#"[{"id":"1","created_at":"ontem"}]"#);
    bench.client.orders().events(&number).await.unwrap();
    assert_eq!(fields(), ["totals.order", "events[].created_at"]);
    bench.will_answer(404, "<html></html>");
    bench.client.orders().get(&number).await.unwrap_err();
    assert_eq!(fields().len(), 2, "a stranger says nothing about the order");
    bench.will_refuse(404, "NOT_FOUND", "[]");
    assert!(bench.client.orders().get(&number).await.unwrap_err().is_absent());
    assert_eq!(fields(), Vec::<&str>::new());
}
