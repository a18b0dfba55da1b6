//! The operator's commands: `status`, `errors`, `explain`, `feed`, `audit`, the status page, and `--resync` beside a
//! service.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use espelho_sandbox::{NewCampaign, Options};
use espelho_tests::{
    Call, Installation, Kind, Outcome, Reply, Shop, on_both_databases,
    pages::{answer, ready, stopped},
    sandbox_of,
    shop::{LOGIN, ORDERS, Order},
    truth, until,
};
use serde_json::{Value, json};

on_both_databases![
    the_feed_tells_what_its_reader_has_not_acknowledged,
    a_followed_feed_tells_what_comes_and_ends_when_told_to,
    status_without_a_service_looks_at_the_database_itself,
    what_fails_is_shown_with_cause_and_next_step,
    a_running_service_is_asked_how_everything_is,
    a_store_is_shown_alone_with_both_counts_and_its_last_audit,
    one_thing_is_explained,
    a_mirrored_order_is_shown_with_all_that_belongs_to_it,
    the_token_is_told_of_without_a_login_and_without_the_token,
    old_records_are_counted_and_deleted_and_open_ones_stay,
    an_audit_finds_what_differs_and_changes_nothing,
    an_audit_beside_a_service_compares_campaigns_images_and_the_profile_too,
    a_doctor_says_what_is_wrong_and_what_to_do_without_a_login_too_many,
];

/// An installation with a shop of these orders.
async fn set_up(kind: Kind, orders: Vec<Order>) -> (Installation, Shop) {
    let shop = Shop::open(orders).await;
    let installation = Installation::on(kind).await;
    shop.join(&installation);
    (installation, shop)
}

