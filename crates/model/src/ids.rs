//! Identifiers of the marketplace, one type each, so that a SKU cannot be passed where an order number
//! is meant. They are kept as text: the API sends some as numbers, some as ULIDs, and may change its mind.

/// Declares an identifier: text with a private field.
macro_rules! identifier {
    ($(#[$doc:meta] $name:ident),+ $(,)?) => {$(
        #[$doc]
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// Wraps the text as the marketplace sent it (a number's own digits when it sent a number).
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The identifier's text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Gives the text away without copying it.
            pub fn into_string(self) -> String {
                self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    )+};
}

identifier! {
    /// `order_number`: the public identifier of an order, the `{id}` of every order route.
    OrderNumber,
    /// `items[].id`: one line of an order.
    LineId,
    /// `id` of a product (a ULID), the `{id}` of every product route.
    ProductId,
    /// `sku`: the seller's own code of a product, unique per store.
    Sku,
    /// `location_id`: a place that holds stock.
    LocationId,
    /// `id` of a shipment (a ULID), `shipment_id` in events.
    ShipmentId,
    /// `id` of a shipping label.
    LabelId,
}
