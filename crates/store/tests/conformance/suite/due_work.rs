//! The engine's questions: open rows, rows never read, rows longest unread.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use enumflags2::BitFlags;
use espelho_model::{
    Clock as _, ContentHash, OrderNumber, ProductId, RawJson,
    order::{Order, STATUSES, TERMINAL_STATUSES},
    sync::Resource,
};
use espelho_store::{
    DueTime, KnownSubresource, Lease, Op, Rescheduling, Subresource, UnreadOrder, UnscheduledOrder,
};

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

pub(crate) async fn open_orders_are_those_that_no_status_has_ended(world: &World) {
    let lease = world.lease().await;
    let mut orders: Vec<Order> =
        STATUSES.iter().map(|status| order(&format!("N-{status}"), status)).collect();
    orders.extend([bare_order("without"), order("unheard-of", "abduzido")]);
    world.write_orders(&lease, Op::Insert, orders).await;
    gone(world, &lease, Resource::Orders, "N-paid").await;
    let open = world.store.staleness().open_orders(&minha_loja(), "", 100).await.unwrap();
    let mut expected: Vec<String> = STATUSES
        .iter()
        .filter(|status| !TERMINAL_STATUSES.contains(status) && **status != "paid")
        .map(|status| format!("N-{status}"))
        .chain(["unheard-of".to_owned(), "without".to_owned()])
        .collect();
    expected.sort();
    assert_eq!(open.iter().map(|o| o.number.as_str()).collect::<Vec<_>>(), expected);
    assert!(open.iter().all(|o| o.mirrored_at == opening_hour()));
    assert!(world.store.staleness().open_orders(&store_key("outra"), "", 9).await.unwrap().is_empty());
}

pub(crate) async fn open_orders_come_in_pages(world: &World) {
    let lease = world.lease().await;
    write(world, &lease, &["4", "2", "1"], "paid").await;
    world.clock.advance(Duration::from_secs(60));
    write(world, &lease, &["3"], "shipped").await;
    write(world, &lease, &["5"], "delivered").await;
    for (after, expected) in [("", &["1", "2"][..]), ("2", &["3", "4"]), ("4", &[])] {
        let page = world.store.staleness().open_orders(&minha_loja(), after, 2).await.unwrap();
        assert_eq!(page.iter().map(|order| order.number.as_str()).collect::<Vec<_>>(), expected);
    }
    let shipped = world.store.staleness().open_orders(&minha_loja(), "2", 1).await.unwrap();
    assert_eq!(shipped[0].status.as_deref(), Some("shipped"));
    assert_eq!(shipped[0].mirrored_at, opening_hour() + Duration::from_secs(60));
}

