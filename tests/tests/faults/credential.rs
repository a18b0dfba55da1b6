//! Credential faults: wrong, used by another program, or without an ability.

use std::{fs, time::Duration};

use espelho_sandbox::{Fault, FaultRule, NewOrder};
use espelho_tests::{Kind, Surface, Surfaces, installation::STORE, on_both_databases, truth::Reader, until};

use crate::stage::{Setting, Stage};

on_both_databases![
    a_wrong_password_is_proved_by_a_login_while_its_token_lives_and_named_by_all_once_it_has_ended,
    a_password_that_is_corrected_while_its_token_lives_is_tried_and_its_alarm_ends,
    a_wrong_password_without_a_token_is_named_and_its_correction_is_noticed,
    a_wrong_password_in_the_file_is_named_although_the_token_lives,
    a_password_that_changed_while_the_service_was_stopped_is_proved_by_one_login,
    a_password_that_no_login_could_try_is_not_known_until_one_does,
    a_password_file_that_is_gone_is_named_before_the_next_start_fails,
    a_credential_that_another_program_uses_is_named_and_one_of_our_own_mends_it,
    an_ability_that_the_token_lacks_is_named,
];

const NEW: &str = "uma-senha-bem-nova";

// Exercises F134, F137, F146
async fn a_wrong_password_is_proved_by_a_login_while_its_token_lives_and_named_by_all_once_it_has_ended(
    kind: Kind,
) {
    let stage = Stage::on(kind).await;
    let logins = stage.sandbox.stats().logins;
    assert!(stage.control().credentials().set_password(STORE, NEW));
    // Only a login could find out: nothing is reported as wrong yet, and nothing as right.
    let (code, text) = doctor(&stage.surfaces, &stage, &["doctor"]).await;
    assert!(!text.contains("credential_refused"), "{code}: {text}");
    assert!(!is_green_about_the_password(&text), "{text}");
    assert_eq!(stage.sandbox.stats().logins, logins, "a doctor logs in only where it is told to");
    let (code, text) = doctor(&stage.surfaces, &stage, &["doctor", "--login"]).await;
    assert!(code != 0 && text.contains("credential_refused"), "{code}: {text}");

    assert!(stage.control().credentials().kill_token(STORE));
    let mut watch = stage.watch("wrong password, token ended", "credential_refused").beside(&["late"]);
    let alarm = watch.raised().await;
    let named = format!("{} {}", alarm.text("text"), alarm.text("next"));
    assert!(named.contains("loja-1.password"), "the file is named: {alarm:?}");
    stage.write_password(NEW);
    watch.ends();
    watch.cleared().await;
}

// Exercises F134, F146
async fn a_password_that_is_corrected_while_its_token_lives_is_tried_and_its_alarm_ends(kind: Kind) {
    let stage = Stage::on(kind).await;
    assert!(stage.control().credentials().set_password(STORE, NEW));
    let mut watch = stage.watch("wrong password, token alive", "credential_refused");
    let (code, text) = doctor(&stage.surfaces, &stage, &["doctor", "--login"]).await;
    assert!(code != 0 && text.contains("credential_refused"), "{code}: {text}");
    watch.raised().await;
    let logins = stage.sandbox.stats().logins;
    stage.write_password(NEW);
    watch.ends();
    watch.cleared().await;
    assert_eq!(stage.sandbox.stats().logins, logins + 1);
}

// Exercises F134, F146
async fn a_wrong_password_without_a_token_is_named_and_its_correction_is_noticed(kind: Kind) {
    let right = Stage::prepared(kind, Setting::default()).await;
    let password = right.sandbox.stores().remove(0).password;
    let mut stage = right;
    stage.write_password("errada-errada-errada");
    stage.start();
    // The view reports the service as missing until its first heartbeat.
    let mut watch =
        stage.watch("wrong password, no token", "credential_refused").beside(&["late", "service_stopped"]);
    let alarm = watch.raised().await;
    let named = format!("{} {}", alarm.text("text"), alarm.text("next"));
    assert!(named.contains("loja-1.password"), "the file is named: {alarm:?}");
    stage.write_password(&password);
    watch.ends();
    watch.cleared().await;
}

// Exercises F134, F137, F146
async fn a_wrong_password_in_the_file_is_named_although_the_token_lives(kind: Kind) {
    let stage = Stage::on(kind).await;
    let password = stage.sandbox.stores().remove(0).password;
    let mut watch = stage.watch("wrong password in the file, token alive", "credential_refused");
    stage.write_password("errada-errada-errada");
    watch.raised().await;
    // The token works on, and so does the mirror.
    let number = stage.control().orders().place(STORE, NewOrder::default());
    let mirror = stage.mirror().await;
    until("the new order is mirrored", async || {
        let asked = format!("SELECT order_number FROM orders WHERE order_number = '{number}'");
        mirror.ask(&asked).await.len() == 1
    })
    .await;
    let logins = stage.sandbox.stats().logins;
    stage.write_password(&password);
    watch.ends();
    watch.cleared().await;
    assert_eq!(stage.sandbox.stats().logins, logins + 1);
}

// Exercises F137
async fn a_password_that_changed_while_the_service_was_stopped_is_proved_by_one_login(kind: Kind) {
    let mut stage = Stage::on(kind).await;
    let logins = stage.sandbox.stats().logins;
    stage.kill().await;
    stage.start();
    stage.is_well().await;
    assert_eq!(stage.sandbox.stats().logins, logins, "the password is the token's");
    stage.kill().await;
    assert!(stage.control().credentials().set_password(STORE, NEW));
    stage.write_password(NEW);
    stage.start();
    until("a login has proved it", async || stage.sandbox.stats().logins > logins).await;
    stage.is_well().await;
    stage.kill().await;
    stage.start();
    stage.is_well().await;
    assert_eq!(stage.sandbox.stats().logins, logins + 1);
}

