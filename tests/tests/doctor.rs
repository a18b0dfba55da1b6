//! `espelho doctor`: its findings while something is wrong, its duration, and what it must not touch.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use std::{fs::File, net::TcpListener, time::Duration};

use espelho_sandbox::{Options, Sandbox};
use espelho_tests::{
    Installation, Kind, Outcome, Reply, Shop, on_both_databases,
    pages::{ready, stopped},
    sandbox_of,
    shop::{ORDERS, Order},
    truth, until,
};
use serde_json::Value;
use tokio::time::Instant;

on_both_databases![
    before_the_first_start_the_credential_is_tried_and_nothing_is_made,
    a_wrong_password_is_found_by_a_login_only_and_the_token_lives_on,
    a_refused_credential_is_said_at_once_beside_a_service_that_waits,
    with_the_marketplace_stopped_every_line_comes_in_time_and_none_is_green_unseen,
    a_clock_two_hours_off_is_no_success,
    a_run_that_holds_the_store_is_named,
    a_webhook_that_arrives_nowhere_is_never_green,
];

const WRONG: &str = "outra-senha";

async fn small_sandbox() -> Sandbox {
    sandbox_of(Options { orders: 3, products: 2, local_webhooks: true, ..Options::default() }).await
}

async fn set_up(kind: Kind) -> (Installation, Sandbox) {
    let sandbox = small_sandbox().await;
    let installation = Installation::on(kind).await;
    installation.join(&sandbox);
    (installation, sandbox)
}

fn with_password(installation: &Installation, sandbox: &Sandbox, password: &str) {
    let access = sandbox.stores().remove(0);
    installation.write_store(&access.key, &sandbox.base_url(), &access.username, password);
}

/// Returns the state of a check, of the only store or of the installation.
#[track_caller]
fn state(outcome: &Outcome, check: &str) -> String {
    finding(outcome, check)["state"].as_str().unwrap().to_owned()
}

#[track_caller]
fn finding(outcome: &Outcome, check: &str) -> Value {
    let told = outcome.json();
    let found =
        told["findings"].as_array().unwrap().iter().find(|finding| finding["check"] == check).cloned();
    found.unwrap_or_else(|| panic!("no {check} in\n{outcome}"))
}

/// Checks that every problem comes with a fix.
#[track_caller]
fn has_its_fixes(outcome: &Outcome) {
    for finding in outcome.json()["findings"].as_array().unwrap() {
        let is_wrong = ["red", "yellow"].contains(&finding["state"].as_str().unwrap());
        assert!(!is_wrong || finding["fix"].is_string(), "{finding}");
        assert!(finding["seconds"].as_f64().unwrap() < 5.5, "{finding}");
    }
}

async fn doctor(installation: &Installation, more: &[&str]) -> Outcome {
    let outcome = installation.run(&[&["doctor", "--json"], more].concat()).await;
    has_its_fixes(&outcome);
    outcome
}

async fn timed(installation: &Installation) -> (Outcome, Duration) {
    let begun = Instant::now();
    let outcome = doctor(installation, &[]).await;
    (outcome, begun.elapsed())
}

async fn before_the_first_start_the_credential_is_tried_and_nothing_is_made(kind: Kind) {
    let (installation, sandbox) = set_up(kind).await;
    let files = || std::fs::read_dir(installation.dir()).unwrap().count();
    let before = files();
    let found = doctor(&installation, &[]).await.expect(0);
    for (check, expected) in [
        ("database", "unknown"),
        ("service", "yellow"),
        ("marketplace", "green"),
        ("clock", "green"),
        ("credential", "green"),
        ("password", "green"),
        ("scopes", "green"),
    ] {
        assert_eq!(state(&found, check), expected, "{check} in\n{found}");
    }
    assert_eq!(finding(&found, "database")["fix"], "espelho run");
    assert_eq!((sandbox.control().stats().logins, files()), (1, before));

    with_password(&installation, &sandbox, WRONG);
    let refused = doctor(&installation, &[]).await.expect(4);
    assert_eq!(state(&refused, "credential"), "red");
    assert!(finding(&refused, "credential")["fix"].as_str().unwrap().contains("stores/"), "{refused}");
}

