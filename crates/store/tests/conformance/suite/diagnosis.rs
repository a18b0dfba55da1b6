//! Diagnosis: opening without migrating, overview, holders of stores, explaining a row, notifications.

use std::{sync::Arc, time::Duration};

use espelho_model::{
    StoreKey,
    sync::{Counts, Resource},
    text,
    text::{Language, Locale},
};
use espelho_store::{
    Error, Failure, IntentKind, KeptToken, NewDelivery, Op, ReadSoFar, RunResult, Store, StoreProof,
    TableStates,
};

use crate::{
    examples::{decimal, order, order_of, time},
    hand_clock::{HandClock, opening_hour},
    kinds::KINDS,
    specimens::order_number,
    world::{World, minha_loja, store_key},
};

async fn attach(world: &World) -> Result<Store, Error> {
    Store::attach(&world.url, Arc::<HandClock>::clone(&world.clock)).await
}

fn failure(key: &str, code: &str) -> Failure {
    Failure {
        key: key.into(),
        code: code.into(),
        error: "the cause".into(),
        hint: "the step".into(),
        message: None,
    }
}

async fn fail(world: &World, failures: &[Failure]) {
    let lease = world.lease().await;
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.failures().note_failures(Resource::Orders, failures).await.unwrap();
    tx.commit().await.unwrap();
    lease.release().await.unwrap();
}

async fn deliver(world: &World, bodies: &[&str]) {
    let delivery = |body: &&str| NewDelivery {
        store: minha_loja(),
        received_at: opening_hour(),
        event: Some("order.paid".to_owned()),
        digest: "d".repeat(64),
        body: body.as_bytes().to_vec(),
    };
    world.store.inbox().keep_deliveries(bodies.iter().map(delivery).collect()).await.unwrap();
}

pub(crate) async fn a_database_of_this_version_is_opened_as_it_is(world: &World) {
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order("1", "paid")]).await;
    let other = attach(world).await.unwrap();
    assert_eq!(other.mirror().count(&minha_loja(), Resource::Orders).await.unwrap(), 1);
}

pub(crate) async fn a_database_of_another_version_is_not_opened_by_who_only_looks(world: &World) {
    let later = "UPDATE _sqlx_migrations SET version = 9999 WHERE version = 1";
    assert_eq!(world.tables.execute(later).await, 1);
    assert!(matches!(attach(world).await.err(), Some(Error::Newer { found: 9999 })));
    world.tables.execute("DELETE FROM _sqlx_migrations WHERE version > 2").await;
    let error = attach(world).await.err().unwrap();
    assert!(matches!(error, Error::Older { found: 2, .. }), "{error:?}");
    assert!(error.hint().contains("espelho migrate"), "{}", error.hint());
    world.tables.execute("DROP TABLE _sqlx_migrations").await;
    assert!(matches!(attach(world).await.err(), Some(Error::Older { found: 0, .. })));
}

pub(crate) async fn recorded_row_counts_say_when_they_were_counted(world: &World) {
    let (mine, other) = (minha_loja(), store_key("outra"));
    let overview = world.store.overview();
    assert_eq!(overview.recorded_table_states(None).await.unwrap(), TableStates::default());
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order_of("1", "paid", &["1", "2"])]).await;
    let counted = overview.table_states(None).await.unwrap();
    overview.record_table_states(None, &counted).await.unwrap();
    world.write_orders(&lease, Op::Insert, vec![order("2", "paid")]).await;
    world.clock.advance(Duration::from_secs(60));

    let recorded = overview.recorded_table_states(Some(&mine)).await.unwrap();
    assert_eq!((recorded.clone(), recorded.counted_at), (counted.clone(), Some(opening_hour())));
    assert!(overview.recorded_table_states(Some(&other)).await.unwrap().tables.is_empty());

    let again = overview.table_states(Some(&mine)).await.unwrap();
    overview.record_table_states(Some(&mine), &again).await.unwrap();
    assert_eq!(overview.recorded_table_states(None).await.unwrap(), again);
    assert_eq!(again.tables["minha-loja"][0].live, 2);
    overview
        .record_table_states(
            Some(&other),
            &TableStates { counted_at: again.counted_at, ..TableStates::default() },
        )
        .await
        .unwrap();
    assert_eq!(
        overview.recorded_table_states(None).await.unwrap(),
        again,
        "each store has counts of its own"
    );
}

