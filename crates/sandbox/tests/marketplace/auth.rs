//! Login, tokens, credentials, scopes and the session ("Authentication" of the document).

use crate::support::{Bench, NOON, unlimited};
use espelho_sandbox::Options;
use reqwest::Method;
use serde_json::{Value, json};

const SESSION: &str = "/api/stores/auth/session";
const DAY: i64 = 86_400;

fn body(bench: &Bench) -> Value {
    let access = bench.access();
    json!({"username": access.username, "password": access.password})
}

// proves: AUT-001, AUT-002, AUT-003, AUT-004, AUT-031, AUT-032
#[tokio::test]
async fn a_credential_and_its_token_have_the_documented_shapes() {
    let bench = Bench::start(unlimited()).await;
    let access = bench.access();
    let (slug, suffix) = access.username.split_once('@').unwrap();
    assert_eq!((slug, suffix.len(), access.password.len()), ("loja-1", 8, 20));
    let data = bench.auth(&body(&bench)).await.data();
    assert!(data["token"].as_str().unwrap().starts_with("sk_live_"));
    let expires_at = chrono::DateTime::parse_from_rfc3339(data["expires_at"].as_str().unwrap()).unwrap();
    assert_eq!(expires_at.timestamp(), NOON / 1000 + 30 * DAY);
    assert!(data.get("webhook").is_none());
}

// proves: AUT-005, AUT-006
#[tokio::test]
async fn a_login_ends_the_previous_token_at_once() {
    let bench = Bench::start(unlimited()).await;
    assert_eq!(bench.get(SESSION).await.status, 200);
    let renewed = bench.login().await;
    bench.get(SESSION).await.refused(401, "UNAUTHORIZED");
    assert_eq!(bench.get_with(&format!("Bearer {renewed}"), SESSION).await.status, 200);
    assert_eq!(bench.sandbox.stats().logins, 2);
}

// proves: AUT-019, AUT-024
#[tokio::test]
async fn a_failed_login_leaves_the_token_alone() {
    let bench = Bench::start(unlimited()).await;
    let wrong = json!({"username": bench.access().username, "password": "x"});
    bench.auth(&wrong).await.refused(401, "UNAUTHORIZED");
    assert_eq!(bench.get(SESSION).await.status, 200);
}

// proves: AUT-022, AUT-023, ERR-031, ENV-022
#[tokio::test]
async fn a_login_without_username_or_password_names_the_fields() {
    let bench = Bench::start(unlimited()).await;
    for (body, fields) in [
        (json!({}), vec!["username", "password"]),
        (json!({"username": "", "password": "x"}), vec!["username"]),
        (json!({"username": "x", "password": null}), vec!["password"]),
        (json!({"username": 7, "password": "x"}), vec!["username"]),
    ] {
        let errors = bench.auth(&body).await.refused(422, "VALIDATION_ERROR");
        let named: Vec<_> = errors.as_object().unwrap().keys().collect();
        assert_eq!(named.len(), fields.len());
        for field in fields {
            assert!(errors[field][0].is_string(), "{errors}");
        }
    }
    let broken = bench.plain(Method::POST, "/api/integration/auth", "{not json").await;
    assert_eq!(broken.refused(422, "VALIDATION_ERROR").as_object().unwrap().len(), 2);
}

// proves: AUT-018, AUT-019, AUT-020, AUT-021, ERR-003
#[tokio::test]
async fn unknown_wrong_and_inactive_credentials_are_refused_alike() {
    let bench = Bench::start(unlimited()).await;
    let mut answers = Vec::new();
    answers.push(bench.auth(&json!({"username": "nobody@00000000", "password": "x"})).await);
    answers.push(bench.auth(&json!({"username": bench.access().username, "password": "x"})).await);
    let login = body(&bench);
    bench.control().credentials().set_active("loja-1", false);
    answers.push(bench.auth(&login).await);
    for answer in &answers {
        answer.refused(401, "UNAUTHORIZED");
        assert_eq!(answer.bytes, answers[0].bytes);
    }
    assert_eq!(bench.sandbox.stats().logins, 1);
}

