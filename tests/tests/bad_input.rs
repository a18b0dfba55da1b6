//! What goes wrong outside: each gives a clear sentence with the next step, the right exit code, and a mirror no worse
//! than before.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use std::{
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    time::Duration,
};

use espelho_sandbox::{Fault, FaultRule, Options, Sandbox};
use espelho_tests::{
    Call, Installation, Kind, Outcome, Reply, Row, Shop,
    mirror::{number, raw},
    on_both_databases, sandbox, sandbox_of,
    shop::{LOGIN, ORDERS, Order, PASSWORD, PRODUCTS, USERNAME},
    until,
};
use serde_json::{Value, json};

on_both_databases![
    a_wrong_password_is_refused_in_the_marketplaces_words,
    a_database_of_another_environment_is_refused,
    a_database_newer_than_the_binary_is_refused,
    two_runs_for_one_store_at_once_are_refused_by_name,
    an_order_with_a_null_everywhere_is_mirrored,
    ten_thousand_lines_of_one_order_are_mirrored,
    unknown_values_and_fields_are_kept,
    what_no_column_can_hold_is_kept_in_raw,
    rows_that_a_page_lists_twice_are_mirrored_once,
    a_detail_that_never_answers_fails_alone_and_is_mended_by_the_next_run,
    a_listing_that_is_a_web_page_changes_nothing,
    an_expired_token_is_renewed_with_one_login,
];

async fn one_shop(kind: Kind, shop: &Shop) -> Installation {
    let installation = Installation::on(kind).await;
    shop.join(&installation);
    installation
}

async fn one_sandbox(kind: Kind, sandbox: &Sandbox) -> Installation {
    let installation = Installation::on(kind).await;
    installation.join(sandbox);
    installation
}

fn fault(route: &str, times: Option<u32>, kind: Fault) -> FaultRule {
    FaultRule { route: route.to_owned(), times, kind }
}

/// Checks that people and programs are told the same next step.
#[track_caller]
fn has_next_step(run: &Outcome, error: &Value) {
    let [text, hint] = ["error", "hint"].map(|name| error[name].as_str().unwrap_or_default());
    assert!(!text.is_empty() && !hint.is_empty(), "no sentence or no next step in {error}");
    assert!(
        run.stderr.contains(text) && run.stderr.contains(hint),
        "people are told less than programs\n{run}"
    );
}

// Time. These tests wait as long as the marketplace asks, so they stand first and wait together.

#[tokio::test]
async fn a_429_is_waited_out_for_as_long_as_it_asks() {
    let seconds = waited(Some("2".to_owned()));
    let in_three_seconds = chrono::TimeDelta::seconds(3);
    let date = waited(Some((now() + in_three_seconds).format("%a, %d %b %Y %H:%M:%S GMT").to_string()));
    let absent = waited(None);
    let (seconds, date, absent) = tokio::join!(seconds, date, absent);
    assert!((2.0..10.0).contains(&seconds), "Retry-After: 2 was waited out for {seconds} s");
    // The date has no fraction, so up to a second of the three is cut off.
    assert!((1.0..10.0).contains(&date), "a date in 3 s was waited out for {date} s");
    assert!((59.0..75.0).contains(&absent), "a 429 without Retry-After was waited out for {absent} s");
}

#[expect(
    clippy::disallowed_methods,
    reason = "the header names an instant of the machine's clock, which espelho reads too"
)]
fn now() -> chrono::DateTime<chrono::Utc> {
    chrono::Utc::now()
}

/// Seconds between a 429 on page 2 and the next call, in a run that completes.
async fn waited(retry_after: Option<String>) -> f64 {
    let refused = AtomicUsize::new(0);
    let shop = Shop::with_rule(Order::many(150), move |call| {
        let first = call.is_order_page(2) && refused.fetch_add(1, SeqCst) == 0;
        let reply = Reply::refusal(429, "TOO_MANY_REQUESTS", "Limite excedido.", &json!([]));
        first.then(|| retry_after.iter().fold(reply, |reply, after| reply.with("Retry-After", after)))
    })
    .await;
    let installation = one_shop(Kind::Sqlite, &shop).await;
    let run = installation.resync(&["--only", "orders"]).await.expect(0);
    assert_eq!((&run.store()["rate_limited"], run.count("orders", "changed")), (&json!(1), 150));
    let calls = shop.take_calls();
    let at = calls.iter().position(|call| call.is_order_page(2)).unwrap();
    (calls[at + 1].at - calls[at].at).as_secs_f64()
}