pub(crate) async fn open_orders_come_by_the_age_of_their_shipments(world: &World) {
    let lease = world.lease().await;
    write(world, &lease, &["1", "2", "3", "unread", "gone"], "paid").await;
    write(world, &lease, &["closed", "labelled"], "delivered").await;
    let all = ["1", "2", "3", "gone", "closed", "labelled"];
    note(world, &lease, &all.map(|number| (number, Subresource::Shipments))).await;
    gone(world, &lease, Resource::Orders, "gone").await;
    for (id, order, status, is_ready) in [
        ("L-1", "labelled", "pending", "FALSE"),
        ("L-2", "closed", "ready", "TRUE"),
        ("L-3", "closed", "error", "FALSE"),
    ] {
        let label = format!(
            "INSERT INTO shipment_labels \
             (store, id, order_number, status, is_ready, content_hash, mirrored_at, raw) \
             SELECT store, '{id}', '{order}', '{status}', {is_ready}, 1, mirrored_at, '{{}}' \
             FROM orders WHERE order_number = '{order}'"
        );
        world.tables.execute(&label).await;
    }
    let read_before = async |before: (DateTime<Utc>, DateTime<Utc>), limit: u32| {
        let (store, part) = (minha_loja(), Subresource::Shipments);
        let staleness = world.store.staleness();
        let aged = staleness.open_orders_by_subresource_age(&store, part, before, limit).await.unwrap();
        aged.into_iter().map(OrderNumber::into_string).collect::<Vec<_>>()
    };
    let aged = async |limit: u32| read_before((world.clock.now(), world.clock.now()), limit).await;
    assert!(aged(9).await.is_empty(), "they have just been read");
    world.clock.advance(Duration::from_secs(60));
    note(world, &lease, &[("2", Subresource::Shipments), ("1", Subresource::Events)]).await;
    assert_eq!(aged(9).await, ["1", "3", "labelled"]);
    world.clock.advance(Duration::from_secs(60));
    assert_eq!(aged(9).await, ["1", "3", "labelled", "2"], "the longest unread first");
    assert_eq!(aged(2).await, ["1", "3"]);
    let (now, earlier) = (world.clock.now(), world.clock.now() - Duration::from_secs(90));
    assert_eq!(read_before((earlier, now), 9).await, ["1", "3", "labelled"], "open ones rest longer");
    assert_eq!(read_before((opening_hour(), now), 9).await, ["labelled"], "somebody waits for a label");
    assert!(read_before((opening_hour(), opening_hour()), 9).await.is_empty());
}

/// Decides like the engine, with two paces: each day what is open, or changed within two days before it was read, and
/// after 29 days all else.
fn decided(order: UnscheduledOrder) -> Rescheduling {
    let is_open = order.status.as_deref() != Some("delivered");
    let due = order.changed_at.map(|changed_at| {
        let is_young = is_open || order.read_at - changed_at <= TimeDelta::days(2);
        DueTime { at: order.read_at + TimeDelta::days(if is_young { 1 } else { 29 }), is_young }
    });
    Rescheduling { number: order.number, replaces: order.since, due }
}

async fn schedule(world: &World, lease: &Lease, orders: Vec<Rescheduling>) {
    let mut tx = world.store.begin(lease).await.unwrap();
    tx.staleness().schedule_orders(orders).await.unwrap();
    tx.commit().await.unwrap();
}

/// Schedules all orders that wait for it; returns them.
async fn schedule_all(world: &World, lease: &Lease) -> Vec<String> {
    let waiting = world.store.staleness().unscheduled_orders(&minha_loja(), 100).await.unwrap();
    let mut numbers: Vec<String> = waiting.iter().map(|order| order.number.as_str().to_owned()).collect();
    numbers.sort();
    schedule(world, lease, waiting.into_iter().map(decided).collect()).await;
    numbers
}

