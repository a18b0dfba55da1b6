//! Conversations with buyers and their messages, as webhooks deliver them.

use std::collections::{BTreeMap, HashSet};

use espelho_model::{
    OrderNumber,
    conversation::{Conversation, ConversationMessage},
    sync::Counts,
};

use super::{
    record::Record,
    table::{Merge, Scope, Table},
};
use crate::{Error, mirror::MirrorWriter};

pub(crate) static CONVERSATIONS: Table = Table::new(
    "conversations",
    "conversation",
    Scope::Store,
    "id",
    &["order_number", "type", "status", "reason", "opened_at", "closed_at", "updated_at"],
)
// A reopened conversation has no reason for its end any more.
.merging(Merge { as_of: "updated_at", with_status: &["reason", "closed_at"] });

pub(crate) static MESSAGES: Table = Table::new(
    "conversation_messages",
    "conversation_message",
    Scope::Beside("conversation_id"),
    "id",
    &["sender_type", "body", "created_at"],
);

pub(crate) const ELSEWHERE: &str =
    "SELECT id FROM conversation_messages WHERE store = $1 AND conversation_id <> $2 AND id";

impl MirrorWriter<'_, '_> {
    /// Mirrors conversations (API document, "Events": Messages). They arrive twice and in any order; the newer value
    /// counts, and fields that it omits stay.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn write_conversations(&mut self, conversations: Vec<Conversation>) -> Result<Counts, Error> {
        let orders = conversations.iter().filter_map(|received| received.order_number.as_ref());
        let orders = orders.map(|number| number.as_str().to_owned()).collect();
        let orders = self.page.erased_orders(orders).await?;
        let ids = conversations.iter().map(|received| received.id.as_str().to_owned()).collect();
        let ids = self.page.erased_conversations(ids).await?;
        let records = conversations.into_iter().map(|received| {
            let is_of_order = |number: &OrderNumber| orders.contains(number.as_str());
            let is_erased =
                ids.contains(received.id.as_str()) || received.order_number.as_ref().is_some_and(is_of_order);
            let (at, record) = (received.updated_at, conversation_record(received));
            (if is_erased { record.without_person(CONVERSATIONS.values) } else { record }, at)
        });
        let records = records.collect();
        self.page.tables().merge_rows(&CONVERSATIONS, records).await
    }

    /// Mirrors messages. None is ever removed, and a repeated one keeps its time. The document does not say that an id
    /// is unique in the store: one that another conversation has gets its own conversation before it.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn write_messages(&mut self, messages: Vec<ConversationMessage>) -> Result<Counts, Error> {
        let mut by_conversation: BTreeMap<String, Vec<Record>> = BTreeMap::new();
        for message in messages {
            let of = by_conversation.entry(message.conversation_id.as_str().to_owned()).or_default();
            of.push(message_record(message));
        }
        let mut counts = Counts::default();
        for (conversation, mut records) in by_conversation {
            let first = [self.page.store_key().as_str().into(), conversation.as_str().into()];
            let ids = records.iter().map(|record| record.id.clone()).collect();
            let rows =
                self.page.tx.fetch_in("find messages of other conversations", ELSEWHERE, &first, ids).await?;
            let elsewhere: HashSet<String> = rows.iter().map(|row| row.text(0)).collect::<Result<_, _>>()?;
            for record in records.iter_mut().filter(|record| elsewhere.contains(&record.id)) {
                record.id = format!("{conversation}/{}", record.id);
            }
            counts.add(self.page.tables().write_rows(&MESSAGES, Some(&conversation), records).await?);
        }
        Ok(counts)
    }
}

fn conversation_record(conversation: Conversation) -> Record {
    let values = [
        conversation.order_number.map(OrderNumber::into_string).into(),
        conversation.conversation_type.into(),
        conversation.status.into(),
        conversation.reason.into(),
        conversation.opened_at.into(),
        conversation.closed_at.into(),
        conversation.updated_at.into(),
    ];
    Record::new(conversation.id.into_string(), values, conversation.raw)
}

fn message_record(message: ConversationMessage) -> Record {
    let values = [message.sender_type.into(), message.body.into(), message.created_at.into()];
    Record::of_object(message.id.into_string(), values, message.raw)
}
