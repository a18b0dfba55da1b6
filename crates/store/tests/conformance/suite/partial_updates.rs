//! Partial data, repeated and in any order, becomes one row.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{
    OrderNumber,
    conversation::{CLOSED, Conversation, OPEN},
    listing::Listing,
    occurrence::Occurrence,
};
use espelho_store::{Lease, NewDelivery, Op};
use proptest::{prelude::Just, prelude::Strategy as _, sample::subsequence};

use crate::{
    generated::for_all,
    hand_clock::opening_hour,
    specimens::{bare_listing, conversation, listing, message, occurrence, raw, text},
    tables::Line,
    world::{World, minha_loja, store_key},
};

fn at(second: i64) -> DateTime<Utc> {
    opening_hour() + TimeDelta::seconds(second)
}

fn opened(second: i64) -> Conversation {
    Conversation {
        order_number: Some(OrderNumber::new("N-1")),
        conversation_type: text("question"),
        status: text(OPEN),
        reason: None,
        opened_at: Some(at(second)),
        closed_at: None,
        updated_at: at(second),
        raw: raw("C", &format!("opened at {second}")),
        ..conversation("C", "")
    }
}

fn closed(second: i64) -> Conversation {
    Conversation {
        order_number: None,
        conversation_type: None,
        status: text(CLOSED),
        reason: text("resolved"),
        opened_at: None,
        closed_at: Some(at(second)),
        updated_at: at(second),
        raw: raw("C", &format!("closed at {second}")),
        ..conversation("C", "")
    }
}

async fn tell(world: &World, lease: &Lease, conversations: Vec<Conversation>) -> u64 {
    let mut tx = world.store.begin(lease).await.unwrap();
    let counts = tx.mirror().write_conversations(conversations).await.unwrap();
    tx.commit().await.unwrap();
    counts.changed
}

async fn only_row(world: &World, table: &str) -> Line {
    let mut rows = world.tables.all(table).await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows.remove(0)
}

pub(crate) async fn an_end_does_not_unsay_the_beginning(world: &World) {
    let lease = world.lease().await;
    assert_eq!(tell(world, &lease, vec![opened(1)]).await, 1);
    assert_eq!(tell(world, &lease, vec![closed(5)]).await, 1);
    let row = only_row(world, "conversations").await;
    let columns = ["order_number", "type", "status", "reason"].map(|column| row.get(column).unwrap());
    assert_eq!(columns, ["N-1", "question", "closed", "resolved"]);
    assert!(row.get("opened_at").is_some() && row.get("closed_at").is_some());
    let feed = world.store.changes().changes_after(0, 10).await.unwrap();
    assert_eq!(feed.iter().map(|c| c.op).collect::<Vec<_>>(), [Op::Insert, Op::Update]);
}

pub(crate) async fn an_older_word_fills_what_is_missing_and_overrules_nothing(world: &World) {
    let lease = world.lease().await;
    tell(world, &lease, vec![closed(5)]).await;
    assert_eq!(tell(world, &lease, vec![opened(1)]).await, 1);
    let row = only_row(world, "conversations").await;
    let columns = ["order_number", "type", "status", "reason"].map(|column| row.get(column).unwrap());
    assert_eq!(columns, ["N-1", "question", "closed", "resolved"]);
    assert!(row.get("raw").unwrap().contains("closed at 5"), "{row:?}");
    // Repeated in either order: no change.
    world.clock.advance(Duration::from_secs(60));
    assert_eq!(tell(world, &lease, vec![opened(1), closed(5), opened(1)]).await, 0);
    assert_eq!(only_row(world, "conversations").await, row);
    assert_eq!(world.tables.count("changes").await, 2);
}

pub(crate) async fn what_is_opened_again_has_no_end_any_more(world: &World) {
    let lease = world.lease().await;
    tell(world, &lease, vec![opened(1), closed(5), opened(9)]).await;
    let row = only_row(world, "conversations").await;
    assert_eq!(row.get("status"), Some("open"));
    assert_eq!((row.get("reason"), row.get("closed_at")), (None, None));
}

