//! The handles on a client, one for each area of the API: `client.orders().get(&number)`.
//!
//! A handle borrows the client and costs nothing. Its methods are beside the requests that they send, in the file of
//! the area.

use crate::{Client, requests::Requests};

/// Declares the handles: a type for each area, and the method of [`Client`] that returns it.
macro_rules! handles {
    ($($(#[$about:meta])* $method:ident: $handle:ident,)*) => {
        $(
            $(#[$about])*
            #[derive(Clone, Copy, Debug)]
            pub struct $handle<'a> {
                pub(crate) requests: Requests<'a>,
            }
        )*

        impl Client {
            $(
                $(#[$about])*
                pub fn $method(&self) -> $handle<'_> {
                    $handle { requests: self.requests() }
                }
            )*
        }
    };
}

handles! {
    /// The token, its session and the webhook that a login registers ("Authentication and session").
    auth: AuthApi,
    /// Discount campaigns ("Campaigns").
    campaigns: CampaignsApi,
    /// Categories and their attributes ("Listings (items) and categories").
    categories: CategoriesApi,
    /// Listings ("Listings (items) and categories").
    listings: ListingsApi,
    /// Images ("Media").
    media: MediaApi,
    /// Orders ("Orders").
    orders: OrdersApi,
    /// Price lists ("Price lists").
    price_lists: PriceListsApi,
    /// Products, their price tiers and their stock ("Products, prices, stock").
    products: ProductsApi,
    /// Shipments and labels ("Shipments and labels").
    shipments: ShipmentsApi,
    /// The store's page and its rating ("Store page and rating").
    store_page: StorePageApi,
    /// Files behind signed addresses, which are fetched without the token ([`crate::signed`]).
    signed_files: SignedFiles,
}
