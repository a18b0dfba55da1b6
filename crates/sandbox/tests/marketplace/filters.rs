//! Every filter of the order listing, checked against the whole listing.

use std::collections::BTreeSet;

use crate::support::{Bench, unlimited};
use serde_json::{Value, json};

/// Asks with a query and checks that exactly the orders that `keep` names come back.
async fn check(bench: &Bench, query: &str, keep: impl Fn(&Value) -> bool) {
    let mut expected: Vec<Value> = bench.orders("").await;
    expected.retain(|row| keep(row));
    assert!(!expected.is_empty(), "{query} should find something");
    assert_eq!(numbers(&bench.orders(query).await), numbers(&expected), "{query}");
}

/// As [`check`], over the details.
async fn check_details(bench: &Bench, query: &str, keep: impl Fn(&Value) -> bool) {
    let mut expected = BTreeSet::new();
    for row in bench.orders("").await {
        let number = row["order_number"].as_str().unwrap();
        if keep(&bench.order(number).await) {
            expected.insert(number.to_owned());
        }
    }
    assert!(!expected.is_empty(), "{query} should find something");
    let found: BTreeSet<_> = numbers(&bench.orders(query).await).into_iter().collect();
    assert_eq!(found, expected, "{query}");
}

fn numbers(rows: &[Value]) -> Vec<String> {
    rows.iter().map(|row| row["order_number"].as_str().unwrap().to_owned()).collect()
}

// proves: ORD-006, ORD-010, ORD-011, ORD-012, ORD-019
#[tokio::test]
async fn status_channel_type_and_workflow_keep_their_values() {
    let bench = Bench::start(unlimited()).await;
    check(&bench, "status=paid", |row| row["status"] == "paid").await;
    check(&bench, "status=paid,delivered", |row| row["status"] == "paid" || row["status"] == "delivered")
        .await;
    check(&bench, "channel=direct,store_seller", |row| row["channel"] != "marketplace").await;
    check(&bench, "type=wholesale", |row| row["type"] == "wholesale").await;
    check(&bench, "workflow=collective", |row| row["workflow_type"] == "collective").await;
    check(&bench, "workflow=backorder&status=paid", |row| {
        row["workflow_type"] == "backorder" && row["status"] == "paid"
    })
    .await;
}

#[tokio::test]
async fn an_empty_value_is_as_good_as_none() {
    let bench = Bench::start(unlimited()).await;
    check(&bench, "status=&search=&date_from=&late=", |_| true).await;
}

// proves: ORD-007, ORD-008
#[tokio::test]
async fn search_looks_at_number_and_customer_without_case_or_accents() {
    let bench = Bench::start(unlimited()).await;
    let rows = bench.orders("").await;
    let number = rows[3]["order_number"].as_str().unwrap();
    check(&bench, &format!("search={number}"), |row| row["order_number"] == number).await;
    let name = |row: &Value| row["customer"]["name"].as_str().unwrap().to_lowercase();
    check(&bench, "search=JOS%C3%89", |row| name(row).contains("josé")).await;
    check(&bench, "search=jose", |row| name(row).contains("josé")).await;
    check(&bench, "search=da+silva", |row| name(row).contains("da silva")).await;
    assert!(bench.orders("search=zzzz").await.is_empty());
}

// proves: ORD-009
#[tokio::test]
async fn customer_id_keeps_one_buyer() {
    let bench = Bench::start(unlimited()).await;
    let id = bench.orders("").await[0]["customer"]["id"].clone();
    check(&bench, &format!("customer_id={id}"), |row| row["customer"]["id"] == id).await;
    assert!(bench.orders("customer_id=999999").await.is_empty());
    assert!(bench.orders("customer_id=abc").await.is_empty());
}

// proves: ORD-013, ORD-014, ORD-015, ORD-117
#[tokio::test]
async fn item_filters_look_at_the_lines() {
    let bench = Bench::start(unlimited()).await;
    let any =
        |detail: &Value, keep: &dyn Fn(&Value) -> bool| detail["items"].as_array().unwrap().iter().any(keep);
    let number = bench.orders("").await[0]["order_number"].as_str().unwrap().to_owned();
    let item = bench.order(&number).await["items"][0]["item_id"].clone();
    let (prefix, digits) = item.as_str().unwrap().split_once('-').unwrap();
    assert!(!prefix.is_empty() && digits.len() == 13 && digits.bytes().all(|byte| byte.is_ascii_digit()));
    let query = format!("item_id={}", item.as_str().unwrap());
    check_details(&bench, &query, |detail| any(detail, &|line| line["item_id"] == item)).await;
    check_details(&bench, "blocking_stock=1", |detail| {
        any(detail, &|line| line["is_blocking_stock"] == json!(true))
    })
    .await;
    check_details(&bench, "item_stock_status=reserved,in_production", |detail| {
        any(detail, &|line| line["stock_status"] == "reserved" || line["stock_status"] == "in_production")
    })
    .await;
    assert!(bench.orders("item_id=nothing").await.is_empty());
}

