//! The store's public page and its rating (API document, "Store page and rating"). In BETA: the marketplace answers
//! integration tokens 403 for now, and field names may change.

use chrono::NaiveDate;
use espelho_model::{RawJson, StoreId, store_profile::StorePage};
use serde::{Serialize, Serializer};

use super::{Read, media::PageImage, session::read_company};
use crate::{
    ApiRequest, Error, Invalid, Text,
    resources::handles::StorePageApi,
    wire::{
        envelope::BodyError,
        fields::{Field, FieldReader, object},
        shape,
    },
};

const PAGE: &str = "/api/stores/page";
const RATING: &str = "/api/stores/rating";
const RATING_HISTORY: &str = "/api/stores/rating/history";

/// A change of one field of the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Change<T> {
    /// The field stays unchanged.
    #[default]
    Leave,
    /// The field becomes empty.
    Clear,
    /// The field gets this value.
    Set(T),
}

impl<T> Change<T> {
    fn is_leave(&self) -> bool {
        matches!(self, Self::Leave)
    }
}

impl<T: Serialize> Serialize for Change<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Set(value) => value.serialize(serializer),
            Self::Leave | Self::Clear => serializer.serialize_none(),
        }
    }
}

/// Changes to the page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StorePageChanges {
    /// At most 255 characters.
    #[serde(skip_serializing_if = "Change::is_leave")]
    pub short_description: Change<Text<255>>,
    /// At most 500 characters.
    #[serde(skip_serializing_if = "Change::is_leave")]
    pub description: Change<Text<500>>,
    /// Any length.
    #[serde(skip_serializing_if = "Change::is_leave")]
    pub full_description: Change<String>,
    /// A day.
    #[serde(skip_serializing_if = "Change::is_leave")]
    pub foundation_date: Change<NaiveDate>,
}

/// An update of the page with at least one change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorePageUpdate(StorePageChanges);

impl StorePageUpdate {
    /// Takes the changes.
    ///
    /// # Errors
    /// When there are none.
    pub fn new(changes: StorePageChanges) -> Result<Self, Invalid> {
        match changes == StorePageChanges::default() {
            true => Err(Invalid::NothingToChange),
            false => Ok(Self(changes)),
        }
    }

    /// Builds the request, which carries only the changes.
    pub fn request(&self) -> ApiRequest {
        ApiRequest::put(PAGE, &[]).json(&self.0)
    }
}

/// Returns whether an error only means that the page is closed to integration tokens, as it is during BETA. That is
/// no failure of the store.
pub fn is_closed(error: &Error) -> bool {
    matches!(error, Error::Refused { status: 403, .. })
}

/// One of the page's two images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Picture {
    Logo,
    Background,
}

impl Picture {
    fn route(self) -> &'static str {
        match self {
            Self::Logo => "/api/stores/page/logo",
            Self::Background => "/api/stores/page/background",
        }
    }

    /// Builds the request that replaces the image.
    pub fn upload_request(self, image: &PageImage) -> ApiRequest {
        ApiRequest::post(self.route(), &[]).file(image.file())
    }

    /// Builds the request that deletes the image.
    pub fn delete_request(self) -> ApiRequest {
        ApiRequest::delete(self.route(), &[])
    }
}

impl StorePageApi<'_> {
    /// Reads the page.
    ///
    /// # Errors
    /// As every call; for now a refusal with 403.
    pub async fn get(self) -> Result<Read<StorePage>, Error> {
        self.requests.read_as(&ApiRequest::get(PAGE, &[]), read_page).await
    }

    /// Changes the page.
    ///
    /// # Errors
    /// As every call; for now a refusal with 403.
    pub async fn update(self, update: &StorePageUpdate) -> Result<RawJson, Error> {
        self.requests.fetch_raw(&update.request()).await
    }

    /// Replaces an image of the page.
    ///
    /// # Errors
    /// As every call; for now a refusal with 403.
    pub async fn upload_picture(self, picture: Picture, image: &PageImage) -> Result<RawJson, Error> {
        self.requests.fetch_raw(&picture.upload_request(image)).await
    }

    /// Deletes an image of the page.
    ///
    /// # Errors
    /// As every call; for now a refusal with 403.
    pub async fn delete_picture(self, picture: Picture) -> Result<RawJson, Error> {
        self.requests.fetch_raw(&picture.delete_request()).await
    }

    /// Reads the summary of the store's rating, as sent: the document does not show its fields.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn rating(self) -> Result<RawJson, Error> {
        self.requests.fetch_raw(&ApiRequest::get(RATING, &[])).await
    }

    /// Reads the history of the store's rating, as sent: the document does not show its fields.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn rating_history(self) -> Result<RawJson, Error> {
        self.requests.fetch_raw(&ApiRequest::get(RATING_HISTORY, &[])).await
    }
}

shape! {
    /// The page. Its texts are beside `store` and `company`, in `page`, or in `store`.
    PageWire {
        page, store, id, name, short_description, description, full_description, foundation_date, logo, logo_url,
        background, background_url, company,
    }
}
shape! { PictureWire { url, original_source } }