// The credential.

async fn a_wrong_password_is_refused_in_the_marketplaces_words(kind: Kind) {
    let shop = Shop::open(Order::many(3)).await;
    let installation = Installation::on(kind).await;
    installation.write_store("loja-1", &shop.base_url(), USERNAME, "errada-errada");
    let run = installation.resync(&[]).await.expect(4).says("Credenciais inválidas.").says(USERNAME);
    assert_eq!(run.json()["state"], "failed");
    let error = &run.store()["error"];
    assert!(error["error"].as_str().unwrap().contains("Credenciais inválidas."), "{error}");
    has_next_step(&run, error);
    assert!(!run.stderr.contains("errada-errada") && !run.stdout.contains("errada-errada"), "{run}");
    assert_eq!(shop.count(|call| call.path == LOGIN), 1, "a wrong password stays wrong");
    assert_eq!(shop.count(|_| true), 1);
    assert_eq!(installation.mirror().await.rows("sync_runs").await[0]["state"], "failed");
}

#[tokio::test]
async fn a_token_that_dies_within_a_run_costs_one_login() {
    let sandbox = sandbox(600, 5).await;
    let installation = one_sandbox(Kind::Sqlite, &sandbox).await;
    let running = installation.start(&["--resync", "--json"]);
    until("the run is under way", async || sandbox.stats().requests > 150).await;
    assert!(sandbox.control().kill_token("loja-1"));
    let run = running.end().await.expect(0);
    assert_eq!((sandbox.stats().logins, &run.store()["logins"]), (2, &json!(2)));
    assert_eq!(run.count("orders", "changed"), 600);
    assert_eq!(sandbox.stats().repeated_list_pages, 0);
}

#[tokio::test]
async fn a_token_that_died_between_runs_costs_one_login() {
    let sandbox = sandbox(20, 5).await;
    let installation = one_sandbox(Kind::Sqlite, &sandbox).await;
    installation.resync(&[]).await.expect(0);
    assert!(sandbox.control().kill_token("loja-1"));
    let run = installation.resync(&[]).await.expect(0);
    assert_eq!((&run.store()["logins"], run.count("orders", "changed")), (&json!(1), 0));
}

#[tokio::test]
async fn a_token_that_dies_again_and_again_is_another_program_and_not_fought_over() {
    let sandbox = sandbox(3_000, 5).await;
    let installation = one_sandbox(Kind::Sqlite, &sandbox).await;
    let running = installation.start(&["--resync", "--json"]);
    for login in 1..=3 {
        until("it has logged in", async || sandbox.stats().logins == login).await;
        let before = sandbox.stats().by_status.get(&200).copied().unwrap_or(0);
        // It has worked with the token, so the next refusal is a new one.
        until("it works", async || sandbox.stats().by_status.get(&200).copied().unwrap_or(0) > before + 60)
            .await;
        assert!(sandbox.control().kill_token("loja-1"));
    }
    let run = running.end().await.expect(4).says("another program");
    assert_eq!(sandbox.stats().logins, 3, "the first, and two that were forced");
    assert_eq!(run.store()["error"]["code"], "foreign_login");
    has_next_step(&run, &run.store()["error"]);
    let mirror = installation.mirror().await;
    let mirrored = mirror.live("orders").await;
    assert!(mirrored >= 100, "what was read is kept");
    // A further run within the hour neither logs in nor loses anything.
    installation.resync(&[]).await.expect(4);
    assert_eq!((sandbox.stats().logins, mirror.live("orders").await), (3, mirrored));
}

#[tokio::test]
async fn a_token_that_is_never_accepted_is_not_asked_for_for_ever() {
    let refuse = |call: &Call| {
        (call.path != LOGIN).then(|| Reply::refusal(401, "UNAUTHORIZED", "Token inválido.", &json!([])))
    };
    let shop = Shop::with_rule(Order::many(3), refuse).await;
    let installation = one_shop(Kind::Sqlite, &shop).await;
    let run = installation.resync(&[]).await.expect(4);
    has_next_step(&run, &run.store()["error"]);
    let logins = shop.count(|call| call.path == LOGIN);
    assert!(logins <= 3, "{logins} logins: the first, and at most two that were forced");
    assert!(shop.take_calls().len() <= 6);
}

