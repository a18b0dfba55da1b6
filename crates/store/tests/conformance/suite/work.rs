//! The engine's questions: open rows, rows never read, rows longest unread.

use std::time::Duration;

use chrono::TimeDelta;
use espelho_model::{
    ContentHash, OrderNumber, ProductId,
    order::{Order, STATUSES, TERMINAL_STATUSES},
    sync::Resource,
};
use espelho_store::{KnownSubresource, Lease, Op, Paces, Subresource, TableCount};

use crate::{
    examples::{bare_order, bare_product, order, order_of},
    hand_clock::opening_hour,
    kinds::KINDS,
    specimens::fingerprint,
    world::{World, minha_loja, store_key},
};

async fn write(world: &World, lease: &Lease, numbers: &[&str], status: &str) {
    world.write_orders(lease, Op::Update, numbers.iter().map(|n| order(n, status)).collect()).await;
}

async fn note(world: &World, lease: &Lease, read: &[(&str, Subresource)]) {
    let mut tx = world.store.begin(lease).await.unwrap();
    let read = read.iter().map(|(n, part)| (OrderNumber::new(*n), *part, fingerprint(n)));
    tx.staleness().note_subresources(read.collect()).await.unwrap();
    tx.commit().await.unwrap();
}

async fn gone(world: &World, lease: &Lease, resource: Resource, key: &str) {
    let mut tx = world.store.begin(lease).await.unwrap();
    tx.mirror().mark_gone(resource, vec![key.to_owned()]).await.unwrap();
    tx.commit().await.unwrap();
}

fn texts(numbers: &[OrderNumber]) -> Vec<&str> {
    numbers.iter().map(OrderNumber::as_str).collect()
}

pub(crate) async fn open_orders_are_those_that_no_status_has_ended(world: &World) {
    let lease = world.lease().await;
    let mut orders: Vec<Order> =
        STATUSES.iter().map(|status| order(&format!("N-{status}"), status)).collect();
    orders.extend([bare_order("without"), order("unheard-of", "abduzido")]);
    world.write_orders(&lease, Op::Insert, orders).await;
    gone(world, &lease, Resource::Orders, "N-paid").await;
    let open = world.store.staleness().open_orders(&minha_loja(), None, "", 100).await.unwrap();
    let mut expected: Vec<String> = STATUSES
        .iter()
        .filter(|status| !TERMINAL_STATUSES.contains(status) && **status != "paid")
        .map(|status| format!("N-{status}"))
        .chain(["unheard-of".to_owned(), "without".to_owned()])
        .collect();
    expected.sort();
    assert_eq!(open.iter().map(|o| o.number.as_str()).collect::<Vec<_>>(), expected);
    assert!(open.iter().all(|o| o.mirrored_at == opening_hour()));
    assert!(world.store.staleness().open_orders(&store_key("outra"), None, "", 9).await.unwrap().is_empty());
}

pub(crate) async fn open_orders_come_in_pages_and_by_status(world: &World) {
    let lease = world.lease().await;
    write(world, &lease, &["4", "2", "1"], "paid").await;
    world.clock.advance(Duration::from_secs(60));
    write(world, &lease, &["3"], "shipped").await;
    write(world, &lease, &["5"], "delivered").await;
    let page = async |status, after| {
        let page = world.store.staleness().open_orders(&minha_loja(), status, after, 2).await.unwrap();
        page.into_iter().map(|order| order.number.into_string()).collect::<Vec<_>>()
    };
    assert_eq!(page(None, "").await, ["1", "2"]);
    assert_eq!(page(None, "2").await, ["3", "4"]);
    assert!(page(None, "4").await.is_empty());
    assert_eq!(page(Some("paid"), "1").await, ["2", "4"]);
    assert_eq!(page(Some("delivered"), "").await, ["5"]);
    assert!(page(Some("nowhere"), "").await.is_empty());
    let shipped = world.store.staleness().open_orders(&minha_loja(), Some("shipped"), "", 9).await.unwrap();
    assert_eq!(shipped[0].status.as_deref(), Some("shipped"));
    assert_eq!(shipped[0].mirrored_at, opening_hour() + Duration::from_secs(60));
}

