//! What only a database in a file has: the file, its neighbours and its permissions.

use std::{path::Path, sync::Arc};

use espelho_store::{Error, Op, Store};

use crate::{
    examples::order,
    hand_clock::HandClock,
    world::{World, minha_loja},
};

async fn open(url: &str) -> Result<Store, Error> {
    Store::open(url, Arc::new(HandClock::default())).await
}

async fn assert_cannot_be_opened(path: &Path) {
    let error = open(&format!("sqlite:{}", path.display())).await.err();
    match error {
        Some(error @ Error::Connect { .. }) => {
            assert!(error.to_string().contains(&path.display().to_string()), "{error}");
            assert!(error.hint().contains("path"), "{}", error.hint());
        }
        other => panic!("{}: {other:?}", path.display()),
    }
}

// withstands: F127
#[cfg(unix)]
#[tokio::test]
async fn nobody_else_may_read_the_file_or_its_neighbours() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::on_sqlite().await;
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order("1", "paid")]).await;
    let file = world.store.file().unwrap();
    world.store.keep_secret(&minha_loja(), "whsec_s3cret").await.unwrap();
    for suffix in ["", "-wal", "-shm", "-inbox", "-inbox-wal", "-inbox-shm"] {
        let path = format!("{}{suffix}", file.display());
        let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{path} has mode {mode:o}");
    }
}

#[tokio::test]
async fn the_file_is_where_the_address_says_also_with_blanks_and_accents() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("loja do João.db");
    let store = open(&format!("sqlite:{}", path.display())).await.unwrap();
    assert_eq!(store.file(), Some(path.as_path()));
    assert!(path.is_file());
}

#[tokio::test]
async fn a_closed_file_holds_everything_that_was_written() {
    let world = World::on_sqlite().await;
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order("1", "paid")]).await;
    world.store.close().await;
    let again = world.open_again().await.unwrap();
    let answer = again.ask("SELECT order_number, status FROM orders", 2).await.unwrap();
    assert_eq!(answer, [["1", "paid"]]);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_left_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    for text in ["nota fiscal".to_owned(), "nota fiscal\n".repeat(10_000)] {
        let path = directory.path().join("not-a-database.db");
        std::fs::write(&path, &text).unwrap();
        assert_cannot_be_opened(&path).await;
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}

#[tokio::test]
async fn a_place_where_no_file_can_be_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    assert_cannot_be_opened(directory.path()).await;
    assert_cannot_be_opened(&directory.path().join("nowhere").join("espelho.db")).await;
}

#[tokio::test]
async fn an_address_that_names_no_database_is_refused() {
    for url in ["", "espelho.db", "mysql://localhost/espelho", "sqlite:", "sqlite::memory:"] {
        match open(url).await.err() {
            Some(error @ Error::Address { .. }) => assert!(error.hint().contains("sqlite:espelho.db")),
            other => panic!("{url:?}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_question_cannot_write() {
    let world = World::on_sqlite().await;
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order("1", "paid")]).await;
    let error = world.store.ask("DELETE FROM orders RETURNING order_number", 1).await.err();
    assert!(matches!(error, Some(Error::Statement { .. })), "{error:?}");
    assert_eq!(world.tables.count("orders").await, 1);
}

/// Removing it would let two holders lock two files of one name.
#[tokio::test]
async fn the_lock_file_stays_when_the_lease_goes() {
    let world = World::on_sqlite().await;
    let file = world.store.file().unwrap().display().to_string();
    let lock = format!("{file}.minha-loja.lock");
    world.lease().await.release().await.unwrap();
    assert!(Path::new(&lock).is_file(), "{lock}");
    std::fs::remove_file(&lock).unwrap();
    std::fs::create_dir(&lock).unwrap();
    let error = world.store.acquire(&minha_loja(), "the test").await.err();
    assert!(matches!(&error, Some(Error::LockFile { path, .. }) if *path == lock), "{error:?}");
}

/// Deliveries are acknowledged while another process mirrors page after page.
#[tokio::test]
async fn the_inbox_is_written_while_the_mirror_is_locked() {
    let world = World::on_sqlite().await;
    let lease = world.lease().await;
    let mirroring = world.store.begin(&lease).await.unwrap();
    world.store.keep_secret(&minha_loja(), "whsec_a").await.unwrap();
    drop(mirroring);
}

/// The rows of the inbox cannot be read again from the marketplace, so each of its commits waits for the disk.
// withstands: F098
#[tokio::test]
async fn the_inbox_survives_the_loss_of_the_mirror() {
    let world = World::on_sqlite().await;
    world.store.keep_secret(&minha_loja(), "whsec_a").await.unwrap();
    let file = world.store.file().unwrap().to_owned();
    world.store.close().await;
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{suffix}", file.display()));
    }
    let again = world.open_again().await.unwrap();
    let kept = again.secrets(&minha_loja(), crate::hand_clock::opening_hour()).await.unwrap();
    assert_eq!(kept.len(), 1);
}

