//! The policy for people's data: what it does not keep reaches no table, and passes see no change; and what the retention
//! policy blanks stays blank.

use std::time::Duration;

use chrono::TimeDelta;
use espelho_model::{
    Clock as _, OrderNumber,
    order::Order,
    privacy::{Policy, Treatment},
    sync::Resource,
};
use espelho_store::{Lease, Op, Store, Subresource};
use serde_json::json;

use super::erasures::{CPF, EMAIL, NAME, act, canaries, deliver, order_of_canary, write_below};
use crate::world::{World, minha_loja};

async fn mirrored(world: &World) -> Lease {
    let lease = world.lease().await;
    let orders = vec![order_of_canary("N-1", "paid"), order_of_canary("N-2", "paid")];
    world.write_orders(&lease, Op::Insert, orders).await;
    write_below(world, &lease, "N-1").await;
    for (event, data) in [
        ("order.paid", json!({"order_number": "N-1", "customer_id": "C-77", "customer_name": NAME})),
        ("conversation.message", json!({"conversation_id": "CV-1", "body": NAME})),
        ("occurrence.created", json!({"occurrence_id": "O-1", "title": NAME})),
    ] {
        deliver(world, Some(event), &json!({"event": event, "data": data})).await;
    }
    lease
}

/// The tables that have a text of the person; a split names who is paid, and nothing in it shows the buyer.
async fn with_person(world: &World) -> Vec<String> {
    let mut found = canaries(world).await;
    found.retain(|found| !found.starts_with("order_splits: "));
    found
}

async fn content(store: &Store, number: &str) -> i64 {
    let known = store.mirror().known(&minha_loja(), Resource::Orders, vec![number.to_owned()]).await.unwrap();
    known[number].content_hash.as_i64()
}

pub(crate) async fn an_installation_keeps_the_identity_that_was_made_once(world: &World) {
    assert_eq!(world.store.installation().await.unwrap(), None);
    let made = world.store.make_installation().await.unwrap();
    assert_eq!(world.store.make_installation().await.unwrap(), made);
    assert_eq!(world.store.installation().await.unwrap(), Some(made));
    assert_eq!(world.tables.count("erasure_keys").await, 1);
}

pub(crate) async fn what_the_policy_leaves_out_reaches_no_table(world: &World) {
    let world = &world.under(Policy::of_all(Treatment::LeaveOut)).await;
    let lease = mirrored(world).await;
    // The ERP's own text stays; the answer is the marketplace's, and the policy applies to it.
    act(world, &lease, "N-1").await;
    let answers = world.tables.list("SELECT COALESCE(answer, '') FROM effects").await;
    assert_eq!(answers.len(), 1);
    assert!(answers[0].contains("N-1") && !answers[0].contains(NAME), "{answers:?}");
    world.tables.execute("DELETE FROM effects").await;
    assert_eq!(with_person(world).await, Vec::<String>::new());
    let orders = world.tables.all("orders").await;
    for column in ["customer_id", "customer_name", "customer_city", "notes"] {
        assert_eq!(orders[0].get(column), None, "{column}");
    }
    assert_eq!((orders[0].get("total_order"), orders[0].get("status")), (Some("210"), Some("paid")));
    let raw: serde_json::Value = serde_json::from_str(orders[0].get("raw").unwrap()).unwrap();
    assert_eq!(
        (&raw["customer"]["city"], &raw["customer"]["address"]["state"], &raw["items"][0]["unit_price"]),
        (&json!(null), &json!("PE"), &json!(9.955))
    );
    let invoices = world.tables.all("order_invoices").await;
    assert!(invoices[0].get("access_key").is_some(), "the law makes keep what is fiscal");
    assert_eq!(world.tables.count("conversation_messages").await, 1);
    assert_eq!(world.tables.count("webhook_inbox").await, 3);
}

pub(crate) async fn what_the_policy_keeps_is_kept_to_the_byte(world: &World) {
    let world = &world.under(Policy::default()).await;
    let _lease = mirrored(world).await;
    let raw = world.tables.list("SELECT customer_name FROM orders ORDER BY order_number").await;
    assert_eq!(raw, [NAME, NAME]);
    assert!(!canaries(world).await.is_empty());
    assert_eq!(world.tables.count("erasure_keys").await, 0, "no key is needed");
}

