//! Erasures: nothing of the person stays or comes back, and the order does.

use std::time::Duration;

use chrono::TimeDelta;
use espelho_model::{Clock as _, OrderNumber, RawJson, financial::OrderFinancial, order::Order};
use espelho_store::{EffectOutcome, EffectState, Lease, NewDelivery, NewEffect, Op};
use serde_json::json;

use crate::{
    examples::{line, order},
    hand_clock::opening_hour,
    specimens::{conversation, event, financial, invoice, label, message, occurrence, shipment, split},
    world::{World, minha_loja},
};

pub(super) const NAME: &str = "Canária Ninguém";
pub(super) const EMAIL: &str = "canaria.ninguem@example.com";
pub(super) const CPF: &str = "529.982.247-25";
const PHONE: &str = "+55 11 91234-5678";
const STREET: &str = "Rua da Canária Perdida";
const CANARIES: [&str; 6] = [NAME, EMAIL, CPF, "52998224725", PHONE, STREET];

fn person() -> serde_json::Value {
    json!({"id": "C-77", "name": NAME, "email": EMAIL, "cpf": CPF, "phones": [{"phone": PHONE}], "city": "Recife",
        "address": {"street": STREET, "number": "5", "state": "PE"}})
}

fn raw(value: &serde_json::Value) -> RawJson {
    RawJson::new(&value.to_string())
}

pub(super) fn order_of_canary(number: &str, status: &str) -> Order {
    let item = json!({"id": "1", "name": "Caneca", "notes": NAME, "unit_price": 9.955});
    let body = json!({"order_number": number, "status": status, "customer": person(), "items": [item],
        "metadata": {"gift": {"to": NAME}}, "shipping": {"carrier_name": "Correios", "to": format!("{STREET}, 5")}});
    let mut items = vec![line("1")];
    items[0].raw = raw(&item);
    let (id, name) = (Some("C-77".to_owned()), Some(NAME.to_owned()));
    Order {
        customer_id: id,
        customer_name: name,
        notes: Some(format!("ligar {PHONE}")),
        items,
        raw: raw(&body),
        ..order(number, status)
    }
}

/// The second recipient is the store.
fn financial_of_canary() -> OrderFinancial {
    let mut own = split("2", "Loja");
    own.raw = raw(&json!({"id": "2", "recipient": "Loja"}));
    financial(vec![split("1", NAME), own], Vec::new(), Vec::new())
}

pub(super) async fn write_below(world: &World, lease: &Lease, number: &str) {
    let number = OrderNumber::new(number);
    let mut tx = world.store.begin(lease).await.unwrap();
    let mut document = invoice("1", "issued");
    document.raw = raw(&json!({"id": "1", "access_key": document.access_key, "recipient": person()}));
    tx.mirror().write_invoices(&number, vec![document]).await.unwrap();
    let mut happened = event("1", NAME);
    happened.metadata = Some(raw(&json!({"by": {"name": NAME}})));
    happened.raw = raw(&json!({"id": "1", "description": NAME, "new_status": "preparing"}));
    tx.mirror().write_order_events(&number, vec![happened]).await.unwrap();
    tx.mirror().write_financial(&number, financial_of_canary()).await.unwrap();
    let mut parcel = shipment("S-1", "BR123");
    parcel.raw = raw(&json!({"id": "S-1", "shipping_address": person()["address"], "receiver": NAME}));
    parcel.labels = vec![label("L-1", "completed")];
    tx.mirror().write_shipments(&number, vec![parcel]).await.unwrap();
    let mut talk = conversation("CV-1", "open");
    (talk.order_number, talk.raw) = (Some(number.clone()), raw(&json!({"customer_name": NAME})));
    tx.mirror().write_conversations(vec![talk]).await.unwrap();
    let mut said = message("M-1", NAME);
    (said.conversation_id, said.raw) =
        (espelho_model::ConversationId::new("CV-1"), raw(&json!({"body": NAME})));
    tx.mirror().write_messages(vec![said]).await.unwrap();
    let mut problem = occurrence("O-1", &format!("Queixa de {NAME}"));
    problem.raw = raw(&json!({"title": format!("Queixa de {NAME}")}));
    tx.mirror().write_occurrences(vec![problem]).await.unwrap();
    tx.commit().await.unwrap();
}

pub(super) async fn deliver(world: &World, event: Option<&str>, body: &serde_json::Value) {
    let body = body.to_string();
    let delivery = NewDelivery {
        store: minha_loja(),
        received_at: opening_hour(),
        event: event.map(str::to_owned),
        digest: "0".repeat(64),
        body: body.into_bytes(),
    };
    world.store.inbox().keep_deliveries(vec![delivery]).await.unwrap();
}

