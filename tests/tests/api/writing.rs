//! Batches of the ERP's rows: whole or not at all, and once.

use espelho_tests::{Kind, Mirror, on_both_databases};
use serde_json::{Value, json};

use crate::client::World;

on_both_databases![
    rows_are_written_whole_or_not_at_all_and_each_answers_with_its_state,
    twenty_equal_requests_at_once_write_once,
    a_kill_between_a_write_and_its_answer_loses_nothing_and_writes_nothing_twice,
];

async fn count(mirror: &Mirror, table: &str) -> usize {
    let rows = mirror.ask(&format!("SELECT CAST(count(*) AS TEXT) AS n FROM {table}")).await;
    rows[0]["n"].parse().unwrap()
}

async fn rows_are_written_whole_or_not_at_all_and_each_answers_with_its_state(kind: Kind) {
    let world = World::on(kind).await;
    let level = |sku: &str, quantity: Value| json!({"store": "loja-1", "sku": sku, "location_id": 1, "quantity": quantity});
    let bad = json!([level("A", json!(1)), level("B", json!(-1)), {"store": "loja1", "sku": "C"}]);
    let refused = world.program.post("/erp_stock", &bad).await;
    assert_eq!(refused.problem(), (422, "invalid_rows"));
    let errors: Vec<(u64, &str, &str)> = refused.body["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| {
            (
                error["row"].as_u64().unwrap(),
                error["column"].as_str().unwrap(),
                error["code"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(errors, [(1, "quantity", "invalid_data"), (2, "store", "unknown_store")]);
    let names = refused.body["errors"][1]["detail"].as_str().unwrap();
    assert!(names.contains("loja-1"), "{names}");
    assert_eq!(count(&world.mirror, "erp_stock").await, 0);

    let rows: Vec<Value> = (0..1_000).map(|n| level(&format!("SKU-{n}"), json!(format!("{n}.5")))).collect();
    let written = world.program.post("/erp_stock", &json!(rows)).await;
    assert_eq!(written.rows().len(), 1_000);
    assert_eq!(count(&world.mirror, "erp_stock").await, 1_000);
    let row = &written.rows()[7];
    assert_eq!(
        (&row["row"], &row["store"], &row["sku"], &row["location_id"]),
        (&json!(7), &json!("loja-1"), &json!("SKU-7"), &json!("1"))
    );
    assert!(row["state"] == "new" && row["revision"].as_i64().unwrap() > 0, "{row}");
    let kept = world.program.get("/erp_stock?sku=SKU-999").await;
    assert_eq!(kept.rows()[0]["quantity"].to_string(), "999.5");

    let price = json!([{"store": "loja-1", "sku": "A", "price": 19.9}, {"store": "loja-1", "sku": "A", "min_quantity": 10, "discount_percent": "5"}]);
    assert_eq!(world.program.post("/erp_prices", &price).await.rows()[1]["min_quantity"], 10);
    let command = json!([{"store": "loja-1", "kind": "order.notes", "key": "1", "data": {"notes": "oi"}}]);
    let id = world.program.post("/commands", &command).await.rows()[0]["id"].clone();
    let read = world.program.get(&format!("/commands/{id}")).await.body;
    assert_eq!((&read["kind"], &read["data"]), (&json!("order.notes"), &json!({"notes": "oi"})));
    let order = json!([{"store": "loja-1", "order_number": 77, "erp_id": "NF 1"}]);
    assert_eq!(world.program.post("/erp_orders?claim=true", &order).await.rows()[0]["state"], "taken");
    assert_eq!(
        world.program.post("/erp_orders?claim=true", &order).await.rows()[0]["state"],
        "already_taken"
    );
    assert_eq!(world.program.get("/erp_orders/loja-1/77").await.body["erp_id"], "NF 1");
    world.ended().await;
}

fn commands(key: &str) -> Value {
    let command = |n: u32| json!({"store": "loja-1", "kind": "order.notes", "key": format!("{key}-{n}"), "data": {"notes": "x"}});
    json!((0..5).map(command).collect::<Vec<_>>())
}

async fn twenty_equal_requests_at_once_write_once(kind: Kind) {
    let world = World::on(kind).await;
    let key = [("idempotency-key", "8e03978e-40d5-43dd-bc93-6894a57f9324")];
    let requests = (0..20).map(|_| {
        let program = world.program.clone();
        tokio::spawn(async move { program.post_with("/commands", &commands("A"), &key).await.unwrap() })
    });
    let (mut first, mut others) = (Vec::new(), 0);
    for request in requests.collect::<Vec<_>>() {
        let answer = request.await.unwrap();
        match answer.status {
            200 => {
                if answer.header("idempotency-replayed").is_empty() {
                    others += 1;
                }
                first.push(answer.body);
            }
            _ => assert_eq!(answer.problem(), (409, "request_under_way")),
        }
    }
    assert_eq!((others, count(&world.mirror, "commands").await), (1, 5));
    first.dedup();
    assert_eq!(first.len(), 1, "all have the same answer");
    let again = world.program.post_with("/commands", &commands("A"), &key).await.unwrap();
    assert_eq!((again.header("idempotency-replayed"), &again.body), ("true", &first[0]));
    let other = world.program.post_with("/commands", &commands("B"), &key).await.unwrap();
    assert_eq!(other.problem(), (422, "idempotency_key_reused"));
    let elsewhere = world.program.post_with("/erp_orders", &json!([]), &key).await.unwrap();
    assert_eq!(elsewhere.problem(), (422, "idempotency_key_reused"));
    assert_eq!(count(&world.mirror, "commands").await, 5);
    world.ended().await;
}

async fn a_kill_between_a_write_and_its_answer_loses_nothing_and_writes_nothing_twice(kind: Kind) {
    let mut world = World::on(kind).await;
    let mut answered = 0;
    for round in 0..3 {
        let sending: Vec<_> = (0..30)
            .map(|n| {
                let (program, name) = (world.program.clone(), format!("{round}-{n}"));
                tokio::spawn(async move {
                    let key = [("idempotency-key", name.as_str())];
                    program
                        .post_with("/commands", &commands(&name), &key)
                        .await
                        .ok()
                        .map(|answer| answer.status)
                })
            })
            .collect();
        // The kill falls among the writes: some have been answered, and others not.
        let mut sending = sending.into_iter();
        for first in sending.by_ref().take(3 + round) {
            answered += usize::from(first.await.unwrap() == Some(200));
        }
        world = world.killed().await;
        for task in sending {
            answered += usize::from(task.await.unwrap() == Some(200));
        }
        let partial = count(&world.mirror, "commands").await;
        assert_eq!(partial % 5, 0, "a batch was written in part");
    }
    assert!(answered < 90, "no kill came before an answer");
    for round in 0..3 {
        for n in 0..30 {
            let name = format!("{round}-{n}");
            let key = [("idempotency-key", name.as_str())];
            let answer = world.program.post_with("/commands", &commands(&name), &key).await.unwrap();
            assert_eq!(answer.rows().len(), 5);
        }
    }
    assert_eq!(count(&world.mirror, "commands").await, 3 * 30 * 5);
    world.ended().await;
}