async fn an_expired_token_is_renewed_with_one_login(kind: Kind) {
    let shop = Shop::open(Order::many(3)).await;
    let installation = one_shop(kind, &shop).await;
    installation.resync(&[]).await.expect(0);
    installation.mirror().await.execute("UPDATE tokens SET expires_at = '2020-01-01T00:00:00.000000Z'").await;
    shop.take_calls();
    let run = installation.resync(&[]).await.expect(0);
    assert_eq!(run.store()["logins"], 1);
    let calls = shop.take_calls();
    assert_eq!(calls[0].path, LOGIN, "an expired token is not even tried");
    assert_eq!(calls.iter().filter(|call| call.path == LOGIN).count(), 1);
    let again = installation.resync(&[]).await.expect(0);
    assert_eq!(again.store()["logins"], 0, "the new token is kept");
}

#[tokio::test]
async fn a_missing_scope_is_named_and_the_rest_is_mirrored() {
    let sandbox =
        sandbox_of(Options { orders: 20, products: 5, strict_scopes: true, ..Options::default() }).await;
    assert!(sandbox.control().set_abilities("loja-1", &[]));
    let installation = one_sandbox(Kind::Sqlite, &sandbox).await;
    let run = installation.resync(&[]).await.expect(3).says("store_products_read");
    let error = &run.resource("products")["error"];
    assert!(error["error"].as_str().unwrap().contains("store_products_read"), "{error}");
    has_next_step(&run, error);
    assert_eq!((run.json()["state"].as_str(), run.count("orders", "changed")), (Some("partial"), 20));
    assert_eq!(sandbox.stats().by_route["GET /api/products"], 1, "a refusal is not asked for again");
}

// The configuration.

#[tokio::test]
async fn an_unreachable_marketplace_is_said_so_soon() {
    // Bound and not listened on: refused, and nobody else gets it meanwhile.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let port = socket.local_addr().unwrap().port();
    let installation = Installation::on(Kind::Sqlite).await;
    installation.write_store("loja-1", &format!("http://127.0.0.1:{port}"), USERNAME, PASSWORD);
    let run = tokio::time::timeout(Duration::from_secs(30), installation.resync(&[])).await;
    let run = run.expect("it gives up within half a minute").expect(1);
    let run = run.says(&format!("no connection to 127.0.0.1:{port}"));
    has_next_step(&run, &run.store()["error"]);
    assert_eq!(run.store()["requests"], 0);
}

#[tokio::test]
async fn a_configuration_that_cannot_be_used_is_named_with_file_and_line() {
    let shop = Shop::open(Vec::new()).await;
    let production = "environment = \"production\"\nbase_url = \"https://m.example\"\n";
    let credentials = format!("[credentials]\nusername = \"{USERNAME}\"\npassword = \"{PASSWORD}\"\n");
    let sandbox = format!("environment = \"sandbox\"\nbase_url = \"{}\"\n", shop.base_url());
    let plain = production.replace("https", "http");
    let local = production.replace("m.example", "127.0.0.1");
    let fast = format!("{production}{credentials}[limits]\nrequests_per_minute = 301\n");
    for (text, words) in [
        (format!("{plain}{credentials}"), "loja-1.toml:2: base_url"),
        (format!("{plain}{credentials}"), "https://"),
        (format!("{local}{credentials}"), "loja-1.toml:2: base_url"),
        (fast.clone(), "loja-1.toml:7: "),
        (fast, "from 1 to 300"),
        (format!("{sandbox}{credentials}[limits]\nrequests_per_minute = 0\n"), "loja-1.toml:7: "),
        (
            format!("{sandbox}{credentials}passwordfile = \"x\"\n"),
            "loja-1.toml:6: unknown key \"passwordfile\"",
        ),
        (format!("{sandbox}{credentials}passwordfile = \"x\"\n"), "did you mean \"password_file\"?"),
        (format!("{sandbox}{credentials}[guard]\ngone_max_rows = 3\n"), "did you mean \"guards\"?"),
        (format!("{sandbox}[credentials]\nusername = \"{USERNAME}\"\n"), "loja-1.toml:3: "),
        (format!("{sandbox}{credentials}[limits\n"), "loja-1.toml:6: "),
        (credentials.clone(), "base_url"),
    ] {
        let installation = Installation::on(Kind::Sqlite).await;
        installation.write("stores/loja-1.toml", &text);
        for arguments in [&["--resync", "--json"][..], &["check"], &["run"]] {
            let run = installation.run(arguments).await.expect(2).says(words);
            assert!(!run.stderr.contains(PASSWORD), "{run}");
            if arguments.contains(&"--json") {
                assert!(run.json()["errors"][0]["error"].as_str().unwrap().contains(words), "{run}");
            }
        }
        assert!(!installation.dir().join("espelho.db").exists(), "a wrong configuration has made a database");
    }
    assert!(shop.take_calls().is_empty());
}