// proves: AUT-025, AUT-026, AUT-027, ERR-032, ERR-033
#[tokio::test]
async fn the_sixth_login_of_a_minute_waits() {
    let bench = Bench::start(unlimited()).await;
    let login = body(&bench);
    for _ in 0..4 {
        bench.auth(&login).await.data();
        bench.hands.forward(5);
    }
    let refused = bench.auth(&login).await;
    refused.refused(429, "TOO_MANY_REQUESTS");
    assert_eq!(refused.header("retry-after"), Some(40));
    let other = json!({"username": "nobody@00000000", "password": "x"});
    bench.auth(&other).await.refused(401, "UNAUTHORIZED");
    bench.hands.forward(39);
    assert_eq!(bench.auth(&login).await.header("retry-after"), Some(1));
    bench.hands.forward(1);
    bench.auth(&login).await.data();
    assert_eq!(bench.sandbox.stats().rate_limited, 2);
}

// proves: AUT-025
#[tokio::test]
async fn failed_attempts_count_against_the_login_limit() {
    let bench = Bench::start(unlimited()).await;
    let wrong = json!({"username": "nobody@00000000", "password": "x"});
    for _ in 0..5 {
        bench.auth(&wrong).await.refused(401, "UNAUTHORIZED");
    }
    bench.auth(&wrong).await.refused(429, "TOO_MANY_REQUESTS");
}

// proves: AUT-012, AUT-013, AUT-014, AUT-015, ERR-002
#[tokio::test]
async fn a_request_without_a_usable_token_is_unauthorized() {
    let bench = Bench::start(unlimited()).await;
    let token = &bench.token;
    let bare = token.trim_start_matches("sk_live_");
    let headers = [
        String::new(),
        token.clone(),
        format!("Basic {token}"),
        format!("Bearer {bare}"),
        format!("Bearer sk_test_{bare}"),
        "Bearer sk_live_unknown".to_owned(),
        "Bearer ".to_owned(),
    ];
    for header in headers {
        for path in [SESSION, "/api/products", "/api/v1/sellers/orders/1"] {
            let reply = bench.get_with(&header, path).await;
            assert_eq!(reply.refused(401, "UNAUTHORIZED"), json!([]), "{header}");
            assert_eq!(reply.header("x-ratelimit-limit"), None);
        }
    }
    bench.plain(Method::GET, SESSION, "").await.refused(401, "UNAUTHORIZED");
}

// proves: AUT-004, AUT-008, AUT-017
#[tokio::test]
async fn a_token_ends_after_thirty_days() {
    let bench = Bench::start(unlimited()).await;
    bench.hands.forward(30 * DAY - 1);
    assert_eq!(bench.get(SESSION).await.status, 200);
    bench.hands.forward(1);
    bench.get(SESSION).await.refused(401, "UNAUTHORIZED");
}

// proves: AUT-028
#[tokio::test]
async fn a_new_password_leaves_the_token_alive() {
    let bench = Bench::start(unlimited()).await;
    let old = body(&bench);
    assert!(bench.control().credentials().set_password("loja-1", "another long password"));
    assert_eq!(bench.get(SESSION).await.status, 200);
    bench.auth(&old).await.refused(401, "UNAUTHORIZED");
    assert_eq!(bench.access().password, "another long password");
    bench.login().await;
}

// proves: AUT-029, AUT-030
#[tokio::test]
async fn a_revoked_credential_cannot_log_in_while_its_token_lives_on() {
    let bench = Bench::start(unlimited()).await;
    let login = body(&bench);
    assert!(bench.control().credentials().revoke("loja-1"));
    bench.auth(&login).await.refused(401, "UNAUTHORIZED");
    assert_eq!(bench.get(SESSION).await.status, 200);
    bench.hands.forward(30 * DAY);
    bench.get(SESSION).await.refused(401, "UNAUTHORIZED");
}

