//! The session: the store that a token belongs to (API document, "Authentication and session").

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use espelho_model::{
    RawJson, StoreId,
    store_profile::{Company, StoreSession},
};
use serde_json::value::RawValue;

use super::{Read, answer::raw};
use crate::{
    ApiRequest, Error,
    resources::handles::AuthApi,
    wire::{
        envelope::BodyError,
        fields::{Field, FieldReader, object},
        shape,
    },
};

const SESSION: &str = "/api/stores/auth/session";

impl AuthApi<'_> {
    /// Reads store, company and `auth_type` of the token.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn session(self) -> Result<Read<StoreSession>, Error> {
        self.requests.read_as(&ApiRequest::get(SESSION, &[]), read_session).await
    }

    /// Reads the session with a limit on the call's duration. Waiting at the rate limiter does not count towards
    /// `time_limit`.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn session_within(self, time_limit: Duration) -> Result<Read<StoreSession>, Error> {
        self.requests.read_as(&ApiRequest::get(SESSION, &[]).within(time_limit), read_session).await
    }

    /// Logs in to prove the password, even if the current token is still valid. The new token is stored as usual. If
    /// the login fails, the old token stays in use.
    ///
    /// # Errors
    /// [`Error::LoginRefused`] when the marketplace does not accept the password; otherwise the errors of every
    /// login.
    pub async fn log_in_again(self) -> Result<(), Error> {
        self.requests.client.tokens.log_in_again(None).await
    }

    /// The same, unless another login has brought a new token by the time that this one has its turn.
    ///
    /// # Errors
    /// Those of [`Self::log_in_again`].
    pub async fn log_in_unless_others_do(self) -> Result<(), Error> {
        let now = self.requests.client.clock.now();
        self.requests.client.tokens.log_in_again(Some(now)).await
    }

    /// Waits until no login is running. A login that is cut off may have ended the old token without delivering a new
    /// one.
    pub async fn logins_ended(self) {
        self.requests.client.tokens.logins_ended().await;
    }
}

shape! {
    /// The session. The store's fields are at the top level or in `store`.
    SessionWire {
        store, id, name, code, status,
        #[serde(rename = "type")]
        store_type,
        limits, features, company, auth_type,
    }
}

shape! {
    /// The company. The document lists its contents but not the field names; the likely names are read.
    CompanyWire {
        tax_id, cnpj, cpf_cnpj, document, legal_name, corporate_name, company_name, razao_social, tax_regime,
        regime_tributario,
    }
}

shape! {
    /// One feature in a list of objects.
    FeatureWire { name, code, slug, key, feature, enabled, active, is_active, value }
}

fn read_session(read: &mut FieldReader, payload: &str) -> Result<StoreSession, BodyError> {
    let top: SessionWire<'_> = object(payload)?;
    let inner: SessionWire<'_> = read.nested("store", top.store).unwrap_or_default();
    Ok(StoreSession {
        id: read.id("id", inner.id.or(top.id)).map(StoreId::new),
        name: read.text("name", inner.name.or(top.name)),
        code: read.text("code", inner.code.or(top.code)),
        status: read.labelled("status", inner.status.or(top.status)).0,
        store_type: read.labelled("type", inner.store_type.or(top.store_type)).0,
        limits: raw(inner.limits.or(top.limits)),
        features: read_features(read, inner.features.or(top.features)),
        company: read_company(read, top.company.or(inner.company)),
        auth_type: read.text("auth_type", top.auth_type.or(inner.auth_type)),
        raw: RawJson::new(payload),
    })
}

/// Reads the company, from the session or from the store page.
pub(super) fn read_company(read: &mut FieldReader, field: Field<'_>) -> Option<Company> {
    let wire: CompanyWire<'_> = read.nested("company", field)?;
    let tax_id = wire.tax_id.or(wire.cnpj).or(wire.cpf_cnpj).or(wire.document);
    let legal_name = wire.legal_name.or(wire.corporate_name).or(wire.company_name).or(wire.razao_social);
    Some(Company {
        tax_id: read.text("company.tax_id", tax_id),
        legal_name: read.text("company.legal_name", legal_name),
        tax_regime: read.labelled("company.tax_regime", wire.tax_regime.or(wire.regime_tributario)).0,
        raw: RawJson::new(field?.get()),
    })
}

/// Reads the active features: a list of names, a list of objects, or an object from name to switch.
fn read_features(read: &mut FieldReader, field: Field<'_>) -> Option<BTreeSet<String>> {
    let json = field?.get();
    let found = if json.starts_with('[') {
        let rows: Vec<&RawValue> = serde_json::from_str(json).ok()?;
        rows.into_iter().map(feature_of_list).collect::<Option<Vec<_>>>()
    } else {
        let members: Option<BTreeMap<Cow<'_, str>, &RawValue>> = object(json).ok();
        members.map(|members| members.into_iter().map(feature_of_object).collect())
    };
    if found.is_none() {
        // A feature that is not understood might be the one that a caller asks about.
        read.give_up("features");
    }
    Some(found?.into_iter().flatten().collect())
}