pub(crate) async fn all_stores_are_summed_up_at_once(world: &World) {
    assert!(world.store.overview().overview(None).await.unwrap().is_empty());
    let lease = world.lease().await;
    let run = world.store.runs().start_run(&lease, "scheduled").await.unwrap();
    world
        .write_orders(&lease, Op::Insert, vec![order_of("1", "paid", &["1", "2"]), order("2", "paid")])
        .await;
    world.clock.advance(Duration::from_secs(60));
    let counts = Counts { seen: 3, changed: 2, gone: 1, failed: 0 };
    let passes = "orders:complete".to_owned();
    let result = RunResult { state: "complete", requests: 9, counts, error: None, passes };
    world.store.runs().finish_run(run, result).await.unwrap();
    world.clock.advance(Duration::from_secs(60));
    world.store.runs().start_run(&lease, "resync").await.unwrap();
    lease.release().await.unwrap();
    fail(world, &[failure("7", "http_500"), failure("8", "http_500"), failure("9", "refused")]).await;
    deliver(world, &["a", "b"]).await;
    let token = KeptToken {
        token: "t".into(),
        expires_at: opening_hour() + Duration::from_secs(3_600),
        obtained_at: opening_hour(),
        username: "u".into(),
        base_url: "b".into(),
        password_check: None,
    };
    world.store.tokens().keep_token(&minha_loja(), token).await.unwrap();
    drop(world.lease_of(&store_key("outra")).await);

    let all = world.store.overview().overview(None).await.unwrap();
    let [(alone, bare)] = &all.iter().filter(|(key, _)| *key != "minha-loja").collect::<Vec<_>>()[..] else {
        panic!("{all:?}")
    };
    assert_eq!((alone.as_str(), bare.holder.as_ref().unwrap().0.as_str()), ("outra", "the test"));
    assert!(bare.last_run.is_none() && bare.backlog.is_none());
    let one = &all["minha-loja"];
    let begins = ReadSoFar { resource: "orders".into(), seen: 0, total: None };
    assert_eq!((bare.first_reading_ended, &bare.reading[..]), (false, &[begins][..]));
    assert_eq!((one.first_reading_ended, &one.reading[..]), (true, &[][..]));
    let last = one.last_run.as_ref().unwrap();
    assert_eq!((last.kind.as_str(), last.state.as_str(), last.finished_at), ("resync", "running", None));
    assert_eq!(one.last_success, Some(opening_hour() + Duration::from_secs(60)));
    let groups: Vec<_> = one.failures.iter().map(|f| (f.entity.as_str(), f.code.as_str(), f.rows)).collect();
    assert_eq!(groups, [("order", "http_500", 2), ("order", "refused", 1)]);
    assert_eq!((one.failures[0].error.as_str(), one.failures[0].hint.as_str()), ("the cause", "the step"));
    assert_eq!(one.backlog, Some((2, opening_hour())));
    assert_eq!(one.token_expires_at, Some(opening_hour() + Duration::from_secs(3_600)));
    let proofs = world.store.overview().proofs().await.unwrap();
    let proof = StoreProof {
        complete_at: one.last_success,
        token_expires_at: one.token_expires_at,
        backlog: one.backlog,
    };
    assert_eq!((proofs["minha-loja"], proofs["outra"]), (proof, StoreProof::default()));
    let counted = world.store.overview().table_states(None).await.unwrap();
    assert_eq!(counted.tables.keys().collect::<Vec<_>>(), ["minha-loja"]);
    let (mine, other) = (minha_loja(), store_key("outra"));
    assert_eq!(world.store.overview().table_states(Some(&mine)).await.unwrap(), counted);
    assert!(world.store.overview().table_states(Some(&other)).await.unwrap().tables.is_empty());
    let asked = world.store.overview().overview(Some(&mine)).await.unwrap();
    assert_eq!(asked.into_iter().collect::<Vec<_>>(), [("minha-loja".to_owned(), one.clone())]);
    let asked = world.store.overview().overview(Some(&other)).await.unwrap();
    assert_eq!(asked.into_iter().collect::<Vec<_>>(), [(other.to_string(), (*bare).clone())]);
    let tables: Vec<_> = counted.tables["minha-loja"]
        .iter()
        .map(|t| (t.table.as_str(), t.live, t.gone, t.last_mirrored))
        .collect();
    let at = Some(opening_hour());
    let lines = counted.tables["minha-loja"].iter().find(|t| t.table == "order_items").unwrap().live;
    assert_eq!(tables, [("orders", 2, 0, at), ("order_items", lines, 0, at)]);
    let ends = world.store.overview().token_ends().await.unwrap();
    assert_eq!(ends, [("minha-loja".to_owned(), one.token_expires_at.unwrap())]);
}

