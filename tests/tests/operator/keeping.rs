//! `espelho token status`, `prune` and `doctor`.

use espelho_tests::{
    Call, Kind, Outcome, Reply, on_both_databases,
    pages::{ready, stopped},
    shop::{LOGIN, Order},
    until,
};
use serde_json::{Value, json};

use super::{lines, set_up};

on_both_databases![
    the_token_is_told_of_without_a_login_and_without_the_token,
    old_records_are_counted_and_deleted_and_open_ones_stay,
    a_doctor_says_what_is_wrong_and_what_to_do_without_a_login_too_many,
];

async fn the_token_is_told_of_without_a_login_and_without_the_token(kind: Kind) {
    let (installation, shop) = set_up(kind, Order::many(1)).await;
    installation.run(&["migrate"]).await.expect(0);
    let status = async || installation.run(&["token", "status", "--json"]).await.expect(0).store();
    let never = status().await;
    assert_eq!((&never["token"], &never["password"]), (&json!("none"), &json!("unknown")), "{never}");
    assert_eq!((&never["expires_at"], &never["login_allowed_at"]), (&Value::Null, &Value::Null));
    let shown = installation.run(&["token", "status"]).await.expect(0).stdout;
    assert!(shown.contains("none is kept") && shown.contains("password: unknown"), "{shown}");

    installation.resync(&[]).await.expect(0);
    shop.take_calls();
    let kept = status().await;
    assert_eq!((&kept["token"], &kept["password"]), (&json!("kept"), &json!("accepted")), "{kept}");
    for time in ["obtained_at", "expires_at", "password_at"] {
        assert!(kept[time].as_str().unwrap().ends_with('Z'), "{time} of {kept}");
    }
    let tokens = installation.journal().await;
    let tokens = tokens.ask("SELECT token FROM tokens").await;
    for language in ["en", "pt-BR"] {
        let shown = installation.run(&["token", "status", "--lang", language]).await.expect(0);
        assert!(!shown.stdout.contains(&tokens[0]["token"]) && shown.stdout.contains("token: "), "{shown}");
    }

    // The last login has no answer, and the one before was forced twice within the hour.
    let mirror = installation.mirror().await;
    let ago = |minutes: u32| match kind {
        Kind::Sqlite => format!("strftime('%Y-%m-%dT%H:%M:%f000Z', 'now', '-{minutes} minutes')"),
        Kind::Postgres => format!("now() - interval '{minutes} minutes'"),
    };
    mirror.execute("DELETE FROM logins").await;
    for (minutes, reason) in [(30, "401"), (20, "401"), (10, "attempt")] {
        let at = ago(minutes);
        mirror
            .execute(&format!("INSERT INTO logins (store, at, reason) VALUES ('loja-1', {at}, '{reason}')"))
            .await;
    }
    let waiting = status().await;
    assert_eq!((&waiting["password"], &waiting["login_allowed_at"]), (&json!("unknown"), &Value::Null));
    assert!(
        waiting["forced_login_allowed_at"].is_string() && waiting["password_at"].is_string(),
        "{waiting}"
    );
    installation.run(&["token", "status", "--store", "loja-9"]).await.expect(2).says("loja-9");
    assert!(shop.take_calls().is_empty(), "looking asks nobody");
}

