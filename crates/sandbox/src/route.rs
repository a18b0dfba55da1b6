//! The routes: which path and method mean what, and who may call them.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// A route that the sandbox serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Login,
    Session,
    Orders,
    OrderEnums,
    OrderSummary,
    OrderDetail,
    PossibleStatuses,
    StatusEnum,
    Products,
    ProductDetail,
    ProductPrices,
    ProductStock,
    UnitEnum,
}

/// Who may call a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Anybody; a token that comes along is counted all the same.
    Public,
    /// A token.
    Token,
    /// A token with this ability, where scopes are enforced strictly.
    Ability(&'static str),
}

impl Route {
    /// Every route, in the order of their numbers.
    pub(crate) const ALL: [Self; 13] = [
        Self::Login,
        Self::Session,
        Self::Orders,
        Self::OrderEnums,
        Self::OrderSummary,
        Self::OrderDetail,
        Self::PossibleStatuses,
        Self::StatusEnum,
        Self::Products,
        Self::ProductDetail,
        Self::ProductPrices,
        Self::ProductStock,
        Self::UnitEnum,
    ];

    /// The name that statistics and fault rules use.
    pub(crate) fn template(self) -> &'static str {
        match self {
            Self::Login => "POST /api/integration/auth",
            Self::Session => "GET /api/stores/auth/session",
            Self::Orders => "GET /api/v1/sellers/orders",
            Self::OrderEnums => "GET /api/v1/sellers/orders/enums",
            Self::OrderSummary => "GET /api/v1/sellers/orders/summary",
            Self::OrderDetail => "GET /api/v1/sellers/orders/{id}",
            Self::PossibleStatuses => "GET /api/v1/sellers/orders/{id}/possible-statuses",
            Self::StatusEnum => "GET /api/global/enums/order/status",
            Self::Products => "GET /api/products",
            Self::ProductDetail => "GET /api/products/{id}",
            Self::ProductPrices => "GET /api/products/{id}/prices",
            Self::ProductStock => "GET /api/products/{id}/stock",
            Self::UnitEnum => "GET /api/global/enums/product/units",
        }
    }

    pub(crate) fn method(self) -> &'static str {
        if self == Self::Login { "POST" } else { "GET" }
    }

    pub(crate) fn access(self) -> Access {
        match self {
            Self::Login | Self::StatusEnum | Self::UnitEnum => Access::Public,
            Self::Products | Self::ProductDetail | Self::ProductPrices | Self::ProductStock => {
                Access::Ability("store_products_read")
            }
            _ => Access::Token,
        }
    }

    /// Finds the route of a path, and the identifier in it.
    pub(crate) fn of_path(path: &str) -> Option<(Self, Option<Cow<'_, str>>)> {
        let mut parts = [""; 7];
        let mut count = 0;
        for part in path.strip_prefix('/')?.split('/') {
            *parts.get_mut(count)? = part;
            count += 1;
        }
        let (route, id) = match parts[..count] {
            ["api", "v1", "sellers", "orders"] => (Self::Orders, None),
            ["api", "v1", "sellers", "orders", "enums"] => (Self::OrderEnums, None),
            ["api", "v1", "sellers", "orders", "summary"] => (Self::OrderSummary, None),
            ["api", "v1", "sellers", "orders", id] if !RESERVED.contains(&id) => {
                (Self::OrderDetail, Some(id))
            }
            ["api", "v1", "sellers", "orders", id, "possible-statuses"] => (Self::PossibleStatuses, Some(id)),
            ["api", "products"] => (Self::Products, None),
            ["api", "products", id] => (Self::ProductDetail, Some(id)),
            ["api", "products", id, "prices"] => (Self::ProductPrices, Some(id)),
            ["api", "products", id, "stock"] => (Self::ProductStock, Some(id)),
            ["api", "integration", "auth"] => (Self::Login, None),
            ["api", "stores", "auth", "session"] => (Self::Session, None),
            ["api", "global", "enums", "order", "status"] => (Self::StatusEnum, None),
            ["api", "global", "enums", "product", "units"] => (Self::UnitEnum, None),
            _ => return None,
        };
        Some((route, id.map(|id| percent_decode_str(id).decode_utf8_lossy())))
    }
}

/// Fixed names under the order prefix that are other routes of the document, not order numbers.
const RESERVED: [&str; 3] = ["stalled", "dashboard", "bulk"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_leads_back_to_its_route() {
        for (at, route) in Route::ALL.into_iter().enumerate() {
            assert_eq!(route as usize, at);
            let (method, path) = route.template().split_once(' ').unwrap();
            assert_eq!(method, route.method());
            assert_eq!(Route::of_path(path).unwrap().0, route);
        }
    }

    #[test]
    fn paths_that_are_longer_shorter_or_reserved_are_no_route() {
        for path in ["", "/", "/api", "/api/products/1/prices/2/3/4/5/6", "/api/v1/sellers/orders/stalled"] {
            assert!(Route::of_path(path).is_none(), "{path}");
        }
    }

    #[test]
    fn an_identifier_is_decoded() {
        let (_, id) = Route::of_path("/api/v1/sellers/orders/a%2Fb").unwrap();
        assert_eq!(id.unwrap(), "a/b");
    }
}
