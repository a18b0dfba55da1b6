//! Price lists (API document, "Price lists"): named configuration records without prices. The routes that read or
//! delete them are not documented.

use chrono::{Offset as _, Utc};
use espelho_model::{PriceListId, RawJson, price_list::PriceList, text};
use serde::Serialize;

use super::answer::{Written, read_written, unwrapped};
use crate::{
    ApiRequest, Error, Invalid, Text,
    resources::handles::PriceListsApi,
    wire::{
        fields::{FieldReader, object},
        shape,
    },
};

const SETTINGS: &str = "/api/seller/price-lists/settings";
const LISTS: &str = "/api/seller/price-lists";
const ONE: &str = "/api/seller/price-lists/{id}";

/// A price list's name: at most 120 characters.
pub type PriceListName = Text<120>;

/// How a list gets its SKU prices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PriceListMode {
    /// One price for each SKU.
    Manual,
    /// Derived by the platform.
    Auto,
}

impl PriceListMode {
    /// Reads the document's word.
    ///
    /// # Errors
    /// When the word is unknown.
    pub fn parse(word: &str) -> Result<Self, Invalid> {
        match word {
            "manual" => Ok(Self::Manual),
            "auto" => Ok(Self::Auto),
            _ => Err(Invalid::value("mode", word, text!("value-rule-price-list-mode"))),
        }
    }
}

/// A price list to create. The marketplace assigns its position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewPriceList {
    /// Its name.
    pub name: PriceListName,
    /// How it gets its prices.
    pub mode: PriceListMode,
}

impl NewPriceList {
    /// Builds the request.
    pub fn request(&self) -> ApiRequest {
        ApiRequest::post(LISTS, &[]).json(self)
    }
}

/// Changes to a price list; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PriceListChanges {
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<PriceListName>,
    /// How it gets its prices. After a change, existing prices must be recorded again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<PriceListMode>,
    /// Its position among the lists, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u32>,
    /// Whether it is offered where SKU prices are recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_active: Option<bool>,
}

/// An update of a price list with at least one change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceListUpdate(PriceListChanges);

impl PriceListUpdate {
    /// Takes the changes.
    ///
    /// # Errors
    /// When there are none.
    pub fn new(changes: PriceListChanges) -> Result<Self, Invalid> {
        match changes == PriceListChanges::default() {
            true => Err(Invalid::NothingToChange),
            false => Ok(Self(changes)),
        }
    }

    /// Builds the request, which carries only the changes.
    pub fn request(&self, list: &PriceListId) -> ApiRequest {
        ApiRequest::put(ONE, &[list.as_str()]).json(&self.0)
    }
}

/// Builds the request that switches the store's price lists on or off. Lists and recorded prices stay.
pub fn settings_request(enabled: bool) -> ApiRequest {
    #[derive(Serialize)]
    struct Settings {
        price_lists_enabled: bool,
    }
    ApiRequest::put(SETTINGS, &[]).json(&Settings { price_lists_enabled: enabled })
}

impl PriceListsApi<'_> {
    /// Switches the store's price lists on or off. Needs `store_products_write` and the feature `sales_force`, like
    /// all calls in this module.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn enable(self, enabled: bool) -> Result<RawJson, Error> {
        self.requests.fetch_raw(&settings_request(enabled)).await
    }

    /// Creates a price list.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn create(self, list: &NewPriceList) -> Result<Written<PriceList>, Error> {
        self.requests.write_as(&list.request(), read_price_list).await
    }

    /// Changes a price list.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn update(
        self,
        list: &PriceListId,
        update: &PriceListUpdate,
    ) -> Result<Written<PriceList>, Error> {
        self.requests.write_as(&update.request(list), read_price_list).await
    }
}

shape! { PriceListWire { price_list, id, name, mode, position, is_active } }

/// Returns the price list in the answer to a write, if there is one.
pub fn price_list_in(answer: &str) -> Option<PriceList> {
    read_written(answer, Utc.fix(), read_price_list).value
}

