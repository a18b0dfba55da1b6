//! The fields of an order and its customer, unread (API document, "Order").

use crate::wire::shape;

shape! {
    /// The order with every field unread, by the document's names; `open_fields` reads the names that the document
    /// leaves open.
    pub(super) OrderWire {
        order, order_number, status, status_label, workflow_type, #[serde(rename = "type")] order_type, channel,
        delivery_method, checkout_group_id, customer, customer_id, customer_name, totals, items, items_count,
        lines_count, payment_method, payment_status, payment_expires_at, is_collective, is_awaiting_campaign,
        release_at, picked_up_at, notes, created_at, updated_at,
        // Open names.
        shipping, shipping_address, delivery_address, ship_by, dispatch_deadline, dispatch_deadline_at, invoice_by,
        fiscal_deadline, fiscal_deadline_at, nfe_deadline, nfe_deadline_at, pick_by, picking_deadline,
        picking_deadline_at,
    }
}

shape! {
    /// The customer, which may carry an address.
    pub(super) CustomerWire {
        id, name, city, state, uf, state_code, address, shipping_address, delivery_address,
    }
}
