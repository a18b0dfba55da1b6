//! The schema: whatever somebody dropped or disabled is found, and the next opening makes it again.

use espelho_store::{Difference, ObjectKind};

use crate::world::World;

pub(crate) async fn a_fresh_database_has_the_schema_of_its_migrations(world: &World) {
    assert_eq!(world.store.schema_defects().await.unwrap(), Vec::new());
    let plain = world.definitions_of_migrations().await;
    for definition in world.tables.definitions().await {
        assert!(plain.contains(&definition), "{definition:?} was made again and is another one");
    }
}

pub(crate) async fn whatever_was_dropped_is_found_and_made_again_by_the_next_opening(world: &World) {
    let before = world.tables.definitions().await;
    let dropped = world.tables.drop_all_but_tables().await;
    assert!(dropped > 60, "{dropped}");
    let defects = world.store.schema_defects().await.unwrap();
    assert_eq!(defects.len(), dropped);
    assert!(defects.iter().all(|defect| defect.difference == Difference::Missing), "{defects:?}");
    world.open_again().await.unwrap();
    assert_eq!(world.store.schema_defects().await.unwrap(), Vec::new());
    let after = world.tables.definitions().await;
    for definition in &before {
        assert!(after.contains(definition), "{definition:?} was not made again as it was");
    }
}

pub(crate) async fn an_object_with_another_definition_is_found_and_made_again(world: &World) {
    let before = world.tables.definitions().await;
    world.tables.disturb_a_definition().await;
    let defects = world.store.schema_defects().await.unwrap();
    let mut seen = defects.iter().map(|d| (d.name.as_str(), d.difference)).collect::<Vec<_>>();
    seen.sort_unstable();
    match world.store.file() {
        Some(_) => assert_eq!(seen, [("erp_stock_changed", Difference::Changed)]),
        None => assert_eq!(
            seen,
            [("erp_stock_changed", Difference::Disabled), ("espelho_wanted_anew", Difference::Changed),]
        ),
    }
    world.open_again().await.unwrap();
    assert_eq!(world.store.schema_defects().await.unwrap(), Vec::new());
    assert_eq!(world.tables.definitions().await, before);
}

pub(crate) async fn a_missing_table_is_found_and_nothing_makes_an_empty_one(world: &World) {
    world.tables.execute("ALTER TABLE erp_prices RENAME TO erp_prices_old").await;
    for _ in 0..2 {
        let defects = world.store.schema_defects().await.unwrap();
        let table = defects.iter().find(|defect| defect.kind == ObjectKind::Table).unwrap();
        assert_eq!((table.name.as_str(), table.difference), ("erp_prices", Difference::Missing));
        // The service opens it all the same, and serves what it can.
        world.open_again().await.unwrap();
    }
}
