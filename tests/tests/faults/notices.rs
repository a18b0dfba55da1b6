//! People hear of a fault once, whatever happens to the service, to the receiver of the messages, or to the database
//! meanwhile.

use std::{fs, os::unix::fs::PermissionsExt as _, time::Duration};

use espelho_tests::{Kind, MailSink, installation::STORE, on_both_databases, until};
use serde_json::{Value, json};

use crate::stage::{ALARMS, Setting, Stage};

on_both_databases![
    a_restart_in_the_middle_repeats_nothing_and_its_end_is_told_once,
    a_message_that_is_refused_is_sent_again_and_a_channel_that_stays_refused_is_an_alarm,
    every_channel_tells_and_a_test_says_which_does_not,
];

/// Returns the messages about a code, as their events.
fn events(stage: &Stage, code: &str) -> Vec<String> {
    let told = stage.sink.about(ALARMS, code);
    told.iter().map(|message| message["event"].as_str().unwrap().to_owned()).collect()
}

async fn hears(stage: &Stage, code: &str, expected: &[&str]) {
    let heard = until("people hear of it", async || events(stage, code) == expected);
    if tokio::time::timeout(Duration::from_secs(110), heard).await.is_err() {
        panic!("{code}: {:?} in place of {expected:?}", events(stage, code));
    }
}

/// Returns the identifiers of the messages, which differ.
fn ids(stage: &Stage) -> Vec<String> {
    let all = stage.sink.at(ALARMS).into_iter().map(|received| received.body["id"].to_string());
    all.collect()
}

// Exercises F134
async fn a_restart_in_the_middle_repeats_nothing_and_its_end_is_told_once(kind: Kind) {
    let mut stage = Stage::on(kind).await;
    stage.gateway.cut();
    hears(&stage, "marketplace_unreachable", &["raised"]).await;
    // A kill before this is on record may have it told once more.
    let mirror = stage.mirror().await;
    let delivered = "SELECT state FROM notice_deliveries WHERE state = 'delivered'";
    until("it is on record", async || !mirror.ask(delivered).await.is_empty()).await;
    for _ in 0..2 {
        stage.kill().await;
        stage.start();
        // The new process finds the fault by itself.
        until("it is found again", async || stage.surfaces.alarm("marketplace_unreachable").await.is_some())
            .await;
    }
    assert_eq!(events(&stage, "marketplace_unreachable"), ["raised"]);
    stage.gateway.mend().await;
    hears(&stage, "marketplace_unreachable", &["raised", "ended"]).await;
    stage.is_well().await;
    assert_eq!(events(&stage, "marketplace_unreachable"), ["raised", "ended"]);
    let mut ids = ids(&stage);
    let told = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), told, "no message came twice");
}

// Exercises F134
async fn a_message_that_is_refused_is_sent_again_and_a_channel_that_stays_refused_is_an_alarm(kind: Kind) {
    let stage = Stage::on(kind).await;
    let mirror = stage.mirror().await;
    stage.sink.refuse(2);
    let sql =
        "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('LOJA-1', 'CAN-001', '1', 3)";
    mirror.execute(sql).await;
    hears(&stage, "unknown_store", &["raised"]).await;
    let attempts =
        "SELECT CAST(attempts AS TEXT) AS attempts, state FROM notice_deliveries WHERE event = 'raised'";
    let mut rows = Vec::new();
    until("the delivery is on record", async || {
        rows = mirror.ask(attempts).await;
        rows.iter().any(|row| row["state"] == "delivered")
    })
    .await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert!(rows[0]["attempts"].parse::<u32>().unwrap() >= 2, "it was refused before: {rows:?}");
    // Nothing is taken any more: after two minutes every surface says so.
    stage.sink.refuse(usize::MAX);
    mirror.execute("DELETE FROM erp_stock WHERE store = 'LOJA-1'").await;
    let mut watch = stage
        .watch("messages refused", "notice_failed")
        .beside(&["unknown_store"])
        .found_within(Duration::from_secs(120));
    watch.is_shown().await;
    let shown = stage.surfaces.alarm("notice_failed").await.unwrap();
    assert!(shown.text("text").contains("503"), "{shown:?}");
    // The next step is the printed command.
    stage.sink.refuse(0);
    stage.types_printed(&shown, "notice").await;
    until("it is over", async || stage.surfaces.alarm("notice_failed").await.is_none()).await;
    // The message that was refused meanwhile goes out now, or soon.
    let told = until("the end is told", async || events(&stage, "unknown_store") == ["raised", "ended"]);
    assert!(
        tokio::time::timeout(Duration::from_secs(118), told).await.is_ok(),
        "{:?}",
        events(&stage, "unknown_store")
    );
}