pub(crate) async fn a_row_is_unchanged_under_its_policy_and_written_again_under_another(world: &World) {
    let received = order_of_canary("N-1", "paid").raw.content_hash().as_i64();
    let world = &world.under(Policy::of_all(Treatment::LeaveOut)).await;
    let lease = mirrored(world).await;
    assert_eq!(content(&world.store, "N-1").await, received, "as the marketplace sent it");
    let number = OrderNumber::new("N-1");
    let hash = order_of_canary("N-1", "paid").raw.content_hash();
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.staleness().note_subresources(vec![(number.clone(), Subresource::Events, hash)]).await.unwrap();
    tx.commit().await.unwrap();
    let side = async |store: &Store| {
        store.staleness().order_subresources(&minha_loja(), &number).await.unwrap()[0].content_hash
    };
    assert_eq!(side(&world.store).await, hash);
    let told = world.tables.count("changes").await;
    world.clock.advance(Duration::from_secs(60));
    write_below(world, &lease, "N-1").await;
    assert_eq!(world.tables.count("changes").await, told, "a second reading changes nothing");
    lease.release().await.unwrap();

    let world = &world.under(Policy::default()).await;
    assert_ne!(content(&world.store, "N-1").await, received, "the next reading writes it again");
    assert_ne!(side(&world.store).await, hash);
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Update, vec![order_of_canary("N-1", "paid")]).await;
    write_below(world, &lease, "N-1").await;
    assert_eq!(content(&world.store, "N-1").await, received);
    let names = world.tables.list("SELECT customer_name FROM orders WHERE order_number = 'N-1'").await;
    assert_eq!(names, [NAME]);
    let events = world.tables.list("SELECT description FROM order_events").await;
    assert_eq!(events, [NAME]);
}

pub(crate) async fn a_hashed_person_stays_one_person_and_is_found_to_be_forgotten(world: &World) {
    let world = &world.under(Policy::of_all(Treatment::Hash)).await;
    let lease = mirrored(world).await;
    assert_eq!(with_person(world).await, Vec::<String>::new());
    let ids = world.tables.list("SELECT DISTINCT customer_id FROM orders").await;
    assert!(ids.len() == 1 && ids[0].starts_with("hash:"), "{ids:?}");
    assert_eq!(world.tables.count("erasure_keys").await, 1);
    let erasures = world.store.erasures();
    for asked in ["C-77", CPF, EMAIL] {
        let found = erasures.find(&minha_loja(), asked).await.unwrap().unwrap();
        assert_eq!(found.orders.len(), 2, "{asked}");
    }
    let mut found = erasures.find(&minha_loja(), CPF).await.unwrap().unwrap();
    erasures.erase(&minha_loja(), &mut found, "ana").await.unwrap();
    let ids = world.tables.list("SELECT COALESCE(customer_id, '') FROM orders").await;
    assert_eq!(ids, ["", ""]);
    assert!(erasures.erased_at(&minha_loja(), CPF).await.unwrap().is_some());
    let at = Some(world.clock.now() - TimeDelta::days(1));
    let older = Order { created_at: at, ..order_of_canary("N-0", "delivered") };
    world.write_orders(&lease, Op::Insert, vec![older]).await;
    let ids = world.tables.list("SELECT COALESCE(customer_id, '') FROM orders").await;
    assert_eq!(ids, ["", "", ""], "an older order of the person is recognized");
}

