//! Fiscal documents of an order, as the mirror stores them (API document, "Orders": the fiscal route).

use chrono::{DateTime, Utc};

use crate::{RawJson, text::folded};

/// The words for a document that does not exist for the tax office, not yet or no more. The document lists no statuses of
/// fiscal documents: the words are those of Brazilian fiscal programs, in both languages, without accents.
const NOT_ISSUED: [&str; 40] = [
    "rejected",
    "denied",
    "refused",
    "cancelled",
    "canceled",
    "void",
    "voided",
    "processing",
    "in_progress",
    "pending",
    "queued",
    "waiting",
    "draft",
    "error",
    "failed",
    "invalid",
    "not_issued",
    "rejeitada",
    "rejeitado",
    "denegada",
    "denegado",
    "recusada",
    "recusado",
    "cancelada",
    "cancelado",
    "inutilizada",
    "inutilizado",
    "processando",
    "em_processamento",
    "em_andamento",
    "em_digitacao",
    "pendente",
    "na_fila",
    "aguardando",
    "rascunho",
    "erro",
    "falha",
    "invalida",
    "nao_emitida",
    "nao_emitido",
];

/// Returns whether a document of this status passes the fiscal gate, which wants an issued one (API document, "Order,
/// standard workflow"). A word that nobody knows counts as issued: the marketplace itself decides at the gate.
pub fn is_issued(status: Option<&str>) -> bool {
    status.is_none_or(|status| {
        let word = folded(status.trim()).replace([' ', '-'], "_");
        !NOT_ISSUED.contains(&word.as_str())
    })
}

/// An NF-e or a content declaration.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names; times in UTC")]
pub struct FiscalDocument {
    /// The document's own id, otherwise its number, otherwise its position in the answer (`#1`).
    pub id: String,
    pub document_type: Option<String>,
    pub status: Option<String>,
    pub invoice_number: Option<String>,
    pub access_key: Option<String>,
    pub pdf_url: Option<String>,
    pub issued_at: Option<DateTime<Utc>>,
    pub replaced_at: Option<DateTime<Utc>>,
    /// True for the current document: it was issued ([`is_issued`]) and not replaced. The order's own `invoices[]`
    /// does not show this.
    pub is_current: bool,
    /// The fiscal document as received.
    pub raw: RawJson,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_that_was_not_issued_does_not_pass_and_an_unknown_word_does() {
        for (status, passes) in [
            (Some("issued"), true),
            (Some("authorized"), true),
            (Some("emitida"), true),
            (Some("Autorizada"), true),
            (Some("a_word_of_tomorrow"), true),
            (Some(""), true),
            (None, true),
            (Some("rejected"), false),
            (Some("REJECTED"), false),
            (Some("canceled"), false),
            (Some("cancelled"), false),
            (Some("denied"), false),
            (Some("processing"), false),
            (Some("not-issued"), false),
            (Some("Rejeitada"), false),
            (Some("cancelada"), false),
            (Some("Denegada"), false),
            (Some(" em processamento "), false),
            (Some("Em digitação"), false),
            (Some("NÃO EMITIDA"), false),
            (Some("inválida"), false),
        ] {
            assert_eq!(is_issued(status), passes, "{status:?}");
        }
    }

    #[test]
    fn the_words_are_as_they_are_compared() {
        for word in NOT_ISSUED {
            assert!(word.bytes().all(|letter| letter.is_ascii_lowercase() || letter == b'_'), "{word}");
        }
    }
}
