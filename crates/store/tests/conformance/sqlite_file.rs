//! Tests of a database in a file only: the file, its neighbours and its permissions.

use std::{path::Path, sync::Arc};

use espelho_model::order::Order;
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
    world.store.inbox().keep_secret(&minha_loja(), "whsec_s3cret").await.unwrap();
    for suffix in ["", "-wal", "-shm", "-inbox", "-inbox-wal", "-inbox-shm"] {
        let path = format!("{}{suffix}", file.display());
        let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{path} has mode {mode:o}");
    }
}

/// A folder for a group, in a folder of its own.
#[cfg(unix)]
fn shared_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    set_mode(folder.path(), 0o2770);
    folder
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(unix)]
fn mode(path: &Path, suffix: &str) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(format!("{}{suffix}", path.display())).unwrap().permissions().mode() & 0o777
}

// withstands: F127
#[cfg(unix)]
#[tokio::test]
async fn the_group_of_a_folder_that_is_made_for_it_has_the_mirror_and_nothing_else() {
    let folder = shared_folder();
    let path = folder.path().join("espelho.db");
    let url = format!("sqlite:{}", path.display());
    // Made by an earlier version, or copied there.
    let first = open(&url).await.unwrap();
    first.close().await;
    for (suffix, too_open) in [("", 0o644), ("-inbox", 0o666)] {
        set_mode(Path::new(&format!("{}{suffix}", path.display())), too_open);
    }
    let store = open(&url).await.unwrap();
    store.inbox().keep_secret(&minha_loja(), "whsec_s3cret").await.unwrap();
    let lease = store.leases().acquire(&minha_loja(), "the test").await.unwrap();
    for suffix in ["", "-wal", "-shm"] {
        assert_eq!(mode(&path, suffix), 0o660, "{suffix}");
    }
    for suffix in ["-inbox", "-inbox-wal", "-inbox-shm", "-open.lock", ".minha-loja.lock"] {
        assert_eq!(mode(&path, suffix), 0o600, "{suffix}");
    }
    lease.release().await.unwrap();
    store.close().await;
    // A folder that is no longer shared removes the group's access to the mirror.
    set_mode(folder.path(), 0o700);
    open(&url).await.unwrap();
    assert_eq!(mode(&path, ""), 0o600);
}

/// Anybody who may write to the folder could put a file there, have the tokens written to it, and read them.
// withstands: F127
#[cfg(unix)]
#[tokio::test]
async fn a_second_file_of_somebody_else_is_refused() {
    use std::os::unix::fs::{MetadataExt as _, chown};
    let folder = shared_folder();
    let path = folder.path().join("espelho.db");
    let inbox = folder.path().join("espelho.db-inbox");
    std::fs::write(&inbox, "").unwrap();
    if std::fs::metadata(&inbox).unwrap().uid() != 0 {
        // Only root can create another user's file; `permissions` has the rule in a table.
        return;
    }
    chown(&inbox, Some(61_002), None).unwrap();
    let error = open(&format!("sqlite:{}", path.display())).await.err();
    assert!(
        matches!(&error, Some(Error::Foreign { path }) if *path == inbox.display().to_string()),
        "{error:?}"
    );
}

const TOKEN: &str = "sk_live_o_token_que_vale_agora";

/// Turns a mirror into one of the version with tokens in the mirror's own file.
async fn with_tokens_in_the_mirror(url: &str) {
    let tables = crate::tables::Tables::open(url).await;
    for sql in [
        "CREATE TABLE tokens (store TEXT PRIMARY KEY, username TEXT NOT NULL, base_url TEXT NOT NULL, token TEXT NOT NULL, \
         expires_at TEXT NOT NULL, obtained_at TEXT NOT NULL)"
            .to_owned(),
        format!(
            "INSERT INTO tokens VALUES ('minha-loja', 'loja@um', 'https://um.example', '{TOKEN}', \
             '2026-03-02T12:00:00.000000Z', '2026-03-01T12:00:00.000000Z')"
        ),
        "DELETE FROM main._sqlx_migrations WHERE version = 31".to_owned(),
    ] {
        tables.execute(&sql).await;
    }
    tables.close().await;
}