/// Delivers an event of the order that names the person, and a message about it.
async fn deliver_news_of_canary(world: &World, message: &str) {
    let paid = json!({"event": "order.paid", "data": {"order_number": "N-1", "customer_name": NAME}});
    deliver(world, None, &paid).await;
    let said = json!({"event": "conversation.message", "data": {"conversation_id": "CV-1", "body": message}});
    deliver(world, None, &said).await;
}

pub(super) async fn act(world: &World, lease: &Lease, number: &str) {
    let effect = NewEffect {
        key: format!("order/{number}"),
        kind: "order.notes",
        command: None,
        request: format!("PUT /orders/{number}/notes {}", json!({"notes": NAME})),
        evidence: Some(json!({"order": number, "notes": NAME}).to_string()),
    };
    let journal = world.store.journal();
    let id = journal.plan_effect(lease, effect).await.unwrap();
    journal.note_sent(lease, id).await.unwrap();
    let answer = Some(json!({"order_number": number, "customer": person()}).to_string());
    let settled = EffectOutcome { state: EffectState::Confirmed, code: None, note: None, answer };
    journal.settle_effect(lease, id, settled).await.unwrap();
}

/// The tables that have a text of the person, with that text.
pub(super) async fn canaries(world: &World) -> Vec<String> {
    let mut found = Vec::new();
    for table in world.tables.names().await {
        let rows = format!("{:?}", world.tables.all(&table).await);
        for canary in CANARIES {
            let hex: String = canary.bytes().map(|byte| format!("{byte:02X}")).collect();
            if rows.contains(canary) || rows.contains(&hex) {
                found.push(format!("{table}: {canary}"));
            }
        }
    }
    found
}

async fn mirrored(world: &World) -> Lease {
    let lease = world.lease().await;
    world.write_orders(&lease, Op::Insert, vec![order_of_canary("N-1", "paid"), order("N-2", "paid")]).await;
    write_below(world, &lease, "N-1").await;
    deliver_news_of_canary(world, PHONE).await;
    act(world, &lease, "N-1").await;
    world
        .tables
        .execute(&format!(
            "INSERT INTO commands (store, kind, key, data, state) VALUES \
             ('minha-loja', 'order.notes', 'N-1', '{{\"notes\": \"{NAME}\"}}', 'done'), \
             ('minha-loja', 'order.status', 'N-1', '{{\"status\": \"cancelled\", \"data\": {{\"reason\": \"{NAME}\"}}}}', 'done')"
        ))
        .await;
    world.tables.execute("UPDATE commands SET state = 'done'").await;
    world.tables.execute("UPDATE commands SET state = 'failed' WHERE kind = 'order.status'").await;
    lease
}

pub(crate) async fn a_person_is_erased_from_every_table_and_the_order_stays(world: &World) {
    let lease = mirrored(world).await;
    let erasures = world.store.erasures();
    let mut found = erasures.find(&minha_loja(), EMAIL).await.unwrap().unwrap();
    assert_eq!(found.orders, ["N-1".to_owned()].into());
    let before = canaries(world).await;
    let (counted, open) = erasures.count(&minha_loja(), &found).await.unwrap();
    assert_eq!((canaries(world).await, open), (before, 0), "counting changes nothing");
    let hashes = "SELECT CAST(content_hash AS TEXT) FROM orders ORDER BY order_number";
    let hash = world.tables.list(hashes).await;
    let erasure = erasures.erase(&minha_loja(), &mut found, "ana").await.unwrap();
    assert_eq!(erasure.counts, counted);
    for table in [
        "orders",
        "order_items",
        "order_invoices",
        "order_events",
        "order_splits",
        "shipments",
        "conversations",
        "conversation_messages",
        "occurrences",
        "webhook_inbox",
        "effects",
        "commands",
    ] {
        assert!(counted.contains_key(table), "{table} in {counted:?}");
    }
    assert_eq!(canaries(world).await, Vec::<String>::new());
    assert_eq!(world.tables.list(hashes).await, hash, "the next read finds it unchanged");
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.compare_columns();
    let counts = tx.mirror().write_financial(&OrderNumber::new("N-1"), financial_of_canary()).await.unwrap();
    assert_eq!(counts.changed, 0, "a blanked row is no edit");
    drop(tx);
    let orders = world.tables.all("orders").await;
    let erased = orders.iter().find(|row| row.get("order_number") == Some("N-1")).unwrap();
    assert_eq!(erased.nulls(), ["customer_id", "customer_name", "gone_at", "notes"]);
    assert_eq!((erased.get("total_order"), erased.get("customer_city")), (Some("210"), Some("Ji-Paraná")));
    let raw: serde_json::Value = serde_json::from_str(erased.get("raw").unwrap()).unwrap();
    assert_eq!((&raw["customer"]["city"], &raw["items"][0]["unit_price"]), (&json!("Recife"), &json!(9.955)));
    assert_eq!(raw["shipping"]["carrier_name"], "Correios");
    let other = orders.iter().find(|row| row.get("order_number") == Some("N-2")).unwrap();
    assert_eq!(other.get("customer_name"), Some("João da Conceição"), "nobody else is erased");
    let states = world.tables.list("SELECT state FROM commands ORDER BY id").await;
    assert_eq!(states, ["done", "ignored"], "nothing is tried again with blank data");
    let fed = "SELECT key FROM changes WHERE entity = 'order' AND op = 'update'";
    assert_eq!(world.tables.list(fed).await, ["N-1"], "readers of the feed are told");
    let records = world.tables.all("erasures").await;
    assert_eq!((records.len(), records[0].get("erased_by")), (1, Some("ana")));
    assert_eq!(erasures.find(&minha_loja(), EMAIL).await.unwrap().map(|found| found.orders), None);
    assert_eq!(erasures.erased_at(&minha_loja(), CPF).await.unwrap(), erasure.at.map(|at| (at, true)));
    assert_eq!(erasures.erased_at(&minha_loja(), "outra@example.com").await.unwrap(), None);
    assert!(erasures.compact().await.unwrap());
}

