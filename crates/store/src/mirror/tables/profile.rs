//! The store's profile.

use espelho_model::{
    StoreKey,
    store_profile::{StorePage, StoreSession},
    sync::Counts,
};

use super::{
    record::Record,
    table::{Scope, Table},
};
use crate::{Error, driver::Value, mirror::MirrorWriter};

pub(crate) static PROFILES: Table = Table::new(
    "store_profiles",
    "store_profile",
    Scope::Store,
    "id",
    &[
        "name",
        "code",
        "status",
        "type",
        "auth_type",
        "features",
        "limits",
        "tax_id",
        "legal_name",
        "tax_regime",
        "short_description",
        "description",
        "full_description",
        "foundation_date",
        "logo_url",
        "background_url",
        "page",
    ],
);

impl MirrorWriter<'_, '_> {
    /// Mirrors the session's data of the store, and its public page if readable (API document, "Authentication and
    /// session", "Store page"). A session without a store name is kept under the configured name.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn write_profile(
        &mut self,
        session: StoreSession,
        page: Option<StorePage>,
    ) -> Result<Counts, Error> {
        let record = whole_record(self.page.store_key(), session, page.as_ref());
        self.page.tables().write_whole(&PROFILES, None, vec![record]).await
    }
}

/// The store's one row.
pub(super) fn whole_record(store: &StoreKey, session: StoreSession, page: Option<&StorePage>) -> Record {
    let page_id = page.and_then(|page| page.store_id.clone());
    let id = session.id.clone().or(page_id).map(espelho_model::StoreId::into_string);
    record(id.unwrap_or_else(|| store.as_str().to_owned()), session, page)
}

fn record(id: String, session: StoreSession, page: Option<&StorePage>) -> Record {
    let company = session.company.or_else(|| page.and_then(|page| page.company.clone()));
    let page_name = page.and_then(|page| page.store_name.clone());
    let features = session.features.map(|names| names.into_iter().collect::<Vec<_>>().join(","));
    let of_page = |text: fn(&StorePage) -> Option<String>| -> Value { page.and_then(text).into() };
    let values = [
        session.name.or(page_name).into(),
        session.code.into(),
        session.status.into(),
        session.store_type.into(),
        session.auth_type.into(),
        features.into(),
        session.limits.into(),
        company.as_ref().and_then(|company| company.tax_id.clone()).into(),
        company.as_ref().and_then(|company| company.legal_name.clone()).into(),
        company.as_ref().and_then(|company| company.tax_regime.clone()).into(),
        of_page(|page| page.short_description.clone()),
        of_page(|page| page.description.clone()),
        of_page(|page| page.full_description.clone()),
        of_page(|page| page.foundation_date.map(|date| date.to_string())),
        of_page(|page| page.logo_url.clone()),
        of_page(|page| page.background_url.clone()),
        page.map(|page| page.raw.clone()).into(),
    ];
    Record::new(id, values, session.raw)
}