fn lines(outcome: &Outcome) -> Vec<Value> {
    outcome.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn the_feed_tells_what_its_reader_has_not_acknowledged(kind: Kind) {
    let (installation, _shop) = set_up(kind, Order::many(5)).await;
    installation.resync(&[]).await.expect(0);
    let told = installation.run(&["feed"]).await.expect(0);
    assert!(
        told.stdout.starts_with("{\"seq\":1,\"store\":\"loja-1\",\"entity\":\"order\",\"key\":\"P"),
        "{told}"
    );
    let all = lines(&told);
    assert!(all.is_sorted_by_key(|change| change["seq"].as_i64().unwrap()));
    let mut keys: Vec<&str> = all.iter().map(|change| change["key"].as_str().unwrap()).collect();
    // Orders of one page are reported in the order in which their details arrived.
    keys.sort_unstable();
    assert_eq!(keys, ["P00001", "P00002", "P00003", "P00004", "P00005"]);
    let first = all[0].as_object().unwrap();
    assert_eq!(first.len(), 6);
    assert_eq!(
        (&first["store"], &first["entity"], &first["op"]),
        (&json!("loja-1"), &json!("order"), &json!("insert"))
    );
    assert!(first["at"].as_str().unwrap().ends_with('Z'));

    let two = lines(&installation.run(&["feed", "--consumer", "erp", "--limit", "2"]).await.expect(0));
    assert_eq!(two, all[..2]);
    let seq = two[1]["seq"].to_string();
    let told = installation.run(&["feed", "--consumer", "erp", "--ack", &seq]).await.expect(0);
    assert_eq!((told.stdout.as_str(), told.stderr.as_str()), ("", ""));
    let rest = || async { lines(&installation.run(&["feed", "--consumer", "erp"]).await.expect(0)) };
    assert_eq!(rest().await, all[2..]);

    let beyond = (all[4]["seq"].as_i64().unwrap() + 1).to_string();
    let refused = installation.run(&["feed", "--consumer", "erp", "--ack", &beyond]).await.expect(2);
    refused.says(&format!("The feed has not reached {beyond}"));
    for wrong in ["0", "-3", "many"] {
        installation.run(&["feed", "--consumer", "erp", "--ack", wrong]).await.expect(2);
    }
    installation.run(&["feed", "--ack", &seq]).await.expect(2);
    assert_eq!(rest().await, all[2..], "what was refused has acknowledged nothing");
    installation.run(&["feed", "--consumer", "erp", "--ack", "1"]).await.expect(0);
    assert_eq!(rest().await, all[2..], "an acknowledgement is never taken back");
}

async fn a_followed_feed_tells_what_comes_and_ends_when_told_to(kind: Kind) {
    let (installation, shop) = set_up(kind, Order::many(1)).await;
    installation.resync(&[]).await.expect(0);
    let mut feed = installation.start(&["feed", "--follow"]);
    assert!(feed.line().await.unwrap().contains("P00001"));
    for n in 2..=3 {
        let number = format!("P{n:05}");
        shop.change(|orders| orders.push(Order::ordinary(&number)));
        installation.resync(&[]).await.expect(0);
        assert!(feed.line().await.unwrap().contains(&number));
    }
    assert_eq!(stopped(feed).await.stderr, "");
}

#[tokio::test]
async fn a_followed_feed_ends_with_its_reader() {
    let (installation, _shop) = set_up(Kind::Sqlite, Order::many(3)).await;
    installation.resync(&[]).await.expect(0);
    let (binary, dir) = (espelho_tests::installation::binary(), installation.dir());
    let pipe = format!("'{}' --config '{}' feed --follow | head -n 1", binary.display(), dir.display());
    let run = tokio::process::Command::new("sh").arg("-c").arg(pipe).output();
    // Nothing changes meanwhile: the command has to notice by itself.
    let done = tokio::time::timeout(std::time::Duration::from_secs(30), run).await.unwrap().unwrap();
    assert!(done.status.success());
    assert_eq!(String::from_utf8(done.stdout).unwrap().lines().count(), 1);
    assert_eq!(String::from_utf8(done.stderr).unwrap(), "");
}

async fn status_without_a_service_looks_at_the_database_itself(kind: Kind) {
    let (installation, shop) = set_up(kind, Order::many(7)).await;
    for command in [&["status"][..], &["errors"], &["feed"], &["explain", "order", "P00001"]] {
        installation.run(command).await.expect(1).says("espelho migrate");
    }
    installation.run(&["migrate"]).await.expect(0);
    let never = installation.run(&["status", "--json"]).await.expect(3).json();
    assert_eq!((&never["state"], &never["service"]["running"]), (&json!("failing"), &json!(false)));
    let codes = |picture: &Value| -> Vec<String> {
        let alarms = picture["alarms"].as_array().unwrap().iter();
        alarms.map(|alarm| alarm["code"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(codes(&never), ["service_stopped"], "{never}");
    assert!(shop.take_calls().is_empty(), "looking asks nobody");

    installation.resync(&[]).await.expect(0);
    let shown = installation.run_in_portuguese(&["status"]).await.expect(3);
    for words in ["serviço parado", "systemctl enable --now espelho", "loja-1", "pedidos"] {
        assert!(shown.stdout.contains(words), "no {words:?} in\n{shown}");
    }
    assert!(
        !shown.stdout.contains('\x1b') && shown.stdout.lines().all(|line| line.chars().count() <= 100),
        "{shown}"
    );
    let picture = installation.run(&["status", "--json"]).await.expect(3).json();
    let store = &picture["stores"][0];
    assert_eq!(store["holder"]["held"], json!(false), "{store}");
    assert_eq!((&store["last_run"]["kind"], &store["last_run"]["seen"]), (&json!("resync"), &json!(7)));
    assert!(store["tables"].to_string().contains("{\"gone\":0,\"last_mirrored\":"), "{store}");
    assert!(
        store["budget"].is_null()
            && store["token_expires_at"].is_string()
            && store["last_success"].is_string()
    );
    assert_eq!(installation.run_in_portuguese(&["errors"]).await.expect(0).stdout, "nenhum erro\n");
}

async fn what_fails_is_shown_with_cause_and_next_step(kind: Kind) {
    let (installation, shop) = set_up(kind, Order::many(3)).await;
    shop.rule(|call| {
        let refused = || Reply::refusal(404, "ORDER_NOT_FOUND", "no such order", &json!([]));
        (call.path == format!("{ORDERS}/P00002")).then(refused)
    });
    installation.resync(&[]).await.expect(3);
    let told = installation.run(&["errors", "--json"]).await.expect(0).json();
    let [row] = &told["errors"].as_array().unwrap()[..] else { panic!("{told}") };
    assert_eq!(
        (&row["store"], &row["entity"], &row["key"]),
        (&json!("loja-1"), &json!("order"), &json!("P00002"))
    );
    let (error, hint) = (row["error"].as_str().unwrap(), row["hint"].as_str().unwrap());
    let shown = installation.run(&["errors", "--store", "loja-1"]).await.expect(0);
    for words in ["P00002", error, hint] {
        assert!(shown.stdout.contains(words), "no {words:?} in\n{shown}");
    }
    installation.run(&["errors", "--store", "loja-2"]).await.expect(2).says("loja-2");
    let shown = installation.run_in_portuguese(&["status"]).await.expect(3);
    for words in
        ["2 problemas", "1 registro da loja loja-1 com falha", "próximo passo: espelho errors", "falha"]
    {
        assert!(shown.stdout.contains(words), "no {words:?} in\n{shown}");
    }
    let why = installation.run_in_portuguese(&["explain", "order", "P00002"]).await.expect(0);
    assert!(why.stdout.contains("não está no espelho") && why.stdout.contains(error), "{why}");
}

async fn a_running_service_is_asked_how_everything_is(kind: Kind) {
    let (installation, shop) = set_up(kind, Order::many(4)).await;
    let base = installation.write_main_with_known_port();
    let mut service = installation.start(&["run"]);
    ready(&mut service, &base).await;
    shop.take_calls();
    // The rows were counted at the start, when there were none; they are counted again after a while.
    until("everything has its proof, and the rows are counted", async || {
        let status = installation.run(&["status", "--json"]).await;
        status.code == 0 && status.json()["stores"][0]["tables"].as_array().is_some_and(|all| !all.is_empty())
    })
    .await;
    let picture = installation.run(&["status", "--json"]).await.expect(0).json();
    assert_eq!(picture["service"]["process"], json!(service.id()));
    let store = &picture["stores"][0];
    assert_eq!((&store["ours"], &store["holder"]["held"]), (&json!(true), &json!(true)));
    assert_eq!(store["budget"]["per_minute"], json!(1_000_000));
    let lanes: Vec<_> = store["budget"]["waiting"].as_object().unwrap().keys().collect();
    assert_eq!(lanes, ["backfill", "interactive", "poll", "push", "refresh"]);
    assert!(installation.run(&["status"]).await.expect(0).stdout.contains("running for"));

    let (code, text) = truth::get(&format!("{base}/status")).await;
    let served: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &served["stores"][0]["tables"]), (200, &store["tables"]));
    let page = answer(&base, "GET / HTTP/1.0\r\nHost: localhost\r\n\r\n").await;
    for words in ["content-security-policy: default-src 'none'", "<!doctype html>", "tudo em dia", "loja-1"] {
        assert!(page.contains(words), "no {words:?} in\n{page}");
    }
    for path in ["/", "/status", "/resync"] {
        let foreign = answer(&base, &format!("GET {path} HTTP/1.0\r\nHost: evil.example\r\n\r\n")).await;
        assert!(foreign.starts_with("HTTP/1.0 421"), "{foreign}");
    }
    let (code, text) = truth::get(&format!("{base}/status?store=loja-1")).await;
    let alone: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &alone["stores"][0]["tables"]), (200, &store["tables"]));
    let (code, text) = truth::get(&format!("{base}/status?store=loja-9")).await;
    assert!(code == 404 && text.contains("loja-9"), "{text}");
    let (code, text) = truth::get(&format!("{base}/?store=%3Cb%3E")).await;
    assert!(code == 404 && text.contains("Não há loja &#60;b&#62;."), "{text}");
    let (_, metrics) = truth::get(&format!("{base}/metrics")).await;
    let mut names = vec![
        "espelho_ratelimit_remaining{store=\"loja-1\"}",
        "espelho_ratelimit_waiting{store=\"loja-1\",lane=\"refresh\"} 0",
        "espelho_token_expires_timestamp_seconds{store=\"loja-1\"}",
        "espelho_sweep_last_success_timestamp_seconds{store=\"loja-1\",kind=\"orders\"}",
        "process_cpu_seconds_total",
        "process_resident_memory_bytes",
        "process_open_fds",
        "process_max_fds",
        "process_start_time_seconds",
    ];
    if kind == Kind::Sqlite {
        names.extend(["espelho_db_wal_bytes", "espelho_disk_free_bytes"]);
    }
    for name in names {
        assert!(metrics.contains(&format!("\n{name}")), "no {name} in\n{metrics}");
    }
    assert!(shop.take_calls().is_empty(), "looking asks nobody");
    stopped(service).await;
}

