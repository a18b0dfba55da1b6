//! The errors that the document describes, by name (API document, "Errors / Codes").

use super::Refusal;

/// An error of the document's table. The marketplace's full catalogue is not shown, so there is always
/// [`Documented::Unknown`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Documented {
    /// 400: a stock movement that adds and subtracts at once.
    BothDirections,
    /// 401: the token, or the credential of a login, was not accepted.
    Unauthorized,
    /// 403: the token lacks these abilities (empty if the server named none).
    MissingAbilities(Vec<String>),
    /// 403 of the store page: it needs scopes that no integration token can have.
    StorePageClosed,
    /// 404: the object does not exist, or belongs to another store.
    NotFound,
    /// 409: an image in use can be neither deleted nor changed.
    ImageInUse,
    /// 422: the target status is not among the order's next actions.
    ImpossibleTransition,
    /// 422: fields of the request are invalid; [`Refusal::fields`] has them.
    InvalidFields,
    /// 422: the campaign's deadline to join has passed.
    CampaignOptInClosed,
    /// 422: a sub-store in mirror mode creates no products of its own.
    SubstoreCannotCreateSku,
    /// 422: the label is still being generated.
    LabelNotReady,
    /// 422: the order has no issued NF-e or content declaration yet; holds what the server says about it.
    FiscalGate(Vec<String>),
    /// 422: the listing cannot be created as it is.
    ListingNotReady {
        /// `data.reason`.
        reason: String,
        /// `data.details`, flattened.
        details: Vec<String>,
    },
    /// 429: the token's budget, or the login budget, is exhausted.
    TooManyRequests,
    /// An error that the document does not describe.
    Unknown,
}

impl Refusal {
    /// Returns which of the document's errors this is, judged by the server's answer.
    pub fn kind(&self, status: u16) -> Documented {
        match status {
            400 if self.names("increment") && self.names("decrement") => Documented::BothDirections,
            401 => Documented::Unauthorized,
            403 => Documented::MissingAbilities(self.abilities()),
            // The document names `NOT_FOUND` and says that its catalogue is not the full one: `ORDER_NOT_FOUND` is as good.
            404 | 410 if self.message_code.ends_with("NOT_FOUND") => Documented::NotFound,
            409 => Documented::ImageInUse,
            422 => self.unprocessable(),
            429 => Documented::TooManyRequests,
            _ => Documented::Unknown,
        }
    }

    /// Classifies a 422. Most 422 rows in the document's table have no code of their own, so the named fields tell
    /// them apart.
    fn unprocessable(&self) -> Documented {
        match self.message_code.as_str() {
            "CAMPAIGN_OPT_IN_CLOSED" => return Documented::CampaignOptInClosed,
            "SUBSTORE_CANNOT_CREATE_SKU" => return Documented::SubstoreCannotCreateSku,
            _ => {}
        }
        if let Some(limiter) = self.fields.get("fiscal") {
            return Documented::FiscalGate(limiter.clone());
        }
        if !self.reason.is_empty() || !self.details.is_empty() {
            let (reason, details) = (self.reason.clone(), self.details.clone());
            return Documented::ListingNotReady { reason, details };
        }
        if self.fields.contains_key("status") {
            return Documented::ImpossibleTransition;
        }
        if !self.fields.is_empty() || self.message_code == "VALIDATION_ERROR" {
            return Documented::InvalidFields;
        }
        let words = [&self.description].into_iter().chain(&self.errors);
        match words.map(|text| text.to_lowercase()).any(|text| text.contains("em processamento")) {
            true => Documented::LabelNotReady,
            false => Documented::Unknown,
        }
    }

    /// Returns the words of `errors` that look like abilities, such as `store_products_write`.
    fn abilities(&self) -> Vec<String> {
        let in_ability =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | ':' | '.');
        let words = self.errors.iter().flat_map(|text| text.split(|c| !in_ability(c)));
        let abilities = words.map(|word| word.trim_matches(['_', ':', '.']));
        let mut found: Vec<String> = Vec::new();
        for ability in abilities.filter(|word| word.contains('_')) {
            if !found.iter().any(|known| known == ability) {
                found.push(ability.to_owned());
            }
        }
        found
    }
}