fn read_price_list(read: &mut FieldReader, payload: &str) -> Option<PriceList> {
    let outer: PriceListWire<'_> = object(payload).ok()?;
    let own = unwrapped(payload, outer.id, outer.price_list);
    let wire: PriceListWire<'_> = object(own).ok()?;
    Some(PriceList {
        id: PriceListId::new(read.id("id", wire.id)?),
        name: read.text("name", wire.name),
        mode: read.text("mode", wire.mode),
        position: read.integer("position", wire.position),
        is_active: read.boolean("is_active", wire.is_active),
        raw: RawJson::new(own),
    })
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;

    use super::*;
    use crate::wire::outward::sent;

    // proves: PRL-001, PRL-002
    #[test]
    fn the_switch_is_always_sent() {
        assert_eq!(
            sent(&settings_request(false)),
            r#"PUT /api/seller/price-lists/settings {"price_lists_enabled":false}"#
        );
    }

    // proves: PRL-004, PRL-005, PRL-006, PRL-007, PRL-008
    #[test]
    fn a_list_is_created_with_a_name_of_at_most_120_characters_and_a_mode() {
        let list = |name: &str, mode: &str| -> Result<String, Invalid> {
            let (name, mode) = (PriceListName::new("name", name)?, PriceListMode::parse(mode)?);
            Ok(sent(&NewPriceList { name, mode }.request()))
        };
        assert_eq!(
            list("Atacado São Paulo", "manual").unwrap(),
            r#"POST /api/seller/price-lists {"name":"Atacado São Paulo","mode":"manual"}"#
        );
        assert!(list(&"ã".repeat(120), "auto").unwrap().ends_with(r#""mode":"auto"}"#));
        assert!(matches!(
            list(&"ã".repeat(121), "auto"),
            Err(Invalid::TooLong { length: 121, limit: 120, .. })
        ));
        assert_eq!(list(" ", "auto"), Err(Invalid::Missing { field: "name" }));
        assert_eq!(list("A", "Auto").unwrap_err().to_string(), "mode is Auto; it must be manual or auto");
    }

    // proves: PRL-011, PRL-012, PRL-013
    #[test]
    fn an_update_sends_what_changes_and_is_never_empty() {
        let update =
            |changes| PriceListUpdate::new(changes).map(|u| sent(&u.request(&PriceListId::new("9"))));
        let only = PriceListChanges::default();
        assert_eq!(update(only.clone()), Err(Invalid::NothingToChange));
        assert_eq!(
            update(PriceListChanges { is_active: Some(false), ..only.clone() }).unwrap(),
            r#"PUT /api/seller/price-lists/9 {"is_active":false}"#
        );
        let all = PriceListChanges {
            name: Some(PriceListName::new("name", "B").unwrap()),
            mode: Some(PriceListMode::Auto),
            position: Some(0),
            is_active: Some(true),
        };
        assert_eq!(
            update(all).unwrap(),
            r#"PUT /api/seller/price-lists/9 {"name":"B","mode":"auto","position":0,"is_active":true}"#
        );
    }

    // proves: PRL-004, PRL-010
    #[test]
    fn the_answer_of_a_creation_gives_the_id_place_and_state_in_either_form() {
        for payload in [
            r#"{"id":12,"name":"A","mode":"manual","position":3,"is_active":true}"#,
            r#"{"price_list":{"id":"12","name":"A","mode":"manual","position":"3","is_active":1}}"#,
        ] {
            let written = read_written(payload, FixedOffset::east_opt(0).unwrap(), read_price_list);
            let list = written.value.unwrap();
            assert_eq!(
                (list.id.as_str(), list.position, list.is_active),
                ("12", Some(3), Some(true)),
                "{payload}"
            );
            assert_eq!(written.unreadable, Vec::<&str>::new());
        }
        assert!(read_written("[]", FixedOffset::east_opt(0).unwrap(), read_price_list).value.is_none());
    }
}
