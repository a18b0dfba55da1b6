//! Logins: their contents, and the effects of their answers.
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod support;

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_api_client::{Error, PasswordSource, Settings, WebhookBlock};
use espelho_model::{Clock as _, OrderNumber};
use secrecy::SecretString;

use support::{Bench, answer, bench, bench_with, body, http, json};

const WITH_SECRET: &str = r#"{"success":true,"data":{"token":"sk_live_TOKN","expires_at":"2026-12-20T12:00:00Z","webhook":{"id":"8a5b","secret":"whsec_abc"}}}"#;

async fn bench_with_webhook(login: &str) -> Bench {
    let block = WebhookBlock { url: "https://erp.example/webhooks/loja".into(), events: vec!["*".into()] };
    let bench = bench_with(Vec::new(), Some(block)).await;
    *bench.script.login.lock().unwrap() = json(login);
    bench
}

fn kept(bench: &Bench) -> Vec<String> {
    bench.memory.kept.lock().unwrap().clone()
}

// proves: AUT-041, AUT-042, AUT-045, WHK-012
// withstands: F035
#[tokio::test]
async fn the_secret_of_the_webhook_is_kept_before_the_token() {
    let bench = bench_with_webhook(WITH_SECRET).await;
    assert_eq!(bench.order().await.unwrap(), "paid");
    assert_eq!(kept(&bench), ["whsec_abc", "sk_live_0001"]);
    let logins = bench.script.logins.lock().unwrap().clone();
    assert_eq!(
        body(&logins[0]),
        r#"{"username":"loja@a1b2c3d4","password":"segredo","webhook":{"url":"https://erp.example/webhooks/loja","events":["*"]}}"#
    );
}

