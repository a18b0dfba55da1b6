//! Properties of every mirrored table by description.

use std::time::Duration;

use espelho_model::{RawJson, fiscal::FiscalDocument};
use serde_json::json;

use crate::{
    kinds::{KINDS, newest},
    specimens::{event, invoice, order_number, raw},
    tables::Line,
    world::{World, store_key},
};

pub(crate) async fn a_new_row_has_something_in_every_column(world: &World) {
    let lease = world.lease().await;
    for kind in KINDS {
        let counts = kind.keep(world, &lease, &["1"], "dito").await;
        assert_eq!(counts.changed, counts.seen, "{kind:?}");
        let rows = kind.rows(world).await;
        assert_eq!(rows.len(), 1, "{kind:?}");
        // Other writes fill these.
        let apart = ["file", "tracking_url", "estimated_delivery_at", "tracking"];
        let empty: Vec<&str> = rows[0].nulls().into_iter().filter(|column| !apart.contains(column)).collect();
        assert_eq!(empty, ["gone_at"], "{kind:?}");
        assert_eq!(rows[0].get(kind.said), Some("dito"), "{kind:?}");
        assert_eq!(rows[0].get("store"), Some("minha-loja"));
        assert_eq!(rows[0].get("mirrored_at"), Some("2026-11-27T06:30:00.123456Z"), "{kind:?}");
        let received = json!({"id": "1", "said": "dito"}).to_string();
        assert_eq!(rows[0].get("raw"), Some(received.as_str()), "{kind:?}");
        assert_eq!(kind.told(world, 0).await, [format!("{}1 insert", kind.parent)]);
    }
}

pub(crate) async fn a_row_that_is_the_same_again_is_neither_written_nor_told(world: &World) {
    let lease = world.lease().await;
    for kind in KINDS {
        kind.keep(world, &lease, &["1", "2"], "dito").await;
        let (before, told) = (kind.rows(world).await, newest(world).await);
        world.clock.advance(Duration::from_secs(60));
        let counts = kind.keep(world, &lease, &["2", "1"], "dito").await;
        assert_eq!((counts.changed, counts.gone), (0, 0), "{kind:?}");
        assert_eq!(kind.rows(world).await, before, "{kind:?}");
        assert_eq!(newest(world).await, told, "{kind:?}");
    }
}

pub(crate) async fn a_row_that_changed_is_written_and_told(world: &World) {
    let lease = world.lease().await;
    for kind in KINDS {
        kind.keep(world, &lease, &["1", "2"], "antes").await;
        let (before, told) = (kind.rows(world).await, newest(world).await);
        world.clock.advance(Duration::from_secs(60));
        assert_eq!(kind.keep(world, &lease, &["1", "2"], "depois").await.changed, 2, "{kind:?}");
        let after = kind.rows(world).await;
        for (after, before) in after.iter().zip(&before) {
            assert_eq!(after.get(kind.said), Some("depois"), "{kind:?}");
            assert_ne!(after.get("content_hash"), before.get("content_hash"), "{kind:?}");
            assert!(after.get("mirrored_at") > before.get("mirrored_at"), "{kind:?}");
            let constant = |line: &Line| {
                let changing = ["mirrored_at", "content_hash", "raw", kind.said];
                changing.iter().fold(line.clone(), |line, column| line.without(column))
            };
            assert_eq!(constant(after), constant(before), "{kind:?}");
        }
        let updates = ["1", "2"].map(|id| format!("{}{id} update", kind.parent));
        assert_eq!(kind.told(world, told).await, updates);
    }
}

pub(crate) async fn rows_that_are_missing_are_gone_and_come_back(world: &World) {
    let lease = world.lease().await;
    for kind in KINDS.into_iter().filter(|kind| kind.whole) {
        kind.keep(world, &lease, &["1", "2", "3"], "dito").await;
        let told = newest(world).await;
        assert_eq!(kind.keep(world, &lease, &["2"], "dito").await.gone, 2, "{kind:?}");
        assert_eq!(kind.live(world).await, [["2", "dito"]], "{kind:?}");
        assert_eq!(kind.rows(world).await.len(), 3, "{kind:?}");
        let gone = ["1", "3"].map(|id| format!("{}{id} gone", kind.parent));
        assert_eq!(kind.told(world, told).await, gone);
        let told = newest(world).await;
        // Already gone: neither marked again nor repeated in the feed.
        let marks: Vec<Line> = kind.rows(world).await;
        world.clock.advance(Duration::from_secs(60));
        assert_eq!(kind.keep(world, &lease, &["2"], "dito").await.gone, 0);
        assert_eq!(kind.rows(world).await, marks);
        assert_eq!(kind.keep(world, &lease, &["2", "3"], "dito").await.changed, 1);
        assert_eq!(kind.live(world).await, [["2", "dito"], ["3", "dito"]], "{kind:?}");
        assert_eq!(kind.told(world, told).await, [format!("{}3 update", kind.parent)]);
        kind.keep(world, &lease, &[], "dito").await;
        assert!(kind.live(world).await.is_empty(), "{kind:?}");
    }
}