// Exercises F134, F137
async fn a_password_that_no_login_could_try_is_not_known_until_one_does(kind: Kind) {
    let stage = Stage::on(kind).await;
    let route = "/api/integration/auth".to_owned();
    stage.control().faults().add(FaultRule { route, times: None, kind: Fault::Html(500) });
    assert!(stage.control().credentials().set_password(STORE, NEW));
    stage.write_password(NEW);
    let is_unproved = |status: &serde_json::Value| {
        let said = status["unproved"].as_array().cloned().unwrap_or_default();
        said.iter().any(|said| said.as_str().is_some_and(|said| said.contains("doctor --login")))
    };
    until("the password is not known", async || {
        stage.surfaces.status().await.1.as_ref().is_some_and(is_unproved)
    })
    .await;
    // Other answers keep the mirror in step, and prove nothing of the password.
    let number = stage.control().orders().place(STORE, NewOrder::default());
    assert!(stage.control().orders().set_status(STORE, &number, "delivered"));
    let mirror = stage.mirror().await;
    until("the new order is mirrored", async || {
        let asked = format!("SELECT order_number FROM orders WHERE order_number = '{number}'");
        mirror.ask(&asked).await.len() == 1
    })
    .await;
    let (_, status) = stage.surfaces.status().await;
    let status = status.unwrap();
    assert!(status["state"] != "ok" && is_unproved(&status), "{status}");
    stage.control().faults().clear();
    stage.is_well().await;
}

// Exercises F134
async fn a_password_file_that_is_gone_is_named_before_the_next_start_fails(kind: Kind) {
    let stage = Stage::on(kind).await;
    let password = stage.sandbox.stores().remove(0).password;
    let logins = stage.sandbox.stats().logins;
    let mut watch = stage.watch("password file gone", "password_unreadable");
    fs::remove_file(stage.installation.dir().join(format!("stores/{STORE}.password"))).unwrap();
    let alarm = watch.raised().await;
    assert!(alarm.text("text").contains("loja-1.password"), "the file is named: {alarm:?}");
    stage.write_password(&password);
    watch.ends();
    watch.cleared().await;
    assert_eq!(stage.sandbox.stats().logins, logins, "it is the same password");
}

// Exercises F082, F134
async fn a_credential_that_another_program_uses_is_named_and_one_of_our_own_mends_it(kind: Kind) {
    // The next call detects an invalid token.
    let often = || Setting { main: "[schedule]\nnew_orders = 2\n".to_owned(), ..Setting::default() };
    let stage = Stage::with(kind, often()).await;
    let mut watch = stage.watch("token stolen", "foreign_login").beside(&["late"]);
    // Another program logs in each time that our token is accepted: the second time it is named.
    for _ in 0..2 {
        let logins = stage.sandbox.stats().logins;
        // A credential may try five logins a minute, including ours.
        until("the other program may log in", async || Reader::try_log_in(&stage.sandbox).await.is_some())
            .await;
        // The promised time starts with the last of them.
        watch.ends();
        let fought =
            until("the token is asked for again", async || stage.sandbox.stats().logins > logins + 1);
        tokio::time::timeout(Duration::from_secs(90), fought).await.unwrap();
    }
    // The third time we do not log in any more.
    assert!(stage.control().credentials().kill_token(STORE));
    watch.raised().await;
    // The next step: a credential for each program.
    let own = stage.control().credentials().create(STORE).unwrap();
    stage.write_store_as(&own.username, &often());
    stage.write_password(&own.password);
    stage.reload();
    watch.ends();
    watch.cleared().await;
}

// Exercises F089, F134
async fn an_ability_that_the_token_lacks_is_named(kind: Kind) {
    let stage = Stage::with(kind, Setting { strict_scopes: true, ..Setting::default() }).await;
    assert!(stage.control().credentials().set_abilities(STORE, &[]));
    // Rows that were refused for it count as failed until they are read again, a moment after the ability is back.
    let mut watch = stage.watch("ability missing", "scope_missing").beside(&["late", "failed"]);
    let alarm = watch.raised().await;
    let named = format!("{} {}", alarm.text("text"), alarm.text("next"));
    assert!(named.contains("store_products_read"), "the ability is named: {alarm:?}");
    assert!(
        stage.control().credentials().set_abilities(STORE, &["store_products_read", "store_products_write"])
    );
    watch.ends();
    watch.cleared().await;
}

async fn doctor(surfaces: &Surfaces, stage: &Stage, arguments: &[&str]) -> (i32, String) {
    // This asks the doctor, not the other surfaces.
    assert!(surfaces.read(Surface::Http).await.is_some());
    let ended = stage.installation.run(arguments).await;
    (ended.code, format!("{}\n{}", ended.stdout, ended.stderr))
}

/// Returns whether a line says that the password is right.
fn is_green_about_the_password(text: &str) -> bool {
    let is_green = |line: &str| line.trim_start().starts_with('✓');
    let is_about_it =
        |line: &str| ["senha", "password"].iter().any(|word| line.to_lowercase().contains(word));
    // It may say how the password can be proved.
    let is_open = |line: &str| line.contains("--login");
    text.lines().any(|line| is_green(line) && is_about_it(line) && !is_open(line))
}