pub(crate) async fn old_objects_and_messages_are_blanked_once_and_stay_so(world: &World) {
    let lease = mirrored(world).await;
    let finished = |number: &str, days: i64| {
        let at = Some(world.clock.now() - TimeDelta::days(days));
        Order { created_at: at, updated_at: at, ..order_of_canary(number, "delivered") }
    };
    let old = finished("N-1", 100);
    world.write_orders(&lease, Op::Update, vec![old.clone()]).await;
    world.write_orders(&lease, Op::Insert, vec![finished("N-3", 10)]).await;
    let before = world.clock.now() - TimeDelta::days(30);
    let mirror = world.store.mirror();
    assert_eq!(mirror.old_objects(&minha_loja(), before).await.unwrap().rows, 1);
    assert_eq!(mirror.blank_objects(&minha_loja(), before).await.unwrap(), 1);
    assert_eq!(mirror.blank_objects(&minha_loja(), before).await.unwrap(), 0);
    assert_eq!(mirror.old_objects(&minha_loja(), before).await.unwrap().rows, 0);
    let blank = "SELECT order_number FROM orders WHERE CAST(raw AS TEXT) = '{}'";
    assert_eq!(world.tables.list(blank).await, ["N-1"], "open and young orders keep theirs");
    for (table, expected) in
        [("order_items", 1), ("order_events", 1), ("shipments", 1), ("order_invoices", 0)]
    {
        let sql = format!("SELECT order_number FROM {table} WHERE CAST(raw AS TEXT) = '{{}}'");
        assert_eq!(world.tables.list(&sql).await.len(), expected, "{table}");
    }
    assert_eq!(content(&world.store, "N-1").await, old.raw.content_hash().as_i64(), "it looks unchanged");

    world.clock.advance(Duration::from_secs(40 * 86_400));
    let before = world.clock.now() - TimeDelta::days(30);
    assert_eq!(mirror.old_messages(&minha_loja(), before).await.unwrap().rows, 3);
    assert_eq!(mirror.blank_messages(&minha_loja(), before).await.unwrap(), 3);
    assert_eq!(mirror.blank_messages(&minha_loja(), before).await.unwrap(), 0);
    for sql in [
        "SELECT COALESCE(body, '') || CAST(raw AS TEXT) FROM conversation_messages",
        "SELECT COALESCE(reason, '') || CAST(raw AS TEXT) FROM conversations",
        "SELECT COALESCE(title, '') || CAST(raw AS TEXT) FROM occurrences",
    ] {
        assert_eq!(world.tables.list(sql).await, ["{}"], "{sql}");
    }
}

pub(crate) async fn old_runs_and_commands_go_except_what_later_work_relies_on(world: &World) {
    let insert = |id: u32, state: &str, passes: &str| {
        format!(
            "INSERT INTO sync_runs (store, kind, state, started_at, finished_at, passes) VALUES \
             ('minha-loja', 'resync', '{state}', '2020-01-01T00:00:{id:02}.000000Z', \
             '2020-01-01T00:00:{id:02}.000000Z', '{passes}')"
        )
    };
    for id in 0..25 {
        let passes = if id == 2 { "orders:complete products:complete" } else { "orders:whole" };
        world.tables.execute(&insert(id, if id == 2 { "complete" } else { "partial" }, passes)).await;
    }
    let now = world.clock.now();
    let runs = world.store.runs();
    assert_eq!(runs.prunable_runs(now).await.unwrap().rows, 2, "those before the last complete one");
    assert_eq!(runs.prune_runs(now).await.unwrap(), 2);
    assert_eq!(runs.prune_runs(now).await.unwrap(), 0);
    assert!(runs.has_all_products(&minha_loja()).await.unwrap());

    for (kind, state) in [
        ("order.notes", "done"),
        ("order.status", "ignored"),
        ("order.notes", "failed"),
        ("order.notes", "doubtful"),
        ("order.notes", "new"),
        ("product.update", "done"),
    ] {
        let insert = format!(
            "INSERT INTO commands (store, kind, key, data) VALUES ('minha-loja', '{kind}', 'N-1', '{{\"a\":1}}')"
        );
        world.tables.execute(&insert).await;
        let set = format!(
            "UPDATE commands SET state = '{state}', updated_at = '2020-01-01T00:00:00.000000Z' \
             WHERE id = (SELECT max(id) FROM commands)"
        );
        world.tables.execute(&set).await;
    }
    let commands = world.store.commands();
    assert_eq!(commands.prunable_commands(now).await.unwrap().rows, 2);
    assert_eq!(commands.prune_commands(now).await.unwrap(), 2);
    let left = world.tables.list("SELECT state FROM commands ORDER BY id").await;
    assert_eq!(left, ["failed", "doubtful", "new", "done"]);
}