async fn old_records_are_counted_and_deleted_and_open_ones_stay(kind: Kind) {
    const FILE: &str = "labels/loja-1/0123456789abcdef0123456789abcdef01234567.pdf";
    let (installation, shop) = set_up(kind, Order::many(3)).await;
    let keep = "[labels]\nkeep_days = 5\n";
    installation.write_main(keep);
    installation.resync(&[]).await.expect(0);
    let (mirror, inbox) = (installation.mirror().await, installation.journal().await);
    let ago = |days: u32| match kind {
        Kind::Sqlite => format!("strftime('%Y-%m-%dT%H:%M:%f000Z', 'now', '-{days} days')"),
        Kind::Postgres => format!("now() - interval '{days} days'"),
    };
    for (received, handled) in [(30, ago(8)), (30, ago(6)), (30, "NULL".to_owned())] {
        let body = if kind == Kind::Sqlite { "x'313233'" } else { "'123'::bytea" };
        let columns = "store, received_at, event, digest, body, handled_at";
        let values = format!("'loja-1', {}, 'order.paid', 'd', {body}, {handled}", ago(received));
        inbox.execute(&format!("INSERT INTO webhook_inbox ({columns}) VALUES ({values})")).await;
    }
    for (state, settled) in [
        ("confirmed", ago(91)),
        ("refuted", ago(91)),
        ("confirmed", ago(80)),
        ("doubtful", ago(200)),
        ("sent", "NULL".to_owned()),
    ] {
        let columns = "store, key, kind, request, state, planned_at, settled_at";
        let values =
            format!("'loja-1', 'order/1', 'order.notes', 'PUT /x', '{state}', {}, {settled}", ago(300));
        inbox.execute(&format!("INSERT INTO effects ({columns}) VALUES ({values})")).await;
    }
    let void = |file: &str, days| {
        let columns = "store, file, label_id, order_number, size, sha256, host, fetched_at, void_at";
        let values = format!("'loja-1', '{file}', 'L', 'P00001', 7, 's', 'h', {}, {}", ago(50), ago(days));
        format!("INSERT INTO label_files ({columns}) VALUES ({values})")
    };
    mirror.execute(&void(FILE, 6)).await;
    mirror.execute(&void("labels/loja-1/f.pdf", 4)).await;
    std::fs::create_dir_all(installation.dir().join("labels/loja-1")).unwrap();
    std::fs::write(installation.dir().join(FILE), "a label").unwrap();
    mirror.execute(&format!("UPDATE changes SET at = {}", ago(3))).await;
    shop.take_calls();

    let rows = |told: &Outcome| -> Vec<(String, u64, u64)> {
        let told = told.json();
        let tables = told["tables"].as_array().unwrap().iter();
        let count = |row: &Value, name: &str| row[name].as_u64().unwrap();
        let row = |row: &Value| {
            (row["table"].as_str().unwrap().to_owned(), count(row, "rows"), count(row, "bytes"))
        };
        tables.map(row).collect()
    };
    let expected = |counts: [(u64, u64); 4]| -> Vec<(String, u64, u64)> {
        let limited = ["webhook_inbox", "effects", "changes", "label_files"].into_iter().zip(counts);
        let kept = ["sync_runs", "commands", "messages", "raw"].map(|table| (table, (0, 0)));
        limited.chain(kept).map(|(table, (rows, bytes))| (table.to_owned(), rows, bytes)).collect()
    };
    let all = expected([(1, 3), (2, 12), (0, 0), (1, 7)]);
    for _ in 0..2 {
        let counted = installation.run(&["prune", "--dry-run", "--json"]).await.expect(0);
        assert_eq!((rows(&counted), &counted.json()["state"]), (all.clone(), &json!("dry_run")), "{counted}");
    }
    assert!(installation.dir().join(FILE).exists());
    let kept = installation.run(&["prune", "--dry-run", "--older-than", "100d", "--json"]).await.expect(0);
    assert_eq!(rows(&kept), expected([(0, 0); 4]), "longer than the limits");
    installation.run(&["prune", "--older-than", "23h"]).await.expect(2);

    let done = installation.run(&["prune", "--json"]).await.expect(0);
    assert_eq!((rows(&done), &done.json()["state"]), (all, &json!("complete")), "{done}");
    assert!(!installation.dir().join(FILE).exists());
    let states = inbox.ask("SELECT state FROM effects ORDER BY id").await;
    let states: Vec<&str> = states.iter().map(|row| row["state"].as_str()).collect();
    assert_eq!(states, ["confirmed", "doubtful", "sent"]);
    assert_eq!(inbox.ask("SELECT digest FROM webhook_inbox").await.len(), 2);
    assert_eq!(mirror.ask("SELECT file FROM label_files").await.len(), 1);
    let again = installation.run_in_portuguese(&["prune"]).await.expect(0);
    assert!(again.stdout.contains("webhook_inbox: 0 registros, 0 bytes"), "{again}");

    installation.write_main(&format!("{keep}[retention]\ninbox_days = 5\nruns_days = 7\n"));
    let shorter = installation.run(&["prune", "--dry-run", "--json"]).await.expect(0);
    assert_eq!(rows(&shorter)[0], ("webhook_inbox".to_owned(), 1, 3), "{shorter}");
    assert!(shorter.json()["tables"][4]["before"].is_string(), "{shorter}");
    installation.write_main(&format!("{keep}[retention]\neffects_days = 3\n"));
    let refused = installation.run(&["prune"]).await.expect(2);
    assert!(refused.stderr.contains("retention.effects_days"), "{refused}");
    installation.write_main(keep);

    // The feed is kept until every consumer has acknowledged, and without a consumer.
    let feed = async || installation.run(&["feed"]).await.expect(0).stdout.lines().count();
    installation.run(&["prune", "--older-than", "2d"]).await.expect(0);
    assert_eq!(feed().await, 3);
    let seq = lines(&installation.run(&["feed", "--limit", "2"]).await.expect(0))[1]["seq"].to_string();
    installation.run(&["feed", "--consumer", "erp", "--ack", &seq]).await.expect(0);
    let pruned = installation.run(&["prune", "--older-than", "2d", "--json"]).await.expect(0);
    assert_eq!((rows(&pruned)[2].1, feed().await), (2, 1), "{pruned}");

    // Beside a service, which holds the store and its files.
    mirror.execute(&void(FILE, 6).replace(FILE, "labels/loja-1/later.pdf")).await;
    let base = installation.write_main_with_known_port_and(keep);
    let mut service = installation.start(&["run"]);
    ready(&mut service, &base).await;
    // The service deletes old records itself, once after its start, with the sweep of the profile.
    until("the service has deleted", async || {
        !mirror.ask("SELECT kind FROM sweeps WHERE kind = 'profile'").await.is_empty()
    })
    .await;
    inbox.execute(&format!("UPDATE webhook_inbox SET handled_at = {}", ago(9))).await;
    let beside = installation.run(&["prune", "--json"]).await.expect(0);
    assert_eq!(rows(&beside)[0].1, 2, "{beside}");
    let left = beside.json()["left"].as_array().unwrap().len();
    assert!(left == 1 || mirror.ask("SELECT file FROM label_files").await.len() == 1, "{beside}");
    stopped(service).await;
}

