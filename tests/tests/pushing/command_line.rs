//! Intents written by the command line: what is refused first, their results, and what people decide afterwards.

use std::process::Stdio;

use espelho_tests::{Kind, on_both_databases};
use serde_json::json;

use crate::erp::{Erp, Goods};

on_both_databases![
    an_intent_that_is_waited_for_says_what_became_of_it,
    what_the_tables_would_refuse_is_refused_first_and_not_written,
    an_intent_beside_a_stopped_service_says_so_at_once,
    an_order_that_waits_for_its_invoice_is_told_by_errors_and_explain,
    what_was_ignored_is_brought_back,
    errors_are_grouped_by_cause_and_name_what_they_concern,
    a_reader_that_goes_away_ends_a_command_quietly,
];

const STATES: &str = "SELECT state AS s FROM erp_stock ORDER BY sku";

async fn place_of(erp: &Erp, goods: &Goods) -> String {
    let sql = format!("SELECT name AS n FROM stock_locations WHERE location_id = '{}'", goods.location);
    erp.ask(&sql).await.remove(0)
}

async fn an_intent_that_is_waited_for_says_what_became_of_it(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    let Goods { sku, quantity, .. } = &goods[0];
    let name = place_of(&erp, &goods[0]).await;
    let told =
        erp.installation.run_in_portuguese(&["stock", "set", sku, &name, "3", "--wait=120"]).await.expect(0);
    assert_eq!(told.stdout, format!("✓ {sku} @ {name}: {quantity} → 3\n"));
    let told = erp
        .installation
        .run_in_portuguese(&["stock", "set", sku, &goods[0].location, "4", "--wait=120", "--json"])
        .await;
    let told = told.expect(0).json();
    assert_eq!((&told["state"], &told["entity"]), (&json!("done"), &json!("stock")), "{told}");
    assert_eq!(erp.stock_of(&goods[0]).await, 4);
    let told = erp
        .installation
        .run_in_portuguese(&["stock", "adjust", sku, &name, "-2", "--wait=120"])
        .await
        .expect(0);
    assert_eq!(told.stdout, format!("✓ {sku} @ {name}: -2\n"));
    let number = erp.sell("standard", &goods[1].sku);
    let told = erp
        .installation
        .run_in_portuguese(&["orders", "advance", &number, "preparing", "--wait=120"])
        .await
        .expect(0);
    assert_eq!(told.stdout, format!("✓ pedido {number}: em preparação\n"));
    let told = erp
        .installation
        .run_in_portuguese(&["orders", "advance", "MP-0", "preparing", "--wait=120"])
        .await
        .expect(1);
    assert!(told.stdout.starts_with("✗ pedido MP-0: "), "{told}");
    let told = erp.installation.run_in_portuguese(&["stock", "set", sku, &name, "5"]).await.expect(0);
    assert_eq!(told.stdout, format!("✓ {sku} @ {name}: gravado\n"), "nobody waits without a terminal");
    erp.stop().await;
}

async fn what_the_tables_would_refuse_is_refused_first_and_not_written(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    let Goods { sku, location, .. } = &goods[0];
    let typo = format!("{sku}0");
    let run = async |arguments: &[&str]| erp.installation.run_in_portuguese(arguments).await.expect(2);
    run(&["price", "set", sku, "1.990"]).await.says("escreva 1990 ou 1.99");
    run(&["price", "set", sku, "1,990", "--lang", "en"]).await.says("R$ 1,990.00 or R$ 1.99");
    run(&["stock", "set", &typo, location, "1"])
        .await
        .says(&format!("SKU desconhecido: {typo}; parecidos: {sku}"));
    run(&["stock", "set", sku, "999999", "1"]).await.says("local desconhecido: 999999");
    run(&["stock", "set", sku, location, "-3"]).await.says("o estoque não pode ser -3");
    run(&["price", "set", sku, "-1"]).await.says("o preço não pode ser");
    run(&["orders", "advance", "1", "prepairing"]).await.says("preparing");
    let refused = run(&["labels", "generate", "1", "--format", "zebraa", "--json"]).await.says("zebra");
    assert_eq!(refused.json()["errors"][0]["code"], "unknown_format");
    for table in ["erp_stock", "erp_prices", "commands"] {
        assert!(erp.ask(&format!("SELECT store AS s FROM {table}")).await.is_empty(), "{table}");
    }
    erp.stop().await;
}

async fn an_intent_beside_a_stopped_service_says_so_at_once(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    erp.stop().await;
    let Goods { sku, location, .. } = &goods[0];
    let told = erp
        .installation
        .run_in_portuguese(&["stock", "set", sku, location, "3", "--wait=120"])
        .await
        .expect(0);
    assert!(told.stdout.contains("o serviço está parado\n  espelho run"), "{told}");
    assert_eq!(erp.ask(STATES).await, ["new"]);
}

