//! Products, tiers, stock and its locations.

use std::{collections::BTreeMap, time::Duration};

use espelho_model::{
    Clock as _, LocationId, ProductId, Sku,
    product::Product,
    sync::Resource,
    text::{Language, Locale},
};
use espelho_store::{Failure, Lease, Op, ProductWrite, SharedSkus};

use crate::{
    examples::{bare_product, level, location, product, tier},
    tables::Line,
    world::{World, minha_loja, store_key},
};

const LATER: &str = "2026-11-27T06:31:00.123456Z";

fn full(id: &str, name: &str, tiers: &[i64], locations: &[&str]) -> Product {
    let sku = format!("SKU-{id}");
    Product {
        prices: tiers.iter().map(|&min_quantity| tier(min_quantity, "17.90")).collect(),
        stock: locations.iter().map(|location| level(&sku, location, "8")).collect(),
        ..product(id, name)
    }
}

async fn only(world: &World, table: &str) -> Line {
    let mut lines = world.tables.all(table).await;
    assert_eq!(lines.len(), 1, "{table}");
    lines.remove(0)
}

/// A column of the live rows, and of the gone ones.
async fn there_and_gone(world: &World, table: &str, column: &str) -> [Vec<String>; 2] {
    let all = world.tables.all(table).await;
    [false, true].map(|gone| {
        let lines = all.iter().filter(|line| line.get("gone_at").is_some() == gone);
        let mut values: Vec<String> = lines.map(|line| line.get(column).unwrap().to_owned()).collect();
        values.sort();
        values
    })
}

pub(crate) async fn a_new_product_arrives_with_tiers_and_stock(world: &World) {
    let lease = world.lease().await;
    world.write_products(&lease, Op::Insert, vec![full("P-1", "Camisa", &[10], &["L-1"])]).await;
    for (table, values) in [
        (
            "products",
            &[
                ("id", "P-1"),
                ("sku", "SKU-P-1"),
                ("name", "Camisa"),
                ("base_unit", "un"),
                ("price_type", "tiered"),
                ("is_available_for_sale", "1"),
                ("auto_wholesale_pricing", "0"),
                ("height", "10.5"),
                ("width", "20"),
                ("length", "30.25"),
                ("weight", "0.35"),
                ("price", "19.9"),
                ("quantity", "100"),
                ("reserved_quantity", "1.5"),
                ("available_quantity", "98.5"),
            ][..],
        ),
        (
            "product_prices",
            &[
                ("product_id", "P-1"),
                ("min_quantity", "10"),
                ("value", "17.9"),
                ("discount_percent", "7.5"),
                ("package_weight", "1.25"),
                ("package_height", "10"),
                ("package_width", "20"),
                ("package_length", "30"),
            ],
        ),
        (
            "product_stock",
            &[
                ("sku", "SKU-P-1"),
                ("location_id", "L-1"),
                ("product_id", "P-1"),
                ("quantity", "8"),
                ("reserved_quantity", "0"),
                ("available_quantity", "8"),
            ],
        ),
    ] {
        let written = only(world, table).await;
        assert_eq!(written.nulls(), ["gone_at"], "{table}");
        assert_eq!(written.get("store"), Some("minha-loja"));
        assert_eq!(written.get("mirrored_at"), Some("2026-11-27T06:30:00.123456Z"));
        for (column, value) in values {
            assert_eq!(written.get(column), Some(*value), "{table}.{column}");
        }
    }
}

pub(crate) async fn a_product_of_nothing_but_its_id_is_all_null(world: &World) {
    let lease = world.lease().await;
    world.write_products(&lease, Op::Insert, vec![bare_product("P-1")]).await;
    assert_eq!(only(world, "products").await.nulls().len(), 15);
    assert_eq!(world.tables.count("product_prices").await, 0);
    assert_eq!(world.tables.count("product_stock").await, 0);
}

