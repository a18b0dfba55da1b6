//! The areas of the API, one file each: requests are built purely, answers are read tolerantly.

pub mod answer;
pub mod auth;
pub mod campaigns;
pub mod categories;
mod handles;
pub mod listings;
pub mod media;
pub mod orders;
pub mod paging;
pub mod price_lists;
pub mod products;
pub mod session;
pub mod shipments;
pub mod store_page;
pub mod webhook;

use espelho_model::RawJson;
pub use handles::{
    AuthApi, CampaignsApi, CategoriesApi, ListingsApi, MediaApi, OrdersApi, PriceListsApi, ProductsApi,
    ShipmentsApi, SignedFiles, StorePageApi,
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::{
    ApiRequest, Error, ListPage,
    requests::Requests,
    wire::{
        envelope::{self, BodyError},
        fields::object,
        list,
    },
};

/// A single mirrored object, with the names of its unreadable fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Read<T> {
    /// The object.
    pub value: T,
    /// Fields whose form is not understood. They are `None` in `value` and complete in `raw`.
    pub unreadable: Vec<&'static str>,
}

impl Requests<'_> {
    /// Sends a prebuilt request and returns the payload of its answer unread.
    ///
    /// # Errors
    /// As every call; see [`Error`]. A tier without a price, or above the base a discount, is not sent: the marketplace
    /// would set its price to zero (API document, price rule 5).
    pub async fn perform(self, request: &ApiRequest) -> Result<RawJson, Error> {
        match request.zeroes_a_price() {
            true => Err(Error::Setup(format!("{} would set a price to zero", request.describe()))),
            false => self.fetch_raw(request).await,
        }
    }

    /// Sends the request and reads the answer's payload (its `data`).
    pub(crate) async fn read_with<T>(
        self,
        request: &ApiRequest,
        parse: impl Fn(&str) -> Result<T, BodyError>,
    ) -> Result<T, Error> {
        self.send(request, |body| parse(envelope::payload(body)?.get())).await
    }

    /// Sends a read and records which fields of its object could not be read.
    pub(crate) async fn read_object<T>(
        self,
        request: &ApiRequest,
        parse: impl Fn(&str) -> Result<Read<T>, BodyError>,
    ) -> Result<Read<T>, Error> {
        let read = self.read_with(request, parse).await?;
        self.note_unreadable(request, read.unreadable.iter().copied());
        Ok(read)
    }

    /// Records which fields of an answer could not be read.
    pub(crate) fn note_unreadable(self, request: &ApiRequest, fields: impl Iterator<Item = &'static str>) {
        self.metrics().unreadable(request, fields, self.client.clock.now());
    }

    /// Sends the request and reads a payload of a fixed shape.
    pub(crate) async fn fetch<T: for<'de> Deserialize<'de>>(self, request: &ApiRequest) -> Result<T, Error> {
        self.read_with(request, |payload| Ok(object(payload)?)).await
    }

    /// Sends a write whose answer only confirms it.
    pub(crate) async fn command(self, request: &ApiRequest) -> Result<(), Error> {
        self.send(request, |body| envelope::payload(body).map(drop)).await
    }

    /// Sends the request and returns the payload as sent, whatever its form.
    pub(crate) async fn answer(self, request: &ApiRequest) -> Result<Value, Error> {
        self.read_with(request, |payload| Ok(serde_json::from_str(payload)?)).await
    }

    /// Sends the request and reads a listing whose rows `key_of` can identify.
    pub(crate) async fn fetch_list(
        self,
        request: &ApiRequest,
        key_of: impl Fn(&RawValue) -> Option<String>,
    ) -> Result<ListPage, Error> {
        self.send(request, |body| list::parse(body, &key_of)).await
    }
}
