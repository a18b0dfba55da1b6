//! `espelho status`, `errors`, `explain` and `get`, and the pages of a service.

use espelho_tests::{
    Kind, Reply, Shop, on_both_databases,
    pages::{answer, ready, stopped},
    shop::{ORDERS, Order},
    truth, until,
};
use serde_json::{Value, json};

use super::set_up;

on_both_databases![
    status_without_a_service_looks_at_the_database_itself,
    what_fails_is_shown_with_cause_and_next_step,
    a_running_service_is_asked_how_everything_is,
    another_installations_service_at_the_same_address_is_not_taken_for_ours,
    a_store_is_shown_alone_with_both_counts_and_its_last_audit,
    one_thing_is_explained,
    a_mirrored_order_is_shown_with_all_that_belongs_to_it,
];

async fn status_without_a_service_looks_at_the_database_itself(kind: Kind) {
    let (installation, shop) = set_up(kind, Order::many(7)).await;
    // A state that cannot be read is not ok: status ends with 3, as with every other such state (contract 4).
    installation.run(&["status"]).await.expect(3).says("espelho migrate");
    for command in [&["errors"][..], &["feed"], &["explain", "order", "P00001"]] {
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
    for words in ["serviço parado", "loja-1", "pedidos"] {
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
    // The rows are well; that the service is stopped is a problem all the same, as for the status.
    let errors = installation.run_in_portuguese(&["errors"]).await.expect(0).stdout;
    assert!(errors.starts_with("nenhum registro com erro\n"), "{errors}");
    assert!(errors.contains("[service_stopped]"), "{errors}");
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
    for words in ["2 problemas", "1 registro da loja loja-1 com falha", "detalhes: espelho errors", "falha"] {
        assert!(shown.stdout.contains(words), "no {words:?} in\n{shown}");
    }
    // The row was written in the installation's language, and is told in that of whoever asks.
    let told = installation.run_in_portuguese(&["errors", "--json"]).await.expect(0).json();
    let in_portuguese = told["errors"][0]["error"].as_str().unwrap();
    assert_ne!(in_portuguese, error);
    let why = installation.run_in_portuguese(&["explain", "order", "P00002"]).await.expect(0);
    assert!(why.stdout.contains("não está no espelho") && why.stdout.contains(in_portuguese), "{why}");
    let why = installation.run(&["explain", "order", "P00002"]).await.expect(0);
    assert!(why.stdout.contains(error), "{why}");
}

async fn a_running_service_is_asked_how_everything_is(kind: Kind) {
    let (installation, shop) = set_up(kind, Order::many(4)).await;
    let base = installation.write_main_with_known_port();
    let mut service = installation.start(&["run"]);
    ready(&mut service, &base).await;
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
    assert_eq!(installation.run(&["status", "--alive"]).await.expect(0).stdout, "");

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
    // The service asks the marketplace now and then of its own; looking at it never does.
    until("everything is looked at, and nobody is asked meanwhile", async || {
        shop.take_calls();
        for path in ["/", "/status", "/metrics", "/status?store=loja-1", "/readyz?verbose"] {
            truth::get(&format!("{base}{path}")).await;
        }
        shop.take_calls().is_empty()
    })
    .await;
    stopped(service).await;
    installation.run(&["status", "--alive"]).await.expect(1);
}

async fn another_installations_service_at_the_same_address_is_not_taken_for_ours(kind: Kind) {
    let (theirs, _their_shop) = set_up(kind, Order::many(3)).await;
    let (ours, our_shop) = set_up(kind, Order::many(5)).await;
    let base = theirs.write_main_with_known_port();
    let address = base.trim_start_matches("http://");
    ours.write_main_at(address, "");
    theirs.resync(&[]).await.expect(0);
    ours.run(&["migrate"]).await.expect(0);
    let mut service = theirs.start(&["run"]);
    ready(&mut service, &base).await;
    our_shop.take_calls();
    let shown = ours.run(&["status", "--json"]).await.expect(3).json();
    assert_eq!(
        (&shown["state"], &shown["service"]["running"]),
        (&json!("failing"), &json!(false)),
        "{shown}"
    );
    let text = shown["alarms"][0]["text"].as_str().unwrap();
    assert!(text.contains(address) && shown["alarms"][0]["code"] == "service_stopped", "{shown}");
    assert!(our_shop.take_calls().is_empty(), "looking asks nobody");
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
    // The alarms are those of all stores: nothing is well because nobody looked at it.
    let (_, below) = shown.stdout.split_once("\n\n").unwrap();
    assert!(below.contains("Counted: here / there") && !below.contains("loja-1"), "{shown}");
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