pub(crate) async fn what_is_written_of_an_erased_order_has_no_person(world: &World) {
    let lease = mirrored(world).await;
    let erasures = world.store.erasures();
    let mut found = erasures.find(&minha_loja(), "N-1").await.unwrap().unwrap();
    erasures.erase(&minha_loja(), &mut found, "ana").await.unwrap();
    world.clock.advance(Duration::from_secs(60));
    let again = order_of_canary("N-1", "preparing");
    let hash = again.raw.content_hash();
    world.write_orders(&lease, Op::Update, vec![again]).await;
    world.tables.execute("DELETE FROM order_events").await;
    for table in ["order_invoices", "shipments", "conversations", "conversation_messages"] {
        world.tables.execute(&format!("UPDATE {table} SET content_hash = 0")).await;
    }
    world.tables.execute("UPDATE occurrences SET title = NULL").await;
    write_below_without_occurrence(world, &lease).await;
    deliver_news_of_canary(world, NAME).await;
    let planned = world.store.journal().end(&minha_loja()).await.unwrap();
    act(world, &lease, "N-1").await;
    let answers =
        world.tables.list(&format!("SELECT COALESCE(answer, '') FROM effects WHERE id > {planned}")).await;
    assert!(!answers.is_empty() && !answers[0].contains(NAME), "{answers:?}");
    world.tables.execute(&format!("DELETE FROM effects WHERE id > {planned}")).await;
    assert_eq!(canaries(world).await, Vec::<String>::new());
    let rows = "SELECT status || ' ' || CAST(content_hash AS TEXT) FROM orders WHERE order_number = 'N-1'";
    assert_eq!(world.tables.list(rows).await, [format!("preparing {}", hash.as_i64())]);
    assert_eq!(world.tables.count("order_events").await, 1);
}

async fn write_below_without_occurrence(world: &World, lease: &Lease) {
    write_below(world, lease, "N-1").await;
    // A delivery does not say which order an occurrence is about.
    world.tables.execute("DELETE FROM occurrences").await;
}

pub(crate) async fn an_older_order_of_an_erased_person_is_recognized_and_a_younger_one_is_not(world: &World) {
    let lease = mirrored(world).await;
    let erasures = world.store.erasures();
    let mut found = erasures.find(&minha_loja(), CPF).await.unwrap().unwrap();
    erasures.erase(&minha_loja(), &mut found, "ana").await.unwrap();
    let at = |days: i64| Some(world.clock.now() + TimeDelta::days(days));
    let older = Order { created_at: at(-1), ..order_of_canary("N-0", "delivered") };
    let younger = Order { created_at: at(1), ..order_of_canary("N-9", "paid") };
    let other = Order { created_at: at(-1), ..order("N-8", "paid") };
    world.write_orders(&lease, Op::Insert, vec![older, younger, other]).await;
    let names = "SELECT order_number || ' ' || COALESCE(customer_name, '') FROM orders ORDER BY order_number";
    let expected = ["N-0 ", "N-1 ", "N-2 João da Conceição", "N-8 João da Conceição", "N-9 Canária Ninguém"];
    assert_eq!(world.tables.list(names).await, expected);
    let erased = "SELECT order_number FROM erased_orders ORDER BY order_number";
    assert_eq!(world.tables.list(erased).await, ["N-0", "N-1"], "what follows of it is redacted too");
}