pub(crate) async fn rows_that_are_not_all_there_are_leave_the_others_alone(world: &World) {
    let lease = world.lease().await;
    for kind in KINDS.into_iter().filter(|kind| !kind.whole) {
        kind.keep(world, &lease, &["1", "2"], "dito").await;
        assert_eq!(kind.keep(world, &lease, &["2", "3"], "dito").await.gone, 0, "{kind:?}");
        assert_eq!(kind.live(world).await, [["1", "dito"], ["2", "dito"], ["3", "dito"]]);
    }
}

/// Marks affect the rows of one parent; its neighbours have rows of the same names.
pub(crate) async fn the_rows_of_another_order_are_left_alone(world: &World) {
    let lease = world.lease().await;
    let other = espelho_model::OrderNumber::new("N-2");
    let mut tx = world.store.begin(&lease).await.unwrap();
    for order in [&order_number(), &other] {
        tx.mirror().write_invoices(order, vec![invoice("1", "a"), invoice("2", "a")]).await.unwrap();
        tx.mirror().write_order_events(order, vec![event("1", "a")]).await.unwrap();
    }
    tx.mirror().write_invoices(&order_number(), vec![]).await.unwrap();
    tx.mirror().write_order_events(&order_number(), vec![event("1", "b")]).await.unwrap();
    tx.commit().await.unwrap();
    let live = "SELECT order_number || ' ' || id FROM order_invoices WHERE gone_at IS NULL ORDER BY id";
    assert_eq!(world.tables.list(live).await, ["N-2 1", "N-2 2"]);
    let events = "SELECT order_number || ' ' || description FROM order_events ORDER BY order_number";
    assert_eq!(world.tables.list(events).await, ["N-1 b", "N-2 a"]);
}

pub(crate) async fn stores_are_mirrored_apart(world: &World) {
    let (mine, theirs) = (world.lease().await, world.lease_of(&store_key("outra")).await);
    for kind in KINDS {
        kind.keep(world, &mine, &["1", "2"], "meu").await;
        kind.keep(world, &theirs, &["2", "3"], "deles").await;
        kind.keep(world, &theirs, &["3"], "deles").await;
        let of = async |store: &str| {
            let sql = format!(
                "SELECT {id} || ' ' || {said} FROM {table} WHERE store = '{store}' AND gone_at IS NULL ORDER BY {id}",
                id = kind.id,
                said = kind.said,
                table = kind.table
            );
            world.tables.list(&sql).await
        };
        assert_eq!(of("minha-loja").await, ["1 meu", "2 meu"], "{kind:?}");
        let left = if kind.whole { vec!["3 deles"] } else { vec!["2 deles", "3 deles"] };
        assert_eq!(of("outra").await, left, "{kind:?}");
    }
}

pub(crate) async fn a_page_that_is_not_kept_leaves_nothing_and_is_not_told(world: &World) {
    let lease = world.lease().await;
    for kind in KINDS {
        kind.keep(world, &lease, &["1", "2"], "antes").await;
        let (before, told) = (kind.rows(world).await, newest(world).await);
        let mut lost = world.store.begin(&lease).await.unwrap();
        kind.write(&mut lost, &["2", "3"], "depois").await;
        drop(lost);
        world.store.begin(&lease).await.unwrap().commit().await.unwrap();
        assert_eq!(kind.rows(world).await, before, "{kind:?}");
        assert_eq!(newest(world).await, told);
        let mut tx = world.store.begin(&lease).await.unwrap();
        kind.write(&mut tx, &["1", "2"], "kept").await;
        tx.savepoint().await.unwrap();
        kind.write(&mut tx, &["9"], "depois").await;
        tx.rollback_to_savepoint().await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(kind.live(world).await, [["1", "kept"], ["2", "kept"]], "{kind:?}");
        assert_eq!(kind.told(world, told).await, ["1", "2"].map(|id| format!("{}{id} update", kind.parent)));
    }
}