// proves: AUT-016, AUT-020
#[tokio::test]
async fn an_inactive_credential_takes_its_token_with_it() {
    let bench = Bench::start(unlimited()).await;
    assert!(bench.control().credentials().set_active("loja-1", false));
    bench.get(SESSION).await.refused(401, "UNAUTHORIZED");
    assert!(bench.control().credentials().set_active("loja-1", true));
    assert_eq!(bench.get(SESSION).await.status, 200);
}

#[tokio::test]
async fn a_killed_token_is_silently_worthless() {
    let bench = Bench::start(unlimited()).await;
    assert!(bench.control().credentials().kill_token("loja-1"));
    assert!(!bench.control().credentials().kill_token("loja-1"));
    bench.get(SESSION).await.refused(401, "UNAUTHORIZED");
}

#[tokio::test]
async fn a_missing_ability_is_named_on_product_routes_when_scopes_are_strict() {
    for strict_scopes in [true, false] {
        let bench = Bench::start(Options { strict_scopes, ..unlimited() }).await;
        let id = bench.get("/api/products?per_page=1").await.data()[0]["id"].as_str().unwrap().to_owned();
        bench.control().credentials().set_abilities("loja-1", &["store_products_write"]);
        for path in ["/api/products".to_owned(), format!("/api/products/{id}/stock")] {
            let reply = bench.get(&path).await;
            if strict_scopes {
                assert_eq!(reply.refused(403, "FORBIDDEN"), json!(["store_products_read"]));
            } else {
                assert_eq!(reply.status, 200);
            }
        }
        assert_eq!(bench.get("/api/v1/sellers/orders").await.status, 200);
    }
}

// proves: AUT-049, AUT-050, AUT-051
#[tokio::test]
async fn the_session_tells_the_store() {
    let bench = Bench::start(unlimited()).await;
    let session = bench.get(SESSION).await.data();
    for field in ["id", "name", "code", "status", "type", "limits", "features"] {
        assert!(!session[field].is_null(), "{field}");
    }
    for field in ["tax_id", "legal_name", "tax_regime"] {
        assert!(session["company"][field].is_string(), "{field}");
    }
    assert_eq!(session["auth_type"], json!("integration_token"));
}

// proves: AUT-045, AUT-047, WHK-013
#[tokio::test]
async fn a_webhook_keeps_the_secret_that_is_shown_once() {
    let bench = Bench::start(unlimited()).await;
    let mut login = body(&bench);
    login["webhook"] =
        json!({"url": "http://127.0.0.1:9/hooks", "events": ["order.created", "webhook.test"]});
    let first = bench.auth(&login).await.data()["webhook"].clone();
    assert!(first["secret"].as_str().unwrap().starts_with("whsec_"));
    assert_eq!(first["managed_by"], json!("integration_auth"));
    login["webhook"]["url"] = json!("https://erp.example/hooks");
    let second = bench.auth(&login).await.data()["webhook"].clone();
    assert_eq!(second["id"], first["id"]);
    assert_eq!(second["url"], json!("https://erp.example/hooks"));
    assert!(second.get("secret").is_none());
}

// proves: AUT-043, AUT-044
#[tokio::test]
async fn a_webhook_must_have_an_acceptable_address_and_known_events() {
    let bench = Bench::start(Options { local_webhooks: false, ..unlimited() }).await;
    let mut login = body(&bench);
    for (block, field) in [
        (json!("x"), "webhook"),
        (json!({"events": ["*"]}), "webhook.url"),
        (json!({"url": "http://erp.example/", "events": ["*"]}), "webhook.url"),
        (json!({"url": "https://127.0.0.1/", "events": ["*"]}), "webhook.url"),
        (json!({"url": "https://erp.example/"}), "webhook.events"),
        (json!({"url": "https://erp.example/", "events": []}), "webhook.events"),
        (json!({"url": "https://erp.example/", "events": ["order.eaten"]}), "webhook.events"),
    ] {
        login["webhook"] = block;
        let errors = bench.auth(&login).await.refused(422, "VALIDATION_ERROR");
        assert!(errors[field][0].is_string(), "{errors}");
    }
    assert_eq!(bench.sandbox.stats().logins, 1);
    assert_eq!(bench.get(SESSION).await.status, 200, "a refused login issues no token");
}