pub(crate) async fn whether_a_store_is_held_is_seen_without_touching_its_lock(world: &World) {
    let other = world.open_again().await.unwrap();
    let held = async || other.leases().held_stores().await.unwrap().unwrap().into_iter().collect::<Vec<_>>();
    assert_eq!(held().await, [""; 0]);
    let (lease, another) = (world.lease().await, world.lease_of(&store_key("outra")).await);
    assert_eq!(held().await, ["minha-loja", "outra"]);
    let holder = other.leases().lock_holder(&minha_loja()).await.unwrap().unwrap();
    assert_ne!(holder.process.id, 0);
    another.release().await.unwrap();
    assert_eq!(held().await, ["minha-loja"]);
    lease.release().await.unwrap();
    assert_eq!(held().await, [""; 0]);
    assert!(other.leases().lock_holder(&minha_loja()).await.unwrap().is_none());
    drop(other.leases().acquire(&minha_loja(), "the other").await.unwrap());
}

pub(crate) async fn an_order_is_explained_with_all_that_hangs_on_it(world: &World) {
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order_of("1", "paid", &["1", "2"])]).await;
    world.clock.advance(Duration::from_secs(60));
    world.write_orders(&lease, Op::Update, vec![order_of("1", "shipped", &["1", "2"])]).await;
    lease.release().await.unwrap();
    fail(world, &[failure("1", "http_500"), failure("2", "http_500")]).await;
    deliver(world, &["{\"order\":\"1\"}", "{\"order\":\"77\"}", ""]).await;
    let store = &minha_loja();
    let row = world.store.history().explain(store, "order", "1").await.unwrap().unwrap();
    assert_eq!((row.table, row.gone_at), ("orders", None));
    assert_eq!(row.mirrored_at, opening_hour() + Duration::from_secs(60));
    assert_eq!((row.sides["order_items"], row.sides["shipments"]), (2, 0));
    assert!(row.raw.starts_with('{'));
    let changes = world.store.history().changes_of(store, "order", "1").await.unwrap();
    assert_eq!(changes.iter().map(|(_, op, _)| op.as_str()).collect::<Vec<_>>(), ["update", "insert"]);
    let errors = world.store.history().errors_of(store, "order", "1").await.unwrap();
    assert_eq!((errors.len(), errors[0].code.as_str()), (1, "http_500"));
    assert_eq!(world.store.history().deliveries_about(store, "1").await.unwrap().len(), 1);
    assert!(world.store.history().explain(store, "order", "2").await.unwrap().is_none());
    assert!(world.store.history().explain(&store_key("outra"), "order", "1").await.unwrap().is_none());
    assert!(world.store.history().explain(store, "nothing", "1").await.unwrap().is_none());
}

pub(crate) async fn a_mirrored_order_is_read_with_every_column_and_all_that_belongs_to_it(world: &World) {
    let lease = world.lease().await;
    let number = order_number();
    world.write_orders(&lease, Op::Insert, vec![order_of(number.as_str(), "paid", &["1", "2"])]).await;
    for kind in KINDS.iter().filter(|kind| ["order_invoices", "shipments"].contains(&kind.table)) {
        kind.keep(world, &lease, &["1"], "dito").await;
    }
    let find = async |key: &str, number: &str| {
        world.store.history().mirrored_order(&store_key(key), number).await.unwrap()
    };
    let found = find("minha-loja", number.as_str()).await.unwrap();
    let (order, line) = (&found.order, &found.items[0]);
    assert_eq!((order.text("status"), order.number("total_order")), (Some("paid"), Some(decimal("210"))));
    assert_eq!(order.time("ship_by"), Some(time("2026-11-28T21:00:00Z")));
    assert!(order.is_true("is_awaiting_campaign") && !order.is_true("is_collective"));
    assert_eq!((line.text("sku"), line.number("quantity")), (Some("CAMISA-P"), Some(decimal("2"))));
    assert_eq!((found.items.len(), found.shipments.len(), found.invoices.len()), (2, 1, 1));
    assert_eq!(found.shipments[0].text("tracking_code"), Some("dito"));
    assert_eq!(found.invoices[0].text("status"), Some("dito"));
    let shown: serde_json::Value = serde_json::to_value(&found).unwrap();
    assert_eq!(shown["order"]["raw"]["items"], serde_json::json!(["1", "2"]));
    for (table, row) in [
        ("orders", &shown["order"]),
        ("order_items", &shown["items"][0]),
        ("shipments", &shown["shipments"][0]),
        ("order_invoices", &shown["invoices"][0]),
    ] {
        let internal = ["store", "order_number", "listing_hash", "content_hash"];
        let columns = world.tables.columns(table).await;
        for column in columns.iter().map(|column| &column.name) {
            let is_shown = internal.contains(&column.as_str()) || row.get(column).is_some();
            assert!(is_shown, "{table}.{column} is missing in {row}");
        }
    }
    assert!(find("minha-loja", "nothing").await.is_none());
    assert!(find("outra", number.as_str()).await.is_none());
}

