//! The names of events (API document, "Events / Catalogue").

use std::fmt;

/// Declares the events of the document, each with its group and its name.
macro_rules! events {
    ($($group:ident: $($variant:ident = $name:literal),+;)+) => {
        /// The event of a delivery. A name that the document does not list is kept.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum EventName {
            $($(
                #[doc = concat!("`", $name, "`.")]
                $variant,
            )+)+
            /// An event that the document does not list.
            Other(String),
        }

        impl EventName {
            /// The events of the document, in its order.
            pub const ALL: &'static [Self] = &[$($(Self::$variant,)+)+];

            /// Returns the event of this name.
            pub fn new(name: &str) -> Self {
                match name {
                    $($($name => Self::$variant,)+)+
                    other => Self::Other(other.to_owned()),
                }
            }

            /// Returns the event's name.
            pub fn as_str(&self) -> &str {
                match self {
                    $($(Self::$variant => $name,)+)+
                    Self::Other(name) => name,
                }
            }

            /// Returns the event's subject; `None` for an event that the document does not list.
            pub fn group(&self) -> Option<EventGroup> {
                match self {
                    $($(Self::$variant)|+ => Some(EventGroup::$group),)+
                    Self::Other(_) => None,
                }
            }
        }
    };
}

/// The subject of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventGroup {
    /// Orders.
    Orders,
    /// Shipments.
    Logistics,
    /// Occurrences.
    Occurrences,
    /// Conversations.
    Messages,
    /// Stock and prices.
    Stock,
    /// Listings under review.
    Catalogue,
    /// The webhook itself.
    Test,
}

events! {
    Orders:
        OrderCreated = "order.created",
        OrderPaid = "order.paid",
        OrderRefunded = "order.refunded",
        OrderStatusChanged = "order.status_changed",
        OrderCancelled = "order.cancelled",
        OrderInvoiced = "order.invoiced",
        OrderItemStockStatusChanged = "order.item_stock_status_changed";
    Logistics:
        ShipmentCreated = "shipment.created",
        ShipmentDispatched = "shipment.dispatched",
        ShipmentOutForDelivery = "shipment.out_for_delivery",
        ShipmentStatusChanged = "shipment.status_changed",
        ShipmentCancelled = "shipment.cancelled";
    Occurrences:
        OccurrenceCreated = "occurrence.created",
        OccurrenceResolved = "occurrence.resolved";
    Messages:
        ConversationOpened = "conversation.opened",
        ConversationMessage = "conversation.message",
        ConversationClosed = "conversation.closed";
    Stock:
        ProductStockUpdated = "product.stock_updated",
        StockDepleted = "stock.depleted",
        StockRestored = "stock.restored",
        ProductPriceUpdated = "product.price_updated";
    Catalogue:
        PublicationApproved = "publication.approved",
        PublicationRejected = "publication.rejected";
    Test:
        WebhookTest = "webhook.test";
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_of_the_document_is_known_by_its_name_and_no_other_is() {
        let names: Vec<_> = EventName::ALL.iter().map(EventName::as_str).collect();
        assert_eq!(names.len(), 24);
        for (event, name) in EventName::ALL.iter().zip(names) {
            assert_eq!(EventName::new(name), *event);
            assert!(event.group().is_some(), "{name}");
            assert_eq!(event.to_string(), name);
        }
        for other in ["order.exploded", "ORDER.CREATED", "", "order.created "] {
            let event = EventName::new(other);
            assert_eq!((event.as_str(), event.group()), (other, None));
        }
    }
}