/// With losses, repeats and delays: the row equals the received deliveries applied in the order of their building.
pub(crate) async fn the_order_of_deliveries_makes_no_difference(world: &World) {
    let lease = world.lease().await;
    let deliveries = [opened(1), closed(2), opened(3), closed(4)];
    let some = subsequence((0..4).collect::<Vec<usize>>(), 1..=4);
    let values = some.prop_flat_map(|built| (Just(built.clone()), Just(built).prop_shuffle()));
    let case = std::sync::atomic::AtomicUsize::new(0);
    for_all(24, &values, async |(built, came)| {
        let n = case.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let named = |which: &usize, name: &str| Conversation {
            id: espelho_model::ConversationId::new(format!("{n}-{name}")),
            ..deliveries[*which].clone()
        };
        tell(world, &lease, built.iter().map(|which| named(which, "built")).collect()).await;
        for which in came.iter().chain(&came[..1]) {
            tell(world, &lease, vec![named(which, "came")]).await;
        }
        let of = async |name: &str| {
            let sql = format!(
                "SELECT status || COALESCE(reason, '-') || COALESCE(order_number, '-') || COALESCE(type, '-') \
                 FROM conversations WHERE id = '{n}-{name}'"
            );
            world.tables.list(&sql).await
        };
        assert_eq!(of("built").await, of("came").await, "{built:?} came as {came:?}");
    });
}

pub(crate) async fn an_occurrence_that_was_resolved_stays_so(world: &World) {
    let lease = world.lease().await;
    let of = |status: &str, second: i64| Occurrence {
        status: text(status),
        updated_at: at(second),
        ..occurrence("O", "atraso")
    };
    let mut tx = world.store.begin(&lease).await.unwrap();
    let told = vec![of("resolved", 9), of("open", 1), Occurrence { title: None, ..of("resolved", 10) }];
    assert_eq!(tx.mirror().write_occurrences(told).await.unwrap().changed, 1);
    tx.commit().await.unwrap();
    let row = only_row(world, "occurrences").await;
    assert_eq!((row.get("status"), row.get("title")), (Some("resolved"), Some("atraso")));
    // The resolution at second 10 was no change, and is still newer than this.
    let mut tx = world.store.begin(&lease).await.unwrap();
    assert_eq!(tx.mirror().write_occurrences(vec![of("open", 9)]).await.unwrap().changed, 0);
    tx.commit().await.unwrap();
    assert_eq!(only_row(world, "occurrences").await, row);
}

pub(crate) async fn a_review_changes_what_it_says_and_leaves_the_rest(world: &World) {
    let lease = world.lease().await;
    let tell = async |told: Listing, second: i64| {
        let mut tx = world.store.begin(&lease).await.unwrap();
        tx.mirror().write_listings(vec![told], at(second)).await.unwrap();
        tx.commit().await.unwrap();
        only_row(world, "listings").await
    };
    let draft = Listing { rejection_reason: None, ..listing("MPB-0000000000001", "Camisa") };
    tell(draft, 1).await;
    let rejected = Listing {
        status: text("draft"),
        rejection_reason: text("foto escura"),
        ..bare_listing("MPB-0000000000001")
    };
    let row = tell(rejected, 2).await;
    assert_eq!((row.get("rejection_reason"), row.get("title")), (Some("foto escura"), Some("Camisa")));
    assert_eq!((row.get("gtin"), row.get("category_name")), (Some("7891234567895"), Some("Camisas")));
    let approved =
        Listing { status: text("active"), title: text("Camisa azul"), ..bare_listing("MPB-0000000000001") };
    let row = tell(approved.clone(), 3).await;
    assert_eq!((row.get("status"), row.get("rejection_reason")), (Some("active"), None));
    assert_eq!((row.get("status_label"), row.get("title")), (None, Some("Camisa azul")));
    assert_eq!(tell(Listing { status: text("draft"), ..approved }, 2).await, row, "an older word");
}

