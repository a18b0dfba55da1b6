//! Conversations with buyers, as the mirror keeps them (API document, "Events": Messages). No route reads them, so
//! they are what deliveries tell.

use chrono::{DateTime, Utc};

use crate::{ConversationId, MessageId, OrderNumber, RawJson};

/// The `status` of a conversation that was opened.
pub const OPEN: &str = "open";

/// The `status` of a conversation that was closed.
pub const CLOSED: &str = "closed";

/// One conversation, as far as a delivery tells of it. `None` means not told.
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
    /// When the delivery that tells of the opening was built.
    pub opened_at: Option<DateTime<Utc>>,
    /// When the delivery that tells of the end was built.
    pub closed_at: Option<DateTime<Utc>>,
    /// The delivery's `timestamp`: of two deliveries the newer one counts.
    pub updated_at: DateTime<Utc>,
    /// The delivery's `data` as received.
    pub raw: RawJson,
}

/// One message of a conversation. The store's own messages are not told.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names; times in UTC")]
pub struct ConversationMessage {
    pub id: MessageId,
    pub conversation_id: ConversationId,
    pub sender_type: Option<String>,
    pub body: Option<String>,
    /// When the delivery that told of it first was built; the document gives messages no time of their own.
    pub created_at: Option<DateTime<Utc>>,
    /// The delivery's `data` as received.
    pub raw: RawJson,
}