/// The engine decides the due times, and has a table of cases for that: this holds what the store makes of them.
pub(crate) async fn orders_are_due_by_their_age(world: &World) {
    let lease = world.lease().await;
    let day = Duration::from_secs(86_400);
    for (number, status, days) in [
        ("open", "paid", 40),
        ("unread", "paid", 0),
        ("old", "delivered", 40),
        ("young", "delivered", 1),
        ("gone", "paid", 0),
    ] {
        let updated_at = Some(world.clock.now() - day * days);
        let order = Order { updated_at, ..order(number, status) };
        world.write_orders(&lease, Op::Update, vec![order]).await;
        if number != "unread" {
            note(world, &lease, &[(number, Subresource::Shipments)]).await;
        }
    }
    gone(world, &lease, Resource::Orders, "gone").await;
    let due = async |limit: u32| {
        let due = world.store.staleness().due_orders(&minha_loja(), limit).await.unwrap();
        due.into_iter().map(|order| order.number.into_string()).collect::<Vec<_>>()
    };
    // A side that was never read is another sweep's.
    assert_eq!(schedule_all(world, &lease).await, ["gone", "old", "open", "young"]);
    assert!(schedule_all(world, &lease).await.is_empty(), "one that is gone waits no longer either");
    world.clock.advance(day - Duration::from_secs(3_600));
    assert!(due(9).await.is_empty(), "an hour is missing");
    world.clock.advance(Duration::from_secs(3_601));
    assert_eq!(due(9).await, ["open", "young"]);
    world.clock.advance(day * 28);
    assert_eq!(due(9).await, ["open", "young", "old"]);
    // Half of each, so three orders are two young ones and the longest unread.
    for (limit, expected) in [(1, &["open"][..]), (2, &["open", "old"]), (3, &["open", "young", "old"])] {
        assert_eq!(due(limit).await, expected);
    }
    let first = world.store.staleness().due_orders(&minha_loja(), 1).await.unwrap().remove(0);
    let later = DueTime { at: world.clock.now() + day, is_young: true };
    let postponed = Rescheduling { number: first.number, replaces: first.due.at, due: Some(later) };
    schedule(world, &lease, vec![postponed.clone()]).await;
    assert_eq!(due(9).await, ["young", "old"]);
    schedule(world, &lease, vec![Rescheduling { due: None, ..postponed }]).await;
    world.clock.advance(day + Duration::from_secs(1));
    assert_eq!(due(9).await, ["young", "open", "old"], "a time that was replaced already stays");
    note(world, &lease, &["young", "open", "old"].map(|number| (number, Subresource::Shipments))).await;
    assert!(due(9).await.is_empty());
    assert_eq!(schedule_all(world, &lease).await, ["old", "open", "young"]);
    world.clock.advance(day * 3);
    assert_eq!(due(9).await, ["open"], "what was young is old now");
    let changed = |number: &str| {
        let raw = RawJson::new(&format!("{{\"changed\":\"{number}\"}}"));
        Order { updated_at: Some(world.clock.now()), raw, ..order(number, "delivered") }
    };
    world.write_orders(&lease, Op::Update, vec![changed("old")]).await;
    assert_eq!(schedule_all(world, &lease).await, ["old"]);
    assert_eq!(due(9).await, ["old", "open"], "it is young again, and was read three days ago");
    world.write_orders(&lease, Op::Update, vec![changed("gone")]).await;
    assert_eq!(schedule_all(world, &lease).await, ["gone"]);
    assert_eq!(due(9).await, ["gone", "old", "open"], "it has come back");
    assert!(world.store.staleness().due_orders(&store_key("outra"), 9).await.unwrap().is_empty());
    assert!(world.store.staleness().unscheduled_orders(&store_key("outra"), 9).await.unwrap().is_empty());
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
    world.clock.advance(Duration::from_secs(60));
    // A pass may write what it read long before, so it moves no read that is noted.
    world.write_products(&lease, Op::Update, ["a", "c"].map(bare_product).to_vec()).await;
    let turns = [("b", 120), ("a", 180), ("c", 240)].map(|(id, at)| (id.to_owned(), at));
    assert_eq!(turn().await, turns, "what was gone comes back last");
}

pub(crate) async fn a_reading_that_failed_is_a_products_turn_and_no_reading(world: &World) {
    let lease = world.lease().await;
    world.write_products(&lease, Op::Insert, ["a", "b", "c"].map(bare_product).to_vec()).await;
    let turn = async || {
        let aged = world.store.staleness().products_by_age(&minha_loja(), 9).await.unwrap();
        aged.into_iter().map(|(id, _)| id.into_string()).collect::<Vec<_>>()
    };
    for (product, is_read, turns) in [
        ("a", false, ["b", "c", "a"]),
        ("b", true, ["c", "a", "b"]),
        ("c", false, ["a", "b", "c"]),
        ("a", true, ["b", "c", "a"]),
        ("b", false, ["c", "a", "b"]),
    ] {
        world.clock.advance(Duration::from_secs(60));
        let id = ProductId::new(product);
        let read_at = async || world.store.lookups().product_read_at(&minha_loja(), &id).await.unwrap();
        let before = read_at().await;
        let mut tx = world.store.begin(&lease).await.unwrap();
        match is_read {
            true => tx.staleness().note_products_read(vec![id.clone()]).await.unwrap(),
            false => tx.staleness().note_products_unread(vec![id.clone()]).await.unwrap(),
        }
        tx.commit().await.unwrap();
        assert_eq!(turn().await, turns, "after {product}");
        assert_eq!(read_at().await != before, is_read, "a push relies on the time of a reading");
    }
}