pub(crate) async fn a_person_is_found_by_each_identifier_with_all_orders(world: &World) {
    let lease = world.lease().await;
    let by_document = Order { customer_id: None, ..order_of_canary("N-3", "paid") };
    let orders = vec![order_of_canary("N-1", "paid"), order("N-2", "paid"), by_document];
    world.write_orders(&lease, Op::Insert, orders).await;
    for asked in ["N-1", "N-3", "C-77", EMAIL, "CANARIA.Ninguem@example.com", CPF, "52998224725", " N-1 "] {
        let found = world.store.erasures().find(&minha_loja(), asked).await.unwrap();
        let orders = found.map(|found| found.orders.into_iter().collect::<Vec<_>>());
        assert_eq!(orders.unwrap_or_default(), ["N-1", "N-3"], "{asked}");
    }
    for asked in ["N-4", "C-7", "ninguem@example.com", "529.982.247-26", "%", NAME] {
        assert!(world.store.erasures().find(&minha_loja(), asked).await.unwrap().is_none(), "{asked}");
    }
}

pub(crate) async fn what_stands_for_many_identifies_nobody(world: &World) {
    let lease = world.lease().await;
    let of = |number: &str, customer: &str| {
        let raw = format!(r#"{{"customer":{{"id":{customer}}},"metadata":{{"cnpj":"11222333000181"}}}}"#);
        Order { customer_id: Some(customer.into()), raw: RawJson::new(&raw), ..order(number, "paid") }
    };
    let orders = vec![of("1", "0"), of("2", "0"), of("7", "8"), of("8", "7")];
    world.write_orders(&lease, Op::Insert, orders).await;
    let erasures = world.store.erasures();
    let key = minha_loja();
    let guest = erasures.find(&key, "1").await.unwrap().unwrap();
    assert_eq!(guest.orders, ["1".to_owned()].into(), "an id of zero, and the document of another");
    assert!(erasures.find(&key, "0").await.unwrap().is_none(), "guests are many");
    assert!(!erasures.is_ambiguous(&key, "1", &guest).await.unwrap());
    let found = erasures.find(&key, "7").await.unwrap().unwrap();
    assert!(
        erasures.is_ambiguous(&key, "7", &found).await.unwrap(),
        "an order's number, and a customer's id"
    );
}

pub(crate) async fn everyone_in_a_store_is_erased_and_nobody_comes_back(world: &World) {
    let lease = world.lease().await;
    for number in 0..70 {
        world
            .write_orders(&lease, Op::Insert, vec![order_of_canary(&format!("E-{number:03}"), "paid")])
            .await;
    }
    write_below(world, &lease, "E-003").await;
    deliver(world, Some("order.paid"), &json!({"data": {"order_number": "E-004", "customer": person()}}))
        .await;
    let done = std::sync::atomic::AtomicU64::new(0);
    let progress = |orders: u64| done.store(orders, std::sync::atomic::Ordering::SeqCst);
    let erasures = world.store.erasures();
    let erased = erasures.erase_everyone(&minha_loja(), "the test", &progress).await.unwrap();
    assert_eq!((erased.counts["orders"], done.into_inner()), (70, 70), "{:?}", erased.counts);
    assert_eq!(erased.counts["webhook_inbox"], 1);
    // One that the mirror has, and one that it had not read yet.
    world.write_orders(&lease, Op::Update, vec![order_of_canary("E-003", "shipped")]).await;
    let missed = Order { created_at: None, ..order_of_canary("E-999", "paid") };
    world.write_orders(&lease, Op::Insert, vec![missed]).await;
    let named = "SELECT order_number FROM orders WHERE customer_name IS NOT NULL OR CAST(raw AS TEXT) LIKE '%Canária%'";
    assert_eq!(world.tables.list(named).await, Vec::<String>::new());
    // A person who buys afterwards is a customer.
    world.clock.advance(Duration::from_secs(60));
    let mut later = order_of_canary("E-1000", "paid");
    later.created_at = Some(world.clock.now());
    world.write_orders(&lease, Op::Insert, vec![later]).await;
    assert_eq!(world.tables.list(named).await, ["E-1000"]);
}
