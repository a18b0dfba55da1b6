//! Conversations with buyers and their messages, as webhooks tell of them.

use std::collections::BTreeMap;

use espelho_model::{
    conversation::{Conversation, ConversationMessage},
    sync::Counts,
};

use super::{
    record::Record,
    table::{Merge, Scope, Table},
};
use crate::{Error, PageTx};

pub(crate) static CONVERSATIONS: Table = Table::new(
    "conversations",
    "conversation",
    Scope::Store,
    "id",
    &["order_number", "type", "status", "reason", "opened_at", "closed_at", "updated_at"],
)
// One that was opened again has no reason for its end any more.
.merging(Merge { as_of: "updated_at", with_status: &["reason", "closed_at"] });

pub(crate) static MESSAGES: Table = Table::new(
    "conversation_messages",
    "conversation_message",
    Scope::Beside("conversation_id"),
    "id",
    &["sender_type", "body", "created_at"],
);

impl PageTx<'_> {
    /// Mirrors conversations (API document, "Events": Messages). They come doubled and in any order; the newer word
    /// counts, and what it leaves out stays.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn write_conversations(&mut self, conversations: Vec<Conversation>) -> Result<Counts, Error> {
        let records = conversations.into_iter().map(|told| (told.updated_at, told));
        let records = records.map(|(at, told)| (conversation_record(told), at)).collect();
        self.merge_rows(&CONVERSATIONS, records).await
    }

    /// Mirrors messages. None is ever removed, and one that is delivered again keeps its time.
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
        for (conversation, records) in by_conversation {
            counts.add(self.write_rows(&MESSAGES, Some(&conversation), records).await?);
        }
        Ok(counts)
    }
}

fn conversation_record(conversation: Conversation) -> Record {
    let values = [
        conversation.order_number.map(espelho_model::OrderNumber::into_string).into(),
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