pub(crate) async fn a_changed_product_is_overwritten_in_every_column(world: &World) {
    let lease = world.lease().await;
    world.write_products(&lease, Op::Insert, vec![product("P-1", "Camisa")]).await;
    world.clock.advance(Duration::from_secs(60));
    world.write_products(&lease, Op::Update, vec![bare_product("P-1")]).await;
    let emptied = only(world, "products").await;
    assert_eq!(emptied.nulls().len(), 15, "{:?}", emptied.nulls());
    assert_eq!(emptied.get("mirrored_at"), Some(LATER));
    world.write_products(&lease, Op::Update, vec![product("P-1", "Camiseta")]).await;
    assert_eq!(only(world, "products").await.get("name"), Some("Camiseta"));
}

pub(crate) async fn tiers_and_stock_that_vanish_are_marked_and_come_back(world: &World) {
    let lease = world.lease().await;
    let other = full("P-2", "Calça", &[1], &["L-1"]);
    let first = full("P-1", "Camisa", &[1, 10, 50], &["L-1", "L-2"]);
    world.write_products(&lease, Op::Insert, vec![first, other]).await;
    world.clock.advance(Duration::from_secs(60));
    world.write_products(&lease, Op::Update, vec![full("P-1", "Camisa", &[10], &["L-2"])]).await;
    assert_eq!(
        there_and_gone(world, "product_prices", "min_quantity").await,
        [vec!["1", "10"], vec!["1", "50"]]
    );
    assert_eq!(
        there_and_gone(world, "product_stock", "location_id").await,
        [vec!["L-1", "L-2"], vec!["L-1"]]
    );
    world.write_products(&lease, Op::Update, vec![full("P-1", "Camisa", &[1, 10], &["L-1"])]).await;
    assert_eq!(
        there_and_gone(world, "product_prices", "min_quantity").await,
        [vec!["1", "1", "10"], vec!["50"]]
    );
    assert_eq!(
        there_and_gone(world, "product_stock", "location_id").await,
        [vec!["L-1", "L-1"], vec!["L-2"]]
    );
}

pub(crate) async fn of_tiers_and_stock_with_one_key_the_last_is_kept(world: &World) {
    let lease = world.lease().await;
    // Enough rows for one multi-row statement, which PostgreSQL refuses if it meets a row twice.
    let twice = Product {
        prices: ["1.00", "1.50", "2.00", "2.50", "3.00"]
            .iter()
            .flat_map(|v| [tier(10, v), tier(20, v)])
            .collect(),
        stock: (0..10).map(|n: u32| level("SKU-P-1", "L-1", &n.to_string())).collect(),
        ..product("P-1", "Camisa")
    };
    // Two products with one SKU at one location share one row as well.
    let rival = Product { stock: vec![level("SKU-P-1", "L-1", "3")], ..product("P-2", "Camisa") };
    world.write_products(&lease, Op::Insert, vec![twice, rival]).await;
    let value = "SELECT CAST(value AS TEXT) FROM product_prices ORDER BY min_quantity";
    assert_eq!(world.tables.numbers(value).await, ["3", "3"]);
    let stock = only(world, "product_stock").await;
    assert_eq!((stock.get("quantity"), stock.get("product_id")), (Some("3"), Some("P-2")));
}

pub(crate) async fn stock_follows_its_sku_to_another_product(world: &World) {
    let lease = world.lease().await;
    world.write_products(&lease, Op::Insert, vec![full("P-1", "Camisa", &[], &["L-1"])]).await;
    let heir = Product { id: ProductId::new("P-2"), ..full("P-1", "Camisa", &[], &["L-1"]) };
    world.write_products(&lease, Op::Insert, vec![heir]).await;
    // A later write of the old owner does not affect the stock of the new one.
    world.write_products(&lease, Op::Update, vec![bare_product("P-1")]).await;
    let stock = only(world, "product_stock").await;
    assert_eq!((stock.get("product_id"), stock.get("gone_at")), (Some("P-2"), None));
}

