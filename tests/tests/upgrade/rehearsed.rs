//! `espelho migrate --rehearse`: exit codes, JSON, and what a signal leaves.

use espelho_tests::{Installation, Kind, on_both_databases, until};
use serde_json::json;

use super::older::{self, VERSION, closed, kept, versions};

on_both_databases![
    a_rehearsal_tells_the_pending_migrations_and_migrates_nothing,
    where_nothing_is_pending_a_rehearsal_says_so_and_ends_with_0,
    a_migration_that_fails_in_the_rehearsal_ends_it_with_1_and_its_name,
    a_signal_ends_a_rehearsal_and_leaves_nothing_of_its_copy,
];

/// Returns what is left of the copies of a rehearsal.
async fn left(installation: &Installation, kind: Kind) -> Vec<String> {
    if kind == Kind::Sqlite {
        let entries = std::fs::read_dir(installation.dir()).unwrap().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        return names.filter(|name| name.contains("rehearsal")).collect();
    }
    let mirror = installation.mirror().await;
    let copies = mirror
        .ask(
            "SELECT CAST(datname AS TEXT) AS name FROM pg_database WHERE datname = 'espelho_rehearsal_' || \
             (SELECT CAST(oid AS TEXT) FROM pg_database WHERE datname = current_database())",
        )
        .await;
    closed(mirror).await;
    copies.into_iter().map(|row| row["name"].clone()).collect()
}

async fn a_rehearsal_tells_the_pending_migrations_and_migrates_nothing(kind: Kind) {
    let installation = older::installation(kind).await;
    let before = versions(&installation).await;
    let told = installation.run(&["migrate", "--rehearse"]).await.expect(0).stdout;
    for words in
        ["0017 (alarms and taking orders)", "view v_alarms", "as many as before", "The copy is removed"]
    {
        assert!(told.contains(words), "no {words:?} in\n{told}");
    }
    let object = installation.run(&["migrate", "--rehearse", "--json"]).await.expect(0).json();
    let pending = object["pending"].as_array().unwrap();
    assert_eq!((&object["state"], pending[0]["state"].as_str()), (&json!("complete"), Some("done")));
    assert!(pending.iter().all(|migration| migration["version"].as_i64() > Some(VERSION)), "{object}");
    let of_orders =
        object["tables"].as_array().unwrap().iter().find(|rows| rows["table"] == "orders").unwrap();
    assert_eq!((&of_orders["before"], &of_orders["after"]), (&json!(3_000), &json!(3_000)));
    assert_eq!(object["free_bytes"].is_u64(), kind == Kind::Sqlite, "{object}");
    assert_eq!(versions(&installation).await, before);
    assert_eq!(left(&installation, kind).await, Vec::<String>::new());
    // The same versions are made in earnest.
    installation.run(&["migrate"]).await.expect(0);
    let rehearsed = pending.iter().filter(|migration| migration["part"] != "inbox").count();
    assert_eq!(versions(&installation).await.len(), before.len() + rehearsed);
}

async fn where_nothing_is_pending_a_rehearsal_says_so_and_ends_with_0(kind: Kind) {
    let installation = older::empty(kind).await;
    if kind == Kind::Sqlite {
        installation.run(&["migrate", "--rehearse"]).await.expect(1).says("database");
    }
    installation.run(&["migrate"]).await.expect(0);
    let told = installation.run(&["migrate", "--rehearse"]).await.expect(0);
    assert!(told.stdout.contains("No migration is pending"), "{told}");
    let object = installation.run(&["migrate", "--rehearse", "--json"]).await.expect(0).json();
    assert_eq!(
        (&object["state"], &object["pending"], &object["copy"]),
        (&json!("complete"), &json!([]), &json!(null))
    );
    installation.run(&["migrate", "--rehearse", "--new"]).await.expect(2);
}

async fn a_migration_that_fails_in_the_rehearsal_ends_it_with_1_and_its_name(kind: Kind) {
    let installation = older::installation(kind).await;
    let mirror = installation.mirror().await;
    mirror.execute("CREATE TABLE v_alarms (code TEXT)").await;
    closed(mirror).await;
    let before = versions(&installation).await;
    let failed = installation.run(&["migrate", "--rehearse", "--json"]).await.expect(1);
    let failed = failed.says("0017 (alarms and taking orders)").says("Do not upgrade");
    assert_eq!(
        (&failed.json()["state"], &failed.json()["error"]["code"]),
        (&json!("failed"), &json!("migration"))
    );
    assert_eq!(versions(&installation).await, before);
    assert_eq!(left(&installation, kind).await, Vec::<String>::new());
}

async fn a_signal_ends_a_rehearsal_and_leaves_nothing_of_its_copy(kind: Kind) {
    let installation = older::installation(kind).await;
    let before = versions(&installation).await;
    let mut rehearsing = installation.start(&["migrate", "--rehearse"]);
    until("its copy is there", async || {
        rehearsing.has_ended() || !left(&installation, kind).await.is_empty()
    })
    .await;
    if !rehearsing.has_ended() {
        rehearsing.terminate().await;
    }
    let ended = rehearsing.end().await;
    assert!([0, 1].contains(&ended.code), "{ended}");
    assert_eq!(left(&installation, kind).await, Vec::<String>::new());
    assert_eq!(versions(&installation).await, before);
    // Nothing of it stands in the way of the next one, nor of the migration itself.
    installation.run(&["migrate", "--rehearse"]).await.expect(0);
    installation.run(&["migrate"]).await.expect(0);
    kept(&installation).await;
}