/// A file with some hundred orders, closed, and its bytes.
async fn filled() -> (World, Vec<u8>) {
    let world = World::on_sqlite().await;
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, (0..300).map(|n| order(&n.to_string(), "paid")).collect()).await;
    world.store.keep_secret(&minha_loja(), "whsec_a").await.unwrap();
    lease.release().await.unwrap();
    world.store.close().await;
    world.tables.close().await;
    let bytes = std::fs::read(world.store.file().unwrap()).unwrap();
    (world, bytes)
}

const PAGE: usize = 8192;

// withstands: F098
#[tokio::test]
async fn a_damaged_file_is_named_before_anything_is_done_with_it() {
    let (world, bytes) = filled().await;
    let file = world.store.file().unwrap();
    let pages = bytes.len() / PAGE;
    assert!(pages > 40, "{pages} pages");
    for page in (1..pages).step_by(pages / 20) {
        let mut damaged = bytes.clone();
        damaged[page * PAGE..][..16].fill(0xAB);
        std::fs::write(file, &damaged).unwrap();
        match world.open_again().await.err() {
            Some(error @ Error::Damaged { .. }) => {
                assert!(error.to_string().contains(&file.display().to_string()), "{error}");
                assert!(error.hint().contains("backup"), "{}", error.hint());
            }
            other => panic!("page {page}: {other:?}"),
        }
        assert_eq!(std::fs::read(file).unwrap(), damaged, "page {page}: nothing is written to it");
    }
    std::fs::write(file, &bytes).unwrap();
    world.open_again().await.unwrap();
}

// withstands: F098
#[tokio::test]
async fn a_flipped_byte_anywhere_is_an_error_or_nothing_and_never_a_panic() {
    let (world, bytes) = filled().await;
    let file = world.store.file().unwrap();
    for step in 0..60 {
        let mut damaged = bytes.clone();
        damaged[(step * 104_729) % bytes.len()] ^= 1 << (step % 8);
        std::fs::write(file, &damaged).unwrap();
        match world.open_again().await {
            Ok(store) => store.close().await,
            Err(error) => assert!(!error.hint().is_empty(), "{error}"),
        }
    }
}

/// A snapshot that somebody holds keeps the log from being emptied.
// withstands: F101
#[tokio::test]
async fn whoever_has_read_holds_no_snapshot() {
    let world = World::on_sqlite().await;
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, (0..100).map(|n| order(&n.to_string(), "paid")).collect()).await;
    assert_eq!(world.store.ask("SELECT order_number FROM orders LIMIT 3", 1).await.unwrap().len(), 3);
    assert!(!world.store.changes_after(0, 10).await.unwrap().is_empty());
    let log = format!("{}-wal", world.store.file().unwrap().display());
    assert!(std::fs::metadata(&log).unwrap().len() > 0);
    world.tables.execute("PRAGMA wal_checkpoint(TRUNCATE)").await;
    assert_eq!(std::fs::metadata(&log).unwrap().len(), 0, "somebody still reads");
}
