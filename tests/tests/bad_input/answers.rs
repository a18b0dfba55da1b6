//! Odd answers from the marketplace: web pages, truncated answers, nulls, surprises.

use espelho_sandbox::Fault;
use espelho_tests::{
    Call, Kind, Reply, Row, Shop,
    mirror::{number, raw},
    on_both_databases, sandbox,
    shop::{ORDERS, Order},
};
use serde_json::{Value, json};

use super::{fault, has_next_step, one_sandbox, one_shop};

on_both_databases![
    a_listing_that_is_a_web_page_changes_nothing,
    a_detail_that_never_answers_fails_alone_and_is_mended_by_the_next_run,
    an_order_with_a_null_everywhere_is_mirrored,
    ten_thousand_lines_of_one_order_are_mirrored,
    unknown_values_and_fields_are_kept,
    what_no_column_can_hold_is_kept_in_raw,
    rows_that_a_page_lists_twice_are_mirrored_once,
];

// withstands: F074
async fn a_listing_that_is_a_web_page_changes_nothing(kind: Kind) {
    let sandbox = sandbox(30, 5).await;
    let installation = one_sandbox(kind, &sandbox).await;
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    let before = mirror.contents().await;
    sandbox.control().faults().add(fault("GET /api/v1/sellers/orders", None, Fault::Html200));
    sandbox.reset_stats();
    let run = installation.resync(&[]).await.says("text/html").says("maintenance page");
    assert!([1, 3].contains(&run.code), "{run}");
    assert_eq!(run.resource("orders")["state"], "failed");
    has_next_step(&run, &run.resource("orders")["error"]);
    assert!(sandbox.stats().by_route["GET /api/v1/sellers/orders"] <= 5);
    assert_eq!(mirror.contents().await, before);
    assert_eq!([mirror.live("orders").await, mirror.live("products").await], [30, 5]);
    sandbox.control().faults().clear();
    installation.resync(&[]).await.expect(0);
}

// withstands: F073
#[tokio::test]
async fn json_that_ends_in_the_middle_changes_nothing() {
    let shop = Shop::open(Order::many(30)).await;
    let installation = one_shop(Kind::Sqlite, &shop).await;
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    let before = mirror.contents().await;
    for cut in [
        r#"{"success":true,"data":[{"order_number":"P00001","sta"#,
        r#"{"success":true,"message_code":"SUCCESS"}"#,
    ] {
        shop.rule(move |call| (call.path == ORDERS).then(|| Reply::text(200, "application/json", cut)));
        let run = installation.resync(&[]).await;
        assert!([1, 3].contains(&run.code), "{run}");
        has_next_step(&run, &run.resource("orders")["error"]);
        assert_eq!(mirror.contents().await, before);
        assert_eq!(mirror.live("orders").await, 30);
    }
}

// withstands: F073
#[tokio::test]
async fn answers_that_break_off_once_are_asked_for_again() {
    let sandbox = sandbox(60, 10).await;
    let control = sandbox.control();
    for route in ["/api/integration/auth", "GET /api/v1/sellers/orders", "GET /api/products"] {
        control.faults().add(fault(route, Some(1), Fault::TruncateBody));
    }
    for kind in [Fault::ResetBefore, Fault::ResetAfter, Fault::TruncateBody, Fault::Html200] {
        control.faults().add(fault("/api/products/0", Some(1), kind.clone()));
        control.faults().add(fault("/api/v1/sellers/orders/", Some(2), kind));
    }
    let installation = one_sandbox(Kind::Sqlite, &sandbox).await;
    let run = installation.resync(&[]).await.expect(0);
    let counts = ["orders", "products"].map(|name| (run.count(name, "changed"), run.count(name, "failed")));
    assert_eq!(counts, [(60, 0), (10, 0)]);
}