async fn a_store_is_shown_alone_with_both_counts_and_its_last_audit(kind: Kind) {
    let (installation, shop) = set_up(kind, Order::many(3)).await;
    let other = Shop::open(Order::many(5)).await;
    other.join_as(&installation, "loja-2");
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    for (table, columns, values) in [
        ("remote_counts", "kind, remote, local", "'orders', 4, 3"),
        ("audits", "resource, compared, differing", "'orders', 20, 2"),
    ] {
        let at = "'2026-01-01T00:00:00.000000Z'";
        let sql = format!("INSERT INTO {table} (store, {columns}, at) VALUES ('loja-1', {values}, {at})");
        mirror.execute(&sql).await;
    }
    shop.take_calls();
    let picture = installation.run(&["status", "--store", "loja-1", "--json"]).await.expect(3).json();
    let [store] = &picture["stores"].as_array().unwrap()[..] else { panic!("{picture}") };
    let orders = &store["resources"][0];
    assert_eq!((&orders["resource"], &orders["local"]), (&json!("orders"), &json!(3)), "{store}");
    assert_eq!((&orders["remote"], &orders["errors"]), (&json!(4), &json!(0)));
    assert_eq!(
        (&orders["drift"]["compared"], &orders["drift"]["differing"]),
        (&json!(20), &json!(2)),
        "{orders}"
    );
    assert!(orders["last_success"].is_string() && orders["lag_seconds"].is_number(), "of the run: {orders}");
    let all = installation.run(&["status", "--json"]).await.expect(3).json();
    let locals: Vec<_> =
        all["stores"].as_array().unwrap().iter().map(|store| &store["resources"][0]["local"]).collect();
    assert_eq!(locals, [3, 5]);
    let shown = installation.run(&["status", "--store", "loja-2"]).await.expect(3);
    assert!(shown.stdout.contains("Counted: here / there") && !shown.stdout.contains("loja-1"), "{shown}");
    installation.run(&["status", "--store", "loja-9"]).await.expect(2).says("loja-9");
    assert!(shop.take_calls().is_empty(), "looking asks nobody");
}