pub(crate) async fn a_page_of_new_and_known_products_arrives_whole(world: &World) {
    let lease = world.lease().await;
    world.write_products(&lease, Op::Insert, vec![full("P-1", "Camisa", &[1], &["L-1"])]).await;
    let write = |op: Op, id: &str, quantity: &str| {
        // All of them have the same SKU.
        let stock = vec![level("SKU-P-1", "L-1", quantity)];
        let product = Product { stock, ..full(id, "Calça", &[1, 10], &[]) };
        let hash = product.raw.content_hash();
        ProductWrite { product, listing_hash: hash, content_hash: hash, op }
    };
    let mut tx = world.store.begin(&lease).await.unwrap();
    let page =
        vec![write(Op::Update, "P-1", "4"), write(Op::Insert, "P-2", "3"), write(Op::Insert, "P-3", "5")];
    tx.mirror().write_products(page).await.unwrap();
    tx.commit().await.unwrap();
    let products = ["P-1", "P-2", "P-3"].map(String::from).to_vec();
    assert_eq!(there_and_gone(world, "products", "id").await, [products, Vec::new()]);
    let tiers = ["1", "1", "1", "10", "10", "10"].map(String::from).to_vec();
    assert_eq!(there_and_gone(world, "product_prices", "min_quantity").await, [tiers, Vec::new()]);
    assert_eq!(world.tables.all("product_reads").await.len(), 3);
    let stock = only(world, "product_stock").await;
    assert_eq!((stock.get("quantity"), stock.get("product_id")), (Some("5"), Some("P-3")), "the last one's");
    // A product that is there against all knowledge is refused with its page, and updated alone.
    let mut tx = world.store.begin(&lease).await.unwrap();
    let page = vec![write(Op::Insert, "P-4", "6"), write(Op::Insert, "P-2", "7")];
    assert!(tx.mirror().write_products(page).await.unwrap_err().concerns_a_row());
    drop(tx);
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.mirror().write_products(vec![write(Op::Insert, "P-2", "7")]).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(world.tables.all("products").await.len(), 3);
    let stock = only(world, "product_stock").await;
    assert_eq!((stock.get("quantity"), stock.get("product_id")), (Some("7"), Some("P-2")));
}

pub(crate) async fn locations_are_mirrored_and_listed(world: &World) {
    let lease = world.lease().await;
    let write = async |locations| {
        let mut tx = world.store.begin(&lease).await.unwrap();
        tx.mirror().write_locations(locations).await.unwrap();
        tx.commit().await.unwrap();
    };
    write(vec![location("L-1", "Loja"), location("L-2", "Depósito")]).await;
    write(vec![location("L-2", "Galpão"), location("L-3", "Fábrica")]).await;
    write(Vec::new()).await;
    let named = world.store.mirror().location_names(&minha_loja()).await.unwrap();
    let expected = [("L-1", "Loja"), ("L-2", "Galpão"), ("L-3", "Fábrica")];
    assert_eq!(named, expected.map(|(id, name)| (LocationId::new(id), Some(name.to_owned()))).into());
    let names = "SELECT name FROM stock_locations ORDER BY location_id";
    assert_eq!(world.tables.list(names).await, ["Loja", "Galpão", "Fábrica"]);
    let first = world.tables.all("stock_locations").await.remove(0);
    assert_eq!(first.nulls(), ["gone_at"]);
    assert_eq!((first.get("allows_pickup"), first.get("allows_production")), (Some("1"), Some("0")));
    assert!(world.store.mirror().location_names(&store_key("outra")).await.unwrap().is_empty());
}

pub(crate) async fn of_locations_with_one_id_the_last_is_kept(world: &World) {
    let lease = world.lease().await;
    let mut tx = world.store.begin(&lease).await.unwrap();
    let names = ["Loja", "Loja", "Loja", "Loja", "Loja", "Galpão"];
    tx.mirror().write_locations(names.map(|name| location("L-1", name)).to_vec()).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(only(world, "stock_locations").await.get("name"), Some("Galpão"));
}

fn of_sku(id: &str, sku: Option<&str>) -> Product {
    let levels = sku.iter().map(|sku| level(sku, "L-1", "8")).collect();
    Product { sku: sku.map(Sku::new), stock: levels, ..product(id, "Camisa") }
}

async fn mark_gone(world: &World, lease: &Lease, id: &str) {
    let mut tx = world.store.begin(lease).await.unwrap();
    tx.mirror().mark_gone(Resource::Products, vec![id.to_owned()]).await.unwrap();
    tx.commit().await.unwrap();
}