// withstands: F137
async fn a_wrong_password_is_found_by_a_login_only_and_the_token_lives_on(kind: Kind) {
    let (installation, sandbox) = set_up(kind).await;
    installation.resync(&[]).await.expect(0);
    let right = sandbox.stores().remove(0).password;
    with_password(&installation, &sandbox, WRONG);

    let quiet = doctor(&installation, &[]).await.expect(0);
    let states = |found: &Outcome| ["credential", "password", "scopes"].map(|check| state(found, check));
    assert_eq!(states(&quiet), ["green", "unknown", "green"], "{quiet}");
    assert_eq!(finding(&quiet, "password")["fix"], "espelho doctor --login");
    assert_eq!(sandbox.control().stats().logins, 1);

    let refused = doctor(&installation, &["--login"]).await.expect(4);
    assert_eq!(states(&refused), ["green", "red", "green"], "the token lives on: {refused}");
    let tried = sandbox.control().stats().logins;
    let still = doctor(&installation, &[]).await.expect(0);
    assert_eq!(states(&still), ["green", "yellow", "green"], "a refused password is not proved: {still}");
    assert_eq!(sandbox.control().stats().logins, tried);

    with_password(&installation, &sandbox, &right);
    let proved = doctor(&installation, &["--login"]).await.expect(0);
    assert_eq!(states(&proved), ["green", "green", "green"], "{proved}");
    let logins = sandbox.control().stats().logins;
    let again = doctor(&installation, &[]).await.expect(0);
    assert_eq!((states(&again)[0].as_str(), sandbox.control().stats().logins), ("green", logins));
}

async fn a_refused_credential_is_said_at_once_beside_a_service_that_waits(kind: Kind) {
    let (installation, sandbox) = set_up(kind).await;
    with_password(&installation, &sandbox, WRONG);
    installation.write_main_with_known_port();
    let service = installation.start(&["run"]);
    until("the service knows that it is refused", async || {
        installation.run(&["status", "--json"]).await.stdout.contains("credential_refused")
    })
    .await;
    let (found, took) = timed(&installation).await;
    assert_eq!(found.code, 4, "{found}");
    assert_eq!(state(&found, "credential"), "red");
    assert!(took < Duration::from_secs(10), "{took:?}\n{found}");
    for check in ["password", "scopes", "rate_budget"] {
        assert_eq!(state(&found, check), "unknown", "{found}");
    }
    stopped(service).await;
}

async fn with_the_marketplace_stopped_every_line_comes_in_time_and_none_is_green_unseen(kind: Kind) {
    let (installation, sandbox) = set_up(kind).await;
    installation.resync(&[]).await.expect(0);
    let base = installation.write_main_with_known_port();
    let mut service = installation.start(&["run"]);
    ready(&mut service, &base).await;
    sandbox.stop().await;
    for is_beside_service in [true, false] {
        let (found, took) = timed(&installation).await;
        assert_eq!(found.code, 1, "{found}");
        assert!(took < Duration::from_secs(15), "{took:?}\n{found}");
        assert_eq!(state(&found, "marketplace"), "red");
        assert!(
            finding(&found, "marketplace")["found"].as_str().unwrap().contains("marketplace_unreachable")
        );
        for check in ["clock", "credential", "password", "scopes", "rate_budget"] {
            assert_ne!(
                state(&found, check),
                "green",
                "{check} beside a service: {is_beside_service}\n{found}"
            );
        }
        if is_beside_service {
            // It still has work to finish, and the marketplace is gone.
            service.terminate().await;
            until("the service has ended", async || service.has_ended()).await;
        }
    }
}

async fn a_clock_two_hours_off_is_no_success(kind: Kind) {
    let (installation, sandbox) = set_up(kind).await;
    assert!(sandbox.control().forward(120));
    let little = doctor(&installation, &[]).await.expect(0);
    assert_eq!(state(&little, "clock"), "yellow");
    assert!(sandbox.control().forward(7_080));
    let much = doctor(&installation, &[]).await.expect(1);
    let clock = finding(&much, "clock");
    assert_eq!((&clock["state"], &clock["fix"]), (&"red".into(), &"sudo timedatectl set-ntp true".into()));
    assert!(clock["found"].as_str().unwrap().contains("clock_wrong"), "{clock}");
}

async fn a_run_that_holds_the_store_is_named(kind: Kind) {
    let rule = |call: &espelho_tests::Call| (call.path == ORDERS).then(|| Reply::text(200, "x", "").held());
    let shop = Shop::with_rule(Order::many(2), rule).await;
    let installation = Installation::on(kind).await;
    shop.join(&installation);
    let run = installation.start(&["--resync"]);
    until("the run asks for orders", async || shop.count(|call| call.path == ORDERS) > 0).await;
    let found = doctor(&installation, &[]).await.expect(3);
    let lock = finding(&found, "lock");
    let named = format!("espelho --resync (process {} ", run.id());
    assert!(lock["state"] == "yellow" && lock["found"].as_str().unwrap().contains(&named), "{lock}");
    for check in ["credential", "scopes"] {
        assert_eq!(state(&found, check), "unknown", "{found}");
    }
    run.kill().await;
}

