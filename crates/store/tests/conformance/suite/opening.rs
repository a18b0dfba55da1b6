//! Opening, migrating, closing, asking.

use espelho_store::{Error, Op, Store, prepare_all};

use crate::{
    examples::{bare_order, order},
    world::World,
};

pub(crate) async fn every_statement_can_be_prepared(world: &World) {
    let prepared = prepare_all(&world.store).await.unwrap();
    assert!(prepared > 40, "only {prepared} statements are on the list");
}

pub(crate) async fn opening_twice_is_harmless(world: &World) {
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order("1", "paid")]).await;
    let (orders, migrations) = (world.tables.all("orders").await, migrations(world).await);
    let again = world.open_again().await.unwrap();
    again.diagnostics().prove_write().await.unwrap();
    assert_eq!(world.tables.all("orders").await, orders);
    assert_eq!(self::migrations(world).await, migrations);
}

async fn migrations(world: &World) -> Vec<String> {
    world.tables.list("SELECT CAST(version AS TEXT) FROM _sqlx_migrations ORDER BY version").await
}

// withstands: F108
pub(crate) async fn a_database_that_a_newer_espelho_migrated_is_refused(world: &World) {
    let from_the_future = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
        SELECT 9999, 'later', success, checksum, 1 FROM _sqlx_migrations WHERE version = 1";
    assert_eq!(world.tables.execute(from_the_future).await, 1);
    match world.open_again().await.err() {
        Some(error @ Error::Newer { found: 9999 }) => {
            assert!(error.hint().contains("later"), "{}", error.hint());
        }
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn a_migration_that_was_changed_afterwards_is_refused(world: &World) {
    let other = "UPDATE _sqlx_migrations SET checksum = (SELECT m.checksum FROM _sqlx_migrations m \
        WHERE m.version = 2) WHERE version = 1";
    assert_eq!(world.tables.execute(other).await, 1);
    let error = world.open_again().await.err();
    assert!(matches!(error, Some(Error::Migrate(_))), "{error:?}");
}

pub(crate) async fn a_closed_store_is_not_writable(world: &World) {
    world.store.diagnostics().prove_write().await.unwrap();
    let closed: Store = world.open_again().await.unwrap();
    closed.close().await;
    let error = closed.diagnostics().prove_write().await.err();
    assert!(matches!(error, Some(Error::Statement { .. })), "{error:?}");
    world.store.diagnostics().prove_write().await.unwrap();
}

pub(crate) async fn a_question_is_answered_as_text(world: &World) {
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order("1", "paid"), bare_order("2")]).await;
    let sql = "SELECT order_number, status FROM orders ORDER BY order_number";
    assert_eq!(world.store.diagnostics().ask(sql, 2).await.unwrap(), [["1", "paid"], ["2", ""]]);
    assert_eq!(world.store.diagnostics().ask(sql, 1).await.unwrap(), [["1"], ["2"]]);
    assert!(
        world
            .store
            .diagnostics()
            .ask("SELECT status FROM orders WHERE store = ''", 1)
            .await
            .unwrap()
            .is_empty()
    );
}

pub(crate) async fn a_question_about_what_is_not_text_is_refused(world: &World) {
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order("1", "paid")]).await;
    for (sql, columns) in [("SELECT lines_count FROM orders", 1), ("SELECT order_number FROM orders", 2)] {
        let error = world.store.diagnostics().ask(sql, columns).await.err();
        assert!(matches!(error, Some(Error::Corrupt { .. })), "{sql}: {error:?}");
    }
    let error = world.store.diagnostics().ask("SELECT nothing FROM nowhere", 1).await.err();
    assert!(matches!(error, Some(Error::Statement { operation: "answer a question", .. })), "{error:?}");
}
