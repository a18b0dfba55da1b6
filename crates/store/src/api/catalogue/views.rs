//! The views.

use super::Description;

pub(super) const VIEWS: &[Description] = &[
    Description {
        table: "v_orders_new",
        key: "store order_number",
        columns: "store order_number status status_label workflow_type type channel delivery_method customer_id \
            customer_name customer_city customer_state total_products:number total_shipping:number \
            total_discounts:number total_order:number items_count:number lines_count:integer payment_method \
            payment_status notes ship_by:time created_at:time updated_at:time mirrored_at:time",
    },
    Description {
        table: "v_orders_open",
        key: "store order_number",
        columns: "store order_number status workflow_type channel delivery_method customer_name total_order:number \
            payment_status created_at:time age_seconds:integer next_deadline:time status_label customer_city \
            customer_state ship_by:time",
    },
    Description {
        table: "v_orders_refunded",
        key: "store order_number",
        columns: "store order_number status",
    },
    Description {
        table: "v_deadlines",
        key: "store entity key kind",
        columns: "store entity key kind at:time status",
    },
    Description {
        table: "v_invoice_current",
        key: "store order_number id",
        columns: "store order_number id type status invoice_number access_key pdf_url issued_at:time \
            mirrored_at:time",
    },
    Description {
        table: "v_errors",
        key: "store entity key code",
        columns: "store entity key code error hint at:time",
    },
    Description {
        table: "v_waiting",
        key: "store entity key",
        columns: "store entity key code error hint since:time",
    },
    Description {
        table: "v_drift",
        key: "store entity key mirrored?",
        columns: "store entity key wanted mirrored state updated_at:time wanted_number:number \
            mirrored_number:number",
    },
    Description {
        table: "v_campaign_drift",
        key: "store campaign_id item_id",
        columns: "store campaign_id item_id title authorized_discount_price:number price_now:number \
            price_joined:number expected:number ends_at:time mirrored_at:time",
    },
    Description {
        table: "v_alarms",
        key: "store? code text",
        columns: "store code severity count:integer since:time text next",
    },
];