async fn one_thing_is_explained(kind: Kind) {
    let (installation, _shop) = set_up(kind, Order::many(2)).await;
    installation.resync(&[]).await.expect(0);
    let told = installation.run(&["explain", "order", "P00002", "--json"]).await.expect(0).json();
    let found = &told["found"][0];
    assert_eq!(found["row"]["raw"]["order_number"], json!("P00002"));
    assert_eq!((&found["row"]["sides"]["order_items"], &found["row"]["gone_at"]), (&json!(1), &Value::Null));
    assert_eq!(found["changes"][0]["op"], json!("insert"));
    let shown = installation.run_in_portuguese(&["explain", "order", "P00002"]).await.expect(0);
    assert!(shown.stdout.contains("pedido P00002, pago") && !shown.stdout.contains("Ávila"), "{shown}");
    installation.run(&["explain", "order", "P00009"]).await.expect(1);
    installation.run(&["explain", "ordr", "P00002"]).await.expect(2).says("did you mean “order”?");
}

async fn a_mirrored_order_is_shown_with_all_that_belongs_to_it(kind: Kind) {
    let (installation, shop) = set_up(kind, Order::many(2)).await;
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    let (at, is_true) = ("'2026-03-02T10:00:00.000000Z'", if kind == Kind::Sqlite { "1" } else { "true" });
    mirror
        .execute(&format!(
            "INSERT INTO shipments (store, id, content_hash, mirrored_at, order_number, status, tracking_code, \
             labels_ready, labels_total, raw) VALUES ('loja-1', 'S-1', 1, {at}, 'P00002', 'in_transit', 'BR1', 1, 2, '{{}}')"
        ))
        .await;
    mirror
        .execute(&format!(
            "INSERT INTO order_invoices (store, order_number, id, content_hash, mirrored_at, type, status, \
             invoice_number, is_current, raw) VALUES ('loja-1', 'P00002', 'N-1', 1, {at}, 'nfe', 'issued', '77', {is_true}, \
             '{{}}')"
        ))
        .await;
    shop.take_calls();

    let shown = installation.run(&["get", "order", "P00002"]).await.expect(0).stdout;
    for words in [
        "loja-1: order P00002, paid: mirrored at ",
        "total R$ 25.00: products R$ 19.90, shipping R$ 5.10, discounts R$ 0.00",
        "placed at 2026-03-01 10:00, changed at 2026-03-01 10:05",
        "1 × CAN-01 : R$ 19.90 each, R$ 19.90 together",
        "shipment S-1: in transit, tracking code BR1; carrier unknown; labels ready: 1 of 2",
        "NF-e 77: issued, issued at unknown, access key unknown: the one that counts",
    ] {
        assert!(shown.contains(words), "no {words:?} in\n{shown}");
    }
    assert!(!shown.contains("Ávila"), "{shown}");
    let shown = installation.run_in_portuguese(&["get", "order", "P00001"]).await.expect(0).stdout;
    assert!(shown.contains("pedido P00001, pago") && shown.contains("nada registrado"), "{shown}");

    let told = installation.run(&["get", "order", "P00002", "--json"]).await.expect(0).json();
    let order = &told["order"];
    assert_eq!((&order["total_order"], &order["customer_name"]), (&json!(25), &json!("Zoë d'Ávila")));
    assert_eq!(order["raw"]["order_number"], json!("P00002"));
    assert_eq!(order["created_at"], json!("2026-03-01T13:00:00.000000Z"));
    assert_eq!((&told["items"][0]["unit_price"], &told["items"][0]["gone_at"]), (&json!(19.9), &Value::Null));
    assert_eq!(
        (&told["shipments"][0]["id"], &told["invoices"][0]["is_current"]),
        (&json!("S-1"), &json!(true))
    );

    let unknown = installation.run(&["get", "order", "P00009", "--json"]).await.expect(1);
    assert_eq!(unknown.json()["errors"][0]["code"], json!("unknown_order"));
    unknown.says("There is no order P00009").says("espelho explain order P00009");
    let other = Shop::open(Order::many(2)).await;
    other.join_as(&installation, "loja-2");
    installation.resync(&["--store", "loja-2"]).await.expect(0);
    installation.run(&["get", "order", "P00002"]).await.expect(2).says("loja-1, loja-2").says("--store");
    let one = installation.run(&["get", "order", "P00002", "--store", "loja-2", "--json"]).await.expect(0);
    assert_eq!(one.json()["order"]["store"], json!("loja-2"));
    installation.run(&["get", "order", "P00002", "--store", "loja-9"]).await.expect(2).says("loja-9");
}

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
        "✓ GREEN configuração",
        "✓ GREEN banco de dados",
        "✓ GREEN gravação no banco",
        "✓ GREEN serviço",
        "✓ GREEN loja-1: posse da loja: o serviço",
        "✓ GREEN loja-1: credencial: o token funciona, testado agora; a loja é Loja",
        "– UNKNOWN loja-1: senha: não testada",
        "    → espelho doctor --login",
    ] {
        assert!(shown.stdout.contains(words), "no {words:?} in\n{shown}");
    }
    assert!(!shop.take_calls().iter().any(|call| call.path == LOGIN), "the service's token lives on");
    stopped(service).await;

    shop.rule(|call| {
        let refused = || Reply::refusal(401, "UNAUTHORIZED", "credential", &json!([]));
        (call.path == LOGIN || call.path.contains("session")).then(refused)
    });
    let refused = installation.run_in_portuguese(&["doctor"]).await.expect(4);
    assert!(refused.stdout.contains("✗ RED loja-1: credencial: credential_refused"), "{refused}");
}