impl Documented {
    /// Returns the word by which the text catalogue chooses the next step.
    pub(super) fn word(&self, status: u16) -> &'static str {
        match self {
            Self::BothDirections => "both-directions",
            Self::Unauthorized => "unauthorized",
            Self::MissingAbilities(_) => "missing-abilities",
            Self::StorePageClosed => "store-page-closed",
            Self::NotFound => "not-found",
            Self::ImageInUse => "image-in-use",
            Self::ImpossibleTransition => "impossible-transition",
            Self::InvalidFields => "invalid-fields",
            Self::CampaignOptInClosed => "campaign-closed",
            Self::SubstoreCannotCreateSku => "substore",
            Self::LabelNotReady => "label-not-ready",
            Self::FiscalGate(_) => "fiscal-gate",
            Self::ListingNotReady { .. } => "listing-not-ready",
            Self::TooManyRequests => "too-many",
            Self::Unknown if status >= 500 => "server",
            Self::Unknown => "unknown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    fn refusal(body: &str) -> Refusal {
        Refusal::parse(body.as_bytes())
    }

    fn error(request: &str, status: u16, body: &str) -> Error {
        let (request, refusal) = (request.to_owned(), Box::new(refusal(body)));
        Error::Refused { request, read: false, status, refusal, after: None }
    }

