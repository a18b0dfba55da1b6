//! The client against servers that answer in undocumented ways. The server is a plain TCP socket that sends what a
//! test scripts.
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod support;

use chrono::TimeDelta;
use espelho_api_client::{
    Class, Error,
    contact::TroubleKind,
    token::{TokenRecord, TokenStore as _},
};
use espelho_model::{Clock as _, OrderNumber, ProductId};
use tokio::net::TcpListener;

use support::{ORDER, bench, http, json, open};

#[tokio::test]
async fn a_read_goes_on_through_faults_that_pass() {
    let faults = [
        http("502 Bad Gateway", "Content-Type: text/html\r\n", "<html>502</html>"),
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"success\":trCUT"
            .to_vec(),
        Vec::new(),
    ];
    let bench = bench(faults.into()).await;
    assert_eq!(bench.order().await.unwrap(), "paid");
    assert_eq!(bench.sent(), 4);
}

#[tokio::test]
async fn a_read_gives_up_after_its_attempts_and_says_what_it_saw() {
    let html = http("200 OK", "Content-Type: text/html\r\n", "<html>Estamos em manutenção</html>");
    let bench = bench(vec![html; 9]).await;
    let error = bench.order().await.unwrap_err();
    assert_eq!(bench.sent(), 4);
    assert_eq!(error.class(), Class::Transient { after: None });
    let words = error.to_string();
    assert!(words.contains("GET /api/v1/sellers/orders/1"), "{words}");
    assert!(words.contains("200 with text/html") && !words.contains("manutenção"), "{words}");
}

// proves: AUT-038, ERR-004
#[tokio::test]
async fn a_refusal_is_not_repeated_and_names_the_missing_scope() {
    let body = r#"{"success":false,"code":403,"message_code":"FORBIDDEN","description":"Acesso negado","data":[],"errors":["store_products_read"],"meta":[]}"#;
    let bench = bench(vec![http("403 Forbidden", "Content-Type: application/json\r\n", body)]).await;
    let error = bench.order().await.unwrap_err();
    assert_eq!((bench.sent(), error.class()), (1, Class::Permanent));
    assert!(error.text().to_string().contains("store_products_read"), "{error}");
}

// proves: ERR-032, ERR-033
// withstands: F090
#[tokio::test]
async fn a_429_is_waited_out_in_both_forms_and_without_any() {
    let too_many = |header: &str| http("429 Too Many Requests", header, "{}");
    let bench = bench(vec![
        too_many("Retry-After: 7\r\n"),
        too_many("Retry-After: Fri, 20 Nov 2026 12:00:37 GMT\r\n"),
        too_many(""),
    ])
    .await;
    assert_eq!(bench.order().await.unwrap(), "paid");
    assert_eq!(bench.waits(), [7, 30, 60]);
    assert_eq!(bench.client.stats().rate_limited, 3);
}

#[tokio::test]
async fn a_200_that_denies_its_success_is_a_refusal_with_the_servers_words() {
    let body = r#"{"data":null,"message_code":"X","description":"não agora","success":false}"#;
    let bench = bench(vec![json(body)]).await;
    let error = bench.order().await.unwrap_err();
    assert!(error.text().to_string().contains("não agora"), "{error}");
}

// proves: LIM-004, LIM-005
#[tokio::test]
async fn what_the_rate_headers_of_an_answer_say_is_heeded_by_the_next_request() {
    let spent = "Content-Type: application/json\r\nX-RateLimit-Limit: 6000\r\nX-RateLimit-Remaining: 0\r\n";
    let bench = bench(vec![http("200 OK", spent, ORDER)]).await;
    let began = bench.clock.now();
    bench.order().await.unwrap();
    let answered = bench.clock.now();
    assert!(answered - began < TimeDelta::seconds(1), "nothing was known before the first answer");
    bench.order().await.unwrap();
    let waited = bench.clock.now() - answered;
    assert!(waited >= TimeDelta::seconds(60), "{waited}");
}

