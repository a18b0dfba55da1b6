//! `kill -9` in the middle of a backup and of a restore.
//!
//! A process is killed after the first visible change on the disk, then after the second, and so on until it ends
//! earlier.

use std::{fs, path::Path};

use espelho_tests::{Installation, Kind, sandbox};

use super::{ask, file, text};

const ORDERS: usize = 300;

/// Returns everything below a folder except the configuration: names and sizes.
fn seen(folder: &Path) -> Vec<(String, u64)> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        // Both may be gone by now.
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let size = entry.metadata().map_or(0, |entry| entry.len());
            if path.is_dir() {
                folders.push(path.clone());
            }
            all.push((path.display().to_string(), size));
        }
    }
    all.sort();
    all
}

/// Kills a command after this many visible changes; returns whether it ended earlier.
async fn ends_before(installation: &Installation, arguments: &[&str], changes: usize) -> bool {
    let mut before = seen(installation.dir());
    let mut running = installation.start(arguments);
    let mut left = changes;
    while left > 0 {
        if running.has_ended() {
            running.end().await.expect(0);
            return true;
        }
        let now = seen(installation.dir());
        if now != before {
            (before, left) = (now, left - 1);
        }
        tokio::task::yield_now().await;
    }
    running.kill().await;
    false
}

async fn mirrored() -> (Installation, espelho_sandbox::Sandbox) {
    let sandbox = sandbox(ORDERS, 20).await;
    let installation = Installation::on(Kind::Sqlite).await;
    installation.join(&sandbox);
    installation.resync(&[]).await.expect(0);
    (installation, sandbox)
}

// withstands: F104
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_the_name_of_a_backup_there_is_all_of_it_or_nothing() {
    let (installation, _sandbox) = mirrored().await;
    let backup = file(&installation, "backup");
    let mut kills = 0;
    while !ends_before(&installation, &["backup", text(&backup)], kills + 1).await {
        kills += 1;
        if backup.exists() {
            assert_eq!(
                ask(&backup.join("espelho.db"), "SELECT order_number FROM orders").await.len(),
                ORDERS
            );
            assert!(
                !ask(&backup.join("espelho.db-inbox"), "SELECT description FROM _sqlx_migrations")
                    .await
                    .is_empty()
            );
            fs::remove_dir_all(&backup).unwrap();
        }
    }
    assert!(kills > 0, "it was never killed");
    assert!(!file(&installation, "backup.partial").exists(), "what was left behind is cleared away");
    assert_eq!(ask(&backup.join("espelho.db"), "PRAGMA integrity_check").await[0]["integrity_check"], "ok");
}

// withstands: F104
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restore_that_is_killed_leaves_the_old_mirror_or_the_new_one() {
    let (installation, _sandbox) = mirrored().await;
    let mirror = file(&installation, "espelho.db");
    // Each mirror has a mark in both of its files, so that a mix of the two would be visible.
    let mark = |word: &str| format!("UPDATE stores SET base_url = '{word}'");
    let mark_inbox = |word: &str| {
        format!(
            "DELETE FROM webhook_secrets; INSERT INTO webhook_secrets (store, secret, obtained_at) \
             VALUES ('loja-1', '{word}', '2026-03-01T12:00:00.000000Z')"
        )
    };
    let inbox = file(&installation, "espelho.db-inbox");
    super::execute(&mirror, &mark("new")).await;
    super::execute(&inbox, &mark_inbox("new")).await;
    let backup = file(&installation, "backup");
    installation.run(&["backup", text(&backup)]).await.expect(0);
    let (mut kills, mut old, mut new) = (0, 0, 0);
    loop {
        super::execute(&mirror, &mark("old")).await;
        super::execute(&inbox, &mark_inbox("old")).await;
        let ended = ends_before(&installation, &["restore", "--replace", text(&backup)], kills + 1).await;
        // The next command that opens it completes the decision.
        let shown = installation.run(&["migrate"]).await;
        assert_eq!(shown.code, 0, "after {kills} kills: {shown}");
        assert!(!file(&installation, "espelho.db-restored").exists());
        let word = ask(&mirror, "SELECT base_url FROM stores").await[0]["base_url"].clone();
        let secrets = ask(&inbox, "SELECT secret FROM webhook_secrets").await;
        let has = |word: &str| secrets.iter().any(|row| row["secret"] == word);
        // The new mirror takes over what the old one had; the old one knows nothing of the new.
        assert_eq!((has("old"), has("new")), (true, word == "new"), "after {kills} kills, {word}");
        assert_eq!(ask(&mirror, "SELECT order_number FROM orders").await.len(), ORDERS);
        assert_eq!(ask(&mirror, "PRAGMA integrity_check").await[0]["integrity_check"], "ok");
        *(if word == "old" { &mut old } else { &mut new }) += 1;
        if ended {
            break;
        }
        kills += 1;
    }
    assert!(old > 0 && new > 0, "{kills} kills: {old} times the old mirror, {new} times the new one");
}