#[tokio::test]
async fn a_mistake_in_the_main_file_or_the_environment_is_named() {
    let shop = Shop::open(Vec::new()).await;
    let installation = one_shop(Kind::Sqlite, &shop).await;
    installation.write_main("listenn = \"127.0.0.1:1\"\n");
    installation
        .run(&["check"])
        .await
        .expect(2)
        .says("espelho.toml:5: unknown key \"listenn\"; did you mean \"listen\"?");
    installation.write_main("[schedule]\nreconcile = \"às sete\"\n");
    installation.run(&["check"]).await.expect(2).says("schedule.reconcile").says("six fields");
    installation.write_main("");
    let mut command = installation.command(&["check"]);
    let output = command.env("ESPELHO__LOG__FORMAT", "xml").output().await.unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && stderr.contains("ESPELHO__LOG__FORMAT"), "{stderr}");
    installation.run(&["--resync", "--store", "loja-9"]).await.expect(2).says("loja-1");
    installation.run(&["--resync", "--since", "ontem"]).await.expect(2);
    installation.run(&["--store", "loja-1"]).await.expect(2).says("--resync");
    std::fs::remove_file(installation.dir().join("stores/loja-1.toml")).unwrap();
    installation.run(&["--resync"]).await.expect(2).says("KEY.toml");
}

#[tokio::test]
async fn a_database_that_cannot_be_opened_is_named() {
    let shop = Shop::open(Vec::new()).await;
    let installation = one_shop(Kind::Sqlite, &shop).await;
    for (url, words) in [
        ("mysql://erp@localhost/espelho", "mysql"),
        ("sqlite:/nao/ha/esta/pasta/espelho.db", "/nao/ha/esta/pasta/espelho.db"),
    ] {
        installation.write("espelho.toml", &format!("[database]\nurl = \"{url}\"\n"));
        let run = installation.resync(&[]).await.says(words).says("next step");
        assert!([1, 2].contains(&run.code), "{run}");
    }
    // A file that is no database stays what it is.
    installation.write_main("");
    installation.write("espelho.db", &"Isto não é um banco de dados. ".repeat(100));
    let run = installation.resync(&[]).await.says("next step");
    assert!([1, 2].contains(&run.code), "{run}");
    let kept = std::fs::read_to_string(installation.dir().join("espelho.db")).unwrap();
    assert!(kept.starts_with("Isto não é"));
    assert!(shop.take_calls().is_empty());
}

async fn a_database_of_another_environment_is_refused(kind: Kind) {
    let shop = Shop::open(Order::many(3)).await;
    let installation = one_shop(kind, &shop).await;
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    let before = mirror.everything().await;
    let text = format!(
        "environment = \"production\"\nbase_url = \"https://m.example\"\n[credentials]\nusername = \"{USERNAME}\"\n\
         password = \"{PASSWORD}\"\n"
    );
    installation.write("stores/loja-1.toml", &text);
    let run = installation.resync(&[]).await.expect(2).says("sandbox").says("production");
    has_next_step(&run, &run.store()["error"]);
    installation.run(&["run"]).await.expect(2).says("production");
    assert_eq!(mirror.everything().await, before);
}

async fn a_database_newer_than_the_binary_is_refused(kind: Kind) {
    let shop = Shop::open(Order::many(3)).await;
    let installation = one_shop(kind, &shop).await;
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    let before = mirror.everything().await;
    mirror
        .execute(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
             SELECT 9999, 'from the future', success, checksum, 0 FROM _sqlx_migrations WHERE version = 1",
        )
        .await;
    shop.take_calls();
    let run =
        installation.resync(&[]).await.expect(2).says("9999").says("install the espelho that migrated it");
    has_next_step(&run, &run.json()["errors"][0]);
    installation.run(&["run"]).await.expect(2).says("9999");
    assert!(shop.take_calls().is_empty());
    assert_eq!(mirror.everything().await, before);
}

