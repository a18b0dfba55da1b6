//! Which page of a listing (API document, "Page size").

use crate::ApiRequest;

/// A page, and how many rows it has. The campaign listings give 15 when nothing is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paging {
    /// The page, from 1.
    pub page: u64,
    /// Rows a page; `None` leaves it to the server.
    pub per_page: Option<u32>,
}

impl Default for Paging {
    fn default() -> Self {
        Self { page: 1, per_page: None }
    }
}

impl Paging {
    /// The parameters as text.
    pub(crate) fn parameters(self) -> [(&'static str, Option<String>); 2] {
        [("page", Some(self.page.to_string())), ("per_page", self.per_page.map(|rows| rows.to_string()))]
    }
}

/// Adds the parameters that are there; what is not there is left to the server.
pub(crate) fn with_parameters(
    request: ApiRequest,
    parameters: impl IntoIterator<Item = (&'static str, Option<String>)>,
) -> ApiRequest {
    parameters.into_iter().fold(request, |request, (name, value)| match value {
        Some(value) => request.query([(name, value.as_str())]),
        None => request,
    })
}