async fn read(world: &World, lease: &Lease, number: &str, parts: &[Subresource]) {
    let noted: Vec<_> = parts.iter().map(|part| (number, *part)).collect();
    note(world, lease, &noted).await;
}

type Place = (DateTime<Utc>, OrderNumber);

/// The orders with sides to read, and these sides.
async fn unread(world: &World, below: Option<&Place>, limit: u32) -> Vec<(String, BitFlags<Subresource>)> {
    let unread = world.store.staleness().unread_orders(&minha_loja(), below, limit).await.unwrap();
    unread.into_iter().map(|order| (order.number.into_string(), order.subresources)).collect()
}

async fn unread_numbers(world: &World, below: Option<&Place>, limit: u32) -> Vec<String> {
    unread(world, below, limit).await.into_iter().map(|(number, _)| number).collect()
}

fn all_but(read: &[Subresource]) -> BitFlags<Subresource> {
    Subresource::BELOW_ORDER.into_iter().filter(|subresource| !read.contains(subresource)).collect()
}

pub(crate) async fn orders_whose_sides_were_never_read_are_found(world: &World) {
    let lease = world.lease().await;
    write(world, &lease, &["1", "2", "3", "4", "5"], "delivered").await;
    gone(world, &lease, Resource::Orders, "4").await;
    assert_eq!(unread_numbers(world, None, 9).await, ["5", "3", "2", "1"]);
    assert_eq!(unread_numbers(world, None, 2).await, ["5", "3"]);
    // Orders of one moment are told apart by their numbers.
    let third = (opening_hour(), OrderNumber::new("3"));
    assert_eq!(unread_numbers(world, Some(&third), 9).await, ["2", "1"]);
    assert_eq!(unread_numbers(world, Some(&third), 1).await, ["2"]);
    note(
        world,
        &lease,
        &[
            ("2", Subresource::Events),
            ("3", Subresource::Invoices),
            ("2", Subresource::Events),
            ("3", Subresource::Tracking),
            ("1", Subresource::Order),
        ],
    )
    .await;
    let expected = [
        ("5", all_but(&[])),
        ("3", all_but(&[Subresource::Invoices, Subresource::Tracking])),
        ("2", all_but(&[Subresource::Events])),
        ("1", all_but(&[])),
    ];
    assert_eq!(unread(world, None, 9).await, expected.map(|(number, left)| (number.to_owned(), left)));
    for part in Subresource::BELOW_ORDER {
        // The tracking of the third was read before.
        let expected =
            ["5", "3", "2", "1"].into_iter().filter(|n| part != Subresource::Tracking || *n != "3");
        assert_eq!(unread_numbers(world, None, 9).await, expected.collect::<Vec<_>>(), "{part:?}");
        note(world, &lease, &["1", "2", "3", "5"].map(|number| (number, part))).await;
    }
    assert!(unread_numbers(world, None, 9).await.is_empty());
    let other = world.lease_of(&store_key("outra")).await;
    write(world, &other, &["1"], "paid").await;
    let theirs = world.store.staleness().unread_orders(&store_key("outra"), None, 9).await.unwrap();
    assert_eq!(theirs.iter().map(|order| order.number.as_str()).collect::<Vec<_>>(), ["1"]);
}