async fn a_doctor_says_what_is_wrong_and_what_to_do_without_a_login_too_many(kind: Kind) {
    let (installation, shop) = set_up(kind, Order::many(2)).await;
    let with_campaigns_and_a_session = |call: &Call| match call.path.as_str() {
        "/api/stores/auth/session" => Some(Reply::success(&json!({"id": 7, "name": "Loja"}))),
        path if path.contains("campaign") => {
            let meta = json!({"page": 1, "last_page": 1, "total": 0});
            Some(Reply::json(200, &json!({"success": true, "data": [], "meta": meta})))
        }
        _ => None,
    };
    shop.rule(with_campaigns_and_a_session);
    let missing = installation.run(&["doctor", "--json"]).await;
    assert!(missing.json()["findings"].as_array().unwrap().iter().any(|check| check["fix"].is_string()));
    installation.resync(&[]).await.expect(0);
    shop.take_calls();
    let told = installation.run(&["doctor", "--json"]).await.expect(0).json();
    assert_eq!(told["state"], json!("yellow"), "no service runs: {told}");
    assert!(!shop.take_calls().iter().any(|call| call.path == LOGIN), "the token on record is used");

    let base = installation.write_main_with_known_port();
    let mut service = installation.start(&["run"]);
    ready(&mut service, &base).await;
    shop.take_calls();
    let shown = installation.run_in_portuguese(&["doctor"]).await.expect(0);
    for words in [
        "✓ VERDE configuração",
        "✓ VERDE banco de dados",
        "✓ VERDE gravação no banco",
        "✓ VERDE serviço",
        "✓ VERDE loja-1: posse da loja: o serviço",
        "✓ VERDE loja-1: credencial: o token funciona",
        "– DESCONHECIDO loja-1: senha: não testada",
        "· NÃO CONFIGURADO loja-1: webhook: nenhum configurado",
        "    → espelho doctor --login",
    ] {
        assert!(shown.stdout.contains(words), "no {words:?} in\n{shown}");
    }
    assert!(shown.stdout.lines().last().unwrap().ends_with("(código de saída do doctor: 0)"), "{shown}");
    assert!(!shop.take_calls().iter().any(|call| call.path == LOGIN), "the service's token lives on");
    stopped(service).await;

    shop.rule(|call| {
        let refused = || Reply::refusal(401, "UNAUTHORIZED", "credential", &json!([]));
        (call.path == LOGIN || call.path.contains("session")).then(refused)
    });
    let refused = installation.run_in_portuguese(&["doctor"]).await.expect(4);
    assert!(refused.stdout.contains("✗ VERMELHO loja-1: credencial: credential_refused"), "{refused}");
}
