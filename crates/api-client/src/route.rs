//! Routes, as metrics and limits name them.

/// A route with its method.
pub type Route = (&'static str, &'static str);

/// The listing of orders (API document, "Endpoints", "Orders").
pub(crate) const ORDERS: &str = "/api/v1/sellers/orders";
/// The listing of products (API document, "Endpoints", "Products, prices, stock").
pub(crate) const PRODUCTS: &str = "/api/products";

/// The listings that no mirror can do without. A 403 of one is a lack of permission even where it names no ability, and
/// whatever else keeps one from being read is trouble; any other route may refuse one row alone.
pub(crate) const LISTINGS: [Route; 2] = [(ORDERS, "GET"), (PRODUCTS, "GET")];

/// Returns whether a route is a listing that no mirror can do without.
pub(crate) fn is_listing(route: &Route) -> bool {
    LISTINGS.contains(route)
}
