//! The events that a webhook can subscribe to ("Catalogue" of the document).

/// Every event, group by group.
const EVENTS: [&str; 24] = [
    "order.created",
    "order.paid",
    "order.refunded",
    "order.status_changed",
    "order.cancelled",
    "order.invoiced",
    "order.item_stock_status_changed",
    "shipment.created",
    "shipment.dispatched",
    "shipment.out_for_delivery",
    "shipment.status_changed",
    "shipment.cancelled",
    "occurrence.created",
    "occurrence.resolved",
    "conversation.opened",
    "conversation.message",
    "conversation.closed",
    "product.stock_updated",
    "stock.depleted",
    "stock.restored",
    "product.price_updated",
    "publication.approved",
    "publication.rejected",
    TEST,
];

/// The event of the test button and the test route.
pub(crate) const TEST: &str = "webhook.test";

/// Whether a webhook may subscribe to this: an event, all of them as `*`, or those of one family as `order.*`.
pub(crate) fn is_known(name: &str) -> bool {
    name == "*" || EVENTS.iter().any(|event| covers(name, event))
}

/// Whether a subscription covers an event.
pub(crate) fn covers(subscription: &str, event: &str) -> bool {
    let family = || subscription.strip_suffix(".*").zip(event.split_once('.'));
    subscription == "*"
        || subscription == event
        || family().is_some_and(|(wanted, (family, _))| wanted == family)
}

#[cfg(test)]
mod tests {
    use super::{EVENTS, covers, is_known};

    #[test]
    fn an_event_a_family_and_the_star_can_be_subscribed_to_and_nothing_else() {
        for name in EVENTS.iter().chain(&["*", "order.*", "stock.*", "webhook.*"]) {
            assert!(is_known(name), "{name}");
        }
        for name in ["", ".", ".*", "**", "order", "order.", "orders.*", "order.*.*", "order.eaten", "*.paid"]
        {
            assert!(!is_known(name), "{name}");
        }
    }

    #[test]
    fn a_family_covers_its_events_and_no_others() {
        assert!(covers("order.*", "order.paid") && covers("*", "order.paid"));
        assert!(!covers("order.*", "shipment.created"));
        assert!(!covers("order.paid", "order.created"));
    }
}
