//! The store's profile.

use espelho_model::store_profile::{StorePage, StoreSession};

use crate::{
    specimens::{page, session},
    tables::Line,
    world::World,
};

async fn write(world: &World, session: StoreSession, page: Option<StorePage>) -> Vec<Line> {
    let lease = world.lease().await;
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.mirror().write_profile(session, page).await.unwrap();
    tx.commit().await.unwrap();
    lease.release().await.unwrap();
    world.tables.all("store_profiles").await
}

pub(crate) async fn a_store_is_told_by_its_session_and_its_page(world: &World) {
    let rows = write(world, session(Some("55"), "Minha Loja"), Some(page("Camisas de algodão"))).await;
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].nulls(), ["gone_at"]);
    for (column, expected) in [
        ("id", "55"),
        ("name", "Minha Loja"),
        ("features", "pickup,sales_force"),
        ("tax_id", "12345678000195"),
        ("short_description", "Camisas de algodão"),
        ("foundation_date", "1999-12-31"),
        ("limits", r#"{"products":1000}"#),
    ] {
        assert_eq!(rows[0].get(column), Some(expected), "{column}");
    }
    let told = "SELECT entity || ' ' || key || ' ' || op FROM changes";
    assert_eq!(world.tables.list(told).await, ["store_profile 55 insert"]);
    write(world, session(Some("55"), "Minha Loja"), Some(page("Camisas de algodão"))).await;
    assert_eq!(world.tables.list(told).await.len(), 1);
}

/// Tokens of integrations may not read the page today.
pub(crate) async fn a_page_that_may_not_be_read_leaves_its_columns_empty(world: &World) {
    let rows = write(world, session(Some("55"), "Minha Loja"), None).await;
    let empty = [
        "background_url",
        "description",
        "foundation_date",
        "full_description",
        "gone_at",
        "logo_url",
        "page",
        "short_description",
    ];
    assert_eq!(rows[0].nulls(), empty);
}

pub(crate) async fn a_session_that_does_not_say_much_is_filled_from_the_page(world: &World) {
    let mut bare = session(None, "");
    (bare.name, bare.company, bare.features) = (None, None, None);
    let mut told = page("a");
    told.company = session(None, "").company;
    let rows = write(world, bare.clone(), Some(told)).await;
    let shown = ["id", "name", "legal_name"].map(|column| rows[0].get(column));
    assert_eq!(shown, [Some("55"), Some("Loja da página"), Some("Minha Loja Ltda.")]);
    assert_eq!(rows[0].get("features"), None);
    // Without any name the configured one counts, and the previous row is gone.
    let rows = write(world, bare, None).await;
    let mut live: Vec<_> = rows.iter().map(|row| (row.get("id"), row.get("gone_at").is_some())).collect();
    live.sort();
    assert_eq!(live, [(Some("55"), true), (Some("minha-loja"), false)]);
}
