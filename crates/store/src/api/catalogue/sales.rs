//! Orders and what belongs to them.

use super::Description;

pub(super) const ORDERS: &[Description] = &[
    Description {
        table: "orders",
        key: "store order_number",
        columns: "store order_number status workflow_type type channel delivery_method checkout_group_id \
            customer_id customer_name total_products:number total_shipping:number total_discounts:number \
            total_order:number items_count:number lines_count:integer payment_method payment_status \
            payment_expires_at:time is_collective:flag is_awaiting_campaign:flag release_at:time \
            picked_up_at:time notes created_at:time updated_at:time status_label customer_city \
            customer_state ship_by:time invoice_by:time pick_by:time unread_since:time mirrored_at:time \
            gone_at:time raw:json",
    },
    Description {
        table: "order_items",
        key: "store order_number id",
        columns: "store order_number id product_id sku quantity:number unit_price:number net_value:number \
            price_scale:integer stock_status is_blocking_stock:flag name mirrored_at:time gone_at:time \
            raw:json",
    },
    Description {
        table: "order_invoices",
        key: "store order_number id",
        columns: "store order_number id type status invoice_number access_key pdf_url issued_at:time \
            replaced_at:time is_current:flag mirrored_at:time gone_at:time raw:json",
    },
    Description {
        table: "order_events",
        key: "store order_number id",
        columns: "store order_number id type description old_status new_status author_type author_name \
            metadata:json created_at:time mirrored_at:time gone_at:time raw:json",
    },
    Description {
        table: "order_benefits",
        key: "store order_number id",
        columns: "store order_number id type code name amount:number mirrored_at:time gone_at:time raw:json",
    },
    Description {
        table: "order_splits",
        key: "store order_number id",
        columns: "store order_number id party name amount:number percent:number status mirrored_at:time \
            gone_at:time raw:json",
    },
    Description {
        table: "order_commissions",
        key: "store order_number line_id",
        columns: "store order_number line_id product_id base:number percent:number amount:number mirrored_at:time \
            gone_at:time raw:json",
    },
    Description {
        table: "shipments",
        key: "store id",
        columns: "store id order_number type status tracking_code carrier_id carrier_name is_pickup:flag \
            label_generation_blocked:flag allows_manual_confirmation:flag labels_ready:integer \
            labels_total:integer tracking_url estimated_delivery_at:time tracking:json mirrored_at:time \
            gone_at:time raw:json",
    },
    Description {
        table: "shipment_labels",
        key: "store id",
        columns: "store id order_number shipment_id format status is_ready:flag completed_at:time source file \
            mirrored_at:time gone_at:time raw:json",
    },
    Description {
        table: "label_files",
        key: "store file",
        columns: "store file label_id order_number size:integer sha256 host fetched_at:time void_at:time",
    },
    Description {
        table: "occurrences",
        key: "store id",
        columns: "store id title severity status trigger_key updated_at:time mirrored_at:time gone_at:time \
            raw:json",
    },
    Description {
        table: "conversations",
        key: "store id",
        columns: "store id order_number type status reason opened_at:time closed_at:time updated_at:time \
            mirrored_at:time gone_at:time raw:json",
    },
    Description {
        table: "conversation_messages",
        key: "store id",
        columns: "store id conversation_id sender_type body created_at:time mirrored_at:time gone_at:time raw:json",
    },
];