// Exercises F134
async fn every_channel_tells_and_a_test_says_which_does_not(kind: Kind) {
    let mail = MailSink::open().await;
    let folder = tempfile::tempdir().unwrap();
    let (file, program) = (folder.path().join("told"), folder.path().join("tell"));
    let script = format!("#!/bin/sh\ncat >> '{0}'\necho >> '{0}'\n", file.display());
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let main = format!(
        "[notices.smtp]\nhost = \"127.0.0.1\"\nport = {}\ntls = \"none\"\nfrom = \"espelho@loja.test\"\n\
         to = [\"ana@loja.test\", \"Rui <rui@loja.test>\"]\n[notices.exec]\ncommand = [\"{}\"]\n",
        mail.port(),
        program.display()
    );
    let stage = Stage::with(kind, Setting { main, ..Setting::default() }).await;
    // Before anything happens, a test.
    let doctor = async || stage.installation.run(&["doctor", "--json"]).await.json()["findings"].clone();
    let state = |findings: &Value| {
        let of_it = |finding: &&Value| finding["check"] == "notices";
        findings.as_array().unwrap().iter().find(of_it).unwrap()["state"].clone()
    };
    assert_eq!(state(&doctor().await), "yellow", "nothing went out yet");
    let tested = stage.installation.run(&["notice", "test", "--json"]).await.expect(0).json();
    let names = |tested: &Value, result: &str| -> Vec<String> {
        let channels = tested["channels"].as_array().unwrap().iter();
        let of_it = channels.filter(|channel| channel["result"] == result);
        of_it.map(|channel| channel["channel"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&tested, "sent"), ["webhook", "smtp", "exec", "ping"], "{tested}");
    assert_eq!(state(&doctor().await), "green");
    stage.sink.refuse(1);
    let tested = stage.installation.run(&["notice", "test", "--json"]).await.expect(3).json();
    assert_eq!((&tested["state"], names(&tested, "failed")), (&json!("partial"), vec!["webhook".to_owned()]));
    assert_eq!(state(&doctor().await), "red");
    stage.sink.refuse(usize::MAX);
    stage.installation.run(&["notice", "test", "--channel", "webhook"]).await.expect(1);
    stage.sink.refuse(0);
    stage.types(&["notice", "test", "--channel", "webhook"]).await;
    let (mails, lines) = (mail.mails().len(), || fs::read_to_string(&file).unwrap().lines().count());
    assert_eq!((mails, lines()), (2, 2), "one for each test");

    // A fault of one store.
    let mirror = stage.mirror().await;
    let sql = format!(
        "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('{STORE}', 'NADA-1', '1', 3)"
    );
    mirror.execute(&sql).await;
    hears(&stage, "failed", &["raised"]).await;
    until("all hear of it", async || mail.mails().len() == 3 && lines() == 3).await;
    let told = &stage.sink.about(ALARMS, "failed")[0];
    assert_eq!(
        (&told["store"], &told["count"], &told["severity"]),
        (&json!(STORE), &json!(1), &json!("failing"))
    );
    let by_program: Value =
        serde_json::from_str(fs::read_to_string(&file).unwrap().lines().last().unwrap()).unwrap();
    assert_eq!(by_program["id"], told["id"], "all channels tell the same");
    let sent = mail.mails().pop().unwrap();
    let recipients = ["RCPT TO:<ana@loja.test>", "RCPT TO:<rui@loja.test>"];
    assert_eq!(sent.to, recipients, "{sent:?}");
    assert!(sent.text.contains("Subject: [espelho] FALHA: loja-1"), "{}", sent.text);
    stage.types(&["ignore", "stock", "NADA-1/1"]).await;
    hears(&stage, "failed", &["raised", "ended"]).await;
    until("all hear of its end", async || mail.mails().len() == 4 && lines() == 4).await;
    let answer = mail.mails().pop().unwrap().text;
    assert!(answer.contains("In-Reply-To: <") && answer.contains("RESOLVIDO"), "{answer}");
}

// Exercises F134
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_services_on_one_database_one_tells() {
    let stage = Stage::on(Kind::Postgres).await;
    // Another machine with the same stores and the same receiver of messages.
    let other = stage.installation.beside();
    for file in ["espelho.toml", &format!("stores/{STORE}.toml"), &format!("stores/{STORE}.password")] {
        let text = fs::read_to_string(stage.installation.dir().join(file)).unwrap();
        other.write(file, &text);
    }
    let text = fs::read_to_string(other.dir().join("espelho.toml")).unwrap();
    let lines = text.lines().map(|line| match line.starts_with("listen = ") {
        true => format!("listen = \"{}\"", espelho_tests::installation::free_address()),
        false => line.to_owned(),
    });
    other.write("espelho.toml", &lines.collect::<Vec<_>>().join("\n"));
    let mut second = other.start(&["run"]);
    let mirror = stage.mirror().await;
    let live = "SELECT instance FROM services WHERE state <> 'stopped'";
    until("both give signs of life", async || mirror.ask(live).await.len() == 2).await;
    mirror
        .execute(
            "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('LOJA-1', 'CAN-001', '1', 3)",
        )
        .await;
    hears(&stage, "unknown_store", &["raised"]).await;
    mirror.execute("DELETE FROM erp_stock WHERE store = 'LOJA-1'").await;
    hears(&stage, "unknown_store", &["raised", "ended"]).await;
    let told = mirror.ask("SELECT id FROM notices WHERE code = 'unknown_store'").await;
    assert_eq!(told.len(), 1, "both see it, and one tells: {told:?}");
    assert!(!second.has_ended());
    second.kill().await;
}