pub(crate) async fn open_orders_whose_sides_were_not_read_are_found_by_number(world: &World) {
    let lease = world.lease().await;
    let unread = async |limit: u32| {
        let unread = world.store.staleness().unread_open_orders(&minha_loja(), limit).await.unwrap();
        let left = |order: UnreadOrder| (order.number.into_string(), order.subresources);
        unread.into_iter().map(left).collect::<Vec<_>>()
    };
    let numbered = |number: &str, read: &[Subresource]| (number.to_owned(), all_but(read));
    write(world, &lease, &["2", "4", "6", "gone"], "paid").await;
    gone(world, &lease, Resource::Orders, "gone").await;
    world.clock.advance(Duration::from_secs(60));
    write(world, &lease, &["1", "3"], "delivered").await;
    write(world, &lease, &["5"], "preparing").await;
    let other = world.lease_of(&store_key("outra")).await;
    write(world, &other, &["7"], "paid").await;
    read(world, &lease, "4", &[Subresource::Events, Subresource::Shipments]).await;
    read(world, &lease, "6", &Subresource::BELOW_ORDER).await;
    let left = numbered("4", &[Subresource::Events, Subresource::Shipments]);
    assert_eq!(unread(9).await, [numbered("2", &[]), left, numbered("5", &[])]);
    assert_eq!(unread(1).await, [numbered("2", &[])]);
    world.clock.advance(Duration::from_secs(60));
    write(world, &lease, &["6"], "shipped").await;
    write(world, &lease, &["2", "4"], "cancelled").await;
    assert_eq!(unread(9).await, [numbered("5", &[]), numbered("6", &[])], "one changed, two are closed");
}