pub(crate) async fn orders_are_due_by_their_age(world: &World) {
    let lease = world.lease().await;
    let day = Duration::from_secs(86_400);
    // They have no times of their own, so their change is their writing.
    let write = async |number: &str, status: &str| {
        let order = Order { status: Some(status.to_owned()), ..bare_order(number) };
        world.write_orders(&lease, Op::Update, vec![order]).await;
        if number != "unread" {
            note(world, &lease, &[(number, Subresource::Shipments)]).await;
        }
    };
    for (number, status) in
        [("open", "paid"), ("unread", "paid"), ("old", "delivered"), ("gone", "delivered")]
    {
        write(number, status).await;
    }
    gone(world, &lease, Resource::Orders, "gone").await;
    world.clock.advance(day * 26);
    write("middle", "cancelled").await;
    world.clock.advance(day * 3 - Duration::from_secs(3_600));
    write("young", "delivered").await;
    note(world, &lease, &[("open", Subresource::Shipments)]).await;
    let due = async |limit| {
        let paces = Paces {
            young: (TimeDelta::days(2), TimeDelta::days(1)),
            middle: (TimeDelta::days(20), TimeDelta::days(7)),
            old: TimeDelta::days(29),
        };
        let due = world.store.staleness().aged_orders(&minha_loja(), &paces, limit).await.unwrap();
        due.into_iter().map(OrderNumber::into_string).collect::<Vec<_>>()
    };
    assert!(due(9).await.is_empty(), "an hour is missing");
    world.clock.advance(Duration::from_secs(3_601));
    assert_eq!(due(9).await, ["old"]);
    world.clock.advance(day);
    // Three of five by the latest change, the rest by the longest time unread.
    assert_eq!(due(5).await, ["young", "old", "open"], "a side that was never read is another sweep's");
    assert_eq!(due(2).await, ["young", "old"]);
    note(world, &lease, &["young", "open", "old"].map(|number| (number, Subresource::Shipments))).await;
    assert!(due(9).await.is_empty());
    world.clock.advance(day * 4);
    assert_eq!(due(9).await, ["middle", "open"], "what was young is of middle age now");
}

pub(crate) async fn products_take_turns(world: &World) {
    let lease = world.lease().await;
    world.write_products(&lease, Op::Insert, ["b", "a", "c"].map(bare_product).to_vec()).await;
    gone(world, &lease, Resource::Products, "c").await;
    let turn = async || {
        let aged = world.store.staleness().products_by_age(&minha_loja(), 9).await.unwrap();
        aged.into_iter()
            .map(|(id, at)| (id.into_string(), (at - opening_hour()).num_seconds()))
            .collect::<Vec<_>>()
    };
    let expected = |turns: [(&str, i64); 2]| turns.map(|(id, at)| (id.to_owned(), at)).to_vec();
    assert_eq!(turn().await, expected([("a", 0), ("b", 0)]));
    for (seconds, read, turns) in [
        (60, "a", [("b", 0), ("a", 60)]),
        (120, "b", [("a", 60), ("b", 120)]),
        (180, "a", [("b", 120), ("a", 180)]),
    ] {
        world.clock.advance(Duration::from_secs(60));
        let mut tx = world.store.begin(&lease).await.unwrap();
        tx.staleness()
            .note_products_read([read, read, "nowhere"].map(ProductId::new).to_vec())
            .await
            .unwrap();
        tx.commit().await.unwrap();
        assert_eq!(turn().await, expected(turns), "after {seconds} s");
    }
}

pub(crate) async fn orders_whose_sides_were_never_read_are_found(world: &World) {
    let lease = world.lease().await;
    write(world, &lease, &["1", "2", "3", "4", "5"], "delivered").await;
    gone(world, &lease, Resource::Orders, "4").await;
    let without = async |part, after, limit| {
        world.store.staleness().orders_missing_subresource(&minha_loja(), part, after, limit).await.unwrap()
    };
    assert_eq!(texts(&without(Subresource::Events, "", 9).await), ["1", "2", "3", "5"]);
    note(
        world,
        &lease,
        &[("2", Subresource::Events), ("3", Subresource::Invoices), ("2", Subresource::Events)],
    )
    .await;
    assert_eq!(texts(&without(Subresource::Events, "", 2).await), ["1", "3"]);
    assert_eq!(texts(&without(Subresource::Events, "3", 9).await), ["5"]);
    assert_eq!(texts(&without(Subresource::Invoices, "", 9).await), ["1", "2", "5"]);
    for part in Subresource::ALL {
        note(world, &lease, &["1", "2", "3", "5"].map(|number| (number, part))).await;
        assert!(without(part, "", 9).await.is_empty(), "{part:?}");
    }
    let other = world.lease_of(&store_key("outra")).await;
    write(world, &other, &["1"], "paid").await;
    let theirs = world
        .store
        .staleness()
        .orders_missing_subresource(&store_key("outra"), Subresource::Order, "", 9)
        .await
        .unwrap();
    assert_eq!(texts(&theirs), ["1"]);
}

