//! The store itself: its session and its public page (API document, "Authentication and session", "Store page").

use std::collections::BTreeSet;

use chrono::NaiveDate;

use crate::{RawJson, StoreId};

/// The store that a token belongs to.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct StoreSession {
    pub id: Option<StoreId>,
    pub name: Option<String>,
    pub code: Option<String>,
    pub status: Option<String>,
    pub store_type: Option<String>,
    /// `limits` as received; the document does not show its fields.
    pub limits: Option<RawJson>,
    /// The active features, such as `sales_force`. `None` if the answer does not list them in a form that is
    /// understood: then the state of every feature is unknown.
    pub features: Option<BTreeSet<String>>,
    pub company: Option<Company>,
    /// `integration_token` for a token of this client.
    pub auth_type: Option<String>,
    /// The session as received.
    pub raw: RawJson,
}

/// The company behind a store.
#[derive(Clone, Debug, PartialEq)]
pub struct Company {
    /// The tax id (CNPJ or CPF).
    pub tax_id: Option<String>,
    /// The legal name.
    pub legal_name: Option<String>,
    /// The tax regime.
    pub tax_regime: Option<String>,
    /// The company as received.
    pub raw: RawJson,
}

/// The store's public page.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct StorePage {
    pub store_id: Option<StoreId>,
    pub store_name: Option<String>,
    pub short_description: Option<String>,
    pub description: Option<String>,
    pub full_description: Option<String>,
    pub foundation_date: Option<NaiveDate>,
    pub logo_url: Option<String>,
    pub background_url: Option<String>,
    pub company: Option<Company>,
    /// The page as received.
    pub raw: RawJson,
}

impl StoreSession {
    /// Returns whether the store has a feature; `None` if the session does not say.
    pub fn has_feature(&self, name: &str) -> Option<bool> {
        Some(self.features.as_ref()?.contains(name))
    }
}