pub(crate) async fn products_that_share_a_sku_are_told_as_long_as_they_do(world: &World) {
    let lease = world.lease().await;
    world.store.mirror().identify(&minha_loja(), "sandbox", "https://m.example").await.unwrap();
    world.store.alarms().keep_service_words(Locale::of(Language::English)).await.unwrap();
    let written = [("P-1", Some("A")), ("P-2", Some("A")), ("P-3", Some("B")), ("P-4", None), ("P-5", None)];
    let of_nothing = ["P-6", "P-7"].map(|id| Product { sku: Some(Sku::new("")), ..bare_product(id) });
    let products = written.map(|(id, sku)| of_sku(id, sku)).into_iter().chain(of_nothing).collect();
    world.write_products(&lease, Op::Insert, products).await;
    let shared = async || world.store.overview().shared_skus().await.unwrap();
    let told = async || world.tables.list("SELECT key || ' ' || code FROM v_errors ORDER BY key, code").await;
    let expected = SharedSkus {
        sku: "A".into(),
        products: ["P-1", "P-2"].map(ProductId::new),
        rows: 2,
        since: Some(world.clock.now()),
    };
    assert_eq!(shared().await, [("minha-loja".to_owned(), expected)].into());
    assert_eq!(told().await, ["P-1 shared_sku", "P-2 shared_sku"]);
    for (words, entity) in [
        (world.store.history().errors_of(&minha_loja(), "product", "P-2").await.unwrap(), "the service's"),
        (
            world
                .store
                .clone()
                .read_in(Locale::default())
                .history()
                .errors_of(&minha_loja(), "product", "P-2")
                .await
                .unwrap(),
            "the reader's",
        ),
    ] {
        let [row] = words.as_slice() else { panic!("{entity}: {words:?}") };
        assert!(["P-1", "P-2", "A"].iter().all(|part| row.error.contains(part)), "{entity}: {}", row.error);
        assert!(!row.error.contains('{') && !row.hint.is_empty(), "{entity}: {row:?}");
        assert_eq!(row.message_id.as_deref(), Some("run-shared-sku"), "{entity}");
    }
    let mut tx = world.store.begin(&lease).await.unwrap();
    let failure = Failure {
        key: "P-1".into(),
        code: "unexpected".into(),
        error: "e".into(),
        hint: "h".into(),
        message: None,
    };
    tx.failures().note_failures(Resource::Products, &[failure]).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(
        told().await,
        ["P-1 shared_sku", "P-1 unexpected", "P-2 shared_sku"],
        "neither hides the other"
    );
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.failures().clear_failures(Resource::Products, vec!["P-1".into()]).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(told().await, ["P-1 shared_sku", "P-2 shared_sku"], "a reading does not end it");
    // A version that ran beside this one has noted it too.
    let mut tx = world.store.begin(&lease).await.unwrap();
    let noted = Failure {
        key: "P-1".into(),
        code: "shared_sku".into(),
        error: "e".into(),
        hint: "h".into(),
        message: None,
    };
    tx.failures().note_failures(Resource::Products, &[noted]).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(told().await, ["P-1 shared_sku", "P-2 shared_sku"], "once each");
    assert!(world.store.overview().rows_in_trouble().await.unwrap().is_empty());
    mark_gone(world, &lease, "P-2").await;
    assert_eq!((shared().await, told().await), (BTreeMap::new(), Vec::new()));
}