    // proves: ERR-001, ERR-002, ERR-004, ERR-007, ERR-010, ERR-012, ERR-014, ERR-015, ERR-016, ERR-017, ERR-018
    // proves: ERR-019, ERR-026, ERR-030, ERR-032, AUT-038, LST-020
    #[test]
    fn every_documented_error_is_recognised_by_its_words() {
        let check = |status, body: &str, expected: Documented| {
            assert_eq!(refusal(body).kind(status), expected, "{status} {body}");
        };
        let texts = |texts: &[&str]| texts.iter().map(|&t| t.to_owned()).collect::<Vec<_>>();
        check(
            400,
            r#"{"description":"Informe increment ou decrement, nunca ambos"}"#,
            Documented::BothDirections,
        );
        check(401, r#"{"message_code":"UNAUTHORIZED"}"#, Documented::Unauthorized);
        check(
            403,
            r#"{"message_code":"FORBIDDEN","errors":["store_products_write"]}"#,
            Documented::MissingAbilities(texts(&["store_products_write"])),
        );
        check(404, r#"{"message_code":"NOT_FOUND"}"#, Documented::NotFound);
        // A proxy's page, or another server's words.
        check(404, "<html>not found</html>", Documented::Unknown);
        check(404, r#"{"message":"no Route matched"}"#, Documented::Unknown);
        check(409, "{}", Documented::ImageInUse);
        check(
            422,
            r#"{"message_code":"VALIDATION_ERROR","errors":{"status":["Transição impossível de paid para delivered"]}}"#,
            Documented::ImpossibleTransition,
        );
        check(
            422,
            r#"{"message_code":"VALIDATION_ERROR","errors":{"data.reason":["curto"]}}"#,
            Documented::InvalidFields,
        );
        check(422, r#"{"errors":{"package_width":["obrigatório"]}}"#, Documented::InvalidFields);
        check(422, r#"{"message_code":"CAMPAIGN_OPT_IN_CLOSED"}"#, Documented::CampaignOptInClosed);
        check(422, r#"{"message_code":"SUBSTORE_CANNOT_CREATE_SKU"}"#, Documented::SubstoreCannotCreateSku);
        check(
            422,
            r#"{"message_code":"UNPROCESSABLE_ENTITY","description":"Em processamento"}"#,
            Documented::LabelNotReady,
        );
        check(
            422,
            r#"{"errors":{"fiscal":["Emita a NF-e"]}}"#,
            Documented::FiscalGate(texts(&["Emita a NF-e"])),
        );
        check(
            422,
            r#"{"data":{"reason":"sku_without_price","details":["SKU-1"]},"errors":[]}"#,
            Documented::ListingNotReady { reason: "sku_without_price".into(), details: texts(&["SKU-1"]) },
        );
        check(429, r#"{"message_code":"TOO_MANY_REQUESTS"}"#, Documented::TooManyRequests);
    }

    // proves: ERR-022, ERR-023, ERR-024, ERR-025
    #[test]
    fn a_refusal_without_code_or_fields_is_a_refusal_all_the_same() {
        let status = "POST /api/v1/sellers/orders/1/status";
        for (request, words) in [
            (status, "Pedido em preparo não pode ser cancelado pelo vendedor"),
            (status, "A entrega é confirmada pela transportadora"),
            (status, "Transição impossível de awaiting_campaign_conclusion para paid"),
            ("GET /api/categories/1/attributes", "only_features e only_variations se excluem"),
        ] {
            let body = format!(
                r#"{{"success":false,"code":422,"message_code":"","description":"{words}","data":[],"errors":[],"meta":[]}}"#
            );
            let error = error(request, 422, &body);
            assert_eq!((error.kind(), error.class()), (Some(Documented::Unknown), crate::Class::Permanent));
            assert!(error.text().to_string().contains(words), "{error}");
        }
    }

    // proves: AUT-038, ERR-004
    #[test]
    fn missing_abilities_are_found_in_any_form_of_errors_and_named_once() {
        let check = |errors: &str, expected: &[&str]| {
            let kind = refusal(&format!(r#"{{"errors":{errors}}}"#)).kind(403);
            let Documented::MissingAbilities(found) = kind else { panic!("{errors}: {kind:?}") };
            assert_eq!(found, expected, "{errors}");
        };
        check(
            r#"["store_products_read","store_products_write"]"#,
            &["store_products_read", "store_products_write"],
        );
        check(r#"["Falta a permissão: store_products_read."]"#, &["store_products_read"]);
        check(
            r#"{"abilities":["store_orders_substores","store_orders_substores"]}"#,
            &["store_orders_substores"],
        );
        check("[]", &[]);
    }

    // proves: ERR-005, ERR-010, ERR-017, SHP-034
    #[test]
    fn the_route_says_what_the_words_leave_open() {
        let forbidden = r#"{"message_code":"FORBIDDEN","errors":["store_page_write"]}"#;
        let kind = |request: &str, status, body: &str| error(request, status, body).kind().unwrap();
        for route in ["PUT /api/stores/page", "GET /api/stores/rating", "GET /api/stores/rating/history"] {
            assert_eq!(kind(route, 403, forbidden), Documented::StorePageClosed, "{route}");
        }
        assert_eq!(kind("DELETE /api/media/01J", 409, "{}"), Documented::ImageInUse);
        assert_eq!(kind("POST /api/v1/sellers/orders/1/status", 409, "{}"), Documented::Unknown);
        let unready = r#"{"message_code":"UNPROCESSABLE_ENTITY","description":"Aguarde"}"#;
        let download = "GET /api/seller/logistics/shipments/01S/labels/01L/download";
        assert_eq!(kind(download, 422, unready), Documented::LabelNotReady);
        assert_eq!(kind("PUT /api/items/X-1/publish", 422, unready), Documented::Unknown);
    }

    #[test]
    fn each_kind_has_a_hint_of_its_own() {
        let kinds = [
            Documented::BothDirections,
            Documented::Unauthorized,
            Documented::MissingAbilities(Vec::new()),
            Documented::StorePageClosed,
            Documented::NotFound,
            Documented::ImageInUse,
            Documented::ImpossibleTransition,
            Documented::InvalidFields,
            Documented::CampaignOptInClosed,
            Documented::SubstoreCannotCreateSku,
            Documented::LabelNotReady,
            Documented::FiscalGate(Vec::new()),
            Documented::ListingNotReady { reason: String::new(), details: Vec::new() },
            Documented::TooManyRequests,
            Documented::Unknown,
        ];
        let words: std::collections::BTreeSet<_> = kinds.iter().map(|kind| kind.word(422)).collect();
        assert_eq!(words.len(), kinds.len());
        let limiter = error("POST /x", 422, r#"{"errors":{"fiscal":["NF-e"]}}"#);
        let next = limiter.text().next(espelho_model::text::Locale::default()).unwrap();
        assert!(next.contains("NF-e"), "{next}");
    }
}