/// Every table can be explained by its name in the feed.
pub(crate) async fn every_row_is_explained_by_its_name_in_the_feed(world: &World) {
    let lease = world.lease().await;
    for kind in KINDS {
        kind.keep(world, &lease, &["1"], "dito").await;
    }
    for change in world.store.changes().changes_after(0, 1_000).await.unwrap() {
        assert!(espelho_store::explainable().contains(&change.entity.as_str()), "{change:?}");
        let row = world.store.history().explain(&change.store, &change.entity, &change.key).await.unwrap();
        assert!(row.is_some(), "{change:?} is not explained");
    }
}

pub(crate) async fn errors_are_read_of_one_store_or_of_all(world: &World) {
    fail(world, &[failure("1", "a"), failure("2", "b")]).await;
    let (one, other) = (minha_loja(), store_key("outra"));
    let of = async |store, limit| world.store.history().errors(store, limit).await.unwrap();
    let all = of(None, 10).await;
    assert_eq!(all.iter().map(|row| row.key.as_str()).collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!(of(Some(&one), 10).await, all);
    assert_eq!(of(Some(&one), 1).await, all[..1]);
    assert!(of(Some(&other), 10).await.is_empty());
}

/// Rows are written in the installation's language, and read in another where they keep their message.
pub(crate) async fn the_words_on_rows_are_read_in_the_language_of_who_asks(world: &World) {
    for (table, columns, values) in [
        ("erp_stock", "sku, location_id, quantity", "'A', '1', 5"),
        ("erp_prices", "sku, min_quantity, price", "'A', 1, 5"),
        ("commands", "kind, key, data", "'order.notes', 'A', '{}'"),
    ] {
        let sql = format!("INSERT INTO {table} (store, {columns}) VALUES ('minha-loja', {values})");
        world.tables.execute(&sql).await;
    }
    let english = world.store.clone().read_in(Locale::of(Language::English));
    let zero = text!("push-price-zero").message(Locale::of(Language::English));
    for (said, expected) in [
        ("{\"id\":\"push-price-zero\"}", zero.as_str()),
        ("{\"id\":\"of-a-later-version\"}", "como foi escrito"),
        ("no message", "como foi escrito"),
    ] {
        for (state, rows) in [("held", 3), ("waiting", 3)] {
            for table in ["erp_stock", "erp_prices", "commands"] {
                let sql = format!(
                    "UPDATE {table} SET state = '{state}', error_code = 'x', error = 'como foi escrito', hint = '', \
                     said = '{said}'"
                );
                world.tables.execute(&sql).await;
            }
            let (history, intents, releases) = (english.history(), english.intents(), english.releases());
            let mut read: Vec<String> = match state {
                "held" => releases.held_rows(None).await.unwrap().into_iter().map(|row| row.error).collect(),
                _ => intents.waiting_rows(None).await.unwrap().into_iter().map(|row| row.reason).collect(),
            };
            if state == "held" {
                let others = StoreKey::new("outra").unwrap();
                assert_eq!(releases.held_rows(Some(&minha_loja())).await.unwrap().len(), rows);
                assert!(releases.held_rows(Some(&others)).await.unwrap().is_empty());
                let errors = history.errors(None, 10).await.unwrap();
                assert_eq!(errors.len(), rows);
                read.extend(errors.into_iter().map(|row| row.error));
                let of = history.errors_of(&minha_loja(), "stock", "A/1").await.unwrap();
                read.extend(of.into_iter().map(|row| row.error));
            }
            for (kind, key) in
                [(IntentKind::Stock, "A/1"), (IntentKind::Price, "A/1"), (IntentKind::Command, "1")]
            {
                let row = releases.intent_row(minha_loja().as_str(), kind, key).await.unwrap().unwrap();
                let is_command = kind == IntentKind::Command;
                assert_eq!(
                    row.data.as_deref(),
                    is_command.then_some("{}"),
                    "a command says what it asks for"
                );
                read.extend(row.error);
            }
            assert!(read.len() >= 2 * rows, "{state}: {read:?}");
            assert!(read.iter().all(|words| words == expected), "{state}, {said}: {read:?}");
        }
    }
    let as_written = world.store.intents().waiting_rows(None).await.unwrap();
    assert!(as_written.iter().all(|row| row.reason == "como foi escrito"));
}

pub(crate) async fn who_listens_hears_of_changes_where_the_database_tells(world: &World) {
    let lease = world.lease().await;
    let mut watch = world.store.changes().watch_changes().await.unwrap();
    assert_eq!(watch.hears(), world.url.starts_with("postgres"));
    world.write_orders(&lease, Op::Insert, vec![order("1", "paid")]).await;
    world.store.flush_notifications().await.unwrap();
    if watch.hears() {
        tokio::time::timeout(Duration::from_secs(30), watch.changed()).await.unwrap();
    }
}