async fn an_order_that_waits_for_its_invoice_is_told_by_errors_and_explain(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    let number = erp.sell("standard", &goods[0].sku);
    erp.installation
        .run_in_portuguese(&["orders", "advance", &number, "preparing", "--wait=120"])
        .await
        .expect(0);
    let told = erp
        .installation
        .run_in_portuguese(&["orders", "advance", &number, "ready_to_ship", "--wait=120"])
        .await
        .expect(0);
    assert_eq!(told.stdout, format!("… pedido {number}: espera NF-e; continua sozinho\n"));
    let errors = erp.installation.run_in_portuguese(&["errors"]).await.expect(0);
    assert!(errors.stdout.contains("espera (continua sozinho):"), "{errors}");
    assert!(errors.stdout.contains("(waiting_invoice)") && errors.stdout.contains(&number), "{errors}");
    let waiting = erp.installation.run_in_portuguese(&["errors", "--json"]).await.expect(0).json()["waiting"]
        [0]
    .clone();
    assert_eq!((&waiting["kind"], &waiting["subject"]), (&json!("order.status"), &json!(number)));
    erp.until(&format!("SELECT status AS s FROM orders WHERE order_number = '{number}'"), |rows| {
        rows == ["preparing"]
    })
    .await;
    erp.mirror
        .execute(&format!(
            "INSERT INTO erp_orders (store, order_number, erp_id) VALUES ('loja-1', '{number}', 'ERP-5')"
        ))
        .await;
    let story = erp.installation.run_in_portuguese(&["explain", &number]).await.expect(0);
    let mut rest = story.stdout.as_str();
    for words in [
        &*format!("pedido {number}, em preparação: última leitura em"),
        "espera há",
        "pedido feito",
        "comando 1: order.status",
        "confirmada (o marketplace respondeu)",
        "comando 1: feito",
        "comando 2: order.status",
        "comando 2: espera, continua sozinho",
        "o ERP pegou o pedido: ERP-5",
    ] {
        let at = rest.find(words).unwrap_or_else(|| panic!("no {words:?} in its place in\n{story}"));
        rest = &rest[at + words.len()..];
    }
    let command =
        erp.installation.run_in_portuguese(&["explain", "command", "1", "--json"]).await.expect(0).json();
    let kinds: Vec<&str> = command["found"][0]["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["commanded", "called", "answered"], "{command}");
    let sku = erp.installation.run_in_portuguese(&["explain", &goods[0].sku]).await.expect(0);
    assert!(sku.stdout.contains(&format!("produto {}", goods[0].sku)), "{sku}");
    erp.installation.run_in_portuguese(&["explain", "nada-disso"]).await.expect(1);
    erp.stop().await;
}

async fn what_was_ignored_is_brought_back(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    erp.set_stock(&goods[0], "-4").await;
    erp.until(STATES, |states| states == ["failed"]).await;
    erp.installation.run_in_portuguese(&["ignore", "--all", "--yes"]).await.expect(2).says("--state");
    let all = ["ignore", "--all", "--state", "failed"];
    let refused = erp.installation.run_in_portuguese(&all).await.expect(2).says("--yes");
    assert!(refused.stderr.contains(&goods[0].sku), "it lists what it would ignore: {refused}");
    let held = ["ignore", "--all", "--state", "held", "--yes"];
    erp.installation.run_in_portuguese(&held).await.expect(0);
    erp.until(STATES, |states| states == ["failed"]).await;
    erp.installation.run_in_portuguese(&[&all[..], &["--yes"]].concat()).await.expect(0);
    erp.until(STATES, |states| states == ["ignored"]).await;
    erp.installation.run_in_portuguese(&["retry", "--all", "--ignored"]).await.expect(0);
    erp.until(STATES, |states| states == ["failed"]).await;
    let key = format!("{}/{}", goods[0].sku, goods[0].location);
    erp.installation.run_in_portuguese(&["ignore", "stock", &key]).await.expect(0);
    erp.installation.run_in_portuguese(&["retry", "stock", &key]).await.expect(0);
    erp.until(STATES, |states| states == ["failed"]).await;
    erp.stop().await;
}

async fn errors_are_grouped_by_cause_and_name_what_they_concern(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    for level in goods.iter().take(3) {
        erp.set_stock(level, "-1").await;
    }
    erp.until(STATES, |states| states == ["failed", "failed", "failed"]).await;
    erp.command("order.status", "MP-0", &json!({"status": "preparing"})).await;
    let errors = erp.installation.run_in_portuguese(&["errors"]).await.expect(0);
    let first = errors.stdout.lines().next().unwrap();
    assert!(first.starts_with("3 × ") && first.contains("(invalid_data)"), "{errors}");
    assert!(goods.iter().take(3).all(|level| first.contains(&level.sku)), "{errors}");
    let names_order = errors.stdout.lines().any(|line| line.ends_with("(NOT_FOUND): MP-0"));
    assert!(names_order && errors.stdout.contains("espelho ignore command 1"), "{errors}");
    let one =
        erp.installation.run_in_portuguese(&["errors", "--code", "invalid_data", "--all"]).await.expect(0);
    assert_eq!(one.stdout.matches("[invalid_data]").count(), 3, "{one}");
    assert!(!one.stdout.contains("MP-0"), "{one}");
    erp.stop().await;
}

async fn a_reader_that_goes_away_ends_a_command_quietly(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    for arguments in [&["errors"][..], &["feed"], &["completions", "bash"], &["status", "--json"]] {
        let mut command = erp.installation.command(arguments);
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ended =
            command.stdin(Stdio::null()).stdout(writer).stderr(Stdio::piped()).output().await.unwrap();
        let stderr = String::from_utf8_lossy(&ended.stderr);
        // No service runs, which `status` reports with its exit code.
        let is_quiet = ended.status.success() || (arguments[0] == "status" && ended.status.code() == Some(3));
        assert!(is_quiet && !stderr.contains("panicked"), "{arguments:?}: {stderr}");
    }
    // A mistake goes to standard error, and the exit code stays the one of the mistake.
    for arguments in [&["check"][..], &["--resync"], &["check", "--nonsense"]] {
        let mut command = erp.installation.command(arguments);
        command.env("ESPELHO__LOG__LEVEL", "loud");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ended = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(writer).status().await.unwrap();
        assert_eq!(ended.code(), Some(2), "{arguments:?}");
    }
    erp.stop().await;
}
