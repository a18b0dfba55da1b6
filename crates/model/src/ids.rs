//! Identifiers of the marketplace, one type each, so that a SKU cannot be passed as an order number. They are stored
//! as text: the API sends some as numbers, some as ULIDs, and may change this.

/// Declares an identifier: text with a private field.
macro_rules! identifier {
    ($(#[$doc:meta] $name:ident),+ $(,)?) => {$(
        #[$doc]
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// Wraps the text as the marketplace sent it (the digits, if it sent a number).
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// Returns the identifier's text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Returns the text without copying it.
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
    /// `location_id`: a stock location.
    LocationId,
    /// `id` of a shipment (a ULID), `shipment_id` in events.
    ShipmentId,
    /// `id` of a shipping label.
    LabelId,
    /// `item_id`: a listing, `<PREFIX>-<13 digits>`; campaigns call it `publication_id`.
    ItemId,
    /// `id` of a media image (a ULID): `image_id` in bodies, `{file_hash}` in routes.
    MediaId,
    /// `id` of a price list.
    PriceListId,
    /// `id` of a store.
    StoreId,
    /// `id` of a department, the `departament_id` of the category search.
    DepartmentId,
    /// `occurrence_id` of an event.
    OccurrenceId,
    /// `conversation_id` of an event.
    ConversationId,
    /// `message_id` of an event.
    MessageId,
}

impl ItemId {
    /// Returns whether the text has the documented shape, `<PREFIX>-<13 digits>`. An id that is read is kept either
    /// way; an id that is sent must have the shape.
    pub fn is_well_formed(&self) -> bool {
        let Some((prefix, number)) = self.0.rsplit_once('-') else { return false };
        let is_prefix = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
        !prefix.is_empty()
            && prefix.bytes().all(is_prefix)
            && number.len() == 13
            && number.bytes().all(|b| b.is_ascii_digit())
    }
}

/// Declares an identifier that routes and bodies accept only as a whole number.
macro_rules! numeric_identifier {
    ($($(#[$doc:meta])+ $name:ident),+ $(,)?) => {$(
        $(#[$doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(i64);

        impl $name {
            /// Wraps the number.
            pub fn new(number: i64) -> Self {
                Self(number)
            }

            /// Reads the number from text; `None` for anything else, so that a name or a `uid` is never accepted.
            pub fn parse(text: &str) -> Option<Self> {
                let number: i64 = text.parse().ok()?;
                (number.to_string() == text).then_some(Self(number))
            }

            /// Returns the number.
            pub fn as_i64(self) -> i64 {
                self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

numeric_identifier! {
    /// `id` of a campaign, the `{id}` of every campaign route. These routes do not accept the public `uid`.
    CampaignId,
    /// `id` of a category, the `category_id` of a listing.
    CategoryId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_is_named_by_a_prefix_and_thirteen_digits() {
        let check = |text: &str, expected: bool| {
            assert_eq!(ItemId::new(text).is_well_formed(), expected, "{text}");
        };
        check("MPB-0000000000001", true);
        check("a-1234567890123", true);
        check("MPB-000000000001", false);
        check("MPB-00000000000011", false);
        check("-1234567890123", false);
        check("1234567890123", false);
        check("MPB-12345678901٣", false);
        check("M B-1234567890123", false);
        check("", false);
    }

    #[test]
    fn a_campaign_is_named_by_its_number_and_never_by_its_uid() {
        assert_eq!(CampaignId::parse("42"), Some(CampaignId::new(42)));
        for other in ["01J9Z3K5T7V9X1B3D5F7H9K1M3", "042", "+42", "4.2", "", "42 "] {
            assert_eq!(CampaignId::parse(other), None, "{other}");
        }
        assert_eq!(CampaignId::new(42).to_string(), "42");
    }
}