// proves: AUT-002, AUT-003, AUT-005, AUT-008, AUT-012, ERR-002
#[tokio::test]
async fn a_token_is_kept_before_it_is_used_and_used_until_it_is_refused() {
    let refused = http(
        "401 Unauthorized",
        "Content-Type: application/json\r\n",
        r#"{"success":false,"message_code":"UNAUTHORIZED"}"#,
    );
    let bench = bench(vec![json(ORDER), refused]).await;
    bench.order().await.unwrap();
    bench.order().await.unwrap();
    let requests = bench.script.requests.lock().unwrap().clone();
    let bearer =
        |request: &String| request.lines().find(|l| l.starts_with("authorization")).unwrap().to_owned();
    let bearers: Vec<_> = requests.iter().map(bearer).collect();
    assert_eq!(
        bearers,
        [
            "authorization: Bearer sk_live_0001",
            "authorization: Bearer sk_live_0001",
            "authorization: Bearer sk_live_0002"
        ]
    );
    let reasons: Vec<_> =
        bench.memory.logins.lock().unwrap().iter().map(|(_, reason)| reason.clone()).collect();
    assert_eq!(reasons, ["first", "401"]);
}

#[tokio::test]
async fn sixteen_requests_with_a_dead_token_do_not_log_in_sixteen_times() {
    let bench = bench(Vec::new()).await;
    bench.order().await.unwrap();
    let refused = http("401 Unauthorized", "Content-Type: application/json\r\n", "{}");
    bench.script.answers.lock().unwrap().extend(vec![refused; 16]);
    let asking: Vec<_> = (0..16)
        .map(|_| {
            let client = bench.client.clone();
            tokio::spawn(async move { client.orders().get(&OrderNumber::new("1")).await.map(drop) })
        })
        .collect();
    for task in asking {
        task.await.unwrap().unwrap();
    }
    // A scripted answer goes to the next request, so a late request may meet a second refusal.
    assert!(bench.client.stats().logins <= 3, "{} logins", bench.client.stats().logins);
}

// withstands: F083
#[tokio::test]
async fn a_token_renewed_by_another_process_is_taken_from_the_vault_without_a_login() {
    let bench = bench(Vec::new()).await;
    bench.order().await.unwrap();
    let other = TokenRecord {
        token: "sk_live_other".into(),
        expires_at: bench.clock.now() + TimeDelta::days(30),
        obtained_at: bench.clock.now(),
        password_check: None,
    };
    bench.memory.save(other).await.unwrap();
    bench.script.answers.lock().unwrap().push_back(http("401 Unauthorized", "", "{}"));
    bench.order().await.unwrap();
    assert_eq!(bench.client.stats().logins, 1);
}

// withstands: F083
#[tokio::test]
async fn logins_of_our_own_processes_name_no_other_program() {
    let bench = bench(Vec::new()).await;
    bench.order().await.unwrap();
    // A rolling upgrade, a reconciliation beside the service, or the doctor: the database has the token of each.
    let other = open(&bench.base_url, &bench.clock, &bench.memory).await;
    for _ in 0..3 {
        other.auth().log_in_again().await.unwrap();
        bench.script.answers.lock().unwrap().push_back(http("401 Unauthorized", "", "{}"));
        bench.order().await.unwrap();
    }
    assert_eq!((bench.client.stats().logins, other.stats().logins), (1, 3));
    assert_eq!(bench.client.metrics().counted().contact.credential(), None);
}

#[tokio::test]
async fn a_third_invalidation_within_an_hour_is_named_and_not_fought() {
    let bench = bench(Vec::new()).await;
    bench.order().await.unwrap();
    let refused = || http("401 Unauthorized", "", "{}");
    let named = || bench.client.metrics().counted().contact.credential().map(|trouble| trouble.kind);
    for expected in [None, Some(TroubleKind::ForeignLogin)] {
        bench.script.answers.lock().unwrap().push_back(refused());
        bench.order().await.unwrap();
        assert_eq!(named(), expected);
    }
    bench.script.answers.lock().unwrap().push_back(refused());
    let error = bench.order().await.unwrap_err();
    assert!(matches!(error, Error::ForeignLogin { times: 3, .. }), "{error}");
    assert_eq!(bench.client.stats().logins, 3);
    // The token that we have kept is accepted again, and nobody ends it.
    let is_shut_out = || bench.client.metrics().counted().contact.is_shut_out();
    assert!(is_shut_out());
    bench.order().await.unwrap();
    assert_eq!((is_shut_out(), named()), (false, Some(TroubleKind::ForeignLogin)));
    *bench.clock.now.lock().unwrap() += TimeDelta::seconds(46);
    bench.order().await.unwrap();
    assert_eq!((named(), bench.client.stats().logins), (None, 3));
}

