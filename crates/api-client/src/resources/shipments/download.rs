//! The address of a label's file (API document, "Shipments and labels").

use chrono::{Offset as _, Utc};
use espelho_model::{LabelId, ShipmentId, shipment::LabelFormat};
use reqwest::Url;
use serde::Deserialize;

use crate::{
    ApiRequest, Error,
    resources::handles::ShipmentsApi,
    signed::SignedUrl,
    wire::{
        envelope::BodyError,
        fields::{Field, FieldReader, object},
    },
};

/// Builds the request for the address of a label's file.
pub fn request(shipment: &ShipmentId, label: &LabelId) -> ApiRequest {
    let route = "/api/seller/logistics/shipments/{id}/labels/{labelId}/download";
    ApiRequest::get(route, &[shipment.as_str(), label.as_str()])
}

/// The address of a label's file. Never stored: the address is a secret, and valid for 15 minutes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelFile {
    /// `label_id`.
    pub label_id: LabelId,
    /// `format`.
    pub format: Option<LabelFormat>,
    /// `url`.
    pub url: SignedUrl,
    /// `expires_in`, in seconds.
    pub expires_in_seconds: Option<i64>,
}

impl ShipmentsApi<'_> {
    /// Reads the address of a label's file. While the label is being generated, the error is
    /// [`LabelNotReady`](crate::error::Documented::LabelNotReady).
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn label_file(self, shipment: &ShipmentId, label: &LabelId) -> Result<LabelFile, Error> {
        let base = &self.requests.client.transport.base;
        self.requests.read_with(&request(shipment, label), |payload| parse(payload, label, base)).await
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct FileWire<'a> {
    #[serde(borrow)]
    label_id: Field<'a>,
    #[serde(borrow)]
    format: Field<'a>,
    #[serde(borrow)]
    url: Field<'a>,
    #[serde(borrow)]
    expires_in: Field<'a>,
}

fn parse(payload: &str, asked: &LabelId, base: &Url) -> Result<LabelFile, BodyError> {
    let mut read = FieldReader::new(Utc.fix());
    let wire: FileWire<'_> = object(payload)?;
    let label_id = read.id("label_id", wire.label_id).map_or_else(|| asked.clone(), LabelId::new);
    if label_id != *asked {
        return Err(BodyError::shape(format!("asked for label {asked}, was given {label_id}")));
    }
    // The address is a secret, so no error repeats it.
    let url = read.text("url", wire.url).and_then(|url| SignedUrl::parse_at(&url, base));
    Ok(LabelFile {
        label_id,
        format: read.text("format", wire.format).map(|format| LabelFormat::new(&format)),
        url: url.ok_or_else(|| BodyError::shape("a label's file without an address"))?,
        expires_in_seconds: read.integer("expires_in", wire.expires_in),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Url {
        Url::parse("https://m.example/loja").unwrap()
    }

    #[test]
    fn the_request_of_a_file_names_the_shipment_and_the_label() {
        let request = request(&ShipmentId::new("01S"), &LabelId::new("01L"));
        assert_eq!(request.describe(), "GET /api/seller/logistics/shipments/01S/labels/01L/download");
    }

    // proves: SHP-031, SHP-033
    #[test]
    fn a_file_is_read_with_its_format_address_and_life() {
        let label = LabelId::new("77");
        let payload = r#"{"label_id":77,"format":"zebra_pdf","url":"https://s.example/l.pdf?sig=abc","expires_in":900}"#;
        let file = parse(payload, &label, &base()).unwrap();
        assert_eq!((file.format, file.expires_in_seconds), (Some(LabelFormat::ZebraPdf), Some(900)));
        assert_eq!(file.url, SignedUrl::parse("https://s.example/l.pdf?sig=abc").unwrap());
        let bare = parse(r#"{"url":"https://s.example/l.pdf?sig=abc"}"#, &label, &base()).unwrap();
        assert_eq!((bare.label_id, bare.expires_in_seconds), (label, None));
    }

    #[test]
    fn an_address_that_begins_with_a_slash_is_one_of_the_marketplace_and_has_the_same_guards() {
        for (url, expected, objection) in [
            ("/files/l.pdf?sig=abc", "https://m.example/files/l.pdf?sig=abc", None),
            (" //s.example/l.pdf?sig=abc", "https://s.example/l.pdf?sig=abc", None),
            ("//127.0.0.1/l.pdf", "https://127.0.0.1/l.pdf", Some("is not public")),
            ("https://s.example/../l.pdf", "https://s.example/l.pdf", None),
        ] {
            let payload = format!(r#"{{"url":"{url}"}}"#);
            let file = parse(&payload, &LabelId::new("77"), &base()).unwrap();
            assert_eq!((file.url.expose(), file.url.objection(false, &[])), (expected, objection), "{url}");
        }
    }

    #[test]
    fn the_file_of_another_label_or_without_an_address_is_no_answer_and_no_error_shows_the_address() {
        for payload in [
            r#"{"label_id":"78","url":"https://s.example/l.pdf?sig=abc"}"#,
            r#"{"label_id":"77","url":"l.pdf?sig=abc"}"#,
            r#"{"label_id":"77","url":"file:///l.pdf?sig=abc"}"#,
            r#"{"label_id":"77","url":""}"#,
            r#"{"label_id":"77","url":{"href":"https://s.example/l.pdf?sig=abc"}}"#,
            r#"{"label_id":"77"}"#,
        ] {
            let error = format!("{:?}", parse(payload, &LabelId::new("77"), &base()).unwrap_err());
            assert!(!error.contains("sig"), "{error}");
        }
    }
}
