//! The handles of [`Control`], one for each area of the marketplace: `control.orders().place(store, order)`.
//!
//! The methods of a handle are in the folder of its area.

use std::sync::Arc;

use super::Control;
use crate::world::World;

/// Declares the handles: a type for each area, and the method of [`Control`] that returns it.
macro_rules! handles {
    ($($(#[$about:meta])* $method:ident: $handle:ident,)*) => {
        $(
            $(#[$about])*
            #[derive(Clone, Copy, Debug)]
            pub struct $handle<'a> {
                pub(crate) control: &'a Control,
            }

            impl<'a> $handle<'a> {
                pub(crate) fn world(self) -> &'a Arc<World> {
                    self.control.world()
                }
            }
        )*

        impl Control {
            $(
                $(#[$about])*
                pub fn $method(&self) -> $handle<'_> {
                    $handle { control: self }
                }
            )*
        }
    };
}

handles! {
    /// Campaigns, as the platform makes and moves them.
    campaigns: CampaignsControl,
    /// Credentials, tokens and the features of a store, as the portal changes them.
    credentials: CredentialsControl,
    /// Faults of the API.
    faults: FaultsControl,
    /// Labels, as the platform generates them.
    labels: LabelsControl,
    /// Listings, as the marketplace's operators review them.
    listings: ListingsControl,
    /// Images and what uses them.
    media: MediaControl,
    /// Orders, as buyers, the platform and the portal change them.
    orders: OrdersControl,
    /// Products, their prices and their stock.
    products: ProductsControl,
    /// Shipments, as carriers and drivers move them.
    shipments: ShipmentsControl,
    /// Occurrences and conversations.
    support_cases: SupportCasesControl,
    /// Webhooks and their deliveries.
    webhooks: WebhooksControl,
}