fn contains(path: &Path, suffix: &str, text: &str) -> bool {
    let bytes = std::fs::read(format!("{}{suffix}", path.display())).unwrap_or_default();
    bytes.windows(text.len()).any(|found| found == text.as_bytes())
}

// withstands: F127
#[cfg(unix)]
#[tokio::test]
async fn tokens_of_an_earlier_version_move_to_the_second_file_and_leave_no_byte_behind() {
    let folder = shared_folder();
    let path = folder.path().join("espelho.db");
    let url = format!("sqlite:{}", path.display());
    for killed_in_between in [false, true] {
        let store = open(&url).await.unwrap();
        let kept = store.tokens().token(&minha_loja()).await.unwrap();
        store.close().await;
        if kept.is_some() && !killed_in_between {
            panic!("a new mirror has a token");
        }
        // The second time the second file already has the token, as after a kill between the two steps.
        let inbox = crate::tables::Tables::open(&url).await;
        if !killed_in_between {
            inbox.execute("DELETE FROM inbox.tokens").await;
        }
        inbox.close().await;
        with_tokens_in_the_mirror(&url).await;
        set_mode(&path, 0o600);
        assert!(contains(&path, "", TOKEN) || contains(&path, "-wal", TOKEN));

        let store = open(&url).await.unwrap();
        let kept = store.tokens().token(&minha_loja()).await.unwrap().unwrap();
        assert_eq!((kept.token.as_str(), kept.username.as_str()), (TOKEN, "loja@um"));
        assert_eq!(store.overview().token_ends().await.unwrap().len(), 1);
        for suffix in ["", "-wal"] {
            assert!(!contains(&path, suffix, TOKEN), "a byte of the token is left in the mirror{suffix}");
        }
        assert_eq!(mode(&path, ""), 0o660, "the group may open it now");
        store.close().await;
    }
}

/// Only the mirror knows the requests of the last minute.
#[tokio::test]
async fn a_mirror_that_begins_anew_knows_no_token() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("espelho.db");
    let url = format!("sqlite:{}", path.display());
    open(&url).await.unwrap().close().await;
    with_tokens_in_the_mirror(&url).await;
    let store = open(&url).await.unwrap();
    assert!(store.tokens().token(&minha_loja()).await.unwrap().is_some());
    store.close().await;
    std::fs::remove_file(&path).unwrap();
    let anew = Store::open_anew(&url, Arc::new(HandClock::default())).await.unwrap();
    assert!(anew.tokens().token(&minha_loja()).await.unwrap().is_none());
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
    let answer = again.diagnostics().ask("SELECT order_number, status FROM orders", 2).await.unwrap();
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
    let error = world.store.diagnostics().ask("DELETE FROM orders RETURNING order_number", 1).await.err();
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
    let error = world.store.leases().acquire(&minha_loja(), "the test").await.err();
    assert!(matches!(&error, Some(Error::LockFile { path, .. }) if *path == lock), "{error:?}");
}

/// The receiver acknowledges deliveries while another process mirrors page after page.
#[tokio::test]
async fn the_inbox_is_written_while_the_mirror_is_locked() {
    let world = World::on_sqlite().await;
    let lease = world.lease().await;
    let mirroring = world.store.begin(&lease).await.unwrap();
    world.store.inbox().keep_secret(&minha_loja(), "whsec_a").await.unwrap();
    drop(mirroring);
}

/// The inbox cannot be read again from the marketplace, so each of its commits waits for the disk.
// withstands: F098
#[tokio::test]
async fn the_inbox_survives_the_loss_of_the_mirror() {
    let world = World::on_sqlite().await;
    world.store.inbox().keep_secret(&minha_loja(), "whsec_a").await.unwrap();
    let file = world.store.file().unwrap().to_owned();
    world.store.close().await;
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{suffix}", file.display()));
    }
    let again = Store::open_anew(&world.url, world.clock.clone()).await.unwrap();
    let kept = again.inbox().secrets(&minha_loja(), crate::hand_clock::opening_hour()).await.unwrap();
    assert_eq!(kept.len(), 1);
}