#[tokio::test]
async fn a_200_whose_json_ends_in_the_middle_once_is_asked_for_again() {
    let sandbox = sandbox(60, 10).await;
    for route in
        ["GET /api/v1/sellers/orders", "/api/v1/sellers/orders/", "GET /api/products", "/api/products/0"]
    {
        sandbox.control().faults().add(fault(
            route,
            Some(1),
            Fault::RawJson(r#"{"success":true,"data":{"id":"01"#.to_owned()),
        ));
    }
    let installation = one_sandbox(Kind::Sqlite, &sandbox).await;
    let run = installation.resync(&[]).await.expect(0);
    let counts = ["orders", "products"].map(|name| (run.count(name, "changed"), run.count(name, "failed")));
    assert_eq!(counts, [(60, 0), (10, 0)]);
}

async fn a_detail_that_never_answers_fails_alone_and_is_mended_by_the_next_run(kind: Kind) {
    let broken = |call: &Call| {
        let reply = || Reply::text(500, "text/html", "<html><h1>500 Internal Server Error</h1></html>");
        (call.path == format!("{ORDERS}/P00013")).then(reply)
    };
    let shop = Shop::with_rule(Order::many(60), broken).await;
    let installation = one_shop(kind, &shop).await;
    let run = installation.resync(&[]).await.expect(3).says("P00013").says("Next step");
    assert_eq!((run.json()["state"].as_str(), run.count("orders", "changed")), (Some("partial"), 59));
    let failures = run.resource("orders")["failures"].clone();
    assert_eq!((run.count("orders", "failed"), failures.as_array().unwrap().len()), (1, 1));
    assert_eq!(failures[0]["key"], "P00013");
    assert!(failures[0]["error"].as_str().unwrap().contains("500"), "{failures}");
    let mirror = installation.mirror().await;
    assert_eq!(mirror.live("orders").await, 59);
    let kept = mirror.rows("sync_failures").await;
    assert_eq!((kept.len(), kept[0]["key"].as_str()), (1, "P00013"));
    shop.rule(|_| None);
    shop.take_calls();
    let run = installation.resync(&[]).await.expect(0);
    assert_eq!((run.count("orders", "changed"), run.count("orders", "failed")), (1, 0));
    assert_eq!(shop.count(Call::is_order), 1, "only what failed is read");
    assert_eq!([mirror.live("orders").await, mirror.rows("sync_failures").await.len()], [60, 0]);
}

#[tokio::test]
async fn an_order_that_fails_again_keeps_its_old_row() {
    let shop = Shop::open(Order::many(20)).await;
    let installation = one_shop(Kind::Sqlite, &shop).await;
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    let before = mirror.contents().await;
    shop.change(|orders| orders[6].row["status"] = json!("preparing"));
    shop.rule(|call| {
        call.is_order().then(|| Reply::text(200, "application/json", r#"{"success":true,"data":{"x":1}}"#))
    });
    let run = installation.resync(&[]).await.expect(3).says("P00007");
    assert_eq!((run.count("orders", "failed"), run.count("orders", "gone")), (1, 0));
    assert_eq!(mirror.contents().await, before);
}

#[tokio::test]
async fn an_order_whose_listing_row_alone_has_a_status_is_read_again_until_its_detail_has_one() {
    let mut order = Order::ordinary("P00001");
    order.detail["status"] = Value::Null;
    let shop = Shop::open(vec![order]).await;
    let installation = one_shop(Kind::Sqlite, &shop).await;
    let run = installation.resync(&[]).await.expect(3).says("P00001");
    assert_eq!((run.count("orders", "changed"), run.count("orders", "failed")), (0, 1));
    shop.change(|orders| orders[0].detail["status"] = json!("paid"));
    let run = installation.resync(&[]).await.expect(0);
    assert_eq!((run.count("orders", "changed"), run.count("orders", "failed")), (1, 0));
    let rows = installation.mirror().await.rows("orders").await;
    assert_eq!(rows[0]["status"].as_str(), "paid");
}

// withstands: F069
async fn an_order_with_a_null_everywhere_is_mirrored(kind: Kind) {
    let names = [
        "status",
        "workflow_type",
        "type",
        "channel",
        "delivery_method",
        "checkout_group_id",
        "customer",
        "totals",
        "items",
        "items_count",
        "lines_count",
        "items_preview",
        "applied_benefits",
        "invoices",
        "shipping",
        "payment_method",
        "payment_status",
        "payment_expires_at",
        "payment_url",
        "is_collective",
        "is_awaiting_campaign",
        "release_at",
        "picked_up_at",
        "pickup_address",
        "notes",
        "metadata",
        "occurrences",
        "created_at",
        "updated_at",
        "store",
        "sold_by",
    ];
    let mut nulls = json!({"order_number": "P00001"});
    names.iter().for_each(|name| nulls[name] = Value::Null);
    let inner = json!({
        "order_number": "P00002", "customer": {"id": null, "name": null},
        "totals": {"products": null, "shipping": null, "discounts": null, "order": null},
        "items": [
            {"id": null, "product_id": null, "sku": null, "quantity": null, "unit_price": null, "net_value": null,
             "price_scale": null, "stock_status": null, "is_blocking_stock": null},
            {}, null,
        ],
    });
    let absent = json!({"order_number": "P00003"});
    let order = |detail: Value| {
        let number = detail["order_number"].as_str().unwrap().to_owned();
        Order { row: json!({"order_number": number}), number, detail }
    };
    let shop = Shop::open([nulls, inner, absent].map(order).to_vec()).await;
    let installation = one_shop(kind, &shop).await;
    let run = installation.resync(&[]).await.expect(0);
    assert_eq!((run.count("orders", "changed"), run.count("orders", "failed")), (3, 0));
    let mirror = installation.mirror().await;
    let columns = ["mirrored_at", "unread_since", "raw", "listing_hash", "content_hash"];
    for row in mirror.rows_without("orders", &columns).await {
        assert_eq!(row.keys().collect::<Vec<_>>(), ["order_number", "store"], "all else is NULL: {row:?}");
    }
    let lines = mirror.rows_without("order_items", &["mirrored_at", "raw"]).await;
    assert!(lines.len() >= 2, "lines without an identifier are kept: {lines:?}");
    for line in lines {
        assert_eq!(line.keys().collect::<Vec<_>>(), ["id", "order_number", "store"], "{line:?}");
    }
    assert_eq!(installation.resync(&[]).await.expect(0).count("orders", "changed"), 0);
}

async fn ten_thousand_lines_of_one_order_are_mirrored(kind: Kind) {
    let sandbox = sandbox(3, 5).await;
    let mut order = Order::ordinary("GRANDE-1");
    let line = order.detail["items"][0].clone();
    let lines = (1..=10_000).map(|id| {
        let mut line = line.clone();
        (line["id"], line["unit_price"]) = (json!(id), json!(0.005));
        line
    });
    order.detail["items"] = lines.collect();
    let (detail, row) = (order.detail.to_string(), order.row.to_string());
    assert!(sandbox.control().orders().add_raw("loja-1", "GRANDE-1", detail, row));
    let installation = one_sandbox(kind, &sandbox).await;
    installation.resync(&[]).await.expect(0);
    let lines = installation.mirror().await.rows("order_items").await;
    let lines: Vec<&Row> = lines.iter().filter(|line| line["order_number"] == "GRANDE-1").collect();
    assert_eq!(lines.len(), 10_000);
    let sum: rust_decimal::Decimal = lines.iter().filter_map(|line| number(line, "unit_price")).sum();
    assert_eq!(sum, 50.into(), "three decimals are three decimals");
}

// withstands: F070
async fn unknown_values_and_fields_are_kept(kind: Kind) {
    let mut order = Order::ordinary("P00001");
    for object in [&mut order.row, &mut order.detail] {
        object["status"] = json!("teleported");
        object["workflow_type"] = json!("by_drone");
        object["channel"] = json!("tv");
    }
    order.detail["items"][0]["stock_status"] = json!("in_orbit");
    order.detail["items"][0]["gift_wrap"] = json!({"colour": "azul – ção"});
    order.detail["drone"] = json!({"id": 12, "pilots": ["Zé", null]});
    let shop = Shop::open(vec![order.clone()]).await;
    let installation = one_shop(kind, &shop).await;
    let run = installation.resync(&[]).await.expect(0).says("teleported");
    assert!(!run.resource("orders")["notes"].as_array().unwrap().is_empty());
    let mirror = installation.mirror().await;
    let rows = mirror.rows("orders").await;
    let columns = ["status", "workflow_type", "channel"].map(|name| rows[0][name].as_str());
    assert_eq!((columns, raw(&rows[0])), (["teleported", "by_drone", "tv"], order.detail.clone()));
    let lines = mirror.rows("order_items").await;
    assert_eq!(
        (lines[0]["stock_status"].as_str(), raw(&lines[0])),
        ("in_orbit", order.detail["items"][0].clone())
    );
}

// withstands: F078
async fn what_no_column_can_hold_is_kept_in_raw(kind: Kind) {
    let mut order = Order::ordinary("P00001");
    order.detail["created_at"] = json!("0000-00-00 00:00:00");
    order.detail["totals"]["order"] = json!("a combinar");
    order.detail["notes"] = json!("nulo: \u{0} emoji: 🎁 aspas: \" barra: \\");
    order.detail["items"][0]["quantity"] = json!("1.5");
    order.detail["items"][0]["unit_price"] = json!("12.345");
    let shop = Shop::open(vec![order.clone()]).await;
    let installation = one_shop(kind, &shop).await;
    let run = installation.resync(&[]).await.expect(0);
    assert!(
        run.resource("orders")["notes"].to_string().contains("created_at"),
        "what was not read is said\n{run}"
    );
    let mirror = installation.mirror().await;
    let rows = mirror.rows("orders").await;
    assert!(!rows[0].contains_key("created_at") && !rows[0].contains_key("total_order"), "{:?}", rows[0]);
    assert_eq!(raw(&rows[0])["totals"], order.detail["totals"]);
    assert!(rows[0]["notes"].contains("emoji: 🎁 aspas: \" barra: \\"), "{:?}", rows[0]);
    let lines = mirror.rows("order_items").await;
    assert_eq!((lines[0]["quantity"].as_str(), lines[0]["unit_price"].as_str()), ("1.5", "12.345"));
}

async fn rows_that_a_page_lists_twice_are_mirrored_once(kind: Kind) {
    let orders = Order::many(8);
    let rows: Vec<Value> = orders.iter().chain(&orders[2..5]).map(|order| order.row.clone()).collect();
    let page =
        json!({"success": true, "data": rows, "meta": {"page": 1, "limit": 100, "last_page": 1, "total": 8}});
    let shop =
        Shop::with_rule(orders, move |call| (call.path == ORDERS).then(|| Reply::json(200, &page))).await;
    let installation = one_shop(kind, &shop).await;
    let run = installation.resync(&[]).await.expect(0);
    assert_eq!(["seen", "changed", "failed"].map(|name| run.count("orders", name)), [8, 8, 0]);
    assert_eq!(shop.count(Call::is_order), 8);
    assert_eq!(installation.mirror().await.live("orders").await, 8);
}

#[tokio::test]
async fn rows_without_an_identifier_are_counted_and_said() {
    let orders = Order::many(5);
    let mut rows: Vec<Value> = orders.iter().map(|order| order.row.clone()).collect();
    rows.insert(2, json!({"status": "paid"}));
    let page =
        json!({"success": true, "data": rows, "meta": {"page": 1, "limit": 100, "last_page": 1, "total": 6}});
    let shop =
        Shop::with_rule(orders, move |call| (call.path == ORDERS).then(|| Reply::json(200, &page))).await;
    let installation = one_shop(Kind::Sqlite, &shop).await;
    let run = installation.resync(&[]).await;
    assert!([0, 3].contains(&run.code), "{run}");
    assert!(run.resource("orders")["notes"].to_string().contains("identifier"), "{run}");
    assert_eq!(installation.mirror().await.live("orders").await, 5);
}

#[tokio::test]
async fn an_order_number_with_odd_characters_is_asked_for_as_it_is() {
    let numbers = ["A/1", "B 2", "Ç-3", "D?x=1", "E#4", "F%2F5", "..", "G+6"];
    let shop = Shop::open(numbers.map(Order::ordinary).to_vec()).await;
    let encoded = ["A%2F1", "B%202", "%C3%87-3", "D%3Fx%3D1", "E%234", "F%252F5", "%2E%2E", "G%2B6"];
    shop.rule(move |call| {
        let at = encoded.iter().position(|e| call.path == format!("{ORDERS}/{e}"))?;
        Some(Reply::success(&Order::ordinary(numbers[at]).detail))
    });
    let installation = one_shop(Kind::Sqlite, &shop).await;
    let run = installation.resync(&["--only", "orders"]).await;
    let asked: Vec<String> =
        shop.take_calls().into_iter().filter(Call::is_order).map(|call| call.path).collect();
    for (number, encoded) in numbers.iter().zip(encoded).filter(|(number, _)| **number != "..") {
        assert!(
            asked.contains(&format!("{ORDERS}/{encoded}")),
            "{number} was not asked for: {asked:?}\n{run}"
        );
    }
    // Two dots name another address in every URL, however they are written: only that row fails.
    let mirrored = installation.mirror().await.live("orders").await;
    assert!(mirrored >= numbers.len() - 1 && [0, 3].contains(&run.code), "{mirrored}\n{run}");
}
