//! The table of routes: every route of every area, and the search for the route of a request.

use std::{borrow::Cow, sync::LazyLock};

use crate::{
    auth, campaigns, categories, labels, listings, media, orders, price_lists, products,
    route::{Route, identifiers},
    session, shipments, store_page, webhooks,
};

/// Every route, by area.
static ALL: LazyLock<Vec<Route>> = LazyLock::new(|| {
    [
        auth::login::ROUTES,
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

/// The names of all routes, in their order.
pub(crate) fn names() -> Vec<String> {
    all().iter().map(Route::template).collect()
}

/// The outcome of the search for a route.
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