// proves: ORD-016, ORD-017, ORD-019
#[tokio::test]
async fn dates_are_days_of_brasilia_with_both_ends_included() {
    let bench = Bench::start(unlimited()).await;
    let rows = bench.orders("sort=created_at").await;
    let day = |row: &Value| row["created_at"].as_str().unwrap()[..10].to_owned();
    let (from, to) = (day(&rows[60]), day(&rows[140]));
    check(&bench, &format!("date_from={from}"), |row| day(row) >= from).await;
    check(&bench, &format!("date_to={to}"), |row| day(row) <= to).await;
    check(&bench, &format!("date_from={from}&date_to={to}"), |row| day(row) >= from && day(row) <= to).await;
    let shipped = format!("date_from={from}&date_to={to}&status=delivered");
    check(&bench, &shipped, |row| day(row) >= from && day(row) <= to && row["status"] == "delivered").await;
    for sort in ["-total_order", "order_number", "updated_at", "created_at"] {
        let found = bench.orders(&format!("date_from={from}&date_to={to}&sort={sort}")).await;
        let expected = rows.iter().filter(|row| day(row) >= from && day(row) <= to).count();
        assert_eq!(found.len(), expected, "{sort}");
    }
    assert!(bench.orders(&format!("date_from={to}&date_to=2020-01-01")).await.is_empty());
}

// proves: ORD-018
#[tokio::test]
async fn late_orders_are_those_with_a_missed_deadline() {
    let bench = Bench::start(unlimited()).await;
    let late: BTreeSet<_> = numbers(&bench.orders("late=1").await).into_iter().collect();
    let on_time: BTreeSet<_> = numbers(&bench.orders("late=0").await).into_iter().collect();
    assert!(!late.is_empty() && late.is_disjoint(&on_time));
    assert_eq!(late.len() + on_time.len(), 200);
    let mut parts = 0;
    for reason in ["nfe", "picking", "production", "boleto"] {
        parts += bench.orders(&format!("late={reason}")).await.len();
    }
    assert_eq!(parts, late.len(), "each late order has one reason");
}

#[tokio::test]
async fn values_outside_a_filters_list_are_refused_by_field() {
    let bench = Bench::start(unlimited()).await;
    for (query, field) in [
        ("status=paid,eaten", "status"),
        ("channel=radio", "channel"),
        ("type=odd", "type"),
        ("workflow=odd", "workflow"),
        ("item_stock_status=lost", "item_stock_status"),
        ("blocking_stock=yes", "blocking_stock"),
        ("late=maybe", "late"),
        ("date_from=01/02/2026", "date_from"),
        ("date_to=2026-02-30", "date_to"),
        ("sort=customer", "sort"),
        ("limit=101", "limit"),
        ("limit=0", "limit"),
        ("limit=many", "limit"),
        ("page=0", "page"),
        ("page=-1", "page"),
    ] {
        let reply = bench.get(&format!("/api/v1/sellers/orders?{query}")).await;
        let errors = reply.refused(422, "VALIDATION_ERROR");
        assert_eq!(errors.as_object().unwrap().len(), 1, "{query}");
        assert!(errors[field][0].is_string(), "{query}: {errors}");
    }
    let both = bench.get("/api/v1/sellers/orders?limit=0&sort=odd").await.refused(422, "VALIDATION_ERROR");
    assert_eq!(both.as_object().unwrap().len(), 2);
}

#[tokio::test]
async fn a_filtered_listing_follows_every_change() {
    let bench = Bench::start(unlimited()).await;
    let before = bench.orders("status=paid").await.len();
    let number = bench.control().orders().insert("loja-1");
    assert_eq!(bench.orders("status=paid").await.len(), before + 1);
    assert!(bench.control().orders().set_status("loja-1", &number, "cancelled"));
    assert_eq!(bench.orders("status=paid").await.len(), before);
    let cancelled = bench.orders("status=cancelled").await.len();
    assert!(bench.control().orders().remove("loja-1", &number));
    assert_eq!(bench.orders("status=cancelled").await.len(), cancelled - 1);
}