pub(crate) async fn orders_that_changed_since_a_side_was_read_are_found(world: &World) {
    let lease = world.lease().await;
    write(world, &lease, &["1", "2", "3"], "paid").await;
    for number in ["1", "2", "3"] {
        read(world, &lease, number, &Subresource::BELOW_ORDER).await;
    }
    assert!(unread(world, None, 9).await.is_empty(), "read in the same instant is read");
    for number in ["3", "1"] {
        world.clock.advance(Duration::from_secs(60));
        write(world, &lease, &[number], "shipped").await;
    }
    let both = ["1", "3"].map(|number| (number.to_owned(), all_but(&[])));
    assert_eq!(unread(world, None, 9).await, both, "the latest changed first");
    let first = (world.clock.now(), OrderNumber::new("1"));
    assert_eq!(unread_numbers(world, Some(&first), 9).await, ["3"]);
    world.clock.advance(Duration::from_secs(60));
    // The very same content is no change.
    write(world, &lease, &["1", "2"], "shipped").await;
    write(world, &lease, &["2"], "shipped").await;
    read(world, &lease, "2", &Subresource::BELOW_ORDER).await;
    write(world, &lease, &["2"], "shipped").await;
    read(world, &lease, "1", &[Subresource::Shipments, Subresource::Events]).await;
    read(world, &lease, "1", &[Subresource::Financial, Subresource::Invoices]).await;
    let expected = [("1", BitFlags::from(Subresource::Tracking)), ("3", all_but(&[]))];
    assert_eq!(unread(world, None, 9).await, expected.map(|(number, left)| (number.to_owned(), left)));
    read(world, &lease, "1", &[Subresource::Tracking]).await;
    assert_eq!(unread_numbers(world, None, 9).await, ["3"]);
    // An order that comes back is read again, as it is.
    gone(world, &lease, Resource::Orders, "2").await;
    world.clock.advance(Duration::from_secs(60));
    write(world, &lease, &["2"], "shipped").await;
    assert_eq!(unread_numbers(world, None, 9).await, ["2", "3"]);
    // A mark that says more than the sides do is taken off by reading all of them.
    world.tables.execute("UPDATE orders SET unread_since = mirrored_at WHERE order_number = '1'").await;
    assert!(unread(world, None, 9).await.contains(&("1".to_owned(), all_but(&[]))));
    read(world, &lease, "1", &Subresource::BELOW_ORDER).await;
    assert_eq!(unread_numbers(world, None, 9).await, ["2", "3"]);
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

pub(crate) async fn a_reading_that_is_noted_late_replaces_no_later_one(world: &World) {
    let lease = world.lease().await;
    let (product, order) = (ProductId::new("a"), OrderNumber::new("1"));
    world.write_products(&lease, Op::Insert, vec![bare_product("a")]).await;
    world.write_orders(&lease, Op::Insert, vec![bare_order("1")]).await;
    let early = world.clock.now();
    world.clock.advance(Duration::from_secs(3));
    let later = world.clock.now();
    let [old, new] = [1, 2].map(ContentHash::from_i64);
    let known = |read_at, content_hash| KnownSubresource {
        subresource: Subresource::Shipments,
        read_at,
        content_hash,
    };
    let noted = async |at: DateTime<Utc>, hash| {
        let mut tx = world.store.begin(&lease).await.unwrap();
        tx.staleness().note_products_read_at(vec![(product.clone(), at)]).await.unwrap();
        tx.staleness().note_subresources_at(vec![(order.clone(), known(at, hash))]).await.unwrap();
        tx.commit().await.unwrap();
        let read_at = world.store.lookups().product_read_at(&minha_loja(), &product).await.unwrap();
        let parts = world.store.staleness().order_subresources(&minha_loja(), &order).await.unwrap();
        (read_at, parts)
    };
    assert_eq!(noted(later, new).await, (Some(later), vec![known(later, new)]));
    assert_eq!(noted(early, old).await, (Some(later), vec![known(later, new)]), "it is the older one");
    assert_eq!(
        noted(later, old).await,
        (Some(later), vec![known(later, old)]),
        "of the same time, the last stays"
    );
}

pub(crate) async fn readings_that_a_clock_which_was_ahead_has_noted_are_forgotten_with_the_next(
    world: &World,
) {
    let lease = world.lease().await;
    let products = ["a", "b", "c"].map(ProductId::new);
    world.write_products(&lease, Op::Insert, ["a", "b", "c"].map(bare_product).to_vec()).await;
    world
        .tables
        .execute("UPDATE product_reads SET read_at = '2999-01-01T00:00:00.000000Z' WHERE id <> 'c'")
        .await;
    let now = world.clock.now();
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.staleness().note_products_read_at(vec![(products[0].clone(), now)]).await.unwrap();
    tx.commit().await.unwrap();
    let aged = world.store.staleness().products_by_age(&minha_loja(), 9).await.unwrap();
    let [a, b, c] = products;
    let unknown = DateTime::UNIX_EPOCH;
    assert_eq!(
        aged,
        [(b, unknown), (a, now), (c, now)],
        "nobody knows when the other was read: its turn is next"
    );
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
        let counts = world.store.overview().table_states(Some(&minha_loja())).await.unwrap();
        let count = counts.tables["minha-loja"].iter().find(|count| count.table == kind.table).unwrap();
        assert_eq!((count.live, count.gone), if kind.whole { (1, 2) } else { (3, 0) }, "{}", kind.table);
    }
    let counts = world.store.overview().table_states(None).await.unwrap().tables;
    assert_eq!(counts.keys().collect::<Vec<_>>(), ["minha-loja"]);
    let counts = &counts["minha-loja"];
    let of = |table: &str| counts.iter().find(|c| c.table == table).map(|c| (c.live, c.gone));
    assert_eq!((of("orders"), of("order_items")), (Some((1, 1)), Some((0, 2))));
    // Exactly the tables with a mark for gone rows.
    let mut counted: Vec<&str> = espelho_store::counted_tables().collect();
    counted.sort_unstable();
    let mut mirrored = Vec::new();
    for table in world.tables.names().await {
        if world.tables.columns(&table).await.iter().any(|column| column.name == "gone_at") {
            mirrored.push(table);
        }
    }
    assert_eq!(counted, mirrored);
}