/// A file with some hundred orders, closed, and its bytes.
async fn filled() -> (World, Vec<u8>) {
    let world = World::on_sqlite().await;
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, (0..300).map(|n| order(&n.to_string(), "paid")).collect()).await;
    world.store.inbox().keep_secret(&minha_loja(), "whsec_a").await.unwrap();
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

/// An open snapshot keeps the log from being emptied.
// withstands: F101
#[tokio::test]
async fn whoever_has_read_holds_no_snapshot() {
    let world = World::on_sqlite().await;
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, (0..100).map(|n| order(&n.to_string(), "paid")).collect()).await;
    assert_eq!(
        world.store.diagnostics().ask("SELECT order_number FROM orders LIMIT 3", 1).await.unwrap().len(),
        3
    );
    assert!(!world.store.changes().changes_after(0, 10).await.unwrap().is_empty());
    let log = format!("{}-wal", world.store.file().unwrap().display());
    assert!(std::fs::metadata(&log).unwrap().len() > 0);
    world.tables.execute("PRAGMA wal_checkpoint(TRUNCATE)").await;
    assert_eq!(std::fs::metadata(&log).unwrap().len(), 0, "somebody still reads");
}

/// A reader that stays for long keeps the log from being emptied, so that it grows.
#[tokio::test]
async fn the_log_shrinks_to_its_usual_size_after_a_long_reader() {
    let world = World::on_sqlite().await;
    let lease = world.lease().await;
    let log = format!("{}-wal", world.store.file().unwrap().display());
    let mib = || std::fs::metadata(&log).unwrap().len() >> 20;
    let notes = "n".repeat(1 << 20);
    let long = |number: usize| Order { notes: Some(notes.clone()), ..order(&number.to_string(), "paid") };
    world.write_orders(&lease, Op::Insert, vec![order("first", "paid")]).await;
    world.tables.execute("BEGIN").await;
    world.tables.texts("SELECT order_number FROM orders").await;
    for number in 0..100 {
        world.write_orders(&lease, Op::Insert, vec![long(number)]).await;
    }
    assert!(mib() >= 100, "{} MiB: nobody has kept the log", mib());
    world.tables.execute("COMMIT").await;
    for number in 100..110 {
        world.write_orders(&lease, Op::Insert, vec![long(number)]).await;
    }
    assert!(mib() <= 65, "{} MiB", mib());
}

/// SQLite keeps whatever it is given.
#[tokio::test]
async fn rows_whose_keys_are_no_text_are_shown_and_hold_no_reader_up() {
    use espelho_store::{ApiTable, Position, RowQuery};
    let world = World::on_sqlite().await;
    for n in 0..9 {
        let sku = if n % 3 == 0 { format!("'S-{n}'") } else { format!("x'ff0{n}'") };
        let row =
            format!("INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('a', {sku}, '1', 1)");
        world.tables.execute(&row).await;
    }
    world
        .tables
        .execute("INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('b', 'S', '1', 'x')")
        .await;
    let (mut after, mut seen) = (Position::default(), Vec::new());
    loop {
        let query = RowQuery { limit: 2, after, ..RowQuery::default() };
        let page = world.store.api().rows(ApiTable::named("erp_stock").unwrap(), &query).await.unwrap();
        seen.extend(page.rows.iter().map(|row| serde_json::to_string(row).unwrap()));
        match page.next {
            Some(next) => after = next,
            None => break,
        }
    }
    assert_eq!(seen.len(), 10, "{seen:#?}");
    assert!(
        seen[9].starts_with(r#"{"store":"b","sku":"S","location_id":"1","quantity":null"#),
        "{}",
        seen[9]
    );
}
