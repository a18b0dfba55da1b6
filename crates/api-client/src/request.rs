//! A request as data: built purely, sent elsewhere.

use std::time::Duration;

use reqwest::Method;
use serde::Serialize;

use crate::{
    path::{parameter, segment},
    route::Route,
};

/// The body of a request.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Body {
    /// Nothing at all.
    Empty,
    /// A JSON text.
    Json(Vec<u8>),
    /// One file, as `multipart/form-data`.
    File(File),
}

/// A file to upload ("Media" and "Store page and rating" of the document).
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct File {
    /// The form field: `image` on every route that takes a file.
    pub(crate) field: &'static str,
    /// The file name sent to the marketplace.
    pub(crate) name: String,
    /// The media type, such as `image/png`.
    pub(crate) media_type: &'static str,
    /// The content.
    pub(crate) bytes: Vec<u8>,
}

/// One call of the API, without host, token or time.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiRequest {
    pub(crate) method: Method,
    /// The route template as the document writes it, for logs and metrics. It never contains an identifier.
    pub(crate) route: &'static str,
    pub(crate) path_and_query: String,
    pub(crate) body: Body,
    /// Whether the route needs the bearer token. Only token issue and the enum of order statuses do not.
    pub(crate) authenticated: bool,
    /// A time limit for the call that is shorter than the default. Waiting at the rate limiter does not count.
    pub(crate) time_limit: Option<Duration>,
}

impl std::fmt::Debug for ApiRequest {
    /// Omits the body: a login's body holds the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ApiRequest").field(&self.describe()).finish()
    }
}

impl ApiRequest {
    /// Builds a GET of a route template. Each `{…}` in it is replaced by the next of `ids`, encoded.
    pub(crate) fn get(route: &'static str, ids: &[&str]) -> Self {
        Self::of(Method::GET, route, ids)
    }

    /// Builds a POST without a body; [`ApiRequest::json`] or [`ApiRequest::file`] adds one.
    pub(crate) fn post(route: &'static str, ids: &[&str]) -> Self {
        Self::of(Method::POST, route, ids)
    }

    /// Builds a PUT without a body.
    pub(crate) fn put(route: &'static str, ids: &[&str]) -> Self {
        Self::of(Method::PUT, route, ids)
    }

    /// Builds a DELETE.
    pub(crate) fn delete(route: &'static str, ids: &[&str]) -> Self {
        Self::of(Method::DELETE, route, ids)
    }

    fn of(method: Method, route: &'static str, ids: &[&str]) -> Self {
        Self {
            method,
            route,
            path_and_query: fill(route, ids),
            body: Body::Empty,
            authenticated: true,
            time_limit: None,
        }
    }

    /// Adds a JSON body. Bodies are our own structs and JSON values, which always serialise.
    pub(crate) fn json(self, body: &impl Serialize) -> Self {
        Self { body: Body::Json(serde_json::to_vec(body).unwrap_or_default()), ..self }
    }

    /// Adds a file.
    pub(crate) fn file(self, file: File) -> Self {
        Self { body: Body::File(file), ..self }
    }

    /// Marks the route as public.
    pub(crate) fn public(self) -> Self {
        Self { authenticated: false, ..self }
    }

    /// Limits the duration of the call.
    pub(crate) fn within(self, time_limit: Duration) -> Self {
        Self { time_limit: Some(time_limit), ..self }
    }

    /// Adds query parameters, encoded, in the order given.
    pub(crate) fn query<'a>(mut self, parameters: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        for (name, value) in parameters {
            self.path_and_query.push(if self.path_and_query.contains('?') { '&' } else { '?' });
            self.path_and_query.push_str(&parameter(name));
            self.path_and_query.push('=');
            self.path_and_query.push_str(&parameter(value));
        }
        self
    }

    /// Returns whether the request is a read, which is harmless to send twice.
    pub fn is_read(&self) -> bool {
        self.method == Method::GET
    }

    /// Returns the route template, as the document writes it.
    pub fn route(&self) -> &'static str {
        self.route
    }

    /// Returns the route template with its method, as metrics name it.
    pub(crate) fn route_and_method(&self) -> Route {
        let method = match self.method.as_str() {
            "GET" => "GET",
            "POST" => "POST",
            "PUT" => "PUT",
            "DELETE" => "DELETE",
            _ => "other",
        };
        (self.route, method)
    }

    /// Returns method, path and body, for the journal and for people; for a file its name and size.
    pub fn in_full(&self) -> String {
        match &self.body {
            Body::Empty => self.describe(),
            Body::Json(json) => format!("{} {}", self.describe(), String::from_utf8_lossy(json)),
            Body::File(file) => format!("{} ({}, {} bytes)", self.describe(), file.name, file.bytes.len()),
        }
    }

    /// Returns whether the request creates or updates a price tier with neither a price above zero nor, above the base,
    /// a discount: without its price the base tier becomes zero in every mode (API document, price rule 5). Such a
    /// request is never sent, whoever built it.
    pub(crate) fn zeroes_a_price(&self) -> bool {
        let is_update = self.method == Method::PUT && self.route.ends_with("/prices/{min_quantity}");
        let is_creation = self.method == Method::POST && self.route.ends_with("/{id}/prices");
        if !is_update && !is_creation {
            return false;
        }
        let Body::Json(json) = &self.body else { return true };
        let body: serde_json::Value = serde_json::from_slice(json).unwrap_or_default();
        let named = self.path_and_query.rsplit('/').next().and_then(|quantity| quantity.parse().ok());
        let min_quantity: Option<u64> = if is_update { named } else { body["min_quantity"].as_u64() };
        let is_above_base = min_quantity.is_some_and(|quantity| quantity > 1);
        let price = body["price"].as_f64().is_some_and(|price| price > 0.0);
        let discount = body.get("price").is_none() && body["discount_percent"].is_number();
        !(price || (discount && is_above_base))
    }

    /// Returns the JSON body, if any.
    #[cfg(test)]
    pub(crate) fn json_body(&self) -> Option<serde_json::Value> {
        match &self.body {
            Body::Json(bytes) => serde_json::from_slice(bytes).ok(),
            _ => None,
        }
    }

    /// Returns method, path and query, for people.
    pub fn describe(&self) -> String {
        format!("{} {}", self.method, self.path_and_query)
    }

    /// Returns method and path of what the request's object belongs to: an order or a product for its sides, else the
    /// object itself.
    pub(crate) fn describe_owner(&self) -> String {
        let first_id = self.route.split('/').position(|part| part.starts_with('{'));
        let path = self.path_and_query.split('?').next().unwrap_or_default();
        let parts = path.split('/').take(first_id.map_or(usize::MAX, |at| at + 1));
        format!("{} {}", self.method, parts.collect::<Vec<_>>().join("/"))
    }
}