async fn two_runs_for_one_store_at_once_are_refused_by_name(kind: Kind) {
    let shop = Shop::with_rule(Order::many(30), |call| {
        call.is_order_page(1)
            .then(|| Reply::json(200, &json!({"success": true, "data": [], "meta": {}})).held())
    })
    .await;
    let installation = one_shop(kind, &shop).await;
    let first = installation.start(&["--resync", "--json"]);
    until("the first run is under way", async || shop.count(|call| call.is_order_page(1)) == 1).await;
    let run = installation.resync(&[]).await.expect(6).says("loja-1").says(&first.id().to_string());
    has_next_step(&run, &run.store()["error"]);
    assert_eq!(run.store()["error"]["code"], "held");
    assert_eq!(shop.count(|call| call.path == LOGIN), 1, "the second run leaves the token alone");
    shop.rule(|_| None);
    shop.release();
    first.end().await.expect(0);
    installation.resync(&[]).await.expect(0);
    assert_eq!(installation.mirror().await.live("orders").await, 30);
}

// What the marketplace sends.

async fn a_listing_that_is_a_web_page_changes_nothing(kind: Kind) {
    let sandbox = sandbox(30, 5).await;
    let installation = one_sandbox(kind, &sandbox).await;
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    let before = mirror.contents().await;
    sandbox.control().fault(fault("GET /api/v1/sellers/orders", None, Fault::Html200));
    sandbox.reset_stats();
    let run = installation.resync(&[]).await.says("text/html").says("maintenance page");
    assert!([1, 3].contains(&run.code), "{run}");
    assert_eq!(run.resource("orders")["state"], "failed");
    has_next_step(&run, &run.resource("orders")["error"]);
    assert!(sandbox.stats().by_route["GET /api/v1/sellers/orders"] <= 5);
    assert_eq!(mirror.contents().await, before);
    assert_eq!([mirror.live("orders").await, mirror.live("products").await], [30, 5]);
    sandbox.control().clear_faults();
    installation.resync(&[]).await.expect(0);
}

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