pub(crate) async fn a_sku_is_noted_as_soon_as_products_share_it(world: &World) {
    let lease = world.lease().await;
    let noted = async || world.tables.list("SELECT sku FROM shared_skus ORDER BY sku").await;
    world.write_products(&lease, Op::Insert, vec![of_sku("P-1", Some("A")), of_sku("P-2", Some("B"))]).await;
    assert!(noted().await.is_empty());
    world.write_products(&lease, Op::Insert, vec![of_sku("P-3", Some("A"))]).await;
    assert_eq!(noted().await, ["A"], "a new product");
    world.write_products(&lease, Op::Update, vec![of_sku("P-3", Some("B"))]).await;
    assert_eq!(noted().await, ["A", "B"], "a product of another SKU");
    world.write_products(&lease, Op::Insert, vec![of_sku("P-4", Some("C"))]).await;
    let page = vec![of_sku("P-5", Some("C")), of_sku("P-6", Some("D"))];
    world.write_products(&lease, Op::Insert, page).await;
    assert_eq!(noted().await, ["A", "B", "C"], "a new product of a page of new ones");
    let review = async || {
        let mut tx = world.store.begin(&lease).await.unwrap();
        tx.mirror().review_shared_skus().await.unwrap();
        tx.commit().await.unwrap();
    };
    mark_gone(world, &lease, "P-5").await;
    review().await;
    assert_eq!(noted().await, ["B"], "the others are of no use any more");
    world.write_products(&lease, Op::Update, vec![of_sku("P-5", Some("C"))]).await;
    assert_eq!(noted().await, ["B", "C"], "a product that comes back");
    mark_gone(world, &lease, "P-5").await;
    mark_gone(world, &lease, "P-2").await;
    let told = async || world.tables.list("SELECT key FROM v_errors").await;
    assert!(told().await.is_empty(), "a note is no error");
    world.tables.execute("UPDATE products SET sku = 'B' WHERE id = 'P-1'").await;
    world.tables.execute("DELETE FROM shared_skus WHERE sku = 'B'").await;
    assert!(told().await.is_empty(), "the edited row was not written by us");
    review().await;
    assert_eq!(noted().await, ["B"], "it is found, and the note of C is of no use any more");
    assert_eq!(told().await.len(), 2);
}

pub(crate) async fn a_product_is_read_again_at_once_when_another_one_leaves_its_sku(world: &World) {
    let lease = world.lease().await;
    for (n, leaves) in ["for another SKU", "for no SKU", "and is gone"].into_iter().enumerate() {
        let (stays, other, sku) = (format!("P-{n}-1"), format!("P-{n}-2"), format!("A-{n}"));
        let both = [&stays, &other].map(|id| of_sku(id, Some(&sku)));
        world.write_products(&lease, Op::Insert, both.to_vec()).await;
        let levels = format!("SELECT product_id FROM product_stock WHERE sku = '{sku}' AND gone_at IS NULL");
        assert_eq!(world.tables.list(&levels).await, [&*other], "they share the row");
        world.clock.advance(Duration::from_secs(60));
        let mut tx = world.store.begin(&lease).await.unwrap();
        let read = [&stays, &other].map(|id| ProductId::new(id.as_str())).to_vec();
        tx.staleness().note_products_read(read).await.unwrap();
        tx.commit().await.unwrap();
        let known = async || {
            let keys = vec![stays.clone()];
            let known = world.store.mirror().known(&minha_loja(), Resource::Products, keys).await.unwrap();
            [known[&stays].listing_hash, known[&stays].content_hash].map(espelho_model::ContentHash::as_i64)
        };
        let first = async || {
            let aged = world.store.staleness().products_by_age(&minha_loja(), 1).await.unwrap();
            aged[0].0.as_str().to_owned()
        };
        world.write_products(&lease, Op::Update, vec![of_sku(&other, Some(&sku))]).await;
        assert!(known().await.iter().all(|hash| *hash != 0), "{leaves}: both have it still");
        match n {
            0 => world.write_products(&lease, Op::Update, vec![of_sku(&other, Some("B"))]).await,
            1 => world.write_products(&lease, Op::Update, vec![of_sku(&other, None)]).await,
            _ => mark_gone(world, &lease, &other).await,
        }
        assert!(world.tables.list(&levels).await.is_empty(), "{leaves}");
        assert_eq!((known().await, first().await), ([0, 0], stays.clone()), "{leaves}");
        world.write_products(&lease, Op::Update, vec![of_sku(&stays, Some(&sku))]).await;
        let mut tx = world.store.begin(&lease).await.unwrap();
        tx.staleness().note_products_read(vec![ProductId::new(stays.as_str())]).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(world.tables.list(&levels).await, [&*stays], "{leaves}");
    }
}