fn fill(route: &str, ids: &[&str]) -> String {
    let mut ids = ids.iter();
    let parts = route.split('/').map(|part| match part.starts_with('{') {
        true => segment(ids.next().copied().unwrap_or_default()),
        false => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::ApiRequest;

    // withstands: F013
    #[test]
    fn an_update_of_a_tier_without_its_price_does_not_leave() {
        let tier = |quantity| ApiRequest::put("/api/products/{id}/prices/{min_quantity}", &["P1", quantity]);
        let put = |quantity, body: serde_json::Value| tier(quantity).json(&body).zeroes_a_price();
        use serde_json::json;
        for bad in [
            json!({}),
            json!({"price": 0}),
            json!({"price": null}),
            json!({"price": 0, "discount_percent": 5}),
        ] {
            assert!(put("1", bad.clone()) && put("10", bad.clone()), "{bad}");
        }
        assert!(!put("1", json!({"price": 0.01})) && !put("10", json!({"price": 0.01})));
        // Only above the base does a discount stand in for the price.
        assert!(put("1", json!({"discount_percent": 5})) && !put("10", json!({"discount_percent": 0})));
        assert!(tier("1").zeroes_a_price() && tier("10").zeroes_a_price());
        assert!(!ApiRequest::put("/api/products/{id}", &["P1"]).zeroes_a_price());
    }

    // withstands: F013
    #[test]
    fn a_tier_that_would_begin_at_zero_does_not_leave() {
        let post = |body: serde_json::Value| {
            ApiRequest::post("/api/products/{id}/prices", &["P1"]).json(&body).zeroes_a_price()
        };
        use serde_json::json;
        for (body, is_refused) in [
            (json!({"min_quantity": 1, "price": 0.01}), false),
            (json!({"min_quantity": 10, "price": 9}), false),
            (json!({"min_quantity": 10, "discount_percent": 5}), false),
            (json!({"min_quantity": 1, "price": 0}), true),
            (json!({"min_quantity": 10, "price": 0}), true),
            (json!({"min_quantity": 10, "price": 0, "discount_percent": 5}), true),
            (json!({"min_quantity": 1, "discount_percent": 5}), true),
            (json!({"min_quantity": 10}), true),
            (json!({"price": 9}), false),
        ] {
            assert_eq!(post(body.clone()), is_refused, "{body}");
        }
        assert!(!ApiRequest::post("/api/products/{id}/stock", &["P1"]).zeroes_a_price());
    }

    #[test]
    fn identifiers_and_parameters_are_encoded_into_the_documented_route() {
        let request = ApiRequest::get("/api/v1/sellers/orders/{id}/events", &["a/b"])
            .query([("status", "paid,preparing"), ("page", "2")]);
        assert_eq!(
            request.describe(),
            "GET /api/v1/sellers/orders/a%2Fb/events?status=paid%2Cpreparing&page=2"
        );
        assert_eq!(request.route(), "/api/v1/sellers/orders/{id}/events");
    }

    #[test]
    fn the_sides_of_an_object_belong_to_it() {
        for (request, owner) in [
            (ApiRequest::get("/api/products/{id}", &["P1"]), "GET /api/products/P1"),
            (ApiRequest::get("/api/products/{id}/stock", &["P1"]), "GET /api/products/P1"),
            (ApiRequest::get("/api/products/{id}/prices/{n}", &["a/b", "1"]), "GET /api/products/a%2Fb"),
            (ApiRequest::get("/api/products/{id}", &["P1"]).query([("page", "2")]), "GET /api/products/P1"),
            (ApiRequest::get("/api/media", &[]).query([("page", "2")]), "GET /api/media"),
        ] {
            assert_eq!(request.describe_owner(), owner, "{request:?}");
        }
    }
}
