//! Paging of a listing (API document, "Page size").

use crate::ApiRequest;

/// A page and its number of rows. The campaign listings return 15 by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paging {
    /// The page, from 1.
    pub page: u64,
    /// Rows on a page; `None` leaves it to the server.
    pub per_page: Option<u32>,
}

impl Default for Paging {
    fn default() -> Self {
        Self { page: 1, per_page: None }
    }
}

impl Paging {
    /// Returns the parameters as text.
    pub(crate) fn parameters(self) -> [(&'static str, Option<String>); 2] {
        [("page", Some(self.page.to_string())), ("per_page", self.per_page.map(|rows| rows.to_string()))]
    }
}

/// Adds the given parameters; a missing one is left to the server.
pub(crate) fn with_parameters(
    request: ApiRequest,
    parameters: impl IntoIterator<Item = (&'static str, Option<String>)>,
) -> ApiRequest {
    parameters.into_iter().fold(request, |request, (name, value)| match value {
        Some(value) => request.query([(name, value.as_str())]),
        None => request,
    })
}