fn read_page(read: &mut FieldReader, payload: &str) -> Result<StorePage, BodyError> {
    let top: PageWire<'_> = object(payload)?;
    let inner: PageWire<'_> = read.nested("page", top.page).unwrap_or_default();
    let store: PageWire<'_> = read.nested("store", top.store.or(inner.store)).unwrap_or_default();
    macro_rules! field {
        ($name:ident) => {
            top.$name.or(inner.$name).or(store.$name)
        };
    }
    let logo = read_address(read, "logo_url", field!(logo_url).or(field!(logo)));
    let background = read_address(read, "background_url", field!(background_url).or(field!(background)));
    Ok(StorePage {
        store_id: read.id("store.id", store.id.or(top.id)).map(StoreId::new),
        store_name: read.text("store.name", store.name.or(top.name)),
        short_description: read.text("short_description", field!(short_description)),
        description: read.text("description", field!(description)),
        full_description: read.text("full_description", field!(full_description)),
        foundation_date: read.date("foundation_date", field!(foundation_date)),
        logo_url: logo,
        background_url: background,
        company: read_company(read, field!(company)),
        raw: RawJson::new(payload),
    })
}

/// Reads an address, bare or in an object.
fn read_address(read: &mut FieldReader, name: &'static str, field: Field<'_>) -> Option<String> {
    if !field?.get().starts_with('{') {
        return read.text(name, field);
    }
    let wire: PictureWire<'_> = read.nested(name, field)?;
    read.text(name, wire.url.or(wire.original_source))
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;

    use super::*;
    use crate::{resources::answer::read_single, wire::outward::sent};

    fn update(changes: StorePageChanges) -> Result<String, Invalid> {
        StorePageUpdate::new(changes).map(|update| sent(&update.request()))
    }

    fn page(payload: &str) -> StorePage {
        let read = read_single(payload, FixedOffset::east_opt(0).unwrap(), read_page).unwrap();
        assert_eq!(read.unreadable, Vec::<&str>::new(), "{payload}");
        read.value
    }

    // proves: PAG-002, PAG-003, PAG-004, PAG-005, PAG-006
    #[test]
    fn a_field_is_left_cleared_or_set() {
        let none = StorePageChanges::default();
        assert_eq!(update(none.clone()), Err(Invalid::NothingToChange));
        let day = NaiveDate::from_ymd_opt(1998, 3, 7).unwrap();
        let changes = StorePageChanges {
            short_description: Change::Set(Text::new("short_description", "Café").unwrap()),
            description: Change::Clear,
            foundation_date: Change::Set(day),
            ..none.clone()
        };
        assert_eq!(
            update(changes).unwrap(),
            r#"PUT /api/stores/page {"short_description":"Café","description":null,"foundation_date":"1998-03-07"}"#
        );
        let changes = StorePageChanges {
            description: Change::Set(Text::new("description", "ç".repeat(500)).unwrap()),
            full_description: Change::Set("x".repeat(100_000)),
            foundation_date: Change::Clear,
            ..none
        };
        let request = update(changes).unwrap();
        assert!(request.ends_with(r#","foundation_date":null}"#) && request.len() > 100_000);
    }

    // proves: PAG-002, PAG-003
    #[test]
    fn the_short_texts_have_their_limits_in_characters() {
        assert!(Text::<255>::new("short_description", "ç".repeat(255)).is_ok());
        assert!(Text::<255>::new("short_description", "ç".repeat(256)).is_err());
        assert!(Text::<500>::new("description", "ç".repeat(501)).is_err());
    }

    // proves: PAG-009, PAG-010, PAG-011, PAG-012
    #[test]
    fn logo_and_background_are_uploaded_and_deleted() {
        let image = PageImage::new(b"GIF89a\x01\0\x01\0".to_vec()).unwrap();
        let file = "[image: image.gif, image/gif, 10 bytes]";
        for (picture, route) in
            [(Picture::Logo, "/api/stores/page/logo"), (Picture::Background, "/api/stores/page/background")]
        {
            assert_eq!(sent(&picture.upload_request(&image)), format!("POST {route} {file}"));
            assert_eq!(sent(&picture.delete_request()), format!("DELETE {route}"));
        }
    }

    // proves: PAG-001
    #[test]
    fn the_page_is_read_in_each_likely_shape() {
        let texts = r#""short_description":"Curto","description":"Médio","full_description":"Longo","foundation_date":"1998-03-07""#;
        let company = r#"{"tax_id":"12.345.678/0001-90","legal_name":"Loja LTDA","tax_regime":"simples"}"#;
        for payload in [
            format!(
                r#"{{"store":{{"id":1,"name":"Loja"}},"company":{company},{texts},"logo_url":"https://l","background_url":"https://b"}}"#
            ),
            format!(
                r#"{{"store":{{"id":"1","name":"Loja","company":{company}}},"page":{{{texts},"logo":{{"url":"https://l"}},"background":"https://b"}}}}"#
            ),
            format!(
                r#"{{"store":{{"id":1,"name":"Loja",{texts},"logo":"https://l","background":{{"original_source":"https://b"}}}},"company":{company}}}"#
            ),
        ] {
            let page = page(&payload);
            assert_eq!(
                (page.store_id, page.store_name.as_deref()),
                (Some(StoreId::new("1")), Some("Loja")),
                "{payload}"
            );
            let texts = [page.short_description, page.description, page.full_description].map(Option::unwrap);
            assert_eq!(texts, ["Curto", "Médio", "Longo"]);
            assert_eq!(page.foundation_date, NaiveDate::from_ymd_opt(1998, 3, 7));
            assert_eq!([page.logo_url, page.background_url].map(Option::unwrap), ["https://l", "https://b"]);
            assert_eq!(page.company.unwrap().legal_name.as_deref(), Some("Loja LTDA"));
        }
    }

    // proves: PAG-007, PAG-008
    #[test]
    fn a_cleared_text_reads_as_empty_and_a_cleared_day_as_none() {
        let page = page(r#"{"short_description":"","foundation_date":null,"logo_url":null}"#);
        assert_eq!(
            (page.short_description.as_deref(), page.foundation_date, page.logo_url),
            (Some(""), None, None)
        );
    }
}
