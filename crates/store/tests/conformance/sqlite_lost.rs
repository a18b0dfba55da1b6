//! Files of a mirror that are deleted, replaced or closed to writing while they are open.

use std::{fs, path::Path, sync::Arc};

use espelho_model::{Clock as _, text::Locale};
use espelho_store::{Error, FileTrouble, NewDelivery, Op, Store, restore};

use crate::{
    examples::order,
    hand_clock::HandClock,
    world::{World, minha_loja},
};

async fn deliver(world: &World, digest: &str) {
    let delivery = NewDelivery {
        store: minha_loja(),
        received_at: world.clock.now(),
        event: None,
        digest: digest.to_owned(),
        body: b"{}".to_vec(),
    };
    world.store.inbox().keep_deliveries(vec![delivery]).await.unwrap();
}

fn inbox_of(file: &Path) -> std::path::PathBuf {
    format!("{}-inbox", file.display()).into()
}

#[tokio::test]
async fn a_file_that_was_deleted_or_replaced_is_noticed_and_one_that_came_back_is_forgotten() {
    let world = World::on_sqlite().await;
    let file = world.store.file().unwrap().to_path_buf();
    for path in [file.clone(), inbox_of(&file)] {
        assert_eq!(world.store.file_trouble(), None);
        let aside = file.with_extension("aside");
        fs::rename(&path, &aside).unwrap();
        let gone = world.store.file_trouble();
        assert_eq!(gone, Some(FileTrouble::Gone(path.clone())));
        assert!(gone.unwrap().loses_writes());
        fs::copy(&aside, &path).unwrap();
        assert_eq!(world.store.file_trouble(), Some(FileTrouble::Replaced(path.clone())), "the same content");
        fs::rename(&aside, &path).unwrap();
    }
    assert_eq!(world.store.file_trouble(), None);
}

#[tokio::test]
async fn what_a_deleted_mirror_has_is_saved_with_what_was_acknowledged_after_the_deletion() {
    let world = World::on_sqlite().await;
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order("1", "paid")]).await;
    let file = world.store.file().unwrap().to_path_buf();
    fs::remove_file(&file).unwrap();
    fs::remove_file(inbox_of(&file)).unwrap();
    world.write_orders(&lease, Op::Insert, vec![order("2", "paid")]).await;
    deliver(&world, "late").await;
    let saved = world.store.save_lost_files().await.unwrap().unwrap();
    lease.release().await.unwrap();
    world.tables.close().await;
    let store = world.store;
    store.close().await;
    drop(store);
    let url = format!("sqlite:{}", file.display());
    let clock = Arc::new(HandClock::default());
    match Store::open(&url, clock.clone()).await.err() {
        Some(error @ Error::Vanished { .. }) => {
            assert!(
                error.hint().contains(&format!("espelho restore --replace {}", saved.display())),
                "{}",
                error.hint()
            );
        }
        other => panic!("{other:?}"),
    }
    assert!(!file.exists(), "nothing is made in its place");
    restore(&url, &saved, false, (clock.clone(), Locale::default()), &|_, _, _| ()).await.unwrap();
    let again = Store::open(&url, clock).await.unwrap();
    let orders = again.diagnostics().ask("SELECT order_number FROM orders ORDER BY order_number", 1).await;
    assert_eq!(orders.unwrap(), [["1"], ["2"]]);
    assert_eq!(again.inbox().backlog(&minha_loja()).await.unwrap(), 1);
}

#[tokio::test]
async fn a_mirror_whose_file_vanished_is_made_anew_only_by_the_word_of_the_operator() {
    let world = World::on_sqlite().await;
    let file = world.store.file().unwrap().to_path_buf();
    deliver(&world, "kept").await;
    world.store.close().await;
    fs::remove_file(&file).unwrap();
    let error = world.open_again().await.err();
    assert!(matches!(&error, Some(Error::Vanished { saved: None, .. })), "{error:?}");
    assert!(error.unwrap().hint().contains("espelho migrate --new"));
    assert!(!file.exists());
    let url = format!("sqlite:{}", file.display());
    let anew = Store::open_anew(&url, Arc::new(HandClock::default())).await.unwrap();
    assert_eq!(anew.inbox().backlog(&minha_loja()).await.unwrap(), 1, "the inbox is as it was");
}

#[tokio::test]
async fn a_proof_of_writing_reaches_both_files_each_time() {
    let world = World::on_sqlite().await;
    let file = world.store.file().unwrap().to_path_buf();
    let logs = || [&file, &inbox_of(&file)].map(|path| fs::read(format!("{}-wal", path.display())).unwrap());
    let mut before = logs();
    for _ in 0..3 {
        world.store.diagnostics().prove_write().await.unwrap();
        let after = logs();
        assert!(before[0] != after[0] && before[1] != after[1], "something is written");
        before = after;
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_others_may_read_is_closed_to_them_when_it_is_opened() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::on_sqlite().await;
    let file = world.store.file().unwrap().to_path_buf();
    let suffixes = ["", "-wal", "-shm", "-inbox", "-inbox-wal", "-inbox-shm"];
    let path = |suffix: &str| format!("{}{suffix}", file.display());
    let url = format!("sqlite:{}", file.display());
    for attaches in [false, true] {
        for suffix in suffixes {
            fs::set_permissions(path(suffix), fs::Permissions::from_mode(0o644)).unwrap();
        }
        let clock = Arc::new(HandClock::default());
        let _opened = match attaches {
            true => Store::attach(&url, clock).await.unwrap(),
            false => Store::open(&url, clock).await.unwrap(),
        };
        for suffix in suffixes {
            let mode = fs::metadata(path(suffix)).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o600, "{suffix} has mode {mode:o}, attached: {attaches}");
        }
    }
}
