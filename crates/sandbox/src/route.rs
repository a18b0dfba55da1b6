//! The table of routes: which path and method mean what, who may call them, and what does their work.

use std::{borrow::Cow, sync::LazyLock};

use percent_encoding::percent_decode_str;

use crate::{
    answer::{Answer, Refusal},
    auth,
    call::Call,
    campaigns, categories, labels, listings, media, orders, price_lists, products, session, shipments,
    store_page, webhooks,
};

/// What a route does with a request that passed every check.
pub(crate) type Work = fn(&Call) -> Result<Answer, Refusal>;

/// A route that the sandbox serves. Each area of the document lists its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    pub(crate) method: &'static str,
    /// The path as the document writes it.
    pub(crate) path: &'static str,
    pub(crate) access: Access,
    pub(crate) work: Work,
    /// Whether a client that asks twice is counted.
    pub(crate) repeats: Repeats,
    /// Whether the work takes so long that it must not hold up other requests: image conversion does.
    pub(crate) is_slow: bool,
}

/// Who may call a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Anybody; a token that comes along is counted all the same.
    Public,
    /// A token.
    Token,
    /// A token with this ability.
    Ability(&'static str),
    /// A token; with this ability where scopes are enforced strictly, because the document names none for the route.
    StrictAbility(&'static str),
    /// No integration token, unless the BETA is open ("Store page and rating").
    Beta,
}

/// What a second identical fetch by one store is counted as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeats {
    Uncounted,
    ListPage,
    Detail,
}

impl Route {
    pub(crate) const fn get(path: &'static str, work: Work) -> Self {
        Self::of("GET", path, work)
    }

    pub(crate) const fn post(path: &'static str, work: Work) -> Self {
        Self::of("POST", path, work)
    }

    pub(crate) const fn put(path: &'static str, work: Work) -> Self {
        Self::of("PUT", path, work)
    }

    pub(crate) const fn delete(path: &'static str, work: Work) -> Self {
        Self::of("DELETE", path, work)
    }

    const fn of(method: &'static str, path: &'static str, work: Work) -> Self {
        Self { method, path, access: Access::Token, work, repeats: Repeats::Uncounted, is_slow: false }
    }

    pub(crate) const fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    pub(crate) const fn counted(mut self, repeats: Repeats) -> Self {
        self.repeats = repeats;
        self
    }

    pub(crate) const fn slow(mut self) -> Self {
        self.is_slow = true;
        self
    }

    /// The name that statistics and fault rules use, such as `GET /api/products/{id}`.
    pub(crate) fn template(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Whether this is the token issue, which needs no token and has a limit of its own.
    pub(crate) fn is_login(&self) -> bool {
        self.path == auth::LOGIN
    }
}

/// Every route, by area.
static ALL: LazyLock<Vec<Route>> = LazyLock::new(|| {
    [
        auth::ROUTES,
        session::ROUTES,
        orders::routes::ROUTES,
        products::routes::ROUTES,
        shipments::routes::ROUTES,
        labels::routes::ROUTES,
        media::routes::ROUTES,
        store_page::routes::ROUTES,
        categories::routes::ROUTES,
        listings::routes::ROUTES,
        webhooks::routes::ROUTES,
        campaigns::routes::ROUTES,
        price_lists::routes::ROUTES,
    ]
    .concat()
});

/// Every route; a route's place in the list is its number.
pub(crate) fn all() -> &'static [Route] {
    &ALL
}

/// What a path leads to.
pub(crate) enum Found<'a> {
    /// A route: its number, and the identifiers in the path.
    Route(usize, Vec<Cow<'a, str>>),
    /// The path exists with these methods only.
    OtherMethods(String),
    /// There is no such path.
    Nothing,
}

/// Finds the route of a method and path. A path that is spelled out goes before one with identifiers in it.
pub(crate) fn find<'a>(method: &str, path: &'a str) -> Found<'a> {
    let mut best: Option<(usize, Vec<Cow<'a, str>>)> = None;
    let mut methods: Vec<&str> = Vec::new();
    let mut fewest = usize::MAX;
    for (number, route) in all().iter().enumerate() {
        let Some(ids) = identifiers(route.path, path) else { continue };
        // `/orders/enums` is not the order named `enums`: the other methods of the less exact path do not count either.
        if ids.len() < fewest {
            (best, fewest) = (None, ids.len());
            methods.clear();
        }
        if ids.len() == fewest {
            methods.push(route.method);
            if route.method == method {
                best = Some((number, ids));
            }
        }
    }
    match best {
        Some((number, ids)) => Found::Route(number, ids),
        None if methods.is_empty() => Found::Nothing,
        None => Found::OtherMethods(methods.join(", ")),
    }
}

/// The identifiers in a path, if it has the form of a template.
pub(crate) fn identifiers<'a>(template: &str, path: &'a str) -> Option<Vec<Cow<'a, str>>> {
    let (mut parts, mut ids) = (path.split('/'), Vec::new());
    for expected in template.split('/') {
        let part = parts.next()?;
        if expected.starts_with('{') {
            ids.push(percent_decode_str(part).decode_utf8_lossy());
        } else if expected != part {
            return None;
        }
    }
    parts.next().is_none().then_some(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(method: &str, path: &str) -> Option<(&'static str, Vec<String>)> {
        match find(method, path) {
            Found::Route(number, ids) => {
                Some((all()[number].path, ids.into_iter().map(Cow::into_owned).collect()))
            }
            _ => None,
        }
    }

    #[test]
    fn every_template_leads_back_to_its_route() {
        for route in all() {
            assert_eq!(found(route.method, route.path).map(|(path, _)| path), Some(route.path));
        }
    }

    #[test]
    fn no_two_routes_share_method_and_path() {
        let mut templates: Vec<_> = all().iter().map(Route::template).collect();
        templates.sort();
        let count = templates.len();
        templates.dedup();
        assert_eq!(templates.len(), count);
    }

    #[test]
    fn paths_that_are_longer_or_shorter_are_no_route() {
        for path in ["", "/", "/api", "/api/products/", "/api/products/1/prices/2/3/4/5/6"] {
            assert!(matches!(find("GET", path), Found::Nothing | Found::Route(..)), "{path}");
        }
        assert!(matches!(find("GET", "/api/products/1/prices/2/3/4/5/6"), Found::Nothing));
    }

    #[test]
    fn an_identifier_is_decoded() {
        let (path, ids) = found("GET", "/api/v1/sellers/orders/a%2Fb").unwrap();
        assert_eq!((path, &ids[..]), ("/api/v1/sellers/orders/{id}", &["a/b".to_owned()][..]));
    }

    #[test]
    fn a_spelled_out_path_is_never_taken_for_an_identifier() {
        assert_eq!(found("GET", "/api/v1/sellers/orders/enums").unwrap().0, "/api/v1/sellers/orders/enums");
        assert!(matches!(find("POST", "/api/v1/sellers/orders/enums"), Found::OtherMethods(m) if m == "GET"));
    }
}
