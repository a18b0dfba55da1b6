//! Routes, as metrics and limits name them.

/// A route with its method.
pub type Route = (&'static str, &'static str);

/// The listing of orders (API document, "Endpoints", "Orders").
pub(crate) const ORDERS: &str = "/api/v1/sellers/orders";
/// The listing of products (API document, "Endpoints", "Products, prices, stock").
pub(crate) const PRODUCTS: &str = "/api/products";
