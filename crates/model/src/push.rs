//! The ERP's intents for the marketplace and their states (PRODUCT contract 3: `erp_stock`, `erp_prices`,
//! `commands`).

use std::fmt;

/// The state of a command or push.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    strum::Display,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
pub enum PushState {
    /// Not processed yet.
    New,
    /// Waiting for a condition that its row names.
    Waiting,
    /// In progress; its result is being verified.
    Sending,
    /// Confirmed by the marketplace.
    Done,
    /// Refused; its row gives the reason and the next step.
    Failed,
    /// Blocked by a guard until an operator releases it.
    Held,
    /// Sent, but nothing can prove whether it took effect.
    Doubtful,
    /// Cancelled by an operator.
    Ignored,
    /// Replaced by another row.
    Superseded,
}

impl PushState {
    /// All states.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Returns the word used in tables.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Declares the kinds with their words, once.
macro_rules! kinds {
    ($($(#[$doc:meta])+ $name:ident = $word:literal),+ $(,)?) => {
        /// The kind of a command.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum CommandKind {
            $($(#[$doc])+ $name),+
        }

        impl CommandKind {
            /// All kinds, in the order of the contract.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Returns the word in `commands.kind`.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $word),+
                }
            }
        }
    };
}

kinds! {
    /// Moves an order to another status; key: order number; data: `{status, data}`.
    OrderStatus = "order.status",
    /// Replaces an order's notes; key: order number; data: `{notes}`, `null` clears them.
    OrderNotes = "order.notes",
    /// Generates an order's labels; key: order number; data: `{format}`.
    LabelsGenerate = "labels.generate",
    /// Joins a campaign; key: campaign id; data: `{publication_ids}`.
    CampaignOptIn = "campaign.opt_in",
    /// Creates a price list; data: `{name, mode}`.
    PriceListCreate = "price_list.create",
    /// Changes a price list; key: its id; data: any of `{name, mode, position, is_active}`.
    PriceListUpdate = "price_list.update",
    /// Switches the price lists of the store; data: `{price_lists_enabled}`.
    PriceListsSettings = "price_lists.settings",
    /// Creates a product; key: its SKU; data: its fields.
    ProductCreate = "product.create",
    /// Changes a product; key: its SKU; data: what changes.
    ProductUpdate = "product.update",
    /// Adds to or subtracts from a stock; key: SKU; data: `{location_id, delta}`.
    StockAdjust = "stock.adjust",
    /// Removes a price tier; key: SKU; data: `{min_quantity}`.
    PriceDeleteTier = "price.delete_tier",
    /// Uploads an image; key: a name chosen by the ERP; data: `{path}`.
    MediaUpload = "media.upload",
    /// Adds an image to a product's gallery; key: SKU; data: `{image_id}` or `{path}`.
    GalleryAdd = "gallery.add",
    /// Creates a listing after a simulation; key: a name chosen by the ERP; data: its fields.
    ListingCreate = "listing.create",
    /// Sends a listing to review; key: its id.
    ListingPublish = "listing.publish",
    /// Changes the texts of the store's page; data: any of its fields.
    StorePageUpdate = "store_page.update",
    /// Requests a test delivery.
    WebhookTest = "webhook.test",
}

impl CommandKind {
    /// Reads a table's word; `None` for an unknown one.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == word)
    }
}

impl fmt::Display for CommandKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_a_table_is_read_back_as_what_it_was() {
        for state in PushState::ALL {
            assert_eq!(state.as_str().parse(), Ok(*state));
        }
        for kind in CommandKind::ALL {
            assert_eq!(CommandKind::parse(kind.as_str()), Some(*kind));
        }
        assert_eq!(("NEW".parse::<PushState>().ok(), CommandKind::parse("order.cancel")), (None, None));
    }
}