pub(crate) async fn orders_that_changed_since_a_side_was_read_are_found(world: &World) {
    let lease = world.lease().await;
    write(world, &lease, &["1", "2", "3"], "paid").await;
    note(world, &lease, &[("1", Subresource::Shipments), ("2", Subresource::Shipments)]).await;
    let old = async || {
        world
            .store
            .staleness()
            .orders_with_stale_subresource(&minha_loja(), Subresource::Shipments, "", 9)
            .await
            .unwrap()
    };
    assert!(old().await.is_empty(), "read in the same instant is read");
    world.clock.advance(Duration::from_secs(60));
    write(world, &lease, &["1", "3"], "shipped").await;
    assert_eq!(texts(&old().await), ["1"]);
    world.clock.advance(Duration::from_secs(60));
    note(world, &lease, &[("1", Subresource::Shipments)]).await;
    assert!(old().await.is_empty());
}

pub(crate) async fn what_was_read_of_an_order_is_known_with_its_fingerprint(world: &World) {
    let lease = world.lease().await;
    let of = async |number: &str| {
        world.store.staleness().order_subresources(&minha_loja(), &OrderNumber::new(number)).await.unwrap()
    };
    assert!(of("1").await.is_empty());
    note(
        world,
        &lease,
        &[("1", Subresource::Shipments), ("1", Subresource::Order), ("2", Subresource::Events)],
    )
    .await;
    world.clock.advance(Duration::from_secs(60));
    let mut tx = world.store.begin(&lease).await.unwrap();
    let hashes = [1, i64::MIN].map(ContentHash::from_i64);
    let twice = hashes.map(|hash| (OrderNumber::new("1"), Subresource::Order, hash)).to_vec();
    tx.staleness().note_subresources(twice).await.unwrap();
    tx.staleness().note_subresources(Vec::new()).await.unwrap();
    tx.commit().await.unwrap();
    let later = opening_hour() + Duration::from_secs(60);
    let expected = [
        KnownSubresource { subresource: Subresource::Order, read_at: later, content_hash: hashes[1] },
        KnownSubresource {
            subresource: Subresource::Shipments,
            read_at: opening_hour(),
            content_hash: fingerprint("1"),
        },
    ];
    assert_eq!(of("1").await, expected);
}

pub(crate) async fn every_table_is_counted_with_what_is_gone(world: &World) {
    let lease = world.lease().await;
    world
        .write_orders(&lease, Op::Insert, vec![order_of("1", "paid", &["1", "2"]), order("2", "paid")])
        .await;
    gone(world, &lease, Resource::Orders, "1").await;
    for kind in KINDS {
        kind.keep(world, &lease, &["1", "2", "3"], "dito").await;
        kind.keep(world, &lease, &["1"], "dito").await;
        let counts = world.store.overview().table_counts(&minha_loja()).await.unwrap();
        let count = counts.iter().find(|count| count.table == kind.table).unwrap();
        let (live, gone) = if kind.whole { (1, 2) } else { (3, 0) };
        assert_eq!(*count, TableCount { table: kind.table.to_owned(), live, gone });
    }
    let counts = world.store.overview().table_counts(&minha_loja()).await.unwrap();
    let of = |table: &str| counts.iter().find(|c| c.table == table).map(|c| (c.live, c.gone));
    assert_eq!((of("orders"), of("order_items")), (Some((1, 1)), Some((0, 2))));
    assert!(
        world
            .store
            .overview()
            .table_counts(&store_key("outra"))
            .await
            .unwrap()
            .iter()
            .all(|c| c.live + c.gone == 0)
    );
    // Exactly the tables with a mark for gone rows.
    let mut counted: Vec<&str> = counts.iter().map(|count| count.table.as_str()).collect();
    counted.sort_unstable();
    let mut mirrored = Vec::new();
    for table in world.tables.names().await {
        if world.tables.columns(&table).await.iter().any(|column| column.name == "gone_at") {
            mirrored.push(table);
        }
    }
    assert_eq!(counted, mirrored);
}