#[tokio::test]
async fn answers_that_break_off_once_are_asked_for_again() {
    let sandbox = sandbox(60, 10).await;
    let control = sandbox.control();
    for route in ["/api/integration/auth", "GET /api/v1/sellers/orders", "GET /api/products"] {
        control.fault(fault(route, Some(1), Fault::TruncateBody));
    }
    for kind in [Fault::ResetBefore, Fault::ResetAfter, Fault::TruncateBody, Fault::Html200] {
        control.fault(fault("/api/products/0", Some(1), kind.clone()));
        control.fault(fault("/api/v1/sellers/orders/", Some(2), kind));
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
        sandbox.control().fault(fault(
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
    let run = installation.resync(&[]).await.expect(3).says("P00013").says("next step");
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
    let columns = ["mirrored_at", "raw", "listing_hash", "content_hash"];
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
    assert!(sandbox.control().add_order_raw("loja-1", "GRANDE-1", detail, row));
    let installation = one_sandbox(kind, &sandbox).await;
    installation.resync(&[]).await.expect(0);
    let lines = installation.mirror().await.rows("order_items").await;
    let lines: Vec<&Row> = lines.iter().filter(|line| line["order_number"] == "GRANDE-1").collect();
    assert_eq!(lines.len(), 10_000);
    let sum: rust_decimal::Decimal = lines.iter().filter_map(|line| number(line, "unit_price")).sum();
    assert_eq!(sum, 50.into(), "three decimals are three decimals");
}

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
    // Two dots name another address in every URL, however they are written: that row fails, alone.
    let mirrored = installation.mirror().await.live("orders").await;
    assert!(mirrored >= numbers.len() - 1 && [0, 3].contains(&run.code), "{mirrored}\n{run}");
}

// Listings that are refused as we ask for them.

#[tokio::test]
async fn a_refused_limit_is_left_out_and_the_order_kept() {
    let shop = Shop::with_rule(Order::many(50), |call| {
        let errors = json!({"limit": ["O campo limit não pode ser superior a 50."]});
        (call.path == ORDERS && call.query.contains_key("limit")).then(|| invalid(&errors))
    })
    .await;
    let installation = one_shop(Kind::Sqlite, &shop).await;
    let run = installation.resync(&["--only", "orders"]).await.expect(0);
    assert_eq!(run.count("orders", "changed"), 50);
    let calls: Vec<Call> = shop.take_calls().into_iter().filter(|call| call.path == ORDERS).collect();
    assert!((4..=5).contains(&calls.len()), "at most two refusals, then three pages of the default size");
    assert!(calls.iter().all(|call| call.query.contains_key("sort")), "the sort was not refused: {calls:?}");
}

#[tokio::test]
async fn a_limit_that_is_too_large_is_made_smaller_before_it_is_left_out() {
    let too_large =
        |call: &Call| call.query.get("limit").and_then(|limit| limit.parse().ok()).unwrap_or(20) > 50;
    let shop = Shop::with_rule(Order::many(100), move |call| {
        let errors = json!({"limit": ["O campo limit não pode ser superior a 50."]});
        (call.path == ORDERS && too_large(call)).then(|| invalid(&errors))
    })
    .await;
    let installation = one_shop(Kind::Sqlite, &shop).await;
    let run = installation.resync(&["--only", "orders"]).await.expect(0);
    assert_eq!((run.count("orders", "changed"), shop.count(|call| call.path == ORDERS)), (100, 3));
}

#[tokio::test]
async fn a_refused_sort_is_left_out_and_the_limit_kept() {
    let shop = Shop::with_rule(Order::many(150), |call| {
        let errors = json!({"sort": ["O campo sort selecionado é inválido."]});
        (call.path == ORDERS && call.query.contains_key("sort")).then(|| invalid(&errors))
    })
    .await;
    let installation = one_shop(Kind::Sqlite, &shop).await;
    let run = installation.resync(&["--only", "orders"]).await.expect(0);
    assert_eq!(run.count("orders", "changed"), 150);
    let calls: Vec<Call> = shop.take_calls().into_iter().filter(|call| call.path == ORDERS).collect();
    assert_eq!(calls.len(), 3, "one refusal, two pages");
    assert!(
        calls.iter().all(|call| call.query.contains_key("limit")),
        "the limit was not refused: {calls:?}"
    );
}

#[tokio::test]
async fn a_run_that_asked_for_less_is_resumed_as_well() {
    let rule = |breaks: bool| {
        move |call: &Call| {
            let refused = call.path == ORDERS && call.query.contains_key("limit");
            let broken = breaks && call.is_order_page(3);
            (refused || broken).then(|| match refused {
                true => invalid(&json!({"limit": ["O campo limit é inválido."]})),
                false => Reply::refusal(403, "FORBIDDEN", "Agora não.", &json!([])),
            })
        }
    };
    let shop = Shop::with_rule(Order::many(90), rule(true)).await;
    let installation = one_shop(Kind::Sqlite, &shop).await;
    installation.resync(&["--only", "orders"]).await.expect(3);
    shop.rule(rule(false));
    shop.take_calls();
    let run = installation.resync(&["--only", "orders"]).await.expect(0);
    assert_eq!(run.count("orders", "seen"), 90);
    assert_eq!(shop.count(Call::is_order), 50, "the 40 details of pages 1 and 2 are mirrored already");
    let pages = shop.count(|call| call.is_order_page(2));
    assert_eq!((&run.resource("orders")["resumed_at_page"], pages), (&json!(3), 0));
}

#[tokio::test]
async fn a_listing_that_is_refused_however_it_is_asked_for_is_said_so() {
    let shop = Shop::with_rule(Order::many(5), |call| {
        [ORDERS, PRODUCTS]
            .contains(&call.path.as_str())
            .then(|| invalid(&json!({"store": ["A loja está suspensa."]})))
    })
    .await;
    let installation = one_shop(Kind::Sqlite, &shop).await;
    let run = installation.resync(&[]).await.expect(1).says("A loja está suspensa.");
    has_next_step(&run, &run.resource("orders")["error"]);
    assert!(shop.take_calls().len() <= 8, "four ways to ask for orders, two for products");
}

fn invalid(errors: &Value) -> Reply {
    Reply::refusal(422, "VALIDATION_ERROR", "Os dados informados são inválidos.", errors)
}