#[tokio::test]
async fn a_mistake_in_a_stores_file_hides_nothing_else() {
    let (installation, _sandbox) = set_up(Kind::Sqlite).await;
    let file = installation.dir().join("stores/loja-2.toml");
    std::fs::write(&file, "base_url = \"https://erp.example\"\nusernam = \"x\"\n").unwrap();
    let found = doctor(&installation, &[]).await.expect(2);
    let mistake = finding(&found, "configuration");
    assert!(
        mistake["state"] == "red" && mistake["found"].as_str().unwrap().contains("loja-2.toml"),
        "{found}"
    );
    assert_eq!(found.json()["errors"][0]["code"], "configuration");
    let marketplace = finding(&found, "marketplace");
    assert!(marketplace["store"] == "loja-1" && marketplace["state"] == "green", "{found}");
    let all = installation.dir().join("espelho.toml");
    let text = std::fs::read_to_string(&all).unwrap();
    std::fs::write(&all, format!("listem = 1\n{text}")).unwrap();
    let found = installation.run(&["doctor", "--json"]).await.expect(2);
    assert!(found.json()["findings"].is_null(), "without espelho.toml nothing can be examined: {found}");
}

#[tokio::test]
async fn beside_mistakes_no_login_ends_the_token_of_a_shop_that_works() {
    let (installation, sandbox) = set_up(Kind::Sqlite).await;
    let stores = installation.dir().join("stores");
    let base = installation.write_main_with_known_port();
    let mut service = installation.start(&["run"]);
    ready(&mut service, &base).await;
    let logins = || sandbox.stats().by_route["POST /api/integration/auth"];
    let original = std::fs::read_to_string(stores.join("loja-1.toml")).unwrap();
    // A copy before and one after the original, which is read or not.
    for copy in ["a-nova", "loja-2"] {
        std::fs::write(stores.join(format!("{copy}.toml")), &original).unwrap();
    }
    for text in [original.clone(), format!("usernam = 1\n{original}")] {
        std::fs::write(stores.join("loja-1.toml"), text).unwrap();
        for more in [&[][..], &["--login"]] {
            let before = logins();
            let found = doctor(&installation, more).await.expect(2);
            let told = found.json();
            let findings = told["findings"].as_array().unwrap();
            let mut of_copy = findings.iter().filter(|of| of["store"] == "a-nova");
            assert!(of_copy.all(|of| of["check"] != "credential" || of["state"] == "unknown"), "{found}");
            // The service logs in itself, for the store that it has.
            let is_ours = |of: &&Value| of["store"] == "loja-1" && of["check"] == "password";
            let by_service = findings.iter().find(is_ours).is_some_and(|of| of["state"] == "green");
            let allowed = u64::from(by_service && !more.is_empty());
            assert_eq!(logins() - before, allowed, "{found}");
        }
    }
    stopped(service).await;
}

#[tokio::test]
async fn a_program_that_has_locked_the_store_is_named() {
    let (installation, _sandbox) = set_up(Kind::Sqlite).await;
    installation.run(&["migrate"]).await.expect(0);
    let lock = File::create(installation.dir().join("espelho.db.loja-1.lock")).unwrap();
    lock.try_lock().unwrap();
    let found = doctor(&installation, &[]).await.expect(1);
    let lock = finding(&found, "lock");
    let named = format!("process {} (", std::process::id());
    assert!(lock["state"] == "red" && lock["found"].as_str().unwrap().contains(&named), "{lock}");
    assert_eq!(state(&found, "credential"), "unknown");
}

async fn a_webhook_that_arrives_nowhere_is_never_green(kind: Kind) {
    let (installation, sandbox) = set_up(kind).await;
    let access = sandbox.stores().remove(0);
    let webhook = "[webhook]\npublic_url = \"http://127.0.0.1:9/webhooks/loja-1\"\n";
    let (username, password) = (&access.username, &access.password);
    installation.write_store_with(&access.key, &sandbox.base_url(), username, password, webhook);
    let base = installation.write_main_with_known_port();
    let main = std::fs::read_to_string(installation.dir().join("espelho.toml")).unwrap();
    let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let listening_on = |address| {
        installation.write("espelho.toml", &format!("{main}[webhooks]\nlisten = \"{address}\"\n"));
    };
    listening_on(free());
    installation.resync(&[]).await.expect(0);
    let mut service = installation.start(&["run"]);
    ready(&mut service, &base).await;
    until("the store is looked after", async || {
        truth::get(&format!("{base}/status")).await.1.contains("\"ours\":true")
    })
    .await;
    let found = doctor(&installation, &[]).await.expect(3);
    assert_eq!([state(&found, "receiver"), state(&found, "webhook")], ["green", "unknown"], "{found}");

    listening_on(free());
    let closed = doctor(&installation, &[]).await.expect(1);
    assert_eq!(state(&closed, "receiver"), "red", "{closed}");
    stopped(service).await;
}
