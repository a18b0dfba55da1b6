//! Conversations with buyers, as the mirror stores them (API document, "Events": Messages). No route reads them, so
//! they come from deliveries.

use chrono::{DateTime, Utc};

use crate::{ConversationId, MessageId, OrderNumber, RawJson};

/// The `status` of an open conversation.
pub const OPEN: &str = "open";

/// The `status` of a closed conversation.
pub const CLOSED: &str = "closed";

/// One conversation, as described by its deliveries. `None` means not reported.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names; times in UTC")]
pub struct Conversation {
    pub id: ConversationId,
    pub order_number: Option<OrderNumber>,
    pub conversation_type: Option<String>,
    /// [`OPEN`] or [`CLOSED`]: the document has no such field, only an event for each.
    pub status: Option<String>,
    /// Why it was closed.
    pub reason: Option<String>,
    /// When the delivery that reports the opening was built.
    pub opened_at: Option<DateTime<Utc>>,
    /// When the delivery that reports the end was built.
    pub closed_at: Option<DateTime<Utc>>,
    /// The delivery's `timestamp`. The newer of two deliveries applies.
    pub updated_at: DateTime<Utc>,
    /// The delivery's `data` as received.
    pub raw: RawJson,
}

/// One message of a conversation. Deliveries do not report the store's own messages.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names; times in UTC")]
pub struct ConversationMessage {
    pub id: MessageId,
    pub conversation_id: ConversationId,
    pub sender_type: Option<String>,
    pub body: Option<String>,
    /// When the first delivery that reports it was built; the document gives messages no time of their own.
    pub created_at: Option<DateTime<Utc>>,
    /// The delivery's `data` as received.
    pub raw: RawJson,
}
