//! Several credentials of one store, and what the portal does with them ("Authentication" of the document).

use crate::support::{Bench, unlimited};
use espelho_sandbox::{Options, StoreAccess};
use reqwest::Method;
use serde_json::json;

const SESSION: &str = "/api/stores/auth/session";
const DAY: i64 = 86_400;

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

async fn status(bench: &Bench, token: &str) -> u16 {
    bench.get_with(&bearer(token), SESSION).await.status
}

async fn attempt(bench: &Bench, access: &StoreAccess) -> u16 {
    bench.auth(&json!({"username": access.username, "password": access.password})).await.status
}

// proves: AUT-010, AUT-011, AUT-031, AUT-032, LIM-003
#[tokio::test]
async fn each_credential_of_a_store_has_a_token_of_its_own() {
    let bench = Bench::start(Options::default()).await;
    let other = bench.control().credentials().create("loja-1").unwrap();
    let (slug, suffix) = other.username.split_once('@').unwrap();
    assert_eq!((slug, suffix.len(), other.password.len()), ("loja-1", 8, 20));
    assert_ne!(other.username, bench.access().username);
    let second = bench.login_to(&other).await;
    let sessions = [bench.get(SESSION).await, bench.get_with(&bearer(&second), SESSION).await];
    assert_eq!(sessions[0].data(), sessions[1].data(), "the same store");
    for reply in sessions {
        assert_eq!(reply.header("x-ratelimit-remaining"), Some(299));
    }
    let renewed = bench.login_to(&other).await;
    assert_eq!(status(&bench, &second).await, 401);
    assert_eq!(status(&bench, &renewed).await, 200);
    assert_eq!(status(&bench, &bench.token).await, 200, "the other credential's login leaves it alone");
    assert_eq!(bench.control().credentials().create("loja-9"), None);
}

// proves: AUT-007, AUT-008
#[tokio::test]
async fn a_renewal_begins_the_thirty_days_anew() {
    let mut bench = Bench::start(unlimited()).await;
    bench.hands.forward(28 * DAY);
    bench.token = bench.login().await;
    bench.hands.forward(30 * DAY - 1);
    assert_eq!(bench.get(SESSION).await.status, 200);
    bench.hands.forward(1);
    bench.get(SESSION).await.refused(401, "UNAUTHORIZED");
}

// proves: AUT-029, AUT-030, AUT-016, AUT-028
#[tokio::test]
async fn what_happens_to_one_credential_does_not_happen_to_another() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let [revoked, off, changed] = std::array::from_fn(|_| control.credentials().create("loja-1").unwrap());
    let mut tokens = Vec::new();
    for access in [&revoked, &off, &changed] {
        tokens.push(bench.login_to(access).await);
    }
    assert!(control.credentials().revoke(&revoked.username));
    assert!(control.credentials().set_active(&off.username, false));
    assert!(control.credentials().set_password(&changed.username, "doze letras."));
    assert!(!control.credentials().set_password("nobody@00000000", "doze letras."));
    for (access, token, alive) in
        [(&revoked, &tokens[0], 200), (&off, &tokens[1], 401), (&changed, &tokens[2], 200)]
    {
        assert_eq!((attempt(&bench, access).await, status(&bench, token).await), (401, alive));
    }
    assert_eq!(attempt(&bench, &bench.access()).await, 200);
    let new = StoreAccess { password: "doze letras.".to_owned(), ..changed };
    assert_eq!(attempt(&bench, &new).await, 200);
    bench.hands.forward(30 * DAY);
    assert_eq!(status(&bench, &tokens[0]).await, 401, "a revoked credential's token ends with its 30 days");
}

#[tokio::test]
async fn abilities_are_those_of_the_credential_that_logged_in() {
    let bench = Bench::start(unlimited()).await;
    let other = bench.control().credentials().create("loja-1").unwrap();
    let token = bench.login_to(&other).await;
    bench.control().credentials().set_abilities(&other.username, &[]);
    let path = "/api/seller/discounts/campaigns/summary";
    let refused = bench.get_with(&bearer(&token), path).await;
    assert_eq!(refused.refused(403, "FORBIDDEN"), json!(["store_products_read"]));
    assert_eq!(bench.get(path).await.status, 200);
}

#[tokio::test]
async fn the_levers_of_the_portal_do_what_the_handle_does() {
    let bench = Bench::start(Options { control: true, ..unlimited() }).await;
    let made = bench.pull(Method::POST, "credentials/loja-1", &json!({})).await.data();
    let username = made["username"].as_str().unwrap().to_owned();
    let mut access = StoreAccess {
        username: username.clone(),
        password: made["password"].as_str().unwrap().to_owned(),
        ..bench.access()
    };
    let token = bench.login_to(&access).await;
    let endpoint = |what: &str| format!("credentials/{username}{what}");
    for short in ["", "onze letras", "çççççççççç"] {
        let reply = bench.pull(Method::POST, &endpoint("/password"), &json!({"password": short})).await;
        assert!(reply.refused(422, "VALIDATION_ERROR")["password"][0].is_string());
        assert!(!bench.control().credentials().set_password(&username, short));
    }
    bench.pull(Method::POST, &endpoint("/password"), &json!({"password": "çççççççççççç"})).await.data();
    access.password = "çççççççççççç".to_owned();
    bench
        .pull(Method::POST, &endpoint("/abilities"), &json!({"abilities": ["store_products_read"]}))
        .await
        .data();
    bench.pull(Method::POST, &endpoint("/active"), &json!({"active": false})).await.data();
    assert_eq!((status(&bench, &token).await, attempt(&bench, &access).await), (401, 401));
    bench.pull(Method::POST, &endpoint("/active"), &json!({"active": true})).await.data();
    bench.pull(Method::POST, &format!("tokens/{username}/kill"), &json!({})).await.data();
    assert_eq!((status(&bench, &token).await, attempt(&bench, &access).await), (401, 200));
    bench.pull(Method::DELETE, &endpoint(""), &json!({})).await.data();
    assert_eq!(attempt(&bench, &access).await, 401);
    for what in ["/active", "/abilities", "/password"] {
        let body = json!({"active": true, "abilities": [], "password": "doze letras."});
        let path = format!("credentials/nobody@00000000{what}");
        bench.pull(Method::POST, &path, &body).await.refused(404, "NOT_FOUND");
    }
    bench.pull(Method::POST, "credentials/loja-9", &json!({})).await.refused(404, "NOT_FOUND");
}
