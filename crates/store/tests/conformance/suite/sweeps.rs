//! The memory of the sweeps over a restart.

use std::time::Duration;

use espelho_model::{Clock as _, ContentHash, OrderNumber, ProductId, sync::Resource};
use espelho_store::{
    AuditDifference, AuditRecord, EnumValue, Failure, KnownOrder, Lease, Op, RemoteCount, Subresource,
    SweepOverview, SweepRecord, WebhookWatch,
};

use crate::{
    examples::{order, product},
    hand_clock::opening_hour,
    world::{World, minha_loja, store_key},
};

fn record(kind: &str, second: u64, problem: Option<&str>) -> SweepRecord {
    let at = opening_hour() + Duration::from_secs(second);
    SweepRecord {
        kind: kind.into(),
        started_at: at,
        succeeded_at: problem.is_none().then_some(at),
        problem: problem.map(str::to_owned),
    }
}

async fn note(world: &World, store: &str, sweeps: Vec<SweepRecord>) {
    let lease = world.lease_of(&store_key(store)).await;
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.sweeps().note_sweeps(sweeps).await.unwrap();
    tx.commit().await.unwrap();
}

pub(crate) async fn a_sweep_that_fails_keeps_when_it_last_went_well(world: &World) {
    note(world, "minha-loja", vec![record("media", 1, None), record("profile", 1, None)]).await;
    note(world, "minha-loja", vec![record("media", 2, Some("no answer"))]).await;
    note(world, "outra", vec![record("media", 9, None)]).await;
    let expected = SweepRecord {
        succeeded_at: Some(opening_hour() + Duration::from_secs(1)),
        ..record("media", 2, Some("no answer"))
    };
    let kept = world.open_again().await.unwrap().runs().sweeps(&minha_loja()).await.unwrap();
    assert_eq!(kept, [expected, record("profile", 1, None)]);
    note(world, "minha-loja", vec![record("media", 3, None)]).await;
    assert_eq!(world.store.runs().sweeps(&minha_loja()).await.unwrap()[0], record("media", 3, None));
}

pub(crate) async fn what_the_sweeps_remember_is_kept_by_store(world: &World) {
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order("1", "paid"), order("2", "delivered")]).await;
    let watch = WebhookWatch { heard_at: Some(opening_hour()), missed: 2, ..WebhookWatch::default() };
    let count = |remote| RemoteCount {
        kind: "orders".into(),
        remote,
        local: 2,
        at: opening_hour(),
        behind_since: (remote == 4).then(opening_hour),
    };
    let word = |label: &str| EnumValue {
        name: "statuses".into(),
        value: "paid".into(),
        label: Some(label.into()),
        color: None,
    };
    for remote in [3, 4] {
        let mut tx = world.store.begin(&lease).await.unwrap();
        tx.sweeps().note_webhook_watch(watch.clone()).await.unwrap();
        tx.sweeps().note_remote_counts(vec![count(remote)]).await.unwrap();
        tx.sweeps().note_enums(vec![word("antes"), word("Pago")]).await.unwrap();
        tx.commit().await.unwrap();
    }
    assert_eq!(world.store.runs().webhook_watch(&minha_loja()).await.unwrap(), watch);
    assert_eq!(world.store.runs().webhook_watch(&store_key("outra")).await.unwrap(), WebhookWatch::default());
    let audit =
        |differing| AuditRecord { resource: "orders".into(), at: opening_hour(), compared: 20, differing };
    for differing in [3, 1] {
        let mut tx = world.store.begin(&lease).await.unwrap();
        tx.sweeps().note_audits(vec![audit(differing)], Vec::new(), false).await.unwrap();
        tx.commit().await.unwrap();
    }
    note(world, "outra", vec![record("media", 9, None)]).await;
    let all = world.store.runs().sweep_overview(None).await.unwrap();
    assert_eq!(all.keys().collect::<Vec<_>>(), ["minha-loja", "outra"]);
    let mine = SweepOverview {
        counts: vec![count(4)],
        audits: vec![audit(1)],
        watch: Some(watch),
        ..SweepOverview::default()
    };
    assert_eq!(all["minha-loja"], mine);
    assert_eq!(world.store.runs().remote_counts(&minha_loja()).await.unwrap(), [count(4)]);
    assert!(world.store.runs().remote_counts(&store_key("outra")).await.unwrap().is_empty());
    for key in ["minha-loja", "outra"] {
        let one = world.store.runs().sweep_overview(Some(&store_key(key))).await.unwrap();
        assert_eq!(one.into_iter().collect::<Vec<_>>(), [(key.to_owned(), all[key].clone())]);
    }
    let open =
        async |of| world.store.runs().open_order_counts(of).await.unwrap().into_iter().collect::<Vec<_>>();
    assert_eq!(open(None).await, [("minha-loja".to_owned(), 1)]);
    let (mine, other) = (minha_loja(), store_key("outra"));
    assert_eq!(open(Some(&mine)).await, open(None).await);
    assert!(open(Some(&other)).await.is_empty());
}

