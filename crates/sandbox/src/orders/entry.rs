//! The entries of an order's timeline, and the fiscal documents that some of them report.

use std::borrow::Cow;

use serde_json::Value;

use super::vocabulary::Status;
use crate::vocabulary::{Word, vocabulary};

vocabulary! {
    /// The kind of an entry of the timeline.
    EntryKind {
        StatusChange = "status_change", "Mudança de status", "";
        Note = "note", "Observação", "";
        Fiscal = "fiscal", "Fiscal", "";
    }
}

vocabulary! {
    /// The author of an entry.
    Author {
        Seller = "seller", "Loja", "";
        System = "system", "Sistema", "";
        Admin = "admin", "Administrador", "";
    }
}

vocabulary! {
    /// The kind of a fiscal document. The gate accepts both.
    DocumentKind {
        Nfe = "nfe", "NF-e", "";
        ContentDeclaration = "content_declaration", "Declaração de conteúdo", "";
    }
}

vocabulary! {
    /// The status of a fiscal document. The gate wants an issued one.
    DocumentStatus {
        Issued = "issued", "Emitida", "";
        Rejected = "rejected", "Rejeitada", "";
    }
}

/// One entry of the timeline.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) at: i64,
    pub(crate) kind: EntryKind,
    pub(crate) author: Author,
    pub(crate) text: Cow<'static, str>,
    /// The statuses before and after; an order that is placed has none before.
    pub(crate) statuses: Option<(Option<Status>, Status)>,
    pub(crate) metadata: Option<Value>,
}

/// A fiscal document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Document {
    pub(crate) id: u64,
    pub(crate) kind: DocumentKind,
    pub(crate) status: DocumentStatus,
    pub(crate) number: u64,
    pub(crate) issued_at: i64,
    pub(crate) replaced_at: Option<i64>,
}

impl Entry {
    /// A change of status.
    pub(crate) fn of_status(at: i64, author: Author, from: Option<Status>, to: Status) -> Self {
        let text = match from {
            None => Cow::Borrowed("Pedido criado"),
            Some(_) => Cow::Owned(format!("Status alterado para {}", to.label())),
        };
        Self { at, kind: EntryKind::StatusChange, author, text, statuses: Some((from, to)), metadata: None }
    }

    /// An entry that changes no status.
    pub(crate) fn of(at: i64, kind: EntryKind, author: Author, text: &'static str) -> Self {
        Self { at, kind, author, text: Cow::Borrowed(text), statuses: None, metadata: None }
    }

    /// The same entry with metadata.
    pub(crate) fn with(self, metadata: Option<Value>) -> Self {
        Self { metadata, ..self }
    }
}