async fn an_audit_finds_what_differs_and_changes_nothing(kind: Kind) {
    let (installation, shop) = set_up(kind, Order::many(12)).await;
    installation.resync(&[]).await.expect(0);
    let equal = installation.run(&["audit", "--json"]).await.expect(0);
    assert_eq!((&equal.store()["state"], equal.count("orders", "sampled")), (&json!("equal"), 12));

    let mirror = installation.mirror().await;
    mirror.execute("UPDATE orders SET content_hash = 0 WHERE order_number = 'P00003'").await;
    shop.change(|orders| {
        orders.retain(|order| order.number != "P00001");
        let second = orders.iter_mut().find(|order| order.number == "P00002").unwrap();
        second.row["status"] = json!("preparing");
        second.detail["status"] = json!("preparing");
        // The listing differs, but a second read gives the same: the mirror has what the order itself says.
        let fourth = orders.iter_mut().find(|order| order.number == "P00004").unwrap();
        fourth.row["status"] = json!("preparing");
        orders.push(Order::ordinary("P00013"));
    });
    let before = mirror.everything().await;
    let found = installation.run(&["audit", "--sample", "100", "--json"]).await.expect(3);
    let named: Vec<String> = found.resource("orders")["differences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| format!("{} {}", row["key"].as_str().unwrap(), row["difference"].as_str().unwrap()))
        .collect();
    assert_eq!(named, ["P00001 surplus", "P00002 listing", "P00003 detail", "P00013 missing"], "{found}");
    assert_eq!(mirror.everything().await, before);
    let shown = installation.run(&["audit", "--store", "loja-1", "--sample", "0"]).await.expect(3);
    assert!(
        shown.stdout.contains("P00013: missing in the mirror") && shown.stdout.contains("--resync --deep"),
        "{shown}"
    );

    // A marketplace that refuses the limit is called without it, as in a run.
    shop.rule(|call| {
        let refused = || Reply::refusal(422, "VALIDATION_ERROR", "limit", &json!({"limit": ["too large"]}));
        (call.path == ORDERS && call.query.contains_key("limit")).then(refused)
    });
    let again = installation.run(&["audit", "--json"]).await.expect(3);
    assert_eq!((again.count("orders", "listed"), again.count("orders", "differing")), (12, 4));
    shop.rule(|_| None);

    let base = installation.write_main_with_known_port();
    let mut service = installation.start(&["run"]);
    ready(&mut service, &base).await;
    shop.take_calls();
    let found = installation.run(&["audit", "--json"]).await.expect(3);
    assert!(found.stderr.contains("the service that holds the store does the audit"), "{found}");
    let named = found.resource("orders")["differences"].to_string();
    assert!(named.contains("P00003") && named.contains("detail"), "no run has read it again: {found}");
    let asked = shop.take_calls();
    assert!(!asked.iter().any(|call| call.path == LOGIN), "the service's token lives on");
    stopped(service).await;

    // Without the service's address, the command contacts nobody.
    let mut service = installation.start(&["run"]);
    ready(&mut service, &base).await;
    installation.write_main("");
    shop.take_calls();
    installation.run(&["audit"]).await.expect(6);
    assert!(!shop.take_calls().iter().any(|call| call.path == LOGIN), "a store that another holds");
    stopped(service).await;
}

async fn an_audit_beside_a_service_compares_campaigns_images_and_the_profile_too(kind: Kind) {
    let sandbox = sandbox_of(Options { orders: 4, products: 4, ..Options::default() }).await;
    let campaign = NewCampaign {
        name: "Semana do espelho".into(),
        kind: "standard".into(),
        status: "active".into(),
        starts_in: Some(-60),
        ends_in: Some(86_400),
        opt_in_closes_in: Some(3_600),
        discount: None,
    };
    sandbox.control().campaigns().create(&campaign).unwrap();
    let installation = Installation::on(kind).await;
    let access = sandbox.stores().remove(0);
    installation.write_store("loja-1", &sandbox.base_url(), &access.username, &access.password);
    let base = installation.write_main_with_known_port();
    let mut service = installation.start(&["run"]);
    ready(&mut service, &base).await;
    let mirror = installation.mirror().await;
    let swept = "SELECT kind FROM sweeps WHERE kind IN ('campaigns', 'media', 'profile') AND succeeded_at IS NOT NULL";
    until("everything was swept", async || mirror.try_ask(swept).await.len() == 3).await;

    let equal = installation.run(&["audit", "--json"]).await.expect(0);
    for subject in ["campaigns", "media_images", "profile"] {
        assert_eq!(equal.count(subject, "differing"), 0);
        assert!(equal.count(subject, "listed") > 0, "nothing of {subject} in {equal}");
        assert_eq!(equal.count(subject, "listed"), equal.count(subject, "mirrored"), "{equal}");
    }
    let note = equal.resource("price_lists")["note"].to_string();
    assert!(note.contains("no route"), "{equal}");

    let first = |table: &str, key: &str| format!("{key} = (SELECT min({key}) FROM {table})");
    for (table, change, row) in [
        ("campaigns", "content_hash = 0", first("campaigns", "id")),
        ("campaign_listings", "gone_at = mirrored_at", first("campaign_listings", "item_id")),
        ("store_profiles", "content_hash = 0", "1 = 1".to_owned()),
        ("media_images", "content_hash = 0", first("media_images", "id")),
    ] {
        mirror.execute(&format!("UPDATE {table} SET {change} WHERE {row}")).await;
    }
    let before = mirror.everything().await;
    let found =
        installation.run(&["audit", "--only", "campaigns,media_images,profile", "--json"]).await.expect(3);
    assert_eq!(mirror.everything().await, before);
    let kinds = |subject: &str| {
        let named = found.resource(subject)["differences"].as_array().unwrap().clone();
        let of = |row: &Value| row["difference"].as_str().unwrap().to_owned();
        let mut kinds: Vec<String> = named.iter().map(of).collect();
        kinds.sort();
        kinds.dedup();
        kinds
    };
    assert_eq!(kinds("campaigns"), ["detail", "missing"], "{found}");
    assert_eq!((kinds("media_images"), kinds("profile")), (vec!["detail".into()], vec!["detail".into()]));
    let status = installation.run(&["status", "--store", "loja-1", "--json"]).await.json();
    let resources = status["stores"][0]["resources"].as_array().unwrap();
    let profile = resources.iter().find(|row| row["resource"] == json!("profile")).unwrap();
    assert_eq!(profile["drift"]["differing"], json!(1), "{status}");
    stopped(service).await;
}