/// Records an audit of now, with the rows that differ: key, part, and whether only columns do.
async fn note_audit(
    world: &World,
    lease: &Lease,
    resource: &str,
    (compared, differing): (u64, u64),
    named: &[(&str, &str, bool)],
) {
    let audit = AuditRecord { resource: resource.into(), at: world.clock.now(), compared, differing };
    let difference = |(key, part, is_edited): &(&str, &str, bool)| AuditDifference {
        resource: resource.into(),
        key: (*key).into(),
        part: (*part).into(),
        is_edited: *is_edited,
    };
    let mut tx = world.store.begin(lease).await.unwrap();
    tx.sweeps().note_audits(vec![audit], named.iter().map(difference).collect(), false).await.unwrap();
    tx.commit().await.unwrap();
    world.clock.advance(Duration::from_secs(1));
}

/// Returns the parts of orders that open differences are in.
async fn differing_parts(world: &World) -> Vec<Subresource> {
    let all = world.store.runs().sweep_overview(None).await.unwrap();
    let one = world.store.runs().sweep_overview(Some(&minha_loja())).await.unwrap();
    assert_eq!(all["minha-loja"], one["minha-loja"]);
    one["minha-loja"].differing_parts.clone()
}

/// Returns the differences of the last audit of a resource that are open.
async fn open_differences(world: &World, resource: &str) -> u64 {
    let all = world.store.runs().sweep_overview(Some(&minha_loja())).await.unwrap();
    all["minha-loja"].audits.iter().find(|audit| audit.resource == resource).unwrap().differing
}

// withstands: F134
pub(crate) async fn a_difference_is_open_until_its_row_is_written_or_read_again(world: &World) {
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order("1", "paid"), order("2", "paid")]).await;
    world.write_products(&lease, Op::Insert, vec![product("A", "A")]).await;
    world.clock.advance(Duration::from_secs(1));
    let named = [("1", "order", false), ("2", "order", true), ("2", "shipments", false)];
    note_audit(world, &lease, "orders", (40, 4), &named).await;
    assert_eq!(open_differences(world, "orders").await, 4, "one is not named");
    assert_eq!(differing_parts(world).await, [Subresource::Order, Subresource::Shipments]);
    let names = async |resource: &str| -> Vec<String> {
        let open = world.store.runs().open_differences(&minha_loja(), resource).await.unwrap();
        open.iter().map(|of| format!("{} {} {} {}", of.resource, of.key, of.part, of.is_edited)).collect()
    };
    let [first, second, third] = ["orders 1 order false", "orders 2 order true", "orders 2 shipments false"];
    assert_eq!(names("orders").await, [first, second, third]);
    let read = async |of: &[(&str, Subresource)]| {
        let read = of.iter().map(|(number, of)| (OrderNumber::new(*number), *of, ContentHash::of(b"x")));
        let mut tx = world.store.begin(&lease).await.unwrap();
        tx.staleness().note_subresources(read.collect()).await.unwrap();
        tx.commit().await.unwrap();
    };
    read(&[("1", Subresource::Order)]).await;
    assert_eq!(open_differences(world, "orders").await, 3, "a reading writes what differs");
    assert_eq!(names("orders").await, [second, third]);
    read(&[("2", Subresource::Order), ("2", Subresource::Shipments)]).await;
    assert_eq!(open_differences(world, "orders").await, 2, "no reading shows edited columns");
    assert_eq!(
        (names("orders").await, differing_parts(world).await),
        (vec![second.to_owned()], vec![Subresource::Order])
    );
    world.write_orders(&lease, Op::Update, vec![order("2", "preparing")]).await;
    assert_eq!(open_differences(world, "orders").await, 1);
    note_audit(world, &lease, "orders", (20, 0), &[]).await;
    assert_eq!(open_differences(world, "orders").await, 1, "a smaller audit does not hide it");
    note_audit(world, &lease, "orders", (39, 0), &[]).await;
    assert_eq!(open_differences(world, "orders").await, 0);
    note_audit(world, &lease, "orders", (40, 1), &[("1", "events", false)]).await;
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.mirror().mark_gone(Resource::Orders, vec!["1".into()]).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(
        open_differences(world, "orders").await,
        0,
        "nothing reads the parts of an order that is gone"
    );
    assert_eq!((names("orders").await, differing_parts(world).await), (vec![], vec![]));
    note_audit(world, &lease, "products", (8, 1), &[("A", "", false)]).await;
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.staleness().note_products_read(vec![ProductId::new("A")]).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(open_differences(world, "products").await, 0);
    note_audit(world, &lease, "products", (2, 1), &[("B", "", false)]).await;
    assert_eq!(open_differences(world, "products").await, 1, "a closed difference hides no later one");
    let sample = |differing| AuditRecord {
        resource: "products".into(),
        at: world.clock.now(),
        compared: 20,
        differing,
    };
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.sweeps().note_audits(vec![sample(0)], Vec::new(), true).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(
        open_differences(world, "products").await,
        1,
        "a sample of other rows says nothing of this one"
    );
    assert_eq!(world.tables.list("SELECT key FROM audit_differences").await, ["B"]);
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.sweeps().note_audits(vec![sample(2)], Vec::new(), true).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(open_differences(world, "products").await, 2, "it tells what it finds itself");
}

