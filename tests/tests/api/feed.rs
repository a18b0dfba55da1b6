//! The change feed and the alarms.

use espelho_tests::{Kind, on_both_databases, truth};
use serde_json::{Value, json};

use crate::client::{LIMITED, World};

on_both_databases![the_feed_is_read_acknowledged_and_waited_for, alarms_are_those_of_the_status,];

async fn the_feed_is_read_acknowledged_and_waited_for(kind: Kind) {
    let world = World::on(kind).await;
    let program = &world.program;
    let (mut seqs, mut after) = (Vec::new(), 0);
    loop {
        let part = program.get(&format!("/changes?after={after}&limit=7")).await.body;
        let changes = part["changes"].as_array().unwrap();
        seqs.extend(changes.iter().map(|change| change["seq"].as_i64().unwrap()));
        after = part["next"].as_i64().unwrap();
        if changes.is_empty() {
            break;
        }
    }
    let mut told = world
        .mirror
        .ask("SELECT CAST(seq AS TEXT) AS seq FROM changes")
        .await
        .iter()
        .map(|row| row["seq"].parse().unwrap())
        .collect::<Vec<i64>>();
    told.sort_unstable();
    // Sweeps go on meanwhile.
    assert!(told.starts_with(&seqs), "{seqs:?} of {told:?}");
    assert!(seqs.len() > 20);

    let (middle, last) = (seqs[10], *seqs.last().unwrap());
    let never = i64::MAX;
    let ack = async |seq: i64| program.post("/consumers/erp/ack", &json!({ "seq": seq })).await;
    assert_eq!(ack(middle).await.body, json!({"name": "erp", "seq": middle}));
    assert_eq!(ack(1).await.body["seq"], middle, "it never goes back");
    assert_eq!(ack(never).await.problem(), (422, "unknown_seq"));
    let next = program.get("/changes?consumer=erp&limit=1").await.body;
    assert_eq!(next["changes"][0]["seq"], seqs[11]);
    assert_eq!(program.get("/consumers").await.body["consumers"][0]["seq"], middle);
    let told = world.installation.run(&["feed", "--consumer", "erp", "--limit", "1"]).await.expect(0);
    assert_eq!(told.json(), next["changes"][0], "the command line tells the same");

    // Nothing comes: the wait ends. Something comes: it is told at once.
    let begun = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    let waited = program.get(&format!("/changes?after={never}&wait=1")).await.body;
    assert_eq!(waited, json!({"changes": [], "next": never}));
    let took = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap() - begun;
    assert!(took >= std::time::Duration::from_millis(900), "{took:?}");
    let waiting = tokio::spawn({
        let program = program.clone();
        async move {
            let mut after = last;
            loop {
                let part = program.get(&format!("/changes?after={after}&wait=30")).await.body;
                let changes = part["changes"].as_array().unwrap();
                if changes.iter().any(|change| change["store"] == "outra") {
                    return;
                }
                after = part["next"].as_i64().unwrap();
            }
        }
    });
    let columns = "store, entity, key, op, at";
    let change = "'outra', 'order', '1', 'update', '2026-11-20T12:00:00.000000Z'";
    world.mirror.execute(&format!("INSERT INTO changes ({columns}) VALUES ({change})")).await;
    waiting.await.unwrap();
    // A token of another store passes over it.
    let limited = world.program.with(LIMITED).get(&format!("/changes?after={last}&limit=1000")).await.body;
    let stores = limited["changes"].as_array().unwrap().iter().map(|change| &change["store"]);
    assert!(stores.into_iter().all(|store| store == "loja-1") && limited["next"].as_i64().unwrap() > last);
    world.ended().await;
}

async fn alarms_are_those_of_the_status(kind: Kind) {
    let world = World::on(kind).await;
    world
        .mirror
        .execute("INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('nenhuma', 'A', '1', 1)")
        .await;
    let shown = async || -> (Value, Value) {
        let status = truth::get(&format!("{}/status?lang=en", world.program.base)).await.1;
        let status: Value = serde_json::from_str(&status).unwrap();
        (status["alarms"].clone(), world.program.get("/alarms?lang=en").await.body["alarms"].clone())
    };
    let is_there =
        |alarms: &Value| alarms.as_array().unwrap().iter().any(|alarm| alarm["code"] == "unknown_store");
    espelho_tests::until("both surfaces show the alarm, and the same ones", async || {
        let (status, api) = shown().await;
        is_there(&api) && status == api
    })
    .await;
    let views = world.program.get("/v_alarms").await;
    assert!(views.rows().iter().all(|row| row["code"].is_string()));
    world.ended().await;
}