// proves: AUT-045
#[tokio::test]
async fn the_block_goes_with_each_login_and_a_later_answer_without_a_secret_leaves_the_one_that_is_kept() {
    let bench = bench_with_webhook(WITH_SECRET).await;
    bench.order().await.unwrap();
    let confirmed =
        r#"{"success":true,"data":{"token":"sk_live_TOKN","webhook":{"id":"8a5b","secret":null}}}"#;
    *bench.script.login.lock().unwrap() = json(confirmed);
    bench.script.answers.lock().unwrap().push_back(answer("401 Unauthorized", "{}"));
    bench.order().await.unwrap();
    assert_eq!(kept(&bench), ["whsec_abc", "sk_live_0001", "sk_live_0002"]);
    let logins = bench.script.logins.lock().unwrap().clone();
    assert!(logins.iter().all(|login| body(login).contains(r#""webhook":{"url""#)), "{logins:?}");
}

// withstands: F035
#[tokio::test]
async fn a_token_whose_secret_could_not_be_kept_is_not_used() {
    let bench = bench_with_webhook(WITH_SECRET).await;
    *bench.memory.loses_secrets.lock().unwrap() = true;
    let error = bench.order().await.unwrap_err();
    assert!(matches!(error, Error::TokenStore { action: "written", .. }), "{error}");
    assert_eq!((kept(&bench), bench.sent()), (Vec::new(), 0));
}

// proves: AUT-001
#[tokio::test]
async fn without_a_block_none_is_sent_and_no_secret_is_looked_for() {
    let bench = bench(Vec::new()).await;
    *bench.script.login.lock().unwrap() = json(WITH_SECRET);
    bench.order().await.unwrap();
    assert_eq!(kept(&bench), ["sk_live_0001"]);
    let logins = bench.script.logins.lock().unwrap().clone();
    assert_eq!(body(&logins[0]), r#"{"username":"loja@a1b2c3d4","password":"segredo"}"#);
    assert_eq!(support::header(&logins[0], "authorization"), None);
}

/// A password that is another one each time.
#[derive(Default)]
struct Changing(AtomicU32);

impl PasswordSource for Changing {
    fn password(&self) -> SecretString {
        format!("segredo-{}", self.0.fetch_add(1, Ordering::Relaxed)).into()
    }
}

// withstands: F137
#[tokio::test]
async fn each_login_takes_the_password_that_its_source_has_then() {
    let Bench { base_url, script, clock, memory, .. } = bench(Vec::new()).await;
    let settings = Settings { password: Arc::new(Changing::default()), ..support::settings(&base_url, None) };
    let client = support::open_as(settings, &clock, &memory).await;
    for answers in [vec![], vec![answer("401 Unauthorized", "{}")]] {
        script.answers.lock().unwrap().extend(answers);
        client.orders().get(&OrderNumber::new("1")).await.unwrap();
    }
    let sent: Vec<_> = script.logins.lock().unwrap().iter().map(|login| body(login).to_owned()).collect();
    let is_later = sent.windows(2).all(|pair| pair[0] < pair[1]);
    assert!(sent.len() == 2 && is_later, "{sent:?}");
}

// withstands: F126
#[tokio::test]
async fn a_password_that_the_refusal_of_a_login_repeats_is_not_shown() {
    let bench = bench(Vec::new()).await;
    let echo = r#"{"description":"{\"username\":\"loja@a1b2c3d4\",\"password\":\"segredo\"}","errors":{"segredo":["segredo"]}}"#;
    *bench.script.login.lock().unwrap() = answer("422 Unprocessable Content", echo);
    let error = bench.order().await.unwrap_err();
    let told = format!("{error} {error:?} {:?}", error.text());
    assert!(!told.contains("segredo") && told.contains("[REDACTED]"), "{told}");
}

// proves: AUT-022, AUT-023, ERR-031
#[tokio::test]
async fn a_login_with_an_empty_field_is_refused_and_the_field_named() {
    let bench = bench(Vec::new()).await;
    let refusal = r#"{"success":false,"code":422,"message_code":"VALIDATION_ERROR","description":"Dados inválidos","data":[],"errors":{"username":["obrigatório"],"password":["obrigatório"]},"meta":[]}"#;
    *bench.script.login.lock().unwrap() = answer("422 Unprocessable Entity", refusal);
    let error = bench.order().await.unwrap_err();
    let Error::LoginRefused { status: 422, refusal, .. } = &error else { panic!("{error:?}") };
    assert!(refusal.names("username") && refusal.names("password"));
    assert_eq!(bench.client.stats().logins, 1);
}

// withstands: F085
#[tokio::test]
async fn a_call_whose_token_is_due_goes_on_with_it_when_the_login_that_it_waited_for_is_refused() {
    let bench = bench(Vec::new()).await;
    bench.order().await.unwrap();
    // A day before its end the token is to be renewed.
    *bench.clock.now.lock().unwrap() += TimeDelta::days(29);
    let refusal = r#"{"success":false,"message_code":"UNAUTHORIZED","description":"Credenciais inválidas"}"#;
    *bench.script.login.lock().unwrap() = answer("401 Unauthorized", refusal);
    let (tried, read) = tokio::join!(bench.client.auth().log_in_again(), bench.order());
    assert!(matches!(tried, Err(Error::LoginRefused { .. })), "{tried:?}");
    assert_eq!(read.unwrap(), "paid");
    assert_eq!(bench.script.logins.lock().unwrap().len(), 2, "one login was refused, for both");
}

// withstands: F083
#[tokio::test]
async fn a_login_that_proves_a_password_is_not_made_where_another_one_has_just_brought_a_token() {
    let bench = bench(Vec::new()).await;
    let (one, other) = tokio::join!(
        bench.client.auth().log_in_unless_others_do(),
        bench.client.auth().log_in_unless_others_do()
    );
    assert!(one.is_ok() && other.is_ok(), "{one:?} {other:?}");
    assert_eq!(bench.script.logins.lock().unwrap().len(), 1);
    let whole = bench.client.auth().log_in_again().await;
    assert!(whole.is_ok() && bench.script.logins.lock().unwrap().len() == 2, "a test of the password is one");
}

#[tokio::test]
async fn callers_that_wait_for_a_login_take_its_refusal_and_later_ones_log_in_themselves() {
    let bench = bench(Vec::new()).await;
    let refusal = r#"{"success":false,"message_code":"UNAUTHORIZED","description":"Credenciais inválidas"}"#;
    *bench.script.login.lock().unwrap() = answer("401 Unauthorized", refusal);
    let (one, other, third) = tokio::join!(bench.order(), bench.order(), bench.order());
    for error in [one, other, third].map(Result::unwrap_err) {
        assert!(matches!(error, Error::LoginRefused { status: 401, .. }), "{error:?}");
    }
    assert_eq!(bench.client.stats().logins, 1);
    let reasons = || -> Vec<String> {
        bench.memory.logins.lock().unwrap().iter().map(|(_, reason)| reason.clone()).collect()
    };
    assert_eq!(reasons(), ["refused"], "the refusal is on record when its callers hear of it");
    *bench.script.login.lock().unwrap() = json(r#"{"success":true,"data":{"token":"sk_live_TOKN"}}"#);
    assert_eq!(bench.order().await.unwrap(), "paid");
    assert_eq!(bench.client.stats().logins, 2);
}

// proves: AUT-026
#[tokio::test]
async fn a_login_that_comes_too_often_waits_as_long_as_it_is_told() {
    let bench = bench(Vec::new()).await;
    let too_many =
        http("429 Too Many Requests", "Retry-After: 41\r\n", r#"{"message_code":"TOO_MANY_REQUESTS"}"#);
    bench.script.login_faults.lock().unwrap().push_back(too_many);
    assert_eq!(bench.order().await.unwrap(), "paid");
    assert_eq!((bench.waits(), bench.client.stats().logins), (vec![41], 2));
}

#[tokio::test]
async fn a_login_whose_answer_has_no_token_is_not_made_again() {
    let bench = bench(Vec::new()).await;
    *bench.script.login.lock().unwrap() = json(r#"{"success":true,"data":{"jeton":"sk_live_x"}}"#);
    let error = bench.order().await.unwrap_err();
    assert_eq!((error.code().as_str(), bench.client.stats().logins), ("login_failed", 1));
    assert!(!format!("{error:?}").contains("sk_live_x"), "{error:?}");
}

// proves: AUT-007, AUT-008, AUT-017
#[tokio::test]
async fn a_token_past_its_end_is_not_tried_but_replaced() {
    let bench = bench(Vec::new()).await;
    bench.order().await.unwrap();
    *bench.clock.now.lock().unwrap() += TimeDelta::days(31);
    bench.order().await.unwrap();
    let requests = bench.script.requests.lock().unwrap().clone();
    let bearers: Vec<_> = requests.iter().map(|request| support::header(request, "authorization")).collect();
    assert_eq!(bearers, [Some("Bearer sk_live_0001"), Some("Bearer sk_live_0002")]);
    let record = bench.memory.token.lock().unwrap().clone().unwrap();
    assert_eq!(record.expires_at - record.obtained_at, TimeDelta::days(30));
    let stated = r#"{"success":true,"data":{"token":"sk_live_TOKN","expires_at":"2027-02-15T12:00:00Z"}}"#;
    *bench.script.login.lock().unwrap() = json(stated);
    *bench.clock.now.lock().unwrap() += TimeDelta::days(31);
    bench.order().await.unwrap();
    let record = bench.memory.token.lock().unwrap().clone().unwrap();
    assert_eq!(record.expires_at.to_rfc3339(), "2027-02-15T12:00:00+00:00");
}

// proves: AUT-004
#[tokio::test]
async fn a_token_is_good_until_the_instant_that_its_login_says() {
    let bench = bench(Vec::new()).await;
    *bench.script.login.lock().unwrap() = http(
        "200 OK",
        "Content-Type: application/json\r\nDate: Fri, 20 Nov 2026 12:00:00 GMT\r\n",
        r#"{"success":true,"data":{"token":"sk_live_TOKN","expires_at":"2026-12-20T12:00:00Z"}}"#,
    );
    let before = bench.clock.now();
    bench.order().await.unwrap();
    let record = bench.memory.token.lock().unwrap().clone().unwrap();
    let life = record.expires_at - before;
    assert!((30 * 86_400..=30 * 86_400 + 5).contains(&life.num_seconds()), "{life}");
}

/// FAILURES 86: the lifetime of the token on the server's clock decides.
// proves: AUT-004, AUT-009
// withstands: F086
#[tokio::test]
async fn a_clock_that_is_ten_years_off_renews_the_token_neither_sooner_nor_later() {
    for years in [-10, -1, 0, 1, 10] {
        let bench = bench(Vec::new()).await;
        *bench.clock.now.lock().unwrap() += TimeDelta::days(365 * years);
        *bench.script.login.lock().unwrap() = http(
            "200 OK",
            "Content-Type: application/json\r\nDate: Fri, 20 Nov 2026 12:00:00 GMT\r\n",
            r#"{"success":true,"data":{"token":"sk_live_TOKN","expires_at":"2026-12-20T12:00:00Z"}}"#,
        );
        let forward = |time: TimeDelta| *bench.clock.now.lock().unwrap() += time;
        bench.order().await.unwrap();
        forward(TimeDelta::days(28) - TimeDelta::minutes(1));
        bench.order().await.unwrap();
        assert_eq!(bench.client.stats().logins, 1, "{years} years: more than 48 hours are left");
        forward(TimeDelta::days(1) + TimeDelta::minutes(2));
        bench.order().await.unwrap();
        assert_eq!(bench.client.stats().logins, 2, "{years} years: less than 24 hours are left");
    }
}

// proves: AUT-052
#[tokio::test]
async fn a_test_delivery_is_asked_for_without_a_body_and_taken_in_every_form_of_yes() {
    let yes = [
        json(r#"{"success":true,"data":[]}"#),
        answer("202 Accepted", r#"{"success":true,"message_code":"SUCCESS","data":{"queued":true}}"#),
        http("202 Accepted", "", ""),
        http("204 No Content", "", ""),
    ];
    let bench = bench(yes.to_vec()).await;
    for _ in &yes {
        bench.client.auth().test_webhook().await.unwrap();
    }
    let sent = bench.script.requests.lock().unwrap()[0].clone();
    assert!(sent.starts_with("POST /api/integration/webhook/test HTTP/1.1"), "{sent}");
    assert_eq!((body(&sent), support::header(&sent, "content-type")), ("", None));
}

/// Returns how many of these logins fall into the worst minute.
fn most_in_a_minute(logins: &[DateTime<Utc>]) -> usize {
    let from = |first: &DateTime<Utc>| {
        logins.iter().filter(|at| (*first..*first + TimeDelta::minutes(1)).contains(at)).count()
    };
    logins.iter().map(from).max().unwrap_or(0)
}

// withstands: F084
#[tokio::test]
async fn a_login_whose_answer_is_lost_is_made_again_within_what_a_minute_allows() {
    let bench = bench(Vec::new()).await;
    for answer in
        [b"".to_vec(), b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{\"dataCUT".to_vec(), b"".to_vec()]
    {
        bench.script.login_faults.lock().unwrap().push_back(answer);
    }
    assert_eq!(bench.order().await.unwrap(), "paid");
    assert_eq!(bench.script.logins.lock().unwrap().len(), 4);
    assert_eq!(kept(&bench), ["sk_live_0004"], "the last one's token is the one that is good");
    let made: Vec<_> = bench.memory.logins.lock().unwrap().iter().map(|(at, _)| *at).collect();
    assert!(made.len() == 4 && most_in_a_minute(&made) <= 5, "{made:?}");
}

// withstands: F085
#[tokio::test]
async fn a_process_that_ends_in_each_login_makes_no_more_of_them_than_a_minute_allows() {
    let bench = bench(Vec::new()).await;
    *bench.script.login.lock().unwrap() = Vec::new();
    for start in 1..=10 {
        // Only the token store outlives it.
        let process = support::open(&bench.base_url, &bench.clock, &bench.memory).await;
        let order = OrderNumber::new("1");
        let mut calling = std::pin::pin!(process.orders().get(&order));
        // The process ends after its login has arrived and before the answer.
        tokio::select! {
            _ = &mut calling => {}
            () = arrived(&bench, start) => {}
        }
    }
    let made: Vec<_> = bench.memory.logins.lock().unwrap().iter().map(|(at, _)| *at).collect();
    assert!(made.len() >= 10, "each attempt is on record: {made:?}");
    assert!(most_in_a_minute(&made) <= 5, "{made:?}");
}

/// Resolves when this number of logins has arrived.
async fn arrived(bench: &Bench, count: usize) {
    while bench.script.logins.lock().unwrap().len() < count {
        tokio::task::yield_now().await;
    }
}