// withstands: F082
#[tokio::test]
async fn logins_that_others_have_used_up_while_our_token_is_ended_name_another_program() {
    let bench = bench(Vec::new()).await;
    bench.order().await.unwrap();
    bench.script.answers.lock().unwrap().push_back(http("401 Unauthorized", "", "{}"));
    let limited =
        http("429 Too Many Requests", "Retry-After: 41\r\n", r#"{"message_code":"TOO_MANY_REQUESTS"}"#);
    bench.script.login_faults.lock().unwrap().push_back(limited);
    bench.order().await.unwrap();
    assert_eq!(bench.waits(), [41], "the login is made as soon as it may be");
    let contact = || bench.client.metrics().counted().contact;
    assert_eq!(contact().credential().map(|trouble| trouble.kind), Some(TroubleKind::ForeignLogin));
    assert_eq!(contact().transport(), None, "one cause is one trouble");
    *bench.clock.now.lock().unwrap() += TimeDelta::seconds(46);
    bench.order().await.unwrap();
    assert_eq!(contact().credential(), None, "nobody has ended the new token");
}

// withstands: F082
#[tokio::test]
async fn a_marketplace_that_loses_all_tokens_and_guards_its_logins_names_no_other_program() {
    let bench = bench(Vec::new()).await;
    bench.order().await.unwrap();
    bench.script.answers.lock().unwrap().push_back(http("401 Unauthorized", "", "{}"));
    let overloaded =
        http("429 Too Many Requests", "Retry-After: 9\r\n", r#"{"message":"Too Many Requests"}"#);
    bench.script.login_faults.lock().unwrap().extend([overloaded.clone(), overloaded]);
    bench.order().await.unwrap();
    let contact = bench.client.metrics().counted().contact;
    assert_eq!((contact.credential(), contact.transport()), (None, None));
    assert_eq!(bench.client.stats().logins, 4);
}

// proves: AUT-009
#[tokio::test]
async fn a_token_is_renewed_when_24_to_48_hours_of_its_life_are_left_and_not_before() {
    let bench = bench(Vec::new()).await;
    bench.order().await.unwrap();
    let forward = |time: TimeDelta| *bench.clock.now.lock().unwrap() += time;
    forward(TimeDelta::hours(30 * 24 - 48) - TimeDelta::minutes(1));
    bench.order().await.unwrap();
    assert_eq!(bench.client.stats().logins, 1, "more than 48 hours are left");
    forward(TimeDelta::hours(24) + TimeDelta::minutes(1));
    bench.order().await.unwrap();
    assert_eq!(bench.client.stats().logins, 2, "24 hours are left");
}

// proves: AUT-004
// withstands: F088
#[tokio::test]
async fn a_token_near_its_end_is_renewed_and_a_failed_renewal_keeps_the_old_one() {
    let bench = bench(Vec::new()).await;
    bench.order().await.unwrap();
    *bench.script.login.lock().unwrap() =
        http("401 Unauthorized", "Content-Type: application/json\r\n", r#"{"description":"senha trocada"}"#);
    *bench.clock.now.lock().unwrap() += TimeDelta::hours(29 * 24 + 12);
    assert_eq!(bench.order().await.unwrap(), "paid");
    assert_eq!(bench.order().await.unwrap(), "paid");
    assert_eq!(bench.client.stats().logins, 2, "a failed renewal is not tried again with every request");
}

// proves: AUT-019, ERR-003
#[tokio::test]
async fn a_wrong_password_is_given_back_at_once_with_the_servers_words() {
    let bench = bench(Vec::new()).await;
    let body = r#"{"success":false,"code":401,"message_code":"UNAUTHORIZED","description":"Credenciais inválidas.","data":[],"errors":[],"meta":[]}"#;
    *bench.script.login.lock().unwrap() =
        http("401 Unauthorized", "Content-Type: application/json\r\n", body);
    let error = bench.order().await.unwrap_err();
    assert!(error.is_authentication());
    assert!(error.text().to_string().contains("Credenciais inválidas."), "{error}");
    assert_eq!((bench.client.stats().logins, bench.sent()), (1, 0));
}

#[tokio::test]
async fn a_fifth_login_within_a_minute_waits() {
    let bench = bench(Vec::new()).await;
    let now = bench.clock.now();
    for second in 0..4 {
        bench.memory.record_login(now - TimeDelta::seconds(40 - second), "first").await.unwrap();
    }
    bench.order().await.unwrap();
    assert_eq!(bench.waits(), [21]);
}

#[tokio::test]
async fn a_closed_port_is_unreachable_and_nothing_counts_as_sent() {
    let bench = bench(Vec::new()).await;
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let nobody = open(&format!("http://{free}"), &bench.clock, &bench.memory).await;
    let kept = TokenRecord {
        token: "sk_live_x".into(),
        expires_at: bench.clock.now() + TimeDelta::days(20),
        obtained_at: bench.clock.now(),
        password_check: None,
    };
    bench.memory.save(kept).await.unwrap();
    let error = nobody.orders().get(&OrderNumber::new("1")).await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    assert_eq!((nobody.stats().requests, nobody.limiter().held()), (0, 0));
}

#[tokio::test]
async fn an_answer_without_end_is_cut_off() {
    let huge = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}CUT",
        64 << 20,
        " ".repeat(40 << 20)
    );
    let bench = bench(vec![huge.into_bytes()]).await;
    assert!(matches!(bench.order().await.unwrap_err(), Error::TooLarge { limit_mib: 32, .. }));
}

// proves: ORD-045
#[tokio::test]
async fn another_order_than_the_one_asked_for_is_no_answer() {
    let bench = bench(vec![json(r#"{"success":true,"data":{"order_number":"2"}}"#); 4]).await;
    let error = bench.order().await.unwrap_err();
    assert!(error.to_string().contains("asked for order 1, was given 2"), "{error}");
}

#[tokio::test]
async fn a_product_is_read_with_its_stock_in_each_shape_that_the_document_allows() {
    let product = r#""product":{"id":"P1","sku":"S1","name":"Caneca","price":"19.9","dimensions":{"height":1.5}},"prices":[{"min_quantity":1,"value":19.90,"discount_percent":null}]"#;
    let levels = [
        r#"[{"id":1,"product_sku":"S1","location_stock":7,"quantity":3,"reserved_quantity":1,"available_quantity":2}]"#,
        r#"{"total":3,"stocks":[{"id":1,"product_sku":"S1","location_stock":{"location_id":7,"name":"CD"},"quantity":"3","reserved_quantity":"1","available_quantity":"2"}],"locations":[{"location_id":7,"store_id":1,"name":"CD","status":"active","location_type":"warehouse","allows_pickup":true,"allows_production":0}]}"#,
        r#"[{"product_sku":"S1","location_id":"7","quantity":3.0,"reserved_quantity":1.0,"available_quantity":2.0}]"#,
    ];
    for stock in levels {
        let bench =
            bench(vec![json(&format!(r#"{{"success":true,"data":{{{product},"stock":{stock}}}}}"#))]).await;
        let read = bench.client.products().get(&ProductId::new("P1")).await.unwrap();
        assert_eq!(read.unreadable, Vec::<&str>::new(), "{stock}");
        let product = read.value.product;
        let level = &product.stock[0];
        let figures = [level.quantity, level.reserved_quantity, level.available_quantity]
            .map(|n| n.unwrap().to_string());
        assert_eq!((level.sku.as_str(), level.location_id.as_str()), ("S1", "7"), "{stock}");
        assert_eq!(figures, ["3", "1", "2"], "{stock}");
        assert_eq!(product.price.unwrap().to_string(), "19.90");
        assert_eq!(product.prices[0].value.unwrap().to_string(), "19.90");
    }
}

#[tokio::test]
async fn tiers_are_read_from_their_own_route_be_it_one_or_several_wrapped_or_not() {
    let tier = r#"{"min_quantity":1,"value":"10.00","discount_percent":null}"#;
    for (data, count) in [
        (format!("[{tier}]"), 1),
        (format!("[{tier},{tier}]"), 2),
        (format!(r#"{{"prices":[{tier}]}}"#), 1),
        ("[]".to_owned(), 0),
    ] {
        let bench = bench(vec![json(&format!(r#"{{"success":true,"data":{data}}}"#))]).await;
        let read = bench.client.products().prices(&ProductId::new("P1")).await.unwrap();
        assert_eq!(read.value.len(), count, "{data}");
    }
}

#[tokio::test]
async fn json_behind_a_byte_order_mark_is_json() {
    let bench = bench(vec![json(&format!("\u{feff}{ORDER}"))]).await;
    assert_eq!(bench.order().await.unwrap(), "paid");
}
