//! The service's log at its most verbose level: no customer data, and no secret.

use std::collections::BTreeSet;

use espelho_tests::{
    Installation, Kind, Reply, Shop,
    mirror::raw,
    sandbox,
    shop::{LOGIN, Order, PASSWORD},
    truth::get,
    until,
};
use serde_json::{Value, json};

/// Members of an order that identify a person or an address.
const PERSONAL: [&str; 10] = [
    "customer",
    "buyer",
    "recipient",
    "shipping_address",
    "billing_address",
    "address",
    "document",
    "email",
    "phone",
    "street",
];

/// Collects the personal texts that cannot be anything else.
fn personal(value: &Value, inside: bool, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                personal(value, inside || PERSONAL.iter().any(|word| name.contains(word)), found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| personal(value, inside, found)),
        // A name has a blank, a number many digits; a short word may occur anywhere.
        Value::String(text) if inside && text.len() > 8 && text.contains([' ', '@', '-']) => {
            found.insert(text.clone());
        }
        _ => {}
    }
}

// withstands: F126, F133
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn neither_customers_nor_secrets_are_in_the_most_talkative_log() {
    let sandbox = sandbox(40, 10).await;
    let installation = Installation::on(Kind::Sqlite).await;
    installation.write_main("[log]\nlevel = \"trace\"\n[schedule]\nreconcile = \"* * * * * *\"\n");
    installation.join(&sandbox);
    let service = installation.start(&["run"]);
    let mirror = installation.mirror().await;
    until("all is mirrored", async || mirror.try_ask("SELECT order_number FROM orders").await.len() == 40)
        .await;
    service.terminate().await;
    // Every command of these tests is searched for tokens, signing secrets and passwords.
    let ended = service.end().await.expect(0);
    let mut found = BTreeSet::new();
    for row in mirror.rows("orders").await {
        personal(&raw(&row), false, &mut found);
    }
    assert!(found.len() > 20, "the marketplace knows its customers: {found:?}");
    for secret in sandbox.stores().iter().map(|store| store.password.clone()).chain(found) {
        assert!(!ended.stderr.contains(&secret), "{secret:?} is in the log");
    }
    assert!(ended.stderr.lines().count() > 10, "{ended}");
}

// withstands: F126, F133
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_whom_a_refusal_names_is_in_its_row_and_in_no_log_and_no_alarm() {
    let named = ["Canária Ninguém", "529.982.247-25", "canaria.ninguem@example.com", "11912345678"];
    let said = format!("{}: https://s.example/a?X-Amz-Signature=4f2b9c", named.join(", "));
    let refusal = Reply::refusal(422, "VALIDATION_ERROR", &said, &json!({"notes": [said]}));
    let shop =
        Shop::with_rule(Order::many(1), move |call| call.path.ends_with("/notes").then(|| refusal.clone()))
            .await;
    let installation = Installation::on(Kind::Sqlite).await;
    let base = installation.write_main_with_known_port_and("[log]\nlevel = \"trace\"\n");
    shop.join(&installation);
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    mirror
        .execute(
            "INSERT INTO commands (store, kind, key, data) VALUES ('loja-1', 'order.notes', 'P00001', \
             '{\"notes\": \"embrulhar\"}')",
        )
        .await;
    let service = installation.start(&["run"]);
    let told = "SELECT text || ' ' || next AS told FROM v_alarms WHERE code = 'failed'";
    until("the alarm is told", async || !mirror.try_ask(told).await.is_empty()).await;
    until("the status has it", async || get(&format!("{base}/status")).await.1.contains("VALIDATION_ERROR"))
        .await;
    let alarm = mirror.ask(told).await[0]["told"].clone();
    assert!(alarm.contains("comando 1: ") && alarm.contains("VALIDATION_ERROR"), "{alarm}");
    // Beside the alarms the status has the words of failed rows, for whoever may read the rows.
    let status: Value = serde_json::from_str(&get(&format!("{base}/status")).await.1).unwrap();
    let status = status["alarms"].to_string();
    let row = mirror.ask("SELECT error AS said FROM commands").await[0]["said"].clone();
    service.terminate().await;
    let log = service.end().await.expect(0).stderr;
    assert!(log.contains("command not completed") && log.contains("VALIDATION_ERROR"), "{log}");
    for person in named {
        assert!(row.contains(person), "whoever reads the row reads the marketplace's words: {row}");
        for (place, text) in [("log", &log), ("status", &status), ("alarm", &alarm)] {
            assert!(!text.contains(person), "{person} is in the {place}: {text}");
        }
    }
    for text in [&row, &log, &status, &alarm] {
        assert!(!text.contains("4f2b9c"), "the signature of an address: {text}");
    }
}

// withstands: F126
#[tokio::test]
async fn a_marketplace_that_repeats_the_password_shows_it_nowhere() {
    let shop = Shop::with_rule(Order::many(3), |call| {
        let description = format!("recebido: {}", call.body);
        let refusal = Reply::refusal(422, "VALIDATION_ERROR", &description, &json!({"body": [call.body]}));
        (call.path == LOGIN).then_some(refusal)
    })
    .await;
    let installation = Installation::on(Kind::Sqlite).await;
    installation.write_main("[log]\nlevel = \"trace\"\n");
    shop.join(&installation);
    let mut said = String::new();
    for arguments in
        [&["--resync", "--json"][..], &["status"], &["status", "--json"], &["errors"], &["doctor"]]
    {
        let ended = installation.run(arguments).await;
        said = format!("{said}{}{}", ended.stdout, ended.stderr);
    }
    let runs = "SELECT COALESCE(error, '') FROM sync_runs UNION ALL SELECT text FROM v_alarms";
    said = format!("{said}{:?}", installation.mirror().await.try_ask(runs).await);
    assert!(said.contains("[REDACTED]"), "{said}");
    assert!(!said.contains(PASSWORD), "{said}");
}