pub(crate) async fn rows_are_counted_unless_they_are_gone_or_closed(world: &World) {
    let lease = world.lease().await;
    let orders = [("1", "paid"), ("2", "delivered"), ("3", "shipped")];
    world.write_orders(&lease, Op::Insert, orders.map(|(n, status)| order(n, status)).to_vec()).await;
    world.write_products(&lease, Op::Insert, ["A", "B"].map(|id| product(id, id)).to_vec()).await;
    let counts = async || world.store.runs().live_counts(&minha_loja()).await.unwrap();
    assert_eq!(counts().await, [3, 2, 2]);
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.mirror().mark_gone(Resource::Orders, vec!["3".into()]).await.unwrap();
    tx.mirror().mark_gone(Resource::Products, vec!["A".into()]).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(counts().await, [2, 1, 1]);
    // A row that cannot be mirrored and is on record counts once; an order that no listing has shown does not count.
    let failure = |key: &str, code: &str| Failure {
        key: key.to_owned(),
        code: code.to_owned(),
        error: "não veio".to_owned(),
        hint: "tente de novo".to_owned(),
        message: None,
    };
    let orders =
        [("1", "http_422"), ("3", "NOT_FOUND"), ("4", "NOT_FOUND"), ("5", "poisoned"), ("6", "not_found")];
    let products = [("A", "http_422"), ("B", "http_422"), ("C", "poisoned"), ("D", "shared_sku")];
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.failures()
        .note_failures(Resource::Orders, &orders.map(|(key, code)| failure(key, code)))
        .await
        .unwrap();
    tx.failures()
        .note_failures(Resource::Products, &products.map(|(key, code)| failure(key, code)))
        .await
        .unwrap();
    tx.commit().await.unwrap();
    assert_eq!(counts().await, [5, 1, 3]);
    assert_eq!(world.store.runs().live_counts(&store_key("outra")).await.unwrap(), [0; 3]);
}

pub(crate) async fn an_order_is_as_it_was_received_unless_it_is_gone(world: &World) {
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order("1", "paid"), order("2", "paid")]).await;
    world.write_products(&lease, Op::Insert, vec![product("A", "Caneca")]).await;
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.mirror().mark_gone(Resource::Orders, vec!["2".into()]).await.unwrap();
    tx.commit().await.unwrap();
    let keys = ["1", "2", "3"].map(str::to_owned).to_vec();
    let received = world.store.lookups().orders_as_received(&minha_loja(), keys).await.unwrap();
    assert_eq!(received.keys().collect::<Vec<_>>(), ["1"]);
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(json(&received["1"]), json(order("1", "paid").raw.as_str()));
    let status = async |number: &str| {
        world.store.lookups().order_status(&minha_loja(), &OrderNumber::new(number)).await.unwrap()
    };
    assert_eq!(status("1").await, (Some("paid".to_owned()), order("1", "paid").updated_at));
    assert_eq!(status("3").await, (None, None));
    let known = async |number: &str| {
        world.store.lookups().known_order(&minha_loja(), &OrderNumber::new(number)).await.unwrap()
    };
    let paid = order("1", "paid");
    let expected = KnownOrder {
        has_status: true,
        has_total: paid.total_order.is_some(),
        has_lines: !paid.items.is_empty(),
    };
    assert_eq!(known("1").await, expected);
    assert_eq!(known("3").await, KnownOrder::default());
    let wanted = product("A", "Caneca");
    let levels = async |id: &str| {
        world.store.lookups().product_levels(&minha_loja(), &ProductId::new(id)).await.unwrap()
    };
    assert_eq!(levels("A").await, (wanted.quantity, wanted.price));
    assert_eq!(levels("Z").await, (None, None));
}