/// Reads one feature. `Some(None)` is an inactive feature, `None` a value that is no feature.
fn feature_of_list(row: &RawValue) -> Option<Option<String>> {
    let mut read = FieldReader::new(chrono::FixedOffset::east_opt(0)?);
    if row.get().starts_with('"') {
        return read.text("features[]", Some(row)).map(Some);
    }
    let wire: FeatureWire<'_> = read.nested("features[]", Some(row))?;
    let name = wire.code.or(wire.slug).or(wire.key).or(wire.feature).or(wire.name);
    let name = read.text("features[].name", name)?;
    let switch = wire.enabled.or(wire.active).or(wire.is_active).or(wire.value);
    Some(is_on(switch).then_some(name))
}

fn feature_of_object((name, switch): (Cow<'_, str>, &RawValue)) -> Option<String> {
    is_on(Some(switch)).then(|| name.into_owned())
}

/// A listed feature is active, unless it says otherwise.
fn is_on(switch: Field<'_>) -> bool {
    !matches!(switch.map(RawValue::get), Some("false" | "0" | "null" | "\"0\"" | "\"false\"" | "\"\""))
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;

    use super::*;
    use crate::resources::answer::read_single;

    fn session(payload: &str) -> Read<StoreSession> {
        read_single(payload, FixedOffset::east_opt(0).unwrap(), read_session).unwrap()
    }

    // proves: AUT-049, AUT-050, AUT-051
    #[test]
    fn the_store_is_read_at_the_top_or_under_its_name() {
        let store = r#""id":77,"name":"Loja","code":"LJ","status":"active","type":"main","limits":{"products":100},"features":["sales_force"]"#;
        let company = r#""company":{"cnpj":"12345678000190","razao_social":"Loja LTDA","tax_regime":"simples_nacional"}"#;
        for payload in [
            format!(r#"{{{store},{company},"auth_type":"integration_token"}}"#),
            format!(r#"{{"store":{{{store}}},{company},"auth_type":"integration_token"}}"#),
            format!(r#"{{"store":{{{store},{company}}},"auth_type":"integration_token"}}"#),
        ] {
            let Read { value, unreadable } = session(&payload);
            assert_eq!(unreadable, Vec::<&str>::new(), "{payload}");
            assert_eq!(value.id, Some(StoreId::new("77")));
            let texts = [&value.name, &value.code, &value.status, &value.store_type, &value.auth_type];
            let texts = texts.map(|text| text.as_deref().unwrap());
            assert_eq!(texts, ["Loja", "LJ", "active", "main", "integration_token"], "{payload}");
            assert_eq!(value.limits.as_ref().unwrap().as_str(), r#"{"products":100}"#);
            assert_eq!((value.has_feature("sales_force"), value.has_feature("x")), (Some(true), Some(false)));
            let company = value.company.unwrap();
            let texts = [company.tax_id, company.legal_name, company.tax_regime].map(Option::unwrap);
            assert_eq!(texts, ["12345678000190", "Loja LTDA", "simples_nacional"]);
            assert_eq!(value.raw.as_str(), payload);
        }
    }

    // proves: AUT-049
    #[test]
    fn features_are_a_set_in_whatever_form_they_come() {
        for features in [
            r#"["sales_force","fiscal"]"#,
            r#"{"sales_force":true,"fiscal":1,"pos":false,"chat":null}"#,
            r#"[{"code":"sales_force","enabled":true},{"slug":"fiscal"},{"name":"pos","is_active":0}]"#,
        ] {
            let Read { value, unreadable } = session(&format!(r#"{{"id":1,"features":{features}}}"#));
            let found: Vec<_> = value.features.unwrap().into_iter().collect();
            assert_eq!(
                (found, unreadable),
                (vec!["fiscal".to_owned(), "sales_force".to_owned()], vec![]),
                "{features}"
            );
        }
    }

    #[test]
    fn features_that_are_not_understood_are_unknown_and_not_off() {
        for features in ["7", "[7]", r#"[{"x":1}]"#, "\"sales_force\""] {
            let Read { value, unreadable } = session(&format!(r#"{{"id":1,"features":{features}}}"#));
            assert_eq!(
                (value.has_feature("sales_force"), unreadable),
                (None, vec!["features"]),
                "{features}"
            );
        }
        let silent = session(r#"{"id":1}"#);
        assert_eq!((silent.value.has_feature("sales_force"), silent.unreadable), (None, vec![]));
        assert_eq!(session(r#"{"features":[]}"#).value.has_feature("sales_force"), Some(false));
    }

    #[test]
    fn an_enum_may_come_with_its_label() {
        let value = session(r#"{"status":{"value":"active","label":"Ativa"},"type":"main"}"#).value;
        assert_eq!((value.status.as_deref(), value.store_type.as_deref()), (Some("active"), Some("main")));
    }
}