pub(crate) async fn of_rows_with_one_id_the_last_is_kept(world: &World) {
    let lease = world.lease().await;
    let twice = |n: usize| invoice(if n.is_multiple_of(2) { "1" } else { "2" }, &n.to_string());
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.mirror().write_invoices(&order_number(), (0..24).map(twice).collect()).await.unwrap();
    tx.commit().await.unwrap();
    let kept = "SELECT id || ' ' || status FROM order_invoices ORDER BY id";
    assert_eq!(world.tables.list(kept).await, ["1 22", "2 23"]);
    assert_eq!(world.tables.count("changes").await, 2);
    for kind in KINDS {
        let told = newest(world).await;
        kind.keep(world, &lease, &["5", "5", "5"], "dito").await;
        let of_five = |key: &&String| key.starts_with(&format!("{}5 ", kind.parent));
        assert_eq!(kind.told(world, told).await.iter().filter(of_five).count(), 1, "{kind:?}");
    }
}

/// Rows become statements of several sizes; none may lose one at a seam.
pub(crate) async fn any_number_of_rows_arrives_whole(world: &World) {
    let lease = world.lease().await;
    for kind in KINDS {
        let ids: Vec<String> = (10_000..10_387).map(|n: u32| n.to_string()).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        kind.keep(world, &lease, &ids, "antes").await;
        kind.keep(world, &lease, &ids, "depois").await;
        let live = kind.live(world).await;
        assert_eq!(live.len(), ids.len(), "{kind:?}");
        assert!(live.iter().zip(&ids).all(|([id, said], expected)| id == expected && said == "depois"));
        if kind.whole {
            assert_eq!(kind.keep(world, &lease, &ids[..1], "depois").await.gone, 386, "{kind:?}");
        }
    }
}

pub(crate) async fn long_and_strange_texts_arrive_as_they_are(world: &World) {
    let lease = world.lease().await;
    let long = "Ação 🎉 ".repeat(20_000);
    for kind in KINDS {
        for said in [long.as_str(), "'; DROP TABLE orders; -- $1 ? \"x\"\t\\u0000", "", " "] {
            kind.keep(world, &lease, &["1"], said).await;
            let rows = kind.rows(world).await;
            assert_eq!(rows[0].get(kind.said), Some(said), "{kind:?}");
            assert_eq!(rows[0].get("raw"), Some(raw("1", said).as_str()), "{kind:?}");
        }
    }
}

pub(crate) async fn escapes_that_no_database_holds_are_shown_in_every_json_column(world: &World) {
    let lease = world.lease().await;
    let received = RawJson::new(r#"{"a":"x\u0000y","b":"\ud83d."}"#);
    let mut event = event("1", "a");
    (event.metadata, event.raw) = (Some(received.clone()), received);
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.mirror().write_order_events(&order_number(), vec![event]).await.unwrap();
    tx.commit().await.unwrap();
    let rows = world.tables.all("order_events").await;
    let shown = r#"{"a":"x\\u0000y","b":"\\ud83d."}"#;
    assert_eq!(rows[0].get("raw"), Some(shown));
    assert_eq!(rows[0].get("metadata"), Some(shown));
}

/// A column that a newer version parses better from the same object is written again.
pub(crate) async fn the_same_object_read_differently_is_a_change(world: &World) {
    let lease = world.lease().await;
    let write = async |issued: Option<&str>| {
        let mut document = invoice("1", "a");
        document.issued_at = issued.map(crate::examples::time);
        let mut tx = world.store.begin(&lease).await.unwrap();
        let counts = tx.mirror().write_invoices(&order_number(), vec![document]).await.unwrap();
        tx.commit().await.unwrap();
        counts.changed
    };
    assert_eq!(write(None).await, 1);
    assert_eq!(write(Some("2026-11-27T06:00:00Z")).await, 1);
    assert_eq!(write(Some("2026-11-27T03:00:00-03:00")).await, 0);
}

/// As migration 0101 leaves a document that is not issued: the version before, which counts it, runs on beside this one.
pub(crate) async fn a_column_that_a_migration_corrects_is_told_once_and_not_written_back(world: &World) {
    let lease = world.lease().await;
    let write = async |is_current| {
        let document = FiscalDocument { is_current, ..invoice("1", "rejected") };
        let mut tx = world.store.begin(&lease).await.unwrap();
        let counts = tx.mirror().write_invoices(&order_number(), vec![document]).await.unwrap();
        tx.commit().await.unwrap();
        counts.changed
    };
    assert_eq!(write(true).await, 1);
    world.tables.execute("UPDATE order_invoices SET is_current = (1 = 0)").await;
    assert_eq!(write(true).await, 0, "the version before finds it unchanged");
    assert_eq!(world.tables.count("v_invoice_current").await, 0);
    assert_eq!((write(false).await, write(false).await), (1, 0), "this version tells it once");
}