pub(crate) async fn a_message_that_is_delivered_again_keeps_its_time(world: &World) {
    let lease = world.lease().await;
    let tell = async |second: i64, said: &str| {
        let told = espelho_model::conversation::ConversationMessage {
            created_at: Some(at(second)),
            ..message("M", said)
        };
        let mut tx = world.store.begin(&lease).await.unwrap();
        let counts = tx.mirror().write_messages(vec![told]).await.unwrap();
        tx.commit().await.unwrap();
        counts.changed
    };
    assert_eq!(tell(1, "oi").await, 1);
    let row = only_row(world, "conversation_messages").await;
    assert_eq!(tell(300, "oi").await, 0);
    assert_eq!(only_row(world, "conversation_messages").await, row);
    assert_eq!(tell(300, "oi!").await, 1);
}

pub(crate) async fn messages_of_several_conversations_come_at_once(world: &World) {
    let lease = world.lease().await;
    let of = |id: &str, conversation: &str| espelho_model::conversation::ConversationMessage {
        conversation_id: espelho_model::ConversationId::new(conversation),
        ..message(id, "oi")
    };
    let mut tx = world.store.begin(&lease).await.unwrap();
    let told = vec![of("1", "B"), of("2", "A"), of("3", "B")];
    assert_eq!(tx.mirror().write_messages(told).await.unwrap().changed, 3);
    tx.commit().await.unwrap();
    let rows = "SELECT conversation_id || id FROM conversation_messages ORDER BY conversation_id, id";
    assert_eq!(world.tables.list(rows).await, ["A2", "B1", "B3"]);
    // Their ids are unique within a conversation only, and repeated as they came.
    for told in [vec![of("1", "A"), of("1", "C")], vec![of("1", "B"), of("1", "A"), of("1", "C")]] {
        let mut tx = world.store.begin(&lease).await.unwrap();
        tx.mirror().write_messages(told).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(world.tables.list(rows).await, ["A2", "AA/1", "B1", "B3", "CC/1"]);
    }
    // A resource without a listing is never missing.
    let theirs = world.lease_of(&store_key("outra")).await;
    let mut tx = world.store.begin(&theirs).await.unwrap();
    tx.mirror().write_messages(vec![of("1", "B")]).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(world.tables.count("conversation_messages WHERE gone_at IS NULL").await, 6);
}

// withstands: F053
pub(crate) async fn what_only_deliveries_tell_stays_when_the_deliveries_are_cleared_away(world: &World) {
    let lease = world.lease().await;
    let delivery = NewDelivery {
        store: minha_loja(),
        received_at: opening_hour(),
        event: Some("conversation.message".to_owned()),
        digest: "0".repeat(64),
        body: b"{}".to_vec(),
    };
    world.store.inbox().keep_deliveries(vec![delivery]).await.unwrap();
    tell(world, &lease, vec![opened(1), closed(5)]).await;
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.mirror().write_messages(vec![message("M", "oi")]).await.unwrap();
    tx.mirror().write_occurrences(vec![occurrence("O", "atraso")]).await.unwrap();
    tx.mirror().write_listings(vec![listing("MPB-0000000000001", "Camisa")], at(1)).await.unwrap();
    tx.commit().await.unwrap();
    let tables = ["conversations", "conversation_messages", "occurrences", "listings"];
    let mut before = Vec::new();
    for table in tables {
        before.push(only_row(world, table).await);
    }
    let handled = world.store.inbox().unhandled(&minha_loja(), 0, 10).await.unwrap();
    world.store.inbox().mark_handled(handled.iter().map(|delivery| delivery.id).collect()).await.unwrap();
    world.clock.advance(Duration::from_secs(10 * 365 * 86_400));
    let now = espelho_model::Clock::now(&*world.clock);
    assert_eq!(world.store.inbox().prune_inbox(now).await.unwrap(), 1);
    for (table, before) in tables.into_iter().zip(before) {
        assert_eq!(only_row(world, table).await, before, "{table}");
    }
}
